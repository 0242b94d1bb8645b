"""Run upstream's released unit tests on a release with and without the fix of a finding.

    python -m tests.support.jvm.upstream_tests [PAGE ...]

runs them for these pages, or for all that have a fix, and prints for each what belongs into its row "Upstream tests".
The test classes of a fix are those that name a class that its patches change, and the test class of that class. If the
patches change a class of the cache, the tests of the cache run too. Tests that start a cluster are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

from entrycache_conformance.java.build import NO_MAVEN
from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import Program
from entrycache_protocol.errors import MissingPrerequisite
from tests.support import ROOT
from tests.support.findings import PAGES, Page
from tests.support.jvm.fixes import fixed, patched_files, release_of_fixes, sources_jar
from tests.support.jvm.mains import QUICK_START
from tests.support.jvm.maven import require_pinned

POMS: Final = ROOT / "tests" / "support" / "upstream"
CLASS_PATH: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"
SUITES: Final = {
    "kafka-streams": "kafka-streams-4.3.1-test.jar",
    "pulsar": "managed-ledger-4.2.4-tests.jar",
    "pulsar-legacy": "managed-ledger-4.0.8-tests.jar",
}
"""The released tests of each family, by the name of their jar."""
LEFT_OUT: Final = re.compile(r"/integration/|/tests/|ManagedLedgerSingleBookieTest|BkTest|ManagedCursorTest")
"""Test classes that start a cluster, and one that takes minutes."""
OF_THE_CACHE: Final = re.compile(
    r"org/apache/bookkeeper/mledger/impl/(cache/\w+|EntryCache\w*|EntryImpl)Test"
    r"|org/apache/kafka/streams/state/internals/(NamedCache|ThreadCache|CachingInMemory\w+|TimeOrderedKeyValueBuffer)Test"
)
"""Test classes that reach the cache through other classes."""
CACHE: Final = re.compile(
    r"org/apache/bookkeeper/mledger/impl/(cache/|EntryCache|EntryImpl)"
    r"|org/apache/kafka/streams/(state/internals/|processor/internals/ProcessorRecordContext)"
)
"""The beginning of the names of the classes that are the cache or lie in it."""
SECONDS_MOST: Final = 900
OPENED: Final = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.lang", "java.util", "java.nio", "sun.net", "jdk.internal.misc")
)
LOGGED: Final = "-Dorg.apache.logging.log4j.level=INFO"
"""Some tests read log lines back. One of Kafka's, `shouldLogNotReadyWhenStaleAfterThreshold`, expects Gradle's name of
the thread in its line, and so fails here on every release. `shouldLogWarningMessageWhenIOExceptionInCheckPoint` and
`shouldThrowProcessorStateExceptionOnOpeningReadOnlyDir` take
the right to write away from a folder, and so fail for root."""


class Outcome(NamedTuple):
    """The results of one run: the test methods that passed and those that did not."""

    passed: frozenset[str]
    failed: frozenset[str]


@cache
def suite_classpath(family: str) -> str:
    """Return the class path of a family's released tests.

    Raises:
        MissingPrerequisite: Maven or a jar is not there.
    """
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "classpath")
        argv = ["mvn", "-B", "-q", "-f", str(POMS / family), CLASS_PATH, f"-Dmdep.outputFile={file}"]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise MissingPrerequisite(NO_MAVEN) from None
        if done.returncode:
            raise MissingPrerequisite(f"mvn could not resolve the tests of {family}: {done.stdout[:200]}")
        return file.read_text("utf-8").strip()


@cache
def _suite(family: str) -> Mapping[str, frozenset[str]]:
    """Return the released test classes of a family, each with the class files that it names."""
    jar = Path(next(path for path in suite_classpath(family).split(os.pathsep) if path.endswith(SUITES[family])))
    require_pinned(jar)
    named: dict[str, frozenset[str]] = {}
    with zipfile.ZipFile(jar) as tests:
        for entry in tests.namelist():
            outer = re.fullmatch(r"([\w/]+Test)(\$[\w$]+)?\.class", entry)
            if outer is None or LEFT_OUT.search(entry):
                continue
            names = re.findall(rb"org/apache/[\w/]+", tests.read(entry))
            named[outer[1]] = named.get(outer[1], frozenset()) | {name.decode() for name in names}
    return named


def classes_that_touch(page: Page) -> tuple[str, ...]:
    """Return the released test classes that touch what the fix of a page changes."""
    changed = {name.removesuffix(".java") for patch in page.fixes for name in patched_files(patch)}
    suite = _suite(page.system.family).items()
    return tuple(sorted(name.replace("/", ".") for name, touched in suite if reaches(name, touched, changed)))


def reaches(name: str, touched: Set[str], changed: Set[str]) -> bool:
    """Return whether a test class that names some classes reaches one of those that a fix changes."""
    if touched & changed or name.removesuffix("Test") in changed:
        return True
    return any(map(CACHE.match, changed)) and OF_THE_CACHE.fullmatch(name) is not None


def run_suite(family: str, classes: Sequence[str], folder: Path, front: Path | None = None) -> Outcome:
    """Run released test classes, with a folder of classes in front of the release if there is one."""
    tools = java_test_classpath(release_of_fixes(next(page for page in PAGES if page.system.family == family)).subject)
    path = os.pathsep.join([*([str(front)] if front else []), suite_classpath(family)])
    program = Program(tools.java, path)
    if family == "kafka-streams":
        main = "org.junit.platform.console.ConsoleLauncher"
        arguments = ["execute", "--details=none", f"--reports-dir={folder}", *(f"-c={name}" for name in classes)]
    else:
        main = "org.testng.TestNG"
        arguments = ["-d", str(folder), "-testclass", ",".join(classes)]
    folder.mkdir(parents=True, exist_ok=True)
    argv = program.argv(main, *arguments, options=(*QUICK_START, *OPENED, LOGGED))
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS_MOST, check=False, cwd=folder)
    if not list(folder.glob("*.xml")):
        raise MissingPrerequisite(f"the released tests did not run: {done.stdout[-300:]}{done.stderr[-600:]}")
    outcome = read_junit(folder) if family == "kafka-streams" else read_testng(folder)
    if not outcome.passed:
        raise MissingPrerequisite(f"no released test passed: {done.stdout[-300:]}{done.stderr[-300:]}")
    return outcome


@cache
def run_released(family: str, classes: tuple[str, ...]) -> Outcome:
    """Run released test classes on the release as it is: once, since several fixes ask for the same classes."""
    with tempfile.TemporaryDirectory() as scratch:
        return run_suite(family, classes, Path(scratch))


def read_junit(folder: Path) -> Outcome:
    """Return the outcome by the report of JUnit in a folder."""
    results = []
    for case in ElementTree.parse(folder / "TEST-junit-jupiter.xml").getroot().iter("testcase"):
        if case.find("skipped") is None:
            failed = case.find("failure") is not None or case.find("error") is not None
            results.append((case.get("classname", ""), case.get("name", ""), failed))
    return _outcome(results)


def read_testng(folder: Path) -> Outcome:
    """Return the outcome by the report of TestNG in a folder."""
    results = []
    for owner in ElementTree.parse(folder / "testng-results.xml").getroot().iter("class"):
        for method in owner.iter("test-method"):
            if method.get("is-config") != "true" and method.get("status") != "SKIP":
                results.append((owner.get("name", ""), f"{method.get('name')}()", method.get("status") == "FAIL"))
    return _outcome(results)


def _outcome(results: Sequence[tuple[str, str, bool]]) -> Outcome:
    """Return the outcome by method: a method fails if it fails with any of its parameters."""
    named = [(f"{owner.rpartition('.')[2]}.{name.partition('(')[0]}", failed) for owner, name, failed in results]
    failed = frozenset(name for name, is_failed in named if is_failed)
    return Outcome(frozenset(name for name, _ in named) - failed, failed)


class Judgement(NamedTuple):
    """The released tests of upstream beside a fix."""

    count: int
    """The number of tests that ran."""
    broken: tuple[str, ...]
    """Those that fail with the fix and pass without it."""
    failing_anyway: tuple[str, ...]
    """Those that fail with it and without it."""


def judge_fix(page: Page, classes: Path, folder: Path) -> Judgement:
    """Run the released tests that reach what a fix changes.

    A test that fails with the fix runs once more on both sides, so that chance does not speak.
    """
    family, names = page.system.family, classes_that_touch(page)
    if not names:
        return Judgement(0, (), ())
    fixed = run_suite(family, names, folder / "fixed", classes)
    broken = frozenset(fixed.failed)
    failing_anyway: frozenset[str] = frozenset()
    if broken:
        again = [name for name in names if name.rpartition(".")[2] in {one.partition(".")[0] for one in broken}]
        released = run_released(family, tuple(again))
        failing_anyway = broken & released.failed
        broken &= released.passed
    if broken:
        broken &= run_suite(family, again, folder / "again", classes).failed
    return Judgement(len(fixed.passed | fixed.failed), tuple(sorted(broken)), tuple(sorted(failing_anyway)))


def render_row(judgement: Judgement) -> str:
    """Return the cell of a page's row "Upstream tests"."""
    if not judgement.count:
        return "no released unit test reaches the changed classes; with the fix alone fail: none"
    anyway = f"also without the fix fail: {_named(judgement.failing_anyway)}; " if judgement.failing_anyway else ""
    return (
        f"{judgement.count} released tests ran that reach the changed classes; {anyway}"
        f"with the fix alone fail: {_named(judgement.broken) or 'none'}"
    )


def _named(tests: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in tests)


def main(names: Sequence[str]) -> None:
    """Run the released tests of some pages, or of all, and print their rows."""
    with tempfile.TemporaryDirectory() as scratch:
        jars: dict[str, Path] = {}
        for page in PAGES:
            if not page.fixes or page.system.family not in SUITES or (names and page.name not in names):
                continue
            release = release_of_fixes(page)
            if release.subject not in jars:
                jars[release.subject] = sources_jar(release, Path(scratch))
            folder = Path(scratch, page.name)
            classes = fixed(release, page.fixes, jars[release.subject], folder)
            print(f"{page.name}: {render_row(judge_fix(page, classes, folder))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
