"""The laws about `read`, `read_one` and `release`, and about the permits of reads.

What a read serves and what it caches are checked apart. R-READ-8, R-READ-9, R-READ-12 and R-METRICS-6 take the answered
hits for granted; R-READ-7 checks whether they are right. The laws of deliveries follow the holds: a position is held
from its read to its release, and a release takes one expected read from an entry that is still cached.

The laws of permits compare the limiter before and after a step. They take the requests that fit from sums of permits.
"""

from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import (
    Config,
    CountFloor,
    DuplicateCount,
    LimiterOrder,
    LimiterTimeout,
    ZeroReads,
)
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.laws.state import is_to_refuse, refuses
from entrycache_reference.pulsar_pip430.ops import (
    Acquire,
    Advance,
    Evict,
    Expire,
    Get,
    GiveBack,
    Insert,
    LimiterState,
    MarkRead,
    Op,
    Read,
    ReadBegin,
    ReadOne,
    Release,
    ReplayAdd,
    ReplayBegin,
    StorageAnswer,
)
from entrycache_reference.pulsar_pip430.outcomes import Decided, Permits, Permitted, Released, Served
from entrycache_reference.pulsar_pip430.state import (
    Limiter,
    Part,
    RangeRequest,
    Slot,
    State,
    Step,
    WaitingRequest,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position, ReadName, RequestName


def requested_positions(event: Read | ReadOne) -> list[Position]:
    """Return the positions that a read asks for, ascending."""
    if type(event) is ReadOne:
        return [event.pos]
    assert type(event) is Read
    return [Position(event.first.ledger, entry) for entry in range(event.first.entry, event.last.entry + 1)]


def is_read_allowed(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """Return whether the read is not refused."""
    return not law.refusable(config, pre, event)


def looked_up_by(parts: Sequence[Part]) -> list[Position]:
    """Return the positions that the first parts of a read looked up, up to the first part of another kind."""
    positions = []
    for part in parts:
        if type(part.event) is not Get:
            break
        positions.append(part.event.pos)
    return positions


def serves_what_is_cached(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Check R-READ-7; if a step names no parts, an entry can have been requeued since it was marked."""
    wanted = [pos for pos in requested_positions(event) if law.cached_entry(pre, event.cache, pos) is not None]
    if type(step.outcome) is not Served or list(step.outcome.hits) != wanted:
        return False
    return (not step.parts and not wanted) or looked_up_by(step.parts) == wanted


def leaves_a_gap(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Return whether a position of the range is not served from the cache."""
    if type(step.outcome) is not Served or law.refusable(config, pre, event):
        return False
    return len(step.outcome.hits) != event.last.entry - event.first.entry + 1


def the_rest_from_storage(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Check R-READ-8."""
    outcome = step.outcome
    return type(outcome) is Served and list(outcome.fills) == [
        pos for pos in requested_positions(event) if pos not in outcome.hits
    ]


def reads_from_storage(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """Return whether storage has given something."""
    return type(step.outcome) is Served and bool(step.outcome.fills)


def fills_to_judge(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Return whether storage has given something; 0 expected reads that count are left to R-READ-13."""
    return reads_from_storage(config, pre, event, step) and not does_zero_count(config, event)


def does_zero_count(config: Config, event: Read) -> bool:
    """Return whether the fills carry 0 expected reads as a count."""
    return event.expected_reads == 0 and config.variants.zero_reads is ZeroReads.COUNTED


def fills_with_zero(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Return whether storage has given something, and 0 expected reads are a count."""
    return does_zero_count(config, event) and reads_from_storage(config, pre, event, step)


def cached_with_zero(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Check R-READ-13."""
    return all_offered(config, event, step)


def fills_in_order(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Check R-READ-9; R-TRIGGER-2 and R-TRIGGER-4 check the trigger of each fill."""
    if not is_chained(pre, step):
        return False
    if event.expected_reads <= 0 or config.max_size_bytes == 0:
        inserted = any(type(part.event) is Insert and law.is_inserted(part.step) for part in step.parts)
        added = (pos for pos in fills_of(step) if law.cached_entry(pre, event.cache, pos) is None)
        return not inserted and not any(law.cached_entry(step.state, event.cache, pos) for pos in added)
    return all_offered(config, event, step)


def all_offered(config: Config, event: Read, step: Step) -> bool:
    """Return whether every fill was offered to the cache, one by one, with the count of the read."""
    size_bytes = config.storage_entry_size
    return [part.event for part in step.parts if type(part.event) is Insert] == [
        Insert(event.cache, pos, size_bytes, event.expected_reads, pos.entry) for pos in fills_of(step)
    ]


def fills_of(step: Step) -> list[Position]:
    """Return what storage gave to a read, ascending."""
    return sorted(step.outcome.fills) if type(step.outcome) is Served else []


def is_chained(pre: State, step: Step) -> bool:
    """Return whether each part started from the state before it, and the step left no other content."""
    state = pre
    for part in step.parts:
        if state is not pre and not law.is_same_state(state, part.pre):
            return False
        state = part.step.state
    return state is pre or law.is_same_state(state, step.state)


def serves_but_caches_nothing(config: Config, pre: State, event: ReadOne, step: Step) -> bool:
    """Check R-READ-10."""
    outcome = step.outcome
    if type(outcome) is not Served or any(type(part.event) not in {Get, MarkRead} for part in step.parts):
        return False
    before, after = law.cached_entry(pre, event.cache, event.pos), law.cached_entry(step.state, event.cache, event.pos)
    if before is None:
        return (outcome.hits, outcome.fills) == ((), (event.pos,)) and after is None
    wanted = before._replace(accessed=True)
    served = (outcome.hits, outcome.fills) == ((event.pos,), ())
    return served and after is not None and after._replace(expected_reads=before.expected_reads) == wanted


def hands_over_payloads(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """Return whether payloads are carried: every hit has one, or the answer without a hit holds some."""
    outcome = step.outcome
    if type(outcome) is not Served:
        return False
    entries = [law.cached_entry(pre, event.cache, pos) for pos in outcome.hits]
    if not entries:
        return outcome.tokens is not None
    return all(entry is not None and entry.token is not None for entry in entries)


def the_payloads_of_these(config: Config, pre: State, event: Read | ReadOne, step: Step) -> bool:
    """Check R-READ-12."""
    outcome = step.outcome
    if type(outcome) is not Served or outcome.tokens is None:
        return False
    entries = [law.cached_entry(pre, event.cache, pos) for pos in outcome.hits]
    wanted = [entry.token for entry in entries if entry is not None] + [pos.entry for pos in outcome.fills]
    return list(outcome.tokens) == wanted


STORAGE_READS_LAWS: Final = (
    law.Law(Rule.READ_7, (Read,), is_read_allowed, serves_what_is_cached, True),
    law.Law(Rule.READ_8, (Read,), leaves_a_gap, the_rest_from_storage, True),
    law.Law(Rule.READ_9, (Read,), fills_to_judge, fills_in_order, True),
    law.Law(Rule.READ_10, (ReadOne,), is_read_allowed, serves_but_caches_nothing, True),
    law.Law(Rule.READ_11, (Read, ReadOne), is_to_refuse, refuses, True),
    law.Law(Rule.READ_13, (Read,), fills_with_zero, cached_with_zero, True),
    law.Law(Rule.READ_12, (Read, ReadOne), hands_over_payloads, the_payloads_of_these, True),
)


# Laws about holds and releases.


def is_at_the_floor(config: Config, count: int | None) -> bool:
    """Return whether this count cannot fall; R-COUNT-8 says what happens then."""
    return count is not None and count <= 0 and config.variants.count_floor is CountFloor.ZERO


def started_at(config: Config, pre: State, event: Read | ReadOne, pos: Position, step: Step) -> int | None:
    """Return the count with which a position was handed over: as its insert left it, if the step names one."""
    for part in step.parts:
        if type(part.event) is Insert and part.event.pos == pos:
            added = law.cached_entry(part.step.state, event.cache, pos)
            return None if added is None else added.expected_reads
    before = law.cached_entry(pre, event.cache, pos)
    if before is not None:
        return before.expected_reads
    if isinstance(event, ReadOne) or event.expected_reads < 0:
        return None
    if event.expected_reads == 0 and config.variants.zero_reads is ZeroReads.UNCOUNTED:
        return None
    return event.expected_reads


def delivers(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """Return whether the step hands something over, or gives back an entry that is still cached."""
    if type(event) is not Release:
        return not law.refusable(config, pre, event)
    is_open = not law.refusable(config, pre, event)
    return (
        is_open and not law.decides_ranges(pre, step) and any(held.is_cached for held in pre.holds.get(event.hold, ()))
    )


def one_fewer_each(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """Check R-COUNT-5 by the states before and after; a pass in between changes no count."""
    if isinstance(event, Release):
        return all(_one_fewer(config, pre, step, held.slot) for held in pre.holds[event.hold] if held.is_cached)
    for pos in requested_positions(event):
        after = law.cached_entry(step.state, event.cache, pos)
        if after is not None:
            count = started_at(config, pre, event, pos, step)
            if count is not None and event.hold is ABSENT:
                if is_at_the_floor(config, count):
                    continue
                count -= 1
            if after.expected_reads != count:
                return False
    return True


def _one_fewer(config: Config, pre: State, step: Step, slot: Slot) -> bool:
    before, after = law.cached_entry(pre, slot.cache, slot.pos), law.cached_entry(step.state, slot.cache, slot.pos)
    if before is None or before.expected_reads is None:
        return after == before
    if is_at_the_floor(config, before.expected_reads):
        return True
    return after == before._replace(expected_reads=before.expected_reads - 1)


def holds_something(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether something is held, before the step or after it, and the step changed something."""
    return bool(pre.holds or step.state.holds) and step.state is not pre


def claims_follow_entries(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-COUNT-6: a claim is on the entry that was read, and ends when that entry leaves.

    A claim also ends if a duplicate has brought another count (R-INSERT-8). An entry leaves and comes back in one step
    only where a cursor reads several chunks; the claim does not come back with it.
    """
    caches = step.state.caches
    recounted: set[Slot] = set()
    if config.variants.duplicate_count is DuplicateCount.REPLACED:
        doubled = [part.event for part in step.parts if not law.is_inserted(part.step)]
        recounted = {Slot(one.cache, one.pos) for one in (event, *doubled) if isinstance(one, Insert)}
    inserts = (part for part in step.parts if isinstance(part.event, Insert) and law.is_inserted(part.step))
    anew = {Slot(part.event.cache, part.event.pos) for part in inserts if isinstance(part.event, Insert)}
    for name, held_positions in step.state.holds.items():
        if ReadName(name) in pre.pending.of_cursors:
            continue  # the read may give a position back and get it again; R-INFLIGHT-4 is about what it gets
        earlier = {held.slot: held.is_cached for held in pre.holds.get(name, ())}
        for held in held_positions:
            cache = caches.get(held.slot.cache)
            there = cache is not None and held.slot.pos in cache.entries and held.slot not in recounted
            if held.is_cached != (
                there and earlier.get(held.slot, True) and not (held.slot in anew and held.slot in earlier)
            ):
                return False
    if type(event) is not Release or law.decides_ranges(pre, step):
        return True
    return all(
        law.cached_entry(step.state, held.slot.cache, held.slot.pos)
        == law.cached_entry(pre, held.slot.cache, held.slot.pos)
        for held in pre.holds.get(event.hold, ())
        if not held.is_cached
    )


def names_a_hold(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """Return whether the event names a hold, and is not refused as a read."""
    if type(event) is Release:
        return True
    return event.hold is not ABSENT and not law.refusable(config, pre, event)


def kept_by_passes(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-COUNT-7: what a name holds stays, in its order, even if a pass removes some of it."""
    held_positions = step.state.holds
    return held_positions.keys() == pre.holds.keys() and all(
        [held.slot for held in held_positions[name]] == [held.slot for held in before]
        for name, before in pre.holds.items()
    )


def opened_and_freed(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """Check R-COUNT-7: a name is open from the read that used it until its release."""
    after = {name: [held.slot for held in held_positions] for name, held_positions in step.state.holds.items()}
    wanted = {name: [held.slot for held in held_positions] for name, held_positions in pre.holds.items()}
    if isinstance(event, Release):
        slots = None if law.refusable(config, pre, event) else wanted.pop(event.hold, None)
        if slots is None or not isinstance(step.outcome, Released):
            return slots is None and step.outcome == law.REFUSED and after == wanted
        others = frozenset(after) - pre.pending.of_cursors.keys()
        wanted = {name: wanted.get(name, []) for name in others | {*wanted} - pre.pending.of_cursors.keys()}
        is_answered = step.outcome.released == len(slots)
        if not law.decides_ranges(pre, step):
            is_answered = step.outcome == Released(len(slots))
        return is_answered and wanted == {name: after.get(name, []) for name in wanted}
    if event.hold is not ABSENT:
        wanted[event.hold] = [Slot(event.cache, pos) for pos in requested_positions(event)]
    return after == wanted


DELIVERIES_LAWS: Final = (
    law.Law(Rule.COUNT_5, (Read, ReadOne, Release), delivers, one_fewer_each, True),
    law.Law(Rule.COUNT_6, (), holds_something, claims_follow_entries, True),
    law.Law(Rule.COUNT_7, (Read, ReadOne, Release), names_a_hold, opened_and_freed, True),
    law.Law(Rule.COUNT_7, (Expire, Evict), holds_something, kept_by_passes, True),
)


# Permits.


READING_OPS: Final = (ReadBegin, ReplayBegin, StorageAnswer, Release, ReplayAdd, Advance)
"""The operations in which reads by cursors take permits or give them back."""


class Service(NamedTuple):
    """The waiting requests that are served when permits come free, with their permits, and those that stay."""

    granted: tuple[tuple[RequestName | RangeRequest, int], ...]
    left: tuple[WaitingRequest, ...]


def served_by_sums(config: Config, free: int, waiting: tuple[WaitingRequest, ...]) -> Service:
    """Return the longest part of the queue whose permits fit, or the head alone if it takes the whole limit."""
    limit = config.max_reads_in_flight_bytes
    sums = list(accumulate(request.permits for request in waiting))
    fitting = sum(1 for _ in takewhile(lambda total: total <= free, sums))
    if waiting and free == limit < waiting[0].permits:
        return Service(((waiting[0].name, limit),), waiting[1:])
    return Service(tuple((request.name, request.permits) for request in waiting[:fitting]), waiting[fitting:])


def is_leaving_permits(
    config: Config, pre: State, step: Step, freed: Limiter, gone: tuple[RequestName | RangeRequest, ...]
) -> bool:
    """Return whether exactly these requests failed, and then those were served that fit into what was freed."""
    service = served_by_sums(config, freed.free, freed.waiting)
    if gone and config.variants.limiter_timeout is LimiterTimeout.LEAVES:
        service = Service((), freed.waiting)
    after = step.state.limiter
    decided = (*((name, 0) for name in gone), *service.granted)
    names = tuple((name, permits) for name, permits in decided if not isinstance(name, RangeRequest))
    return (
        step.outcome == Decided(names or None)
        and after.waiting == service.left
        and after.out == {**freed.out, **dict(service.granted)}
    )


def may_be_granted(config: Config, pre: State) -> bool:
    """Return whether a request that fits is granted at once."""
    return not pre.limiter.waiting or config.variants.limiter_order is LimiterOrder.OVERTAKING


def fits_into_the_free(config: Config, pre: State, event: Acquire, step: Step) -> bool:
    """Return whether the request asks for no more than is free."""
    return not law.refusable(config, pre, event) and event.permits <= pre.limiter.free


def is_granted(pre: State, event: Acquire, step: Step, permits: int) -> bool:
    """Return whether the request has these permits now, and nobody else's place has changed."""
    after = step.state.limiter
    has_permits = step.outcome == Permitted(permits) and after.out == {**pre.limiter.out, event.id: permits}
    return has_permits and after.waiting == pre.limiter.waiting


def is_granted_unless_others_wait(config: Config, pre: State, event: Acquire, step: Step) -> bool:
    """Check R-LIMIT-2."""
    if not may_be_granted(config, pre):
        return event.id not in step.state.limiter.out
    return is_granted(pre, event, step, event.permits)


def is_above_the_limit(config: Config, pre: State, event: Acquire, step: Step) -> bool:
    """Return whether the request asks for more than there is."""
    return not law.refusable(config, pre, event) and event.permits > config.max_reads_in_flight_bytes


def is_granted_all_of_it(config: Config, pre: State, event: Acquire, step: Step) -> bool:
    """Check R-LIMIT-3."""
    limit = config.max_reads_in_flight_bytes
    if pre.limiter.out or not may_be_granted(config, pre):
        return event.id not in step.state.limiter.out
    return is_granted(pre, event, step, limit)


def is_to_wait(config: Config, pre: State, event: Acquire, step: Step) -> bool:
    """Return whether the request does not fit, or is not granted."""
    limiter = pre.limiter
    fits = event.permits <= limiter.free or (event.permits > config.max_reads_in_flight_bytes and not limiter.out)
    return not law.refusable(config, pre, event) and not (fits and event.id in step.state.limiter.out)


def waits_at_the_tail(config: Config, pre: State, event: Acquire, step: Step) -> bool:
    """Check R-LIMIT-4."""
    waiting = pre.limiter.waiting
    has_room = len(waiting) < config.acquire_queue
    if has_room:
        waiting += (WaitingRequest(event.id, event.permits, pre.now_nanos),)
    return step.outcome == Permitted(None if has_room else 0) and step.state.limiter == Limiter(
        pre.limiter.free, pre.limiter.out, waiting
    )


def has_permits(config: Config, pre: State, event: GiveBack, step: Step) -> bool:
    """Return whether permits are given back."""
    return event.id in pre.limiter.out


def serves_from_the_head(config: Config, pre: State, event: GiveBack, step: Step) -> bool:
    """Check R-LIMIT-5."""
    out = {name: permits for name, permits in pre.limiter.out.items() if name != event.id}
    freed = Limiter(config.max_reads_in_flight_bytes - sum(out.values()), out, pre.limiter.waiting)
    return is_leaving_permits(config, pre, step, freed, ())


def has_waiting_ones(config: Config, pre: State, event: Advance, step: Step) -> bool:
    """Return whether time passes while requests wait."""
    return event.nanos >= 0 and bool(pre.limiter.waiting)


def late_ones(config: Config, pre: State, event: Advance) -> list[WaitingRequest]:
    """Return the requests from the head on that have waited for as long as they may."""
    now_millis = (pre.now_nanos + event.nanos) // 10**6
    longest = config.acquire_timeout_millis

    def is_late(request: WaitingRequest) -> bool:
        return longest > 0 and now_millis - request.since_nanos // 10**6 >= longest

    return list(takewhile(is_late, pre.limiter.waiting))


def fails_the_late_ones(config: Config, pre: State, event: Advance, step: Step) -> bool:
    """Check R-LIMIT-6."""
    late = late_ones(config, pre, event)
    if any(isinstance(request.name, RangeRequest) for request in pre.limiter.waiting):
        return fails_late_ranges(config, pre, step, late)
    if not late:
        return step.outcome == Decided() and step.state.limiter == pre.limiter
    freed = pre.limiter._replace(waiting=pre.limiter.waiting[len(late) :])
    return is_leaving_permits(config, pre, step, freed, tuple(request.name for request in late))


def fails_late_ranges(config: Config, pre: State, step: Step, late: list[WaitingRequest]) -> bool:
    """Check R-LIMIT-6, for reads by cursors: who is late has failed, and nobody fits any more who waits."""
    if not late:
        is_idle = step.outcome == Decided() and step.state.limiter == pre.limiter
        return is_idle or may_serve(config, pre.limiter)
    after, ended = step.state, {end.read: end for end in getattr(step.outcome, "done", None) or ()}
    for request in late:
        assert isinstance(request.name, RangeRequest)
        read = after.pending.of_cursors.get(request.name.read)
        is_waiting = request in after.limiter.waiting or request.name in after.limiter.out
        has_failed = any(gap.has_failed for cached in (() if read is None else read.finished) for gap in cached.gaps)
        if is_waiting or not (has_failed if read is not None else request.name.read in ended):
            return False
    leaves = config.variants.limiter_timeout is LimiterTimeout.LEAVES
    if leaves and not pre.limiter.out.keys() <= after.limiter.out.keys():
        return True  # permits that came back have served others
    kept = [request for request in pre.limiter.waiting if request not in late]
    return list(after.limiter.waiting[: len(kept)]) == kept if leaves else not may_serve(config, after.limiter)


def may_serve(config: Config, limiter: Limiter) -> bool:
    """Return whether the request at the head of those that wait fits."""
    return bool(served_by_sums(config, limiter.free, limiter.waiting).granted)


def has_a_limit(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether reads need permits."""
    return config.max_reads_in_flight_bytes > 0


def adds_up_to_the_limit(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-LIMIT-7."""
    limiter = step.state.limiter
    if type(event) is LimiterState and step.outcome != Permits(limiter.free, len(limiter.waiting)):
        return False
    return 0 <= limiter.free == config.max_reads_in_flight_bytes - sum(limiter.out.values())


PERMIT_LAWS: Final = (
    law.Law(Rule.LIMIT_2, (Acquire,), fits_into_the_free, is_granted_unless_others_wait),
    law.Law(Rule.LIMIT_3, (Acquire,), is_above_the_limit, is_granted_all_of_it),
    law.Law(Rule.LIMIT_4, (Acquire,), is_to_wait, waits_at_the_tail),
    law.Law(Rule.LIMIT_5, (GiveBack,), has_permits, serves_from_the_head),
    law.Law(Rule.LIMIT_6, (Advance,), has_waiting_ones, fails_the_late_ones, True),
    law.Law(Rule.LIMIT_7, (Acquire, GiveBack, LimiterState, *READING_OPS), has_a_limit, adds_up_to_the_limit, True),
)
