"""Random topologies and stores break their promises where a finding says so, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import PAGES
from tests.support.jvm.campaigns import CAMPAIGNS, DSL, FIXED, PAIRED_STORES, REVIVAL, TOPOLOGIES, Campaign, play
from tests.support.jvm.params import MEASURED

LEAST: Final = {"topologies": 1_000, "twins": 200, "dsl": 100, "revival": 200}
"""The number of topologies or random runs of a committed campaign."""
EXPLAINED: Final = {
    "kafka-join-of-tables-counts-twice",
    "kafka-join-keeps-deleted-row, kafka-unflushed-row-joined-for-good",
}


def played(campaign: Campaign, seeds: tuple[int, int], folder: Path, mode: str = "") -> tuple[int, dict[str, Any]]:
    """Return the campaign record of the newest release; without Maven the test is skipped."""
    try:
        return play(campaign, MEASURED[-1], seeds, folder, mode=mode)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("campaign", CAMPAIGNS.values(), ids=CAMPAIGNS)
def test_the_committed_run_covers_every_release_and_matches_its_page(campaign: Campaign) -> None:
    results = json.loads(campaign.results.read_text("utf-8"))["releases"]
    page = (campaign.folder / "README.md").read_text("utf-8")
    subjects = {release.subject for release in MEASURED}
    with_fixes = {f"{MEASURED[-1].subject} {FIXED}"} if campaign.fixes else set()
    assert results.keys() == subjects | with_fixes
    names = {page.name for page in PAGES}
    for subject, run in results.items():
        count = run["worlds" if campaign in (PAIRED_STORES, REVIVAL) else "topologies"]
        assert count >= LEAST[campaign.name] and run["differences"] == []
        assert all(name in names for explained in run["explained"] for name in explained.split(", "))
        questions = sum(run["asked"].values()) if "asked" in run else run["rows"]
        cells = [count, questions, sum(run["explained"].values())]
        if campaign is TOPOLOGIES:
            assert run["explained"].keys() == EXPLAINED
            cells = [count, questions, run["nothing_excused_in"], *run["explained"].values()]
        assert f"| {subject} | {' | '.join(f'{cell:,}' for cell in cells)} | 0 |" in page


@pytest.mark.long
def test_nothing_but_the_findings_breaks_a_promise_and_those_are_seen(tmp_path: Path) -> None:
    code, result = played(TOPOLOGIES, (0, 500), tmp_path)
    assert (code, result["differences"]) == (0, [])
    assert all(result["explained"][name] > 0 for name in EXPLAINED)
    assert 0 < result["nothing_excused_in"] < result["topologies"]


@pytest.mark.long
def test_stores_with_and_without_a_cache_agree_but_for_findings_and_always_with_the_fixes(tmp_path: Path) -> None:
    code, result = played(PAIRED_STORES, (0, 60), tmp_path / "released")
    assert (code, result["differences"]) == (0, [])
    assert result["explained"]
    code, result = played(PAIRED_STORES, (0, 60), tmp_path / "mended", FIXED)
    assert (code, result["differences"], result["explained"]) == (0, [], {})


@pytest.mark.long
@pytest.mark.parametrize("harm", ["get", "fetchAll", "sessions"])
def test_a_spoiled_answer_of_one_of_the_two_stores_is_detected(harm: str, tmp_path: Path) -> None:
    code, result = played(PAIRED_STORES, (0, 20), tmp_path, harm)
    assert code == 1
    assert all(f": {harm}: expected " in difference for difference in result["differences"])


@pytest.mark.long
def test_random_topologies_of_the_dsl_keep_their_promises_with_the_fixes_and_a_lost_row_is_seen(
    tmp_path: Path,
) -> None:
    code, result = played(DSL, (0, 40), tmp_path / "mended", FIXED)
    assert (code, result["differences"]) == (0, [])
    assert result["explained"].keys() <= {"kafka-final-windows-depend-on-cache"}
    code, result = played(DSL, (0, 20), tmp_path / "harmed", "harm")
    assert code == 1
    assert result["differences"]


@pytest.mark.long
def test_lives_of_tasks_lose_nothing_with_the_fixes_and_what_the_findings_say_without(tmp_path: Path) -> None:
    code, result = played(REVIVAL, (0, 60), tmp_path / "released")
    assert (code, result["differences"]) == (0, [])
    assert result["explained"].keys() == set(REVIVAL.fixes)
    code, result = played(REVIVAL, (0, 60), tmp_path / "mended", FIXED)
    assert (code, result["differences"], result["explained"]) == (0, [], {})


@pytest.mark.long
def test_a_cache_that_is_cleared_before_a_commit_is_seen(tmp_path: Path) -> None:
    code, result = played(REVIVAL, (0, 20), tmp_path, "harm")
    assert code == 1
    assert result["differences"]
