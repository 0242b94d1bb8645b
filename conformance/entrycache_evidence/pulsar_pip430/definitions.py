"""The definition of `pulsar-pip430`: each step made once more, in another way than the reference makes it.

`check_definition` compares a step with its definition. The definition says which parts a step has, which state and
answer each part leaves, and which rows the step has; passes and managed ledgers are defined in `closed_forms`. Together
with the frames nothing is left open: what an operation may change is defined here or by a law of a rule, and everything
else stays as it was. A definition is checked only if no law of a rule is broken. If the step differs, the rule of the
operation is reported as broken.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final

from entrycache_evidence.pulsar_pip430.closed_forms import (
    are_rows_of_ledger,
    is_defined_ledger,
    is_defined_pass,
    pass_rows,
)
from entrycache_evidence.pulsar_pip430.frame import BETWEEN_PARTS, MAY_CHANGE, changes_outside, is_opening
from entrycache_evidence.pulsar_pip430.reads_in_flight import IN_FLIGHT_OPS, is_defined_in_flight, is_in_flight
from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, ZeroReads
from entrycache_reference.pulsar_pip430.laws.cursor_reads import RELEASING_OPS
from entrycache_reference.pulsar_pip430.laws.law import (
    Check,
    always,
    cached_entry,
    decides_ranges,
    entries_of,
    is_misplaced,
    refusable,
)
from entrycache_reference.pulsar_pip430.ops import Op, RemoveCache
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    Entry,
    OpenRange,
    OpenRead,
    PendingReads,
    Row,
    Slot,
    State,
    Step,
    Waiter,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


def hits_or_misses(config: Config, pre: State, event: ops.Get, step: Step) -> bool:
    """Check that the answer is a hit with its payload, if it carries one, or a miss without."""
    entry = cached_entry(pre, event.cache, event.pos)
    if entry is None:
        return step.outcome == outcomes.Hit(False)
    return step.outcome == outcomes.Hit(True, None if entry.token is None else (entry.token,))


def lists_what_is_there(config: Config, pre: State, event: ops.GetRange, step: Step) -> bool:
    """Check that the answer lists the cached positions, with payloads only if all of them carry one."""
    entries = entries_of(pre, event.cache)
    positions = sorted({pos for pos in entries if not (pos < event.first or pos > event.last)})
    carried = [entry.token for pos in positions if (entry := entries[pos]).token is not None]
    tokens = tuple(carried) if positions and len(carried) == len(positions) else None
    return step.outcome == outcomes.Hits(tuple(positions), tokens)


def says_if_cached(config: Config, pre: State, event: ops.Exists, step: Step) -> bool:
    """Check that the answer says whether the position is cached."""
    return step.outcome == outcomes.Existing(event.pos in entries_of(pre, event.cache))


def decides_nobody(config: Config, pre: State, event: ops.Advance, step: Step) -> bool:
    """Check that time decides no request if none waits; R-LIMIT-6 is about those that wait."""
    return bool(pre.limiter.waiting) or refusable(config, pre, event) or step.outcome == outcomes.Decided()


def says_what_is_free(config: Config, pre: State, event: ops.LimiterState, step: Step) -> bool:
    """Check that the answer is what is not out, and the number of those who wait."""
    free = config.max_reads_in_flight_bytes - sum(pre.limiter.out.values())
    return step.outcome == outcomes.Permits(free, len(pre.limiter.waiting))


def waits_for_each_entry(config: Config, pre: State, event: ops.Fetch, step: Step) -> bool:
    """Check that a fetch waits for each of its entries once, and what it asks; R-INFLIGHT-2 is about which asks."""
    if refusable(config, pre, event):
        return True
    before, (ledger, first) = pre.pending, event.first
    waits = step.state.pending.reads[event.read].range.waits
    asks, new = dict(before.asks), []
    for number, start, end in waits:
        if number not in before.asks:
            new.append(outcomes.SentAsk(number, ledger, start, end))
        ask = asks.get(number, Ask(ledger, start, end, ()))
        asks[number] = ask._replace(waiting=(*ask.waiting, Waiter(event.read, start)))
    opened = OpenRead(OpenRange(event.first, event.last, waits))
    after = PendingReads(asks, before.sent + len(new), {**before.reads, event.read: opened})
    waited = [entry for _, start, end in waits for entry in range(start, end + 1)]
    expected = (after, outcomes.InFlight(tuple(new) or None), list(range(first, event.last.entry + 1)))
    return (step.state.pending, step.outcome, waited) == expected


def gives_and_ends(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check which reads an answer ends, and what becomes of the others."""
    if refusable(config, pre, event):
        return True
    before, ask, kinds = pre.pending, pre.pending.asks[event.ask], ops.StorageAnswerKind
    number = event.answer if isinstance(event.answer, int) else 0 if event.answer is not kinds.ALL else 2**53
    reads, done, sealed = dict(before.reads), [], event.answer is kinds.FAIL
    for name in sorted(waiter.read for waiter in ask.waiting):
        opened = reads.pop(name)
        waits = tuple(wait for wait in opened.range.waits if wait.ask != event.ask)
        parts = [wait for wait in opened.range.waits if wait.ask == event.ask]
        entries = [at for part in parts for at in range(part.first, min(part.last + 1, ask.first + number))]
        given = (*opened.range.given, *(Position(ask.ledger, at) for at in entries))
        has_failed = opened.range.has_failed or number == 0
        error = outcomes.ReadError.READ_FAILED if has_failed else None
        if waits:
            reads[name] = OpenRead(opened.range._replace(waits=waits, has_failed=has_failed, given=given))
        else:
            done.append(outcomes.EndedRead(name, None if error else tuple(sorted(given)), error))
    asks = {
        at: other._replace(is_joinable=other.is_joinable and not (sealed and other.ledger == ask.ledger))
        for at, other in before.asks.items()
        if at != event.ask
    }
    answer = outcomes.InFlight(None, tuple(done) or None)
    return (step.state.pending, step.outcome) == (PendingReads(asks, before.sent, reads), answer)


