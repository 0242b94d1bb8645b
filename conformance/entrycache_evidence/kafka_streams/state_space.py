"""A world of `kafka-streams`: its events from a first state on, and when two states of it are the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from entrycache_conformance.systems.kafka_streams.system import SYSTEM
from entrycache_evidence.model_checker.checker import Parts
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.outcomes import Unanswered
from entrycache_reference.kafka_streams.state import Space, State, Step, total_bytes


@dataclass(frozen=True, slots=True)
class BoundedModel:
    """The bounds of an exploration; `told_of` says in words what `events` and `start` hold.

    Every event may happen in every state that `start` leads to and that keeps within the bounds. A step that
    leaves them is judged, and not gone on from: with a running total (variant `total`), one that brings it more than
    `drift_bytes` away from the sum of all sizes. Nothing follows a step that gives no answer.
    """

    name: str
    config: Config
    events: tuple[ops.Op, ...]
    told_of: str
    start: tuple[ops.Op, ...] = ()
    drift_bytes: int = 0
    depth: int | None = None

    def parts(self) -> Parts:
        """The same events in every state, and states relative to one another."""
        return Parts(SYSTEM, lambda _: self.events, Relative(self), self.start)

    def told(self) -> str:
        """Its bounds in words."""
        drift = f", the running total within {self.drift_bytes} bytes of the sum"
        drifts = drift if self.config.variants.total is Total.RUNNING else ""
        return f"{self.name}: {len(self.events)} events ({self.told_of}){drifts}"


class Relative:
    """Two states are the same if they differ in counters and in the numbers of writes only, the latter in order.

    No function and no law looks at a counter but to add to it and to compare it with what it was. Numbers of writes
    are compared within a key only: whether an entry is a later write than the one that its store passed on last, and
    whether it is still the one that was handed over. A new write has the greatest number of all.
    """

    def __init__(self, world: BoundedModel) -> None:
        self._drift = world.drift_bytes
        self._running = world.config.variants.total is Total.RUNNING
        self._seen: dict[int, tuple[Any, int]] = {}
        self._numbers: dict[Any, int] = {}

    def key(self, state: State) -> Hashable:
        """Equal for states that no further event of the world, and no law, tells apart."""
        spaces = tuple([(ns, self._space(space, state, ns)) for ns, space in sorted(state.spaces.items())])
        stores = tuple(
            [
                (
                    name,
                    tuple(sorted(store.inner.items())),
                    tuple([(key, self._number(steps)) for key, steps in sorted(store.downstream.items())]),
                )
                for name, store in sorted(state.stores.items())
            ]
        )
        drift = state.running - total_bytes(state) if self._running else 0
        return state.max_size_bytes, spaces, stores, drift

    def _space(self, space: Space, state: State, ns: str) -> Hashable:
        store = state.stores.get(ns)
        forwarded_writes = {} if store is None else store.forwarded_writes
        nodes = tuple(
            [
                (
                    key,
                    node.value,
                    node.is_dirty,
                    node.size_bytes,
                    node.context,
                    forwarded_writes.get(key, -1) < node.write,
                )
                for key, node in sorted(space.nodes.items())
            ]
        )
        listener = space.listener
        heard = listener and (self._number(listener.steps), listener.fails, listener.of_store)
        return nodes, space.recent, space.dirty, heard

    def _number(self, steps: Any) -> int:
        """The same for equal steps. Looked up by identity: hashing operations would take half of the time."""
        known = self._seen.get(id(steps))
        if known is None:
            known = self._seen[id(steps)] = (steps, self._numbers.setdefault(steps, len(self._numbers)))
        return known[1]

    def settled(self, state: State) -> State:
        """The representative of its kind: as it was reached first."""
        return state

    def follows(self, step: Step) -> bool:
        """Whether the step has an answer, and its state keeps within the bounds."""
        if isinstance(step.outcome.answer, Unanswered):
            return False
        return not self._running or abs(step.state.running - total_bytes(step.state)) <= self._drift
