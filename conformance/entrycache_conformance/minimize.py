"""Leave out what a failure does not need.

`minimize_items` is the one search of its kind: pieces of half the items are left out, then of a quarter, down to single
items, as long as the rest still fails. The other functions use it for the steps of a case. What counts as failing is
the caller's: each function takes a predicate and never plays anything itself.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from entrycache_protocol.case import Case
from entrycache_protocol.subject import Difference

Item = TypeVar("Item")


def minimize_items(
    items: Sequence[Item],
    fails: Callable[[tuple[Item, ...]], Sequence[Item] | None],
    budget: float = math.inf,
    forwards: bool = False,
) -> tuple[Item, ...]:
    """Return the fewest items found that still fail. Everything here that shortens a case uses this function.

    It leaves out pieces of half the items, then of a quarter, down to single items, from the end or `forwards`.
    `fails` takes the items that are left. If they still fail it returns them, or what became of them, else None.
    It is called at most `budget` times.
    """
    remaining = tuple(items)
    piece = max(1, len(remaining) // 2)
    while budget > 0:
        left_out = False
        at = 0 if forwards else max(0, len(remaining) - piece)
        while budget > 0 and at < len(remaining):
            budget -= 1
            fewer = fails(remaining[:at] + remaining[at + piece :])
            is_fewer = fewer is not None and len(fewer) < len(remaining)
            if fewer is not None and is_fewer:
                remaining, left_out = tuple(fewer), True
            if forwards:
                at += 0 if is_fewer else piece
            elif at == 0:
                break
            else:
                at = max(0, min(at, len(remaining)) - piece)
        if piece == 1 and not left_out:
            break
        piece = max(1, piece // 2)
    return remaining


Result = TypeVar("Result")


def minimize_steps(
    case: Case, fails: Callable[[Case], Result | None], tries: int, forwards: bool = False
) -> Result | None:
    """Return the result of `fails` for the shortest case found, or None if not even the case itself fails."""
    result = fails(case)
    if result is None:
        return None

    def fails_with(steps: tuple[Any, ...]) -> tuple[Any, ...] | None:
        nonlocal result
        again = fails(dataclasses.replace(case, steps=steps))
        result = result if again is None else again
        return None if again is None else steps

    minimize_items(case.steps, fails_with, tries, forwards)
    return result


def shrink_case(
    case: Case,
    difference: Difference,
    differs: Callable[[Case], Difference | None],
    tries: int,
    forwards: bool = False,
) -> tuple[Case, Difference]:
    """Return the shortest case found that still differs, and its difference."""

    def differing(shorter: Case) -> tuple[Case, Difference] | None:
        again = differs(shorter)
        return None if again is None else (shorter, again)

    cut = dataclasses.replace(case, steps=case.steps[: difference.at + 1])
    return minimize_steps(cut, differing, tries, forwards) or (case, difference)


COUNT_ARGUMENTS: Final = ("expected_reads", "max_requeues", "fails")
"""Arguments that demand as many further steps as their value."""


def lower_counts(case: Case, fails: Callable[[Case], Result | None]) -> Result | None:
    """Set each count to 1 if the case still fails. Return the last failure, or None if no count can be lowered."""
    result = None
    for at, step in enumerate(case.steps):
        for name in COUNT_ARGUMENTS:
            value = getattr(step, name, None)
            if type(value) is int and value > 1:
                steps = (*case.steps[:at], dataclasses.replace(step, **{name: 1}), *case.steps[at + 1 :])
                less = dataclasses.replace(case, steps=steps)
                again = fails(less)
                if again is not None:
                    case, step, result = less, steps[at], again
    return result
