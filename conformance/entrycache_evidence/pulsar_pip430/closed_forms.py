"""The results of passes, and of the operations on managed ledgers, in closed form.

No queue is walked, and no slot is taken one by one. Every live slot has a place in the queue, from 0. How often an
entry is spared is known before the pass begins: once if access extends its stay, and then as often as its budget allows
while reads are expected. The entry leaves in the round of that number, if the pass gets so far. Sorted by round, then
by place, the entries are in the order in which they leave; prefix sums of their sizes show where a size pass has freed
enough. A time pass ends in round 0, at the last entry that is old enough. The rows of a pass follow from the same
numbers.

`is_defined_ledger` compares a step of level `ledger` with `expected_ledger`, which computes ledgers and cursors from
the sorted list of all entries, and with `expected_members`, the cursors that the container then tracks. What leaves the
cache is left to the laws and to the definitions of parts.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import (
    Config,
    DisabledLimit,
    Replay,
    RequeueBudget,
    SizePassRounds,
    Storage,
)
from entrycache_reference.pulsar_pip430.laws import cursor_reads, law, ledgers
from entrycache_reference.pulsar_pip430.laws.law import cached_entry, refusable, target_of, trigger_of
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.state import Entry, ManagedCursor, ManagedLedger, Row, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


class Turn(NamedTuple):
    """The moment at which a pass reaches a place of the queue, in one of its rounds; sorting gives their order."""

    round: int
    place: int


class PlacedSlot(NamedTuple):
    """A live slot at its place, with its entry, and the turn in which it leaves if the pass gets so far."""

    slot: Slot
    entry: Entry
    leaves: Turn


class Reach(NamedTuple):
    """The end of a pass: the turn `last` is included. `bound` is its cutoff, or the bytes to free."""

    bound: int
    placed: tuple[PlacedSlot, ...]
    last: Turn

    def is_gone(self, one: PlacedSlot) -> bool:
        """Return whether the entry leaves."""
        return one.leaves <= self.last

    def times(self, one: PlacedSlot) -> int:
        """Return how often the entry is requeued: once in each round of its turn, except the one in which it leaves."""
        if self.is_gone(one):
            return one.leaves.round
        return self.last.round + (one.leaves.place <= self.last.place)


FIRST_TURN = Turn(0, -1)


def is_touched(state: State, entry: Entry) -> bool:
    """Return whether access extends the stay of the entry."""
    return entry.accessed and state.settings.extend_recently_accessed


def uses_budget(config: Config, entry: Entry, touched: bool, times: int) -> int:
    """Return how much budget these requeues use: one each, with a split budget all but the one for access."""
    is_split = config.variants.requeue_budget is RequeueBudget.SPLIT
    return times - (is_split and touched and times > 0)


def requeues_of(config: Config, state: State, event: Expire | Evict, entry: Entry) -> int:
    """Return how often a pass without an end would requeue the entry."""
    touched = is_touched(state, entry)
    times = int(touched)
    if entry.expected_reads is not None and entry.expected_reads > 0:
        left = state.settings.max_requeues - entry.requeues - uses_budget(config, entry, touched, times)
        times += max(0, left)
    is_one_round = config.variants.size_pass_rounds is SizePassRounds.ONE and type(event) is Evict
    return min(times, 1) if is_one_round else times


_memo: list[tuple[Config, State, Expire | Evict, Reach]] = []


def reach(config: Config, pre: State, event: Expire | Evict) -> Reach:
    """Return how far this pass gets in this state; the last result is kept, because its rows need it too."""
    if _memo and _memo[0][0] is config and _memo[0][1] is pre and _memo[0][2] is event:
        return _memo[0][3]
    result = _compute_reach(config, pre, event)
    _memo[:] = [(config, pre, event, result)]
    return result


def _compute_reach(config: Config, pre: State, event: Expire | Evict) -> Reach:
    placed = []
    for place, slot in enumerate(pre.queue):
        entry = None if slot is None else cached_entry(pre, slot.cache, slot.pos)
        if slot is not None and entry is not None:
            placed.append(PlacedSlot(slot, entry, Turn(requeues_of(config, pre, event, entry), place)))
    if type(event) is Evict:
        order = sorted(placed, key=lambda one: one.leaves)
        freed = accumulate(one.entry.size_bytes for one in order)
        enough = [one.leaves for one, sum_so_far in zip(order, freed, strict=True) if sum_so_far >= event.bytes]
        last = enough[0] if enough else max((one.leaves for one in placed), default=FIRST_TURN)
        return Reach(event.bytes, tuple(placed), last)
    assert type(event) is Expire
    age = pre.settings.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos
    cutoff = pre.now_nanos - age
    old = [one.leaves.place for one in placed if one.entry.stamp_nanos < cutoff]
    return Reach(cutoff, tuple(placed), Turn(0, max(old, default=-1)))


def queue_after(pre: State, done: Reach) -> tuple[Slot | None, ...]:
    """Return the queue after the pass: slots not reached in the last round, then those requeued in it.

    Dead slots stay in place until a pass reaches them, so in round 0 only; at the head there is none.
    """
    live = {one.leaves.place: one for one in done.placed}
    ahead: list[Slot | None] = []
    behind: list[Slot | None] = []
    for place, slot in enumerate(pre.queue):
        one = live.get(place)
        if one is not None and not done.is_gone(one):
            (behind if place <= done.last.place else ahead).append(slot)
        elif one is None and ahead and done.last.round == 0:
            ahead.append(slot)
    return (*ahead, *behind)


def entry_after(config: Config, pre: State, done: Reach, one: PlacedSlot) -> Entry | None:
    """Return the entry after the pass; None if it has left."""
    times = done.times(one)
    if done.is_gone(one):
        return None
    if not times:
        return one.entry
    used = uses_budget(config, one.entry, is_touched(pre, one.entry), times)
    size, _, requeues, _, count, payload = one.entry
    return Entry(size, pre.now_nanos, requeues + used, False, count, payload)


def turns(pre: State, done: Reach) -> Iterator[tuple[Turn, PlacedSlot | None]]:
    """Yield every slot that the pass takes, in order; None for a dead slot."""
    taken: list[tuple[Turn, PlacedSlot | None]] = []
    for one in done.placed:
        place = one.leaves.place
        rounds = done.times(one) + done.is_gone(one)
        taken += [(Turn(number, place), one) for number in range(rounds)]
    first = next((one.leaves.place for one in done.placed if one.leaves.place > done.last.place), len(pre.queue))
    reached = len(pre.queue) if done.last.round else first
    taken += [(Turn(0, place), None) for place in range(reached) if pre.queue[place] is None]
    return iter(sorted(taken, key=lambda pair: pair[0]))


def is_defined_pass(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether entries, queue and answer are those of the pass; frames check everything else."""
    done = reach(config, pre, event)
    gone = [one.entry.size_bytes for one in done.placed if done.is_gone(one)]
    return (
        step.outcome == Removed(len(gone), sum(gone))
        and step.state.queue == queue_after(pre, done)
        and all(
            cached_entry(step.state, one.slot.cache, one.slot.pos) == entry_after(config, pre, done, one)
            for one in done.placed
        )
    )


