"""Search for a case on which a subject and the reference differ.

`search_level` searches one level of a run, with one search for each workload profile. A search (`find_failure`) plays
seeded cases in batches. The first difference ends it. The result is a `RawFailure`: the case as the search met it, with
everything that `shrink.py` needs to shorten and confirm it. Nothing is shortened here.

Data flows one way: the generator makes cases, the subject plays them, `judge` compares the answers, and the failure
goes back to the caller.
"""

import dataclasses
import random
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from entrycache_conformance import generate
from entrycache_conformance.judge import Coverage, judge, run_reference, sample_laws
from entrycache_protocol.errors import BrokenAdapter, BrokenSubject
from entrycache_protocol.subject import Difference, FailingCase, SkippedRun, TestedSubject

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
) -> SearchResult:
    """Search with the default workload profile, then with further profiles, then with cases that leave settings out,
    then with random cases if requested.
    """
    result = find_failure(subject, menu, examples, seed, coverage, progress, None, goes_on)
    for workload, one_to in subject.declaration.system.cases.extra_workloads.items():
        if result.failure is None:
            count = profile_case_count(examples, one_to)
            more = find_failure(subject, menu, count, seed, coverage, progress, workload, goes_on)
            result = SearchResult(more.failure, result.skipped + more.skipped)
    if result.failure is None and generate.omittable_settings(subject.declaration):
        count = profile_case_count(examples, OMITTING_ONE_TO)
        omitting = generate.OMITTED_SETTINGS
        more = find_failure(subject, menu, count, seed, coverage, progress, omitting, goes_on)
        result = SearchResult(more.failure, result.skipped + more.skipped)
    if result.failure is None and bulk_seconds > 0:
        end = time.monotonic() + bulk_seconds
        more = search_random_cases(
            subject, menu, seed, coverage, lambda: time.monotonic() >= end, progress, None, goes_on, False
        )
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
    counts_all: bool = True,
) -> SearchResult:
    """Play random cases until `enough` returns true or a failure ends the search.

    Without `counts_all` the rules that a step meets are counted only where the laws of the reference are checked.
    """
    source = random.Random(seed)
    maker = generate.CaseMaker(subject.declaration, menu, workload)
    skipped: list[SkippedRun] = []
    while not enough():
        samples = (sample_laws(run, coverage.definition, counts_all) for run in range(BATCH))
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
    try:
        answers = subject.play([item.generated.case for item in batch])
    except BrokenSubject as error:
        if len(batch) == 1 or isinstance(error, BrokenAdapter):
            raise
        alone = (_play_batch(subject, [item], coverage, skipped, maker, goes_on) for item in batch)
        failure = next((each for each in alone if each is not None), None)
        if failure is None:
            raise
        return failure
    for item, answer in zip(batch, answers, strict=True):
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
                return failure
    return None


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
