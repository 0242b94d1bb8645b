"""The fix of a finding: a patch of the released sources, compiled in front of the release.

The sources jar comes from Maven Central when a test asks for it, is held to its checksum, and is kept nowhere here.
"""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import compile_sources
from entrycache_conformance.java.releases import Release, require_release
from tests.support.findings import Page
from tests.support.jvm.maven import jar_from_maven
from tests.support.jvm.rocks import with_rocks

GROUPS: Final = {
    "pulsar": "org.apache.pulsar",
    "pulsar-legacy": "org.apache.pulsar",
    "kafka-streams": "org.apache.kafka",
}
COMPILED_WITH: Final = {
    "org/apache/bookkeeper/mledger/impl/cache/InflightReadsLimiter.java": (
        "org.apache.pulsar:pulsar-opentelemetry:4.2.4:jar"
    )
}
"""Return the classes that a source file names and that no release loads here."""


def release_of_fixes(page: Page) -> Release:
    """The release whose sources the patches are made for."""
    versions = {"pulsar": "4.2.4", "kafka-streams": "4.3.1", "pulsar-legacy": "4.0.8"}
    return require_release(f"{page.system.family.removesuffix('-legacy')}:{versions[page.system.family]}")


def sources_jar(release: Release, folder: Path) -> Path:
    """The released sources, brought by Maven into a folder.

    Raises:
        MissingPrerequisite: Maven or the jar is not there, or it is not the pinned one.
    """
    family = release.family
    return jar_from_maven(f"{GROUPS[family.name]}:{family.artifact}:{release.version}:jar:sources", folder)


def patched_files(patch: Path) -> list[str]:
    """The source files that a patch changes."""
    return re.findall(r"^\+\+\+ b/(\S+)$", patch.read_text("utf-8"), re.MULTILINE)


def without_lombok(text: str) -> str:
    """A source file whose logger and accessors are written out: the class path of a release has no Lombok."""
    text = re.sub(r"import lombok\.(extern\.slf4j\.Slf4j|Getter|Setter);\n", "", text)
    text = re.sub(r"    @Getter @Setter\n(    private (\w+) (\w)(\w*);\n)", _with_accessors, text)
    return re.sub(
        r"@Slf4j\n((?:public )?(?:final )?class (\w+)[^{]*\{\n)",
        r"\1    private static final org.slf4j.Logger log = org.slf4j.LoggerFactory.getLogger(\2.class);\n",
        text,
    )


def _with_accessors(field: re.Match[str]) -> str:
    line, kind, first, rest = field.groups()
    name, accessor = first + rest, first.upper() + rest
    return (
        f"{line}    public {kind} get{accessor}() {{ return {name}; }}\n"
        f"    public void set{accessor}({kind} given) {{ {name} = given; }}\n"
    )


def fixed(release: Release, patches: Sequence[Path], jar: Path, folder: Path) -> Path:
    """The classes that patches change, one applied after the other: a folder to put in front of the release."""
    sources = folder / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    changed = sorted({name for patch in patches for name in patched_files(patch)})
    with zipfile.ZipFile(jar) as released:
        for name in changed:
            released.extract(name, sources)
    for patch in patches:
        argv = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-p1", str(patch)]
        alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)}
        subprocess.run(argv, cwd=sources, check=True, capture_output=True, env=alone)
    tools = java_test_classpath(release.subject)
    if any("import org.rocksdb" in (sources / name).read_text("utf-8") for name in changed):
        tools = with_rocks(tools, folder)
    for name in changed:
        source = sources / name
        source.write_text(without_lombok(source.read_text("utf-8")), "utf-8")
        if name in COMPILED_WITH:
            more = jar_from_maven(COMPILED_WITH[name], folder)
            tools = tools._replace(classpath=os.pathsep.join([tools.classpath, str(more)]))
    classes = folder / "classes"
    compile_sources([sources / name for name in changed], tools, classes)
    return classes
