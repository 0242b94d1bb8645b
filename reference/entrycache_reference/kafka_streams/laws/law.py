"""The type of a law of `kafka-streams`, and the questions that several laws ask about a step.

A `Law` names its rule, its operations, a guard, and the check that must hold whenever the guard does. The functions
below read a state or a step without using the rule functions of the reference.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.kafka_streams.config import Config, ExpiredWindows, FailedFlush, Total, UndeliveredEviction
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Failed, Forward
from entrycache_reference.kafka_streams.state import Node, Space, State, Step
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

Check = Callable[[Config, State, Any, Step], bool]
"""A question about one step: the configuration, the state before it, its event, and its result."""

EMPTY_SPACE: Final = Space({}, (), (), None, 0, 0, 0, 0, False)
"""An empty namespace as the rules define it, independent of the defaults of the reference."""


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` must be; an empty `on` means every operation."""

    rule: Rule
    on: tuple[type[Op], ...]
    guard: Check
    holds: Check


def always(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return true: the guard of a law about every step of its operations."""
    return True


def space(state: State, ns: str) -> Space:
    """Return the namespace of that name, or an empty one."""
    return state.spaces.get(ns, EMPTY_SPACE)


def bytes_in(state: State) -> int:
    """Return the sum of all sizes."""
    return sum([node.size_bytes for cached in state.spaces.values() for node in cached.nodes.values()])


def limited_bytes(config: Config, state: State) -> int:
    """Return the total that the limit applies to."""
    return bytes_in(state) if config.variants.total is Total.EXACT else state.running


def loses_undelivered(config: Config) -> bool:
    """Return whether an evicted entry that no listener takes is lost."""
    return config.variants.undelivered_eviction is UndeliveredEviction.LOST


def cleans_refused(config: Config) -> bool:
    """Return whether a listener that throws leaves entries clean."""
    return config.variants.failed_flush is FailedFlush.CLEAN


def is_consistent(config: Config, cached: Space) -> bool:
    """Return whether each dirty key has a dirty entry; only a variant that loses entries breaks this."""
    return not loses_undelivered(config) or all(
        key in cached.nodes and cached.nodes[key].is_dirty for key in cached.dirty
    )


def has_failed(step: Step) -> bool:
    """Return whether the step ended with an error."""
    return isinstance(step.outcome.answer, Failed)


def is_undisturbed(step: Step) -> bool:
    """Return whether no listener and no processor downstream performed a step of its own."""
    return not any(call.inner for call in step.outcome.flushed) and not any(
        call.inner for call in step.outcome.forwarded
    )


def is_uncalled(step: Step) -> bool:
    """Return whether the step called nobody."""
    return not step.outcome.flushed and not step.outcome.forwarded


def evicted_keys(step: Step) -> list[str]:
    """Return the evicted keys, in order."""
    return [row.key for row in step.rows if row.op == "EVICT" and row.key is not None]


def are_others_unchanged(pre: State, step: Step, ns: str) -> bool:
    """Return whether every namespace except this one is unchanged."""
    names = (pre.spaces.keys() | step.state.spaces.keys()) - {ns}
    return all(pre.spaces.get(name) == step.state.spaces.get(name) for name in names)


def content(cached: Space) -> tuple[object, ...]:
    """Return the content of a namespace, without its counters and its listener."""
    return (cached.nodes, cached.recent, cached.dirty)


def kind_of(state: State, name: str) -> StoreKind:
    """Return the kind of a store; one that was never opened has keys and values."""
    return state.stores[name].settings.kind if name in state.stores else StoreKind.KEY_VALUE


def time_of(name: str) -> int:
    """Return the time of a window or a session from its name: the number at its end."""
    return int(name.rsplit("@", 1)[1].rsplit("-", 1)[-1])


def has_expired(state: State, store: str, name: str) -> bool:
    """Return whether a window or a session of a store has expired by the stream time of the store.

    A key of a store that its own forward closed and opened again as one of windows is none of its windows.
    """
    if kind_of(state, store) is StoreKind.KEY_VALUE or "@" not in name:
        return False
    return state.stores[store].stream_time >= time_of(name) + state.stores[store].settings.retention


def shows_expired(config: Config, state: State, store: str) -> bool:
    """Return whether a store answers what is cached, whatever its age."""
    by_variant = config.variants.expired_windows is ExpiredWindows.CACHED
    return by_variant and kind_of(state, store) is not StoreKind.KEY_VALUE


def place(call: Forward) -> str:
    """Return the key of a forwarded entry, or the name of its window or session."""
    if call.start is ABSENT:
        return call.key
    return f"{call.key}@{call.start}" if call.end is ABSENT else f"{call.key}@{call.start}-{call.end}"


def node_at(state: State, ns: str, key: str) -> Node | None:
    """Return the entry of a key, or None."""
    return space(state, ns).nodes.get(key)
