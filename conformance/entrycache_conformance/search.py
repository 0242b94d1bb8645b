"""Search for a case on which a subject and the reference differ.

`search_level` searches one level of a run, with one search for each workload profile. A search (`find_failure`) plays
seeded cases in batches. The first difference ends it. The result is a `RawFailure`: the case as the search met it, with
everything that `shrink.py` needs to shorten and confirm it. Nothing is shortened here.

Data flows one way: the generator makes cases, the subject plays them, `judge` compares the answers, and the failure
goes back to the caller.

A `BulkSearch` plays numbered batches of random cases on several processes. `Workers` are forks of the runner that
answer numbered tasks. The answers come in the order of the numbers, so that the number of workers changes nothing but
the time.
"""

import dataclasses
import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import count, islice, takewhile
from multiprocessing import active_children, get_context
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from entrycache_conformance import generate
from entrycache_conformance.judge import MAX_PLAYED, Coverage, judge, run_reference, sample_laws
from entrycache_conformance.subjects import processes
from entrycache_protocol.case import case_from_json, case_to_json
from entrycache_protocol.errors import BrokenAdapter, BrokenSubject
from entrycache_protocol.subject import (
    Difference,
    FailedRun,
    FailingCase,
    FailureKind,
    SkippedRun,
    TestedSubject,
)
from entrycache_reference.rules import Rule

BATCH: Final = 200
"""The number of random cases that are made before they are played together."""

FIRST_BATCH_MAX: Final = 25
"""The largest batch of a search, which expects a failure soon; its first batches are smaller."""

MAX_REPLACEMENTS: Final = 3
"""The number of random cases for each example of a level, in place of runs that failures cut short."""

OMITTING_ONE_TO: Final = 8
"""One case that leaves settings out comes to so many usual ones."""

Progress = Callable[[int], None]
"""A callback that takes the number of examples judged since the last call, or 0 while a failure is shortened."""


class RawFailure(NamedTuple):
    """A failure as a search met it.

    `origin` is the failing case with the runs that its process had played before it. `choices` are the numbers that
    `maker` made the case of.
    """

    failing: FailingCase
    origin: FailingCase
    choices: tuple[int, ...]
    maker: generate.CaseMaker


class SearchResult(NamedTuple):
    """The failure that ended a search, if any, and the runs that were declined or cut short."""

    failure: RawFailure | None
    skipped: list[SkippedRun]


GoesOn = Callable[[RawFailure], bool]
"""A callback that takes a failure and returns whether the search goes on. Without one, the first failure ends it."""

WAIVED: Final = SkippedRun("cut short by a failure that is known or reported")
"""The note of a run whose steps before such a failure were judged."""


def search_level(
    subject: TestedSubject,
    menu: Sequence[str],
    examples: int,
    seed: int,
    bulk_seconds: float,
    coverage: Coverage,
    progress: Progress,
    goes_on: GoesOn | None = None,
    jobs: int = 1,
) -> SearchResult:
    """Search with the default workload profile, then with further profiles, then with cases that leave settings out,
    then with random cases if requested.
    """
    result = find_failure(subject, menu, examples, seed, coverage, progress, None, goes_on)
    for workload, one_to in subject.declaration.system.cases.extra_workloads.items():
        if result.failure is None:
            cases = profile_case_count(examples, one_to)
            more = find_failure(subject, menu, cases, seed, coverage, progress, workload, goes_on)
            result = SearchResult(more.failure, result.skipped + more.skipped)
    if result.failure is None and generate.omittable_settings(subject.declaration):
        cases = profile_case_count(examples, OMITTING_ONE_TO)
        omitting = generate.OMITTED_SETTINGS
        more = find_failure(subject, menu, cases, seed, coverage, progress, omitting, goes_on)
        result = SearchResult(more.failure, result.skipped + more.skipped)
    if result.failure is None and bulk_seconds > 0:
        end = time.monotonic() + bulk_seconds
        bulk = BulkSearch(subject, menu, seed, coverage, progress, goes_on)
        more = bulk.search(lambda: time.monotonic() >= end, jobs)
        result = SearchResult(more.failure, result.skipped + more.skipped)
    return result