def answers_the_count(config: Config, pre: State, event: ops.MarkRead | ops.ExpectRead, step: Step) -> bool:
    """Check that the answer is the count as the step leaves it."""
    entry = cached_entry(step.state, event.cache, event.pos)
    return step.outcome == outcomes.Counted(None if entry is None else entry.expected_reads)


def shows_everything(config: Config, pre: State, event: ops.Observe, step: Step) -> bool:
    """Check that the answer shows time, bytes, filled caches, live slots in place, and the number of dead slots."""
    filled = {name: cache for name, cache in pre.caches.items() if cache.entries}
    views = {
        name: outcomes.CacheView(
            sum([entry.size_bytes for entry in cache.entries.values()]), tuple(sorted(cache.entries))
        )
        for name, cache in filled.items()
    }
    slots = [slot for slot in pre.queue if slot is not None]
    total = sum([view.bytes for view in views.values()])
    live = tuple([_view(slot, pre.caches[slot.cache].entries[slot.pos], pre.now_nanos) for slot in slots])
    expected = outcomes.Observed(pre.now_nanos, total, views, live, len(pre.queue) - len(slots))
    answer = step.outcome
    return answer == expected and isinstance(answer, outcomes.Observed) and list(answer.caches) == sorted(views)


def _view(slot: Slot, entry: Entry, now: int) -> outcomes.SlotView:
    size, stamp, requeues, mark, count, _ = entry
    return outcomes.SlotView(slot.cache, slot.pos, size, now - stamp, requeues, mark, count)


def serves(config: Config, pre: State, event: ops.Read | ops.ReadOne, step: Step) -> bool:
    """Check which positions are hits and fills, and their payloads; the releases at the end schedule nothing."""
    if refusable(config, pre, event):
        return True
    last = step.parts[-1] if step.parts else None
    if last and type(last.event) is ops.MarkRead and step.state.is_scheduled is not last.step.state.is_scheduled:
        return False
    wanted = requested_positions(event)
    entries = entries_of(pre, event.cache)
    hits = [pos for pos in wanted if pos in entries]
    fills = [pos for pos in wanted if pos not in entries]
    carried = [token for pos in hits if (token := entries[pos].token) is not None]
    tokens = (*carried, *(pos.entry for pos in fills)) if len(carried) == len(hits) else None
    return step.outcome == outcomes.Served(tuple(hits), tuple(fills), tokens)


