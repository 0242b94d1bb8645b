"""Shrink a failure to what it needs, and confirm it on fresh processes.

A failure comes from the search as it was met (`RawFailure`). `shrink_failure` drops whole steps, which is quick, and
makes the numbers of the rest fewer and smaller (`ChoiceMinimizer`), in turn, until neither changes anything. A failure
without an answer is shrunk by its steps alone, with few and short tries, because each try costs a time-out or a
process.

`confirm_failure` then plays the shortest case on a fresh process. A search plays thousands of runs on one process.
Each run begins with an empty instance, but an implementation may keep something outside it (a static field, a pool).
A failure that passes alone is therefore played again with all runs that its process had played before, and as much as
possible is left out of both. The result says whether the failure is deterministic, needs earlier runs, or is flaky.

A failure without an answer may hide a wrong answer. `search_behind_silence` searches for it and shrinks it.

A `FailureCollector` stands in front of the subject while a level is searched. It keeps a failure of each shape, so that
one run shows several defects and goes on behind known ones.
"""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from entrycache_conformance import explain, generate, search
from entrycache_conformance.generate import lower_counts, minimize_items, minimize_steps, shrink_case
from entrycache_conformance.judge import (
    Coverage,
    find_difference,
    judge,
    judge_unwaived,
    run_reference,
)
from entrycache_protocol.case import MAX_STEPS, Case
from entrycache_protocol.errors import BrokenSubject, RestartError
from entrycache_protocol.subject import (
    Answer,
    Difference,
    FailedRun,
    FailingCase,
    FailureKind,
    RunResult,
    SubjectWrapper,
    TestedSubject,
)
from entrycache_reference.rules import Rule

PIECES: Final = (8, 4, 3, 2, 1)
"""The lengths of the pieces that are left out."""

SMALL_NUMBERS: Final = range(1, 5)
"""The numbers that are tried where halving has found none: a case may fail with 2, but not with 3."""

Choices = tuple[int, ...]
"""The numbers of a case."""

Fails = Callable[[Sequence[int]], Choices | None]
"""A predicate of numbers: if their case fails it returns those that the case was made of, else None."""

OTHER_SEEDS: Final = 3
"""The number of further searches for a wrong answer behind a step without an answer."""

TRY_SECONDS: Final = 1.0
"""The time-out of one try; the shortest case is confirmed under the full one."""

UNANSWERED_TRIES: Final = 60
"""The number of tries to shorten a case that gets no answer."""

MAX_HANGS: Final = 12
"""The number of tries that may hang."""

MAX_SHORTEN_TRIES: Final = 500
"""The number of tries to drop steps of the shortest case."""

MAX_CHOICE_TRIES: Final = 3_000
"""The number of tries to make the numbers of a case fewer and smaller; most failures need some hundreds."""

PROCESS_TRIES: Final = 60
"""The number of processes that are started to leave out runs, then steps of the last run, then steps before it."""

CONFIRM_SECONDS = 60.0
"""The time after which nothing more is left out of a failure that needs earlier runs: what is left is reported."""

MIN_TRIES_PER_RUN: Final = 4
"""The least number of tries for one earlier run; with so many runs that each would get fewer, their steps stay."""

MAX_FAILURES: Final = 5
"""The number of failures of one level after which its search ends."""

MAX_REPEATS: Final = 25
"""The number of failures of a shape that was kept, without a new one among them, after which a search ends."""

UNANSWERED_WEIGHT: Final = 5
"""The number of such failures for which one without an answer counts: it costs a process."""

MAX_KNOWN_HANGS: Final = 3
"""The number of known hangs in one level after which its search ends; each costs its time-out twice."""

MAX_SHRUNK: Final = 8
"""The number of failures of one level that are shortened; some turn out to break a rule that another breaks."""

CONFIRMATIONS: Final = 2
"""The number of times that a failure must pass alone, and fail after earlier runs, to count as needing them."""


SHRINKING: Final = "shrinking a failure"
CONFIRMING: Final = "confirming a failure on fresh processes"

STOPPED: Final = "the run was stopped before this failure was shrunk"
"""The reason why a failure of a stopped run is unconfirmed."""

