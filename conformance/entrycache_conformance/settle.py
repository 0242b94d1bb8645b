"""Whether a failure stands by itself, needs runs before it, or goes by chance: what is told has to fail again.

A search plays thousands of runs on one process. Each begins with an empty instance; what an implementation keeps
beside it (a static field, a pool) reaches from one run into the next. So what a search has found is played once more on
a fresh process. Where it passes there, the run that differed first is taken again with all that its process had played
before, and as much as can be is left out of both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from entrycache_conformance.judge import Coverage, differs, judge, trajectory
from entrycache_conformance.shrink import fewer_steps, leave_out, shortest
from entrycache_conformance.subjects.fresh import Fresh, child_of, play_anew
from entrycache_protocol.case import STEPS_MOST, Case
from entrycache_protocol.errors import NotAgain
from entrycache_protocol.failure import Difference, FailingCase
from entrycache_protocol.subject import Played, UnderTest

TRIES: Final = 60
"""How many processes are begun to leave out runs, then steps of the last one, then steps of all before it."""

LEAST_TRIES: Final = 4
"""Of one run; where there are so many runs that each would get fewer, their steps stay."""

SURE: Final = 2
"""How often a failure has to pass alone, and to fail after the runs before it, before it is said to need them."""


def with_earlier_runs(subject: UnderTest, failing: FailingCase) -> FailingCase:
    """The failure with all that its process has played before; it is told before anything else is played."""
    child = child_of(subject)
    before = () if child is None else child.lives.before(failing.case)
    return failing._replace(case=dataclasses.replace(failing.case, earlier=before))


def settled(subject: UnderTest, found: FailingCase | None, origin: FailingCase) -> FailingCase | None:
    """The failure as it fails again; one that cannot be played on a fresh process is told with the reason.

    `origin`: as it was met first, with the runs before it.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
    """
    if found is None or found.difference.is_silent:  # what gave no answer was tried on a fresh process already
        return found
    try:
        return _on_fresh_processes(subject, found, origin)
    except NotAgain as error:
        return unconfirmed(found, error)


def unconfirmed(found: FailingCase, error: NotAgain) -> FailingCase:
    """A failure as it was met, where its subject cannot be started again."""
    alone = dataclasses.replace(found.case, earlier=())
    return _cut(found._replace(case=alone, unconfirmed=str(error)))


def _on_fresh_processes(subject: UnderTest, found: FailingCase, origin: FailingCase) -> FailingCase | None:
    fresh = Fresh(subject)
    if differs(fresh, found.case) is not None:
        return found
    if child_of(subject) is None:
        return _cut(found)._replace(repeats=False)
    alone = dataclasses.replace(origin.case, earlier=())
    difference = differs(fresh, alone)
    if difference is not None:
        return _failing(*shortest(alone, difference, partial(differs, fresh), TRIES))
    return _after_others(subject, origin.case) or _cut(found)._replace(repeats=False)


def _after_others(subject: UnderTest, case: Case) -> FailingCase | None:
    """The fewest runs found of which the last one differs, none before it does, and which does not alone."""
    if not case.earlier:
        return None
    fresh = Fresh(subject)
    whole = _up_to_the_first(subject, [_run(one) for one in (*case.earlier, case)])
    if whole is None:
        return None
    runs = leave_out(whole, lambda some: _up_to_the_first(subject, some), TRIES)
    if len(runs) < 2:
        return None
    last = dataclasses.replace(runs[-1].case, earlier=tuple(run.case for run in runs[:-1]))
    difference = differs(fresh, last)
    if difference is None:
        return None
    last, _ = shortest(last, difference, partial(differs, fresh), TRIES)
    tries = TRIES // len(last.earlier)
    for at in range(len(last.earlier) if tries >= LEAST_TRIES else 0):
        last = _with_shorter_run(fresh, last, at, tries)
    again = [found for _ in range(SURE) if (found := differs(fresh, last)) is not None]
    alone = [differs(fresh, dataclasses.replace(last, earlier=())) for _ in range(SURE)]
    steps = sum(len(run.steps) for run in last.earlier)
    if len(again) < SURE or any(one is not None for one in alone) or steps > STEPS_MOST:
        return None
    return _failing(last, again[0])


class _Run(NamedTuple):
    """A case without those before it, and the reference's steps through it."""

    case: Case
    steps: Sequence[Any]


def _run(case: Case) -> _Run:
    alone = dataclasses.replace(case, earlier=())
    return _Run(alone, trajectory(alone, Coverage()))


def _up_to_the_first(subject: UnderTest, runs: Sequence[_Run]) -> Sequence[_Run] | None:
    """The runs up to the first that differs on a fresh process; None where none does."""
    answers = play_anew(subject, [run.case for run in runs]) if runs else []
    for index, (run, answer) in enumerate(zip(runs, answers, strict=True)):
        if not isinstance(answer, Played):
            return None
        if judge(run.case, run.steps, answer, subject.declaration) is not None:
            return runs[: index + 1]
    return None


def _with_shorter_run(fresh: UnderTest, case: Case, at: int, tries: int) -> Case:
    """The case with as few steps in one of the runs before it as it still needs there."""

    def fails(run: Case) -> Case | None:
        if run.system.cases.unfit(fresh.declaration, run.config, run.steps):
            return None
        shorter = dataclasses.replace(case, earlier=(*case.earlier[:at], run, *case.earlier[at + 1 :]))
        return None if differs(fresh, shorter) is None else shorter

    return fewer_steps(case.earlier[at], fails, tries) or case


def _failing(case: Case, difference: Difference) -> FailingCase:
    """The failure of a case."""
    return _cut(FailingCase(case, trajectory(case, Coverage()), difference))


def _cut(failing: FailingCase) -> FailingCase:
    """The failure without the steps after the one that shows it: none of its texts tells more than its file holds."""
    if failing.difference.failed is not None:
        return failing
    end = failing.difference.at + 1
    case = dataclasses.replace(failing.case, steps=failing.case.steps[:end])
    return failing._replace(case=case, steps=failing.steps[:end])
