"""The smallest changes of a state. Every rule function is made of these."""

from __future__ import annotations

from collections.abc import Mapping

from entrycache_reference.pulsar_pip430.state import DEAD, Cache, Entry, Slot, State
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position

EMPTY = Cache({}, 0)


def cache_of(state: State, name: CacheName) -> Cache:
    """The cache of that name; an empty one where the name is not known."""
    return state.caches.get(name, EMPTY)


def entry_at(state: State, name: CacheName, pos: Position) -> Entry | None:
    """The cached entry at a position, or None."""
    return cache_of(state, name).entries.get(pos)


def with_cache(state: State, name: CacheName, entries: Mapping[Position, Entry], size_bytes: int) -> State:
    """The state with this content of one cache."""
    return state._replace(caches={**state.caches, name: Cache(entries, size_bytes)})


def with_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """The state with one entry replaced by another of the same size."""
    cache = cache_of(state, name)
    return with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes)


@rule(Rule.STATE_1, Rule.STATE_2, Rule.STATE_3)
def add_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """The state with a new entry: in its cache, at the tail of the queue, in both sums of bytes."""
    cache = cache_of(state, name)
    added = with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes + entry.size_bytes)
    return added._replace(queue=(*state.queue, Slot(name, pos)), size_bytes=state.size_bytes + entry.size_bytes)


@rule(Rule.STATE_1, Rule.STATE_2)
def drop_entries(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """The state without these entries of one cache; their slots in the queue are dead (R-INVALIDATE-6)."""
    cache = cache_of(state, name)
    gone = frozenset(Slot(name, pos) for pos in positions)
    freed = sum(cache.entries[pos].size_bytes for pos in positions)
    kept = {pos: entry for pos, entry in cache.entries.items() if Slot(name, pos) not in gone}
    queue = tuple(DEAD if slot in gone else slot for slot in state.queue)
    left = with_cache(state, name, kept, cache.size_bytes - freed)
    return left._replace(queue=queue, size_bytes=state.size_bytes - freed)


def positions_between(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """The cached positions from `first` to `last`, both included, ascending."""
    return tuple(sorted(pos for pos in cache_of(state, name).entries if first <= pos <= last))
