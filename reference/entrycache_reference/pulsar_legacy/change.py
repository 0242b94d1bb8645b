"""The smallest changes of a state, and the rows of a trace.

Every rule function is made of these. `add_entry` and `drop_entries` keep both sums of bytes. The row functions build
one kind of row each: for an entry, for an absent position, for removed entries, and for the bounds of a pass.

Beside: RangeCache.put, RangeEntryCacheManagerImpl.entryAdded, .entriesRemoved (managed-ledger 4.0.8)
"""

from collections.abc import Mapping
from typing import Final

from entrycache_reference.pulsar_legacy.state import Cache, Entry, Row, State
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position

EMPTY: Final = Cache({}, 0)


def cache_of(state: State, name: CacheName) -> Cache:
    """Return the cache of that name; an empty one if it holds no entry."""
    return state.caches.get(name, EMPTY)


def entry_at(state: State, name: CacheName, pos: Position) -> Entry | None:
    """Return the cached entry at a position, or None."""
    return cache_of(state, name).entries.get(pos)


def with_cache(state: State, name: CacheName, entries: Mapping[Position, Entry], size_bytes: int) -> State:
    """Return the state with this content of one cache; a cache without entries is not kept."""
    caches = {**state.caches, name: Cache(entries, size_bytes)}
    return state._replace(caches={name: cache for name, cache in caches.items() if cache.entries})


@rule(Rule.L_STATE_1)
def add_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """Return the state with a new entry in its cache and in both sums of bytes."""
    cache = cache_of(state, name)
    added = with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes + entry.size_bytes)
    return added._replace(size_bytes=state.size_bytes + entry.size_bytes)


@rule(Rule.L_STATE_1)
def drop_entries(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """Return the state without these entries of one cache."""
    cache = cache_of(state, name)
    freed_bytes = sum(cache.entries[pos].size_bytes for pos in positions)
    removed = frozenset(positions)
    remaining = {pos: entry for pos, entry in cache.entries.items() if pos not in removed}
    rest = with_cache(state, name, remaining, cache.size_bytes - freed_bytes)
    return rest._replace(size_bytes=state.size_bytes - freed_bytes)


def positions_of(state: State, name: CacheName) -> tuple[Position, ...]:
    """Return the cached positions, ascending."""
    return tuple(sorted(cache_of(state, name).entries))


# The rows of a trace: one function for each kind.


def entry_row(
    rule: Rule, op: str, cause: str, state: State, cache: CacheName, pos: Position, entry: Entry, bytes_after: int
) -> Row:
    """Return a row about a cached entry."""
    return Row(
        rule,
        op,
        cause,
        state.now_nanos,
        bytes_after,
        cache=cache,
        ledger_id=pos.ledger,
        entry_id=pos.entry,
        size_bytes=entry.size_bytes,
        stamp_ns=entry.stamp_nanos,
        manager_bytes=bytes_after,
    )


def absent_row(
    rule: Rule, op: str, cause: str, state: State, cache: CacheName, pos: Position, size_bytes: int | None = None
) -> Row:
    """Return a row about a position that is not cached, or about an offer that was not accepted."""
    return Row(
        rule,
        op,
        cause,
        state.now_nanos,
        state.size_bytes,
        cache=cache,
        ledger_id=pos.ledger,
        entry_id=pos.entry,
        size_bytes=size_bytes,
        manager_bytes=state.size_bytes,
    )


def removal_rows(
    rule: Rule, op: str, cause: str, before: State, cache: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """Return the rows of entries that leave one after another, each with the bytes left after it."""
    rows: list[Row] = []
    bytes_left = before.size_bytes
    for pos in positions:
        entry = before.caches[cache].entries[pos]
        bytes_left -= entry.size_bytes
        rows.append(entry_row(rule, op, cause, before, cache, pos, entry, bytes_left))
    return tuple(rows)


def pass_row(
    rule: Rule, op: str, cause: str, origin: str, state: State, bound: int, cache: CacheName | None = None
) -> Row:
    """Return the row of the beginning or the end of a pass; `bound` is its cutoff or its amount.

    A pass over one cache names it. At its end it shows the stamp of the lowest position that is left there.
    """
    rest = state.caches[cache].entries if cache is not None and cache in state.caches else {}
    return Row(
        rule,
        op,
        cause,
        state.now_nanos,
        state.size_bytes,
        origin=origin,
        cache=cache,
        bound=bound,
        stamp_ns=rest[min(rest)].stamp_nanos if rest and op == "PASS_END" else None,
        manager_bytes=state.size_bytes,
    )
