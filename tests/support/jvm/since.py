"""Find the releases on which the Java tests of the graver findings fail, also releases without a driver.

    python -m tests.support.jvm.since [PAGE ...]

runs them and writes what it met into docs/findings/since.md; the rows of other pages stay. A release
without a driver runs on the class path of a neighbour that has one, with its own jars in front.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.program import DoesNotCompile
from entrycache_conformance.java.releases import find_release, versions_named
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import FINDINGS, GRAVE, TESTS, Page
from tests.support.jvm.mains import Ended, has_threads, run_all
from tests.support.jvm.maven import jar_from_maven

SINCE: Final = FINDINGS / "since.md"
FAILS: Final = "fails"
CONFORMS: Final = "conforms"
CANNOT: Final = "does not fit"
"""The classes that the test calls are not there, or have another shape."""
SYSTEMS: Final = {"pulsar": "Pulsar", "kafka-streams": "Kafka Streams", "bookkeeper": "BookKeeper"}
"""The name of a subject before its colon, and its heading."""

HEAD: Final = f"""# The releases that were run

Written by `python -m tests.support.jvm.since`, which runs the Java tests of the first three tiers on each release that
Maven Central serves here and that a page may name. *{CANNOT}*: the test does not compile there, or calls what is not
there. A release marked * has no driver: its own jars ran on the class path of a neighbour. In 4.4.0 `LogContext`
stands in another package; the tests that name it ran with that import changed.
"""


class Further(NamedTuple):
    """A release without a driver."""

    neighbour: str
    """The subject whose class path it runs on."""
    artifacts: tuple[str, ...]


_KAFKA: Final = tuple(f"org.apache.kafka:kafka-{name}" for name in ("streams", "clients", "streams-test-utils"))
_PULSAR: Final = ("org.apache.pulsar:managed-ledger",)
_BOOKKEEPER: Final = ("org.apache.bookkeeper:bookkeeper-server",)
FURTHER: Final = {
    "bookkeeper:4.14.5": Further("bookkeeper:4.14.4", _BOOKKEEPER),
    "bookkeeper:4.15.0": Further("bookkeeper:4.14.4", _BOOKKEEPER),
    "kafka-streams:3.9.0": Further("kafka-streams:3.9.2", _KAFKA),
    "kafka-streams:4.0.2": Further("kafka-streams:4.0.0", _KAFKA),
    "kafka-streams:4.1.0": Further("kafka-streams:4.3.1", _KAFKA),
    "kafka-streams:4.1.2": Further("kafka-streams:4.3.1", _KAFKA),
    "kafka-streams:4.2.1": Further("kafka-streams:4.3.1", _KAFKA),
    "pulsar:3.3.5": Further("pulsar:3.3.6", _PULSAR),
    "pulsar:4.0.1": Further("pulsar:4.0.0", _PULSAR),
    "pulsar:4.0.7": Further("pulsar:4.0.8", _PULSAR),
}


def _age(version: str) -> tuple[object, ...]:
    numbers, _, milestone = version.partition("-")
    return (*(int(number) for number in numbers.split(".")), milestone == "")


def versions_run(called: str) -> list[str]:
    """Every version that is run, the oldest first."""
    further = [subject.partition(":")[2] for subject in FURTHER if subject.startswith(f"{called}:")]
    return sorted([*versions_named(called), *further], key=_age)


def called(page: Page) -> str:
    """The name of the subjects of its releases before their colon."""
    return page.system.family.removesuffix("-legacy")


def tools_of(subject: str, folder: Path) -> JavaTestClasspath:
    """Return the tools that compile and run a test on a release."""
    if find_release(subject) is not None:
        return java_test_classpath(subject)
    further, version = FURTHER[subject], subject.partition(":")[2]
    jars = [jar_from_maven(f"{artifact}:{version}:jar", folder / version) for artifact in further.artifacts]
    tools = java_test_classpath(further.neighbour)
    return tools._replace(classpath=os.pathsep.join([*map(str, jars), tools.classpath]))


def outcomes_on(subject: str, paths: Sequence[Path], folder: Path) -> dict[Path, str]:
    """Run tests on a release, with the imports of classes that were moved there, and return how they end."""
    return outcomes(paths, tools_of(subject, folder), folder / "out")


def outcomes(paths: Sequence[Path], tools: JavaTestClasspath, folder: Path) -> dict[Path, str]:
    """Run tests on a release and return how they end: together if all of them compile, otherwise one by one."""
    alone = [path for path in paths if has_threads(path)]
    try:
        ended = run_all([path for path in paths if path not in alone], alone, tools, folder / "all")
    except DoesNotCompile:
        if len(paths) == 1:
            return {paths[0]: CANNOT}
        return {path: outcomes([path], tools, folder / path.stem)[path] for path in paths}
    return {path: _said(done) for path, done in ended.items()}


def _said(done: Ended) -> str:
    if done.lacks:
        raise MissingPrerequisite(done.lacks)
    if done.returncode == 0:
        return CONFORMS
    return FAILS if done.returncode == 1 and len(done.stdout.splitlines()) == 1 else CANNOT


def record() -> dict[str, dict[str, str]]:
    """Return the results of since.md: by page and file (``NAME/NameTest.java``), how the test ended on each version."""
    results: dict[str, dict[str, str]] = {}
    versions: list[str] = []
    for line in SINCE.read_text("utf-8").splitlines() if SINCE.exists() else ():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| test "):
            versions = [cell.rstrip("*") for cell in cells[1:]]
        elif link := re.match(r"\| \[\w+\]\((.*)\) \|", line):
            results[link[1]] = dict(zip(versions, cells[1:], strict=True))
    return results


def page_of(rows: Mapping[str, Mapping[str, str]]) -> str:
    """The text of since.md."""
    parts = [HEAD]
    for name, title in SYSTEMS.items():
        versions = versions_run(name)
        heads = [version + "*" * (f"{name}:{version}" in FURTHER) for version in versions]
        parts.append(f"\n## {title}\n\n| test | {' | '.join(heads)} |\n{'|---' * (1 + len(heads))}|\n")
        parts += [
            f"| [{Path(file).stem}]({file}) | {' | '.join(rows[file][version] for version in versions)} |\n"
            for file in sorted(rows)
            if rows[file].keys() == set(versions)
        ]
    return "".join(parts)


def graver() -> list[tuple[Page, Path]]:
    """The tests of the first three tiers."""
    return [(page, path) for page, path in TESTS if page.tier in GRAVE]


def main(names: Sequence[str]) -> None:
    """Run the tests of some pages, or of all, and write what they met."""
    rows = record()
    wanted = [(page, path) for page, path in graver() if not names or page.name in names]
    with tempfile.TemporaryDirectory() as scratch:
        for name in SYSTEMS:
            for version in versions_run(name):
                print(f"{SYSTEMS[name]} {version}", flush=True)
                for family in {page.system.family for page, _ in wanted if called(page) == name}:
                    paths = [path for page, path in wanted if page.system.family == family]
                    folder = Path(scratch, version, family)
                    for path, ended in outcomes_on(f"{name}:{version}", paths, folder).items():
                        rows.setdefault(f"{path.parent.name}/{path.name}", {})[version] = ended
    SINCE.write_text(page_of(rows), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