Notify = Callable[[str], None]
"""A callback that takes a text about the progress of what is done with a failure."""


class ChoiceMinimizer:
    """The fewest and smallest numbers found so far whose case fails, in `best`. At most `tries` cases are made."""

    def __init__(self, choices: Sequence[int], fails: Fails, tries: int) -> None:
        self.best: Choices = tuple(choices)
        self._fails = fails
        self._tries = tries
        self._tried: set[Choices] = set()

    def keep(self, choices: Choices) -> bool:
        """Keep failing numbers if they are fewer than the best, or as many and smaller. Return whether they are."""
        is_simpler = (len(choices), choices) < (len(self.best), self.best)
        if is_simpler:
            self.best = choices
        return is_simpler

    def _try(self, choices: Choices) -> bool:
        if self._tries <= 0 or choices in self._tried:
            return False
        self._tries -= 1
        self._tried.add(choices)
        failing = self._fails(choices)
        return failing is not None and self.keep(failing)

    def leave_out_pieces(self) -> None:
        """Leave out pieces of the numbers, longer ones first, from the end."""
        for length in PIECES:
            at = len(self.best) - length
            while at >= 0:
                shorter = self._try(self.best[:at] + self.best[at + length :])
                at = min(at, len(self.best) - length) if shorter else at - 1

    def lower_equal(self) -> None:
        """Lower all numbers of one value together, such as the places of one entry; the greatest value first."""
        for value in sorted({number for number in self.best if number > 0}, reverse=True):
            places = [at for at, number in enumerate(self.best) if number == value]
            if len(places) > 1:
                self._lower(places)

    def lower_each(self) -> None:
        """Lower each number, those of the last step first and the settings last."""
        for at in reversed(range(len(self.best))):
            if at < len(self.best):
                self._lower([at])

    def _lower(self, places: Sequence[int]) -> None:
        """Lower the equal numbers at these places as far as the case fails: to 0, by halving, or to a small number."""
        value, length = self.best[places[0]], len(self.best)
        if value <= 0 or self._put(places, 0):
            return
        passing, failing = 0, value
        while failing - passing > 1 and len(self.best) == length:
            middle = (passing + failing) // 2
            if self._put(places, middle):
                failing = middle
            else:
                passing = middle
        any(self._put(places, small) for small in SMALL_NUMBERS if small < failing and len(self.best) == length)

    def _put(self, places: Sequence[int], value: int) -> bool:
        changed = list(self.best)
        for at in places:
            changed[at] = value
        return self._try(tuple(changed))


