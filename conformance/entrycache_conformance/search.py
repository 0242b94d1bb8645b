"""Looking for a failure: cases made beside the reference, played whole, judged, and shrunk when they fail."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import Made, make_case
from entrycache_conformance.hunt import Hunt, Progress, hunted, shrink_unanswered, shrunk
from entrycache_conformance.judge import Coverage, judge
from entrycache_conformance.settle import settled, with_earlier_runs
from entrycache_protocol.draw import even
from entrycache_protocol.errors import BrokenSubject
from entrycache_protocol.failure import Difference, FailingCase
from entrycache_protocol.subject import Skipped, UnderTest

BATCH: Final = 200
"""Cases that are made before they are played together."""

FEW: Final = 25
"""The same, where a failure is expected soon: at most so many, and fewer at first."""


class Search(NamedTuple):
    """What a search has found; `skipped` holds the reasons of runs that the subject declined."""

    failure: FailingCase | None
    skipped: list[Skipped]


class _Recorded(NamedTuple):
    """A case, the choices that it was made of, and what the reference met in it."""

    made: Made
    choices: tuple[int, ...]
    met: Coverage


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
        batch = [_record(source, subject, menu, theme, coverage.whole) for _ in range(min(size, seeded - made))]
        found = _first_difference(subject, batch, coverage, skipped)
        progress(len(batch))
        made, size = made + len(batch), min(2 * size, FEW)
        if found is not None:
            return Search(_shrink_recorded(subject, menu, *found, theme) if shrinks else _failure(*found), skipped)
    hunt = Hunt(subject, menu, coverage, progress, theme)
    failure = hunted(hunt, examples - seeded, seed_)
    skipped += hunt.skipped
    if failure is None or failure.difference.is_silent or not shrinks:
        return Search(failure, skipped)
    origin = with_earlier_runs(subject, failure)
    return Search(settled(subject, shrunk(hunt, hunt.choices, failure), origin), skipped)


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
        batch = [_record(source, subject, menu, theme, coverage.whole) for _ in range(BATCH)]
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
        coverage.add(item.met)
        difference = judge(item.made.case, item.made.steps, answer, subject.declaration)
        if difference is not None:
            return item, difference
    return None


def _failure(item: _Recorded, difference: Difference) -> FailingCase:
    return FailingCase(item.made.case, item.made.steps, difference)


def _record(source: random.Random, subject: UnderTest, menu: Sequence[str], theme: Any, whole: bool) -> _Recorded:
    choices: list[int] = []
    met = Coverage(whole=whole)
    drawn = even(source)

    def draw(least: int, greatest: int) -> int:
        value = drawn(least, greatest)
        choices.append(value)
        return value

    made = make_case(draw, subject.declaration, menu, met, theme=theme)
    met.steps = len(made.steps)
    return _Recorded(made, tuple(choices), met)


def _shrink_recorded(
    subject: UnderTest, menu: Sequence[str], item: _Recorded, difference: Difference, theme: Any
) -> FailingCase | None:
    """The shortest case that is reached from recorded choices."""
    found = _failure(item, difference)
    origin = with_earlier_runs(subject, found)
    hunt = Hunt(subject, menu, Coverage(), lambda count: None, theme)
    if difference.failed is not None and difference.is_silent:
        return shrink_unanswered(subject, item.made.case, difference.failed)
    return settled(subject, shrunk(hunt, item.choices, found), origin)
