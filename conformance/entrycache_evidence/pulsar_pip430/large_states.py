"""Runs of `pulsar-pip430` that begin in a state with more than 5,000 items of a collection, or with great numbers.

A proof of a loop says nothing about a bound outside of it, and a step-by-step run reaches only hundreds of items. So
each run here begins in a state that was built at once, and plays the operations that work on its large part. A test
demands such a state for every collection of the state, and great numbers for every integer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import config as configuration
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import (
    DEAD,
    Ask,
    Cache,
    CachedRange,
    Counts,
    Entry,
    HeldPosition,
    Limiter,
    ManagedCursor,
    ManagedLedger,
    OpenRange,
    OpenRead,
    PendingReads,
    RangeRequest,
    ReadInFlight,
    Slot,
    State,
    Wait,
    Waiter,
    WaitingRequest,
    initial,
)
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, HoldName, Position, ReadName, RequestName

Run = tuple[configuration.Config, tuple[State | ops.Op, ...]]

GREAT: Final = 2**53 + 2**31 + 7
"""A number that neither an integer of 32 bits nor a double holds."""
MAGNITUDES: Final = (0, 7, 2**16 + 1, 2**31 + 1, 2**32 + 1, 10**10 - 1, 10**11, GREAT)
"""Ids that no packing into 32 bits or ten digits keeps apart and in order."""
A: Final = CacheName("a")
C: Final = CursorName("c")
D: Final = CursorName("d")
ALL: Final = HoldName("all")


def at(entry: int, ledger: int = 1) -> Position:
    """Return a position, most often in ledger 1."""
    return Position(ledger, entry)


def build_entry(number: int, size_bytes: int = 100) -> Entry:
    """Build an entry that was inserted at that time; some were read, some expect reads, and some carry no payload."""
    count = 2 if number % 50 == 3 else None
    return Entry(size_bytes, number, 0, number % 50 == 7, count, number if number % 9 else None)


def begin_with_caches(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Count, hold, drop, evict and expire entries, each in a cache of its own, among dead slots."""
    names = [CacheName(f"{number * 7 % large:04}") for number in range(large)]
    slots = tuple(Slot(name, at(0)) for name in names)
    last = names[-1]
    state = initial(config)._replace(
        now_nanos=10**15,
        caches={name: Cache({at(0): build_entry(number)}, 100) for number, name in enumerate(names)},
        queue=tuple(slot for one in slots for slot in (one, DEAD)),
        size_bytes=100 * large,
        holds={HoldName(f"h{number}"): (HeldPosition(slot, True),) for number, slot in enumerate(slots)},
    )
    yield from (state, ops.Usage(), ops.Observe(), ops.Metrics(), ops.Get(last, at(0)), ops.ReadOne(last, at(0)))
    yield from (ops.GetRange(last, at(0), at(9)), ops.MarkRead(names[-47], at(0)), ops.ExpectRead(names[-47], at(0)))
    yield from (ops.Insert(last, at(1), 5, 2), ops.Read(last, at(0), at(2), 1, ALL), ops.Release(ALL))
    yield from (ops.Insert(CacheName("new"), at(1), 5, 2), ops.Insert(last, at(1), 5, 3))
    yield from (ops.Release(HoldName(f"h{large - 1}")), ops.Clear(names[-3]), ops.RemoveRange(last, at(0), at(0), True))
    yield from (ops.RemoveCache(names[-4]), ops.InvalidateLedger(names[-5], 1), ops.Advance(7), ops.Observe())
    yield ops.Configure(ttl_nanos=5)
    yield from (ops.CursorAdd(last, C, at(3)), ops.CursorMove(last, C, at(4)), ops.ShouldCache(last), ops.Cursors(last))
    yield from (state, ops.Evict(100 * large - 150), state, ops.Expire(10**15 - 50), state, ops.Cycle())
    limits = state.settings._replace(max_size_bytes=10_000)
    yield from (state._replace(is_scheduled=True, settings=limits), ops.RunScheduled(), ops.Usage())


