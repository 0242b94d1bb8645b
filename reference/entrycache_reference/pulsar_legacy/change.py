"""The smallest changes of a state. Every rule function is made of these.

Beside: RangeCache.put, RangeEntryCacheManagerImpl.entryAdded, .entriesRemoved (managed-ledger 4.0.8)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_reference.pulsar_legacy.state import Cache, Entry, State
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position

EMPTY: Final = Cache({}, 0)


def cache_of(state: State, name: CacheName) -> Cache:
    """The cache of that name; an empty one where it holds no entry."""
    return state.caches.get(name, EMPTY)


def entry_at(state: State, name: CacheName, pos: Position) -> Entry | None:
    """The cached entry at a position, or None."""
    return cache_of(state, name).entries.get(pos)


def with_cache(state: State, name: CacheName, entries: Mapping[Position, Entry], size_bytes: int) -> State:
    """The state with this content of one cache; one without entries is not kept."""
    caches = {**state.caches, name: Cache(entries, size_bytes)}
    return state._replace(caches={name: cache for name, cache in caches.items() if cache.entries})


@rule(Rule.L_STATE_1)
def add_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """The state with a new entry: in its cache, and in both sums of bytes."""
    cache = cache_of(state, name)
    added = with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes + entry.size_bytes)
    return added._replace(size_bytes=state.size_bytes + entry.size_bytes)


@rule(Rule.L_STATE_1)
def drop_entries(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """The state without these entries of one cache."""
    cache = cache_of(state, name)
    freed_bytes = sum(cache.entries[pos].size_bytes for pos in positions)
    gone = frozenset(positions)
    kept = {pos: entry for pos, entry in cache.entries.items() if pos not in gone}
    left = with_cache(state, name, kept, cache.size_bytes - freed_bytes)
    return left._replace(size_bytes=state.size_bytes - freed_bytes)


def positions_of(state: State, name: CacheName) -> tuple[Position, ...]:
    """The cached positions, ascending."""
    return tuple(sorted(cache_of(state, name).entries))
