"""The laws about managed ledgers: appends, acknowledgements, what cursors make leave, and the permits of their reads.

Those of acknowledgements compare a cursor before and after; their *target* is the position up to which is acknowledged.
Those of what leaves look at the invalidations among the parts: which there are, and up to where. Those of permits look
at the ranges that are open after a step, and at what is held: which request each belongs to, and which are out."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import (
    Config,
    DeletedAcks,
    DisabledLimit,
    DueEverything,
    Invalidation,
    LimiterTimeout,
    Replay,
    Storage,
    ZeroReads,
)
from entrycache_reference.pulsar_pip430.laws.cursor_reads import (
    CURSOR_OPS,
    chunks_of,
    cursor_then,
    is_done,
    is_taken,
    parts_of,
    unread,
)
from entrycache_reference.pulsar_pip430.laws.law import (
    Law,
    cursor_named,
    decides_ranges,
    end_of,
    entries_there,
    refusable,
    removed_entries,
)
from entrycache_reference.pulsar_pip430.laws.storage_reads import READING_OPS, may_serve
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.outcomes import Appended, CursorAt, Removed
from entrycache_reference.pulsar_pip430.state import (
    Cache,
    CachedRange,
    HeldPosition,
    ManagedCursor,
    ManagedLedger,
    RangeRequest,
    ReadInFlight,
    State,
    Step,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, CacheName, HoldName, Position, ReadName


def is_wanted(config: Config, cache: Cache, now_nanos: int) -> bool:
    """Return whether an entry that is appended now is offered to the cache."""
    grace_millis = config.ttl_nanos // 500_000 if config.grace_millis is None else config.grace_millis
    in_grace = now_nanos // 10**6 < cache.grace_start_nanos // 10**6 + grace_millis
    return bool(cache.members) or (config.evict_by_expected_reads and in_grace)


def caches_with_the_number_of_cursors(config: Config, pre: State, event: ops.Append, step: Step) -> bool:
    """Check R-LEDGER-1."""
    cache = pre.caches.get(event.cache, Cache({}, 0, {}, pre.now_nanos))
    offers = [part.event for part in parts_of(step, ops.Insert)]
    if not is_wanted(config, cache, pre.now_nanos):
        return step.outcome == Appended(False, None) and not offers
    count = len(cache.members) if config.evict_by_expected_reads else ABSENT
    counts = isinstance(count, int) and (count > 0 or config.variants.zero_reads is ZeroReads.COUNTED)
    answered = count if counts and config.max_size_bytes > 0 else None
    answer = Appended(config.max_size_bytes > 0, answered if isinstance(answered, int) else None)
    return step.outcome == answer and offers == [ops.Insert(event.cache, event.pos, event.size, count, event.pos.entry)]


def rolls_over(config: Config, pre: State, event: ops.Append, step: Step) -> bool:
    """Return whether the append begins a new ledger behind another one."""
    managed = pre.managed.get(event.cache)
    return is_taken(config, pre, event, step) and managed is not None and event.pos.ledger not in managed.sizes


def passes_what_is_consumed(config: Config, pre: State, event: ops.Append, step: Step) -> bool:
    """Check R-LEDGER-2; R-LEDGER-10 says how far beyond the new ledger's beginning a cursor may get."""
    managed = pre.managed[event.cache]
    for name, cursor in managed.cursors.items():
        after = step.state.managed[event.cache].cursors[name].mark_delete
        later = [ledger for ledger in (*sorted(managed.sizes), event.pos.ledger) if ledger > cursor.mark_delete.ledger]
        lasts = [Position(ledger, len(sizes) - 1) for ledger, sizes in managed.sizes.items()]
        if cursor.mark_delete in lasts and cursor.mark_delete.entry >= 0:
            if after < (later[0], -1):
                return False
        elif after != cursor.mark_delete:
            return False
    return True


# Acknowledgements.


