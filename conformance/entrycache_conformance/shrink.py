"""Shrinking: what a failure does not need is left out; where runs get no answer, tries are few and short."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from entrycache_conformance.judge import Coverage, find_difference, judge, run_reference
from entrycache_conformance.subjects.child import FreshSubject, find_child, play_fresh
from entrycache_protocol.case import MAX_STEPS, Case
from entrycache_protocol.errors import BrokenSubject, RestartError
from entrycache_protocol.subject import Difference, FailedRun, FailingCase, FailureKind, RunResult, TestedSubject

TRY_SECONDS: Final = 1.0
"""The time-out of a try; the shortest case is confirmed under the full one."""

UNANSWERED_TRIES: Final = 60
MAX_HANGS: Final = 12
"""How many tries may hang."""


def shrink_unanswered_case(subject: TestedSubject, case: Case, failed: FailedRun) -> tuple[Case, Difference]:
    """The shortest case found that fails in the same way, and the difference at its last step."""
    shortest = case
    if failed.trouble is FailureKind.ERRORED and failed.step is not None:
        shortest = dataclasses.replace(case, steps=case.steps[: failed.step + 1])
    hangs = 0

    def fails(shorter: Case) -> tuple[Case, FailedRun] | None:
        nonlocal hangs
        if hangs >= MAX_HANGS:
            return None
        again = _fails_alike(subject, shorter, failed)
        hangs += again is not None and failed.trouble is FailureKind.HANG
        return again

    with limit_time(subject, TRY_SECONDS):
        found = minimize_steps(shortest, fails, UNANSWERED_TRIES)
        if found is not None and failed.trouble is FailureKind.ERRORED:
            found = lower_counts(found[0], fails) or found
            found = minimize_steps(found[0], fails, UNANSWERED_TRIES) or found
    confirmed = None
    if found is not None:
        with limit_time(subject, math.inf) if failed.trouble is FailureKind.HANG else contextlib.nullcontext():
            confirmed = _fails_alike(subject, found[0], failed)
    shortest, why = confirmed or (case, failed)
    difference = judge(shortest, run_reference(shortest, Coverage()), why, subject.declaration)
    assert difference is not None
    return shortest, difference


def limit_time(subject: TestedSubject, seconds: float) -> contextlib.AbstractContextManager[None]:
    """Meanwhile a run that hangs costs at most that long, once."""
    child = find_child(subject)
    return contextlib.nullcontext() if child is None else child.limit_time(seconds)


Item = TypeVar("Item")


def minimize_items(
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


Result = TypeVar("Result")


def minimize_steps(
    case: Case, fails: Callable[[Case], Result | None], tries: int, forwards: bool = False
) -> Result | None:
    """What `fails` says of the shortest case found; None where not even the case itself fails."""
    found = fails(case)
    if found is None:
        return None

    def fails_with(steps: tuple[Any, ...]) -> tuple[Any, ...] | None:
        nonlocal found
        again = fails(dataclasses.replace(case, steps=steps))
        found = found if again is None else again
        return None if again is None else steps

    minimize_items(case.steps, fails_with, tries, forwards)
    return found


def shrink_case(
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
    return minimize_steps(cut, differing, tries, forwards) or (case, difference)


COUNT_ARGUMENTS: Final = ("expected_reads", "max_requeues", "fails")
"""Arguments that ask for as many further steps as they say."""


def lower_counts(case: Case, fails: Callable[[Case], Result | None]) -> Result | None:
    """What `fails` says of the case with these counts at 1, each where it still fails; None where none can be."""
    found = None
    for at, step in enumerate(case.steps):
        for name in COUNT_ARGUMENTS:
            value = getattr(step, name, None)
            if type(value) is int and value > 1:
                steps = (*case.steps[:at], dataclasses.replace(step, **{name: 1}), *case.steps[at + 1 :])
                less = dataclasses.replace(case, steps=steps)
                again = fails(less)
                if again is not None:
                    case, step, found = less, steps[at], again
    return found


def _fails_alike(subject: TestedSubject, case: Case, failed: FailedRun) -> tuple[Case, FailedRun] | None:
    if case.system.cases.unsupported_reason(subject.declaration, case.config, case.steps):
        return None
    try:
        answer = subject.play([case])[0]
    except BrokenSubject:
        return None
    if isinstance(answer, FailedRun) and answer.trouble is failed.trouble:
        return case, answer
    return None


# --- settle
# Whether a failure stands by itself, needs runs before it, or goes by chance: what is told has to fail again.
#
# A search plays thousands of runs on one process. Each begins with an empty instance; what an implementation keeps
# beside it (a static field, a pool) reaches from one run into the next. So what a search has found is played once more on
# a fresh process. Where it passes there, the run that differed first is taken again with all that its process had played
# before, and as much as can be is left out of both.

PROCESS_TRIES: Final = 60
"""How many processes are begun to leave out runs, then steps of the last one, then steps of all before it."""

MIN_TRIES_PER_RUN: Final = 4
"""Of one run; where there are so many runs that each would get fewer, their steps stay."""

CONFIRMATIONS: Final = 2
"""How often a failure has to pass alone, and to fail after the runs before it, before it is said to need them."""


def attach_earlier_runs(subject: TestedSubject, failing: FailingCase) -> FailingCase:
    """The failure with all that its process has played before; it is told before anything else is played."""
    child = find_child(subject)
    before = () if child is None else child.lives.before(failing.case)
    return failing._replace(case=dataclasses.replace(failing.case, earlier=before))


def confirm_failure(subject: TestedSubject, found: FailingCase | None, origin: FailingCase) -> FailingCase | None:
    """The failure as it fails again; one that cannot be played on a fresh process is told with the reason.

    `origin`: as it was met first, with the runs before it.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
    """
    if found is None or found.difference.is_silent:  # what gave no answer was tried on a fresh process already
        return found
    try:
        return _confirm_on_fresh_processes(subject, found, origin)
    except RestartError as error:
        return mark_unconfirmed(found, error)


def mark_unconfirmed(found: FailingCase, error: RestartError) -> FailingCase:
    """A failure as it was met, where its subject cannot be started again."""
    alone = dataclasses.replace(found.case, earlier=())
    return _cut_after_difference(found._replace(case=alone, unconfirmed=str(error)))


def _confirm_on_fresh_processes(subject: TestedSubject, found: FailingCase, origin: FailingCase) -> FailingCase | None:
    fresh = FreshSubject(subject)
    if find_difference(fresh, found.case) is not None:
        return found
    if find_child(subject) is None:
        return _cut_after_difference(found)._replace(repeats=False)
    alone = dataclasses.replace(origin.case, earlier=())
    difference = find_difference(fresh, alone)
    if difference is not None:
        return _failing_case(*shrink_case(alone, difference, partial(find_difference, fresh), PROCESS_TRIES))
    return _confirm_after_earlier_runs(subject, origin.case) or _cut_after_difference(found)._replace(repeats=False)


def _confirm_after_earlier_runs(subject: TestedSubject, case: Case) -> FailingCase | None:
    """The fewest runs found of which the last one differs, none before it does, and which does not alone."""
    if not case.earlier:
        return None
    fresh = FreshSubject(subject)
    whole = _up_to_first_difference(subject, [_reference_run(one) for one in (*case.earlier, case)])
    if whole is None:
        return None
    runs = minimize_items(whole, lambda some: _up_to_first_difference(subject, some), PROCESS_TRIES)
    if len(runs) < 2:
        return None
    last = dataclasses.replace(runs[-1].case, earlier=tuple(run.case for run in runs[:-1]))
    difference = find_difference(fresh, last)
    if difference is None:
        return None
    last, _ = shrink_case(last, difference, partial(find_difference, fresh), PROCESS_TRIES)
    tries = PROCESS_TRIES // len(last.earlier)
    for at in range(len(last.earlier) if tries >= MIN_TRIES_PER_RUN else 0):
        last = _shorten_earlier_run(fresh, last, at, tries)
    again = [found for _ in range(CONFIRMATIONS) if (found := find_difference(fresh, last)) is not None]
    alone = [find_difference(fresh, dataclasses.replace(last, earlier=())) for _ in range(CONFIRMATIONS)]
    steps = sum(len(run.steps) for run in last.earlier)
    if len(again) < CONFIRMATIONS or any(one is not None for one in alone) or steps > MAX_STEPS:
        return None
    return _failing_case(last, again[0])


class _ReferenceRun(NamedTuple):
    """A case without those before it, and the reference's steps through it."""

    case: Case
    steps: Sequence[Any]


