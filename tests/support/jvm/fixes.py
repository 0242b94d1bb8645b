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

from entrycache_conformance.java.classpath import java_test_classpath
from entrycache_conformance.java.program import compiled
from entrycache_conformance.java.releases import Release, newest, releases
from tests.support.findings import Page
from tests.support.jvm.maven import jar_from_maven

GROUPS: Final = {"pulsar": "org.apache.pulsar", "kafka-streams": "org.apache.kafka"}


def release_of_fixes(page: Page) -> Release:
    """The release whose sources the patches are made for."""
    return releases("pulsar")[0] if page.system.family == "pulsar" else newest(page.system.family)


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


def fixed(release: Release, patches: Sequence[Path], jar: Path, folder: Path) -> Path:
    """The classes that patches change, one applied after the other: a folder to put in front of the release."""
    sources = folder / "sources"
    changed = sorted({name for patch in patches for name in patched_files(patch)})
    with zipfile.ZipFile(jar) as released:
        for name in changed:
            released.extract(name, sources)
    for patch in patches:
        argv = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-p1", str(patch)]
        alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder)}
        subprocess.run(argv, cwd=sources, check=True, capture_output=True, env=alone)
    classes = folder / "classes"
    compiled([sources / name for name in changed], java_test_classpath(release.subject), classes)
    return classes
