"""The type of a law, and the questions that several laws ask about a state or a step.

A `Law` has a rule, the operations that it is about, a guard and a check: whenever the guard is true, the check has to
be true. `REFUSABLE` states which events the protocol refuses. The functions after it compare the entries of states;
they are written independently of the model.

The second half reads the effects of a step from its rows and parts. `walk` reads the rows of a pass and returns a
`Walk`: each `Take` is one slot that the pass took from the head. `trigger_points` returns the states in which a step
had to compare the bytes with the trigger, with the size passes that followed. Many laws ask for the same step, so both
keep their last result. The thresholds and the comparison of two states stand at the end.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, Storage
from entrycache_reference.pulsar_pip430.ops import Cycle, Evict, Insert, Op, RunScheduled
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Inserted, Refused
from entrycache_reference.pulsar_pip430.state import (
    Cache,
    Entry,
    ManagedCursor,
    ManagedLedger,
    Part,
    RangeRequest,
    ReadInFlight,
    Row,
    Slot,
    State,
    Step,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, Position

Check = Callable[[Config, State, Any, Step], bool]
"""A check of one step: it takes the configuration, the state before it, its event and the step."""

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)
"""The only refusal."""


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` has to be true.

    `on` names the operations that the law is about; empty means all of them. A step that names parts is held to the
    laws of each part. A law with `whole` looks at the step as a whole.
    """

    rule: Rule
    on: tuple[type[ops.Op], ...]
    guard: Check
    holds: Check
    whole: bool = False


