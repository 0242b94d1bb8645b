"""Test reads while the ring turns: with every guard answers are exact or misses, without one some are wrong."""

from __future__ import annotations

import pytest

from entrycache_evidence import run
from entrycache_evidence.pulsar_segmented import interleavings
from entrycache_evidence.pulsar_segmented.interleavings import (
    EXACT,
    GUARDED,
    MISS,
    UNGUARDED,
    WRONG,
    Ring,
    explore_ring,
)
from tests.support import ROOT


@pytest.mark.parametrize("ring", GUARDED, ids=Ring.describe)
def test_with_every_guard_an_answer_is_exact_or_a_miss(ring: Ring) -> None:
    assert explore_ring(ring).answers == {EXACT, MISS}


@pytest.mark.parametrize("name", UNGUARDED)
def test_without_a_guard_some_answer_is_wrong(name: str) -> None:
    exploration = explore_ring(UNGUARDED[name])
    assert WRONG in exploration.answers
    assert exploration.wrong[-1].startswith("reader")


def test_a_reader_that_meets_no_turn_is_never_wrong() -> None:
    assert explore_ring(Ring(inserts=2, turn_check=interleavings.TurnCheck.NEVER)).answers == {EXACT, MISS}


def test_an_unexpected_result_is_a_failure_of_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "pulsar-segmented"
    assert f"the other models of {name}" in dict(run._parts("ci", ("z3", "crosshair", "tlc")))
    monkeypatch.setattr(interleavings, "GUARDED", (Ring(turn_check=interleavings.TurnCheck.NEVER),))
    monkeypatch.setattr(interleavings, "UNGUARDED", {"a guard that is there": Ring(inserts=1)})
    _, failures = run._check_other_models(name)
    assert [line.partition("; ")[0].partition(":")[2] for line in failures] == [
        " every guard: 2 segments of 1 entry, 2 bytes an entry, 4 inserts, 2 readers",
        " a guard that is there: 2 segments of 1 entry, 2 bytes an entry, 1 inserts, 2 readers",
    ]


def test_the_page_agrees_with_a_run() -> None:
    lines, failures = interleavings.build_report()
    assert failures == []
    assert "\n".join(lines) in (ROOT / "spec/formal/README.md").read_text(encoding="utf-8")
