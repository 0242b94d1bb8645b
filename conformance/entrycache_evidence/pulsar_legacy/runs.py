"""Short runs for the tests of single rules, of the reference or of a model; what they played can be listened to."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from entrycache_evidence.core.models import current_model, report_run
from entrycache_reference import pulsar_legacy
from entrycache_reference.pulsar_legacy import NAME, Config, State, Step
from entrycache_reference.pulsar_legacy.ops import Insert, Op
from entrycache_reference.pulsar_legacy.outcomes import ErrorKind, Outcome, Refused
from entrycache_reference.vocabulary import CacheName, Position

A: Final = CacheName("a")
B: Final = CacheName("b")
REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


def at(entry: int, ledger: int = 1) -> Position:
    """A position, most often in ledger 1."""
    return Position(ledger, entry)


def sized(cache: CacheName, *sizes: int) -> list[Insert]:
    """Inserts of entries of these sizes, from 1:0 on."""
    return [Insert(cache, at(entry), size) for entry, size in enumerate(sizes)]


class Played(NamedTuple):
    """A run: the states, the initial one first, and the steps between them."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]

    @property
    def last(self) -> Outcome:
        """The answer of the last step."""
        return self.steps[-1].outcome

    @property
    def before(self) -> State:
        """The state before the last step."""
        return self.states[-2]

    @property
    def after(self) -> State:
        """The state after the last step."""
        return self.states[-1]

    def held(self, cache: CacheName = A) -> list[int]:
        """The entry numbers that a cache holds, ascending."""
        found = self.after.caches.get(cache)
        return [] if found is None else [pos.entry for pos in sorted(found.entries)]


def play(*events: Op, **config: Any) -> Played:
    """The reference's run through these events, with these keys of the configuration not at their defaults."""
    settings = Config(**config)
    report_run(NAME, settings, events)
    played = current_model() or pulsar_legacy
    states = [played.initial(settings)]
    steps: list[Step] = []
    for event in events:
        steps.append(played.step(states[-1], event, settings))
        states.append(steps[-1].state)
    return Played(tuple(states), tuple(steps))
