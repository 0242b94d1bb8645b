"""What a law is, and what several laws ask of a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import Advance, Evict, Expire, Insert, Op
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Refused
from entrycache_reference.pulsar_pip430.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Check = Callable[[Config, State, Any, Step], bool]
"""A question about one step: the configuration, the state before it, its event, and what it made."""

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)
"""The one refusal of the levels range and queue."""


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` has to be.

    `on` names the operations that the law is about; empty stands for all of them.
    """

    rule: Rule
    on: tuple[type[Op], ...]
    guard: Check
    holds: Check


def always(config: Config, pre: State, event: Op, step: Step) -> bool:
    """The guard of a law that is about every step of its operations."""
    return True


def refusable(event: Op) -> bool:
    """Whether the protocol refuses the arguments of this event."""
    if isinstance(event, Insert):
        return event.size < 0
    if isinstance(event, Advance):
        return event.nanos < 0
    if isinstance(event, Expire):
        return event.older_than_nanos is not ABSENT and event.older_than_nanos < 0
    return isinstance(event, Evict) and event.bytes <= 0


def cached(state: State, name: CacheName, pos: Position) -> Entry | None:
    """The entry at a position of a cache, or None."""
    cache = state.caches.get(name)
    return None if cache is None else cache.entries.get(pos)


def entries_of(state: State, name: CacheName) -> dict[Position, Entry]:
    """A copy of the entries of a cache; none where it is not known."""
    cache = state.caches.get(name)
    return {} if cache is None else dict(cache.entries)


def others_kept(pre: State, step: Step, name: CacheName) -> bool:
    """Whether the entries of every cache but this one are as they were."""
    after = step.state.caches
    if after is pre.caches:
        return True
    return all(
        other == name or after.get(other) is cache or entries_of(step.state, other) == cache.entries
        for other, cache in pre.caches.items()
    )


def nothing_touched(pre: State, step: Step) -> bool:
    """Whether no entry, slot or sum differs; a cache may have been opened, empty."""
    after = step.state
    if after is pre:
        return True
    if (after.now_nanos, after.queue, after.size_bytes) != (pre.now_nanos, pre.queue, pre.size_bytes):
        return False
    if after.caches is pre.caches:
        return True
    return all(pre.caches.get(name) == cache for name, cache in after.caches.items() if cache.entries) and all(
        after.caches.get(name) == cache for name, cache in pre.caches.items()
    )
