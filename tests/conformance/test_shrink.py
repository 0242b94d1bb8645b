"""Minimizing leaves out pieces of half the items, of a quarter, then single ones; numbers become fewer and smaller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from entrycache_conformance.generate import minimize_items
from entrycache_conformance.judge import Coverage
from entrycache_conformance.resolve import open_in_process
from entrycache_conformance.search import find_failure
from entrycache_conformance.shrink import ChoiceMinimizer, shrink_failure


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


def minimized(choices: tuple[int, ...], fails: Callable[[Sequence[int]], bool], tries: int = 1_000) -> tuple[int, ...]:
    """Return what is left of numbers after one round of the minimizer."""
    minimizer = ChoiceMinimizer(choices, lambda numbers: tuple(numbers) if fails(numbers) else None, tries)
    minimizer.leave_out_pieces()
    minimizer.lower_equal()
    minimizer.lower_each()
    return minimizer.best


def test_numbers_are_left_out_and_lowered() -> None:
    assert minimized((9, 8, 7, 6, 5, 4, 3), lambda numbers: sum(numbers) >= 10) == (9, 1)
    assert minimized((700, 3, 12), lambda numbers: len(numbers) == 3 and numbers[0] > 41) == (42, 0, 0)
    assert minimized((3, 9), lambda numbers: False) == (3, 9)


def test_equal_numbers_are_lowered_together() -> None:
    assert minimized((6, 1, 6), lambda numbers: len(numbers) == 3 and numbers[0] == numbers[2] > 1) == (2, 0, 2)


def test_a_small_number_that_halving_misses_is_tried() -> None:
    assert minimized((40,), lambda numbers: list(numbers) in ([2], [40])) == (2,)


def test_no_more_cases_are_made_than_allowed_and_none_twice() -> None:
    numbers: list[tuple[int, ...]] = []
    minimized((5, 4, 3, 2, 1), lambda choices: bool(numbers.append(tuple(choices))), 9)
    assert len(numbers) == 9
    numbers.clear()
    minimized((5, 5, 5), lambda choices: bool(numbers.append(tuple(choices))))
    assert len(numbers) == len(set(numbers))


def test_a_failure_that_does_not_repeat_is_returned_as_it_was_met() -> None:
    subject = open_in_process("expire-at-the-cutoff")
    reference = open_in_process("reference", "pulsar-pip430")
    assert subject is not None
    assert reference is not None
    menu = subject.declaration.system.cases.menu(subject.declaration.ops)
    raw = find_failure(subject, menu, 400, 0, Coverage()).failure
    assert raw is not None
    assert len(shrink_failure(subject, raw).case.steps) < len(raw.failing.case.steps)
    assert shrink_failure(reference, raw).difference == raw.failing.difference
