"""A run that lifts the waiver of a finding plays the finding's own case first, so no release conforms by luck."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_conformance.finding_cases import (
    FindingCase,
    explain_related,
    load_finding_cases,
    play_finding_cases,
    related_findings,
    select_finding_cases,
)
from entrycache_conformance.java.releases import FAMILIES, Release, releases
from entrycache_conformance.levels import Profile
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.wrappers import ALL_FINDINGS, lift_waivers, without_operations
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import open_reference, reference_offer, reference_subject
from entrycache_protocol.errors import UsageError, Verdict
from entrycache_protocol.subject import InProcessSubject, TestedSubject
from entrycache_reference.pulsar_pip430.config import LimiterOrder, LimiterTimeout
from tests.support.findings import CASES, PAGES, Page

HEAP = "heap-removal-breaks-order"
PULSAR = SYSTEMS["pulsar-pip430"]


def options(folder: Path, first: tuple[FindingCase, ...], *levels: str) -> Options:
    return Options(levels, Profile(40, 0, 0), 0, 0.0, folder, first)


def one_of_each_kind(pages: list[Page], release: Release) -> list[Page]:
    """Return a page whose first case fails on the release, and one whose first case does not, where there are any."""
    first = {page.name: path.name for page, path in reversed(CASES)}
    return [*{page.fails(release, first[page.name]): page for page in pages}.values()]


@pytest.mark.parametrize(
    ("release", "every"),
    [
        *((releases(family)[-1], False) for family in FAMILIES),
        *(pytest.param(release, True, marks=pytest.mark.long) for family in FAMILIES for release in releases(family)),
    ],
    ids=lambda each: str(each) if isinstance(each, Release) else "all" if each else "some",
)
def test_every_release_that_a_page_names_violates_and_no_other(
    release: Release, every: bool, released_subject: Callable[[str], TestedSubject]
) -> None:
    """A failing case is shortened and confirmed in a JVM of its own; test_findings.py plays all cases without that."""
    subject = released_subject(release.subject)
    cases = load_finding_cases(subject.declaration.system)
    pages = [
        page for page in {page.name: page for page, _ in CASES}.values() if page.system.family == release.family.name
    ]
    assert cases.keys() == {page.name for page in pages}
    for page in pages if every else one_of_each_kind(pages, release):
        files = sorted((path for one, path in CASES if one is page), key=lambda path: (path.name != "case.json", path))
        for path, own in zip(files, cases[page.name], strict=True):
            result = play_finding_cases(lift_waivers(subject, (page.name,), cases), [own], own.level)
            assert [finding for finding, _ in result.failing] == [page.name] * page.fails(release, path.name)
            assert result.skipped == ()


@pytest.mark.long
def test_a_repaired_cache_conforms_with_every_case_of_its_system(tmp_path: Path) -> None:
    for system in SYSTEMS.values():
        first = select_finding_cases(load_finding_cases(system), (ALL_FINDINGS,))
        level = system.levels[0]
        for own in first:
            assert play_finding_cases(reference_subject(system), [own], own.level) == ((), ())
        report = conform(reference_subject(system), options(tmp_path, first, level))
        assert report.levels[level].verdict is Verdict.CONFORMS
        above = {f"the case of {own.finding}" for own in first if own.level != level}
        assert {skip.what for skip in report.skipped} >= above


def test_a_case_that_needs_what_is_not_offered_is_reported(tmp_path: Path) -> None:
    own = load_finding_cases(PULSAR)[HEAP][0]
    result = play_finding_cases(without_operations(reference_subject(PULSAR), frozenset({"slowest"})), [own], own.level)
    assert [(skip.what, skip.reason) for skip in result.skipped] == [
        (f"the case of {HEAP}", "reference does not offer slowest, which the case needs")
    ]


def test_a_finding_that_nothing_waives_may_be_asked_where_it_has_a_case() -> None:
    cases = load_finding_cases(PULSAR)
    assert lift_waivers(reference_subject(PULSAR), (HEAP,), cases).declaration.findings == {}
    with pytest.raises(UsageError, match="waives no finding 'nope'"):
        lift_waivers(reference_subject(PULSAR), ("nope",), cases)


def both_limiter_defects(config: Any) -> Any:
    variants = replace(config.variants, limiter_order=LimiterOrder.OVERTAKING, limiter_timeout=LimiterTimeout.LEAVES)
    return open_reference(PULSAR.model)(replace(config, variants=variants))


def test_a_case_is_not_shortened_to_one_of_another_finding(tmp_path: Path) -> None:
    subject = InProcessSubject("both", PULSAR, both_limiter_defects, reference_offer(PULSAR))
    cases = load_finding_cases(PULSAR)
    first = (*cases["limiter-overtakes"], *cases["limiter-timeout-serves-nobody"])
    report = conform(subject, options(tmp_path, first, "limits"))
    assert [(one.finding, one.rules[0]) for one in report.failures] == [
        ("limiter-overtakes", "R-LIMIT-2"),
        ("limiter-timeout-serves-nobody", "R-LIMIT-6"),
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if page.fixes], ids=lambda page: page.name)
def test_a_page_links_the_findings_whose_fixes_its_own_needs(page: Page) -> None:
    assert set(related_findings(page.name)) == {patch.parent.name for patch in page.fixes} - {page.name}


def test_lifting_one_finding_names_those_that_belong_together_with_it() -> None:
    alone, others = "kafka-delete-overwrites-nested-write", related_findings("kafka-delete-overwrites-nested-write")
    (sentence,) = explain_related([alone])
    assert sentence.startswith(f"{alone} belongs together with {' and '.join(others)}: ")
    assert all(f"--unmask {other}" in sentence for other in others)
    assert explain_related([alone, *others]) == explain_related([alone, ALL_FINDINGS]) == explain_related([HEAP]) == []


@pytest.mark.long
def test_the_command_names_them_before_the_run(
    released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    released_subject("kafka-streams:4.3.1")
    line = ["conform", "kafka-streams:4.3.1", "--level", "cache", "--rules", "K-STORE-7", "--failures", str(tmp_path)]
    done = CliRunner().invoke(main, [*line, "--unmask", "kafka-delete-overwrites-nested-write"])
    assert "--unmask kafka-older-value-written-last --unmask kafka-rewritten-tombstone-is-dropped" in done.stderr


def line_of(folder: Path) -> list[str]:
    return ["conform", "pulsar:4.2.4", "--level", "cursors", "--unmask", HEAP, "--failures", str(folder)]


@pytest.mark.long
def test_the_command_reports_the_finding_of_a_case(
    released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    released_subject("pulsar:4.2.4")
    done = CliRunner().invoke(main, [*line_of(tmp_path), "--json"])
    assert done.exit_code == 1
    result = json.loads(done.stdout)
    assert [(one["finding"], one["rule"], one["steps"]) for one in result["failures"]] == [(HEAP, "R-CURSOR-9", 10)]
    assert result["levels"]["cursors"]["verdict"] == "violates"


@pytest.mark.long
def test_the_tables_name_the_finding_of_a_case(
    released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    released_subject("pulsar:4.2.4")
    said = CliRunner().invoke(main, line_of(tmp_path)).stdout
    assert f"the finding's own case: {HEAP}" in said


MISSES_EVICTED = "kafka-iteration-misses-evicted"


@pytest.mark.long
def test_the_printed_command_replays_a_case_beyond_a_limit(
    released_subject: Callable[[str], TestedSubject], tmp_path: Path
) -> None:
    """The subject refuses the case while it declares the limit of the finding."""
    released_subject("kafka-streams:4.3.1")
    line = ["conform", "kafka-streams:4.3.1", "--level", "windows", "--unmask", MISSES_EVICTED, "--json"]
    (failure,) = json.loads(CliRunner().invoke(main, [*line, "--failures", str(tmp_path)]).stdout)["failures"]
    program, *replay = shlex.split(failure["replay"])
    assert program == "entrycache"
    done = CliRunner().invoke(main, replay)
    assert done.exit_code == 1 and "K-WINDOW-12: " in done.stdout
    without = CliRunner().invoke(main, [word for word in replay if word not in ("--unmask", MISSES_EVICTED)])
    assert without.exit_code == 2 and "the subject takes no such step" in without.stderr
