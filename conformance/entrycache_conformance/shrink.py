"""Shrinking: what a failure does not need is left out; where runs get no answer, tries are few and short."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.subjects.fresh import child_of
from entrycache_protocol.case import Case
from entrycache_protocol.errors import BrokenSubject
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import Failed, Trouble, UnderTest

TRY_SECONDS: Final = 1.0
"""The time-out of a try; the shortest case is confirmed under the full one."""

TRIES: Final = 60
HANGS: Final = 12
"""How many tries may hang."""


def shrink_steps(subject: UnderTest, case: Case, failed: Failed) -> tuple[Case, Difference]:
    """The shortest case found that fails in the same way, and the difference at its last step."""
    shortest = case
    if failed.trouble is Trouble.ERRORED and failed.step is not None:
        shortest = dataclasses.replace(case, steps=case.steps[: failed.step + 1])
    hangs = 0

    def fails(shorter: Case) -> tuple[Case, Failed] | None:
        nonlocal hangs
        if hangs >= HANGS:
            return None
        again = _fails(subject, shorter, failed)
        hangs += again is not None and failed.trouble is Trouble.HANG
        return again

    with hurried(subject, TRY_SECONDS):
        found = fewer_steps(shortest, fails, TRIES)
        if found is not None and failed.trouble is Trouble.ERRORED:
            found = smaller_counts(found[0], fails) or found
            found = fewer_steps(found[0], fails, TRIES) or found
    confirmed = None
    if found is not None:
        with hurried(subject, math.inf) if failed.trouble is Trouble.HANG else contextlib.nullcontext():
            confirmed = _fails(subject, found[0], failed)
    shortest, why = confirmed or (case, failed)
    difference = judge(shortest, trajectory(shortest, Coverage()), why, subject.declaration)
    assert difference is not None
    return shortest, difference


def hurried(subject: UnderTest, seconds: float) -> contextlib.AbstractContextManager[None]:
    """Meanwhile a run that hangs costs at most that long, once."""
    child = child_of(subject)
    return contextlib.nullcontext() if child is None else child.hurried(seconds)


Item = TypeVar("Item")


def leave_out(
    items: Sequence[Item],
    fails: Callable[[tuple[Item, ...]], Sequence[Item] | None],
    budget: float = math.inf,
    forwards: bool = False,
) -> tuple[Item, ...]:
    """The fewest items found that still fail: every way here to make a failing case shorter.

    Pieces of half the items are left out, then of a quarter, down to single ones, until none can be; each time from
    behind, or `forwards`. `fails` is told what is to be left and gives it back where that still fails, or what has
    become of it; None where it does not. It is asked at most `budget` times.
    """
    kept = tuple(items)
    piece = max(1, len(kept) // 2)
    while budget > 0:
        left_out = False
        at = 0 if forwards else max(0, len(kept) - piece)
        while budget > 0 and at < len(kept):
            budget -= 1
            fewer = fails(kept[:at] + kept[at + piece :])
            is_fewer = fewer is not None and len(fewer) < len(kept)
            if fewer is not None and is_fewer:
                kept, left_out = tuple(fewer), True
            if forwards:
                at += 0 if is_fewer else piece
            elif at == 0:
                break
            else:
                at = max(0, min(at, len(kept)) - piece)
        if piece == 1 and not left_out:
            break
        piece = max(1, piece // 2)
    return kept


Found = TypeVar("Found")


def fewer_steps(case: Case, fails: Callable[[Case], Found | None], tries: int, forwards: bool = False) -> Found | None:
    """What `fails` says of the shortest case found; None where not even the case itself fails."""
    found = fails(case)
    if found is None:
        return None

    def fails_with(steps: tuple[Any, ...]) -> tuple[Any, ...] | None:
        nonlocal found
        again = fails(dataclasses.replace(case, steps=steps))
        found = found if again is None else again
        return None if again is None else steps

    leave_out(case.steps, fails_with, tries, forwards)
    return found


def shortest(
    case: Case,
    difference: Difference,
    differs: Callable[[Case], Difference | None],
    tries: int,
    forwards: bool = False,
) -> tuple[Case, Difference]:
    """The shortest case found that still differs, and its difference."""

    def differing(shorter: Case) -> tuple[Case, Difference] | None:
        again = differs(shorter)
        return None if again is None else (shorter, again)

    cut = dataclasses.replace(case, steps=case.steps[: difference.at + 1])
    return fewer_steps(cut, differing, tries, forwards) or (case, difference)


COUNTS: Final = ("expected_reads", "max_requeues", "fails")
"""Arguments that ask for as many further steps as they say."""


def smaller_counts(case: Case, fails: Callable[[Case], Found | None]) -> Found | None:
    """What `fails` says of the case with these counts at 1, each where it still fails; None where none can be."""
    found = None
    for at, step in enumerate(case.steps):
        for name in COUNTS:
            value = getattr(step, name, None)
            if type(value) is int and value > 1:
                steps = (*case.steps[:at], dataclasses.replace(step, **{name: 1}), *case.steps[at + 1 :])
                less = dataclasses.replace(case, steps=steps)
                again = fails(less)
                if again is not None:
                    case, step, found = less, steps[at], again
    return found


def _fails(subject: UnderTest, case: Case, failed: Failed) -> tuple[Case, Failed] | None:
    if case.system.cases.unfit(subject.declaration, case.config, case.steps):
        return None
    try:
        answer = subject.play([case])[0]
    except BrokenSubject:
        return None
    if isinstance(answer, Failed) and answer.trouble is failed.trouble:
        return case, answer
    return None
