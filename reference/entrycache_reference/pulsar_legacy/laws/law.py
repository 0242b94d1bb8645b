"""The type of a law of `pulsar-legacy`, and the questions that several laws ask about a state.

A `Law` names its rule, its operations, a guard, and the check that must hold whenever the guard does. `REFUSABLE` says
which events the protocol refuses.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import ErrorKind, Refused
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Check = Callable[[Config, State, Any, Step], bool]
"""A question about one step: the configuration, the state before it, its event, and its result."""

Entries = dict[Position, Entry]

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)
"""The only refusal of this system."""


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` must be.

    `on` names the operations that the law is about; empty means all of them.
    """

    rule: Rule
    on: tuple[type[ops.Op], ...]
    guard: Check
    holds: Check


def always(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return true: the guard of a law about every step of its operations."""
    return True


REFUSABLE: Final[dict[type[ops.Op], Callable[[Any], bool]]] = {
    ops.Insert: lambda event: event.size < 0,
    ops.Advance: lambda event: event.nanos < 0,
    ops.Expire: lambda event: event.older_than_nanos is not ABSENT and event.older_than_nanos < 0,
    ops.Evict: lambda event: event.bytes < 1,
    ops.EvictCache: lambda event: event.bytes < 1,
    ops.Read: lambda event: event.first.ledger != event.last.ledger or event.first.entry > event.last.entry,
}
"""The operations that can be refused, each with its condition."""


def is_refusable(event: ops.Op) -> bool:
    """Return whether the protocol refuses this event."""
    is_refused = REFUSABLE.get(type(event))
    return is_refused is not None and is_refused(event)


def is_allowed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the protocol accepts this event."""
    return not is_refusable(event)


def entries_of(state: State, name: CacheName) -> Entries:
    """Return a copy of the entries of a cache."""
    cache = state.caches.get(name)
    return {} if cache is None else dict(cache.entries)


def cached_entry(state: State, name: CacheName, pos: Position) -> Entry | None:
    """Return the entry at a position of a cache, or None."""
    cache = state.caches.get(name)
    return None if cache is None else cache.entries.get(pos)


def content(state: State) -> dict[tuple[CacheName, Position], Entry]:
    """Return every entry by its cache and position."""
    return {(name, pos): entry for name, cache in state.caches.items() for pos, entry in cache.entries.items()}


def removed_entries(pre: State, step: Step, name: CacheName) -> Entries:
    """Return the entries of a cache that have left."""
    after = entries_of(step.state, name)
    return {pos: entry for pos, entry in entries_of(pre, name).items() if pos not in after}


def are_others_kept(pre: State, step: Step, name: CacheName) -> bool:
    """Return whether every cache except this one is unchanged."""
    before, after = (
        {other: cache for other, cache in state.caches.items() if other != name} for state in (pre, step.state)
    )
    return before == after
