"""Managed ledgers: questions about them, their smallest changes, and the operations on a ledger as a whole.

A managed ledger has ledgers with entries, and cursors; the last ledger is the current one. A cursor has a read
position, a mark-delete position, and acknowledgements above that. An append may put its entry into the cache, and may
begin a new ledger. A ledger is deleted with its entries in the cache. A check of backlogs flags the cursors whose reads
are to be cached. The operations on one cursor stand in `ledger_cursors`.

The container of level `cursors` holds the active cursors. It tracks the mark-delete position of each with
`evict_by_mark_deleted`, else the read position. Without `evict_by_expected_reads` an invalidation is due when the
slowest tracked position changes or an active cursor leaves. It is a task: what a step queues runs in order before the
step ends. With `invalidation` "manual" it stays due, and may rise, until `run_invalidations` runs it.

Beside: ManagedLedgerImpl.invalidateEntriesUpToSlowestReaderPosition, .updateActiveCursor (managed-ledger 4.2.4)
Beside: ManagedCursorImpl.setAcknowledgedPosition (managed-ledger 4.2.4)
Beside: OpAddEntry.run, ManagedLedgerImpl.maybeUpdateCursorBeforeTrimmingConsumedLedger (managed-ledger 4.2.4)
Beside: ManagedLedgerImpl.doDeleteLedgers, .checkCursorsToCacheEntries (managed-ledger 4.2.4)
"""

from typing import Final

from entrycache_reference.pulsar_pip430 import cursors, entries, manager, ops, storage_reads
from entrycache_reference.pulsar_pip430.change import cache_of
from entrycache_reference.pulsar_pip430.config import Config, DeletedAcks, DueEverything, Invalidation
from entrycache_reference.pulsar_pip430.outcomes import Appended, Done, Outcome, Removed, Wanted
from entrycache_reference.pulsar_pip430.state import ManagedCursor, ManagedLedger, Part, State, Step
from entrycache_reference.pulsar_pip430.storage_reads import REFUSED
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, CacheName, CursorName, Position

DONE: Final = Done()

EVERYTHING: Final = Position(INTEGER_MAX, INTEGER_MAX)
"""The position up to which all of a cache is dropped."""


# Positions.


def current_id(managed: ManagedLedger) -> int:
    """Return the id of the ledger that takes the next entry."""
    return max(managed.sizes)


def next_append(managed: ManagedLedger) -> Position:
    """Return the position after the entry that was appended last."""
    ledger = current_id(managed)
    return Position(ledger, len(managed.sizes[ledger]))


def is_there(managed: ManagedLedger, pos: Position) -> bool:
    """Return whether the position is an entry of a ledger that was not deleted."""
    return 0 <= pos.entry < len(managed.sizes.get(pos.ledger, ()))


def is_valid(managed: ManagedLedger, pos: Position) -> bool:
    """Return whether a cursor may be placed there: an entry, or the place of the next append."""
    return is_there(managed, pos) or pos == next_append(managed)


def start_of_later(managed: ManagedLedger, ledger: int) -> Position:
    """Return entry 0 of the next later ledger, or the next append if there is none."""
    later = [number for number in managed.sizes if number > ledger]
    return Position(min(later), 0) if later else next_append(managed)


def position_after(managed: ManagedLedger, pos: Position) -> Position:
    """Return the next valid position."""
    after = Position(pos.ledger, pos.entry + 1)
    return after if is_valid(managed, after) else start_of_later(managed, pos.ledger)


def position_before(managed: ManagedLedger, pos: Position) -> Position:
    """Return the entry before a position, in its ledger or in an earlier one; entry -1 if there is none."""
    earlier = [number for number in managed.sizes if number < pos.ledger and managed.sizes[number]]
    if pos.entry > 0 or not earlier:
        return Position(pos.ledger, pos.entry - 1)
    return Position(max(earlier), len(managed.sizes[max(earlier)]) - 1)


def positions_of(managed: ManagedLedger, ledger: int) -> tuple[Position, ...]:
    """Return the positions of all entries of a ledger."""
    return tuple(Position(ledger, entry) for entry in range(len(managed.sizes[ledger])))


def is_acked(cursor: ManagedCursor, pos: Position) -> bool:
    """Return whether the cursor has acknowledged the entry."""
    return pos <= cursor.mark_delete or pos in cursor.acks


def end_of_run(cursor: ManagedCursor, pos: Position) -> Position:
    """Return the last position of the run of acknowledged neighbours in one ledger that begins there."""
    while Position(pos.ledger, pos.entry + 1) in cursor.acks:
        pos = Position(pos.ledger, pos.entry + 1)
    return pos


# Changes of a managed ledger, and steps in a row.


