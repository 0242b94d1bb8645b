"""Every finding is as its page says: on the releases that it names, and not on the others."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from entrycache_conformance.case import outcome_to_json, read_case
from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.subjects.jvm import JavaTestClasspath, java_test_classpath
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_conformance.subjects.subject import Subject
from entrycache_reference.errors import MissingPrerequisite

FINDINGS: Final = Path(__file__).parents[2] / "docs" / "findings"
RELEASES: Final = ("4.2.4", "5.0.0-M1", "5.0.1")
FAILED: Final = 1


class Page(NamedTuple):
    """What the table of a finding's page says."""

    name: str
    title: str
    fails_on: tuple[str, ...]
    holds_on: tuple[str, ...]
    text: str


def read_page(folder: Path) -> Page:
    text = (folder / "README.md").read_text("utf-8")
    cells = dict(re.findall(r"^\| ([A-Z][a-z ]+) \| (.*) \|$", text, re.MULTILINE))
    listed = {name: tuple(r for r in RELEASES if r in cells[name].split(", ")) for name in ("Fails on", "Holds on")}
    return Page(folder.name, text.splitlines()[0].removeprefix("# "), listed["Fails on"], listed["Holds on"], text)


PAGES: Final = tuple(read_page(page.parent) for page in sorted(FINDINGS.glob("*/README.md")))
CASES: Final = tuple(page for page in PAGES if (FINDINGS / page.name / "case.json").exists())
TESTS: Final = tuple((page, path) for page in PAGES for path in sorted((FINDINGS / page.name).glob("*Test.java")))


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def subject(release: str) -> Iterator[Subject]:
    try:
        found = resolve(Choice(f"pulsar:{release}"))
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    yield found
    found.close()


class Compiled(NamedTuple):
    java: JavaTestClasspath
    classpath: str


@pytest.fixture(scope="module")
def compiled(release: str, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """All Java tests, compiled for the release."""
    try:
        java = java_test_classpath(release)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    out = tmp_path_factory.mktemp("findings")
    paths = [path for _, path in TESTS]
    argv = [java.javac, "-nowarn", "-encoding", "UTF-8", "-cp", java.classpath, "-d", out, *paths]
    subprocess.run(argv, check=True, capture_output=True)
    return Compiled(java, f"{out}:{java.classpath}")


def test_every_page_is_whole_and_in_the_index() -> None:
    index = (FINDINGS / "README.md").read_text("utf-8")
    assert PAGES
    for page in PAGES:
        assert f"[{page.title}]({page.name}/README.md) | {', '.join(page.fails_on)} |" in index
        assert page.fails_on
        assert set(page.fails_on) | set(page.holds_on) == set(RELEASES)
        assert any(path.name in page.text for one, path in TESTS if one is page)
        for part in ("What happens", "Mechanism", "Shortest sequence", "For a broker", "Not shown"):
            assert f"**{part}.**" in page.text


@pytest.mark.parametrize("page", CASES, ids=lambda page: page.name)
def test_the_outcomes_of_a_case_are_the_reference_s(page: Page) -> None:
    case = read_case(FINDINGS / page.name / "case.json")
    assert [outcome_to_json(done.outcome) for done in trajectory(case, Coverage())] == list(case.outcomes)
    assert case.rules


@pytest.mark.parametrize("page", CASES, ids=lambda page: page.name)
def test_a_case_differs_where_its_page_says(page: Page, subject: Subject, release: str) -> None:
    case = read_case(FINDINGS / page.name / "case.json")
    difference = judge(case, trajectory(case, Coverage()), subject.play([case])[0], subject.declaration)
    if release in page.holds_on:
        assert difference is None
        return
    assert difference is not None
    if difference.failed is not None:
        assert difference.failed.message == case.note
    else:
        assert difference.at == len(case.got) - 1
        assert outcome_to_json(difference.got) == case.got[-1]


@pytest.mark.parametrize(("page", "path"), TESTS, ids=[path.stem for _, path in TESTS])
def test_a_java_test_fails_where_its_page_says(page: Page, path: Path, compiled: Compiled, release: str) -> None:
    package = re.search(r"^package (.*);$", path.read_text("utf-8"), re.MULTILINE)
    assert package is not None
    argv = [compiled.java.java, "-cp", compiled.classpath, f"{package[1]}.{path.stem}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    if release in page.fails_on:
        assert done.returncode == FAILED, done.stderr
        assert "conforms" not in done.stdout
        assert len(done.stdout.splitlines()) == 1
    else:
        assert done.returncode == 0, done.stdout
        assert done.stdout == "conforms\n"
