"""Stress runs of `pulsar-pip430`: longer queues, wider reads, greater counts and ages than any bounded model has.

`generate_large_runs` yields runs that were written by hand, each for an edge that a bounded model cannot reach.
`generate_random_runs` yields short random runs over four places in which every operation meets every other.
`generate_crowded_runs` yields runs with hundreds of caches, cursors, holds, requeues and positions.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from entrycache_evidence.core.stress import choose_each_variant
from entrycache_evidence.pulsar_pip430.runs import (
    STEPS,
    Run,
    generate_deleted_runs,
    generate_double_holds,
    generate_flight_runs,
    generate_held_runs,
    generate_ledger_runs,
    generate_moved_answers,
    generate_narrow_runs,
    generate_sharing_runs,
    generate_short_answers,
)
from entrycache_reference.pulsar_pip430 import config as configuration
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.vocabulary import (
    ABSENT,
    CacheName,
    CursorName,
    HoldName,
    Position,
    Token,
)

CACHES: Final = tuple(CacheName(name) for name in "abc")
A, B, C = CACHES
CROWD: Final = 240
"""More slots than a bound of a pass, a call or a listing might allow."""
PLENTY_BYTES: Final = 10**13
ROUNDED_UP_BYTES: Final = 5_557_860_836_705_101
"""A limit whose 98 %, as an IEEE product, is one byte more than the exact value."""
HOUR_NANOS: Final = 3_600 * 10**9
SINGLE_VARIANTS: Final = (
    configuration.Variants(),
    configuration.Variants(requeue_budget=configuration.RequeueBudget.SPLIT),
    configuration.Variants(size_pass_rounds=configuration.SizePassRounds.ONE),
    configuration.Variants(count_floor=configuration.CountFloor.ZERO),
    configuration.Variants(zero_reads=configuration.ZeroReads.COUNTED),
    configuration.Variants(duplicate_count=configuration.DuplicateCount.REPLACED),
)
"""The default variants, and each variant of a release alone."""


def at(entry: int, ledger: int = 1) -> Position:
    """Return a position, most often in ledger 1."""
    return Position(ledger, entry)


def fill_caches(number: int, size: int = 100, caches: tuple[CacheName, ...] = CACHES) -> Iterator[ops.Op]:
    """Insert this many entries, in one cache after another, with counts from none to 2."""
    for index in range(number):
        count = (None, 0, 1, 2)[index // len(caches) % 4]
        yield ops.Insert(caches[index % len(caches)], at(index // len(caches)), size, count, index)


def mix_long_queue() -> Iterator[ops.Op]:
    """Run passes, calls and listings over a long queue with dead, marked and held slots."""
    yield from fill_caches(CROWD)
    yield ops.GetRange(A, at(0), at(70))
    yield from (ops.Get(cache, at(entry)) for cache in (B, C) for entry in (1, 2, 3, 5, 8, 70))
    yield ops.Read(A, at(10), at(39), 2, HoldName("h"))
    yield from (
        ops.Insert(C, at(200), 100),
        ops.Insert(C, at(201), 100, 1, Token(7)),
        ops.GetRange(C, at(200), at(201)),
    )
    yield from (ops.Usage(name) for name in CACHES)
    yield from (ops.Usage(), ops.Observe())
    yield from (ops.RemoveRange(B, at(1), at(1), True), ops.RemoveRange(C, at(60), at(75), False))
    yield from (ops.Advance(1_500), ops.Evict(1_150), ops.Evict(10_550), ops.Observe())
    yield ops.Get(A, at(78))
    yield from (ops.Advance(3 * 10**9 + 7), ops.Expire(), ops.Release(HoldName("h")), ops.Observe())
    yield from (ops.Insert(B, at(90 - 3 * ledger, ledger), 100, 1) for ledger in range(12))
    yield from (ops.GetRange(B, at(70, 3), at(60, 8)), ops.RemoveRange(B, at(80, 2), at(70, 5), True), ops.Observe())
    yield ops.Evict(10**9)
    yield from (*fill_caches(CROWD, caches=(A,)), ops.RemoveRange(A, at(3), at(200), True), ops.Clear(A), ops.Expire(0))
    yield from (*fill_caches(CROWD), ops.Evict(10**9), ops.Metrics())


def reads() -> Iterator[ops.Op]:
    """Read many positions: none, some or all of them cached, held and released in another order."""
    h, i = HoldName("h"), HoldName("i")
    for expected in (0, 1, 25):
        yield from (ops.Read(A, at(0), at(29), expected), ops.Read(A, at(10), at(49), expected, h))
        yield from (ops.Read(B, at(0), at(39), expected, i), ops.ReadOne(A, at(20)), ops.Metrics())
        yield from (ops.RemoveRange(A, at(15), at(22), True), ops.InvalidateBefore(B, at(30)))
        yield from (ops.Read(A, at(12), at(26), expected), ops.Release(h), ops.Observe(), ops.Release(i))
        yield from (ops.InvalidateLedger(A, 1), ops.Clear(B))


def counts() -> Iterator[ops.Op]:
    """Use counts far above and below 0."""
    for number, count in enumerate((97, 150, 999, 999_999, 2_000_000)):
        yield ops.Insert(A, at(number), 100, count)
        yield from (ops.ExpectRead(A, at(number)) for _ in range(6))
        yield from (ops.MarkRead(A, at(number)) for _ in range(4))
    yield ops.Insert(A, at(9), 100, 1)
    for _ in range(9):
        yield from (ops.MarkRead(A, at(9)), ops.Get(A, at(9)))
    yield from (ops.Observe(), ops.Advance(2 * 10**9), ops.Expire(), ops.Evict(1))


def budgets() -> Iterator[ops.Op]:
    """Requeue entries again and again, marked or with expected reads."""
    yield from (ops.Insert(A, at(number), 100, 1_000_000, number) for number in range(7))
    for number in range(34):
        yield from (ops.Get(A, at(number % 3)), ops.Get(A, at(1)), ops.Advance(2 * 10**9), ops.Expire())
    yield from (ops.Observe(), ops.Evict(250), ops.Evict(10**6))


def amounts() -> Iterator[ops.Op]:
    """Use sizes and needs beyond 16, 20, 31 and 32 bits."""
    for number, size in enumerate((0, 70_000, 3 << 20, 2 << 30, 3 << 30, 5 << 30, 12_000, 9)):
        yield from (ops.Insert(A, at(number), size, number % 2), ops.Insert(B, at(number), size))
    yield from (ops.Get(A, at(1)), ops.Get(B, at(6)), ops.Usage(), ops.Observe())
    yield from (ops.Evict(2 << 20), ops.Evict(5 << 30), ops.Evict(1 << 40), ops.Metrics())


def ages() -> Iterator[ops.Op]:
    """Use ages of hours and weeks, to the nanosecond."""
    yield from (ops.Insert(A, at(0), 100), ops.Advance(2 * HOUR_NANOS), ops.Insert(A, at(1), 100), ops.Expire())
    for number, step in enumerate((1_000 * 10**9, 2_000 * 10**9 + 1_500, 10**15, 1_999_999, 999_999_999, 1, 10**15)):
        yield from (ops.Insert(A, at(number), 100), ops.Insert(B, at(number), 100, 1), ops.Advance(step))
        yield from (ops.Insert(C, at(number), 100), ops.Expire(step), ops.Expire(step - 1), ops.Observe(), ops.Cycle())


def cursors() -> Iterator[ops.Op]:
    """Add and move many cursors of one cache out of order, in several ledgers, with and without a position."""
    names = [CursorName(f"{number:02}") for number in range(26)]
    yield from (ops.CursorAdd(A, names[0], at(1)), ops.CursorRemove(A, names[0]))
    yield from (ops.Advance(2 * 10**9 - 1), ops.ShouldCache(A), ops.Advance(1), ops.ShouldCache(A))
    for number, name in enumerate(names):
        yield ops.CursorAdd(A, name, None if number == 5 else at(number * 7 % 26, 9 - number // 3))
    queries = (ops.Slowest(A), ops.Cursors(A), ops.ShouldCache(A))
    yield from (ops.CursorRank(A, name) for name in names)
    yield from queries
    for number, name in enumerate(names[:14]):
        yield from (ops.CursorMove(A, name, at(30 - number, 5 - number % 3)), ops.Slowest(A))
    yield from (ops.RemoveCache(A), ops.Insert(A, at(0), 100), *queries)
    yield ops.CursorMove(A, names[20], None)
    yield from (ops.CursorRank(A, name) for name in names)
    yield from queries
    yield ops.Advance(900_000)
    for name in names:
        yield from (ops.CursorRemove(A, name), ops.Advance(10**9), *queries)
    yield from (ops.CursorAdd(A, names[0], at(1)), ops.CursorRemove(A, names[0]))
    yield from (ops.Advance(2 * 10**9 - 500_000), *queries, ops.Advance(10**6), *queries)


def query_grace_period() -> Iterator[ops.Op]:
    """Query the default grace period of a long time to live in its last millisecond, and days and weeks later."""
    yield from (ops.CursorAdd(A, CursorName("c"), at(1)), ops.CursorRemove(A, CursorName("c")))
    yield ops.Advance(4 * HOUR_NANOS - 1)
    for step in (1, 10**6, 10**6, 10**9, 20 * HOUR_NANOS, 6 * 24 * HOUR_NANOS, 2**31 * 10**6, 2**31 * 10**6):
        yield from (ops.ShouldCache(A), ops.Advance(step))
    yield ops.ShouldCache(A)


def wrap_grace_period() -> Iterator[ops.Op]:
    """Query the grace period after as many milliseconds as 16, 31 and 32 bits count, from its start."""
    for bits in (16, 31, 32):
        yield from (ops.CursorAdd(A, CursorName("c"), at(1)), ops.CursorRemove(A, CursorName("c")), ops.ShouldCache(A))
        yield from (ops.Advance(2**bits * 10**6), ops.ShouldCache(A))


def overflow_limit() -> Iterator[ops.Op]:
    """Overflow a large limit by much, and run everything that is scheduled."""
    yield from (ops.Insert(A, at(number, 3), 100) for number in range(6))
    yield from (ops.Advance(2 * 10**9), *fill_caches(60, 2_000), ops.Cycle())
    yield from (ops.Insert(A, at(500), 60_000, 1), ops.Insert(A, at(501), 500_000), ops.RunScheduled(), ops.Observe())
    yield from (*fill_caches(30, 3_000), ops.Read(B, at(600), at(625), 1), ops.Cycle(), ops.RunScheduled())
    yield from (
        ops.Configure(max_size_bytes=20_000),
        ops.RunScheduled(),
        ops.Observe(),
        ops.Cycle(),
        ops.Insert(C, at(700), 1),
        ops.Metrics(),
    )
    yield from (ops.Insert(A, at(0, ledger), 100) for ledger in range(12))
    yield from (ops.InvalidateBefore(A, at(0, 9)), ops.InvalidateLedger(A, 10), ops.RemoveCache(A), ops.Observe())


def ledgers() -> Iterator[ops.Op]:
    """Use ledgers and entries that 16, 31, 32 and 52 bits do not tell apart."""
    far = (1, *(1 + (1 << bits) for bits in (16, 31, 32, 52)))
    for drop in (
        ops.InvalidateLedger(A, 1),
        ops.InvalidateBefore(A, at(1, far[3])),
        ops.RemoveRange(A, at(0), at(1), True),
    ):
        yield from (ops.Insert(A, at(entry, ledger), 100) for ledger in far for entry in far)
        yield from (
            drop,
            *(ops.Get(A, at(1, ledger)) for ledger in far),
            ops.Observe(),
            ops.InvalidateLedger(A, far[3]),
        )


def free_exactly() -> Iterator[ops.Op]:
    """Insert entries whose pass frees exactly what it needs."""
    yield from (ops.Insert(A, at(number), 100) for number in range(15))
    yield from (ops.Metrics(), ops.Observe())


def overflow_by_rounding() -> Iterator[ops.Op]:
    """Insert as many bytes as the exact trigger allows, and one more that the IEEE product allows."""
    exact = ROUNDED_UP_BYTES * 98 // 100
    yield from (ops.Insert(A, at(0), exact), ops.Insert(A, at(1), 1), ops.Observe(), ops.Insert(A, at(2), 1))


LARGE_RUNS: Final = (mix_long_queue, reads, counts, budgets, amounts, ages, cursors, overflow_limit, ledgers)


def generate_large_runs() -> Iterator[Run]:
    """Generate every run with default variants, some with each variant; the last use the heap container or wait."""
    config = configuration.Config(
        max_size_bytes=PLENTY_BYTES, max_requeues=40, ttl_nanos=1_000_000_001, storage_entry_size=1_500
    )
    tight = replace(config, max_size_bytes=100_003, max_requeues=2)
    for played in LARGE_RUNS:
        yield (tight if played is overflow_limit else config), tuple(played())
    yield replace(config, max_size_bytes=ROUNDED_UP_BYTES), tuple(overflow_by_rounding())
    yield replace(config, max_size_bytes=1_000), tuple(free_exactly())
    yield replace(config, ttl_nanos=2 * HOUR_NANOS), tuple(query_grace_period())
    yield config, tuple(wrap_grace_period())
    for variants in SINGLE_VARIANTS[1:]:
        yield replace(config, variants=variants), (*mix_long_queue(), *reads(), *budgets(), *counts(), *amounts())
    for variants in SINGLE_VARIANTS[1:]:
        yield replace(config, evict_by_expected_reads=False, variants=variants), tuple(reads())
    yield (
        replace(config, evict_by_expected_reads=False),
        tuple(event for event in cursors() if type(event) is not ops.CursorRank),
    )
    yield replace(tight, eviction=configuration.Eviction.MANUAL), tuple(overflow_limit())


# --- Short random runs

RANDOM_RUNS: Final = 260
TTL_NANOS: Final = 10


def mix_operations(source: random.Random) -> Iterator[ops.Op]:
    """Mix all operations on few places, with small counts, overlapping holds and small passes."""
    for number in range(STEPS):
        cache, pos, hold = source.choice((A, A, B)), at(source.randrange(2)), HoldName(source.choice("hi"))
        insert = ops.Insert(cache, pos, source.choice((1, 2, 3)), source.choice((None, ABSENT, 0, 1, 1, 2, 3)), number)
        choices: Sequence[ops.Op] = (
            insert,
            insert,
            insert,
            ops.Read(cache, at(0), at(source.randrange(2)), source.choice((-1, 0, 1, 2)), hold),
            ops.Read(cache, pos, pos, source.choice((0, 1))),
            ops.Release(hold),
            ops.Release(hold),
            ops.Get(cache, pos),
            ops.MarkRead(cache, pos),
            ops.ExpectRead(cache, pos),
            ops.Evict(source.choice((1, 2, 5))),
            ops.Expire(),
            ops.Cycle(),
            ops.Advance(source.choice((1, TTL_NANOS - 1, TTL_NANOS))),
            ops.RemoveRange(cache, at(0), pos, source.random() < 0.5),
            source.choice(
                (ops.Clear(cache), ops.RemoveCache(cache), ops.InvalidateLedger(cache, 1), ops.RunScheduled())
            ),
        )
        yield source.choice(choices)
    yield from (ops.Observe(), ops.Metrics(), ops.Evict(3), ops.Advance(TTL_NANOS + 1), ops.Expire(), ops.Observe())


def generate_random_runs() -> Iterator[Run]:
    """Generate short random runs, most of them under several variants, some with a tight limit."""
    for number in range(RANDOM_RUNS):
        source = random.Random(f"storm {number}")
        yield (
            configuration.Config(
                max_size_bytes=source.choice((6, 10, 1_000, 1_000)),
                ttl_nanos=TTL_NANOS,
                max_requeues=source.choice((0, 1, 2)),
                storage_entry_size=source.choice((1, 2)),
                extend_recently_accessed=source.random() < 0.8,
                evict_by_expected_reads=source.random() < 0.9,
                eviction=source.choice(
                    (configuration.Eviction.INLINE, configuration.Eviction.INLINE, configuration.Eviction.MANUAL)
                ),
                variants=choose_each_variant(configuration.Variants(), source),
            ),
            tuple(mix_operations(source)),
        )


# --- Crowded runs

MANY: Final = 300
"""The number of items that take a step each."""
MORE: Final = 270
"""The number of items that one step makes."""


def positions() -> Iterator[ops.Op]:
    """Fill many positions by one read, and take, hold, drop or list all of them."""
    last = at(MORE - 1)
    yield from (ops.Read(A, at(0), last, 1), ops.Read(A, at(0), last, 1, HoldName("h")), ops.GetRange(A, at(0), last))
    yield from (ops.Evict(MORE * 50), ops.Release(HoldName("h")), ops.Evict(10**9), ops.Metrics(), ops.Observe())
    for drop in (
        ops.RemoveRange(A, at(1), last, False),
        ops.InvalidateBefore(A, last),
        ops.Clear(A),
        ops.RemoveCache(A),
    ):
        yield from (ops.Read(A, at(0), last, 0), drop, ops.Usage(), ops.Read(A, at(0), last, 2), ops.Observe())
        yield from (ops.Advance(10**10), ops.Expire(), ops.Metrics())


def caches() -> Iterator[ops.Op]:
    """Insert an entry into each of many caches, out of the order of their names."""
    names = [CacheName(f"{number * 7 % MANY}") for number in range(MANY)]
    yield from (ops.Insert(name, at(0), 100 + number % 3, number % 2) for number, name in enumerate(names))
    yield from (ops.Get(name, at(0)) for name in names[::40])
    yield from (ops.Observe(), ops.Usage(), ops.Usage(names[-1]), ops.Metrics(), ops.Evict(20_000), ops.Observe())
    yield from (ops.Clear(names[-2]), ops.Advance(10**10), ops.Expire(), ops.Observe(), ops.Metrics())


def many_cursors() -> Iterator[ops.Op]:
    """Add many cursors of one cache out of order; query, move and remove them."""
    names = [CursorName(f"c{number}") for number in range(MANY)]
    yield from (ops.CursorAdd(A, name, at(number * 7 % MANY)) for number, name in enumerate(names))
    sampled_names = (*names[::60], names[-1])
    for moved in (names[:9], names[-9:]):
        yield from (ops.CursorRank(A, name) for name in sampled_names)
        yield from (ops.Slowest(A), ops.Cursors(A), ops.ShouldCache(A), ops.Insert(A, at(0), 100))
        yield from (ops.CursorMove(A, name, at(MANY + number)) for number, name in enumerate(moved))
    yield from (ops.CursorRemove(A, name) for name in names[5:-5:9])
    yield from (ops.CursorRank(A, name) for name in (names[0], names[-1]))
    yield from (ops.Slowest(A), ops.Cursors(A))


def claims() -> Iterator[ops.Op]:
    """Make many holds, expectations and reads of one entry."""
    yield from (ops.Insert(A, at(0), 100, 2, 7), ops.Insert(B, at(0), 100))
    holds = [HoldName(f"h{number}") for number in range(MANY)]
    yield from (ops.Read(A, at(0), at(0), 0, hold) for hold in holds)
    yield from (ops.Evict(150), ops.Observe(), ops.Clear(A))
    yield from (ops.Release(hold) for hold in (*holds[::2], *holds[1::2]))
    yield ops.Insert(A, at(0), 100, 2)
    yield from (ops.ExpectRead(A, at(0)) for _ in range(MANY))
    yield from (ops.MarkRead(A, at(0)) for _ in range(MANY + 5))
    yield from (ops.Observe(), ops.Advance(2 * 10**9), ops.Expire(), ops.Metrics())


def requeue_many_times() -> Iterator[ops.Op]:
    """Requeue one entry pass after pass, next to one that leaves at once."""
    yield from (ops.Insert(A, at(0), 100, MANY), ops.Insert(A, at(1), 100))
    for _ in range(MANY + 20):
        yield from (ops.Advance(2 * 10**9), ops.Expire())
    yield from (ops.Observe(), ops.Metrics())


def generate_crowded_runs() -> Iterator[Run]:
    """Generate all crowded runs, requeues with other variants too, and short random runs."""
    config = configuration.Config(max_size_bytes=10**12, max_requeues=MANY, ttl_nanos=10**9, storage_entry_size=100)
    for played in (many_cursors, caches, claims, requeue_many_times, positions):
        yield config, tuple(played())
    for variants in SINGLE_VARIANTS[1:]:
        yield replace(config, variants=variants), tuple(requeue_many_times())
    yield from generate_random_runs()
    yield from generate_ledger_runs()
    yield from generate_held_runs()
    yield from generate_deleted_runs()
    yield from generate_flight_runs()
    yield from generate_sharing_runs()
    yield from generate_short_answers()
    yield from generate_moved_answers()
    yield from generate_double_holds()
    yield from generate_narrow_runs()
