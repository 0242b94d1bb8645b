"""Operations on single entries: insert, lookups, and the count of expected reads.

`insert` offers one entry to a cache; whatever the insert triggers is decided in `manager`. `get`, `get_range` and
`exists` look entries up; a lookup marks what it finds, `exists` marks nothing. `mark_read` and `expect_read` change the
count of an entry that carries one. Each function returns a `Step` whose rows say what happened.

Beside: RangeEntryCacheImpl.insert, RangeCache.put, EntryReadCountHandlerImpl.maybeCreate (managed-ledger 4.2.4)
Beside: RangeCache.get, .getRange, .exists, RangeCacheEntryWrapper.getValue (managed-ledger 4.2.4)
Beside: EntryReadCountHandlerImpl.markRead, .incrementExpectedReadCount (managed-ledger 4.2.4)
"""

from entrycache_reference.pulsar_pip430.change import (
    absent_row,
    add_entry,
    drop_claims,
    entry_at,
    entry_row,
    positions_between,
    with_entry,
)
from entrycache_reference.pulsar_pip430.config import Config, CountFloor, DuplicateCount, ZeroReads
from entrycache_reference.pulsar_pip430.ops import Exists, ExpectRead, Get, GetRange, Insert, MarkRead
from entrycache_reference.pulsar_pip430.outcomes import Counted, ErrorKind, Existing, Hit, Hits, Inserted, Refused
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, Absent, Reads


@rule(Rule.INSERT_4, Rule.INSERT_6, Rule.INSERT_7)
def initial_count(expected_reads: Reads | Absent | None, config: Config) -> int | None:
    """Return the count that a new entry carries: a positive number, or None for ever.

    With variant `zero_reads` "counted", 0 is a count too.
    """
    if expected_reads is ABSENT or expected_reads is None or expected_reads < 0:
        return None
    if expected_reads == 0 and config.variants.zero_reads is ZeroReads.UNCOUNTED:
        return None
    return expected_reads


@rule(Rule.INSERT_1)
def new_entry(state: State, event: Insert, config: Config) -> Entry:
    """Build a new entry: stamped with the present, never requeued, not accessed."""
    token = None if event.token is ABSENT else event.token
    return Entry(event.size, state.now_nanos, 0, False, initial_count(event.expected_reads, config), token)


@rule(Rule.INSERT_2, Rule.INSERT_8)
def keep_cached_entry(state: State, event: Insert, cached: Entry, config: Config) -> State:
    """Return the state after a duplicate was offered: unchanged by default.

    With variant `duplicate_count` "replaced", the cached entry takes the count of the duplicate. What is still held
    releases into the former count, which nobody sees.
    """
    if config.variants.duplicate_count is DuplicateCount.KEPT:
        return state
    counted = cached._replace(expected_reads=initial_count(event.expected_reads, config))
    after = with_entry(state, event.cache, event.pos, counted)
    return after._replace(holds=drop_claims(state.holds, frozenset({Slot(event.cache, event.pos)})))