def cursor_of(state: State, event: ops.Op) -> ManagedCursor | None:
    """Return the cursor that the event names, or None."""
    return state.managed[getattr(event, "cache")].cursors.get(getattr(event, "cursor"))  # noqa: B009


def has_open_read(state: State, name: CacheName, cursor: CursorName | None = None) -> bool:
    """Return whether a read of a managed ledger has not ended; with a cursor, one by that cursor."""
    opened = state.pending.of_cursors.values()
    return any(read.cache == name and cursor in (None, read.cursor) for read in opened)


def with_managed(state: State, name: CacheName, managed: ManagedLedger) -> State:
    """Return the state with this managed ledger behind the cache."""
    return state._replace(managed={**state.managed, name: managed})


def with_cursor(state: State, name: CacheName, cursor: CursorName, changed: ManagedCursor) -> State:
    """Return the state with one cursor replaced or added."""
    managed = state.managed[name]
    return with_managed(state, name, managed._replace(cursors={**managed.cursors, cursor: changed}))


def then(first: Step, second: Step) -> Step:
    """Return the two steps in a row, with the outcome of the first."""
    return Step(second.state, first.outcome, first.rows + second.rows, first.parts + second.parts)


def as_part(state: State, event: ops.Op, done: Step, outcome: Outcome = DONE) -> Step:
    """Return a step as a part of another one, which answers `outcome`."""
    return Step(done.state, outcome, done.rows, done.parts or (Part(state, event, done),))


def unchanged(state: State) -> Step:
    """Return a step that does nothing."""
    return Step(state, DONE, ())


# What cursors make leave.


def slowest_of(state: State, name: CacheName) -> Position:
    """Return the lowest tracked position; without active cursors the position above all others."""
    tracked = [pos for pos in cache_of(state, name).members.values() if pos is not None]
    return min(tracked, default=EVERYTHING)


@rule(Rule.LEDGER_13, Rule.LEDGER_14, Rule.LEDGER_16)
def make_due(state: State, name: CacheName, config: Config) -> State:
    """Return the state in which an invalidation up to the slowest cursor is due; of two, the higher one.

    With variant `due_everything` "replaced", one that drops everything is the lowest.
    """
    if config.evict_by_expected_reads or cache_of(state, name).size_bytes == 0:
        return state
    managed = state.managed[name]
    bound = slowest_of(state, name)
    is_replaced = managed.due == EVERYTHING and config.variants.due_everything is DueEverything.REPLACED
    due = bound if managed.due is None or is_replaced else max(managed.due, bound)
    return with_managed(state, name, managed._replace(due=due))


@rule(Rule.INFLIGHT_6)
def end_joining(state: State, name: CacheName) -> State:
    """Return the state in which no further read joins an open ask of a cache."""
    asks = state.pending.asks
    if not any(ask.cache == name and ask.is_joinable for ask in asks.values()):
        return state
    left = {number: ask._replace(is_joinable=False) if ask.cache == name else ask for number, ask in asks.items()}
    return state._replace(pending=state.pending._replace(asks=left))


@rule(Rule.LEDGER_14)
def run_due(done: Step, name: CacheName, config: Config) -> Step:
    """Run the invalidation that is due, if one is, as the task that comes after `done`; or leave it to a call."""
    due = done.state.managed[name].due
    if due is None or config.invalidation is Invalidation.MANUAL:
        return done
    return then(done, invalidate(done.state, name, due, config))


@rule(Rule.LEDGER_14)
def invalidate(state: State, name: CacheName, due: Position, config: Config) -> Step:
    """Drop what lies below the position up to which an invalidation is due; then none is due."""
    state = with_managed(state, name, state.managed[name]._replace(due=None))
    state = end_joining(state, name) if due == EVERYTHING else state
    event = ops.InvalidateBefore(name, due)
    done = manager.invalidate_before(state, event, config)
    return as_part(state, event, done, done.outcome)


@rule(Rule.LEDGER_14, Rule.LEDGER_16)
def track(state: State, name: CacheName, cursor: CursorName, config: Config) -> Step:
    """Tell the container where an active cursor is now."""
    if cursor not in cache_of(state, name).members:
        return unchanged(state)
    event = ops.CursorMove(name, cursor, tracked_position(state.managed[name].cursors[cursor], config))
    moved = as_part(state, event, cursors.cursor_move(state, event, config))
    if slowest_of(moved.state, name) == slowest_of(state, name):
        return moved
    return moved._replace(state=make_due(moved.state, name, config))


@rule(Rule.LEDGER_16)
def tracked_position(cursor: ManagedCursor, config: Config) -> Position:
    """Return the position of a cursor that the container tracks."""
    return cursor.mark_delete if config.evict_by_mark_deleted else cursor.read


