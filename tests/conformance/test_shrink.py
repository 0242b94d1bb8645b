"""Minimizing leaves out pieces of half the items, of a quarter, then single ones."""

from __future__ import annotations

import pytest

from entrycache_conformance.generate import minimize_items


@pytest.mark.parametrize("forwards", [False, True])
def test_only_what_the_failure_needs_is_left(forwards: bool) -> None:
    tries: list[tuple[int, ...]] = []

    def fails(kept: tuple[int, ...]) -> tuple[int, ...] | None:
        tries.append(kept)
        return kept if {3, 11} <= set(kept) else None

    assert minimize_items(range(16), fails, forwards=forwards) == (3, 11)
    first = tuple(range(8, 16)) if forwards else tuple(range(8))
    assert tries[0] == first


def test_nothing_can_be_left_out_of_what_is_needed_or_empty() -> None:
    assert minimize_items((1, 2, 3), lambda kept: None) == (1, 2, 3)
    assert minimize_items((), lambda kept: kept) == ()
    assert minimize_items((1, 2, 3), lambda kept: kept) == ()


def test_it_asks_no_more_often_than_it_may() -> None:
    questions: list[tuple[int, ...]] = []
    assert minimize_items(range(100), questions.append, 7) == tuple(range(100))
    assert len(questions) == 7


def test_what_has_become_of_the_items_counts() -> None:
    """Leaving out one item may change those behind it; a result that is not shorter is not taken."""
    assert minimize_items("abcd", lambda kept: [item.upper() for item in kept] if len(kept) >= 2 else None) == (
        "A",
        "B",
    )
    assert minimize_items("abcd", lambda kept: "wxyz") == tuple("abcd")