# The rows of a pass.


def pass_rows(config: Config, pre: State, event: Expire | Evict, step: Step, origin: str) -> tuple[Row, ...]:
    """Return the rows of the pass that runs in this state; `origin` says who requested it."""
    if refusable(config, pre, event):
        return ()
    done = reach(config, pre, event)
    taken = list(turns(pre, done))
    sizes = [0 if one is None or turn != one.leaves else one.entry.size_bytes for turn, one in taken]
    freed = list(accumulate(sizes, initial=0))
    rows = [
        _taken_row(config, pre, event, done, turn, one, (freed[at], freed[at + 1]))
        for at, (turn, one) in enumerate(taken)
    ]
    return (_begin_row(pre, event, done, origin), *rows, _end_row(pre, event, done, step, origin, freed[-1]))


def _bound_after(event: Expire | Evict, done: Reach, freed: int) -> int:
    """Return the bound after `freed` bytes: a cutoff stays, a need shrinks."""
    return done.bound - freed if type(event) is Evict else done.bound


def _common_row(pre: State, event: Expire | Evict, done: Reach, rule: Rule, op: str, freed: tuple[int, int]) -> Row:
    """Build what every row of a pass shows; `freed` counts the bytes before it and after it."""
    total = pre.size_bytes - freed[1]
    return Row(
        rule,
        op,
        "SIZE" if type(event) is Evict else "TIME",
        pre.now_nanos,
        total,
        bound=_bound_after(event, done, freed[0]),
        max_requeues=pre.settings.max_requeues,
        extend_accessed=pre.settings.extend_recently_accessed,
        manager_bytes=total,
    )


def _row_of_pass(row: Row, pre: State, event: Expire | Evict, origin: str) -> Row:
    """Complete a row about the pass as a whole; a size pass also shows its thresholds."""
    if type(event) is Expire:
        return row._replace(origin=origin)
    return row._replace(origin=origin, trigger_bytes=trigger_of(pre), target_bytes=target_of(pre))


