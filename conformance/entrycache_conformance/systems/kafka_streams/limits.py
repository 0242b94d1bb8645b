"""The limits of a subject of `kafka-streams`, the bounds of a case, and the coverage of the cache limit.

`Limits` are about histories alone. `unsupported_reason` finds steps that give no answer under the variants of a
subject, and `only_answered` keeps the generator from making them. `cost_bound` bounds what playing a case costs.
`count_cells` counts how often a step lands one byte below the cache limit, at it, or above it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entrycache_protocol import system
from entrycache_protocol.declaration import Declaration
from entrycache_reference.kafka_streams import Config, initial, ops, outcomes, step
from entrycache_reference.kafka_streams.config import Total
from entrycache_reference.kafka_streams.state import State, total_bytes
from entrycache_reference.vocabulary import ABSENT


@dataclass(frozen=True, slots=True)
class Limits(system.Limits):
    """The limits of `kafka-streams`; all but the first are about histories.

    Without `dirty_writes` every write is clean, as for a cache with nothing behind it. Without `concurrent_resize` no
    client resizes while a listener has steps. Without `crossed_listeners` there is no ring of listeners that use each
    other's namespaces. Without `concurrent_clear` no client clears or closes. Without `exact_counts_under_threads` the
    thread's counters are not judged.
    """

    dirty_writes: bool = True
    concurrent_resize: bool = True
    crossed_listeners: bool = True
    concurrent_clear: bool = True
    exact_counts_under_threads: bool = True

    @property
    def hides_rules(self) -> bool:
        """True without dirty writes: the rules about handing them over can hardly fire."""
        return not self.dirty_writes


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Return the reason why the subject cannot play the case; empty if it can."""
    dirty = [at for at, op in enumerate(steps) if any(map(_is_dirty, _all_ops(op)))]
    if dirty and not declaration.limits.dirty_writes:
        return f"the subject takes clean writes only, and step {dirty[0]} of the case has a dirty one"
    if config.variants.total is Total.EXACT:
        return ""
    state = initial(config)
    for at, op in enumerate(steps):
        done = step(state, op, config)
        if isinstance(done.outcome.answer, outcomes.Unanswered):
            return f"under the declared variants step {at} of the case gives no answer: {done.outcome.answer.reason}"
        state = done.state
    return ""


def only_answered(make: Callable[[str, State], Any], config: Config) -> Callable[[str, State], Any]:
    """Return the maker of operations with a `usage` in place of each operation that would give no answer."""
    if config.variants.total is Total.EXACT:
        return make

    def make_answered(name: str, state: State) -> Any:
        op = make(name, state)
        answer = step(state, op, config).outcome.answer
        return ops.Usage() if isinstance(answer, outcomes.Unanswered) else op

    return make_answered


def cost_bound(config: Config, steps: Sequence[Any]) -> int:
    """Return how many entries the reference copies at most: each step, and each step of a listener, copies all once.

    In one step listeners perform their steps as often as the reentry budget allows.
    """
    every = [inner for op in steps for inner in _all_ops(op)]
    most = max((len(nested_ops(op)) for op in every), default=0)
    entries = {place for op in every for place in _written_places(op)}
    return len(steps) * (1 + most * config.reentry_budget) * (1 + len(entries))


def nested_ops(op: Any) -> tuple[Any, ...]:
    """Return the operations that an operation holds."""
    held = op.on_flush if isinstance(op, ops.Listen) else op.steps if isinstance(op, ops.OnForward) else ABSENT
    return () if held is ABSENT else held


def _all_ops(op: Any) -> Iterator[Any]:
    yield op
    for inner in nested_ops(op):
        yield from _all_ops(inner)


def _is_dirty(op: Any) -> bool:
    """Return whether an operation writes a dirty value."""
    writes = op.entries if isinstance(op, ops.PutAll) else (op,)
    return any(getattr(write, "dirty", False) is True for write in writes)


def _written_places(op: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the places that an operation may write to: namespace or store, and key."""
    if isinstance(op, ops.PutAll):
        yield from ((op.ns, write.key) for write in op.entries)
    elif hasattr(op, "key"):
        yield (getattr(op, "ns", None), op.key)


SIDES: Final = {-1: "BELOW", 0: "AT", 1: "ABOVE"}

COVERAGE_CELLS: Final = ("LIMIT/BELOW", "LIMIT/AT", "RESIZE/BELOW", "RESIZE/AT", "RESIZE/ABOVE")
"""The sides: what a write leaves next to the limit, never more than it, and what is cached next to a new limit."""

WRITES: Final = (ops.Put, ops.PutAll, ops.PutIfAbsent, ops.StorePut)


def count_cells(config: Config, state: State, op: Any, done: Any, cells: dict[str, int]) -> None:
    """Count the sides of the limit that a step lands on."""
    if isinstance(op, WRITES):
        name, distance = "LIMIT", total_bytes(done.state) - state.max_size_bytes
    elif isinstance(op, ops.Resize):
        name, distance = "RESIZE", total_bytes(state) - op.max_size_bytes
    else:
        return
    cell = f"{name}/{SIDES.get(distance)}"
    if cell in COVERAGE_CELLS:
        cells[cell] = cells.get(cell, 0) + 1
