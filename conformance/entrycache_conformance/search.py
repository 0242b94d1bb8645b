"""Looking for a failure: cases made beside the reference, played whole, judged, and shrunk when they fail."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from hypothesis import HealthCheck, Phase, core, find, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import Flaky, HypothesisException
from hypothesis.internal.conjecture.providers import HypothesisProvider

from entrycache_conformance.generate import GeneratedCase, Marks, make_case
from entrycache_conformance.judge import Coverage, Definition, find_difference, judge, run_reference
from entrycache_conformance.shrink import (
    attach_earlier_runs,
    confirm_failure,
    mark_unconfirmed,
    minimize_items,
    shrink_case,
    shrink_unanswered_case,
)
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject, EntrycacheError, RestartError
from entrycache_protocol.subject import Difference, FailedRun, FailingCase, SkippedRun, TestedSubject
from entrycache_protocol.system import Draw, seeded_draw

BATCH: Final = 200
"""Cases that are made before they are played together."""

FIRST_BATCH_MAX: Final = 25
"""The same, where a failure is expected soon: at most so many, and fewer at first."""


class SearchResult(NamedTuple):
    """What a search has found; `skipped` holds the reasons of runs that the subject declined."""

    failure: FailingCase | None
    skipped: list[SkippedRun]


class RecordedCase(NamedTuple):
    """A case, the choices that it was made of, and what the reference met in it."""

    made: GeneratedCase
    choices: tuple[int, ...]
    met: Coverage


def find_failure(
    subject: TestedSubject,
    menu: Sequence[str],
    examples: int,
    seed_: int,
    coverage: Coverage,
    progress: Progress = lambda count: None,
    theme: Any = None,
    shrinks: bool = True,
) -> SearchResult:
    """Up to `examples` cases: most of them seeded, which is even, the rest under Hypothesis, which goes to extremes.

    The first failure is shrunk, if that is asked for. Runs that are declined do not count in `coverage.examples`.
    """
    skipped: list[SkippedRun] = []
    cases = record_seeded_cases(subject.declaration, menu, examples, seed_, theme, coverage.definition)
    size = 1
    while batch := list(islice(cases, size)):
        found = _first_difference(subject, batch, coverage, skipped)
        progress(len(batch))
        size = min(2 * size, FIRST_BATCH_MAX)
        if found is not None:
            progress(0)
            return SearchResult(
                _shrink_recorded_case(subject, menu, *found, theme) if shrinks else _failing_case(*found), skipped
            )
    hunt = HypothesisSearch(subject, menu, coverage, progress, theme)
    failure = search_with_hypothesis(hunt, examples - seeded_case_count(examples), seed_)
    skipped += hunt.skipped
    if failure is None or failure.difference.is_silent or not shrinks:
        return SearchResult(failure, skipped)
    progress(0)
    origin = attach_earlier_runs(subject, failure)
    return SearchResult(_shrink_and_confirm(hunt, hunt.choices, failure, origin), skipped)


def seeded_case_count(examples: int) -> int:
    """How many of the examples of a search are seeded; the rest is made under Hypothesis."""
    return examples * 3 // 4


def record_seeded_cases(
    declaration: Declaration,
    menu: Sequence[str],
    examples: int,
    seed_: int,
    theme: Any = None,
    definition: Definition | None = None,
) -> Iterator[RecordedCase]:
    """The seeded cases of such a search: they follow from the seed alone, whatever a subject answers."""
    source = _random_source(seed_)
    return (_record_case(source, declaration, menu, theme, definition) for _ in range(seeded_case_count(examples)))


def make_seeded_cases(
    declaration: Declaration, menu: Sequence[str], examples: int, seed_: int, theme: Any = None
) -> Iterator[GeneratedCase]:
    """The very cases of `seeded` for who only plays them: no law is looked at, and no choice is kept."""
    draw = seeded_draw(_random_source(seed_))
    return (make_case(draw, declaration, menu, None, theme=theme) for _ in range(seeded_case_count(examples)))


def _random_source(seed_: int) -> random.Random:
    return random.Random(f"search {seed_}")


def search_random_cases(
    subject: TestedSubject,
    menu: Sequence[str],
    seed_: int,
    coverage: Coverage,
    enough: Callable[[], bool],
    progress: Progress = lambda count: None,
    theme: Any = None,
) -> SearchResult:
    """Seeded cases without a framework until `enough` says so; a failure is found again by Hypothesis and shrunk."""
    source = random.Random(seed_)
    skipped: list[SkippedRun] = []
    while not enough():
        batch = [_record_case(source, subject.declaration, menu, theme, coverage.definition) for _ in range(BATCH)]
        found = _first_difference(subject, batch, coverage, skipped)
        if found is not None:
            progress(0)
            return SearchResult(_shrink_recorded_case(subject, menu, *found, theme), skipped)
        progress(len(batch))
    return SearchResult(None, skipped)


def _first_difference(
    subject: TestedSubject, batch: Sequence[RecordedCase], coverage: Coverage, skipped: list[SkippedRun]
) -> tuple[RecordedCase, Difference] | None:
    """Play and judge recorded cases, up to the first that differs.

    Where one of them breaks the subject, those before it are judged first: a difference says more.

    Raises:
        BrokenSubject: a case breaks the subject, and none before it differs.
    """
    try:
        answers = subject.play([item.made.case for item in batch])
    except BrokenSubject:
        if len(batch) == 1:
            raise
        alone = (_first_difference(subject, [item], coverage, skipped) for item in batch)
        found = next((each for each in alone if each is not None), None)
        if found is None:
            raise
        return found
    for item, answer in zip(batch, answers, strict=True):
        if isinstance(answer, SkippedRun):
            skipped.append(answer)
            continue
        coverage.add(item.met)
        difference = judge(item.made.case, item.made.steps, answer, subject.declaration)
        if difference is not None:
            return item, difference
    return None


def _failing_case(item: RecordedCase, difference: Difference) -> FailingCase:
    return FailingCase(item.made.case, item.made.steps, difference)


def _record_case(
    source: random.Random, declaration: Declaration, menu: Sequence[str], theme: Any, definition: Definition | None
) -> RecordedCase:
    choices: list[int] = []
    met = Coverage(definition=definition)
    drawn = seeded_draw(source)

    def draw(least: int, greatest: int) -> int:
        value = drawn(least, greatest)
        choices.append(value)
        return value

    made = make_case(draw, declaration, menu, met, theme=theme)
    met.steps = len(made.steps)
    return RecordedCase(made, tuple(choices), met)


def _shrink_recorded_case(
    subject: TestedSubject, menu: Sequence[str], item: RecordedCase, difference: Difference, theme: Any
) -> FailingCase | None:
    """The shortest case that is reached from recorded choices."""
    found = _failing_case(item, difference)
    origin = attach_earlier_runs(subject, found)
    hunt = HypothesisSearch(subject, menu, Coverage(), lambda count: None, theme)
    if difference.failed is not None and difference.is_silent:
        return shrink_unanswered(subject, item.made.case, difference.failed)
    return _shrink_and_confirm(hunt, item.choices, found, origin)


def _shrink_and_confirm(
    hunt: HypothesisSearch, choices: Sequence[int], found: FailingCase, origin: FailingCase
) -> FailingCase | None:
    """The failure shrunk, and as it fails again; as it was met where the subject ends meanwhile and starts no more."""
    try:
        shorter = shrink_choices(hunt, choices, found)
    except RestartError as error:
        return mark_unconfirmed(found, error)
    return confirm_failure(hunt.subject, shorter, origin)


# --- draws
# What Hypothesis draws: values of its own and of ours, and nothing of the files that happen to be installed.
#
# Hypothesis also draws the numbers that stand in local modules. Those are others in a checkout than in a wheel, so that
# one seed would mean two runs; and it keeps them in a folder `.hypothesis` in whatever folder a user is.

HOOK: Final = "_maybe_draw_constant"
"""The method of Hypothesis that now and then draws a constant."""

NOTABLE_NUMBERS: Final = tuple(
    sorted({sign * (power + off) for sign in (1, -1) for power in (2**16, 2**31, 2**32, 2**53, 2**63, 10**6, 10**9)
            for off in (-1, 0, 1)})
)  # fmt: skip
"""Numbers at which implementations go wrong."""


def draw_constant(provider: Any, choice_type: str, constraints: Any, *, p: float = 0.05) -> int | None:
    """With that probability one of the notable numbers between two bounds, if any lies there."""
    if choice_type != "integer" or provider._random.random() > p:
        return None
    least, greatest = constraints["min_value"], constraints["max_value"]
    first = 0 if least is None else bisect_left(NOTABLE_NUMBERS, least)
    last = len(NOTABLE_NUMBERS) if greatest is None else bisect_right(NOTABLE_NUMBERS, greatest)
    return NOTABLE_NUMBERS[provider._random.randrange(first, last)] if first < last else None


@contextmanager
def draw_own_constants() -> Iterator[None]:
    """Meanwhile constants are drawn from here; a user's own tests, before and after, draw as they did."""
    before = getattr(HypothesisProvider, HOOK)
    setattr(HypothesisProvider, HOOK, draw_constant)
    try:
        yield
    finally:
        setattr(HypothesisProvider, HOOK, before)


