"""One entry enters a cache, or does not; what that triggers is a matter of `trigger`.

Beside: RangeEntryCacheImpl.insert, RangeCache.put, EntryReadCountHandlerImpl.maybeCreate (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.change import add_entry, entry_at, with_entry, without_claims
from entrycache_reference.pulsar_pip430.config import Config, DuplicateCount, ZeroReads
from entrycache_reference.pulsar_pip430.ops import Insert
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Inserted, Refused
from entrycache_reference.pulsar_pip430.rows import absent_row, entry_row
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, Absent, Reads


@rule(Rule.INSERT_4, Rule.INSERT_6, Rule.INSERT_7)
def initial_count(expected_reads: Reads | Absent | None, config: Config) -> int | None:
    """The count that a new entry carries: a positive number, else none for ever.

    With variant `zero_reads` "counted", 0 is a count too.
    """
    if expected_reads is ABSENT or expected_reads is None or expected_reads < 0:
        return None
    if expected_reads == 0 and config.variants.zero_reads is ZeroReads.UNCOUNTED:
        return None
    return expected_reads


@rule(Rule.INSERT_1)
def new_entry(state: State, event: Insert, config: Config) -> Entry:
    """A new entry: stamped with the present, never requeued, not accessed."""
    token = None if event.token is ABSENT else event.token
    return Entry(event.size, state.now_nanos, 0, False, initial_count(event.expected_reads, config), token)


@rule(Rule.INSERT_2, Rule.INSERT_8)
def kept(state: State, event: Insert, cached: Entry, config: Config) -> State:
    """The state after a duplicate was offered: as it was.

    With variant `duplicate_count` "replaced", the cached entry carries the count of the duplicate from now on;
    what is held still releases into the former one, which nobody sees.
    """
    if config.variants.duplicate_count is DuplicateCount.KEPT:
        return state
    counted = cached._replace(expected_reads=initial_count(event.expected_reads, config))
    after = with_entry(state, event.cache, event.pos, counted)
    return after._replace(holds=without_claims(state.holds, frozenset({Slot(event.cache, event.pos)})))


@rule(Rule.INSERT_1, Rule.INSERT_2, Rule.INSERT_3, Rule.INSERT_5)
def insert(state: State, event: Insert, config: Config, cause: str) -> Step:
    """Offer one entry to a cache; `cause` is that of its row."""
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
        return Step(kept(state, event, cached, config), Inserted(False), (row,))

    # EFFECT: the entry stands in its cache, at the tail of the queue, and in both sums.
    entry = new_entry(state, event, config)
    after = add_entry(state, event.cache, event.pos, entry)

    # OUTCOME
    row = entry_row(Rule.INSERT_1, "INSERT", cause, after, event.cache, event.pos, entry, entry.expected_reads)
    return Step(after, Inserted(True), (row._replace(stamp_ns=None, new_stamp_ns=entry.stamp_nanos),))