def entry_after(managed: ManagedLedger, pos: Position) -> Position:
    """Return the first entry above a position, or the next append."""
    return next((there for there in entries_there(managed) if there > pos), end_of(managed))


def first_run_of_acks(cursor: ManagedCursor) -> list[Position]:
    """Return the first run of acknowledged neighbours; none if nothing is acknowledged one by one."""
    runs = chunks_of(sorted(cursor.acks))
    return runs[0] if runs else []


def acked_up_to(managed: ManagedLedger, cursor: ManagedCursor, target: Position) -> Position:
    """Return the position up to which nothing is left once everything up to the target is acknowledged."""
    if not target > cursor.mark_delete:
        return target
    above = (pos for pos in entries_there(managed) if pos > target)
    return max((target, *takewhile(lambda pos: pos in cursor.acks, above)))


def target_of(pre: State, event: ops.MarkDelete | ops.Ack) -> Position | None:
    """Return the position up to which the event acknowledges; None if it leaves a gap."""
    cursor = cursor_named(pre, event)
    assert cursor is not None
    if type(event) is ops.MarkDelete:
        return event.pos
    if not is_done(cursor, event.pos):
        cursor = cursor._replace(acks=cursor.acks | {event.pos})
    run = first_run_of_acks(cursor)
    if not run or entry_after(pre.managed[event.cache], cursor.mark_delete) < run[0]:
        return None
    return run[-1]


def acknowledges_up_to(config: Config, pre: State, event: ops.MarkDelete | ops.Ack, step: Step) -> bool:
    """Return whether the event moves the mark-delete position."""
    return is_taken(config, pre, event, step) and target_of(pre, event) is not None


def leaves_no_acked_neighbour(config: Config, pre: State, event: ops.MarkDelete | ops.Ack, step: Step) -> bool:
    """Check R-LEDGER-10."""
    before, after = cursor_named(pre, event), cursor_then(step, event)
    target = target_of(pre, event)
    assert before is not None
    assert target is not None
    managed = pre.managed[event.cache]
    acks = before.acks | ({event.pos} if type(event) is ops.Ack else frozenset())
    end = acked_up_to(managed, before._replace(acks=acks), target)
    read = before.read if before.read > end else entry_after(managed, end)
    return after.mark_delete == end and after.acks == {pos for pos in acks if pos > end} and after.read == read


def tells_where_it_stands(config: Config, pre: State, event: ops.CursorState, step: Step) -> bool:
    """Check R-LEDGER-10, for the positions that a cursor shows."""
    cursor = cursor_named(pre, event)
    assert cursor is not None
    is_active = event.cursor in pre.caches[event.cache].members
    return step.outcome == CursorAt(cursor.read, cursor.mark_delete, is_active) and step.state == pre


def leaves_a_gap(config: Config, pre: State, event: ops.Ack, step: Step) -> bool:
    """Return whether the acknowledgement does not move the mark-delete position."""
    return is_taken(config, pre, event, step) and target_of(pre, event) is None


def remembers_the_ack(config: Config, pre: State, event: ops.Ack, step: Step) -> bool:
    """Check R-LEDGER-11."""
    before, after = cursor_named(pre, event), cursor_then(step, event)
    assert before is not None
    wanted = before.acks if is_done(before, event.pos) else before.acks | {event.pos}
    return after == before._replace(acks=wanted)


def backlog(config: Config, managed: ManagedLedger, cursor: ManagedCursor) -> int:
    """Return how many entries are unread, in variant `deleted_acks` less the acknowledged ones of deleted ledgers."""
    deleted = [pos for pos in cursor.acks if pos >= cursor.read and pos.ledger not in managed.sizes]
    is_less = config.variants.deleted_acks is DeletedAcks.SUBTRACTED
    return len(unread(managed, cursor)) - (len(deleted) if is_less else 0)


