"""Random topologies of tables break their promises where a finding says so, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.releases import newest, releases
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.findings import PAGES
from tests.support.jvm.topologies import CAMPAIGN, RESULTS, play

LEAST: Final = 1_000
"""Topologies of a committed run."""
EXPLAINED: Final = {
    "kafka-join-of-tables-counts-twice",
    "kafka-join-keeps-deleted-row, kafka-unflushed-row-joined-for-good",
}


def test_the_committed_run_is_of_every_release_and_its_page_tells_it() -> None:
    told = json.loads(RESULTS.read_text("utf-8"))["releases"]
    page = (CAMPAIGN / "README.md").read_text("utf-8")
    assert told.keys() == {release.subject for release in releases("kafka-streams")}
    names = {page.name for page in PAGES}
    for subject, run in told.items():
        assert run["topologies"] >= LEAST and run["differences"] == []
        assert run["explained"].keys() == EXPLAINED
        assert all(name in names for explained in EXPLAINED for name in explained.split(", "))
        cells = [run["topologies"], run["rows"], run["nothing_excused_in"], *run["explained"].values()]
        assert f"| {subject} | {' | '.join(f'{cell:,}' for cell in cells)} | 0 |" in page


@pytest.mark.long
def test_nothing_but_the_findings_breaks_a_promise_and_those_are_seen(tmp_path: Path) -> None:
    try:
        code, told = play(newest("kafka-streams"), 0, 500, tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert (code, told["differences"]) == (0, [])
    assert all(told["explained"][name] > 0 for name in EXPLAINED)
    assert 0 < told["nothing_excused_in"] < told["topologies"]