@rule(Rule.LEDGER_15)
def join(state: State, name: CacheName, cursor: CursorName, config: Config) -> Step:
    """Make a cursor a member of the container; nothing is dropped."""
    event = ops.CursorAdd(name, cursor, tracked_position(state.managed[name].cursors[cursor], config))
    return as_part(state, event, cursors.cursor_add(state, event, config))


@rule(Rule.LEDGER_14)
def leave(state: State, name: CacheName, cursor: CursorName, config: Config) -> Step:
    """Remove a cursor from the container, if it is active."""
    if cursor not in cache_of(state, name).members:
        return unchanged(state)
    event = ops.CursorRemove(name, cursor)
    gone = as_part(state, event, cursors.cursor_remove(state, event, config))
    return run_due(gone._replace(state=make_due(gone.state, name, config)), name, config)


# Acknowledgements.


def move_read(state: State, name: CacheName, cursor: CursorName, pos: Position, config: Config) -> Step:
    """Move the read position; it never falls to the mark-delete position or below."""
    moved = state.managed[name].cursors[cursor]
    if pos <= moved.mark_delete:
        return unchanged(state)
    after = with_cursor(state, name, cursor, moved._replace(read=pos))
    return unchanged(after) if config.evict_by_mark_deleted else track(after, name, cursor, config)


@rule(Rule.LEDGER_10)
def end_of_acks(managed: ManagedLedger, cursor: ManagedCursor, pos: Position) -> Position:
    """Return the position up to which everything is acknowledged once all up to `pos` is."""
    if pos <= cursor.mark_delete:
        return pos
    after = position_after(managed, pos)
    while after < next_append(managed) and after in cursor.acks:
        pos = end_of_run(cursor, after)
        after = position_after(managed, pos)
    return pos


@rule(Rule.LEDGER_10)
def acknowledge(state: State, name: CacheName, cursor: CursorName, pos: Position, config: Config) -> Step:
    """Move the mark-delete position; the read position stays above it."""
    managed = state.managed[name]
    marked = managed.cursors[cursor]
    end = end_of_acks(managed, marked, pos)
    left = frozenset(acked for acked in marked.acks if acked > end)
    done = unchanged(with_cursor(state, name, cursor, marked._replace(mark_delete=end, acks=left)))
    if marked.read <= end:
        done = then(done, move_read(done.state, name, cursor, position_after(managed, end), config))
    if config.evict_by_mark_deleted:
        done = then(done, track(done.state, name, cursor, config))
    return done


@rule(Rule.LEDGER_2)
def is_consumed(managed: ManagedLedger, cursor: ManagedCursor) -> bool:
    """Return whether the mark-delete position is the last entry of a ledger that has a later one."""
    sizes = managed.sizes.get(cursor.mark_delete.ledger)
    is_last = sizes is not None and cursor.mark_delete.entry == len(sizes) - 1 >= 0
    return is_last and cursor.mark_delete.ledger < current_id(managed)


@rule(Rule.LEDGER_2, Rule.LEDGER_17)
def roll_over(state: State, name: CacheName, ledger: int, config: Config) -> Step:
    """Make a new current ledger, and move the cursors that have consumed an older one."""
    managed = state.managed[name]
    managed = managed._replace(sizes={**managed.sizes, ledger: ()}, ids=managed.ids | {ledger})
    done = unchanged(with_managed(state, name, managed))
    for cursor, consumer in managed.cursors.items():
        if is_consumed(managed, consumer):
            start = Position(start_of_later(managed, consumer.mark_delete.ledger).ledger, -1)
            done = then(done, acknowledge(done.state, name, cursor, start, config))
    return run_due(done, name, config)


# The operations on a managed ledger.


def is_append_refused(state: State, event: ops.Append) -> bool:
    """Return whether the append is refused: it is neither the next one nor the first of a new ledger."""
    if event.size < 0:
        return True
    managed = state.managed.get(event.cache)
    if managed is not None and event.pos == next_append(managed):
        return False
    is_taken = any(event.pos.ledger in other.ids for other in state.managed.values())
    is_lower = managed is not None and event.pos.ledger <= current_id(managed)
    return event.pos.entry != 0 or is_taken or is_lower


@rule(Rule.LEDGER_1)
def add_to_cache(state: State, event: ops.Append, config: Config) -> Step:
    """Offer the appended entry to the cache if entries are cached now; answer what the cache then holds."""
    wanted = cursors.should_cache(state, ops.ShouldCache(event.cache), config)
    if wanted.outcome != Wanted(True):
        return Step(state, Appended(False, None), ())
    count = len(cache_of(state, event.cache).members) if config.evict_by_expected_reads else ABSENT
    entry = ops.Insert(event.cache, event.pos, event.size, count, event.pos.entry)
    done = manager.offer(state, entry, config)
    expected_reads = entries.initial_count(count, config)
    is_cached = config.max_size_bytes > 0
    return as_part(state, entry, done, Appended(is_cached, expected_reads if is_cached else None))


