"""Looking for a failure: cases made beside the reference, played whole, judged, and shrunk when they fail."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import Made, make_case
from entrycache_conformance.hunt import Hunt, Progress, hunted, shrink_unanswered, shrunk
from entrycache_conformance.judge import Coverage, Definition, judge
from entrycache_conformance.settle import settled, unconfirmed, with_earlier_runs
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import even
from entrycache_protocol.errors import BrokenSubject, NotAgain
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


class Recorded(NamedTuple):
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
    skipped: list[Skipped] = []
    cases = seeded(subject.declaration, menu, examples, seed_, theme, coverage.definition)
    size = 1
    while batch := list(islice(cases, size)):
        found = _first_difference(subject, batch, coverage, skipped)
        progress(len(batch))
        size = min(2 * size, FEW)
        if found is not None:
            progress(0)
            return Search(_shrink_recorded(subject, menu, *found, theme) if shrinks else _failure(*found), skipped)
    hunt = Hunt(subject, menu, coverage, progress, theme)
    failure = hunted(hunt, examples - number_seeded(examples), seed_)
    skipped += hunt.skipped
    if failure is None or failure.difference.is_silent or not shrinks:
        return Search(failure, skipped)
    progress(0)
    origin = with_earlier_runs(subject, failure)
    return Search(_settled(hunt, hunt.choices, failure, origin), skipped)


def number_seeded(examples: int) -> int:
    """How many of the examples of a search are seeded; the rest is made under Hypothesis."""
    return examples * 3 // 4


def seeded(
    declaration: Declaration,
    menu: Sequence[str],
    examples: int,
    seed_: int,
    theme: Any = None,
    definition: Definition | None = None,
) -> Iterator[Recorded]:
    """The seeded cases of such a search: they follow from the seed alone, whatever a subject answers."""
    source = _source_of(seed_)
    return (_record(source, declaration, menu, theme, definition) for _ in range(number_seeded(examples)))


def seeded_cases(
    declaration: Declaration, menu: Sequence[str], examples: int, seed_: int, theme: Any = None
) -> Iterator[Made]:
    """The very cases of `seeded` for who only plays them: no law is looked at, and no choice is kept."""
    draw = even(_source_of(seed_))
    return (make_case(draw, declaration, menu, None, theme=theme) for _ in range(number_seeded(examples)))


def _source_of(seed_: int) -> random.Random:
    return random.Random(f"search {seed_}")


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
        batch = [_record(source, subject.declaration, menu, theme, coverage.definition) for _ in range(BATCH)]
        found = _first_difference(subject, batch, coverage, skipped)
        if found is not None:
            progress(0)
            return Search(_shrink_recorded(subject, menu, *found, theme), skipped)
        progress(len(batch))
    return Search(None, skipped)


def _first_difference(
    subject: UnderTest, batch: Sequence[Recorded], coverage: Coverage, skipped: list[Skipped]
) -> tuple[Recorded, Difference] | None:
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


def _failure(item: Recorded, difference: Difference) -> FailingCase:
    return FailingCase(item.made.case, item.made.steps, difference)


def _record(
    source: random.Random, declaration: Declaration, menu: Sequence[str], theme: Any, definition: Definition | None
) -> Recorded:
    choices: list[int] = []
    met = Coverage(definition=definition)
    drawn = even(source)

    def draw(least: int, greatest: int) -> int:
        value = drawn(least, greatest)
        choices.append(value)
        return value

    made = make_case(draw, declaration, menu, met, theme=theme)
    met.steps = len(made.steps)
    return Recorded(made, tuple(choices), met)


def _shrink_recorded(
    subject: UnderTest, menu: Sequence[str], item: Recorded, difference: Difference, theme: Any
) -> FailingCase | None:
    """The shortest case that is reached from recorded choices."""
    found = _failure(item, difference)
    origin = with_earlier_runs(subject, found)
    hunt = Hunt(subject, menu, Coverage(), lambda count: None, theme)
    if difference.failed is not None and difference.is_silent:
        return shrink_unanswered(subject, item.made.case, difference.failed)
    return _settled(hunt, item.choices, found, origin)


def _settled(hunt: Hunt, choices: Sequence[int], found: FailingCase, origin: FailingCase) -> FailingCase | None:
    """The failure shrunk, and as it fails again; as it was met where the subject ends meanwhile and starts no more."""
    try:
        shorter = shrunk(hunt, choices, found)
    except NotAgain as error:
        return unconfirmed(found, error)
    return settled(hunt.subject, shorter, origin)