def requested_positions(event: ops.Read | ops.ReadOne) -> list[Position]:
    """Return the positions that a read asks for, ascending."""
    if type(event) is ops.ReadOne:
        return [event.pos]
    assert type(event) is ops.Read
    ledger, first = event.first
    return [Position(ledger, first + more) for more in range(event.last.entry - first + 1)]


def leaves_dead_slots(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check that every slot stays in its place, dead if its entry has left."""
    after = step.state
    if after.caches is pre.caches:
        return after.queue == pre.queue
    remaining = entries_of(after, event.cache)
    return after.queue == tuple(
        [
            None if slot is not None and slot.cache == event.cache and slot.pos not in remaining else slot
            for slot in pre.queue
        ]
    )


def keeps_held_positions(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check that only reads and releases open or free holds, and that held positions keep their order."""
    before, after = pre.holds, step.state.holds
    if before is after or type(event) in HOLDING_OPS or decides_ranges(pre, step):
        return True
    return before.keys() == after.keys() and all(
        [held.slot for held in remaining] == [held.slot for held in after[name]] for name, remaining in before.items()
    )


HOLDING_OPS: Final = frozenset(
    {ops.Read, ops.ReadOne, ops.Release, ops.CursorRead, ops.ReplayRead, ops.ReplayAdd, *IN_FLIGHT_OPS},
)
"""The operations that open and free holds (R-COUNT-7, R-LEDGER-9)."""

REMOVAL_OPS: Final = (ops.RemoveRange, ops.Clear, ops.InvalidateBefore, ops.InvalidateLedger)

ANSWERS: Final[Mapping[type[ops.Op], Check]] = {
    **dict.fromkeys(ops.OPS, always),
    **dict.fromkeys(REMOVAL_OPS, leaves_dead_slots),
    ops.Advance: decides_nobody,
    ops.LimiterState: says_what_is_free,
    ops.Fetch: waits_for_each_entry,
    ops.StorageAnswer: gives_and_ends,
    ops.Get: hits_or_misses,
    ops.GetRange: lists_what_is_there,
    ops.Exists: says_if_cached,
    ops.MarkRead: answers_the_count,
    ops.ExpectRead: answers_the_count,
    ops.Observe: shows_everything,
    ops.Read: serves,
    ops.ReadOne: serves,
}
"""The definition of each operation; it does not repeat what its laws say already."""


# The rows of one operation, without its parts.

RowLabels = tuple[Rule | None, str | None]
"""The rule and cause of the rows of a part within another operation; None: its own."""

OWN_LABELS: Final[RowLabels] = (None, None)

Rows = Callable[[Config, State, Any, Step, RowLabels], tuple[Row, ...]]


def position_row(
    rule: Rule, op: str, cause: str | None, state: State, cache: CacheName, pos: Position, size: int | None = None
) -> Row:
    """Build a row about a position, with the bytes of this state and nothing of an entry but its size."""
    at, total = pos, state.size_bytes
    return Row(rule, op, cause, state.now_nanos, total, None, cache, at[0], at[1], size, manager_bytes=total)


def entry_row(
    rule: Rule, op: str, cause: str | None, before: State, after: State, cache: CacheName, pos: Position
) -> Row:
    """Build a row about an entry that exists before and after the event."""
    size, stamp, requeues, mark, _, _ = before.caches[cache].entries[pos]
    count, total = after.caches[cache].entries[pos].expected_reads, after.size_bytes
    return Row(
        *(rule, op, cause, after.now_nanos, total, None, cache, pos[0], pos[1], size, count, requeues, mark, stamp),
        manager_bytes=total,
    )


def no_rows(config: Config, pre: State, event: ops.Op, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return no rows: the operation only observes, or lets time pass."""
    return ()


def insert_rows(config: Config, pre: State, event: ops.Insert, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return the row of an insert: taken, a duplicate, or caching is off."""
    if config.max_size_bytes == 0:
        return (position_row(Rule.INSERT_3, "SKIP", "DISABLED", pre, event.cache, event.pos, event.size),)
    if cached_entry(pre, event.cache, event.pos) is not None:
        return (position_row(Rule.INSERT_2, "REJECT", "DUPLICATE", pre, event.cache, event.pos, event.size),)
    entry = cached_entry(step.state, event.cache, event.pos)
    if entry is None:
        return ()
    row = position_row(Rule.INSERT_1, "INSERT", labels[1] or "ADD", pre, event.cache, event.pos, event.size)
    total = pre.size_bytes + event.size
    return (
        row._replace(
            bytes_after=total,
            expected_reads=entry.expected_reads,
            requeues=0,
            accessed=False,
            new_stamp_ns=pre.now_nanos,
            manager_bytes=total,
        ),
    )


def get_rows(config: Config, pre: State, event: ops.Get, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return the row of a hit or a miss."""
    cause = labels[1] or "GET"
    if cached_entry(pre, event.cache, event.pos) is None:
        return (position_row(labels[0] or Rule.READ_1, "MISS", cause, pre, event.cache, event.pos),)
    return (entry_row(labels[0] or Rule.READ_2, "HIT", cause, pre, step.state, event.cache, event.pos),)


def range_rows(config: Config, pre: State, event: ops.GetRange, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return a hit for each cached position, ascending."""
    positions = sorted(pos for pos in entries_of(pre, event.cache) if event.first <= pos <= event.last)
    return tuple([entry_row(Rule.READ_4, "HIT", "GET", pre, step.state, event.cache, pos) for pos in positions])


def count_rows(config: Config, pre: State, event: Any, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return the row of a changed count; an entry without a count has none."""
    entry = cached_entry(pre, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return ()
    rule, op, cause = COUNT_LABELS[type(event)]
    return (entry_row(rule, op, cause, pre, step.state, event.cache, event.pos),)


COUNT_LABELS: Final[dict[type[ops.Op], tuple[Rule, str, str | None]]] = {
    ops.MarkRead: (Rule.COUNT_1, "READ_DONE", "DELIVERED"),
    ops.ExpectRead: (Rule.COUNT_2, "EXPECT", None),
}

REMOVAL_LABELS: Final[dict[type[ops.Op], RowLabels]] = {
    ops.RemoveRange: (Rule.INVALIDATE_1, "RANGE"),
    ops.Clear: (Rule.INVALIDATE_4, "CLEAR"),
    ops.InvalidateBefore: (Rule.INVALIDATE_7, "CURSOR"),
    ops.InvalidateLedger: (Rule.INVALIDATE_8, "LEDGER"),
}


def removal_rows(config: Config, pre: State, event: Any, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return one row for each removed entry, ascending; each shows the bytes left after it."""
    rule, cause = REMOVAL_LABELS[type(event)] if labels is OWN_LABELS else labels
    assert rule is not None
    entries = entries_of(pre, event.cache)
    gone = sorted(entries.keys() - entries_of(step.state, event.cache).keys())
    sums = accumulate(entries[pos].size_bytes for pos in gone)
    left = [pre.size_bytes - freed_bytes for freed_bytes in sums]
    rows = [entry_row(rule, "REMOVE", cause, pre, pre, event.cache, pos) for pos in gone]
    return tuple([row._replace(bytes_after=total, manager_bytes=total) for row, total in zip(rows, left, strict=True)])


def cursor_rows(config: Config, pre: State, event: Any, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return the row of a cursor that was added, moved or removed; a call without effect has none."""
    cache = pre.caches.get(event.cache)
    members = {} if cache is None else cache.members
    is_member = event.cursor in members
    cannot_move = not config.evict_by_expected_reads and members.get(event.cursor) is None
    rule, op = (Rule.CURSOR_2 if is_member else Rule.CURSOR_1), "CURSOR_ADD"
    if type(event) is not ops.CursorAdd:
        if not is_member or (type(event) is ops.CursorMove and cannot_move):
            return ()
        rule, op = (Rule.CURSOR_3, "CURSOR_MOVE") if type(event) is ops.CursorMove else (Rule.CURSOR_5, "CURSOR_REMOVE")
    to = getattr(event, "pos", None)
    ledger, entry = (None, None) if to is None else to
    total = pre.size_bytes
    row = Row(rule, op, None, pre.now_nanos, total, None, event.cache, ledger, entry)
    return (row._replace(manager_bytes=total, cursor=event.cursor),)


def value_rows(config: Config, pre: State, event: Any, step: Step, labels: RowLabels) -> tuple[Row, ...]:
    """Return the row with the effective settings, or the counters, as one value."""
    if type(event) is ops.Metrics:
        return (_value_row(Rule.METRICS_7, "METRICS", pre, {**pre.counts._asdict(), "bytes": pre.size_bytes}),)
    grace = config.ttl_nanos // 500_000 if config.grace_millis is None else config.grace_millis
    fixed = {
        "evict_by_expected_reads": config.evict_by_expected_reads,
        "evict_by_mark_deleted": config.evict_by_mark_deleted,
        "grace_millis": grace,
        "storage_entry_size": config.storage_entry_size,
        "eviction": config.eviction.value,
    }
    return (_value_row(Rule.CONFIG_1, "CONFIG", pre, {**step.state.settings._asdict(), **fixed}),)


def _value_row(rule: Rule, op: str, state: State, value: dict[str, Any]) -> Row:
    total = state.size_bytes
    text = json.dumps(value, separators=(",", ":"))
    return Row(rule, op, None, state.now_nanos, total, manager_bytes=total, value=text)


ROWS: Final[dict[type[ops.Op], Rows]] = {
    **dict.fromkeys(ops.OPS, no_rows),
    **dict.fromkeys(REMOVAL_LABELS, removal_rows),
    **dict.fromkeys(COUNT_LABELS, count_rows),
    **dict.fromkeys((ops.CursorAdd, ops.CursorMove, ops.CursorRemove), cursor_rows),
    **dict.fromkeys((ops.Configure, ops.Metrics), value_rows),
    ops.Insert: insert_rows,
    ops.Get: get_rows,
    ops.GetRange: range_rows,
}
"""The rows of each operation; those of passes are defined in `closed_forms`."""


def rows_of_operation(
    config: Config, pre: State, event: ops.Op, step: Step, labels: RowLabels = OWN_LABELS
) -> tuple[Row, ...]:
    """Return the rows that this operation writes of its own; a refused one writes none."""
    if refusable(config, pre, event):
        return ()
    return ROWS[type(event)](config, pre, event, step, labels)


def open_row(pre: State, cache: CacheName) -> Row:
    """Build the row of a step that names a cache first, or names it again after its removal."""
    total = pre.size_bytes
    return Row(Rule.STATE_9, "CACHE_OPEN", None, pre.now_nanos, total, None, cache, manager_bytes=total)


# A step and its parts.

READ_OPS: Final = (ops.Read, ops.ReadOne)
PASS_OPS: Final = (ops.Expire, ops.Evict)

LOOKING_OPS: Final = frozenset(
    {ops.Exists, ops.Usage, ops.Observe, ops.CursorRank, ops.Slowest, ops.Cursors, ops.ShouldCache}
)
"""The operations that only observe: they change nothing and write no rows."""

READERS: Final = (*READ_OPS, ops.CursorRead, ops.ReplayRead, *IN_FLIGHT_OPS)
"""The operations that look positions up as readers do, and fill what storage gives."""

PART_LABELS: Final[dict[tuple[type[ops.Op], type[ops.Op]], RowLabels]] = {
    **{(reader, ops.Get): (Rule.READ_7, "READ") for reader in (*READERS, *RELEASING_OPS)},
    **{(reader, ops.Insert): (None, "FILL") for reader in READERS},
    (ops.RemoveCache, ops.Clear): (Rule.INVALIDATE_9, "CLOSE"),
}
"""The rule and cause of the rows of a part, by the operations of the step and of the part."""

PASS_ORIGINS: Final[dict[type[ops.Op], str]] = {
    ops.Expire: "CALL",
    ops.Evict: "CALL",
    ops.Cycle: "CYCLE",
    **dict.fromkeys((ops.Insert, ops.RunScheduled, ops.Append, *READERS), "TRIGGER"),
}
"""The origin of a pass, by the operation of the step."""


def are_fills_wanted(config: Config, event: ops.Op) -> bool:
    """Return whether fills are offered to the cache; if caching is off they are offered but not taken."""
    if type(event) is not ops.Read:
        return False
    least = 0 if config.variants.zero_reads is ZeroReads.COUNTED else 1
    return event.expected_reads >= least or config.max_size_bytes == 0


def parts_of_read(config: Config, pre: State, event: Any, step: Step) -> Iterator[ops.Op]:
    """Yield the lookups of cached positions, the offers of the others, then the deliveries of what is cached."""
    wanted = requested_positions(event)
    before = entries_of(pre, event.cache)
    yield from (ops.Get(event.cache, pos) for pos in wanted if pos in before)
    if are_fills_wanted(config, event):
        for pos in wanted:
            if pos not in before:
                size = config.storage_entry_size
                yield ops.Insert(event.cache, pos, size, event.expected_reads, pos.entry)
    if event.hold is ABSENT:
        states = [part.step.state for part in step.parts if type(part.event) is not ops.MarkRead]
        remaining = entries_of(states[-1] if states else pre, event.cache)
        yield from (ops.MarkRead(event.cache, pos) for pos in wanted if pos in remaining)


def parts_of(config: Config, pre: State, event: Any, step: Step) -> list[ops.Op]:
    """Return the operations that a step consists of, without size passes: laws of the trigger check those."""
    kind = type(event)
    if refusable(config, pre, event):
        return []
    if kind in READ_OPS:
        return list(parts_of_read(config, pre, event, step))
    if kind is ops.Release:
        held = [one.slot for one in pre.holds[event.hold] if one.is_cached]
        return [ops.MarkRead(cache, pos) for cache, pos in held]
    if kind is ops.RemoveCache:
        return [ops.Clear(event.cache)]
    if kind is ops.Cycle:
        return [ops.Expire()]
    return [event] if step.parts and kind is ops.Insert else []


def has_its_parts(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether a step consists of these operations, in this order."""
    if not step.parts and type(event) not in COMPOSED_OPS:
        return True
    events = [part.event for part in step.parts if type(part.event) is not ops.Evict]
    return events == parts_of(config, pre, event, step)


COMPOSED_OPS: Final = frozenset({*READ_OPS, ops.Release, ops.RemoveCache, ops.Cycle})
"""The operations that consist of other operations."""


def own_rows(config: Config, pre: State, event: Any, step: Step, whole: ops.Op) -> tuple[Row, ...]:
    """Return the rows of a step without parts, or of one part, within the step of an operation."""
    if type(event) in PASS_OPS:
        return pass_rows(config, pre, event, step, PASS_ORIGINS[type(whole)])
    return rows_of_operation(config, pre, event, step, PART_LABELS.get((type(whole), type(event)), OWN_LABELS))


def rows_of_read(config: Config, pre: State, event: Any, step: Step) -> Iterator[Row]:
    """Yield every position as it was looked up, ascending, then the fills, then the deliveries."""
    parts = [(part.event, row) for part in step.parts for row in part.step.rows]
    hits = {one.pos: row for one, row in parts if type(one) is ops.Get}
    wanted = requested_positions(event)
    yield from (hits.get(pos) or position_row(Rule.READ_8, "MISS", "READ", pre, event.cache, pos) for pos in wanted)
    if are_fills_wanted(config, event):
        yield from (row for one, row in parts if type(one) is ops.Insert or type(one) is ops.Evict)
    else:
        rule = Rule.READ_9 if type(event) is ops.Read else Rule.READ_10
        size = config.storage_entry_size
        fills = [pos for pos in wanted if pos not in hits]
        yield from (position_row(rule, "SKIP", "NOT_WANTED", pre, event.cache, pos, size) for pos in fills)
    yield from delivery_rows(step)


def delivery_rows(step: Step) -> Iterator[Row]:
    """Yield the rows of released positions."""
    for part in step.parts:
        if type(part.event) is ops.MarkRead:
            yield from (row._replace(rule=Rule.COUNT_5) for row in part.step.rows)


def rows_of_parts(config: Config, pre: State, event: Any, step: Step) -> Iterator[Row]:
    """Yield the rows of a step that consists of parts."""
    if type(event) in READ_OPS:
        yield from rows_of_read(config, pre, event, step)
    elif type(event) is ops.Release:
        yield from delivery_rows(step)
    else:
        yield from (row for part in step.parts for row in part.step.rows)
    if type(event) is ops.RemoveCache:
        yield open_row(step.state, event.cache)._replace(rule=Rule.INVALIDATE_9, op="CACHE_CLOSE")


def rows_follow(config: Config, pre: State, event: Any, step: Step, opens: bool) -> bool:
    """Check that the rows of a step and its parts say what was done; `opens`: the step opens its cache."""
    first = (open_row(pre, event.cache),) if opens else ()
    if not step.parts and (type(event) not in COMPOSED_OPS or refusable(config, pre, event)):
        return step.rows == (*first, *own_rows(config, pre, event, step, event))
    return step.rows == (*first, *rows_of_parts(config, pre, event, step)) and all(
        part.step.rows == own_rows(config, part.pre, part.event, part.step, event) for part in step.parts
    )


def ledger_rows_follow(config: Config, pre: State, event: Any, step: Step, opens: bool) -> bool:
    """Check the rows of a step of level `ledger`: those of its parts, and of positions that no part is about."""
    own = [own_rows(config, part.pre, part.event, part.step, event) for part in step.parts]
    if own != [part.step.rows for part in step.parts]:
        return False
    expected: list[tuple[Row, ...]] = [(open_row(pre, event.cache),) if opens else ()]
    for part, rows in zip(step.parts, own, strict=True):
        is_delivery = type(part.event) is ops.MarkRead
        expected.append(tuple(row._replace(rule=Rule.COUNT_5) if is_delivery else row for row in rows))
    return are_rows_of_ledger(pre, event, step, [row for rows in expected for row in rows])


# The whole definition.


def check_definition(config: Config, pre: State, event: Op, step: Step) -> tuple[Rule, ...]:
    """Return the rule of the operation if the step is not as defined or leaves its frame, else nothing."""
    return () if is_defined(config, pre, event, step) else (event.rule,)


def is_defined(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a step equals the definition of its operation and keeps to its frame."""
    if is_misplaced(pre, event):
        return step == Step(pre, outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT), ())
    if not step.parts and step.state is pre and not step.rows and type(event) in LOOKING_OPS:
        return ANSWERS[type(event)](config, pre, event, step)
    if changes_outside(pre, event, step) or not all(
        _is_defined_part(config, part.pre, part.event, part.step) for part in step.parts
    ):
        return False
    first = is_opening(pre, event, step)
    if is_in_flight(pre, event) or decides_ranges(pre, step):
        return is_defined_in_flight(config, pre, event, step) and ledger_rows_follow(config, pre, event, step, first)
    if event.level == "ledger":
        return is_defined_ledger(config, pre, event, step) and ledger_rows_follow(config, pre, event, step, first)
    return (
        is_open_as_defined(event, step, first)
        and _is_defined_part(config, pre, event, step)
        and has_its_parts(config, pre, event, step)
        and rows_follow(config, pre, event, step, first)
    )


def is_open_as_defined(event: Any, step: Step, first: bool) -> bool:
    """Check that a step opens the cache that it names; after `remove_cache` the cache is closed."""
    is_closing = type(event) is RemoveCache
    return not (first or is_closing) or step.state.caches[event.cache].is_open is not is_closing


def _is_defined_part(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a step without parts, or one part, leaves the defined state and answer."""
    if type(event) in PASS_OPS:
        return refusable(config, pre, event) or is_defined_pass(config, pre, event, step)  # type: ignore[arg-type]
    return ANSWERS[type(event)](config, pre, event, step) and keeps_held_positions(config, pre, event, step)


__all__ = ["BETWEEN_PARTS", "MAY_CHANGE", "check_definition", "is_defined"]
