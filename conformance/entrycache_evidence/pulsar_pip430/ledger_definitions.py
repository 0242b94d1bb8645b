"""The definitions of level `ledger`: what each operation leaves of the ledgers and cursors behind a managed cache.

`expected_ledger` computes the managed ledger after an operation from the sorted list of all its entries, and
`expected_members` the cursors that its container then tracks. `is_defined_ledger` compares both with a step, and the
rows and payloads of the step with its parts. What leaves the cache is left to the laws and to the definitions of parts.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, Replay
from entrycache_reference.pulsar_pip430.laws import cursor_reads, law, ledgers
from entrycache_reference.pulsar_pip430.state import ManagedCursor, ManagedLedger, Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Position


def next_append(managed: ManagedLedger) -> Position:
    """Return the position of the next append, also if the current ledger is empty."""
    ledger, sizes = max(managed.sizes.items())
    return Position(ledger, len(sizes))


def entry_above(managed: ManagedLedger, pos: Position) -> Position:
    """Return the first entry above a position, or the next append."""
    return next((there for there in law.entries_there(managed) if there > pos), next_append(managed))


def entry_below(managed: ManagedLedger, pos: Position) -> Position:
    """Return the last entry below a position, or entry -1 of its ledger."""
    return max((there for there in law.entries_there(managed) if there < pos), default=Position(pos.ledger, -1))


def with_cursor(managed: ManagedLedger, name: Any, cursor: ManagedCursor) -> ManagedLedger:
    """Return the managed ledger with one cursor changed."""
    return managed._replace(cursors={**managed.cursors, name: cursor})


def acknowledged(managed: ManagedLedger, cursor: ManagedCursor, target: Position) -> ManagedCursor:
    """Return the cursor after everything up to the target is acknowledged."""
    end = ledgers.acked_up_to(managed, cursor, target)
    read = cursor.read if cursor.read > end else entry_above(managed, end)
    return cursor._replace(read=read, mark_delete=end, acks=frozenset(pos for pos in cursor.acks if pos > end))


# What each operation does.


def do_append(pre: State, event: ops.Append, step: Step) -> ManagedLedger:
    """Add the entry, in a new ledger if there is none of that id; that one moves cursors that have read all before."""
    ledger = event.pos.ledger
    managed = pre.managed.get(event.cache, ManagedLedger({}, frozenset()))
    rolls_over = bool(managed.sizes) and ledger not in managed.sizes
    sizes = {**managed.sizes, ledger: managed.sizes.get(ledger, ())}
    managed = managed._replace(sizes=sizes, ids=managed.ids | {ledger})
    ends = {Position(other, len(held) - 1) for other, held in sizes.items() if held} if rolls_over else set()
    for name, cursor in managed.cursors.items():
        if cursor.mark_delete in ends:
            later = min(other for other in managed.sizes if other > cursor.mark_delete.ledger)
            managed = with_cursor(managed, name, acknowledged(managed, cursor, Position(later, -1)))
    return managed._replace(sizes={**managed.sizes, ledger: (*managed.sizes[ledger], event.size)})


def do_open(pre: State, event: ops.CursorOpen, step: Step) -> ManagedLedger:
    """Open a cursor that has read up to its position; a durable one has acknowledged nothing."""
    managed = pre.managed[event.cache]
    before = Position(min(managed.sizes), -1) if event.durable else entry_below(managed, event.pos)
    return with_cursor(managed, event.cursor, ManagedCursor(event.durable, event.pos, before))


def do_seek(pre: State, event: ops.CursorSeek, step: Step) -> ManagedLedger:
    """Set the read position, above what is acknowledged."""
    managed = pre.managed[event.cache]
    cursor = managed.cursors[event.cursor]
    read = event.pos if event.pos > cursor.mark_delete else entry_above(managed, cursor.mark_delete)
    return with_cursor(managed, event.cursor, cursor._replace(read=read))


def do_reset(pre: State, event: ops.CursorReset, step: Step) -> ManagedLedger:
    """Set both positions, and forget the acknowledgements."""
    managed = pre.managed[event.cache]
    cursor = managed.cursors[event.cursor]
    before = entry_below(managed, event.pos)
    return with_cursor(managed, event.cursor, cursor._replace(read=event.pos, mark_delete=before, acks=frozenset()))


def do_acknowledge(pre: State, event: ops.MarkDelete | ops.Ack, step: Step) -> ManagedLedger:
    """Acknowledge one entry or all up to it."""
    managed = pre.managed[event.cache]
    cursor = managed.cursors[event.cursor]
    if type(event) is ops.Ack and not cursor_reads.is_done(cursor, event.pos):
        cursor = cursor._replace(acks=cursor.acks | {event.pos})
    target = ledgers.target_of(pre, event)
    return with_cursor(managed, event.cursor, cursor if target is None else acknowledged(managed, cursor, target))


def do_close(pre: State, event: ops.CursorClose, step: Step) -> ManagedLedger:
    """Remove the cursor."""
    managed = pre.managed[event.cache]
    return managed._replace(cursors={name: one for name, one in managed.cursors.items() if name != event.cursor})


def do_read(pre: State, event: ops.CursorRead, step: Step) -> ManagedLedger:
    """Move the read position behind what is delivered, or behind everything if that is less than was asked for."""
    managed = pre.managed[event.cache]
    cursor = managed.cursors[event.cursor]
    wanted = cursor_reads.unread(managed, cursor)[: event.max_entries]
    is_full = len(wanted) == event.max_entries
    read = Position(wanted[-1].ledger, wanted[-1].entry + 1) if is_full else next_append(managed)
    return with_cursor(managed, event.cursor, cursor._replace(read=read))


def do_replay(pre: State, event: ops.ReplayRead, step: Step) -> ManagedLedger:
    """Move the read position over the replayed positions that begin there."""
    managed = pre.managed[event.cache]
    cursor = managed.cursors[event.cursor]
    read = cursor.read
    while read in event.positions and not cursor_reads.is_done(cursor, read):
        read = Position(read.ledger, read.entry + 1)
    return with_cursor(managed, event.cursor, cursor._replace(read=read))


def do_delete(pre: State, event: ops.DeleteLedger, step: Step) -> ManagedLedger:
    """Remove the ledger; its id stays taken."""
    managed = pre.managed[event.cache]
    return managed._replace(sizes={ledger: sizes for ledger, sizes in managed.sizes.items() if ledger != event.ledger})


def do_check(pre: State, event: ops.CheckBacklogs, step: Step) -> ManagedLedger:
    """Change nothing but flags, which R-LEDGER-12 is about."""
    managed, after = pre.managed[event.cache], step.state.managed[event.cache].cursors
    flags = {name: cursor._replace(is_flagged=after[name].is_flagged) for name, cursor in managed.cursors.items()}
    return managed._replace(cursors=flags)


DOES: Final[dict[type[ops.Op], Callable[[State, Any, Step], ManagedLedger]]] = {
    ops.Append: do_append,
    ops.CursorOpen: do_open,
    ops.CursorSeek: do_seek,
    ops.CursorReset: do_reset,
    ops.MarkDelete: do_acknowledge,
    ops.Ack: do_acknowledge,
    ops.CursorClose: do_close,
    ops.CursorRead: do_read,
    ops.ReplayRead: do_replay,
    ops.DeleteLedger: do_delete,
    ops.CheckBacklogs: do_check,
}
"""The definition of each operation; the others change neither ledgers nor cursors."""

JOINING: Final = (ops.CursorOpen, ops.Activate)
LEAVING: Final = (ops.CursorClose, ops.Deactivate)


def expected_ledger(pre: State, event: Any, step: Step) -> ManagedLedger:
    """Return the managed ledger that an operation leaves."""
    does = DOES.get(type(event))
    return pre.managed[event.cache] if does is None else does(pre, event, step)


def expected_members(config: Config, pre: State, event: Any, managed: ManagedLedger) -> dict[Any, Position]:
    """Return the active cursors with the positions that the container tracks."""
    cache = pre.caches.get(event.cache)
    names = set() if cache is None else set(cache.members)
    names |= {event.cursor} if isinstance(event, JOINING) else set()
    names -= {event.cursor} if isinstance(event, LEAVING) else set()
    return {
        name: cursor.mark_delete if config.evict_by_mark_deleted else cursor.read
        for name, cursor in managed.cursors.items()
        if name in names
    }


# Rows and payloads.

LOOKUP_OPS: Final = frozenset({"HIT", "MISS"})
FILL_OPS: Final = frozenset({"INSERT", "REJECT", "SKIP"})


def own_row(pre: State, event: Any, row: Row, bytes_now: int) -> Row:
    """Return a row of a position that no part is about: storage gives it, and the cache may not want it."""
    pos = Position(row.ledger_id or 0, row.entry_id or 0)
    labels: tuple[Rule, str, int | None] = (Rule.READ_8, "READ", None)
    if row.op == "SKIP":
        is_replay = type(event) is ops.ReplayRead and row.rule is Rule.LEDGER_8
        size = pre.managed[event.cache].sizes[pos.ledger][pos.entry]
        labels = (Rule.LEDGER_8 if is_replay else Rule.READ_9, "NOT_WANTED", size)
    rule, cause, size_bytes = labels
    place = {"cache": event.cache, "ledger_id": pos.ledger, "entry_id": pos.entry, "size_bytes": size_bytes}
    return Row(rule, row.op, cause, pre.now_nanos, bytes_now, manager_bytes=bytes_now, **place)


def are_rows_of_ledger(pre: State, event: Any, step: Step, rows_of_parts: Sequence[Row]) -> bool:
    """Check that the rows of a step are those of its parts, in order, and between them those of no part."""
    expected, bytes_now = list(rows_of_parts), pre.size_bytes
    for row in step.rows:
        is_own = row.op == "MISS" or row.cause == "NOT_WANTED"
        if not is_own and not expected:
            return False
        if row != (own_row(pre, event, row, bytes_now) if is_own else expected.pop(0)):
            return False
        bytes_now = row.bytes_after
    return not expected


def chunks_of(pre: State, event: Any, step: Step) -> list[list[Position]]:
    """Return the positions that a read looks up together; a replay reads them one by one."""
    delivered = cursor_reads.delivered(step)
    if type(event) is not ops.CursorRead:
        return [[pos] for pos in delivered]
    cursor = pre.managed[event.cache].cursors[event.cursor]
    return cursor_reads.chunks_read(cursor, delivered, event.max_entries)


def reads_follow(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check that a read carries each payload, and takes chunk after chunk: it looks one up, then fills it."""
    served = step.outcome
    if not isinstance(served, outcomes.Served):
        return True
    if served.tokens != tuple(pos.entry for pos in (*served.hits, *served.fills)):
        return False
    if type(event) is ops.ReplayRead and config.variants.replay is Replay.GROUPED:
        return True
    rows = [row for row in step.rows if row.op in LOOKUP_OPS | FILL_OPS]
    wanted = [
        (kind, pos)
        for chunk in chunks_of(pre, event, step)
        for kind, places in ((True, chunk), (False, [pos for pos in chunk if pos in served.fills]))
        for pos in places
    ]
    return [(row.op in LOOKUP_OPS, (row.ledger_id, row.entry_id)) for row in rows] == wanted


def is_defined_ledger(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a step of level `ledger` leaves the defined ledgers, cursors and members, and reads in order."""
    if law.refusable(config, pre, event):
        return step == Step(pre, law.REFUSED, ())
    if type(event) is ops.ReplayAdd:
        return step.state.managed == pre.managed
    managed = expected_ledger(pre, event, step)
    return (
        step.state.managed[event.cache] == managed
        and step.state.caches[event.cache].members == expected_members(config, pre, event, managed)
        and reads_follow(config, pre, event, step)
    )


__all__ = ["DOES", "are_rows_of_ledger", "expected_ledger", "expected_members", "is_defined_ledger"]
