"""The smallest changes of a state. Every rule function is made of these.

Beside: RangeEntryCacheManagerImpl.entryAdded, .entriesRemoved (managed-ledger 4.2.4)
"""

from __future__ import annotations

from collections.abc import Mapping

from entrycache_reference.pulsar_pip430.state import DEAD, Cache, Entry, Held, Slot, State
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, HoldName, Position

EMPTY = Cache({}, 0)


def cache_of(state: State, name: CacheName) -> Cache:
    """The cache of that name; an empty one where the name is not known."""
    return state.caches.get(name, EMPTY)


def entry_at(state: State, name: CacheName, pos: Position) -> Entry | None:
    """The cached entry at a position, or None."""
    return cache_of(state, name).entries.get(pos)


def with_cache(state: State, name: CacheName, entries: Mapping[Position, Entry], size_bytes: int) -> State:
    """The state with this content of one cache."""
    cache = cache_of(state, name)._replace(entries=entries, size_bytes=size_bytes)
    return state._replace(caches={**state.caches, name: cache})


def with_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """The state with one entry replaced by another of the same size."""
    cache = cache_of(state, name)
    return with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes)


@rule(Rule.STATE_1, Rule.STATE_2, Rule.STATE_3, Rule.METRICS_3)
def add_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """The state with a new entry: in its cache, at the tail of the queue, in both sums of bytes."""
    cache = cache_of(state, name)
    added = with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes + entry.size_bytes)
    return added._replace(
        queue=(*state.queue, Slot(name, pos)),
        size_bytes=state.size_bytes + entry.size_bytes,
        counts=state.counts._replace(inserted_entries=state.counts.inserted_entries + 1),
    )


@rule(Rule.COUNT_6)
def without_claims(
    holds: Mapping[HoldName, tuple[Held, ...]], gone: frozenset[Slot]
) -> Mapping[HoldName, tuple[Held, ...]]:
    """The holds after these entries have left: they keep what was handed over, but it is cached no more."""
    if not gone or not any(held.is_cached and held.slot in gone for kept in holds.values() for held in kept):
        return holds
    return {
        name: tuple(Held(held.slot, held.is_cached and held.slot not in gone) for held in kept)
        for name, kept in holds.items()
    }


@rule(Rule.STATE_1, Rule.STATE_2, Rule.METRICS_4)
def drop_entries(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """The state without these entries of one cache; their slots in the queue are dead (R-INVALIDATE-6)."""
    cache = cache_of(state, name)
    gone = frozenset(Slot(name, pos) for pos in positions)
    freed = sum(cache.entries[pos].size_bytes for pos in positions)
    kept = {pos: entry for pos, entry in cache.entries.items() if Slot(name, pos) not in gone}
    queue = tuple(DEAD if slot in gone else slot for slot in state.queue)
    left = with_cache(state, name, kept, cache.size_bytes - freed)
    return left._replace(
        queue=queue,
        size_bytes=state.size_bytes - freed,
        holds=without_claims(state.holds, gone),
        counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + len(positions)),
    )


def positions_between(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """The cached positions from `first` to `last`, both included, ascending."""
    return tuple(sorted(pos for pos in cache_of(state, name).entries if first <= pos <= last))
