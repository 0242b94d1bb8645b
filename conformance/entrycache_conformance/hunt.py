"""Hypothesis as a source of cases: it goes to extremes, and it shrinks the choices that a failing case is made of."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from hypothesis import HealthCheck, Phase, core, find, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import Flaky, HypothesisException

from entrycache_conformance.draws import own_draws
from entrycache_conformance.generate import Made, Marks, make_case
from entrycache_conformance.judge import Coverage, differs, judge, trajectory
from entrycache_conformance.shrink import leave_out, shortest, shrink_steps
from entrycache_protocol.case import Case
from entrycache_protocol.draw import Draw
from entrycache_protocol.errors import EntrycacheError
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.subject import Failed, Skipped, UnderTest

KEY: Final = b"entrycache"
STEP_LABEL: Final = 430
"""What Hypothesis calls the draws of one step."""

SHORTEN_TRIES: Final = 500

Progress = Callable[[int], None]
"""Told how many examples were judged since the last call; 0: one differs, and is being shortened."""


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


class Hunt:
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
        self.failure: FailingCase | None = None
        self.skipped: list[Skipped] = []
        self.choices: list[int] = []
        self.starts: list[int] = []

    def body(self, data: st.DataObject) -> None:
        """Draw a case from Hypothesis, play and judge it."""
        met = Coverage(definition=self._coverage.definition)
        made = self.make(data, met)
        met.steps = len(made.steps)
        if self.differs(made, met if self.failure is None else None):
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

    def differs(self, made: Made, met: Coverage | None = None) -> bool:
        """Play and judge a case; whether the subject and the reference differ. `met` counts once it was answered."""
        try:
            answer = self.subject.play([made.case])[0]
        except EntrycacheError as error:
            raise _Stopped(error) from None
        if isinstance(answer, Failed):
            raise _Unanswered(made, answer)
        if isinstance(answer, Skipped):
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


def hunted(hunt: Hunt, examples: int, seed_: int) -> FailingCase | None:
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
        with own_draws():
            test()
    except (_Differs, Flaky):  # a failure that does not repeat is one
        pass
    except _Unanswered as unanswered:
        hunt.failure = shrink_unanswered(hunt.subject, unanswered.made.case, unanswered.failed)
    except _Stopped as stopped:
        raise stopped.error from None
    return hunt.failure


def shrunk(hunt: Hunt, choices: Sequence[int], found: FailingCase) -> FailingCase | None:
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
        with own_draws():
            find(st.data(), lambda data: hunt.differs(hunt.make(data, Coverage())), settings=options, database_key=KEY)
    except HypothesisException:
        return _shortened(hunt.subject, found)
    except _Unanswered as unanswered:
        return shrink_unanswered(hunt.subject, unanswered.made.case, unanswered.failed)
    except _Stopped as stopped:
        raise stopped.error from None
    return _shortened(hunt.subject, hunt.failure or found)


def _fewer_choices(hunt: Hunt, choices: Sequence[int]) -> tuple[int, ...]:
    """The choices without those of steps that the failure does not need."""
    if not hunt.fails(choices):
        return tuple(choices)
    before = hunt.choices[: hunt.starts[0]] if hunt.starts else hunt.choices

    def joined(steps: Sequence[list[int]]) -> list[int]:
        return [*before, *(choice for step in steps for choice in step)]

    def fails(steps: Sequence[list[int]]) -> list[list[int]] | None:
        return hunt.steps() if hunt.fails(joined(steps)) else None

    return tuple(joined(leave_out(hunt.steps(), fails)))


def _shortened(subject: UnderTest, failure: FailingCase | None) -> FailingCase | None:
    """The failure without the steps that it does not need, in case Hypothesis has left some."""
    if failure is None or failure.difference.is_silent:
        return failure

    case, difference = shortest(failure.case, failure.difference, partial(differs, subject), SHORTEN_TRIES)
    return FailingCase(case, trajectory(case, Coverage()), difference)


def shrink_unanswered(subject: UnderTest, case: Case, failed: Failed) -> FailingCase:
    """A shorter case that still gets no answer, by leaving out ever smaller pieces."""
    case, difference = shrink_steps(subject, case, failed)
    return FailingCase(case, trajectory(case, Coverage()), difference)