class WatchedSubject(SubjectWrapper):
    """A subject that counts what is played on it, and tells the activity, the number of tries and the seconds."""

    def __init__(
        self, subject: TestedSubject, activity: str, notify: Notify, most_seconds: float | None = None
    ) -> None:
        super().__init__(subject)
        self._activity, self._notify = activity, notify
        self._bound = "" if most_seconds is None else f" of about {most_seconds:.0f}"
        self._started_at = time.monotonic()
        self._tries = 0

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers, one per case, in order."""
        seconds = time.monotonic() - self._started_at
        self._tries += 1
        self._notify(f"{self._activity}: try {self._tries}, {seconds:.0f}{self._bound} s")
        return super().play(cases)


class FailureCollector(SubjectWrapper):
    """A subject whose failures are collected, each shape once. A failure of a shape that is there counts no more.

    Failures of the `known` shapes are met, but not collected. `notify` takes the progress of shrinking and confirming.
    """

    def __init__(self, subject: TestedSubject, known: explain.KnownShapes, notify: Notify = lambda text: None) -> None:
        super().__init__(subject)
        self._known = known
        self._notify = notify
        self._shapes: list[explain.Shape] = []
        self._rules: list[Rule] = []
        self._tries = self._repeats = self._known_hangs = 0
        self.failures: list[FailingCase] = []

    def play_to_failure(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers in order, perhaps only up to the first run that fails."""
        return self.subject.play_to_failure(cases)

    def waives(self, failing: FailingCase) -> bool:
        """Return whether the failure has the shape of a known or collected one."""
        return self._known.has(failing, self.declaration) or self._is_kept(failing)

    def _is_kept(self, failing: FailingCase) -> bool:
        return any(explain.has_shape(failing, self.declaration, shape) for shape in self._shapes)

    def collect(self, raw: search.RawFailure) -> bool:
        """Shorten and confirm a failure of a new shape, and keep it. Return whether the search goes on.

        It always goes on behind a known failure, and for a while behind others. If the first rule is that of a failure
        that was kept, only the shape is kept.
        """
        if self._known.meet(raw.failing, self.declaration):
            self._known_hangs += raw.failing.is_hang
            return self._known_hangs < MAX_KNOWN_HANGS
        if self._is_kept(raw.failing):
            self._repeats += UNANSWERED_WEIGHT if raw.failing.difference.is_unanswered else 1
            return self._repeats < MAX_REPEATS
        self._tries += 1
        try:
            failing = shrink_and_confirm(self, raw, self._notify)
        except KeyboardInterrupt:
            self.failures.append(mark_unconfirmed(raw.failing, STOPPED))
            raise
        if failing is None:
            return self._tries < MAX_SHRUNK
        if failing.unconfirmed:  # the subject does not start again, so nothing more can be asked of it
            self.failures.append(failing)
            return False
        self._shapes.append(explain.shape_of(self.subject, failing))
        rule = self._first_rule(failing)
        if rule not in self._rules:
            self._rules.append(rule)
            self.failures.append(failing)
            self._repeats = 0
        is_alone = failing.repeats and not failing.case.earlier  # else the runs disturb each other
        ends = not is_alone or failing.is_hang or failing.unconfirmed or len(self.failures) >= MAX_FAILURES
        return not ends and self._tries < MAX_SHRUNK

    def _first_rule(self, failing: FailingCase) -> Rule:
        return explain.explain_difference(self.subject, failing.case, failing.path, failing.difference)[0]

    def collect_behind_silence(self, menu: Sequence[str], examples: int, seed: int) -> None:
        """Search for a wrong answer if no failure that was kept is one. A wrong answer says more, so it comes first.
        Another silent step says no more than the first one.

        `menu`, `examples` and `seed` are those of the search.
        """
        if self.failures and all(one.difference.is_unanswered for one in self.failures):
            behind = search_behind_silence(self.subject, menu, self.failures[0], examples, seed, self._notify)
            if behind is not None and self._first_rule(behind) not in self._rules:
                self.failures.append(behind)
        self.failures.sort(key=lambda failing: failing.difference.is_unanswered)


def shrink_and_confirm(
    subject: TestedSubject, failure: search.RawFailure, notify: Notify = lambda text: None
) -> FailingCase | None:
    """Shrink a failure and confirm it. A failure that needs no confirmation is returned as it was shrunk.

    If the subject ends meanwhile and does not start again, the failure is returned as the search met it.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
    """
    difference = failure.failing.difference
    watched = WatchedSubject(subject, SHRINKING, notify)
    if difference.failed is not None and difference.is_unanswered:
        return _shrink_unanswered(watched, failure.failing.case, difference.failed)
    try:
        shortest = shrink_failure(watched, failure)
    except RestartError as error:
        return mark_unconfirmed(failure.failing, str(error))
    return confirm_failure(WatchedSubject(subject, CONFIRMING, notify, CONFIRM_SECONDS), shortest, failure.origin)


def search_behind_silence(
    subject: TestedSubject, menu: Sequence[str], failure: FailingCase, examples: int, seed: int, notify: Notify
) -> FailingCase | None:
    """Return a wrong answer that a step without an answer hides, if there is one.

    Search the level once more without the operation that gives no answer. If that finds no wrong answer, try other
    seeds with all operations, because the silent operation may answer wrongly too.
    """
    if not failure.difference.is_unanswered or not failure.case.steps:
        return None
    silent = type(failure.case.steps[failure.difference.at]).name
    rest = [name for name in menu if name != silent]
    with subject.limit_time(TRY_SECONDS) if failure.is_hang else contextlib.nullcontext():
        other = search.find_failure(subject, rest, examples, seed, Coverage()).failure if rest else None
        behind = None if other is None else shrink_and_confirm(subject, other, notify)
        if behind is not None and not behind.difference.is_unanswered:
            return behind
        for other_seed in range(seed + 1, seed + 1 + OTHER_SEEDS):
            other = search.find_failure(subject, menu, examples, other_seed, Coverage()).failure
            if other is not None and not other.failing.difference.is_unanswered:
                return shrink_and_confirm(subject, other, notify)
    return None if behind is not None and behind.is_hang else behind


