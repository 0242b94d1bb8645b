"""The total that the limit is held against: the exact sum, or (variant `total`) a running one.

The running total is the sum of what calls have reported, each the change of its namespace from its beginning to its
end. What a listener changes in the same namespace meanwhile is reported twice, by its own call and by the outer one.
A call keeps to the namespace that it began with: after that was closed, it is empty for the call, whatever has been
opened under its name.

Beside: ThreadCache.sizeInBytes, .sizeBytes (kafka-streams 4.3.1)
"""

from __future__ import annotations

from typing import NamedTuple

from entrycache_reference.kafka_streams.config import Config, Total
from entrycache_reference.kafka_streams.state import Change, State, space_of, total_bytes
from entrycache_reference.rules import Rule, rule


class Held(NamedTuple):
    """A namespace in the hands of a call: its name, and how often it had been closed during the step under way."""

    ns: str
    closings: int


def held(state: State, ns: str) -> Held:
    """The namespace that has this name now."""
    return Held(ns, state.under_way.closed.count(ns))


def is_open(state: State, own: Held) -> bool:
    """Whether it is still the namespace of its name."""
    return state.under_way.closed.count(own.ns) == own.closings


def limited_bytes(state: State, config: Config) -> int:
    """The total that the limit is held against."""
    return total_bytes(state) if config.variants.total is Total.EXACT else state.running


def holds_entries(state: State, own: Held, config: Config) -> bool:
    """Whether a namespace has something to evict."""
    return bool(space_of(state, own.ns).recent) and (config.variants.total is Total.EXACT or is_open(state, own))


@rule(Rule.K_METRICS_4)
def booked(before: State, after: State, own: Held, config: Config) -> State:
    """The state after a call, the change of the call's namespace added to the running total."""
    if config.variants.total is Total.EXACT:
        return after
    return after._replace(running=after.running + bytes_of(after, own) - bytes_of(before, own))


def accounted(before: State, done: Change, ns: str, config: Config) -> Change:
    """The change, with what it made of the namespace in the running total; one that failed adds nothing."""
    return done if done.error is not None else Change(booked(before, done.state, held(before, ns), config))


def bytes_of(state: State, own: Held) -> int:
    """The bytes of a namespace; of one that was closed, none."""
    return sum(node.size_bytes for node in space_of(state, own.ns).nodes.values()) if is_open(state, own) else 0