def replace_cut_runs(
    subject: TestedSubject,
    menu: Sequence[str],
    examples: int,
    seed: int,
    coverage: Coverage,
    progress: Progress,
    goes_on: GoesOn,
) -> SearchResult:
    """Play random cases in place of runs that were declined or cut short, until enough examples are judged.

    They are not those of the search: the seed is another one.
    """
    batches = iter(range(1 + MAX_REPLACEMENTS * examples // BATCH))

    def enough() -> bool:
        return coverage.examples >= examples or next(batches, None) is None

    return search_random_cases(subject, menu, seed + 1, coverage, enough, progress, goes_on=goes_on)


def profile_case_count(examples: int, one_to: int) -> int:
    """Return the number of cases of a further workload profile: one to every `one_to` usual examples."""
    return max(1, examples // one_to)


def find_failure(
    subject: TestedSubject,
    menu: Sequence[str],
    examples: int,
    seed: int,
    coverage: Coverage,
    progress: Progress = lambda count: None,
    workload: Any = None,
    goes_on: GoesOn | None = None,
) -> SearchResult:
    """Play up to `examples` cases, or until a failure ends the search.

    Runs that are declined or cut short do not count in `coverage.examples`.
    """
    skipped: list[SkippedRun] = []
    cases = generate.record_seeded_cases(subject.declaration, menu, examples, seed, workload, coverage.definition)
    maker = generate.CaseMaker(subject.declaration, menu, workload)
    size = 1
    while batch := list(islice(cases, size)):
        failure = _play_batch(subject, batch, coverage, skipped, maker, goes_on)
        progress(len(batch))
        size = min(2 * size, FIRST_BATCH_MAX)
        if failure is not None:
            progress(0)
            return SearchResult(failure, skipped)
    return SearchResult(None, skipped)


def search_random_cases(
    subject: TestedSubject,
    menu: Sequence[str],
    seed: int,
    coverage: Coverage,
    enough: Callable[[], bool],
    progress: Progress = lambda count: None,
    workload: Any = None,
    goes_on: GoesOn | None = None,
) -> SearchResult:
    """Play random cases until `enough` returns true or a failure ends the search."""
    source = random.Random(seed)
    maker = generate.CaseMaker(subject.declaration, menu, workload)
    skipped: list[SkippedRun] = []
    while not enough():
        samples = (sample_laws(run, coverage.definition) for run in range(BATCH))
        batch = [
            generate.record_case(source, subject.declaration, menu, workload, coverage.definition, sample)
            for sample in samples
        ]
        failure = _play_batch(subject, batch, coverage, skipped, maker, goes_on)
        if failure is not None:
            progress(0)
            return SearchResult(failure, skipped)
        progress(len(batch))
    return SearchResult(None, skipped)


class BulkSearch:
    """A search of random cases in numbered batches, on as many processes as are wanted.

    A batch follows from the seed and its number, and counts the rules that a step meets only where the laws of the
    reference are checked. Workers judge batches ahead. A batch without failures and declined runs is entered as its
    worker counted it; any other batch is played here again, in its turn. So the result does not depend on the number of
    workers, as long as the answers of the subject follow from the case.
    """

    def __init__(
        self,
        subject: TestedSubject,
        menu: Sequence[str],
        seed: int,
        coverage: Coverage,
        progress: Progress = lambda count: None,
        goes_on: GoesOn | None = None,
    ) -> None:
        self._subject = subject
        self._menu = menu
        self._seed = seed
        self._coverage = coverage
        self._progress = progress
        self._goes_on = goes_on
        self._maker = generate.CaseMaker(subject.declaration, menu, None)
        self._skipped: list[SkippedRun] = []
        self._differences = 0
        self._sent: dict[Rule, int] = {}

    def search(self, enough: Callable[[], bool], jobs: int = 1) -> SearchResult:
        """Play batches until `enough`, which is asked before each, returns true or a failure ends the search.

        Raises:
            BrokenSubject: the subject does not speak the protocol, or a worker dies or hangs.
        """
        if jobs < 2 or not hasattr(os, "fork"):
            batches = takewhile(lambda _: not enough(), count())
            return self._take((number, {}) for number in batches)
        with Workers(jobs, self._subject.detach, self._judge_alone) as workers:
            return self._take(workers.answers(enough))

    def _take(self, answers: Iterable[tuple[int, dict[str, Any]]]) -> SearchResult:
        for number, answer in answers:
            if "steps" in answer:
                self._enter(answer)
                failure = None
            else:
                failure = self._play(number, answer)
            self._progress(0 if failure is not None else BATCH)
            if failure is not None:
                return SearchResult(failure, self._skipped)
        return SearchResult(None, self._skipped)

    def _batch(self, number: int) -> list[generate.RecordedCase]:
        source = random.Random(f"bulk {self._seed} {number}")
        declaration, definition = self._subject.declaration, self._coverage.definition
        samples = (sample_laws(run, definition, False) for run in range(BATCH))
        return [generate.record_case(source, declaration, self._menu, None, definition, each) for each in samples]

    def _play(self, number: int, answer: dict[str, Any]) -> RawFailure | None:
        """Play a batch here. If only its worker met a failure, return what the worker met."""
        before = self._differences
        batch, goes_on = self._batch(number), None if self._goes_on is None else self._count_differences
        failure = _play_batch(self._subject, batch, self._coverage, self._skipped, self._maker, goes_on)
        if failure is not None or "failed" not in answer or self._differences > before:
            return failure
        raw = self._read_failure(batch, answer["failed"])
        return None if goes_on is not None and goes_on(raw) else raw

    def _count_differences(self, raw: RawFailure) -> bool:
        assert self._goes_on is not None
        self._differences += 1
        return self._goes_on(raw)

    def _judge_alone(self, number: int) -> dict[str, Any]:
        """Judge a batch in a worker. Return its counts, with the cases in which each rule fired, or its failure."""
        batch = self._batch(number)
        coverage = Coverage(definition=self._coverage.definition)
        skipped: list[SkippedRun] = []
        try:
            raw = _play_batch(self._subject, batch, coverage, skipped, self._maker, None)
        except Exception:  # it is raised again where the batch is played again
            return {}
        if raw is not None:
            return {"failed": self._describe_failure(batch, raw)}
        if skipped:
            return {}
        places = {id(item.generated.case): place for place, item in enumerate(batch)}
        fired: dict[str, tuple[int, list[int]]] = {}
        for rule, total in coverage.fired.items():
            first = [places[id(case)] for case, _ in coverage.played[rule]][: self._wanted_runs(rule)]
            self._sent[rule] = self._sent.get(rule, 0) + len(first)
            fired[rule.value] = total, first
        return {
            "steps": coverage.steps,
            "fired": fired,
            "choices": {place: batch[place].choices for _, first in fired.values() for place in first},
            "cells": coverage.cells,
            "defaults": coverage.defaults,
        }

    def _wanted_runs(self, rule: Rule) -> int:
        """Return how many runs in which a rule fired are still remembered, at most."""
        return max(0, MAX_PLAYED - len(self._coverage.played.get(rule, ())) - self._sent.get(rule, 0))

    def _enter(self, answer: dict[str, Any]) -> None:
        """Enter the counts of a batch, and the first cases in which a rule fired as long as some are wanted."""
        regenerated: dict[int, generate.GeneratedCase] = {}
        fired = {Rule(rule): entry for rule, entry in answer["fired"].items()}
        counted = Coverage({rule: total for rule, (total, _) in fired.items()}, answer["cells"], BATCH, answer["steps"])
        counted.defaults = answer["defaults"]
        self._coverage.add_all(counted)
        for rule, (_, places) in fired.items():
            self._coverage.played.setdefault(rule, [])
            for place in places[: self._wanted_runs(rule)]:
                if place not in regenerated:
                    regenerated[place] = self._maker.from_choices(answer["choices"][place], Coverage())
                self._coverage.played[rule].append((regenerated[place].case, regenerated[place].steps))

    def _describe_failure(self, batch: Sequence[generate.RecordedCase], raw: RawFailure) -> dict[str, Any]:
        case, _, difference = raw.failing[:3]
        write = case.system.wire.write_outcome
        failed = difference.failed
        return {
            "place": next(place for place, item in enumerate(batch) if item.generated.case is case),
            "at": difference.at,
            "got": None if difference.got is None else write(difference.got),
            "failed": failed and [failed.trouble.value, failed.step, failed.message, failed.log],
            "earlier": [case_to_json(run) for run in raw.origin.case.earlier],
        }

    def _read_failure(self, batch: Sequence[generate.RecordedCase], described: dict[str, Any]) -> RawFailure:
        """Return the failure that a worker met, for the report of a failure that does not repeat."""
        item = batch[described["place"]]
        case, steps = item.generated
        at, got, failed = described["at"], described["got"], described["failed"]
        if got is not None:
            got = case.system.wire.read_outcome(case.steps[at], got, self._subject.declaration)
        if failed is not None:
            failed = FailedRun(FailureKind(failed[0]), failed[1], failed[2], tuple(failed[3]))
        difference = Difference(at, steps[at].outcome if steps else None, got, failed)
        earlier = tuple(case_from_json(run, {case.system.name: case.system}) for run in described["earlier"])
        failing = FailingCase(case, steps, difference)
        origin = failing._replace(case=dataclasses.replace(case, earlier=earlier))
        return RawFailure(failing, origin, item.choices, self._maker)


def _play_batch(
    subject: TestedSubject,
    batch: Sequence[generate.RecordedCase],
    coverage: Coverage,
    skipped: list[SkippedRun],
    maker: generate.CaseMaker,
    goes_on: GoesOn | None,
) -> RawFailure | None:
    """Play and judge recorded cases up to the failure that ends the search.

    If one of them breaks the subject, the cases before it are judged first: a difference says more.

    Raises:
        BrokenSubject: a case breaks the subject, and none before it differs.
    """
    rest = tuple(batch)
    while rest:
        judged, failure = _play_to_failure(subject, rest, coverage, skipped, maker, goes_on)
        if failure is not None:
            return failure
        rest = rest[judged:]
    return None


def _play_to_failure(
    subject: TestedSubject,
    batch: Sequence[generate.RecordedCase],
    coverage: Coverage,
    skipped: list[SkippedRun],
    maker: generate.CaseMaker,
    goes_on: GoesOn | None,
) -> tuple[int, RawFailure | None]:
    """Play recorded cases, perhaps only up to a run that fails.

    Return the number of cases that were played, and the failure that ends the search.
    """
    try:
        answers = subject.play_to_failure([item.generated.case for item in batch])
    except BrokenSubject as error:
        if len(batch) == 1 or isinstance(error, BrokenAdapter):
            raise
        alone = (_play_batch(subject, [item], coverage, skipped, maker, goes_on) for item in batch)
        failure = next((each for each in alone if each is not None), None)
        if failure is None:
            raise
        return len(batch), failure
    for item, answer in zip(batch, answers, strict=False):
        if isinstance(answer, SkippedRun):
            skipped.append(answer)
            continue
        difference = judge(item.generated.case, item.generated.steps, answer, subject.declaration)
        if difference is None or goes_on is None:
            coverage.add(item.coverage, item.generated.case, item.generated.steps)
        if difference is not None:
            run_reference(item.generated.case, Coverage(definition=coverage.definition))
            raw = _raw_failure(subject, item.generated, difference, item.choices, maker)
            failure = raw if goes_on is None else _end_or_go_on(raw, coverage, skipped, goes_on)
            if failure is not None:
                return len(answers), failure
    return len(answers), None


def _end_or_go_on(raw: RawFailure, coverage: Coverage, skipped: list[SkippedRun], goes_on: GoesOn) -> RawFailure | None:
    """Return the failure if the search ends there. Only the steps before it count as judged."""
    case, _, difference = raw.failing[:3]
    before = Coverage(definition=coverage.definition)
    run_reference(dataclasses.replace(case, steps=case.steps[: difference.at]), before)
    before.steps = difference.at
    coverage.add_all(before)
    skipped.append(WAIVED)
    return None if goes_on(raw) else raw


def _raw_failure(
    subject: TestedSubject,
    generated: generate.GeneratedCase,
    difference: Difference,
    choices: Sequence[int],
    maker: generate.CaseMaker,
) -> RawFailure:
    """Return the failure with the runs before it, which must be read before anything else is played."""
    failing = FailingCase(generated.case, generated.steps, difference)
    whole = dataclasses.replace(generated.case, earlier=subject.earlier_runs(generated.case))
    return RawFailure(failing, failing._replace(case=whole), tuple(choices), maker)


TASKS_AHEAD: Final = 4
"""The number of tasks for each worker that may be in progress or answered before the oldest one is taken."""

WORKER_SECONDS: Final = 600.0
"""The time after which a worker without an answer counts as hanging."""

_fork: dict[str, Callable[[int], Any]] = {}
"""The function that answers the tasks of a fork, which inherits it."""


def _begin_fork(begin: Callable[[], object], answer: Callable[[int], Any]) -> None:
    processes.initialize_fork()
    begin()
    _fork["answer"] = answer


def _answer_task(number: int) -> Any:
    return _fork["answer"](number)


class Workers:
    """Forks of this process that answer numbered tasks, from 0 on; they end with the block.

    A fork calls `begin` first. `answer` returns the answer to a task. What a fork starts ends with it.
    """

    def __init__(
        self,
        count: int,
        begin: Callable[[], object],
        answer: Callable[[int], Any],
        timeout_seconds: float = WORKER_SECONDS,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._ahead = TASKS_AHEAD * count
        self._others = set(active_children())
        self._pool = ProcessPoolExecutor(count, get_context("fork"), _begin_fork, (begin, answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all workers; after an error, at once."""
        if error is not None:
            for child in set(active_children()) - self._others:
                child.kill()
        self._pool.shutdown(cancel_futures=True)

    def answers(self, enough: Callable[[], bool]) -> Iterator[tuple[int, Any]]:
        """Yield each number with its answer, in the order of the numbers, until `enough` returns true.

        `enough` is asked before each task begins. Each task that was started is answered.

        Raises:
            BrokenSubject: a worker dies or hangs.
        """
        started: deque[Future[Any]] = deque()
        is_over = False
        for number in count():
            while len(started) < self._ahead and not is_over:
                is_over = enough()
                if not is_over:
                    started.append(self._pool.submit(_answer_task, number + len(started)))
            if not started:
                return
            try:
                yield number, started.popleft().result(self._timeout_seconds)
            except TimeoutError:
                late = f"gives no answer within {self._timeout_seconds:g} s"
                raise BrokenSubject(f"the worker that judges batch {number} {late}; try --jobs 1") from None
            except BrokenProcessPool:
                raise BrokenSubject(
                    f"a worker died before batch {number} was judged; --jobs 1 runs without any"
                ) from None
