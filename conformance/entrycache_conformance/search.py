"""The state machine: cases made beside the reference, played whole, judged, and shrunk when they fail."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from hypothesis import HealthCheck, Phase, core, find, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import HypothesisException

from entrycache_conformance.generate import Made, Marks, make_case
from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.shrink import fewer_steps, shrink_steps
from entrycache_protocol.case import Case
from entrycache_protocol.draw import Draw
from entrycache_protocol.errors import BrokenSubject, EntrycacheError
from entrycache_protocol.failure import Difference, Failure
from entrycache_protocol.subject import Failed, Skipped, UnderTest

KEY: Final = b"entrycache"
STEP_LABEL: Final = 430
"""What Hypothesis calls the draws of one step."""

Progress = Callable[[int], None]
"""Told how many examples were judged since the last call."""


class _Differs(AssertionError):
    """Thrown inside Hypothesis to make it shrink."""


class _Unanswered(BaseException):
    """A run without an answer: too dear for Hypothesis to repeat, so it leaves its hands at once."""

    def __init__(self, made: Made, failed: Failed) -> None:
        super().__init__(failed.message)
        self.made = made
        self.failed = failed


class _Stopped(BaseException):
    """An error that ends the command; Hypothesis would try it again, and find that it does not repeat."""

    def __init__(self, error: EntrycacheError) -> None:
        super().__init__(str(error))
        self.error = error


class Search(NamedTuple):
    """What a search has found; `skipped` holds the reasons of runs that the subject declined."""

    failure: Failure | None
    skipped: list[Skipped]


class _Hunt:
    """One test body for Hypothesis, and the last failure it saw (the shortest, when shrinking is done).

    `choices` are those that the last case was made of, `starts` where each of its steps begins among them.
    """

    def __init__(
        self, subject: UnderTest, menu: Sequence[str], coverage: Coverage, progress: Progress, theme: Any
    ) -> None:
        self.subject = subject
        self._menu = menu
        self._theme = theme
        self._coverage = coverage
        self._progress = progress
        self.failure: Failure | None = None
        self.skipped: list[Skipped] = []
        self.choices: list[int] = []
        self.starts: list[int] = []

    def body(self, data: st.DataObject) -> None:
        """Draw a case from Hypothesis, play and judge it."""
        counting = self._coverage if self.failure is None else Coverage()
        made = self.make(data, counting)
        if self.differs(made, counting):
            raise _Differs

    def make(self, data: st.DataObject, counting: Coverage) -> Made:
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

    def make_with(self, draw: Draw, counting: Coverage, marks: Marks | None = None) -> Made:
        """A case from any source of numbers."""
        return make_case(draw, self.subject.declaration, self._menu, counting, theme=self._theme, marks=marks)

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

    def differs(self, made: Made, counting: Coverage | None = None) -> bool:
        """Play and judge a case; whether the subject and the reference differ."""
        try:
            answer = self.subject.play([made.case])[0]
        except EntrycacheError as error:
            raise _Stopped(error) from None
        if isinstance(answer, Failed):
            raise _Unanswered(made, answer)
        if isinstance(answer, Skipped):
            self.skipped.append(answer)
            return False
        if counting is not None:
            counting.examples += 1
            counting.steps += len(made.steps)
        if self.failure is None:
            self._progress(1)
        difference = judge(made.case, made.steps, answer, self.subject.declaration)
        if difference is not None:
            self.failure = Failure(made.case, made.steps, difference)
        return difference is not None


def _run(hunt: _Hunt, body: Callable[[st.DataObject], None], options: settings, seed_: int) -> None:
    test: Any = seed(seed_)(options(given(st.data())(body)))
    try:
        test()
    except _Differs:
        pass
    except _Unanswered as unanswered:
        hunt.failure = _shrink_unanswered(hunt.subject, unanswered)
    except _Stopped as stopped:
        raise stopped.error from None


def search(
    subject: UnderTest,
    menu: Sequence[str],
    examples: int,
    seed_: int,
    coverage: Coverage,
    progress: Progress = lambda count: None,
    theme: Any = None,
    shrinks: bool = True,
) -> Search:
    """Up to `examples` cases: most of them seeded, which is even, the rest under Hypothesis, which goes to extremes.

    The first failure is shrunk, if that is asked for. Runs that are declined do not count in `coverage.examples`.
    """
    source = random.Random(f"search {seed_}")
    skipped: list[Skipped] = []
    seeded = examples * 3 // 4
    made, size = 0, 1
    while made < seeded:
        batch = [_record(source, subject, menu, coverage, theme) for _ in range(min(size, seeded - made))]
        found = _first_difference(subject, batch, coverage, skipped)
        progress(len(batch))
        made, size = made + len(batch), min(2 * size, FEW)
        if found is not None:
            return Search(_shrink_recorded(subject, menu, *found, theme) if shrinks else _failure(*found), skipped)
    hunt = _Hunt(subject, menu, coverage, progress, theme)
    options = settings(
        max_examples=examples - seeded,
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

    _run(hunt, body, options, seed_)
    failure = hunt.failure
    skipped += hunt.skipped
    if failure is None or failure.difference.is_silent or not shrinks:
        return Search(failure, skipped)
    return Search(_shrunk(hunt, hunt.choices, failure), skipped)


class _Recorded(NamedTuple):
    made: Made
    choices: tuple[int, ...]


SHORTEN_TRIES: Final = 500

BATCH: Final = 200
"""Cases that are made before they are played together."""

FEW: Final = 25
"""The same, where a failure is expected soon: at most so many, and fewer at first."""


def bulk(
    subject: UnderTest,
    menu: Sequence[str],
    seed_: int,
    coverage: Coverage,
    enough: Callable[[], bool],
    progress: Progress = lambda count: None,
    theme: Any = None,
) -> Search:
    """Seeded cases without a framework until `enough` says so; a failure is found again by Hypothesis and shrunk."""
    source = random.Random(seed_)
    skipped: list[Skipped] = []
    while not enough():
        batch = [_record(source, subject, menu, coverage, theme) for _ in range(BATCH)]
        found = _first_difference(subject, batch, coverage, skipped)
        if found is not None:
            return Search(_shrink_recorded(subject, menu, *found, theme), skipped)
        progress(len(batch))
    return Search(None, skipped)


def _first_difference(
    subject: UnderTest, batch: Sequence[_Recorded], coverage: Coverage, skipped: list[Skipped]
) -> tuple[_Recorded, Difference] | None:
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
        if isinstance(answer, Skipped):
            skipped.append(answer)
            continue
        coverage.examples += 1
        coverage.steps += len(item.made.steps)
        difference = judge(item.made.case, item.made.steps, answer, subject.declaration)
        if difference is not None:
            return item, difference
    return None


def _failure(item: _Recorded, difference: Difference) -> Failure:
    return Failure(item.made.case, item.made.steps, difference)


def _record(
    source: random.Random, subject: UnderTest, menu: Sequence[str], coverage: Coverage, theme: Any
) -> _Recorded:
    choices: list[int] = []
    bits = source.random

    def draw(least: int, greatest: int) -> int:
        value = least + int(bits() * (greatest - least + 1))
        choices.append(value)
        return value

    return _Recorded(make_case(draw, subject.declaration, menu, coverage, theme=theme), tuple(choices))


def _shrink_recorded(
    subject: UnderTest, menu: Sequence[str], item: _Recorded, difference: Difference, theme: Any
) -> Failure | None:
    """The shortest case that is reached from recorded choices."""
    found = _failure(item, difference)
    hunt = _Hunt(subject, menu, Coverage(), lambda count: None, theme)
    if difference.failed is not None and difference.is_silent:
        return _shrink_unanswered(subject, _Unanswered(item.made, difference.failed))
    return _shrunk(hunt, item.choices, found)


def _shrunk(hunt: _Hunt, choices: Sequence[int], found: Failure) -> Failure | None:
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
        database.save(KEY + b".secondary", choices_to_bytes(_fewer_choices(hunt, choices)))
        # a seed of `find` would keep it from the database, so its source of seeds begins anew
        core.threadlocal._hypothesis_global_random = random.Random(0)
        find(st.data(), lambda data: hunt.differs(hunt.make(data, Coverage())), settings=options, database_key=KEY)
    except HypothesisException:
        return _shortened(hunt.subject, found)
    except _Unanswered as unanswered:
        return _shrink_unanswered(hunt.subject, unanswered)
    except _Stopped as stopped:
        raise stopped.error from None
    return _shortened(hunt.subject, hunt.failure or found)


def _fewer_choices(hunt: _Hunt, choices: Sequence[int]) -> tuple[int, ...]:
    """The choices without those of steps that the failure does not need: pieces of half, of a quarter, of one step."""
    if not hunt.fails(choices):
        return tuple(choices)
    kept, starts = hunt.choices, hunt.starts
    piece = max(1, len(starts) // 2)
    while True:
        left_out = False
        at = max(0, len(starts) - piece)
        while starts:
            behind = starts[at + piece] if at + piece < len(starts) else len(kept)
            if hunt.fails(kept[: starts[at]] + kept[behind:]) and len(hunt.starts) < len(starts):
                kept, starts, left_out = hunt.choices, hunt.starts, True
            if at == 0:
                break
            at = max(0, min(at - piece, len(starts) - piece))
        if piece == 1 and not left_out:
            return tuple(kept)
        piece = max(1, piece // 2)


def _shortened(subject: UnderTest, failure: Failure | None) -> Failure | None:
    """The failure without the steps that it does not need, in case Hypothesis has left some."""
    if failure is None or failure.difference.is_silent:
        return failure

    def differs(case: Case) -> Failure | None:
        if case.system.cases.unfit(subject.declaration, case.config, case.steps):
            return None
        steps = trajectory(case, Coverage())
        answer = subject.play([case])[0]
        if isinstance(answer, Failed):
            return None
        difference = judge(case, steps, answer, subject.declaration)
        return None if difference is None else Failure(case, steps, difference)

    cut = failure.case.steps[: failure.difference.at + 1]
    return fewer_steps(dataclasses.replace(failure.case, steps=cut), differs, SHORTEN_TRIES) or failure


def _shrink_unanswered(subject: UnderTest, unanswered: _Unanswered) -> Failure:
    """A shorter case that still gets no answer, by leaving out ever smaller pieces."""
    case, difference = shrink_steps(subject, unanswered.made.case, unanswered.failed)
    return Failure(case, trajectory(case, Coverage()), difference)
