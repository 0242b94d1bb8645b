"""The scope of a bounded model of `kafka-streams`, and the equality of its states."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from entrycache_conformance.systems.kafka_streams.system import SYSTEM
from entrycache_evidence.model_checker.checker import Parts
from entrycache_reference.kafka_streams import ops, outcomes
from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.state import Space, State, Step, total_bytes


@dataclass(frozen=True, slots=True)
class BoundedModel:
    """The scope of an exploration: a configuration and its events; `description` names the events and `start`.

    Every event may happen in every state that is reached from `start` and is within the bounds. A step that leaves the
    bounds is judged but not followed: with variant `total` "running", one that moves the total more than `drift_bytes`
    away from the sum. A step without an answer is not followed either.
    """

    name: str
    config: Config
    events: tuple[ops.Op, ...]
    description: str
    start: tuple[ops.Op, ...] = ()
    drift_bytes: int = 0
    depth: int | None = None

    def parts(self) -> Parts:
        """Return the events, which are the same in every state, and the equality of states."""
        return Parts(SYSTEM, lambda _: self.events, RelativeStates(self), self.start)

    def describe(self) -> str:
        """Describe the bounds."""
        drift = f", the running total within {self.drift_bytes} bytes of the sum"
        drifts = drift if self.config.variants.total is Total.RUNNING else ""
        return f"{self.name}: {len(self.events)} events ({self.description}){drifts}"


class RelativeStates:
    """Equality of states without counters, and with only the order of the numbers of writes.

    Functions and laws only add to a counter and compare it with its former value. Numbers of writes are compared within
    a key only: with the write that its store forwarded last, and with the write that was handed over. A new write has
    the greatest number of all.
    """

    def __init__(self, scope: BoundedModel) -> None:
        self._drift = scope.drift_bytes
        self._running = scope.config.variants.total is Total.RUNNING
        self._seen: dict[int, tuple[Any, int]] = {}
        self._numbers: dict[Any, int] = {}

    def key(self, state: State) -> Hashable:
        """Return a key that is equal for states that no further event and no law tells apart."""
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
        listener_key = listener and (self._number(listener.steps), listener.fails, listener.of_store)
        return nodes, space.recent, space.dirty, listener_key

    def _number(self, steps: Any) -> int:
        """Return a number that is equal for equal steps; the lookup is by identity, as hashing is slow."""
        known = self._seen.get(id(steps))
        if known is None:
            known = self._seen[id(steps)] = (steps, self._numbers.setdefault(steps, len(self._numbers)))
        return known[1]

    def representative(self, state: State) -> State:
        """Return the representative of a state: the one that was reached first."""
        return state

    def follows(self, step: Step) -> bool:
        """Return whether the step has an answer and its state is within the bounds."""
        if isinstance(step.outcome.answer, outcomes.Unanswered):
            return False
        return not self._running or abs(step.state.running - total_bytes(step.state)) <= self._drift