# --- hunt
# Hypothesis as a source of cases: it goes to extremes, and it shrinks the choices that a failing case is made of.

KEY: Final = b"entrycache"
STEP_LABEL: Final = 430
"""What Hypothesis calls the draws of one step."""

MAX_SHORTEN_TRIES: Final = 500

Progress = Callable[[int], None]
"""Told how many examples were judged since the last call; 0: one differs, and is being shortened."""


class _Differs(AssertionError):
    """Thrown inside Hypothesis to make it shrink."""


class _NoAnswer(BaseException):
    """A run without an answer: too dear for Hypothesis to repeat, so it leaves its hands at once."""

    def __init__(self, made: GeneratedCase, failed: FailedRun) -> None:
        super().__init__(failed.message)
        self.made = made
        self.failed = failed


class _Stopped(BaseException):
    """An error that ends the command; Hypothesis would try it again, and find that it does not repeat."""

    def __init__(self, error: EntrycacheError) -> None:
        super().__init__(str(error))
        self.error = error


class HypothesisSearch:
    """One test body for Hypothesis, and the last failure it saw (the shortest, when shrinking is done).

    `choices` are those that the last case was made of, `starts` where each of its steps begins among them.
    """

    def __init__(
        self, subject: TestedSubject, menu: Sequence[str], coverage: Coverage, progress: Progress, theme: Any
    ) -> None:
        self.subject = subject
        self._menu = menu
        self._theme = theme
        self._coverage = coverage
        self._progress = progress
        self.failure: FailingCase | None = None
        self.skipped: list[SkippedRun] = []
        self.choices: list[int] = []
        self.starts: list[int] = []

    def body(self, data: st.DataObject) -> None:
        """Draw a case from Hypothesis, play and judge it."""
        met = Coverage(definition=self._coverage.definition)
        made = self.make(data, met)
        met.steps = len(made.steps)
        if self.differs(made, met if self.failure is None else None):
            raise _Differs

    def make(self, data: st.DataObject, counting: Coverage) -> GeneratedCase:
        """A case from Hypothesis, which is told where a step begins and ends: it can leave out whole ones."""
        source = data.conjecture_data
        self.choices, self.starts = [], []

        def begin() -> None:
            self.starts.append(len(self.choices))
            source.start_span(STEP_LABEL)

        def draw(least: int, greatest: int) -> int:
            value = source.draw_integer(least, greatest)
            self.choices.append(value)
            return value

        return self.make_with(draw, counting, Marks(begin, source.stop_span))

    def make_with(self, draw: Draw, counting: Coverage, marks: Marks | None = None) -> GeneratedCase:
        """A case from any source of numbers."""
        return make_case(draw, self.subject.declaration, self._menu, counting, theme=self._theme, marks=marks)

    def steps(self) -> list[list[int]]:
        """The choices of each step of the last case."""
        ends = [*self.starts[1:], len(self.choices)]
        return [self.choices[start:end] for start, end in zip(self.starts, ends, strict=False)]

    def fails(self, choices: Sequence[int]) -> bool:
        """Whether the case of these choices differs; where they end, the simplest ones follow."""
        left = iter(choices)
        self.choices, self.starts = [], []

        def draw(least: int, greatest: int) -> int:
            value = min(max(next(left, least), least), greatest)
            self.choices.append(value)
            return value

        marks = Marks(lambda: self.starts.append(len(self.choices)), lambda: None)
        return self.differs(self.make_with(draw, Coverage(), marks))

    def differs(self, made: GeneratedCase, met: Coverage | None = None) -> bool:
        """Play and judge a case; whether the subject and the reference differ. `met` counts once it was answered."""
        try:
            answer = self.subject.play([made.case])[0]
        except EntrycacheError as error:
            raise _Stopped(error) from None
        if isinstance(answer, FailedRun):
            raise _NoAnswer(made, answer)
        if isinstance(answer, SkippedRun):
            self.skipped.append(answer)
            return False
        if met is not None:
            self._coverage.add(met)
        if self.failure is None:
            self._progress(1)
        difference = judge(made.case, made.steps, answer, self.subject.declaration)
        if difference is not None:
            self.failure = FailingCase(made.case, made.steps, difference)
        return difference is not None


