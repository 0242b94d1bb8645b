"""Every finding is as its page says: on the releases that it names, and not on the others."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.subjects.jvm import FAMILIES, JavaTestClasspath, java_test_classpath
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.subject import Subject
from tests.support import ROOT

FINDINGS: Final = ROOT / "docs" / "findings"
FAILED: Final = 1


class Release(NamedTuple):
    """A released jar that findings are run against."""

    family: str
    version: str

    def __str__(self) -> str:
        return f"{self.family}:{self.version}"


class System(NamedTuple):
    """What the pages of one system have in common."""

    family: str
    releases: tuple[str, ...]
    user: str
    """Whom a consequence concerns: the name of that part of a page."""


PAGE_SYSTEMS: Final = {
    "pulsar-pip430": System("pulsar", ("4.2.4", "5.0.0-M1", "5.0.1"), "For a broker"),
    "kafka-streams": System("kafka-streams", ("3.9.2", "4.0.0", "4.3.1"), "For a topology"),
}
RELEASES: Final = tuple(Release(each.family, version) for each in PAGE_SYSTEMS.values() for version in each.releases)


class Page(NamedTuple):
    """What the table of a finding's page says."""

    name: str
    title: str
    system: System
    fails_on: tuple[str, ...]
    holds_on: tuple[str, ...]
    text: str

    def fails(self, release: Release) -> bool:
        return release.version in self.fails_on


def read_page(folder: Path) -> Page:
    text = (folder / "README.md").read_text("utf-8")
    cells = dict(re.findall(r"^\| ([A-Z][a-z ]+) \| (.*) \|$", text, re.MULTILINE))
    system = PAGE_SYSTEMS[cells["System"]]
    fails, holds = (
        tuple(release for release in system.releases if release in cells[name].split(", "))
        for name in ("Fails on", "Holds on")
    )
    return Page(folder.name, text.splitlines()[0].removeprefix("# "), system, fails, holds, text)


PAGES: Final = tuple(read_page(page.parent) for page in sorted(FINDINGS.glob("*/README.md")))
CASES: Final = tuple(page for page in PAGES if (FINDINGS / page.name / "case.json").exists())
TESTS: Final = tuple((page, path) for page in PAGES for path in sorted((FINDINGS / page.name).glob("*Test.java")))


def of_a_release(pages: tuple[Page, ...]) -> list[tuple[Release, Page]]:
    """Each page beside each release of its system, release by release."""
    return [(release, page) for release in RELEASES for page in pages if page.system.family == release.family]


@pytest.fixture(scope="module")
def subjects() -> Iterator[Callable[[Release], Subject]]:
    """Starts a subject when it is first asked for."""
    started: dict[Release, Subject] = {}

    def subject(release: Release) -> Subject:
        if release not in started:
            try:
                started[release] = resolve(Choice(str(release)))
            except MissingPrerequisite as missing:
                pytest.skip(str(missing))
        return started[release]

    yield subject
    for each in started.values():
        each.close()


class Compiled(NamedTuple):
    java: JavaTestClasspath
    classpath: str


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Release], Compiled]:
    """All Java tests of a system, compiled for a release of it when they are first asked for."""

    @cache
    def compiled_for(release: Release) -> Compiled:
        try:
            java = java_test_classpath(release.version, family=release.family)
        except MissingPrerequisite as missing:
            pytest.skip(str(missing))
        out = tmp_path_factory.mktemp("findings")
        paths = [path for page, path in TESTS if page.system.family == release.family]
        argv: list[str | Path] = [java.javac, "-nowarn", "-encoding", "UTF-8", "-cp", java.classpath, "-d", out, *paths]
        subprocess.run(argv, check=True, capture_output=True)
        return Compiled(java, f"{out}:{java.classpath}")

    return compiled_for


def run_java_test(path: Path, compiled: Compiled) -> subprocess.CompletedProcess[str]:
    package = re.search(r"^package (.*);$", path.read_text("utf-8"), re.MULTILINE)
    assert package is not None
    argv = [compiled.java.java, "-cp", compiled.classpath, f"{package[1]}.{path.stem}"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)


def expect_as_the_page_says(page: Page, release: Release, done: subprocess.CompletedProcess[str]) -> None:
    if page.fails(release):
        assert done.returncode == FAILED, done.stderr
        assert "conforms" not in done.stdout
        assert len(done.stdout.splitlines()) == 1
    else:
        assert done.returncode == 0, done.stdout
        assert done.stdout == "conforms\n"


def test_every_page_is_whole_and_in_the_index() -> None:
    index = (FINDINGS / "README.md").read_text("utf-8")
    assert {page.system for page in PAGES} == set(PAGE_SYSTEMS.values())
    for page in PAGES:
        assert f"[{page.title}]({page.name}/README.md) | {', '.join(page.fails_on)} |" in index
        assert page.fails_on
        assert sorted(page.fails_on + page.holds_on) == sorted(page.system.releases)
        assert any(path.name in page.text for one, path in TESTS if one is page)
        for part in ("What happens", "Mechanism", "Shortest sequence", page.system.user, "Not shown"):
            assert f"**{part}.**" in page.text


def test_every_family_of_released_jars_has_its_pages() -> None:
    assert {release.family for release in RELEASES} == FAMILIES.keys()


@pytest.mark.parametrize("page", CASES, ids=lambda page: page.name)
def test_the_outcomes_of_a_case_are_the_reference_s(page: Page) -> None:
    case = read_case(FINDINGS / page.name / "case.json", SYSTEMS)
    assert [case.system.wire.write_outcome(done.outcome) for done in trajectory(case, Coverage())] == list(
        case.outcomes
    )
    assert case.rules


@pytest.mark.parametrize(("release", "page"), of_a_release(CASES), ids=lambda one: getattr(one, "name", str(one)))
def test_a_case_differs_where_its_page_says(
    release: Release, page: Page, subjects: Callable[[Release], Subject]
) -> None:
    case = read_case(FINDINGS / page.name / "case.json", SYSTEMS)
    subject = subjects(release)
    difference = judge(case, trajectory(case, Coverage()), subject.play([case])[0], subject.declaration)
    if not page.fails(release):
        assert difference is None
        return
    assert difference is not None
    if difference.failed is not None:
        assert case.note
        assert case.note in difference.failed.message
    else:
        assert difference.at == len(case.got) - 1
        assert case.system.wire.write_outcome(difference.got) == case.got[-1]


@pytest.mark.parametrize(
    ("release", "page", "path"),
    [(release, page, path) for release in RELEASES for page, path in TESTS if page.system.family == release.family],
    ids=lambda one: one.stem if isinstance(one, Path) else None if isinstance(one, Page) else str(one),
)
def test_a_java_test_fails_where_its_page_says(
    release: Release, page: Page, path: Path, compiled: Callable[[Release], Compiled]
) -> None:
    expect_as_the_page_says(page, release, run_java_test(path, compiled(release)))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_page_that_names_the_wrong_release_is_seen(
    family: str, subjects: Callable[[Release], Subject], compiled: Callable[[Release], Compiled]
) -> None:
    page, path = next((page, path) for page, path in TESTS if page.system.family == family and page in CASES)
    release = Release(family, page.fails_on[0])
    wrong = page._replace(fails_on=page.holds_on, holds_on=page.fails_on)
    with pytest.raises(AssertionError):
        expect_as_the_page_says(wrong, release, run_java_test(path, compiled(release)))
    with pytest.raises(AssertionError):
        test_a_case_differs_where_its_page_says(release, wrong, subjects)