def flags_by_backlog(config: Config, pre: State, event: ops.CheckBacklogs, step: Step) -> bool:
    """Check R-LEDGER-12."""
    managed = pre.managed[event.cache]
    sizes = {name: backlog(config, managed, cursor) for name, cursor in managed.cursors.items() if cursor.is_durable}
    acts = config.min_backlog_cursors > 0 and not config.evict_by_expected_reads
    for name, cursor in managed.cursors.items():
        wanted = cursor.is_flagged
        if acts and name in sizes:
            near = sum(1 for size in sizes.values() if abs(size - sizes[name]) <= config.max_backlog_between)
            wanted = sizes[name] >= config.min_backlog_entries and near - 1 >= config.min_backlog_cursors
        if step.state.managed[event.cache].cursors[name] != cursor._replace(is_flagged=wanted):
            return False
    return True


# What leaves.


class Drop(NamedTuple):
    """One part that drops what lies below a position: the state before it, and the position."""

    pre: State
    pos: Position


def invalidations(step: Step) -> list[Drop]:
    """Return the parts that drop what lies below a position."""
    return [Drop(part.pre, part.event.pos) for part in step.parts if isinstance(part.event, ops.InvalidateBefore)]


ALL: Final = Position(INTEGER_MAX, INTEGER_MAX)
"""The position above all others, up to which all of a cache is dropped."""


def slowest_in(state: State, event: Any) -> Position:
    """Return the slowest tracked position of a cache; without one a position above all others."""
    return min((pos for pos in state.caches[event.cache].members.values() if pos is not None), default=ALL)