def search_with_hypothesis(hunt: HypothesisSearch, examples: int, seed_: int) -> FailingCase | None:
    """The failure of that many examples of Hypothesis, not shrunk but where it is silent."""
    options = settings(
        max_examples=examples,
        derandomize=False,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )

    def body(data: st.DataObject) -> None:
        hunt.body(data)

    test: Any = seed(seed_)(options(given(st.data())(body)))
    try:
        with draw_own_constants():
            test()
    except (_Differs, Flaky):  # a failure that does not repeat is one
        pass
    except _NoAnswer as unanswered:
        hunt.failure = shrink_unanswered(hunt.subject, unanswered.made.case, unanswered.failed)
    except _Stopped as stopped:
        raise stopped.error from None
    return hunt.failure


def shrink_choices(hunt: HypothesisSearch, choices: Sequence[int], found: FailingCase) -> FailingCase | None:
    """Whole steps are left out first, which is quick; Hypothesis shrinks what is left of the choices."""
    database = InMemoryExampleDatabase()
    options = settings(
        max_examples=1,
        derandomize=False,
        database=database,
        deadline=None,
        phases=(Phase.reuse, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        database.save(KEY + b".secondary", choices_to_bytes(_drop_unneeded_steps(hunt, choices)))
        # a seed of `find` would keep it from the database, so its source of seeds begins anew
        core.threadlocal._hypothesis_global_random = random.Random(0)
        with draw_own_constants():
            find(st.data(), lambda data: hunt.differs(hunt.make(data, Coverage())), settings=options, database_key=KEY)
    except HypothesisException:
        return _drop_last_steps(hunt.subject, found)
    except _NoAnswer as unanswered:
        return shrink_unanswered(hunt.subject, unanswered.made.case, unanswered.failed)
    except _Stopped as stopped:
        raise stopped.error from None
    return _drop_last_steps(hunt.subject, hunt.failure or found)


def _drop_unneeded_steps(hunt: HypothesisSearch, choices: Sequence[int]) -> tuple[int, ...]:
    """The choices without those of steps that the failure does not need."""
    if not hunt.fails(choices):
        return tuple(choices)
    before = hunt.choices[: hunt.starts[0]] if hunt.starts else hunt.choices

    def joined(steps: Sequence[list[int]]) -> list[int]:
        return [*before, *(choice for step in steps for choice in step)]

    def fails(steps: Sequence[list[int]]) -> list[list[int]] | None:
        return hunt.steps() if hunt.fails(joined(steps)) else None

    return tuple(joined(minimize_items(hunt.steps(), fails)))


def _drop_last_steps(subject: TestedSubject, failure: FailingCase | None) -> FailingCase | None:
    """The failure without the steps that it does not need, in case Hypothesis has left some."""
    if failure is None or failure.difference.is_silent:
        return failure

    case, difference = shrink_case(
        failure.case, failure.difference, partial(find_difference, subject), MAX_SHORTEN_TRIES
    )
    return FailingCase(case, run_reference(case, Coverage()), difference)


def shrink_unanswered(subject: TestedSubject, case: Case, failed: FailedRun) -> FailingCase:
    """A shorter case that still gets no answer, by leaving out ever smaller pieces."""
    case, difference = shrink_unanswered_case(subject, case, failed)
    return FailingCase(case, run_reference(case, Coverage()), difference)
