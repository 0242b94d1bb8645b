"""The smallest changes of a state, and the trace rows about them; every operation is made of these.

The first half reads and replaces entries, caches and slots, and keeps the sums of bytes, the queue, the holds and the
counters consistent. The second half builds one `Row` for each kind of event. No function here decides anything.

Beside: RangeEntryCacheManagerImpl.entryAdded, .entriesRemoved (managed-ledger 4.2.4)
"""

from collections.abc import Mapping

from entrycache_reference.pulsar_pip430.state import DEAD, Cache, Entry, HeldPosition, Row, Slot, State
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position

EMPTY_CACHE = Cache({}, 0)


def cache_of(state: State, name: CacheName) -> Cache:
    """Return the cache of that name, or an empty one if the name is unknown."""
    return state.caches.get(name, EMPTY_CACHE)


def entry_at(state: State, name: CacheName, pos: Position) -> Entry | None:
    """Return the cached entry at a position, or None."""
    return cache_of(state, name).entries.get(pos)


def with_cache(state: State, name: CacheName, entries: Mapping[Position, Entry], size_bytes: int) -> State:
    """Return the state with this content of one cache."""
    cache = cache_of(state, name)._replace(entries=entries, size_bytes=size_bytes)
    return state._replace(caches={**state.caches, name: cache})


def with_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """Return the state with one entry replaced by another of the same size."""
    cache = cache_of(state, name)
    return with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes)


@rule(Rule.STATE_1, Rule.STATE_2, Rule.STATE_3, Rule.METRICS_3)
def add_entry(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """Return the state with a new entry in its cache, at the tail of the queue, and in both sums of bytes."""
    cache = cache_of(state, name)
    added = with_cache(state, name, {**cache.entries, pos: entry}, cache.size_bytes + entry.size_bytes)
    return added._replace(
        queue=(*state.queue, Slot(name, pos)),
        size_bytes=state.size_bytes + entry.size_bytes,
        counts=state.counts._replace(inserted_entries=state.counts.inserted_entries + 1),
    )


@rule(Rule.COUNT_6)
def drop_claims(
    holds: Mapping[HoldName, tuple[HeldPosition, ...]], gone: frozenset[Slot]
) -> Mapping[HoldName, tuple[HeldPosition, ...]]:
    """Return the holds after these entries have left: each held position stays, but is cached no more."""
    if not gone or not any(held.is_cached and held.slot in gone for remaining in holds.values() for held in remaining):
        return holds
    return {
        name: tuple(held._replace(is_cached=held.is_cached and held.slot not in gone) for held in remaining)
        for name, remaining in holds.items()
    }


@rule(Rule.STATE_1, Rule.STATE_2, Rule.METRICS_4)
def drop_entries(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """Return the state without these entries of one cache; their slots in the queue are dead (R-INVALIDATE-6)."""
    cache = cache_of(state, name)
    gone = frozenset(Slot(name, pos) for pos in positions)
    freed = sum(cache.entries[pos].size_bytes for pos in positions)
    remaining = {pos: entry for pos, entry in cache.entries.items() if Slot(name, pos) not in gone}
    queue = tuple(DEAD if slot in gone else slot for slot in state.queue)
    left = with_cache(state, name, remaining, cache.size_bytes - freed)
    return left._replace(
        queue=queue,
        size_bytes=state.size_bytes - freed,
        holds=drop_claims(state.holds, gone),
        counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + len(positions)),
    )


def positions_between(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """Return the cached positions from `first` to `last`, both included, in ascending order."""
    return tuple(sorted(pos for pos in cache_of(state, name).entries if first <= pos <= last))


# The rows of a trace: one function for each kind.


def entry_row(
    rule: Rule,
    op: str,
    cause: str | None,
    after: State,
    cache: CacheName,
    pos: Position,
    before: Entry,
    expected_reads: int | None,
) -> Row:
    """Build a row about a cached entry: its flags and stamp before the event, `expected_reads` after it."""
    return Row(
        rule,
        op,
        cause,
        after.now_nanos,
        after.size_bytes,
        cache=cache,
        ledger_id=pos.ledger,
        entry_id=pos.entry,
        size_bytes=before.size_bytes,
        expected_reads=expected_reads,
        requeues=before.requeues,
        accessed=before.accessed,
        stamp_ns=before.stamp_nanos,
        manager_bytes=after.size_bytes,
    )


def absent_row(
    rule: Rule,
    op: str,
    cause: str,
    state: State,
    cache: CacheName,
    pos: Position,
    size_bytes: int | None = None,
) -> Row:
    """Build a row about a position that stays uncached, or about an offer that was not taken."""
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


def removed_rows(
    rule: Rule, cause: str, before: State, cache: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """Build the rows of entries that a call removes, in order; each shows the bytes that are left after it."""
    rows: list[Row] = []
    bytes_left = before.size_bytes
    for pos in positions:
        entry = before.caches[cache].entries[pos]
        bytes_left -= entry.size_bytes
        row = entry_row(rule, "REMOVE", cause, before, cache, pos, entry, entry.expected_reads)
        rows.append(row._replace(bytes_after=bytes_left, manager_bytes=bytes_left))
    return tuple(rows)


def open_row(state: State, cache: CacheName) -> Row:
    """Build the row of the first step that names a cache (R-STATE-9)."""
    return Row(
        Rule.STATE_9,
        "CACHE_OPEN",
        None,
        state.now_nanos,
        state.size_bytes,
        cache=cache,
        manager_bytes=state.size_bytes,
    )


def close_row(state: State, cache: CacheName) -> Row:
    """Build the row of a cache that was removed from the manager (R-INVALIDATE-9)."""
    return open_row(state, cache)._replace(rule=Rule.INVALIDATE_9, op="CACHE_CLOSE")


def value_row(rule: Rule, op: str, state: State, value: str) -> Row:
    """Build a row whose content stands in the column `value`."""
    return Row(rule, op, None, state.now_nanos, state.size_bytes, manager_bytes=state.size_bytes, value=value)


def cursor_row(rule: Rule, op: str, state: State, cache: CacheName, cursor: CursorName, pos: Position | None) -> Row:
    """Build a row about a cursor; the position columns hold its new position."""
    return Row(
        rule,
        op,
        None,
        state.now_nanos,
        state.size_bytes,
        cache=cache,
        ledger_id=None if pos is None else pos.ledger,
        entry_id=None if pos is None else pos.entry,
        manager_bytes=state.size_bytes,
        cursor=cursor,
    )
