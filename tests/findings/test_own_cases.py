"""A run that takes off the mask of a finding plays the finding's own case first: no release conforms by luck."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_conformance.java.releases import Release, every_release
from entrycache_conformance.own_cases import OwnCase, asked_cases, own_cases, try_own
from entrycache_conformance.profiles import Profile
from entrycache_conformance.run import Options, conform
from entrycache_conformance.subjects.narrowed import ALL, unmasked, without
from entrycache_conformance.subjects.reference import reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.verdict import Verdict
from tests.findings.test_findings import CASES

HEAP = "heap-removal-breaks-order"
PULSAR = SYSTEMS["pulsar-pip430"]


def options(folder: Path, first: tuple[OwnCase, ...], *levels: str) -> Options:
    return Options(levels, Profile(40, 0, 0), 0, 0.0, folder, first)


@pytest.mark.parametrize("release", every_release(), ids=str)
def test_every_release_that_a_page_names_violates_and_no_other(
    release: Release, released_subject: Callable[[str], UnderTest]
) -> None:
    subject = released_subject(release.subject)
    cases = own_cases(subject.declaration.system)
    pages = [page for page in CASES if page.system.family == release.family.name]
    assert cases.keys() == {page.name for page in pages}
    for page in pages:
        own = cases[page.name]
        tried = try_own(unmasked(subject, (page.name,), cases), [own], own.level)
        assert [finding for finding, _ in tried.failing] == [page.name] * page.fails(release)
        assert tried.skipped == ()


def test_a_repaired_cache_conforms_with_every_case_of_its_system(tmp_path: Path) -> None:
    for system in SYSTEMS.values():
        first = asked_cases(own_cases(system), (ALL,))
        level = system.levels[0]
        for own in first:
            assert try_own(reference(system), [own], own.level) == ((), ())
        report = conform(reference(system), options(tmp_path, first, level))
        assert report.levels[level].verdict is Verdict.CONFORMS
        above = {f"the case of {own.finding}" for own in first if own.level != level}
        assert {skip.what for skip in report.skipped} >= above


def test_a_case_that_needs_what_is_not_offered_is_told(tmp_path: Path) -> None:
    own = own_cases(PULSAR)[HEAP]
    tried = try_own(without(reference(PULSAR), frozenset({"slowest"})), [own], own.level)
    assert [(skip.what, skip.reason) for skip in tried.skipped] == [
        (f"the case of {HEAP}", "reference does not offer slowest, which the case needs")
    ]


def test_a_finding_that_nothing_masks_may_be_asked_where_it_has_a_case() -> None:
    cases = own_cases(PULSAR)
    assert unmasked(reference(PULSAR), (HEAP,), cases).declaration.findings == {}
    with pytest.raises(UsageError, match="masks no finding 'nope'"):
        unmasked(reference(PULSAR), ("nope",), cases)


def test_the_command_tells_whose_case_it_is(released_subject: Callable[[str], UnderTest], tmp_path: Path) -> None:
    released_subject("pulsar:4.2.4")
    line = ["conform", "pulsar:4.2.4", "--level", "cursors", "--unmask", HEAP, "--failures", str(tmp_path)]
    done = CliRunner().invoke(main, [*line, "--json"])
    assert done.exit_code == 1
    result = json.loads(done.stdout)
    assert [(one["finding"], one["rule"], one["steps"]) for one in result["failures"]] == [(HEAP, "R-CURSOR-9", 10)]
    assert result["levels"]["cursors"]["verdict"] == "violates"
    said = CliRunner().invoke(main, line).stdout
    assert f"the finding's own case: {HEAP}" in said