def begin_with_entries(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Look up, list, read, hold, drop and evict the entries of one cache."""
    entries = {at(number): build_entry(number) for number in range(large)}
    slots = tuple(Slot(A, pos) for pos in entries)
    last, behind = at(large - 1), at(2 * large)
    state = initial(config)._replace(
        now_nanos=10**15,
        caches={A: Cache(entries, 100 * large)},
        queue=slots,
        size_bytes=100 * large,
        holds={ALL: tuple(HeldPosition(slot, True) for slot in slots)},
    )
    yield from (state, ops.Get(A, last), ops.Exists(A, last), ops.GetRange(A, at(0), last), ops.Observe())
    yield from (state, ops.Release(ALL), ops.Usage(A), ops.Read(A, at(large - 2), behind, 0, HoldName("h")))
    yield from (ops.Release(HoldName("h")), ops.Metrics(), ops.Insert(A, behind, 7), ops.MarkRead(A, at(large - 47)))
    yield from (ops.ExpectRead(A, at(large - 47)), ops.ReadOne(A, last))
    for drop in (
        ops.RemoveRange(A, at(0), last, False),
        ops.Clear(A),
        ops.InvalidateBefore(A, last),
        ops.InvalidateLedger(A, 1),
        ops.RemoveCache(A),
        ops.Evict(100 * large - 150),
        ops.Expire(10**15 - large + 20),
    ):
        yield from (state, drop)


def begin_without_room(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Offer many fills to a cache that takes none."""
    yield from (initial(config), ops.Read(A, at(0), at(large - 1), 1), ops.Metrics())


def begin_with_cursors(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Rank, add, move and remove some of the cursors of one cache."""
    names = [CursorName(f"c{number}") for number in range(large)]
    members = {name: at(number * 7 % large) for number, name in enumerate(names)}
    state = initial(config)._replace(caches={A: Cache({}, 0, members)})
    yield state
    if config.evict_by_expected_reads:
        yield from (ops.CursorRank(A, name) for name in (*names[::1_500], names[-1], names[17]))
    yield from (ops.Slowest(A), ops.Cursors(A), ops.CursorMove(A, names[0], at(5)), ops.Slowest(A))
    yield from (ops.CursorRemove(A, names[9]), ops.Cursors(A), ops.CursorMove(A, names[-1], None))
    yield from (ops.CursorAdd(A, CursorName("new"), at(0)), ops.CursorAdd(A, names[-2], at(9)), ops.ShouldCache(A))
    lowest_last = {name: at(large - number) for number, name in enumerate(names)}
    yield from (state._replace(caches={A: Cache({}, 0, lowest_last)}), ops.Slowest(A), ops.Insert(A, at(1), 5, large))


def begin_with_requests(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Let requests wait for permits; serve, fail and refuse them."""
    names = [RequestName(f"r{number}") for number in range(large)]
    waiting = tuple(WaitingRequest(name, 1, 0) for name in names)
    state = initial(config)._replace(limiter=Limiter(0, {RequestName("all"): large}, waiting))
    late = ops.Advance(config.acquire_timeout_millis * 10**6)
    yield from (state, ops.Acquire(RequestName("new"), 5), ops.Acquire(names[-1], 1), ops.LimiterState())
    yield from (ops.GiveBack(RequestName("all")), state, ops.LimiterState(), late, ops.LimiterState())
    out: dict[Any, int] = dict.fromkeys(names, 1)
    yield from (state._replace(limiter=Limiter(0, out, waiting[:0])), ops.Acquire(names[-1], 1))
    yield from (ops.Acquire(RequestName("new"), 2), ops.LimiterState(), ops.GiveBack(names[-1]))
    yield from (ops.GiveBack(names[-2]), ops.LimiterState())


# --- Managed ledgers


def build_managed(
    config: configuration.Config, sizes: Mapping[int, tuple[int, ...]], acks: frozenset[Position] = frozenset()
) -> State:
    """Build a state with a managed ledger and two active cursors at its beginning, of which one has these acks."""
    first, before = at(0, min(sizes)), at(-1, min(sizes))
    cursors = {C: ManagedCursor(True, first, before, acks), D: ManagedCursor(True, first, before)}
    tracked = before if config.evict_by_mark_deleted else first
    managed = ManagedLedger(sizes, frozenset(sizes), cursors)
    return initial(config)._replace(
        caches={A: Cache({}, 0, dict.fromkeys(cursors, tracked))}, managed={A: managed}, now_nanos=10**15
    )


def begin_with_acks(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Acknowledge, read and replay in a ledger of many entries, most of them acknowledged one by one."""
    state = build_managed(config, {1: (100,) * large}, frozenset(map(at, range(20, large - 20))))
    yield from (state, ops.CheckBacklogs(A), ops.MarkDelete(A, C, at(3)), ops.CheckBacklogs(A))
    yield from (ops.CursorRead(A, D, 20), ops.Ack(A, C, at(large - 3)), ops.CursorRead(A, C, 30))
    yield from (ops.MarkDelete(A, C, at(19)), ops.CursorState(A, C), ops.CursorReset(A, D, at(large - 5)))
    yield from (state, ops.MarkDelete(A, C, at(18)), ops.Ack(A, C, at(19)), ops.CursorState(A, C))
    if config.evict_by_expected_reads:
        yield from (state, ops.ReplayRead(A, D, tuple(map(at, range(large)))))
    yield from (state, ops.CursorSeek(A, D, at(large - 1)), ops.CursorState(A, D))
    gaps = build_managed(config, {1: (100,) * (2 * large + 9)}, frozenset(at(2 * entry) for entry in range(1, large)))
    yield from (gaps, ops.Ack(A, C, at(2 * large)), ops.MarkDelete(A, C, at(0)), ops.CursorState(A, C))
    unread = build_managed(config, {1: (100,) * large})
    unread = unread._replace(caches={A: Cache({}, 0)})  # fills without an active cursor are not cached
    yield from (unread, ops.CursorRead(A, D, large + 9, ALL), ops.CheckBacklogs(A), ops.Append(A, at(large), 7))
    yield from (ops.ReplayAdd(ALL, at(large - 1), ops.Dispatcher.SHARED), ops.Release(ALL))
    late = ManagedCursor(True, at(large - 9), at(large - 10), frozenset({at(large - 5)}))
    behind = unread.managed[A]._replace(cursors={C: late})
    yield from (unread._replace(managed={A: behind}), ops.Ack(A, C, at(large - 3)), ops.Ack(A, C, at(large - 9)))
    yield from (unread, ops.MarkDelete(A, D, at(large - 2)), ops.CursorState(A, D), ops.CursorClose(A, C))


def begin_with_ledgers(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Acknowledge and read over many ledgers, delete one and begin another one."""
    ledgers = dict.fromkeys(range(1, large), (100, 70))
    acks = frozenset(at(number % 2, number) for number in range(2, large)) | {at(1, 1)}
    state = build_managed(config, ledgers, acks)
    yield from (state, ops.CursorRead(A, C, 300), ops.CursorRead(A, D, 30), ops.CheckBacklogs(A))
    consumed = frozenset(at(entry, number) for number in range(2, large) for entry in (0, 1))
    state = build_managed(config, ledgers, consumed)
    yield from (state, ops.MarkDelete(A, C, at(1)), ops.CursorState(A, C), ops.DeleteLedger(A, large - 7))
    yield from (ops.Append(A, at(0, large), 5), ops.Append(A, at(0, large + 2), 5), ops.CursorState(A, C))
    yield from (ops.Append(CacheName("b"), at(0, large - 3), 5), ops.CursorOpen(A, CursorName("e"), at(1, large - 5)))
    yield from (ops.CursorReset(A, D, at(0, large - 1)), ops.CursorOpen(A, CursorName("f"), at(0, large - 3), False))
    yield from (state, ops.CursorRead(A, C, 9), ops.CursorState(A, C))


def begin_with_consumers(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Begin a ledger that many cursors wait for; open, close, move and flag some of them."""
    names = [CursorName(f"c{number}") for number in range(large)]
    state = build_managed(config, {1: (100,), 2: (100, 70)})
    end = ManagedCursor(True, at(2, 2), at(1, 2))
    consumers = {
        name: end._replace(is_durable=number >= large - min(900, large // 2)) for number, name in enumerate(names)
    }
    managed = state.managed[A]._replace(cursors={**state.managed[A].cursors, **consumers})
    state = state._replace(managed={A: managed})
    yield from (state, ops.Append(A, at(0, 3), 7), ops.CursorState(A, names[-1]), ops.CursorState(A, names[0]))
    yield from (state, ops.CheckBacklogs(A), ops.Activate(A, names[-1]), ops.CursorSeek(A, names[-1], at(1, 2)))
    yield from (ops.CursorReset(A, names[-2], at(0)), ops.MarkDelete(A, C, at(0)), ops.Ack(A, names[-2], at(0)))
    yield ops.RunInvalidations(A)
    yield from (ops.CursorRead(A, names[-2], 2, ALL), ops.ReplayAdd(ALL, at(0, 2), ops.Dispatcher.KEY_SHARED))
    yield from (ops.Deactivate(A, names[-1]), ops.CursorClose(A, names[-1]), ops.CursorOpen(A, names[-1], at(0)))


def begin_with_managed(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Append to, delete from and read in one of many managed ledgers."""
    one = build_managed(config, {0: (100,)})
    ledgers = {
        CacheName(f"{number}"): ManagedLedger(
            {number: (100,), 2 * large + number: (70,)}, frozenset((number, 2 * large + number)), one.managed[A].cursors
        )
        for number in range(large)
    }
    caches = dict.fromkeys(ledgers, one.caches[A])
    first, last = CacheName("0"), CacheName(f"{large - 1}")
    yield one._replace(managed=ledgers, caches=caches)
    yield from (ops.Append(first, at(0, 3 * large - 1), 5), ops.Append(last, at(1, 3 * large - 1), 5))
    yield from (ops.CursorReset(last, C, at(0, large - 1)), ops.CursorRead(last, C, 3), ops.CursorState(last, C))
    yield from (ops.DeleteLedger(last, large - 1), ops.CheckBacklogs(last), ops.CursorClose(last, C))
    yield from (ops.Append(A, at(0, large - 1), 7), ops.Append(A, at(0, 2 * large - 1), 7))


# --- Pending reads


def begin_with_asks(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Fetch over many open asks, each waited for by a read of its own, and answer some."""
    asks = {
        number: Ask(1, 2 * number, 2 * number, (Waiter(ReadName(f"r{number}"), 2 * number),)) for number in range(large)
    }
    reads = {
        ask.waiting[0].read: OpenRead(OpenRange(at(ask.first), at(ask.last), (Wait(number, ask.first, ask.last),)))
        for number, ask in asks.items()
    }
    new, other, last = ReadName("new"), ReadName("other"), large - 1
    state = initial(config)._replace(pending=PendingReads(asks, large, reads))
    yield from (state, ops.Fetch(other, at(last * 2), at(last * 2)), ops.Fetch(ReadName(f"r{last}"), at(0), at(1)))
    yield from (
        ops.Fetch(new, at(2 * large - 2_501), at(2 * large + 5)),
        ops.StorageAnswer(last, ops.StorageAnswerKind.ALL),
    )
    yield from (ops.StorageAnswer(large + 3, ops.StorageAnswerKind.BUSY), ops.StorageAnswer(3 * large, 1))
    yield from (ops.StorageAnswer(7, ops.StorageAnswerKind.FAIL), ops.Fetch(other, at(last * 2 - 2), at(last * 2)))


def begin_with_readers(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Answer an ask that many reads wait for, and one whose reader was given many entries."""
    names = tuple(ReadName(f"r{number}") for number in range(large))
    end = at(large + 3)
    reads = dict.fromkeys(names, OpenRead(OpenRange(at(0), at(large - 1), (Wait(0, 0, large - 1),))))
    given = tuple(at(large + 3 - number) for number in range(large))
    waits = tuple(Wait(number, 2 * number + large, 2 * number + large) for number in range(1, large))
    rest = OpenRead(OpenRange(at(0), at(0), (Wait(0, 0, large - 1), *waits[1:]), given=given))
    waiting = tuple(Waiter(name, 0) for name in (*names, ReadName("s")))
    asks = {0: Ask(1, 0, large - 1, waiting)}
    asks |= {wait.ask: Ask(1, wait.first, wait.last, (Waiter(ReadName("s"), wait.first),)) for wait in waits[1:]}
    state = initial(config)._replace(pending=PendingReads(asks, large, {**reads, ReadName("s"): rest}))
    few = {names[-1]: reads[names[-1]], names[-2]: reads[names[-2]]}
    alone = PendingReads({0: asks[0]._replace(waiting=waiting[-3:-1])}, 1, few)
    yield from (state._replace(pending=alone), ops.StorageAnswer(0, large - 3))
    yield from (state._replace(pending=alone), ops.StorageAnswer(0, ops.StorageAnswerKind.ALL))
    yield from (state, ops.StorageAnswer(0, ops.StorageAnswerKind.FAIL))
    two = PendingReads({0: Ask(1, 0, 3, (Waiter(ReadName("s"), 0),))}, 1, {})
    done = OpenRead(OpenRange(at(0), end, (Wait(0, 0, 3),), given=given))
    yield from (state._replace(pending=two._replace(reads={ReadName("s"): done})), ops.StorageAnswer(0, 2))


# --- Great numbers


def begin_with_great_numbers(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Play every operation of the cache on entries whose numbers neither 32 bits nor a double hold."""
    b, far = CacheName("b"), Position(GREAT, GREAT)
    sizes = {A: (GREAT, GREAT + 1), b: (GREAT + 2,)}
    caches: dict[CacheName, Cache] = {}
    slots: list[Slot] = []
    for name, own in sizes.items():
        entries = {}
        for number, size in enumerate(own):
            pos = Position(GREAT, GREAT + number)
            entries[pos] = Entry(size, GREAT - 2 + len(slots), GREAT, False, GREAT + 2, GREAT + number)
            slots.append(Slot(name, pos))
        members = {C: far, D: Position(GREAT, GREAT + 1)}
        caches[name] = Cache(entries, sum(own), members, GREAT)
    total = sum(map(sum, sizes.values()))
    settings = config.settings._replace(max_size_bytes=9 * GREAT, ttl_nanos=GREAT, max_requeues=GREAT + 1)
    state = initial(config)._replace(
        now_nanos=GREAT + 1,
        settings=settings,
        caches=caches,
        queue=tuple(slots),
        size_bytes=total,
        holds={ALL: tuple(HeldPosition(slot, True) for slot in slots)},
        counts=Counts(*range(GREAT, GREAT + 7)),
    )
    next_one = Position(GREAT, GREAT + 1)
    yield from (state, ops.Usage(A), ops.Usage(), ops.Observe(), ops.Metrics(), ops.Exists(A, next_one))
    yield from (ops.Get(A, next_one), ops.GetRange(A, far, next_one), ops.Observe(), ops.MarkRead(A, far))
    yield from (ops.ExpectRead(A, next_one), ops.Release(ALL), ops.Read(A, far, next_one, 0), ops.ReadOne(A, far))
    yield from (ops.CursorAdd(A, CursorName("e"), far), ops.CursorMove(A, C, next_one), ops.Slowest(A), ops.Cursors(A))
    if config.evict_by_expected_reads:
        yield from (ops.CursorRank(A, C), ops.CursorRank(A, D))
    yield from (ops.CursorRemove(A, name) for name in (C, D, CursorName("e")))
    yield from (
        ops.ShouldCache(A),
        ops.Advance(config.effective_grace_millis * 10**6 - 2**20),
        ops.ShouldCache(A),
        ops.Advance(2**21),
    )
    yield from (ops.ShouldCache(A), ops.Configure(ttl_nanos=GREAT + 2**22), ops.Configure(max_size_bytes=9 * GREAT + 1))
    drops: tuple[ops.Op, ...] = (
        ops.RemoveRange(A, far, next_one, False),
        ops.Clear(A),
        ops.InvalidateBefore(A, next_one),
        ops.InvalidateLedger(A, GREAT),
        ops.RemoveCache(A),
        ops.Evict(GREAT),
        ops.Evict(2 * GREAT + 2),
        ops.Expire(2),
        ops.Expire(1),
        ops.Insert(A, Position(GREAT, GREAT + 9), GREAT, GREAT, GREAT),
    )
    for drop in drops:
        yield state
        yield from (drop, ops.Metrics())
    below = {pos: entry._replace(expected_reads=-GREAT) for pos, entry in caches[A].entries.items()}
    yield state._replace(caches={**caches, A: caches[A]._replace(entries=below)})
    yield from (ops.MarkRead(A, far), ops.ExpectRead(A, next_one), ops.Release(ALL), ops.Observe())
    done = {pos: entry._replace(requeues=GREAT + 1) for pos, entry in caches[A].entries.items()}
    yield from (state._replace(caches={**caches, A: caches[A]._replace(entries=done)}), ops.Evict(GREAT + 1))
    tight = state._replace(is_scheduled=True, settings=settings._replace(max_size_bytes=GREAT))
    yield from (tight, ops.RunScheduled(), ops.Metrics(), tight, ops.Cycle(), ops.Metrics())


def begin_with_every_magnitude(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Order, take and drop positions whose ids have from one to sixteen digits, in each combination."""
    places = [at(entry, ledger) for entry in MAGNITUDES for ledger in MAGNITUDES[::-1]]
    entries = {pos: build_entry(number) for number, pos in enumerate(places)}
    cursors = {CursorName(f"c{number}"): pos for number, pos in enumerate(places)}
    state = initial(config)._replace(
        now_nanos=10**3,
        caches={A: Cache(entries, 100 * len(places), cursors)},
        queue=tuple(Slot(A, pos) for pos in places),
        size_bytes=100 * len(places),
    )
    yield from (state, ops.Observe(), ops.Slowest(A), ops.GetRange(A, min(places), max(places)), ops.Usage(A))
    if config.evict_by_expected_reads:
        yield from (ops.CursorRank(A, name) for name in cursors)
    yield from (ops.CursorRemove(A, CursorName(f"c{MAGNITUDES[0]}")), ops.Slowest(A), state, ops.Clear(A))
    for pos in places[::3]:
        yield from (state, ops.GetRange(A, pos, max(places)), ops.InvalidateBefore(A, pos), ops.Observe())
        yield from (state, ops.RemoveRange(A, min(places), pos, False), ops.InvalidateLedger(A, pos.ledger))


def begin_with_great_permits(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Serve, fail and refuse requests for more permits than a double holds."""
    names = [RequestName(name) for name in "abc"]
    waiting = (WaitingRequest(names[1], GREAT + 1, GREAT), WaitingRequest(names[2], 3, GREAT))
    limiter = Limiter(5, {names[0]: config.max_reads_in_flight_bytes - 5}, waiting)
    state = initial(config)._replace(now_nanos=GREAT + 1, limiter=limiter)
    for event in (
        ops.Acquire(RequestName("d"), GREAT),
        ops.GiveBack(names[0]),
        ops.Advance(config.acquire_timeout_millis * 10**6 - 2 * 10**6),
        ops.Advance(2**33 * 10**6),
        ops.Advance(config.acquire_timeout_millis * 10**6),
    ):
        yield from (state, event, ops.LimiterState(), ops.GiveBack(names[0]), ops.LimiterState())


def begin_with_great_ledgers(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Play every operation of a managed ledger on ids and sizes that no double holds."""
    state = build_managed(config, {GREAT: (GREAT, GREAT + 1), GREAT + 1: (7, GREAT), GREAT + 3: (5,)})
    first, last = at(1, GREAT), at(0, GREAT + 3)
    for event in (
        ops.Append(A, at(1, GREAT + 3), GREAT),
        ops.Append(A, at(0, GREAT + 4), GREAT),
        ops.Append(CacheName("b"), at(0, GREAT + 2), GREAT),
        ops.Append(CacheName("b"), at(0, GREAT + 1), GREAT),
        ops.CursorOpen(A, CursorName("e"), first),
        ops.CursorSeek(A, C, last),
        ops.CursorReset(A, C, last),
        ops.MarkDelete(A, C, at(1, GREAT + 1)),
        ops.Ack(A, C, at(0, GREAT)),
        ops.ReplayRead(A, C, (first, last)),
        ops.DeleteLedger(A, GREAT + 1),
        ops.CursorClose(A, D),
        ops.Deactivate(A, D),
        ops.RunInvalidations(A),
    ):
        yield from (state, event, ops.CursorState(A, C), ops.CursorRead(A, C, 3, ALL), ops.Metrics(), ops.Usage())
        yield from (ops.ReplayAdd(ALL, first, ops.Dispatcher.KEY_SHARED), ops.Activate(A, D), ops.CheckBacklogs(A))


def begin_with_great_asks(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Share and answer asks of entries whose ids no double holds."""
    names = tuple(ReadName(name) for name in "rs")
    ask = Ask(GREAT, GREAT, GREAT + 3, tuple(Waiter(name, GREAT) for name in names))
    opened = OpenRead(OpenRange(at(GREAT, GREAT), at(GREAT + 3, GREAT), (Wait(GREAT, GREAT, GREAT + 3),)))
    pending = PendingReads({GREAT: ask}, GREAT + 1, dict.fromkeys(names, opened))
    state = initial(config)._replace(pending=pending)
    for answer in (2, ops.StorageAnswerKind.ALL, ops.StorageAnswerKind.FAIL, ops.StorageAnswerKind.BUSY):
        for ledger in (GREAT, GREAT + 1):
            yield from (state, ops.Fetch(ReadName("t"), at(GREAT - 1, ledger), at(GREAT + 5, ledger)))
            yield from (
                ops.StorageAnswer(GREAT, answer),
                ops.Fetch(ReadName("u"), at(GREAT, ledger), at(GREAT, ledger)),
            )
            yield from (ops.StorageAnswer(GREAT + 2, answer), ops.StorageAnswer(GREAT + 1, answer))


# --- Reads by cursors in flight

IN_FLIGHT_MOST: Final = 1_100
"""The greatest number of ranges of one read in flight: laws look at the whole state after each part of a step."""


def build_gap(number: int, entry: int, ledger: int = 1) -> OpenRange:
    """Build a gap of one entry that waits for this ask."""
    pos = at(entry, ledger)
    return OpenRange(pos, pos, (Wait(number, entry, entry),))


def with_reads(state: State, asks: Mapping[int, Ask], reads: Mapping[ReadName, ReadInFlight]) -> State:
    """Return the state with these asks and reads by cursors."""
    return state._replace(pending=PendingReads(asks, max(asks) + 1, {}, reads))


def begin_with_replays(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Answer asks of a replay that has half of many positions, and of one of many replays."""
    large = min(large, IN_FLIGHT_MOST)
    state, name, others = build_managed(config, {1: (100,) * 4 * large}), ReadName("r"), range(large, 2 * large)
    wanted = tuple(at(2 * number) for number in range(2 * large))
    asks = {number: Ask(1, 2 * number, 2 * number, (Waiter(name, 2 * number),), True, A) for number in others}
    finished = tuple(CachedRange(pos, pos, (), (OpenRange(pos, pos, given=(pos,)),)) for pos in wanted[:large])
    ranges = tuple(CachedRange(at(2 * n), at(2 * n), (), (build_gap(n, 2 * n),)) for n in others)
    read = ReadInFlight(A, D, None, at(0), wanted, None, ranges, finished)
    held = {HoldName("r"): tuple(HeldPosition(Slot(A, pos), False) for pos in wanted[:large])}
    state = with_reads(state._replace(holds=held), asks, {name: read})
    answer = ops.StorageAnswerKind
    yield from (state, ops.StorageAnswer(large + 3, answer.ALL), ops.StorageAnswer(2 * large - 1, answer.BUSY))
    yield from (state, ops.StorageAnswer(large + 3, answer.FAIL), ops.ReadBegin(A, C, ReadName("s"), 9))
    yield from (ops.StorageAnswer(2 * large, answer.ALL), ops.CursorState(A, C))
    last = ReadInFlight(A, D, None, at(0), wanted[: large + 1], None, ranges[:1], finished)
    asks = {large: asks[large]}
    yield from (with_reads(state, asks, {name: last}), ops.StorageAnswer(large, answer.ALL), ops.Release(HoldName("r")))
    yield from (build_managed(config, {1: (100,) * large}), ops.ReplayBegin(A, D, name, wanted[: large // 4]))
    cursors = {CursorName(f"c{n}"): ManagedCursor(True, at(0), at(-1)) for n in range(large)}
    reads = {
        ReadName(f"r{n}"): ReadInFlight(
            A, cursor, 1, at(0), (at(0),), at(4), (CachedRange(at(0), at(0), (), (build_gap(0, 0),)),)
        )
        for n, cursor in enumerate(cursors)
    }
    state = build_managed(config, {1: (100,) * 5})
    state = state._replace(managed={A: state.managed[A]._replace(cursors={**state.managed[A].cursors, **cursors})})
    ask = Ask(1, 0, 0, tuple(Waiter(reader, 0) for reader in reads), True, A, CursorName("c0"))
    yield from (with_reads(state, {0: ask}, reads), ops.ReadBegin(A, C, ReadName("new"), 3))
    yield from (ops.StorageAnswer(0, answer.ALL), ops.StorageAnswer(1, answer.ALL))


def begin_with_great_requests(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Release what has all permits while a replay waits for those of many ranges."""
    large, name, limit = min(large, 150), ReadName("r"), config.max_reads_in_flight_bytes
    state, wanted = build_managed(config, {1: (100,) * large}), tuple(at(number) for number in range(large))
    ranges = tuple(CachedRange(pos, pos, request=GREAT + number) for number, pos in enumerate(wanted))
    waiting = tuple(WaitingRequest(RangeRequest(name, GREAT + number), 164, 0) for number in range(large))
    read = ReadInFlight(A, D, None, at(0), wanted, waiting=ranges, requests=GREAT + large)
    managed = state.managed[A]._replace(taken_entries=GREAT, taken_bytes=GREAT)
    limiter = Limiter(0, {RangeRequest(ReadName("h"), GREAT): limit}, waiting)
    held = {HoldName("h"): (HeldPosition(Slot(A, at(0)), False, GREAT),)}
    pending = PendingReads(of_cursors={name: read})
    state = state._replace(holds=held, managed={A: managed}, limiter=limiter, pending=pending)
    yield from (state, ops.Release(HoldName("h")), ops.StorageAnswer(0, ops.StorageAnswerKind.ALL), ops.LimiterState())


def begin_with_chunks(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Answer asks of a chunk of which every second entry is cached, and begin to read such a chunk."""
    large = min(large, IN_FLIGHT_MOST)
    state, name = build_managed(config, {1: (100,) * 2 * large}), ReadName("r")
    hits = tuple(at(2 * number) for number in range(large))
    entries = {pos: Entry(100, 0, 0, False, 2, None) for pos in hits}
    cache = state.caches[A]._replace(entries=entries, size_bytes=100 * large)
    queue = tuple(Slot(A, pos) for pos in hits)
    state = state._replace(caches={A: cache}, size_bytes=100 * large, queue=queue)
    gaps = tuple(build_gap(number, 2 * number + 1) for number in range(large))
    asks = {n: Ask(1, 2 * n + 1, 2 * n + 1, (Waiter(name, 2 * n + 1),), True, A, D) for n in range(large)}
    wanted = tuple(map(at, range(2 * large)))
    cached = CachedRange(at(0), wanted[-1], hits, gaps)
    read = ReadInFlight(A, D, 2 * large, at(0), wanted, wanted[-1], (cached,))
    held = {HoldName("r"): tuple(HeldPosition(slot, True) for slot in queue)}
    open_chunk = with_reads(state._replace(holds=held), asks, {name: read})
    for kind in (ops.StorageAnswerKind.ALL, ops.StorageAnswerKind.FAIL):
        yield from (open_chunk, ops.StorageAnswer(large - 1, kind), ops.StorageAnswer(7, kind), ops.Usage())
    given = tuple(gap._replace(waits=(), given=(gap.first,)) for gap in gaps[:-1])
    nearly = read._replace(ranges=(cached._replace(gaps=(*given, gaps[-1])),))
    more = tuple(HeldPosition(Slot(A, gap.first), False) for gap in given)
    ended = with_reads(
        state._replace(holds={HoldName("r"): (*held[HoldName("r")], *more)}),
        {large - 1: asks[large - 1]},
        {name: nearly},
    )
    yield from (ended, ops.StorageAnswer(large - 1, ops.StorageAnswerKind.ALL), ops.CursorState(A, D))
    yield from (state, ops.ReadBegin(A, D, name, 60), ops.StorageAnswer(0, ops.StorageAnswerKind.ALL))


def begin_with_great_reads(config: configuration.Config, large: int) -> Iterator[State | ops.Op]:
    """Read and replay through the cache with ids, sizes and numbers of entries that no double holds."""
    state, name = build_managed(config, {GREAT: (GREAT, GREAT + 1), GREAT + 1: (7, GREAT)}), ReadName("r")
    first, second = at(0, GREAT), at(1, GREAT)
    cached = CachedRange(first, second, (), (OpenRange(first, second, (Wait(GREAT, 0, 1),)),))
    read = ReadInFlight(A, C, GREAT, first, (first, second), at(1, GREAT + 1), (cached,))
    ask = Ask(GREAT, 0, 1, (Waiter(name, 0),), True, A, C)
    for answer in (1, ops.StorageAnswerKind.ALL, ops.StorageAnswerKind.FAIL):
        yield from (with_reads(state, {GREAT: ask}, {name: read}), ops.ReadBegin(A, D, ReadName("s"), GREAT))
        yield from (ops.ReplayBegin(A, C, ReadName("t"), (second,)), ops.StorageAnswer(GREAT, answer))
        yield from (ops.StorageAnswer(GREAT + 1, ops.StorageAnswerKind.ALL), ops.CursorState(A, C))


MANUAL: Final = configuration.Invalidation.MANUAL
LARGE_STATES: Final = (
    begin_with_caches,
    begin_with_entries,
    begin_with_cursors,
    begin_with_requests,
    begin_with_acks,
    begin_with_ledgers,
    begin_with_consumers,
    begin_with_managed,
    begin_with_asks,
    begin_with_readers,
    begin_with_great_numbers,
    begin_with_every_magnitude,
    begin_with_great_permits,
    begin_with_great_ledgers,
    begin_with_great_asks,
)
OF_HEAP: Final = (
    begin_with_cursors,
    begin_with_acks,
    begin_with_ledgers,
    begin_with_consumers,
    begin_with_great_ledgers,
)


def generate_runs_from_large_states(large: int) -> Iterator[Run]:
    """Generate the runs that begin in a large state, some of them under the other settings or variants too."""
    config = configuration.Config(max_size_bytes=10**12, max_reads_in_flight_bytes=large)
    great = replace(config, max_reads_in_flight_bytes=4 * GREAT, grace_millis=2**33)
    for begin in LARGE_STATES:
        used = great if "great" in begin.__name__ else config
        yield used, tuple(begin(used, large))
    yield replace(config, max_size_bytes=0), tuple(begin_without_room(config, large))
    flags = replace(
        config,
        evict_by_expected_reads=False,
        min_backlog_cursors=1,
        min_backlog_entries=large - 10,
        max_backlog_between=3 * large,
    )
    crowd = replace(flags, min_backlog_cursors=min(600, large // 3), min_backlog_entries=0)
    for begin in OF_HEAP:
        used = crowd if begin is begin_with_consumers else flags
        yield used, tuple(begin(used, large))
    for begin in (begin_with_ledgers, begin_with_consumers):
        for used in (replace(crowd, evict_by_mark_deleted=True), replace(crowd, invalidation=MANUAL)):
            yield used, tuple(begin(used, large))
    grouped = configuration.Variants(
        replay=configuration.Replay.GROUPED,
        limiter_order=list(configuration.LimiterOrder)[-1],
        limiter_timeout=configuration.LimiterTimeout.LEAVES,
        zero_reads=configuration.ZeroReads.COUNTED,
    )
    released = replace(config, variants=grouped)
    for begin in (begin_with_requests, begin_with_great_ledgers):
        yield released, tuple(begin(released, large))
    for begin in (begin_with_replays, begin_with_chunks, begin_with_great_requests):
        used = replace(great if "great" in begin.__name__ else config, storage=configuration.Storage.HELD)
        yield used, tuple(begin(used, large))
    used = replace(great, storage=configuration.Storage.HELD, max_reads_in_flight_bytes=0)
    yield used, tuple(begin_with_great_reads(used, large))
    state = build_managed(released, {1: (10**6,) * 2 * large})
    wanted = tuple(at(100 * number) for number in range(60))
    yield released, (state, ops.ReplayRead(A, D, wanted, ABSENT), ops.Metrics())