def _reference_run(case: Case) -> _ReferenceRun:
    alone = dataclasses.replace(case, earlier=())
    return _ReferenceRun(alone, run_reference(alone, Coverage()))


def _up_to_first_difference(subject: TestedSubject, runs: Sequence[_ReferenceRun]) -> Sequence[_ReferenceRun] | None:
    """The runs up to the first that differs on a fresh process; None where none does."""
    answers = play_fresh(subject, [run.case for run in runs]) if runs else []
    for index, (run, answer) in enumerate(zip(runs, answers, strict=True)):
        if not isinstance(answer, RunResult):
            return None
        if judge(run.case, run.steps, answer, subject.declaration) is not None:
            return runs[: index + 1]
    return None


def _shorten_earlier_run(fresh: TestedSubject, case: Case, at: int, tries: int) -> Case:
    """The case with as few steps in one of the runs before it as it still needs there."""

    def fails(run: Case) -> Case | None:
        if run.system.cases.unsupported_reason(fresh.declaration, run.config, run.steps):
            return None
        shorter = dataclasses.replace(case, earlier=(*case.earlier[:at], run, *case.earlier[at + 1 :]))
        return None if find_difference(fresh, shorter) is None else shorter

    return minimize_steps(case.earlier[at], fails, tries) or case


def _failing_case(case: Case, difference: Difference) -> FailingCase:
    """The failure of a case."""
    return _cut_after_difference(FailingCase(case, run_reference(case, Coverage()), difference))


def _cut_after_difference(failing: FailingCase) -> FailingCase:
    """The failure without the steps after the one that shows it: none of its texts tells more than its file holds."""
    if failing.difference.failed is not None:
        return failing
    end = failing.difference.at + 1
    case = dataclasses.replace(failing.case, steps=failing.case.steps[:end])
    return failing._replace(case=case, steps=failing.steps[:end])
