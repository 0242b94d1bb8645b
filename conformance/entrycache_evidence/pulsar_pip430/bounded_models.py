"""The bounded models of `pulsar-pip430` that are exhausted; together they fire every law.

The first models cover the levels from `manager` on, and the variants; the others cover levels `range`
and `queue`. `CI`, `LONG` and `NIGHTLY` are the models of the profiles.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_evidence.model_checker.checker import AnyBoundedModel, limit_depths
from entrycache_evidence.pulsar_pip430.state_space import BoundedModel, ListedModel, slot
from entrycache_reference.pulsar_pip430 import config, ops
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, HoldName, Position, ReadName, RequestName

_A: Final = CacheName("a")
_B: Final = CacheName("b")
_C: Final = CursorName("c")
_D: Final = CursorName("d")
_H: Final = HoldName("h")
_LOW: Final = Position(0, 0)
_NEXT: Final = Position(0, 1)
_THIRD: Final = Position(0, 2)
_OTHER: Final = Position(1, 0)

MANAGER: Final = ListedModel(
    "trigger and settings",
    config.Config(max_size_bytes=4, watermark=0.5, ttl_nanos=1, max_requeues=1),
    (
        ops.Insert(_A, _LOW, 1),
        ops.Insert(_A, _NEXT, 2, 1),
        ops.Insert(_A, _OTHER, 1),
        ops.Insert(_B, _LOW, 4),
        ops.Get(_A, _LOW),
        ops.Advance(1),
        ops.Cycle(),
        ops.RunScheduled(),
        ops.Evict(1),
        ops.Clear(_A),
        ops.Configure(max_size_bytes=2),
        ops.Configure(watermark=1),
        ops.Configure(ttl_nanos=0),
        ops.Configure(max_size_bytes=3, watermark=2),
        ops.InvalidateBefore(_A, _NEXT),
        ops.InvalidateLedger(_A, 1),
        ops.RemoveCache(_A),
        ops.CursorAdd(_A, _C, _LOW),
        ops.Metrics(),
    ),
    "inserts of 1, 2 and 4 bytes under a limit of 4, a lookup, cycle, run_scheduled, evict, settings, invalidation, "
    "a cursor, metrics",
    latest_nanos=2,
    slots=4,
    least=1,
    depth=5,
)
"""A model with the trigger at 3 bytes and the target at 2."""

MANUAL: Final = replace(
    MANAGER,
    name="trigger and settings, eviction manual",
    config=replace(MANAGER.config, eviction=config.Eviction.MANUAL),
)
"""The same with the flag instead of the pass."""

READS: Final = ListedModel(
    "reads",
    config.Config(max_size_bytes=4, watermark=0.5, storage_entry_size=1, max_requeues=1),
    (
        ops.Insert(_A, _LOW, 2, 2, 7),
        ops.Insert(_A, _NEXT, 1),
        ops.Read(_A, _LOW, Position(0, 2), 2),
        ops.Read(_A, _LOW, _NEXT, 0),
        ops.Read(_A, _LOW, _NEXT, 1, _H),
        ops.Read(_A, _NEXT, _LOW, 1),
        ops.Read(_A, _LOW, _OTHER, 1),
        ops.ReadOne(_A, _LOW),
        ops.ReadOne(_A, _LOW, _H),
        ops.Release(_H),
        ops.GetRange(_A, _LOW, _NEXT),
        ops.Clear(_A),
        ops.Evict(1),
        ops.Metrics(),
    ),
    "inserts with and without a payload, reads of two and three positions with and without a hold, refused reads, "
    "read_one, release, a range, clear, evict, metrics",
    slots=4,
    least=-1,
    depth=8,
)
"""Fills that trigger, and holds whose entries leave and come back."""

ALL_VARIANTS: Final = replace(
    READS,
    name="variants of 5.0.1",
    config=replace(
        READS.config,
        max_requeues=2,
        variants=config.Variants(
            count_floor=config.CountFloor.ZERO,
            zero_reads=config.ZeroReads.COUNTED,
            duplicate_count=config.DuplicateCount.REPLACED,
            size_pass_rounds=config.SizePassRounds.ONE,
        ),
    ),
    events=(
        ops.Insert(_A, _LOW, 1, 2),
        ops.Insert(_A, _LOW, 1),
        ops.Insert(_A, _NEXT, 1, 0),
        ops.Read(_A, _LOW, _NEXT, 0, _H),
        ops.Read(_A, _LOW, _NEXT, 1),
        ops.MarkRead(_A, _LOW),
        ops.Release(_H),
        ops.Evict(1),
        ops.Evict(2),
    ),
    description="inserts with counts of none, 0 and 2, reads with 0 and 1, mark_read, release, evict",
)
"""All variants of the later releases at once."""

CURSORS: Final = ListedModel(
    "cursors",
    config.Config(ttl_nanos=500_000),
    (
        *(ops.CursorAdd(_A, cursor, pos) for cursor in (_C, _D) for pos in (_LOW, _NEXT, None)),
        *(ops.CursorMove(_A, cursor, pos) for cursor in (_C, _D) for pos in (_LOW, _NEXT, None)),
        *(ops.CursorRemove(_A, cursor) for cursor in (_C, _D)),
        *(ops.CursorRank(_A, cursor) for cursor in (_C, _D)),
        ops.Slowest(_A),
        ops.Cursors(_A),
        ops.ShouldCache(_A),
        ops.Advance(500_000),
        ops.Insert(_A, _LOW, 1),
        ops.RemoveCache(_A),
        ops.Configure(ttl_nanos=1_000_000),
    ),
    "two cursors on two positions or none, every operation on them, half milliseconds, an insert, remove_cache, "
    "another time to live",
    latest_nanos=2_000_000,
    slots=1,
)
"""The active container; the grace period is 1 ms."""

HEAP: Final = replace(
    CURSORS,
    name="cursors, heap container",
    config=config.Config(ttl_nanos=500_000, evict_by_expected_reads=False),
    events=tuple(event for event in CURSORS.events if type(event) not in {ops.Insert, ops.Configure, ops.RemoveCache}),
    description="two cursors on two positions or none, every operation on them, half milliseconds",
    slots=0,
)
"""The heap container."""

PENDING: Final = ListedModel(
    "pending reads",
    config.Config(),
    (
        *(
            ops.Fetch(name, first, last)
            for name in (ReadName("f"), ReadName("g"), ReadName("h"))
            for first, last in ((_LOW, _NEXT), (_NEXT, Position(0, 2)), (_LOW, Position(0, 2)))
        ),
        ops.Fetch(ReadName("f"), _OTHER, _OTHER),
        ops.Fetch(ReadName("f"), _NEXT, _LOW),
        *(ops.StorageAnswer(ask, answer) for ask in range(4) for answer in (*ops.StorageAnswerKind, 1)),
    ),
    "three reads of two or three entries that overlap, another ledger, a refused range, and every answer to four asks",
    depth=5,
)
"""Reads that overlap: what is asked, who waits, and every order of answers."""

_F, _G, _R = (ReadName(name) for name in "fgr")

PERMITS: Final = ListedModel(
    "permits of reads in flight",
    config.Config(
        ttl_nanos=0,
        storage=config.Storage.HELD,
        max_reads_in_flight_bytes=450,
        acquire_queue=2,
        acquire_timeout_millis=1,
    ),
    (
        *(ops.StorageAnswer(ask, answer) for ask in range(3) for answer in (*ops.StorageAnswerKind, 1)),
        ops.ReplayBegin(_A, _C, _R, (_LOW, _NEXT)),
        ops.ReadBegin(_A, _C, _F, 1),
        *(ops.Release(HoldName(name)) for name in (_F, _G, _R)),
        *(ops.Ack(_A, cursor, pos) for cursor, pos in ((_C, _LOW), (_C, _NEXT), (_D, _NEXT))),
        *(ops.MarkDelete(_A, _C, pos) for pos in (_LOW, _THIRD)),
        ops.Deactivate(_A, _C),
        ops.CursorClose(_A, _D),
        ops.Advance(1_000_000),
        ops.LimiterState(),
    ),
    "answers to three asks that two reads wait for, a replay and a read that take permits too, releases, "
    "acknowledgements, a cursor that leaves, time",
    latest_nanos=1_000_000,
    slots=9,
    depth=5,
    start=(
        *(ops.Append(_A, Position(0, entry), 10) for entry in range(3)),
        ops.CursorOpen(_A, _C, _LOW, durable=False),
        ops.CursorOpen(_A, _D, _THIRD, durable=False),
        ops.Append(_A, Position(0, 3), 10),
        *(ops.Deactivate(_A, cursor) for cursor in (_C, _D)),
        ops.Append(_A, _OTHER, 10),
        *(ops.Activate(_A, cursor) for cursor in (_C, _D)),
        ops.Append(_B, Position(7, 0), 10),
        ops.CursorOpen(_B, _C, Position(7, 0), durable=False),
        ops.ReadBegin(_A, _D, _G, 3),
        ops.ReadBegin(_A, _C, _F, 4),
    ),
)
"""Two reads that overlap beside cached entries, and have nearly all permits: who comes next waits, or is refused."""

IN_FLIGHT: Final = replace(
    PERMITS,
    name="reads in flight",
    config=replace(PERMITS.config, max_reads_in_flight_bytes=0),
    description=f"{PERMITS.description}; reads take no permits",
)
"""The same reads without a limit."""

LIMITER: Final = ListedModel(
    "a limiter alone",
    config.Config(max_reads_in_flight_bytes=3, acquire_queue=2, acquire_timeout_millis=1),
    (
        *(ops.Acquire(RequestName(name), permits) for name in "pqrs" for permits in (1, 2, 4)),
        *(ops.GiveBack(RequestName(name)) for name in "pqrs"),
        ops.Advance(1_000_000),
        ops.LimiterState(),
    ),
    "four requests for 1, 2 or 4 of 3 permits, of which two may wait, all given back in any order, time",
    latest_nanos=1_000_000,
)
"""Permits without reads, explored completely."""

LEDGER: Final = ListedModel(
    "reads over the end of a ledger",
    config.Config(ttl_nanos=0),
    (
        *(ops.CursorRead(_A, _C, most) for most in (1, 3)),
        *(ops.Ack(_A, _C, pos) for pos in (_NEXT, _OTHER)),
        *(ops.CursorSeek(_A, _C, pos) for pos in (_LOW, _NEXT)),
        ops.Evict(1),
    ),
    "reads of one and of three entries, acknowledgements, seeks, a pass",
    depth=6,
    start=(
        *(ops.Append(_A, pos, 10) for pos in (_LOW, _NEXT, _OTHER)),
        ops.CursorOpen(_A, _C, _LOW, durable=False),
    ),
)
"""A managed ledger whose storage answers at once."""

BOTH_FLAGS: Final = replace(
    LEDGER,
    name="appends, reads and replays, both flags",
    config=replace(LEDGER.config, evict_by_mark_deleted=True),
    events=(
        *(ops.Append(_A, pos, 10) for pos in (Position(1, 1), Position(2, 0))),
        ops.CursorRead(_A, _C, 2),
        ops.ReplayRead(_A, _C, (_LOW, _OTHER)),
        *(ops.Ack(_A, _C, pos) for pos in (_LOW, _OTHER)),
        ops.MarkDelete(_A, _D, _NEXT),
        *(kind(_A, _C) for kind in (ops.Deactivate, ops.Activate)),
        ops.Evict(1),
    ),
    description="appends and a rollover, a read, a replay, acknowledgements, a cursor that leaves, a pass",
    depth=5,
    start=(*LEDGER.start, ops.CursorOpen(_A, _D, _LOW, durable=False)),
)
"""Entries that are counted by expected reads, and cursors that are tracked where they have acknowledged."""

INVALIDATIONS: Final = ListedModel(
    "invalidations that wait for a call",
    config.Config(
        ttl_nanos=0,
        evict_by_expected_reads=False,
        storage=config.Storage.HELD,
        min_backlog_cursors=1,
        min_backlog_entries=1,
        invalidation=config.Invalidation.MANUAL,
    ),
    (
        ops.RunInvalidations(_A),
        *(ops.Append(_A, pos, 10) for pos in (_THIRD, _OTHER)),
        ops.ReadBegin(_A, _C, _F, 2),
        ops.ReadBegin(_A, _D, _G, 1),
        *(ops.StorageAnswer(ask, answer) for ask in range(2) for answer in (*ops.StorageAnswerKind, 1)),
        ops.Release(HoldName(_F)),
        ops.Ack(_A, _C, _LOW),
        ops.MarkDelete(_A, _C, _NEXT),
        *(ops.CursorSeek(_A, cursor, pos) for cursor, pos in ((_C, _LOW), (_C, _NEXT), (_D, _NEXT))),
        *(kind(_A, _C) for kind in (ops.Deactivate, ops.Activate)),
        ops.CursorClose(_A, _D),
        ops.CheckBacklogs(_A),
        ops.DeleteLedger(_A, 0),
        ops.Evict(1),
    ),
    "the call, an append and a rollover, two reads and every answer to two asks, a release, acknowledgements, seeks, "
    "cursors that leave and come back, a check of backlogs, a deleted ledger, a pass",
    slots=9,
    depth=5,
    start=(
        ops.Append(_A, _LOW, 10),
        *(ops.CursorOpen(_A, cursor, _LOW) for cursor in (_C, _D)),
        ops.Append(_A, _NEXT, 10),
    ),
)
"""A managed ledger whose invalidations wait, while reads are out whose answers are late, short or errors."""

REPLACED_INVALIDATIONS: Final = replace(
    INVALIDATIONS,
    name="invalidations that wait for a call, as in the releases",
    config=replace(INVALIDATIONS.config, variants=config.Variants(due_everything=config.DueEverything.REPLACED)),
    depth=4,
)
"""The same with the variant of R-LEDGER-14."""

LATER_LEVELS: Final = (
    *(MANAGER, MANUAL, READS, ALL_VARIANTS, CURSORS, HEAP, PENDING),
    *(LEDGER, BOTH_FLAGS, INVALIDATIONS, REPLACED_INVALIDATIONS),
    *(LIMITER, IN_FLIGHT, PERMITS),
)


# --- Levels `range` and `queue`

_HIGH: Final = Position(1, 0)

REFUSED_EVENTS: Final[tuple[ops.Op, ...]] = (
    ops.Insert(_A, _LOW, -1),
    ops.Advance(-1),
    ops.Expire(-1),
    ops.Evict(0),
)
"""Events that the protocol refuses."""

RANGES: Final[tuple[ops.Op, ...]] = (
    ops.GetRange(_A, _LOW, _HIGH),
    ops.GetRange(_A, _HIGH, _LOW),
    ops.RemoveRange(_A, _LOW, _HIGH, False),
    ops.RemoveRange(_A, _LOW, _HIGH, True),
    ops.RemoveRange(_A, _HIGH, _LOW, True),
    ops.Clear(_A),
    ops.Clear(CacheName("b")),
)
"""Ranges over two ledgers, in order and reversed."""

ALL: Final = BoundedModel(
    "every operation",
    config.Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1),
    (slot("a", 0, 0), slot("a", 1, 0), slot("b", 0, 0)),
    (0, 1),
    (ABSENT, 0, 2),
    (-1, 2),
    3,
    (ABSENT, 0),
    (1, 2),
    RANGES,
    REFUSED_EVENTS,
    with_queries=True,
    depth=4,
)
"""Every operation, refused events and lookups of absent entries included, up to a depth."""

PAIR: Final = BoundedModel(
    "two entries of one cache",
    config.Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1),
    (slot("a", 0, 0), slot("a", 1, 0)),
    (1,),
    (ABSENT, 1),
    (0, 1),
    2,
    (ABSENT,),
    (1,),
    (*RANGES[:5], ops.Observe()),
    REFUSED_EVENTS,
    with_queries=True,
)
"""Every operation on two entries, explored completely."""

ACCESS_OFF: Final = replace(
    PAIR,
    name="access extends nothing",
    config=config.Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1, extend_recently_accessed=False),
    ranges=(),
    wrong=(),
    with_queries=False,
)
"""A model without the setting: the mark is kept and ignored."""

CACHING_OFF: Final = replace(PAIR, name="caching switched off", config=config.Config(max_size_bytes=0, ttl_nanos=1))
"""A limit of 0."""

WIDE: Final = BoundedModel(
    "three entries of two caches",
    config.Config(max_size_bytes=1000, max_requeues=1, ttl_nanos=1),
    (slot("a", 0, 0), slot("a", 0, 1), slot("b", 0, 0)),
    (1,),
    (ABSENT, 1),
    (0, 1),
    3,
    (ABSENT,),
    (2,),
)
"""A large model: every order of three entries, with everything that keeps them."""

TWO_CACHES: Final = replace(WIDE, name="two entries of two caches", keys=(slot("a", 0, 0), slot("b", 0, 0)))
"""Every step of two entries in different caches."""

WITHOUT_EXPECTED_READS: Final = replace(WIDE, name="three entries of two caches, no reads expected", expected=(ABSENT,))
"""Every order of three entries that only an access keeps."""

WITHOUT_BUDGET: Final = replace(
    WIDE, name="three entries of two caches, no budget", config=replace(WIDE.config, max_requeues=0)
)
"""Every order of three entries with expected reads and no budget."""

VAST: Final = replace(
    WIDE,
    name="three entries of two caches, budget 2, four slots",
    config=config.Config(max_size_bytes=1000, max_requeues=2, ttl_nanos=2),
    sizes=(1, 2),
    slots=4,
    needs=(1, 3),
    counts=(0, 2),
    depth=8,
)
"""The large model of a nightly run."""

NO_BUDGET: Final = replace(
    PAIR,
    name="no budget",
    config=config.Config(max_size_bytes=1000, max_requeues=0, ttl_nanos=1),
    ranges=(),
    wrong=(),
    with_queries=False,
)
"""A model without a budget: expected reads extend nothing."""

UNLIMITED: Final[tuple[AnyBoundedModel, ...]] = (
    *(CACHING_OFF, ALL, NO_BUDGET, ACCESS_OFF, PAIR),
    *LATER_LEVELS,
    *(TWO_CACHES, WITHOUT_EXPECTED_READS, WITHOUT_BUDGET),
)
"""The models of a long run."""

BOUNDED: Final[Mapping[str, int]] = {
    READS.name: 7,
    WITHOUT_EXPECTED_READS.name: 8,
    WITHOUT_BUDGET.name: 5,
    BOTH_FLAGS.name: 4,
    INVALIDATIONS.name: 4,
    REPLACED_INVALIDATIONS.name: 3,
    IN_FLIGHT.name: 3,
    PERMITS.name: 4,
}
"""The greatest number of steps of the largest models in a pull request."""

CI: Final = limit_depths(UNLIMITED, BOUNDED)
LONG: Final[tuple[AnyBoundedModel, ...]] = (*UNLIMITED, WIDE)
NIGHTLY: Final[tuple[AnyBoundedModel, ...]] = (*LONG, VAST)