@rule(Rule.INSERT_1, Rule.INSERT_2, Rule.INSERT_3, Rule.INSERT_5)
def insert(state: State, event: Insert, config: Config, cause: str) -> Step:
    """Offer one entry to a cache; `cause` is the cause in its row."""
    # GUARD: a size below 0 is refused.
    if event.size < 0:
        return Step(state, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: a limit of 0 disables caching; a cached position keeps its first entry.
    if config.max_size_bytes == 0:
        row = absent_row(Rule.INSERT_3, "SKIP", "DISABLED", state, event.cache, event.pos, event.size)
        return Step(state, Inserted(False), (row,))
    cached = entry_at(state, event.cache, event.pos)
    if cached is not None:
        row = absent_row(Rule.INSERT_2, "REJECT", "DUPLICATE", state, event.cache, event.pos, event.size)
        return Step(keep_cached_entry(state, event, cached, config), Inserted(False), (row,))

    # EFFECT: the entry stands in its cache, at the tail of the queue, and in both sums.
    entry = new_entry(state, event, config)
    after = add_entry(state, event.cache, event.pos, entry)

    # OUTCOME
    row = entry_row(Rule.INSERT_1, "INSERT", cause, after, event.cache, event.pos, entry, entry.expected_reads)
    return Step(after, Inserted(True), (row._replace(stamp_ns=None, new_stamp_ns=entry.stamp_nanos),))


# Lookups.


@rule(Rule.READ_2, Rule.READ_4)
def mark_accessed(entry: Entry) -> Entry:
    """Return the entry with its mark set."""
    return entry._replace(accessed=True)


@rule(Rule.READ_1, Rule.READ_2)
def get(state: State, event: Get, config: Config) -> Step:
    """Look up one entry."""
    # GUARD: none.
    # DECISION: a hit exactly when the position is cached.
    entry = entry_at(state, event.cache, event.pos)
    if entry is None:
        row = absent_row(Rule.READ_1, "MISS", "GET", state, event.cache, event.pos)
        return Step(state, Hit(False), (row,))

    # EFFECT: the entry is marked accessed; its stamp and place stay.
    after = with_entry(state, event.cache, event.pos, mark_accessed(entry))

    # OUTCOME
    row = entry_row(Rule.READ_2, "HIT", "GET", after, event.cache, event.pos, entry, entry.expected_reads)
    return Step(after, Hit(True, None if entry.token is None else (entry.token,)), (row,))


@rule(Rule.READ_3, Rule.READ_4, Rule.READ_5)
def get_range(state: State, event: GetRange, config: Config) -> Step:
    """Look up a range of positions, both ends included."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range, ascending.
    positions = positions_between(state, event.cache, event.first, event.last)
    entries = {pos: state.caches[event.cache].entries[pos] for pos in positions}

    # EFFECT: each of them is marked accessed.
    after = state
    for pos in positions:
        after = with_entry(after, event.cache, pos, mark_accessed(entries[pos]))

    # OUTCOME
    rows = tuple(
        entry_row(Rule.READ_4, "HIT", "GET", after, event.cache, pos, entry, entry.expected_reads)
        for pos, entry in entries.items()
    )
    carried = tuple(entry.token for entry in entries.values() if entry.token is not None)
    return Step(after, Hits(positions, carried if carried and len(carried) == len(positions) else None), rows)


@rule(Rule.READ_6, Rule.STATE_7)
def exists(state: State, event: Exists, config: Config) -> Step:
    """Ask whether a position is cached; nothing is marked."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, Existing(entry_at(state, event.cache, event.pos) is not None), ())


# The count of expected reads.


@rule(Rule.COUNT_1, Rule.COUNT_8)
def lower_count(count: int, config: Config) -> int:
    """Return one less, below 0 too; with variant `count_floor` "zero", never fall below 0."""
    if config.variants.count_floor is CountFloor.ZERO:
        return count - 1 if count > 0 else count
    return count - 1


@rule(Rule.COUNT_1, Rule.COUNT_3, Rule.COUNT_4)
def mark_read(state: State, event: MarkRead, config: Config) -> Step:
    """Record that one delivery of the entry is done."""
    # GUARD: an absent or countless entry has no count to change.
    entry = entry_at(state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return Step(state, Counted(None), ())

    # DECISION: one fewer.
    count = lower_count(entry.expected_reads, config)

    # EFFECT: only the count changes.
    after = with_entry(state, event.cache, event.pos, entry._replace(expected_reads=count))

    # OUTCOME
    row = entry_row(Rule.COUNT_1, "READ_DONE", "DELIVERED", after, event.cache, event.pos, entry, count)
    return Step(after, Counted(count), (row,))


@rule(Rule.COUNT_2, Rule.COUNT_3, Rule.COUNT_4)
def expect_read(state: State, event: ExpectRead, config: Config) -> Step:
    """Record that the entry will be delivered once more."""
    # GUARD: an absent or countless entry has no count to change.
    entry = entry_at(state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return Step(state, Counted(None), ())

    # DECISION: one more.
    count = entry.expected_reads + 1

    # EFFECT: only the count changes.
    after = with_entry(state, event.cache, event.pos, entry._replace(expected_reads=count))

    # OUTCOME
    row = entry_row(Rule.COUNT_2, "EXPECT", None, after, event.cache, event.pos, entry, count)
    return Step(after, Counted(count), (row,))
