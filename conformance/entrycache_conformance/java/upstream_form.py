"""A Java test or the fix of a finding in the form that upstream takes it.

`entrycache findings NAME FILE --upstream-form` prints it. A test becomes one of TestNG for Pulsar and of JUnit 5 for
others. It is made of the stand-alone file, so that there is one test of each thing: `main` becomes a test, its
expectations become assertions, and the lines that end the JVM go.

A fix becomes a patch of upstream's repository with three lines of context. The committed patch has no context, because
only our own lines are committed; Maven brings the released sources that it belongs to.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.build import NO_MAVEN
from entrycache_conformance.subjects import processes
from entrycache_protocol.errors import MissingPrerequisite, UsageError

JUNIT: Final = "org.junit.jupiter.api"
TESTNG: Final = "org.testng"
_END_OF_MAIN: Final = re.compile(
    r"^ *(?:System\.out\.(?:println\(\"conforms\"\)|flush\(\))|Runtime\.getRuntime\(\)\.halt\(.*\));\n", re.M
)
_VERDICT: Final = re.compile(r"System\.out\.println\(([\w.()]+) \? \"conforms\" : (.+)\);")
_HELPER: Final = r"    private static void {name}\({parameters}\) \{{\n(?:        .*\n)*    \}}\n"


def upstream_form(text: str, is_junit: bool) -> str:
    """Return the text of a stand-alone Java test as a test of upstream's suite.

    Raises:
        UsageError: the text has no class that is called after its test, or is a program that takes arguments.
    """
    if "arguments[" in text:
        raise UsageError("no test of a suite: a program that takes a running broker; print it without --upstream-form")
    of_names = ("String what, Object expected, Object got", "String message")
    expected = "assertEquals(expected, got, what)" if is_junit else "assertEquals(got, expected, what)"
    for name, parameters, body in (
        ("conforms", "", ""),
        ("expect", of_names[0], f"{expected};"),
        ("fail", of_names[1], "throw new AssertionError(message);"),
    ):
        helper = f"    private static void {name}({parameters}) {{\n        {body}\n    }}\n" if body else ""
        text = re.sub(_HELPER.format(name=name, parameters=parameters), lambda _: helper, text)  # noqa: B023
    text = _VERDICT.sub(r"assertTrue(\1, \2);", text)
    text = _END_OF_MAIN.sub("", text)
    text = re.sub(r"^ *conforms\(\);\n", "", text, flags=re.MULTILINE)
    text = re.sub(r" \* Class path CP:.*?(?= \*/)", "", text, flags=re.DOTALL).replace(" *\n */", " */")
    stem = re.search(r"public final class (\w+)Test ", text)
    if stem is None:
        raise UsageError("no stand-alone test: expected `public final class NAMETest`")
    method = stem[1][0].lower() + stem[1][1:]
    text = text.replace("public static void main(String[] arguments)", f"@Test\n    public void {method}()")
    text = text.replace("public final class", "public class", 1)
    return _with_imports(text, is_junit)


def _with_imports(text: str, is_junit: bool) -> str:
    test, assertions = (
        (f"{JUNIT}.Test", f"{JUNIT}.Assertions") if is_junit else (f"{TESTNG}.annotations.Test", f"{TESTNG}.Assert")
    )
    used = [name for name in ("assertEquals", "assertTrue") if f"{name}(" in text]
    lines = "".join(f"import static {assertions}.{name};\n" for name in used) + f"\nimport {test};\n"
    package, _, rest = text.partition(";\n\n")
    return f"{package};\n\n{lines}{rest}"


class ReleasedSources(NamedTuple):
    """The released sources that the fixes of some findings belong to."""

    artifact: str
    """Their coordinates: ``group:artifact:version``."""
    folder: str
    """The folder of these sources in upstream's repository."""

    @property
    def jar(self) -> str:
        """The name of their jar."""
        return f"{'-'.join(self.artifact.split(':')[1:])}-sources.jar"


_SOURCES: Final = {
    "kafka-": ReleasedSources("org.apache.kafka:kafka-streams:4.3.1", "streams/src/main/java"),
    "legacy-": ReleasedSources("org.apache.pulsar:managed-ledger:4.0.8", "managed-ledger/src/main/java"),
    "": ReleasedSources("org.apache.pulsar:managed-ledger:4.2.4", "managed-ledger/src/main/java"),
}
"""The sources by the beginning of the name of a finding; the first that fits counts."""
_COPY: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
_CHANGED: Final = re.compile(r"^--- a/\S+\n\+\+\+ b/(\S+)\n", re.MULTILINE)
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@.*\n((?:[-+ ].*\n)*)", re.MULTILINE)


def released_sources(finding: str) -> ReleasedSources:
    """Return the released sources that the fix of a finding belongs to."""
    return next(sources for beginning, sources in _SOURCES.items() if finding.startswith(beginning))


def upstream_patch(patches: Sequence[str], sources: ReleasedSources, jar: Path) -> str:
    """Return one patch of upstream's repository for patches of released sources that are applied one after the other.

    Raises:
        UsageError: a patch does not fit the sources.
    """
    names = sorted({name for patch in patches for name in _CHANGED.findall(patch)})
    with zipfile.ZipFile(jar) as released:
        before = {name: released.read(name).decode("utf-8") for name in names}
    after = dict(before)
    for patch in patches:
        for name, hunks in _sections(patch):
            after[name] = _apply_hunks(after[name], hunks, name)
    return "".join(_render_changes(f"{sources.folder}/{name}", before[name], after[name]) for name in names)


def fetch_sources(sources: ReleasedSources, folder: Path, lock: str) -> Path:
    """Let Maven bring the jar of released sources into a folder, and compare it with the checksum in a lock.

    Raises:
        MissingPrerequisite: Maven or the jar is not there, or it is not the pinned one.
    """
    argv = ["mvn", "-B", "-q", _COPY, f"-Dartifact={sources.artifact}:jar:sources", f"-DoutputDirectory={folder}"]
    try:
        processes.run_program(argv, folder)
    except FileNotFoundError:
        raise MissingPrerequisite(NO_MAVEN) from None
    jar = folder / sources.jar
    if not jar.is_file():
        raise MissingPrerequisite(f"mvn could not resolve {sources.jar}; expected Maven Central or a mirror of it")
    if f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}" not in lock.splitlines():
        raise MissingPrerequisite(f"{jar.name} is not the one that jars.lock pins; fetch it anew")
    return jar


def _sections(patch: str) -> Iterator[tuple[str, str]]:
    """Yield each file that a patch changes, with its hunks."""
    _, *parts = _CHANGED.split(patch)
    yield from zip(parts[::2], parts[1::2], strict=True)


def _apply_hunks(text: str, hunks: str, name: str) -> str:
    """Return a text with some hunks applied, from the last to the first so that their line numbers hold.

    The lines that a hunk replaces may have moved if another patch came before.

    Raises:
        UsageError: the lines that a hunk replaces are not there.
    """
    lines = text.splitlines(keepends=True)
    for start, count, body in reversed(_HUNK.findall(hunks)):
        old = [line[1:] for line in body.splitlines(keepends=True) if line[0] != "+"]
        wanted = int(start) - (count != "0")
        places = (at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old)
        at = min(places, key=lambda at: abs(at - wanted), default=None)
        if at is None:
            raise UsageError(f"the patch does not fit {name}: expected other lines at {start}")
        lines[at : at + len(old)] = [line[1:] for line in body.splitlines(keepends=True) if line[0] != "-"]
    return "".join(lines)


def _render_changes(name: str, before: str, after: str) -> str:
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))
