"""Every finding holds on the releases that its page names, and not on the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.releases import FAMILIES, Release, all_releases, releases
from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.subject import TestedSubject
from tests.support.findings import (
    CASES,
    FINDINGS,
    GRAVE,
    PAGE_SYSTEMS,
    PAGES,
    RELEASES_PAGE,
    TESTS,
    TIERS,
    Page,
    render_releases_page,
)
from tests.support.jvm import mains
from tests.support.jvm.mains import Ended, has_threads, run_all, run_as_it_is
from tests.support.jvm.rocks import needs_rocks
from tests.support.jvm.since import called, versions_run

FAILED: Final = 1
RELEASES: Final = all_releases()
PAGED: Final = {system.family for system in PAGE_SYSTEMS.values()}
"""The families with pages of findings."""

NEWEST: Final = {releases(name)[-1] for name in FAMILIES}
"""The newest releases; older ones are for the long run."""

SOON_COMPILED: Final = {releases(name)[-1] for name in ("bookkeeper", "pulsar-legacy")}
"""The newest releases with few tests. To compile those of the other families takes 25 s each."""


def java_tests_of(release: Release) -> list[tuple[Page, Path]]:
    """Return the Java tests of a system, each with its page."""
    return [(page, path) for page, path in TESTS if page.system.family == release.family.name]


def cases_of_releases() -> list[tuple[Release, Page, Path]]:
    """Return each case with each release of its system, release by release."""
    return [(release, *case) for release in RELEASES for case in CASES if case[0].system.family == release.family.name]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Release], Mapping[Path, Ended]]:
    """Return the results of all Java tests of a system on one of its releases; they run at the first use."""

    @cache
    def ended_on(release: Release) -> Mapping[Path, Ended]:
        shared = [path for _, path in java_tests_of(release) if not has_threads(path)]
        alone = [path for _, path in java_tests_of(release) if has_threads(path)]
        try:
            tools = java_test_classpath(release.subject)
            return run_all(shared, alone, tools, tmp_path_factory.mktemp("findings"))
        except MissingPrerequisite as missing:
            pytest.skip(str(missing))

    return ended_on


def expect_as_the_page_says(page: Page, release: Release, path: Path, done: Ended) -> None:
    if page.fails(release, path.name):
        assert done.returncode == FAILED
        assert "conforms" not in done.stdout
        assert len(done.stdout.splitlines()) == 1
    else:
        assert done.returncode == 0, done.stdout
        assert done.stdout == "conforms\n"


def test_every_page_is_whole_and_in_the_index() -> None:
    index = (FINDINGS / "README.md").read_text("utf-8")
    assert {page.system for page in PAGES} == set(PAGE_SYSTEMS.values())
    for page in PAGES:
        under = index.partition(f"\n## {TIERS[page.tier]}\n")[2].partition("\n## ")[0]
        assert f"[{page.title}]({page.name}/README.md) | {page.failing} |" in under
        further = versions_run(called(page)) if page.tier in GRAVE else []
        assert page.fails_on or set(page.failing.split(", ")) <= set(further)
        assert sorted(page.fails_on + page.holds_on + page.not_run) == sorted(page.system.releases)
        files = [*(FINDINGS / page.name).rglob("*Test.java"), *(FINDINGS / page.name).glob("*.json")]
        assert files
        assert all(f"({path.relative_to(FINDINGS / page.name)})" in page.text for path in files)
        assert {path.name for path in files} >= page.otherwise.keys()
        for part in ("What happens", "Mechanism", "Shortest sequence", page.system.user, "Not shown"):
            assert f"**{part}.**" in page.text


def test_every_family_of_released_jars_has_its_pages() -> None:
    assert FAMILIES.keys() == PAGED


@pytest.mark.parametrize("path", [path for _, path in CASES], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_outcomes_of_a_case_are_the_reference_s(path: Path) -> None:
    case = read_case(path, SYSTEMS)
    assert [case.system.wire.write_outcome(done.outcome) for done in run_reference(case, Coverage())] == list(
        case.outcomes
    )
    assert case.rules


@pytest.mark.parametrize(
    ("release", "page", "path"),
    [pytest.param(*case, marks=() if case[0] in NEWEST else pytest.mark.long) for case in cases_of_releases()],
    ids=lambda one: one.stem if isinstance(one, Path) else getattr(one, "name", str(one)),
)
def test_a_case_differs_where_its_page_says(
    release: Release, page: Page, path: Path, released_subject: Callable[[str], TestedSubject]
) -> None:
    case = read_case(path, SYSTEMS)
    subject = released_subject(release.subject)
    difference = judge(case, run_reference(case, Coverage()), subject.play([case])[0], subject.declaration)
    if not page.fails(release, path.name):
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
    [
        pytest.param(release, page, path, marks=() if release in SOON_COMPILED else pytest.mark.long)
        for release in RELEASES
        for page, path in java_tests_of(release)
    ],
    ids=lambda one: one.stem if isinstance(one, Path) else None if isinstance(one, Page) else str(one),
)
def test_a_java_test_fails_where_its_page_says(
    release: Release, page: Page, path: Path, ended: Callable[[Release], Mapping[Path, Ended]]
) -> None:
    done = ended(release)[path]
    if done.lacks:
        pytest.skip(done.lacks)
    expect_as_the_page_says(page, release, path, done)


@pytest.mark.long
@pytest.mark.parametrize(
    "release",
    [
        pytest.param(release, marks=() if release == releases("kafka-streams")[-1] else pytest.mark.long)
        for release in RELEASES
        if java_tests_of(release)
    ],
    ids=str,
)
def test_a_java_test_alone_ends_as_it_does_beside_others(
    release: Release, ended: Callable[[Release], Mapping[Path, Ended]], tmp_path: Path
) -> None:
    shared = [path for _, path in java_tests_of(release) if not has_threads(path)]
    for code in {ended(release)[path].returncode for path in shared}:
        path = next(path for path in shared if ended(release)[path].returncode == code)
        assert run_as_it_is(path, release, tmp_path) == ended(release)[path]


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_every_java_test_alone_fails_where_its_page_says(release: Release, tmp_path: Path) -> None:
    """Run each test in a JVM of its own."""
    try:
        tools = java_test_classpath(release.subject)
        ended = run_all((), [path for _, path in java_tests_of(release)], tools, tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    for page, path in java_tests_of(release):
        if not ended[path].lacks:
            expect_as_the_page_says(page, release, path, ended[path])


@pytest.mark.long
def test_without_rocksdb_the_tests_that_say_so_are_left_out_and_no_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(tools: JavaTestClasspath, folder: Path) -> JavaTestClasspath:
        raise MissingPrerequisite("no jar")

    monkeypatch.setattr(mains, "with_rocks", missing)
    needing = [path for _, path in TESTS if needs_rocks(path)]
    assert 0 < len(needing) < len(TESTS)
    try:
        tools = java_test_classpath(releases("kafka-streams")[-1].subject)
    except MissingPrerequisite as error:
        pytest.skip(str(error))
    other = next(path for page, path in TESTS if page.name == "kafka-reverse-view-shows-deleted")
    ended = run_all([*needing, other], [], tools, tmp_path)
    assert [ended[path].lacks for path in needing] == ["no jar"] * len(needing)
    assert (ended[other].returncode, ended[other].lacks) == (FAILED, "")


def differing(family: str) -> tuple[Release, Page, Path, Path]:
    """Return the newest release that differs by a page with a case, that case, and a Java test of that page."""
    return next(
        (release, page, case, path)
        for release in reversed(releases(family))
        for page, case in CASES
        for one, path in TESTS
        if one is page and page.system.family == family
        if page.fails(release, case.name) and page.fails(release, path.name)
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("release", "page", "case", "path"),
    [
        pytest.param(*difference, marks=() if difference[0] in NEWEST else pytest.mark.long, id=family)
        for family in FAMILIES
        if family in PAGED
        for difference in [differing(family)]
    ],
)
def test_a_page_that_names_the_wrong_release_is_seen(
    release: Release,
    page: Page,
    case: Path,
    path: Path,
    released_subject: Callable[[str], TestedSubject],
    ended: Callable[[Release], Mapping[Path, Ended]],
) -> None:
    wrong = page._replace(fails_on=page.holds_on, holds_on=page.fails_on)
    with pytest.raises(AssertionError):
        expect_as_the_page_says(wrong, release, path, ended(release)[path])
    with pytest.raises(AssertionError):
        test_a_case_differs_where_its_page_says(release, wrong, case, released_subject)


def test_the_page_of_releases_lists_what_fails_on_each() -> None:
    assert RELEASES_PAGE.read_text("utf-8") == render_releases_page(), "write it by python -m tests.support.findings"