def _begin_row(pre: State, event: Expire | Evict, done: Reach, origin: str) -> Row:
    rule = Rule.EVICT_4 if type(event) is Evict else Rule.EXPIRE_1
    return _row_of_pass(_common_row(pre, event, done, rule, "PASS_BEGIN", (0, 0)), pre, event, origin)


def _end_row(pre: State, event: Expire | Evict, done: Reach, step: Step, origin: str, freed: int) -> Row:
    """Build the row of the end: at the head that is left, whose stamp it shows, or with no slot left."""
    queue = step.state.queue
    head = cached_entry(step.state, queue[0].cache, queue[0].pos) if queue and queue[0] is not None else None
    empty = Rule.EVICT_4 if type(event) is Evict else Rule.EXPIRE_2
    rule = Rule.EVICT_2 if head is not None else empty
    row = _row_of_pass(_common_row(pre, event, done, rule, "PASS_END", (freed, freed)), pre, event, origin)
    return row if head is None else row._replace(stamp_ns=head.stamp_nanos)


def _taken_row(
    config: Config,
    pre: State,
    event: Expire | Evict,
    done: Reach,
    turn: Turn,
    one: PlacedSlot | None,
    freed: tuple[int, int],
) -> Row:
    """Build the row of a taken slot: dropped, removed, or put at the tail."""
    if one is None:
        return _common_row(pre, event, done, Rule.EVICT_1, "TOMBSTONE", freed)
    entry, touched = one.entry, is_touched(pre, one.entry)
    requeues = entry.requeues + uses_budget(config, entry, touched, turn.round)
    is_awaited = entry.expected_reads is not None and entry.expected_reads > 0
    rule = Rule.REQUEUE_3 if is_awaited and requeues >= pre.settings.max_requeues else Rule.EVICT_3
    of_entry: dict[str, Any] = {
        "cache": one.slot.cache,
        "ledger_id": one.slot.pos.ledger,
        "entry_id": one.slot.pos.entry,
        "size_bytes": entry.size_bytes,
        "expected_reads": entry.expected_reads,
        "requeues": requeues,
        "accessed": entry.accessed if turn.round == 0 else False,
        "stamp_ns": entry.stamp_nanos if turn.round == 0 else pre.now_nanos,
    }
    if turn == one.leaves:
        return _common_row(pre, event, done, rule, "EVICT", freed)._replace(**of_entry)
    is_for_access = touched and turn.round == 0
    rule = Rule.REQUEUE_1 if is_for_access else Rule.REQUEUE_2
    of_entry["requeues"] = entry.requeues + uses_budget(config, entry, touched, turn.round + 1)
    of_entry["new_stamp_ns"] = pre.now_nanos
    cause = "ACCESSED" if is_for_access else "EXPECTED_READS"
    return _common_row(pre, event, done, rule, "REQUEUE", freed)._replace(cause=cause, **of_entry)


# --- Managed ledgers


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


def expected_due(config: Config, pre: State, name: CacheName, step: Step) -> Position | None:
    """Return the position up to which an invalidation waits: the highest that a move has set since the last one."""
    due = pre.managed[name].due if name in pre.managed else None
    for part in step.parts:
        event = part.event
        if isinstance(event, ops.InvalidateBefore) and event.cache == name:
            due = None
        elif isinstance(event, ops.CursorMove | ops.CursorRemove) and event.cache == name:
            slowest = ledgers.slowest_in(part.step.state, event)
            is_due = type(event) is ops.CursorRemove or slowest != ledgers.slowest_in(part.pre, event)
            if is_due and part.pre.caches[name].size_bytes and not config.evict_by_expected_reads:
                due = ledgers.higher_due(config, due, slowest)
    return due


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


def cache_read(pre: State, event: Any) -> CacheName:
    """Return the cache that a step reads: the one that it names, or that of the ask which it answers."""
    name: CacheName | None = pre.pending.asks[event.ask].cache if type(event) is ops.StorageAnswer else event.cache
    assert name is not None
    return name


def may_replay(pre: State, event: Any) -> bool:
    """Return whether a step is about a replay."""
    is_of_replay = type(event) is ops.StorageAnswer and pre.pending.asks[event.ask].cursor is None
    return type(event) is ops.ReplayRead or is_of_replay


