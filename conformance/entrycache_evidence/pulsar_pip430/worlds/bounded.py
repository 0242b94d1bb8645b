"""A world given by its events: every one of them may happen in every state that keeps within the bounds."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from entrycache_conformance.systems.pulsar_pip430.system import SYSTEM
from entrycache_evidence.explore.parts import Parts
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import State, Step


@dataclass(frozen=True, slots=True)
class Bounded:
    """The bounds of an exploration; `told_of` says in words what `events` holds.

    A step that leaves the bounds is judged, and not gone on from: time after `latest_nanos`, a queue of more than
    `slots`, dead ones counted, or a count below `least`.
    """

    name: str
    config: Config
    events: tuple[ops.Op, ...]
    told_of: str
    latest_nanos: int = 0
    slots: int = 3
    least: int = 0
    depth: int | None = None

    def parts(self) -> Parts:
        """The same events in every state, and whole states."""
        return Parts(SYSTEM, EveryEvent(self).of, WholeState(self))

    def told(self) -> str:
        """Its bounds in words."""
        return (
            f"{self.name}: {len(self.events)} events ({self.told_of}), time up to {self.latest_nanos}, "
            f"at most {self.slots} slots, counts from {self.least} on"
        )


class EveryEvent:
    """The same events in every state."""

    def __init__(self, world: Bounded) -> None:
        self._events = world.events

    def of(self, state: State) -> tuple[ops.Op, ...]:
        """The events that can happen in a state."""
        return self._events


class WholeState:
    """Two states are the same if nothing but their counters differs: no law compares those with anything earlier."""

    def __init__(self, world: Bounded) -> None:
        self._world = world

    def key(self, state: State) -> Hashable:
        """Equal for the same state."""
        caches = tuple(
            (
                name,
                cache.is_open,
                cache.grace_start_nanos,
                tuple(sorted(cache.members.items())),
                tuple((pos, cache.entries[pos]) for pos in sorted(cache.entries)),
            )
            for name, cache in sorted(state.caches.items())
        )
        holds = tuple(sorted(state.holds.items()))
        return state.now_nanos, state.settings, caches, state.queue, state.is_scheduled, holds

    def settled(self, state: State) -> State:
        """The representative of its kind: as it was reached first."""
        return state

    def follows(self, step: Step) -> bool:
        """Whether the state keeps within the bounds."""
        world, state = self._world, step.state
        if state.now_nanos > world.latest_nanos or len(state.queue) > world.slots:
            return False
        return all(
            entry.expected_reads is None or entry.expected_reads >= world.least
            for cache in state.caches.values()
            for entry in cache.entries.values()
        )
