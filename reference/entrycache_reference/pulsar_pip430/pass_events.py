"""What a pass did, slot by slot, and the rows of a trace that are made of it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

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
    return _of_pass(done, rule, "PASS_BEGIN", done.bound, done.state.size_bytes)


def _end_row(done: Pass) -> Row:
    """The end: at a head that may stay, whose stamp it shows, or because no slot was left."""
    last = done.events[-1] if done.events else None
    freed_bytes = 0 if last is None else last.freed_bytes
    if last is not None and last.halted:
        rule = Rule.EVICT_2
    else:
        rule = Rule.EXPIRE_2 if done.kind is PassKind.TIME else Rule.EVICT_4
    row = _of_pass(done, rule, "PASS_END", done.bound_left, done.state.size_bytes - freed_bytes)
    head = last.entry if last is not None and last.halted else None
    return row._replace(stamp_ns=None if head is None else head.stamp_nanos)


def _of_pass(done: Pass, rule: Rule, op: str, bound: int, size_bytes: int) -> Row:
    """A row about the pass as a whole; a size pass shows its thresholds."""
    row = _plain(done, rule, op, done.kind.value, bound, size_bytes)._replace(origin=done.origin.value)
    if done.kind is PassKind.TIME:
        return row
    return row._replace(trigger_bytes=trigger_bytes(done.state), target_bytes=target_bytes(done.state))


def _taken_row(done: Pass, event: Decided) -> Row:
    """A row about one slot; an entry is shown as it was before the event, but for what a requeue gave it."""
    size_bytes = done.state.size_bytes - event.freed_bytes
    slot, entry, after = event.slot, event.entry, event.requeued
    if slot is None or entry is None:
        return _plain(done, event.line.rule, "TOMBSTONE", done.kind.value, event.bound, size_bytes)
    cause = done.kind.value if after is None else _CAUSES[event.line.action is Action.REQUEUE_ACCESSED]
    op = "EVICT" if after is None else "REQUEUE"
    return _plain(done, event.line.rule, op, cause, event.bound, size_bytes)._replace(
        cache=slot.cache,
        ledger_id=slot.pos.ledger,
        entry_id=slot.pos.entry,
        size_bytes=entry.size_bytes,
        expected_reads=entry.expected_reads,
        requeues=entry.requeues if after is None else after.requeues,
        accessed=entry.accessed,
        stamp_ns=entry.stamp_nanos,
        new_stamp_ns=None if after is None else after.stamp_nanos,
    )


_CAUSES = {True: "ACCESSED", False: "EXPECTED_READS"}


def _plain(done: Pass, rule: Rule, op: str, cause: str, bound: int, size_bytes: int) -> Row:
    settings = done.state.settings
    return Row(
        rule,
        op,
        cause,
        done.state.now_nanos,
        size_bytes,
        bound=bound,
        max_requeues=settings.max_requeues,
        extend_accessed=settings.extend_recently_accessed,
        manager_bytes=size_bytes,
    )