def counts_reads_of_readers(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether entries are counted by expected reads, and cursors are tracked where they read."""
    counts = config.evict_by_expected_reads and not config.evict_by_mark_deleted
    return counts and is_taken(config, pre, event, step)


def drops_nothing(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-LEDGER-13."""
    return not invalidations(step)


def decides_by_the_slowest(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the slowest cursor decides what leaves."""
    return not config.evict_by_expected_reads and is_taken(config, pre, event, step)


def drops_within_the_step(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the slowest cursor decides what leaves, before the step ends."""
    return config.invalidation is Invalidation.AT_ONCE and decides_by_the_slowest(config, pre, event, step)


def drops_by_a_call(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the slowest cursor decides what leaves when `run_invalidations` is called."""
    return config.invalidation is Invalidation.MANUAL and decides_by_the_slowest(config, pre, event, step)


def made_due(pre: State, event: Any, step: Step) -> list[Position]:
    """Return the position up to which a step with one move makes an invalidation due, if it does."""
    after = slowest_in(step.state, event)
    moved = slowest_in(pre, event) != after
    left = len(step.state.caches[event.cache].members) < len(pre.caches[event.cache].members)
    return [after] if (moved or left) and pre.caches[event.cache].size_bytes > 0 else []


def leaves_by_the_slowest(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-14: if the slowest cursor is another one, everything below it is dropped, once."""
    return [part.pos for part in invalidations(step)] == made_due(pre, event, step)


def higher_due(config: Config, due: Position | None, more: Position) -> Position:
    """Return the position up to which an invalidation waits when a further one is due."""
    is_replaced = due == ALL and config.variants.due_everything is DueEverything.REPLACED
    return more if due is None or is_replaced else max(due, more)


def waits_up_to_the_higher(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-14, for invalidations that wait: nothing is dropped, and of two the higher one waits."""
    due = pre.managed[event.cache].due
    for more in made_due(pre, event, step):
        due = higher_due(config, due, more)
    return not invalidations(step) and step.state.managed[event.cache].due == due


def waits_over_each_chunk(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-14, for steps of several moves while invalidations wait: the one that waits only rises."""
    before, due = pre.managed[event.cache].due, step.state.managed[event.cache].due
    after = slowest_in(step.state, event)
    moved = slowest_in(pre, event) != after
    cached = step.state.caches[event.cache].size_bytes > 0 and pre.caches[event.cache].size_bytes > 0
    least = higher_due(config, before, after) if moved and cached else before
    may_fall = before == ALL and config.variants.due_everything is DueEverything.REPLACED
    is_kept = least is None or may_fall or (due is not None and due >= least)
    return not invalidations(step) and is_kept


def runs_what_is_due(config: Config, pre: State, event: ops.RunInvalidations, step: Step) -> bool:
    """Check R-LEDGER-14, for the call: it drops what lies below the position that is due, and says how much."""
    gone, due = removed_entries(pre, step), pre.managed[event.cache].due
    wanted = {pos for pos in pre.caches[event.cache].entries if due is not None and pos < due}
    is_counted = step.outcome == Removed(len(gone), sum(gone.values()))
    return is_counted and wanted == {slot.pos for slot in gone} and step.state.managed[event.cache].due is None


def follows_each_chunk(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-14, for steps of several moves: each invalidation is up to the slowest cursor of its moment."""
    places = [part.pos for part in invalidations(step)]
    at_once = all(part.pos == slowest_in(part.pre, event) for part in invalidations(step))
    after = slowest_in(step.state, event)
    moved = slowest_in(pre, event) != after
    cached = step.state.caches[event.cache].size_bytes > 0 and pre.caches[event.cache].size_bytes > 0
    return at_once and (not (moved and cached) or places[-1:] == [after])


def joins_without_loss(config: Config, pre: State, event: ops.Activate | ops.CursorOpen, step: Step) -> bool:
    """Check R-LEDGER-15."""
    is_durable_open = type(event) is ops.CursorOpen and event.durable
    joined = event.cursor in step.state.caches[event.cache].members
    places = [part.pos for part in invalidations(step)]
    before, due = pre.managed[event.cache].due, step.state.managed[event.cache].due
    places += [] if due is None or due == before else [due]
    return joined and (is_durable_open or not places) and all(pos == slowest_in(step.state, event) for pos in places)


def has_both_flags(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether entries are counted by expected reads, and cursors are tracked where they have acknowledged."""
    both = config.evict_by_expected_reads and config.evict_by_mark_deleted
    return both and is_taken(config, pre, event, step)


def ranks_by_acknowledgement(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-16."""
    cursors = step.state.managed[event.cache].cursors
    members = step.state.caches[event.cache].members
    return not invalidations(step) and all(pos == cursors[name].mark_delete for name, pos in members.items())


def drops_that_ledger(config: Config, pre: State, event: ops.DeleteLedger, step: Step) -> bool:
    """Check R-LEDGER-17, for a deleted ledger: its entries leave, and cursors stay."""
    gone = removed_entries(pre, step)
    cached = {pos for pos in pre.caches[event.cache].entries if pos.ledger == event.ledger}
    cursors = step.state.managed[event.cache].cursors == pre.managed[event.cache].cursors
    return step.outcome == Removed(len(gone), sum(gone.values())) and cached == {slot.pos for slot in gone} and cursors


def drops_nothing_by_itself(config: Config, pre: State, event: ops.Append, step: Step) -> bool:
    """Check R-LEDGER-17, for a rollover: only passes and cursors make something leave."""
    return not parts_of(step, ops.InvalidateLedger, ops.Clear, ops.RemoveRange)


# Other caches.


def touches_no_other(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-LEDGER-20."""
    own = getattr(event, "cache", None)
    after = step.state
    return all(after.managed.get(name) == managed for name, managed in pre.managed.items() if name != own) and all(
        after.caches[name].members == cache.members for name, cache in pre.caches.items() if name != own
    )


def has_managed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether there is a managed ledger that the step could touch, and no read goes on that waited."""
    return bool(pre.managed) and not decides_ranges(pre, step)


PASSES: Final = (ops.Expire, ops.Evict, ops.Cycle, ops.RunScheduled)

TRACKING_OPS: Final = (*CURSOR_OPS, ops.Activate, ops.CursorOpen, ops.CursorRead, ops.ReplayRead, ops.Append)

# Permits of reads by cursors.


def take_permits(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether the step is one of reads by cursors, which take permits, and it is not refused."""
    is_held = config.max_reads_in_flight_bytes > 0 and config.storage is Storage.HELD
    is_off = config.max_size_bytes == 0 and config.variants.disabled_limit is DisabledLimit.IGNORED
    return is_held and not is_off and not refusable(config, pre, event)


class NewRange(NamedTuple):
    """A range that a read by a cursor has asked permits for in a step, and that it still waits for."""

    name: ReadName
    read: ReadInFlight
    range: CachedRange
    is_waiting: bool


def new_ranges(pre: State, step: Step) -> Iterator[NewRange]:
    """Yield the ranges that reads have asked permits for in a step, of those that are not there yet."""
    for name, read in step.state.pending.of_cursors.items():
        before = pre.pending.of_cursors.get(name)
        for cached in (*read.ranges, *read.waiting):
            known = () if before is None else (*before.ranges, *before.waiting)
            place = (cached.first, cached.last, cached.request)
            if all((other.first, other.last, other.request) != place for other in known):
                yield NewRange(name, read, cached, cached in read.waiting)


def asks_for_ranges(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a read has asked for the permits of a range, and has it or will get it."""
    if not take_permits(config, pre, event, step):
        return False
    wanted = (not any(gap.has_failed for gap in new.range.gaps) for new in new_ranges(pre, step))
    return any(wanted) or bool(held_since(event, step))


def held_since(event: Op, step: Step) -> tuple[HeldPosition, ...]:
    """Return what a read has got in the step that began it."""
    if not isinstance(event, ops.ReadBegin | ops.ReplayBegin):
        return ()
    return step.state.holds.get(HoldName(event.read), ())


def takes_the_estimate(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-LIMIT-1: a range has its permits, or waits for them and has looked at nothing."""
    limiter, limit = step.state.limiter, config.max_reads_in_flight_bytes
    waiting = {request.name: request.permits for request in limiter.waiting}
    if any(held.request is None for held in held_since(event, step)):
        return False
    for name, read, cached, is_waiting in new_ranges(pre, step):
        if cached.request is None:
            return False
        before = pre.pending.of_cursors.get(name)
        if any(gap.has_failed for gap in cached.gaps) or (before is not None and cached.request < before.requests):
            continue
        request, entries = RangeRequest(name, cached.request), cached.last.entry - cached.first.entry + 1
        wanted = [entries * (64 + each) for each in sizes_estimated(pre, step, read.cache, cached.first.ledger)]
        given = waiting.get(request) if is_waiting else limiter.out.get(request)
        if given not in [permits if is_waiting else min(limit, permits) for permits in wanted]:
            return False
        held = step.state.holds.get(HoldName(name), ())
        if is_waiting and (cached.gaps or any(one.request == cached.request for one in held)):
            return False
    return True


def sizes_estimated(pre: State, step: Step, name: CacheName, ledger: int) -> set[int]:
    """Return the sizes that an entry of a ledger may be taken to have: before the step, or after it."""
    sizes = pre.managed[name].sizes[ledger]
    if any(sizes):
        return {max(1, sum(sizes) // len(sizes))}
    taken = (pre.managed[name], step.state.managed[name])
    return {max(10_240, one.taken_bytes // one.taken_entries if one.taken_entries else 0) for one in taken}


def replays_in_groups(config: Config, pre: State, event: ops.ReplayBegin, step: Step) -> bool:
    """Return whether a grouped replay that takes permits begins and does not end at once."""
    is_grouped = config.variants.replay is Replay.GROUPED and take_permits(config, pre, event, step)
    return is_grouped and event.read in step.state.pending.of_cursors


def reads_no_more_than_the_limit(config: Config, pre: State, event: ops.ReplayBegin, step: Step) -> bool:
    """Check R-LIMIT-1, for what a grouped replay reads beside its positions: the limit has room for all of it."""
    read = step.state.pending.of_cursors[event.read]
    ranges = (*read.ranges, *read.waiting, *read.finished)
    read_entries = [(one.first.ledger, entry) for one in ranges for entry in range(one.first.entry, one.last.entry + 1)]
    between = [*(Counter(read_entries) - Counter((pos.ledger, pos.entry) for pos in read.wanted)).elements()]
    sizes = pre.managed[read.cache].sizes
    has_unknown = any(not any(sizes[pos.ledger]) for pos in read.wanted)
    if has_unknown or not between:
        return not between
    ledgers = {pos.ledger for pos in read.wanted}
    entry_bytes = {ledger: 64 + min(sizes_estimated(pre, step, read.cache, ledger)) for ledger in ledgers}
    left_bytes = config.max_reads_in_flight_bytes - sum(entry_bytes[pos.ledger] for pos in read.wanted)
    return len(between) * entry_bytes[max(between)[0]] <= left_bytes


def are_permits_out(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether permits of reads by cursors are out, before the step or after it."""
    both = (*pre.limiter.out, *step.state.limiter.out)
    return take_permits(config, pre, event, step) and any(isinstance(name, RangeRequest) for name in both)


def are_out_while_held(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-LIMIT-5, for reads by cursors: permits are out exactly while something of their range is, in order."""
    after, reads = step.state.limiter, step.state.pending.of_cursors
    used = {
        RangeRequest(name, one.request)
        for name, read in reads.items()
        for one in read.ranges
        if one.request is not None
    }
    for name, held in step.state.holds.items():
        used |= {RangeRequest(ReadName(name), one.request) for one in held if one.request is not None}
    left = tuple(request for request in after.waiting if request in pre.limiter.waiting)
    in_order = left == pre.limiter.waiting[len(pre.limiter.waiting) - len(left) :]
    has_given_back = not pre.limiter.out.keys() <= after.out.keys()
    serves = config.variants.limiter_timeout is LimiterTimeout.SERVES and has_given_back
    out = {name for name in after.out if isinstance(name, RangeRequest)}
    return used == out and in_order and not (serves and may_serve(config, after))


def has_to_wait(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a range that a read wants has to wait for permits from now on."""
    waiting = step.state.limiter.waiting
    return any(isinstance(one.name, RangeRequest) and one not in pre.limiter.waiting for one in waiting)


def waits_behind_the_others(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-LIMIT-4, for reads by cursors: new requests wait behind the old ones, and there is room for them.

    Each request waits once, and those of one read in the order of its ranges.
    """
    waiting = step.state.limiter.waiting
    is_new = [request not in pre.limiter.waiting for request in waiting]
    names = [request.name for request in waiting]
    of_reads = [name for name in names if isinstance(name, RangeRequest)]
    in_order = all(one.number < later.number for one, later in pairwise(of_reads) if one.read == later.read)
    return is_new == sorted(is_new) and len(is_new) <= config.acquire_queue and in_order and len({*names}) == len(names)


def reads_a_later_chunk(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a read asks for the permits of a chunk while it has something of earlier ones."""
    return take_permits(config, pre, event, step) and any(
        new.read.most is not None and bool(earlier_of(step, new)) for new in new_ranges(pre, step)
    )


def earlier_of(step: Step, new: NewRange) -> list[HeldPosition]:
    """Return what a read has got of the chunks before a new one."""
    held = step.state.holds.get(HoldName(new.name), ())
    return [one for one in held if not new.range.first <= one.slot.pos <= new.range.last]


def has_permits_of_its_own(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-LIMIT-8: a later chunk has its own request, and what the read has got before keeps its permits."""
    out = step.state.limiter.out
    for new in new_ranges(pre, step):
        if new.read.most is not None:
            for held in earlier_of(step, new):
                if held.request is None or held.request == new.range.request:
                    return False
                if RangeRequest(new.name, held.request) not in out:
                    return False
    return True


def has_reads_in_flight(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a read is in flight before the step, or changes by it."""
    pending = pre.pending
    return bool(pending.asks or pending.of_cursors or pending.reads) or step.state.pending != pending


def joins_nothing_cleared(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-INFLIGHT-6, for what cursors drop: of a cache that is cleared no open ask is joinable any more."""
    is_cleared = any(part.pos == ALL for part in invalidations(step))
    asks = {
        number: ask._replace(is_joinable=ask.is_joinable and not (is_cleared and ask.cache == event.cache))
        for number, ask in pre.pending.asks.items()
    }
    return step.state.pending == pre.pending._replace(asks=asks)


LEDGER_LAWS: Final = (
    Law(
        Rule.INFLIGHT_6,
        (ops.Deactivate, ops.CursorClose, ops.RunInvalidations),
        has_reads_in_flight,
        joins_nothing_cleared,
        True,
    ),
    Law(Rule.LEDGER_1, (ops.Append,), is_taken, caches_with_the_number_of_cursors, True),
    Law(Rule.LEDGER_2, (ops.Append,), rolls_over, passes_what_is_consumed, True),
    Law(Rule.LEDGER_10, (ops.MarkDelete, ops.Ack), acknowledges_up_to, leaves_no_acked_neighbour, True),
    Law(Rule.LEDGER_10, (ops.CursorState,), is_taken, tells_where_it_stands, True),
    Law(Rule.LEDGER_11, (ops.Ack,), leaves_a_gap, remembers_the_ack, True),
    Law(Rule.LEDGER_12, (ops.CheckBacklogs,), is_taken, flags_by_backlog, True),
    Law(Rule.LEDGER_13, (*TRACKING_OPS, ops.RunInvalidations), counts_reads_of_readers, drops_nothing, True),
    Law(Rule.LEDGER_14, CURSOR_OPS, drops_within_the_step, leaves_by_the_slowest, True),
    Law(Rule.LEDGER_14, CURSOR_OPS, drops_by_a_call, waits_up_to_the_higher, True),
    Law(Rule.LEDGER_14, (ops.CursorRead, ops.ReplayRead), drops_within_the_step, follows_each_chunk, True),
    Law(Rule.LEDGER_14, (ops.CursorRead, ops.ReplayRead), drops_by_a_call, waits_over_each_chunk, True),
    Law(Rule.LEDGER_14, (ops.RunInvalidations,), is_taken, runs_what_is_due, True),
    Law(Rule.LEDGER_15, (ops.Activate, ops.CursorOpen), decides_by_the_slowest, joins_without_loss, True),
    Law(Rule.LEDGER_16, TRACKING_OPS, has_both_flags, ranks_by_acknowledgement, True),
    Law(Rule.LEDGER_17, (ops.DeleteLedger,), is_taken, drops_that_ledger, True),
    Law(Rule.LEDGER_17, (ops.Append,), rolls_over, drops_nothing_by_itself, True),
    Law(Rule.LEDGER_20, (*ops.LEDGER_OPS, *PASSES), has_managed, touches_no_other, True),
)

RANGE_LAWS: Final = (
    Law(Rule.LIMIT_1, READING_OPS, asks_for_ranges, takes_the_estimate, True),
    Law(Rule.LIMIT_1, (ops.ReplayBegin,), replays_in_groups, reads_no_more_than_the_limit, True),
    Law(Rule.LIMIT_4, READING_OPS, has_to_wait, waits_behind_the_others, True),
    Law(Rule.LIMIT_5, READING_OPS, are_permits_out, are_out_while_held, True),
    Law(Rule.LIMIT_8, READING_OPS, reads_a_later_chunk, has_permits_of_its_own, True),
)
