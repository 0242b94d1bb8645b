"""What a pass did, slot by slot, and the rows of a trace that are made of it."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from entrycache_reference.pulsar_pip430.decision import Action, Line
from entrycache_reference.pulsar_pip430.limits import target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.state import Entry, Row, Slot, State
from entrycache_reference.rules import Rule


class Origin(Enum):
    """Who asked for a pass: an insert that crossed the trigger, the periodic task, or a call of its own."""

    TRIGGER = "TRIGGER"
    CYCLE = "CYCLE"
    CALL = "CALL"


class PassKind(Enum):
    """Why a pass runs."""

    TIME = "TIME"
    SIZE = "SIZE"


class Decided(NamedTuple):
    """What a pass did with the slot at the head, and the line of the table that said so.

    `slot` and `entry` are what stood there, None: the slot was dead; `requeued` is the entry as it stands at the
    tail again. `bound` was in force when it was decided, `freed_bytes` is what the pass has freed since it began.
    """

    line: Line
    bound: int
    freed_bytes: int
    slot: Slot | None
    entry: Entry | None
    requeued: Entry | None

    @property
    def halted(self) -> bool:
        """The pass ended here."""
        return self.line.action is Action.STOP

    @property
    def removed(self) -> bool:
        """An entry left here."""
        return self.line.action is Action.REMOVE and self.entry is not None


class Pass(NamedTuple):
    """A pass from its beginning, at the bytes and settings of `state`, to its end, where `bound_left` is in force."""

    state: State
    kind: PassKind
    origin: Origin
    bound: int
    bound_left: int
    events: tuple[Decided, ...]


def rows_of(done: Pass) -> tuple[Row, ...]:
    """The rows of a whole pass: its beginning, one for each slot that it took, its end."""
    taken = [_taken_row(done, event) for event in done.events if not event.halted]
    return (_begin_row(done), *taken, _end_row(done))


def _begin_row(done: Pass) -> Row:
    rule = Rule.EXPIRE_1 if done.kind is PassKind.TIME else Rule.EVICT_4
    return _row_of_pass(done, rule, "PASS_BEGIN", done.bound, done.state.size_bytes, None)


def _end_row(done: Pass) -> Row:
    """The end: at a head that may stay, whose stamp it shows, or because no slot was left."""
    last = done.events[-1] if done.events else None
    size_bytes = done.state.size_bytes - (0 if last is None else last.freed_bytes)
    if last is not None and last.halted:
        stamp = None if last.entry is None else last.entry.stamp_nanos
        return _row_of_pass(done, Rule.EVICT_2, "PASS_END", done.bound_left, size_bytes, stamp)
    rule = Rule.EXPIRE_2 if done.kind is PassKind.TIME else Rule.EVICT_4
    return _row_of_pass(done, rule, "PASS_END", done.bound_left, size_bytes, None)


def _row_of_pass(done: Pass, rule: Rule, op: str, bound: int, size_bytes: int, head_stamp: int | None) -> Row:
    """A row about the pass as a whole; a size pass shows its thresholds."""
    is_size_pass = done.kind is PassKind.SIZE
    return Row(
        rule,
        op,
        done.kind.value,
        done.state.now_nanos,
        size_bytes,
        origin=done.origin.value,
        stamp_ns=head_stamp,
        bound=bound,
        max_requeues=done.state.settings.max_requeues,
        extend_accessed=done.state.settings.extend_recently_accessed,
        trigger_bytes=trigger_bytes(done.state) if is_size_pass else None,
        target_bytes=target_bytes(done.state) if is_size_pass else None,
        manager_bytes=size_bytes,
    )


def _taken_row(done: Pass, event: Decided) -> Row:
    """A row about one slot; an entry is shown as it was before the event, but for what a requeue gave it."""
    slot, entry, again = event.slot, event.entry, event.requeued
    if slot is None or entry is None:
        return _row_of_slot(done, event, "TOMBSTONE", done.kind.value)
    of_entry = {
        "cache": slot.cache,
        "ledger_id": slot.pos.ledger,
        "entry_id": slot.pos.entry,
        "size_bytes": entry.size_bytes,
        "expected_reads": entry.expected_reads,
        "accessed": entry.accessed,
        "stamp_ns": entry.stamp_nanos,
    }
    if again is None:
        return _row_of_slot(done, event, "EVICT", done.kind.value, requeues=entry.requeues, **of_entry)
    cause = "ACCESSED" if event.line.action is Action.REQUEUE_ACCESSED else "EXPECTED_READS"
    anew = {"requeues": again.requeues, "new_stamp_ns": again.stamp_nanos}
    return _row_of_slot(done, event, "REQUEUE", cause, **anew, **of_entry)


def _row_of_slot(done: Pass, event: Decided, op: str, cause: str, **columns: Any) -> Row:
    size_bytes = done.state.size_bytes - event.freed_bytes
    return Row(
        event.line.rule,
        op,
        cause,
        done.state.now_nanos,
        size_bytes,
        bound=event.bound,
        max_requeues=done.state.settings.max_requeues,
        extend_accessed=done.state.settings.extend_recently_accessed,
        manager_bytes=size_bytes,
        **columns,
    )