@rule(Rule.LEDGER_1, Rule.LEDGER_2, Rule.LEDGER_17)
def append(state: State, event: ops.Append, config: Config) -> Step:
    """Append an entry; open the managed ledger with the first one, and a new ledger where the position says so."""
    # GUARD: the next position, or the first of a new ledger.
    if is_append_refused(state, event):
        return Step(state, REFUSED, ())

    # DECISION: whether the ledger changes.
    ledger = event.pos.ledger
    done = unchanged(state)
    if event.cache not in state.managed:
        done = unchanged(with_managed(state, event.cache, ManagedLedger({ledger: ()}, frozenset({ledger}))))
    elif ledger not in state.managed[event.cache].sizes:
        done = roll_over(state, event.cache, ledger, config)

    # EFFECT: the entry is cached before it is known to be there.
    added = add_to_cache(done.state, event, config)
    managed = added.state.managed[event.cache]
    if added.outcome != Appended(False, None):
        managed = storage_reads.count_taken(managed, (event.size,), config)
    sizes = {**managed.sizes, ledger: (*managed.sizes[ledger], event.size)}
    after = with_managed(added.state, event.cache, managed._replace(sizes=sizes))

    # OUTCOME
    return then(done, added)._replace(state=after, outcome=added.outcome)


@rule(Rule.LEDGER_17)
def delete_ledger(state: State, event: ops.DeleteLedger, config: Config) -> Step:
    """Delete a ledger, and drop its entries from the cache."""
    # GUARD: a ledger that is there and not the current one, and no read that has not ended.
    managed = state.managed[event.cache]
    is_other = event.ledger in managed.sizes and event.ledger != current_id(managed)
    if not is_other or has_open_read(state, event.cache):
        return Step(state, REFUSED, ())

    # DECISION: none.
    # EFFECT: its entries leave the cache; cursors stay where they are.
    sizes = {ledger: held for ledger, held in managed.sizes.items() if ledger != event.ledger}
    after = with_managed(state, event.cache, managed._replace(sizes=sizes))
    dropped = ops.InvalidateLedger(event.cache, event.ledger)
    done = manager.invalidate_ledger(after, dropped, config)

    # OUTCOME
    return as_part(after, dropped, done, done.outcome)


def backlog_of(managed: ManagedLedger, cursor: ManagedCursor, config: Config) -> int:
    """Return the number of entries that the cursor has still to read.

    With variant `deleted_acks` "subtracted", the acknowledged entries of deleted ledgers are taken from it.
    """
    unread = sum(
        1
        for ledger in managed.sizes
        for pos in positions_of(managed, ledger)
        if pos >= cursor.read and not is_acked(cursor, pos)
    )
    if config.variants.deleted_acks is DeletedAcks.FORGOTTEN:
        return unread
    return unread - sum(1 for pos in cursor.acks if pos >= cursor.read and pos.ledger not in managed.sizes)


@rule(Rule.LEDGER_12)
def is_to_flag(backlogs: dict[CursorName, int], cursor: CursorName, config: Config) -> bool:
    """Return whether the backlog of a cursor is long, and enough others have nearly the same."""
    own = backlogs[cursor]
    similar = [
        other for other, size in backlogs.items() if other != cursor and abs(size - own) <= config.max_backlog_between
    ]
    return own >= config.min_backlog_entries and len(similar) >= config.min_backlog_cursors


@rule(Rule.LEDGER_12)
def check_backlogs(state: State, event: ops.CheckBacklogs, config: Config) -> Step:
    """Flag the cursors whose reads are to be cached."""
    # GUARD: none.
    # DECISION: switched off, or counted by expected reads.
    if config.evict_by_expected_reads or config.min_backlog_cursors == 0:
        return unchanged(state)

    # EFFECT: the flags of durable cursors, whether they are active or not.
    managed = state.managed[event.cache]
    durable = {name: cursor for name, cursor in managed.cursors.items() if cursor.is_durable}
    backlogs = {name: backlog_of(managed, cursor, config) for name, cursor in durable.items()}
    flagged = {
        name: cursor._replace(is_flagged=is_to_flag(backlogs, name, config)) if name in backlogs else cursor
        for name, cursor in managed.cursors.items()
    }

    # OUTCOME
    return unchanged(with_managed(state, event.cache, managed._replace(cursors=flagged)))


@rule(Rule.LEDGER_14)
def run_invalidations(state: State, event: ops.RunInvalidations, config: Config) -> Step:
    """Run the invalidation that has waited for this call."""
    # GUARD: none.
    # DECISION: none is due.
    due = state.managed[event.cache].due
    if due is None:
        return Step(state, Removed(0, 0), ())

    # EFFECT and OUTCOME
    return invalidate(state, event.cache, due, config)
