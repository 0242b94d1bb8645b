"""A read while the ring turns: with every guard exact or a miss, without one of them wrong; and what the page says."""

from __future__ import annotations

import pytest

from entrycache_evidence.pulsar_segmented import reads
from entrycache_evidence.pulsar_segmented.reads import EXACT, GUARDED, MISS, UNGUARDED, WRONG, Ring, tried
from tests.support import ROOT


@pytest.mark.parametrize("ring", GUARDED, ids=Ring.told)
def test_with_every_guard_an_answer_is_exact_or_a_miss(ring: Ring) -> None:
    assert tried(ring).answers == {EXACT, MISS}


@pytest.mark.parametrize("name", UNGUARDED)
def test_without_a_guard_some_answer_is_wrong(name: str) -> None:
    found = tried(UNGUARDED[name])
    assert WRONG in found.answers
    assert found.wrong[-1].startswith("reader")


def test_a_reader_that_meets_no_turn_is_never_wrong() -> None:
    assert tried(Ring(inserts=2, asks=reads.Asks.NEVER)).answers == {EXACT, MISS}


def test_the_page_says_what_a_run_says() -> None:
    lines, is_right = reads.report()
    assert is_right
    assert "\n".join(lines) in (ROOT / "spec/formal/README.md").read_text(encoding="utf-8")