def own_row(pre: State, event: Any, row: Row, bytes_now: int) -> Row:
    """Return a row of a position that no part is about: storage gives it, and the cache may not want it."""
    pos, cache = Position(row.ledger_id or 0, row.entry_id or 0), cache_read(pre, event)
    labels: tuple[Rule, str, int | None] = (Rule.READ_8, "READ", None)
    if row.op == "SKIP":
        is_replay = may_replay(pre, event) and row.rule is Rule.LEDGER_8
        size = pre.managed[cache].sizes[pos.ledger][pos.entry]
        labels = (Rule.LEDGER_8 if is_replay else Rule.READ_9, "NOT_WANTED", size)
    rule, cause, size_bytes = labels
    place: dict[str, Any] = {"cache": cache, "ledger_id": pos.ledger, "entry_id": pos.entry, "size_bytes": size_bytes}
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
    held = step.state.holds.get(event.hold, ())
    if event.hold is not ABSENT and [one.slot.pos for one in held] != sorted((*served.hits, *served.fills)):
        return False
    if type(event) is ops.ReplayRead and config.variants.replay is Replay.GROUPED:
        missed = [Position(row.ledger_id or 0, row.entry_id or 0) for row in step.rows if row.op == "MISS"]
        counted = [part.event for part in step.parts if type(part.event) is ops.Insert and part.event.expected_reads]
        return missed == sorted(set(missed)) and set(served.fills) <= set(missed) and not counted
    rows = [row for row in step.rows if row.op in LOOKUP_OPS | FILL_OPS]
    wanted = [
        (kind, pos)
        for chunk in chunks_of(pre, event, step)
        for kind, places in ((True, chunk), (False, [pos for pos in chunk if pos in served.fills]))
        for pos in places
    ]
    return [(row.op in LOOKUP_OPS, (row.ledger_id, row.entry_id)) for row in rows] == wanted


def counts_lookups(pre: State, step: Step) -> bool:
    """Return whether each lookup that hits or misses was counted once, with its bytes."""
    gets = [(part.pre, part.event) for part in step.parts if isinstance(part.event, ops.Get)]
    hits = [state.caches[get.cache].entries[get.pos] for state, get in gets]
    missed = [size_stored(pre, row) for row in step.rows if row.op == "MISS"]
    before, after = pre.counts, step.state.counts
    hit_bytes = sum(entry.size_bytes for entry in hits)
    return after[3:] == (
        before.hit_entries + len(hits),
        before.hit_bytes + hit_bytes,
        before.miss_entries + len(missed),
        before.miss_bytes + sum(missed),
    )


def size_stored(pre: State, row: Row) -> int:
    """Return the size in storage of the entry that a row is about."""
    managed = pre.managed[row.cache or CacheName("")]
    return managed.sizes[row.ledger_id or 0][row.entry_id or 0]


def without_taken(managed: ManagedLedger) -> ManagedLedger:
    """Return a managed ledger without the counts of what its cache has taken in."""
    return managed._replace(taken_entries=0, taken_bytes=0)


def counts_permits(config: Config) -> bool:
    """Return whether reads by cursors need permits."""
    is_off = config.max_size_bytes == 0 and config.variants.disabled_limit is DisabledLimit.IGNORED
    return config.max_reads_in_flight_bytes > 0 and config.storage is Storage.HELD and not is_off


def counts_taken(config: Config, pre: State, step: Step) -> bool:
    """Return whether exactly the entries that caches take in are counted, where reads need permits."""
    counts = counts_permits(config)
    added = [part.event for part in step.parts if counts and part.step.outcome == outcomes.Inserted(True)]
    for name, after in step.state.managed.items():
        sizes = [event.size for event in added if isinstance(event, ops.Insert) and event.cache == name]
        before = pre.managed.get(name, after._replace(taken_entries=0, taken_bytes=0))
        more = (before.taken_entries + len(sizes), before.taken_bytes + sum(sizes))
        if (after.taken_entries, after.taken_bytes) != more:
            return False
    return True


def is_defined_ledger(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a step of level `ledger` leaves the defined ledgers, cursors and members, and reads in order."""
    if law.refusable(config, pre, event):
        return step == Step(pre, law.REFUSED, ())
    if type(event) is ops.ReplayAdd:
        return step.state.managed == pre.managed and step.outcome == outcomes.InFlight()
    managed = expected_ledger(pre, event, step)._replace(due=expected_due(config, pre, event.cache, step))
    return (
        without_taken(step.state.managed[event.cache]) == without_taken(managed)
        and counts_taken(config, pre, step)
        and step.state.caches[event.cache].members == expected_members(config, pre, event, managed)
        and step.state.caches[event.cache].is_open
        and counts_lookups(pre, step)
        and reads_follow(config, pre, event, step)
    )