def always(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return true: the guard of a law about every step of its operations."""
    return True


def refusable(config: Config, pre: State, event: ops.Op) -> bool:
    """Return whether the protocol refuses this event in this state, if its cache takes such events."""
    is_refused = REFUSABLE.get(type(event))
    if is_refused is not None:
        return is_refused(config, pre, event)
    is_refused_by_ledger = REFUSED_BY_LEDGER.get(type(event))
    return is_refused_by_ledger is not None and is_refused_by_ledger(pre, event)


def _refused_age(config: Config, pre: State, event: ops.Expire) -> bool:
    return event.older_than_nanos is not ABSENT and event.older_than_nanos < 0


def _refused_settings(config: Config, pre: State, event: ops.Configure) -> bool:
    given = {name: getattr(event, name) for name in ops.Configure.__slots__ if getattr(event, name) is not ABSENT}
    if "max_size_bytes" in given and min(config.max_size_bytes, given["max_size_bytes"]) <= 0:
        return True
    if min((given.get("ttl_nanos", 0), given.get("max_requeues", 0))) < 0:
        return True
    return not 0 <= given.get("watermark", 0) <= 1


def names_in_use(pre: State) -> set[str]:
    """Return the names of open holds, and of the reads by cursors that have not ended."""
    return {*pre.holds, *pre.pending.of_cursors}


def _refused_read(config: Config, pre: State, event: ops.Read) -> bool:
    is_range = event.first.ledger == event.last.ledger and event.first.entry <= event.last.entry
    return not is_range or event.hold in names_in_use(pre)


def _refused_request(config: Config, pre: State, event: ops.Acquire) -> bool:
    names = {*pre.limiter.out, *(request.name for request in pre.limiter.waiting)}
    is_off = config.max_reads_in_flight_bytes <= 0 or config.storage is not Storage.AT_ONCE
    return is_off or event.permits <= 0 or event.id in names


def _refused_fetch(config: Config, pre: State, event: ops.Fetch) -> bool:
    is_range = event.first.ledger == event.last.ledger and event.first.entry <= event.last.entry
    return not is_range or event.read in pre.pending.reads or config.storage is not Storage.AT_ONCE


def _refused_answer(config: Config, pre: State, event: ops.StorageAnswer) -> bool:
    ask = pre.pending.asks.get(event.ask)
    if ask is None or isinstance(event.answer, ops.StorageAnswerKind):
        return ask is None
    return event.answer <= 0 or event.answer > ask.last - ask.first


def decides_ranges(pre: State, step: Step) -> bool:
    """Return whether a read by a cursor that waited for permits has got them, or has waited too long."""
    waiting = step.state.limiter.waiting
    return any(isinstance(one.name, RangeRequest) and one not in waiting for one in pre.limiter.waiting)


def reads_of(pre: State, cache: CacheName, cursor: CursorName | None = None) -> list[ReadInFlight]:
    """Return the reads of a managed ledger that have not ended, or those by one cursor."""
    opened = [read for read in pre.pending.of_cursors.values() if read.cache == cache]
    return opened if cursor is None else [read for read in opened if read.cursor == cursor]


def _no_cursor(pre: State, event: Any) -> bool:
    return event.cursor not in pre.managed[event.cache].cursors


def _refused_cursor_read(pre: State, event: ops.CursorRead) -> bool:
    return _no_cursor(pre, event) or event.max_entries <= 0 or event.hold in names_in_use(pre)


def _refused_replay(pre: State, event: ops.ReplayRead) -> bool:
    return _no_cursor(pre, event) or _replays_nothing(pre, event) or event.hold in names_in_use(pre)


def _replays_nothing(pre: State, event: ops.ReplayRead | ops.ReplayBegin) -> bool:
    there = entries_there(pre.managed[event.cache])
    return not event.positions or any(pos not in there for pos in event.positions)


def _refused_begin(config: Config, pre: State, event: ops.ReadBegin | ops.ReplayBegin) -> bool:
    if config.storage is not Storage.HELD or _no_cursor(pre, event) or event.read in names_in_use(pre):
        return True
    is_replay = type(event) is ops.ReplayBegin
    if any((read.most is None) is is_replay for read in reads_of(pre, event.cache, event.cursor)):
        return True
    return _replays_nothing(pre, event) if isinstance(event, ops.ReplayBegin) else event.max_entries <= 0


REFUSABLE: Final[dict[type[ops.Op], Callable[[Config, State, Any], bool]]] = {
    ops.Insert: lambda config, pre, event: event.size < 0,
    ops.Advance: lambda config, pre, event: event.nanos < 0,
    ops.Expire: _refused_age,
    ops.Evict: lambda config, pre, event: event.bytes <= 0,
    ops.Configure: _refused_settings,
    ops.Read: _refused_read,
    ops.ReadOne: lambda config, pre, event: event.hold in names_in_use(pre),
    ops.Release: lambda config, pre, event: event.hold not in pre.holds.keys() - pre.pending.of_cursors,
    ops.CursorRank: lambda config, pre, event: not config.evict_by_expected_reads,
    ops.Acquire: _refused_request,
    ops.GiveBack: lambda config, pre, event: event.id not in pre.limiter.out,
    ops.Fetch: _refused_fetch,
    ops.StorageAnswer: _refused_answer,
    ops.CursorRead: lambda config, pre, event: (
        config.storage is not Storage.AT_ONCE or _refused_cursor_read(pre, event)
    ),
    ops.ReplayRead: lambda config, pre, event: config.storage is not Storage.AT_ONCE or _refused_replay(pre, event),
    ops.ReadBegin: _refused_begin,
    ops.ReplayBegin: _refused_begin,
}
"""The operations that can be refused, and the condition."""


def cached_entry(state: State, name: CacheName, pos: Position) -> Entry | None:
    """Return the entry at a position of a cache, or None."""
    cache = state.caches.get(name)
    return None if cache is None else cache.entries.get(pos)


def entries_of(state: State, name: CacheName) -> dict[Position, Entry]:
    """Return a copy of the entries of a cache; none if the cache is unknown."""
    cache = state.caches.get(name)
    return {} if cache is None else dict(cache.entries)


def others_kept(pre: State, step: Step, name: CacheName) -> bool:
    """Return whether the entries of every cache but this one are unchanged."""
    after = step.state.caches
    if after is pre.caches:
        return True
    return all(
        other == name or after.get(other) is cache or entries_of(step.state, other) == cache.entries
        for other, cache in pre.caches.items()
    )


def nothing_touched(pre: State, step: Step) -> bool:
    """Return whether no entry, slot or sum differs; the step may have opened an empty cache."""
    after = step.state
    if after is pre:
        return True
    if (after.now_nanos, after.queue, after.size_bytes) != (pre.now_nanos, pre.queue, pre.size_bytes):
        return False
    if after.caches is pre.caches:
        return True
    return all(
        is_same_content(pre.caches.get(name, EMPTY_CACHE), after.caches.get(name, EMPTY_CACHE))
        for name in pre.caches.keys() | after.caches.keys()
    )


EMPTY_CACHE: Final = Cache({}, 0)


def is_same_content(before: Cache, after: Cache) -> bool:
    """Return whether two caches hold the same entries and have the same members."""
    return before is after or (before.entries, before.size_bytes, before.members) == (
        after.entries,
        after.size_bytes,
        after.members,
    )


class Take(NamedTuple):
    """One slot that a pass took from the head; `entry` is what stood there, None: the slot was dead.

    `number` counts the takes of the pass from 0. `entry` comes from the state before the step, or from the last requeue
    of this pass. `requeues_after` and `stamp_after` are the values after a requeue.
    """

    number: int
    op: str
    cause: str | None
    slot: Slot | None
    entry: Entry | None
    requeues_after: int
    stamp_after: int
    row: Row


class Walk(NamedTuple):
    """The events of one pass.

    `queue` is the queue after taking these slots in this order; None if a taken slot did not stand at the head. `bound`
    is the bound at the beginning. The takes of entries fall into four kinds. Access extends the stay (`accessed`).
    Otherwise reads are expected, with budget left (`awaited`) or without (`exhausted`), or no reads are expected
    (`unawaited`).
    """

    bound: int | None
    takes: tuple[Take, ...]
    queue: tuple[Slot | None, ...] | None
    requeued: dict[Slot, int]
    accessed: tuple[Take, ...]
    awaited: tuple[Take, ...]
    exhausted: tuple[Take, ...]
    unawaited: tuple[Take, ...]


def slot_of(row: Row) -> Slot | None:
    """Return the entry that a row is about, if any."""
    if row.cache is None or row.ledger_id is None or row.entry_id is None:
        return None
    return Slot(row.cache, Position(row.ledger_id, row.entry_id))


def removed_entries(pre: State, step: Step) -> dict[Slot, int]:
    """Return the entries that were cached before the step and are not after it, with their sizes."""
    if step.state.caches is pre.caches:
        return {}
    gone: dict[Slot, int] = {}
    after = step.state.caches
    for name, cache in pre.caches.items():
        now = after.get(name)
        if now is not cache:
            remaining = {} if now is None else now.entries
            if remaining is cache.entries or cache.entries.keys() <= remaining.keys():
                continue
            gone.update(
                {Slot(name, pos): entry.size_bytes for pos, entry in cache.entries.items() if pos not in remaining}
            )
    return gone


_walk_memo: list[tuple[State, tuple[Row, ...], Walk]] = []


def walk(pre: State, step: Step) -> Walk:
    """Return the events of the pass that this step ran; the last result is kept, because many laws ask for it."""
    if _walk_memo and _walk_memo[0][0] is pre and _walk_memo[0][1] is step.rows:
        return _walk_memo[0][2]
    result = _read_walk(pre, step.rows)
    _walk_memo[:] = [(pre, step.rows, result)]
    return result


TAKING: Final = frozenset({"TOMBSTONE", "EVICT", "REQUEUE"})


def _read_walk(pre: State, rows: tuple[Row, ...]) -> Walk:
    bound = rows[0].bound if rows and rows[0].op == "PASS_BEGIN" else None
    takes: list[Take] = []
    requeued: dict[Slot, int] = {}
    again: dict[Slot, Entry] = {}
    queue = deque(pre.queue)
    in_order = True
    kinds: tuple[list[Take], list[Take], list[Take], list[Take]] = ([], [], [], [])
    for row in rows:
        if row.op not in TAKING:
            continue
        slot = slot_of(row)
        in_order = in_order and bool(queue) and queue.popleft() == slot
        entry = None if slot is None else again.get(slot) or cached_entry(pre, slot.cache, slot.pos)
        requeues_after = row.requeues or 0
        stamp_after = -1 if row.new_stamp_ns is None else row.new_stamp_ns
        take = Take(len(takes), row.op, row.cause, slot, entry, requeues_after, stamp_after, row)
        takes.append(take)
        if slot is None or entry is None:
            continue
        kinds[_kind_of(pre, entry)].append(take)
        if row.op == "REQUEUE":
            requeued[slot] = requeued.get(slot, 0) + 1
            # What the row shows at the next take tells whether the mark was really cleared.
            again[slot] = entry._replace(accessed=False, stamp_nanos=stamp_after, requeues=requeues_after)
            queue.append(slot)
    left_over = tuple(queue) if in_order else None
    accessed, awaited, exhausted, unawaited = map(tuple, kinds)
    return Walk(bound, tuple(takes), left_over, requeued, accessed, awaited, exhausted, unawaited)


def _kind_of(pre: State, entry: Entry) -> int:
    if pre.settings.extend_recently_accessed and entry.accessed:
        return 0
    if not entry.expected_reads or entry.expected_reads < 0:
        return 3
    return 1 if pre.settings.max_requeues - entry.requeues > 0 else 2


# The points at which a size pass may be due.


class TriggerPoint(NamedTuple):
    """A state whose bytes had to be compared with the trigger.

    `offer` is the insert that made it and `added` the result of that insert alone; both are None in `cycle` and
    `run_scheduled`. `passes` holds the size passes that followed at once; `left` is the state after them.
    """

    state: State
    offer: Insert | None
    added: Step | None
    passes: tuple[Part, ...]
    left: State

    @property
    def took(self) -> bool:
        """Return whether the insert took its entry."""
        return self.added is not None and is_inserted(self.added)


def is_inserted(added: Step) -> bool:
    """Return whether an insert answers true."""
    return type(added.outcome) is Inserted and added.outcome.inserted


_trigger_memo: list[tuple[State, Step, tuple[TriggerPoint, ...]]] = []


def trigger_points(pre: State, event: Op, step: Step) -> tuple[TriggerPoint, ...]:
    """Return the trigger points of a step, in order; the last result is kept, because many laws ask for it."""
    if _trigger_memo and _trigger_memo[0][0] is pre and _trigger_memo[0][1] is step:
        return _trigger_memo[0][2]
    result = _find_trigger_points(pre, event, step)
    _trigger_memo[:] = [(pre, step, result)]
    return result


def _find_trigger_points(pre: State, event: Op, step: Step) -> tuple[TriggerPoint, ...]:
    parts = step.parts
    if type(event) is Insert and not parts:
        return (TriggerPoint(step.state, event, step, (), step.state),)
    if type(event) is RunScheduled:
        return (TriggerPoint(pre, None, None, parts, step.state),) if pre.is_scheduled else ()
    if type(event) is Cycle:
        return (TriggerPoint(parts[0].step.state, None, None, parts[1:], step.state),) if parts else ()
    result: list[TriggerPoint] = []
    for at, part in enumerate(parts):
        if type(part.event) is Insert:
            end = at + 1
            while end < len(parts) and type(parts[end].event) is Evict:
                end += 1
            left = parts[end].pre if end < len(parts) else step.state
            result.append(TriggerPoint(part.step.state, part.event, part.step, parts[at + 1 : end], left))
    return tuple(result)


def trigger_of(state: State) -> int:
    """Return the trigger that the settings of a state give."""
    return int(float(state.settings.max_size_bytes) * 0.98)


def target_of(state: State) -> int:
    """Return the target that the settings of a state give."""
    return int(float(state.settings.max_size_bytes) * state.settings.watermark)


def shown_thresholds(part: Part) -> tuple[int, int]:
    """Return the trigger and the target that a size pass shows."""
    first = part.step.rows[0]
    return first.trigger_bytes or 0, first.target_bytes or 0


def is_same_state(before: State, after: State) -> bool:
    """Return whether two states hold the same entries, slots and bytes, with the same time and settings."""
    return before is after or (
        (before.caches is after.caches or before.caches == after.caches)
        and (before.queue is after.queue or before.queue == after.queue)
        and before.size_bytes == after.size_bytes
        and before.now_nanos == after.now_nanos
        and before.settings == after.settings
    )


def is_due_and_right(point: TriggerPoint, origin: str) -> bool:
    """Return whether one pass ran if one was due, for the bytes above the target, and none if not.

    A pass is judged by the thresholds that it shows, which R-TRIGGER-1 checks. A missing pass is judged by the
    thresholds of the settings. Bytes above the trigger but not above the target are left to R-TRIGGER-8.
    """
    state, passes = point.state, point.passes
    if not passes:
        due = state.size_bytes > trigger_of(state) and state.size_bytes > target_of(state)
        return not due and is_same_state(state, point.left)
    trigger, target = shown_thresholds(passes[0])
    if state.size_bytes <= target and state.size_bytes > trigger:
        return True
    event = passes[0].event
    return (
        len(passes) == 1
        and type(event) is Evict
        and state.size_bytes > trigger
        and event.bytes == state.size_bytes - target
        and passes[0].step.rows[0].origin == origin
        and is_same_state(state, passes[0].pre)
        and is_same_state(passes[0].step.state, point.left)
    )


# Managed ledgers.

LOOKING: Final = (
    ops.Get,
    ops.GetRange,
    ops.Exists,
    ops.Usage,
    ops.CursorRank,
    ops.Slowest,
    ops.Cursors,
    ops.ShouldCache,
)
"""The operations of lower levels that name a cache, and that a managed cache takes."""


def entries_there(managed: ManagedLedger) -> list[Position]:
    """Return the positions of all entries of ledgers that were not deleted, ascending."""
    return sorted(Position(ledger, entry) for ledger, sizes in managed.sizes.items() for entry in range(len(sizes)))


def end_of(managed: ManagedLedger) -> Position:
    """Return the position of the next append."""
    last = entries_there(managed)[-1]
    return Position(last.ledger, last.entry + 1)


def cursor_named(pre: State, event: Any) -> ManagedCursor | None:
    """Return the cursor that the event names, or None."""
    return pre.managed[event.cache].cursors.get(event.cursor)


def is_misplaced(pre: State, event: ops.Op) -> bool:
    """Return whether the event names a cache that does not take it."""
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT:
        return False
    if event.level in {"ledger", "inflight"}:
        opens = type(event) is ops.Append and name not in pre.caches
        return name not in pre.managed and not opens
    return name in pre.managed and not isinstance(event, LOOKING)


def _no_place(pre: State, event: Any) -> bool:
    managed = pre.managed[event.cache]
    return event.pos not in (*entries_there(managed), end_of(managed))


def _no_entry(pre: State, event: Any) -> bool:
    return event.pos not in entries_there(pre.managed[event.cache])


def _refused_append(pre: State, event: ops.Append) -> bool:
    managed = pre.managed.get(event.cache)
    if event.size < 0 or (managed is not None and event.pos == end_of(managed)):
        return event.size < 0
    known = {ledger for other in pre.managed.values() for ledger in other.ids}
    own = max(managed.sizes) if managed is not None else -1
    return event.pos.entry > 0 or event.pos.ledger in known or event.pos.ledger < own


def _refused_mark(pre: State, event: ops.MarkDelete) -> bool:
    cursor = cursor_named(pre, event)
    return cursor is None or _no_entry(pre, event) or event.pos < cursor.mark_delete


def _refused_deletion(pre: State, event: ops.DeleteLedger) -> bool:
    ledgers = sorted(pre.managed[event.cache].sizes)
    return event.ledger not in ledgers[:-1] or bool(reads_of(pre, event.cache))


def _is_reading(pre: State, event: Any) -> bool:
    return bool(reads_of(pre, event.cache, event.cursor))


REFUSED_BY_LEDGER: Final[dict[type[ops.Op], Callable[[State, Any], bool]]] = {
    ops.Append: _refused_append,
    ops.CursorOpen: lambda pre, event: not _no_cursor(pre, event) or _no_place(pre, event),
    ops.CursorSeek: lambda pre, event: _no_cursor(pre, event) or _no_place(pre, event),
    ops.CursorReset: lambda pre, event: _no_cursor(pre, event) or _no_place(pre, event) or _is_reading(pre, event),
    ops.MarkDelete: _refused_mark,
    ops.Ack: lambda pre, event: _no_cursor(pre, event) or _no_entry(pre, event),
    ops.Activate: _no_cursor,
    ops.Deactivate: _no_cursor,
    ops.CursorClose: lambda pre, event: _no_cursor(pre, event) or _is_reading(pre, event),
    ops.CursorState: _no_cursor,
    ops.ReplayAdd: lambda pre, event: (
        event.hold in pre.pending.of_cursors
        or event.pos not in [held.slot.pos for held in pre.holds.get(event.hold, ())]
    ),
    ops.DeleteLedger: _refused_deletion,
}
"""The operations of level `ledger` that can be refused by a cache that takes them, and the condition."""