class _NoAnswer(Exception):
    """A run without an answer: too expensive to repeat for smaller numbers, so it ends their search."""

    def __init__(self, case: Case, failed: FailedRun) -> None:
        super().__init__(failed.message)
        self.case = case
        self.failed = failed


class _ChoiceShrinker:
    """The predicate that shrinking evaluates, and the last failure that it saw. No case is played twice."""

    def __init__(self, subject: TestedSubject, maker: generate.CaseMaker) -> None:
        self._subject = subject
        self._judged: dict[str, FailingCase | None] = {}
        self.maker = maker
        self.failure: FailingCase | None = None

    def fails(self, choices: Sequence[int]) -> tuple[int, ...] | None:
        """Return the numbers that the case of these numbers was made of if it differs, else None.

        Raises:
            _NoAnswer: the subject does not answer.
        """
        generated = self.maker.from_choices(choices, Coverage())
        case = generated.case
        key = repr((case.config, case.steps, case.omitted))
        if key not in self._judged:
            self._judged[key] = self._judge(generated)
        failure = self._judged[key]
        if failure is None:
            return None
        self.failure = failure
        return tuple(self.maker.choices)

    def _judge(self, generated: generate.GeneratedCase) -> FailingCase | None:
        answer = self._subject.play([generated.case])[0]
        if isinstance(answer, FailedRun):
            raise _NoAnswer(generated.case, answer)
        difference = judge_unwaived(self._subject, generated.case, generated.steps, answer)
        return None if difference is None else FailingCase(generated.case, generated.steps, difference)


def shrink_failure(subject: TestedSubject, failure: search.RawFailure) -> FailingCase:
    """Drop whole steps and make the numbers of the rest fewer and smaller, in turn, as long as that helps."""
    shrinker = _ChoiceShrinker(subject, failure.maker)
    try:
        _minimize_choices(shrinker, failure.choices)
    except _NoAnswer as unanswered:
        return _shrink_unanswered(subject, unanswered.case, unanswered.failed)
    return _drop_last_steps(subject, shrinker.failure or failure.failing)


def _minimize_choices(shrinker: _ChoiceShrinker, choices: Sequence[int]) -> None:
    """Leave the shortest failure found in the shrinker; none if the failure does not repeat."""
    if shrinker.fails(choices) is None:
        return
    minimizer = ChoiceMinimizer(choices, shrinker.fails, MAX_CHOICE_TRIES)
    before: tuple[int, ...] | None = None
    while minimizer.best != before:
        before = minimizer.best
        minimizer.keep(_drop_unneeded_steps(shrinker, before))
        minimizer.leave_out_pieces()
        minimizer.lower_equal()
        minimizer.lower_each()
    shrinker.fails(minimizer.best)


def _drop_unneeded_steps(shrinker: _ChoiceShrinker, choices: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers without those of steps that the failure does not need."""
    if shrinker.fails(choices) is None:
        return tuple(choices)
    before = shrinker.maker.choices_before_steps()

    def joined(steps: Sequence[list[int]]) -> list[int]:
        return [*before, *(choice for step in steps for choice in step)]

    def fails(steps: Sequence[list[int]]) -> list[list[int]] | None:
        return None if shrinker.fails(joined(steps)) is None else shrinker.maker.choices_by_step()

    return tuple(joined(minimize_items(shrinker.maker.choices_by_step(), fails)))


def _drop_last_steps(subject: TestedSubject, failure: FailingCase) -> FailingCase:
    """Drop the unneeded steps that fewer and smaller numbers may have left."""
    if failure.difference.is_unanswered:
        return failure
    differs = partial(find_difference, subject)
    case, difference = shrink_case(failure.case, failure.difference, differs, MAX_SHORTEN_TRIES)
    return FailingCase(case, run_reference(case, Coverage()), difference)


def _shrink_unanswered(subject: TestedSubject, case: Case, failed: FailedRun) -> FailingCase:
    """Return the shortest case found that fails in the same way, by leaving out ever smaller pieces."""
    case, difference = _shrink_unanswered_case(subject, case, failed)
    return FailingCase(case, run_reference(case, Coverage()), difference)


def _shrink_unanswered_case(subject: TestedSubject, case: Case, failed: FailedRun) -> tuple[Case, Difference]:
    """Return the shortest case found that fails in the same way, and the difference at its last step."""
    shortest = case
    if failed.step is not None:
        shortest = dataclasses.replace(case, steps=case.steps[: failed.step + 1])
    hangs = 0

    def fails(shorter: Case) -> tuple[Case, FailedRun] | None:
        nonlocal hangs
        if hangs >= MAX_HANGS:
            return None
        again = _fails_the_same_way(subject, shorter, failed)
        hangs += again is not None and failed.trouble is FailureKind.HANG
        return again

    with subject.limit_time(TRY_SECONDS):
        shortest_failing = minimize_steps(shortest, fails, UNANSWERED_TRIES)
        if shortest_failing is not None and failed.trouble is FailureKind.ERRORED:
            shortest_failing = lower_counts(shortest_failing[0], fails) or shortest_failing
            shortest_failing = minimize_steps(shortest_failing[0], fails, UNANSWERED_TRIES) or shortest_failing
    confirmed = None
    if shortest_failing is not None:
        with subject.limit_time(math.inf) if failed.trouble is FailureKind.HANG else contextlib.nullcontext():
            confirmed = _fails_the_same_way(subject, shortest_failing[0], failed)
    shortest, failed = confirmed or (case, failed)
    difference = judge(shortest, run_reference(shortest, Coverage()), failed, subject.declaration)
    assert difference is not None
    return shortest, difference


def _fails_the_same_way(subject: TestedSubject, case: Case, failed: FailedRun) -> tuple[Case, FailedRun] | None:
    """Return the case and its failure, if the subject fails on it in the same way."""
    if subject.declaration.unsupported_reason(case.config, case.steps):
        return None
    try:
        answer = subject.play([case])[0]
    except BrokenSubject:
        return None
    if not isinstance(answer, FailedRun) or answer.trouble is not failed.trouble:
        return None
    is_error = failed.trouble is FailureKind.ERRORED
    types = [explain.error_type(one.message) for one in (answer, failed)]
    return None if is_error and types[0] != types[1] else (case, answer)


def confirm_failure(subject: TestedSubject, failing: FailingCase | None, origin: FailingCase) -> FailingCase | None:
    """Return the failure as it fails again on a fresh process. If the subject cannot restart, the result says so.

    `origin` is the failure as it was met, with the runs before it.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
    """
    if (
        failing is None or failing.difference.is_unanswered
    ):  # a failure without an answer was tried on a fresh process already
        return failing
    try:
        return _confirm_on_fresh_processes(subject, failing, origin)
    except RestartError as error:
        return mark_unconfirmed(failing, str(error))


def mark_unconfirmed(failing: FailingCase, reason: str) -> FailingCase:
    """Return a failure as it was met, with the reason why no fresh process could confirm it."""
    alone = dataclasses.replace(failing.case, earlier=())
    return _cut_after_difference(failing._replace(case=alone, unconfirmed=reason))


def _confirm_on_fresh_processes(
    subject: TestedSubject, failing: FailingCase, origin: FailingCase
) -> FailingCase | None:
    differs = partial(find_difference, subject, fresh=True)
    if differs(failing.case) is not None:
        return failing
    if not subject.restart():
        return _cut_after_difference(failing)._replace(repeats=False)
    alone = dataclasses.replace(origin.case, earlier=())
    difference = differs(alone)
    if difference is not None:
        return _failing_case(*shrink_case(alone, difference, differs, PROCESS_TRIES))
    return _confirm_after_earlier_runs(subject, origin.case) or _cut_after_difference(failing)._replace(repeats=False)


def _confirm_after_earlier_runs(subject: TestedSubject, case: Case) -> FailingCase | None:
    """Return the shortest sequence of runs whose last run alone differs, and only after the others; None if none is."""
    if not case.earlier:
        return None
    deadline = time.monotonic() + CONFIRM_SECONDS
    differs = partial(find_difference, subject, fresh=True)
    whole = _up_to_first_difference(subject, [_reference_run(one) for one in (*case.earlier, case)])
    if whole is None:
        return None
    runs = minimize_items(whole, _until(deadline, partial(_up_to_first_difference, subject)), PROCESS_TRIES)
    if len(runs) < 2:
        return None
    last = dataclasses.replace(runs[-1].case, earlier=tuple(run.case for run in runs[:-1]))
    difference = differs(last)
    if difference is None:
        return None
    last, _ = shrink_case(last, difference, _until(deadline, differs), PROCESS_TRIES)
    tries = PROCESS_TRIES // len(last.earlier)
    for at in range(len(last.earlier) if tries >= MIN_TRIES_PER_RUN else 0):
        last = _shorten_earlier_run(subject, last, at, tries, deadline)
    again = [repeated for _ in range(CONFIRMATIONS) if (repeated := differs(last)) is not None]
    alone = [differs(dataclasses.replace(last, earlier=())) for _ in range(CONFIRMATIONS)]
    steps = sum(len(run.steps) for run in last.earlier)
    if len(again) < CONFIRMATIONS or any(one is not None for one in alone) or steps > MAX_STEPS:
        return None
    return _failing_case(last, again[0])


Candidate = TypeVar("Candidate")
Result = TypeVar("Result")


def _until(deadline: float, fails: Callable[[Candidate], Result | None]) -> Callable[[Candidate], Result | None]:
    """Return a check that finds no failure after the deadline, so that minimizing ends with what it has."""
    return lambda candidate: None if time.monotonic() >= deadline else fails(candidate)


class _ReferenceRun(NamedTuple):
    """A case without its earlier runs, and the reference's steps through it."""

    case: Case
    steps: Sequence[Any]


def _reference_run(case: Case) -> _ReferenceRun:
    alone = dataclasses.replace(case, earlier=())
    return _ReferenceRun(alone, run_reference(alone, Coverage()))


def _up_to_first_difference(subject: TestedSubject, runs: Sequence[_ReferenceRun]) -> Sequence[_ReferenceRun] | None:
    """Return the runs up to the first that differs on a fresh process, or None if none differs."""
    answers = subject.play_fresh([run.case for run in runs]) if runs else []
    for index, (run, answer) in enumerate(zip(runs, answers, strict=True)):
        if not isinstance(answer, RunResult):
            return None
        if judge_unwaived(subject, run.case, run.steps, answer) is not None:
            return runs[: index + 1]
    return None


def _shorten_earlier_run(subject: TestedSubject, case: Case, at: int, tries: int, deadline: float) -> Case:
    """Return the case with one of its earlier runs shortened as far as the failure allows."""

    def fails(run: Case) -> Case | None:
        if subject.declaration.unsupported_reason(run.config, run.steps):
            return None
        shorter = dataclasses.replace(case, earlier=(*case.earlier[:at], run, *case.earlier[at + 1 :]))
        return None if find_difference(subject, shorter, fresh=True) is None else shorter

    return minimize_steps(case.earlier[at], _until(deadline, fails), tries) or case


def _failing_case(case: Case, difference: Difference) -> FailingCase:
    """Return the failure of a case, without the steps after the difference."""
    return _cut_after_difference(FailingCase(case, run_reference(case, Coverage()), difference))


def _cut_after_difference(failing: FailingCase) -> FailingCase:
    """Drop the steps after the difference, so that no text shows more than the case file holds."""
    if failing.difference.failed is not None:
        return failing
    end = failing.difference.at + 1
    case = dataclasses.replace(failing.case, steps=failing.case.steps[:end])
    return failing._replace(case=case, steps=failing.steps[:end])
