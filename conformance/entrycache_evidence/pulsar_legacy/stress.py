"""Stress runs of `pulsar-legacy`: more entries, caches, bytes and time than any bounded model has.

`generate_large_runs` yields runs that were written by hand, each for an edge that a bounded model cannot reach.
`generate_crowded_runs` yields runs with hundreds of caches, and with hundreds of positions in one step.
`generate_runs_from_large_states` begins in states with thousands of items, or with great numbers. `play` plays the
short runs in the tests of single rules.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.models import current_model, report_run
from entrycache_reference import pulsar_legacy
from entrycache_reference.pulsar_legacy import NAME, Config, Step, Variants, ops
from entrycache_reference.pulsar_legacy.config import Eviction, SingleLookup
from entrycache_reference.pulsar_legacy.state import Cache, Entry, State
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Run = tuple[Config, tuple[ops.Op, ...]]

A: Final = CacheName("a")
B: Final = CacheName("b")
C: Final = CacheName("c")
REFUSED: Final = ops.Refused(ops.ErrorKind.ILLEGAL_ARGUMENT)
CACHES: Final = (A, B, C)
MANY: Final = tuple(CacheName(f"{number:02}") for number in range(40))
"""More caches than a bound of a pass might allow."""
CROWD: Final = 240
"""More entries than a bound of a pass, a call or an answer might allow."""
PLENTY_BYTES: Final = 10**13
ROUNDED_UP_BYTES: Final = 5_557_860_836_705_101
"""A limit whose 98 %, as an IEEE product, is one byte more than the exact value."""
HOUR_NANOS: Final = 3_600 * 10**9


def at(entry: int, ledger: int = 1) -> Position:
    """Return a position, most often in ledger 1."""
    return Position(ledger, entry)


def build_inserts(cache: CacheName, *sizes: int) -> list[ops.Insert]:
    """Build inserts of entries of these sizes, from 1:0 on."""
    return [ops.Insert(cache, at(entry), size) for entry, size in enumerate(sizes)]


def fill_caches(number: int, size: int = 100, caches: tuple[CacheName, ...] = CACHES) -> Iterator[ops.Op]:
    """Insert this many entries, in one cache after another; every fifth carries no payload."""
    for index in range(number):
        token = ABSENT if index % 5 == 4 else index
        yield ops.Insert(caches[index % len(caches)], at(index // len(caches)), size, token)


def query_all() -> Iterator[ops.Op]:
    """Query everything, without a change."""
    yield from (ops.GetRange(name, at(-1), at(500)) for name in CACHES)
    yield from (ops.Usage(name) for name in (ABSENT, *CACHES))
    yield from (ops.Observe(), ops.Get(A, at(70)), ops.ReadOne(A, at(60)), ops.Exists(B, at(64)))


def mix_hundreds() -> Iterator[ops.Op]:
    """Run passes and calls over hundreds of entries, with and without payloads, in several ledgers."""
    yield from (*fill_caches(CROWD), ops.Advance(1_500), *query_all())
    yield from (ops.GetRange(A, at(0), at(2)), ops.Read(A, at(0), at(79)), ops.Read(A, at(0), at(2)))
    yield from (ops.Get(A, at(4)), ops.Get(A, at(3)), ops.ReadOne(A, at(4)), ops.ReadOne(A, at(500)))
    yield from (ops.RemoveRange(B, at(3), at(76), True), ops.InvalidateBefore(C, at(61)), *query_all())
    yield from (ops.EvictCache(A, 6_150), ops.Evict(2_222), ops.Observe())
    yield from (ops.Insert(B, at(90 - 3 * ledger, ledger), 100 + ledger, ledger) for ledger in range(12))
    yield from (ops.GetRange(B, at(70, 3), at(60, 8)), ops.RemoveRange(B, at(80, 2), at(70, 5), False))
    yield from (ops.InvalidateBefore(B, at(0, 7)), ops.InvalidateLedger(B, 10), ops.Observe(), ops.RemoveCache(B))
    yield from (*fill_caches(CROWD, caches=(A,)), ops.Clear(A), *fill_caches(CROWD), ops.Evict(10**9), ops.Observe())


def share_among_caches() -> Iterator[ops.Op]:
    """Run passes in which a dozen caches give, with equal sizes and truncated amounts."""
    for index in range(3 * len(MANY)):
        yield ops.Insert(MANY[index * 7 % len(MANY)], at(index // len(MANY)), 100 + index * 13 % 7, index)
    for need in (1, 997, 12_345, 3_001):
        yield from (ops.Observe(), ops.Evict(need))
    yield from (*fill_caches(60, 77, MANY[:30]), ops.Evict(40), ops.Usage(), ops.Evict(3_000), ops.Evict(10**6))


def amounts() -> Iterator[ops.Op]:
    """Use sizes and needs beyond 16, 20, 31 and 32 bits."""
    for number, size in enumerate((0, 70_000, 3 << 20, 2 << 30, 3 << 30, 5 << 30, 12_000, 9)):
        yield from (ops.Insert(A, at(number), size, number), ops.Insert(B, at(number), size + number % 3))
    yield from (ops.Usage(), ops.Observe(), ops.EvictCache(A, (2 << 20) + 1), ops.Evict(5 << 30))
    yield from (ops.EvictCache(B, 6 << 30), ops.Observe(), ops.Evict(1 << 40), ops.Observe())


def ages() -> Iterator[ops.Op]:
    """Use ages of hours and weeks, to the nanosecond, in one cache and behind younger entries."""
    yield from (ops.Insert(A, at(0), 100), ops.Advance(2 * HOUR_NANOS), ops.Insert(A, at(1), 100), ops.Expire(A))
    for number, age in enumerate((1_000 * 10**9, 2_000 * 10**9 + 1_500, 10**15, 1_999_999, 999_999_999, 1, 10**15)):
        yield from (ops.Insert(A, at(number), 100), ops.Insert(B, at(9 - number), 100, number), ops.Advance(age))
        yield from (ops.Insert(C, at(number), 100), ops.Expire(B, age), ops.Expire(C, age - 1), ops.Expire(A, age))
        yield from (ops.Expire(A, age - 1), ops.Expire(B), ops.Observe())
    yield from (
        *fill_caches(CROWD),
        ops.Advance(1_000_000_001),
        *fill_caches(9),
        ops.Expire(A),
        ops.Expire(B, 0),
        ops.Observe(),
    )


def reads() -> Iterator[ops.Op]:
    """Read many positions: none, some or all of them cached, some without a payload."""
    yield from (ops.Insert(A, at(number), 100, 7_000 + number) for number in range(12))
    yield from (ops.Read(A, at(0), at(11)), ops.Read(A, at(0), at(44)), ops.Read(A, at(0), at(44)))
    yield from (
        ops.Insert(B, at(2), 70),
        ops.Read(B, at(0), at(25)),
        ops.Read(B, at(0), at(25)),
        ops.Read(B, at(3), at(20)),
    )
    yield from (ops.ReadOne(B, at(2)), ops.ReadOne(B, at(3)), ops.ReadOne(B, at(99)), ops.GetRange(B, at(0), at(99)))
    yield from (ops.RemoveRange(A, at(15), at(22), True), ops.Read(A, at(10), at(30)), ops.Observe())


def overflow_limit() -> Iterator[ops.Op]:
    """Overflow a large limit by little and by much, and run everything that is scheduled."""
    yield from (*fill_caches(60, 2_000), ops.Insert(A, at(500), 60_000, 1), ops.Insert(A, at(501), 500_000))
    yield from (ops.Insert(A, at(502), 1), ops.RunScheduled(), ops.Observe(), ops.Insert(B, at(502), 1))
    yield from (*fill_caches(30, 3_000), ops.Read(B, at(600), at(655)), ops.RunScheduled(), ops.RunScheduled())
    yield from (ops.Insert(C, at(number, 4), 999, number) for number in range(140))
    yield from (ops.RunScheduled(), ops.Insert(C, at(0, 5), 1), *query_all(), ops.RemoveCache(C), ops.Observe())


def overflow_by_rounding() -> Iterator[ops.Op]:
    """Insert as many bytes as the exact trigger allows, one more that the IEEE product allows, and another."""
    exact = ROUNDED_UP_BYTES * 98 // 100
    yield from (ops.Insert(A, at(0), exact), ops.Insert(A, at(1), 1), ops.Observe(), ops.Insert(A, at(2), 1))
    yield from (ops.Insert(A, at(3), 1), ops.Observe())


def generate_large_runs() -> Iterator[Run]:
    """Generate every run with default variants, some with the variant; the last wait or have unusual watermarks."""
    config = Config(max_size_bytes=PLENTY_BYTES, ttl_nanos=1_000_000_001)
    tight = replace(config, max_size_bytes=100_003)
    by_object = replace(config, variants=Variants(SingleLookup.OBJECT))
    for played in (mix_hundreds, share_among_caches, amounts, ages, reads):
        yield config, tuple(played())
    yield replace(config, max_size_bytes=ROUNDED_UP_BYTES), tuple(overflow_by_rounding())
    yield replace(config, ttl_nanos=2 * HOUR_NANOS), tuple(ages())
    yield by_object, (*mix_hundreds(), *reads())
    for watermark in (0.9, 0.1, 1.0, 0.333):
        yield replace(tight, watermark=watermark), tuple(overflow_limit())
    yield replace(tight, eviction=Eviction.MANUAL), tuple(overflow_limit())


# --- Crowded runs

CACHE_COUNT: Final = 200
"""The number of caches, each of which takes a step."""
POSITION_COUNT: Final = 350
"""The number of positions that one step fills."""


def caches() -> Iterator[ops.Op]:
    """Insert an entry of similar size into each of many caches, and let most of them give in one pass."""
    names = [CacheName(f"{number * 7 % CACHE_COUNT}") for number in range(CACHE_COUNT)]
    yield from (ops.Insert(name, at(number % 5), 100, number) for number, name in enumerate(names))
    yield from (ops.Usage(), ops.Observe(), ops.Evict(19_000), ops.Observe(), ops.Advance(2 * 10**9))
    yield from (ops.Expire(name) for name in names[:9])
    yield from (ops.Usage(names[-1]), ops.Observe())


def positions() -> Iterator[ops.Op]:
    """Fill many positions by one read, and take, drop or list all of them."""
    last = at(POSITION_COUNT - 1)
    yield from (ops.Read(A, at(0), last), ops.GetRange(A, at(0), last), ops.Read(A, at(0), last), ops.Evict(20_000))
    for drop in (ops.RemoveRange(A, at(1), last, False), ops.InvalidateBefore(A, last), ops.InvalidateLedger(A, 1)):
        yield from (ops.Read(A, at(0), last), drop, ops.Usage(A), ops.Read(B, at(0), last), ops.Observe())
        yield from (ops.EvictCache(B, 30_000), ops.Advance(10**10), ops.Expire(B), ops.Clear(A), ops.Usage())


# --- Runs that begin in a state with thousands of items, or with great numbers

GREAT: Final = 2**53 + 2**31 + 7
"""A number that neither an integer of 32 bits nor a double holds."""


def begin_with_entries(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Expire, evict, read and list the entries of one cache."""
    entries = {at(number): Entry(100, number, number if number % 9 else None) for number in range(large)}
    state = State(10**15, {A: Cache(entries, 100 * large)}, 100 * large)
    last = at(large - 1)
    yield from (state, ops.GetRange(A, at(0), last), ops.Get(A, last), ops.Exists(A, last), ops.ReadOne(A, last))
    yield from (ops.Read(A, at(0), last), ops.Read(A, at(large - 3), at(large + 3)), ops.Observe(), ops.Usage(A))
    yield from (ops.Insert(A, last, 3), ops.Insert(A, at(2 * large), 3), ops.Advance(5), ops.Usage())
    for drop in (
        ops.Expire(A, 10**15 - large + 99),
        ops.EvictCache(A, 100 * large - 150),
        ops.Evict(100 * large - 150),
        ops.Clear(A),
        ops.RemoveRange(A, at(0), last, False),
        ops.InvalidateLedger(A, 1),
        ops.InvalidateBefore(A, last),
        ops.RemoveCache(A),
    ):
        yield from (state, drop, ops.Usage())
    yield from (state._replace(scheduled_bytes=100 * large - 950), ops.RunScheduled(), ops.Usage(A))


def begin_without_room(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Read many entries from storage that a full cache does not take."""
    full = State(0, {B: Cache({at(0): Entry(config.max_size_bytes, 0, None)}, config.max_size_bytes)}, 10**12)
    yield from (full._replace(scheduled_bytes=1), ops.Read(A, at(0), at(large - 1)), ops.Usage())


def begin_with_caches(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Use some of many caches, of which 200 hold half of all bytes, and let these give."""
    names = [CacheName(f"{number * 7 % large}") for number in range(large)]
    sizes = [large // 2 if number < 200 else 100 + number % 3 for number in range(large)]
    caches = {name: Cache({at(0): Entry(size, 5, 7)}, size) for name, size in zip(names, sizes, strict=True)}
    state = State(9, caches, sum(sizes))
    yield from (state, ops.Usage(), ops.Observe(), ops.Expire(names[-1], 0), ops.Usage(names[-2]), ops.Observe())
    yield from (ops.Insert(names[-3], at(1), 9), ops.Insert(CacheName("new"), at(1), 9), ops.Clear(names[-4]))
    yield from (ops.RemoveCache(names[-5]), ops.Get(names[-6], at(0)), ops.Usage(), state, ops.Evict(60 * large))
    yield from (ops.Usage(), ops.Observe())


GIVERS: Final = 1_300
"""The number of caches of which half give in one pass."""


def begin_with_givers(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Let hundreds of caches give in one pass."""
    names = [CacheName(f"{number * 7 % GIVERS}") for number in range(GIVERS)]
    sizes = [100 + number % 3 for number in range(GIVERS)]
    caches = {name: Cache({at(0): Entry(size, 5, 7)}, size) for name, size in zip(names, sizes, strict=True)}
    yield from (State(9, caches, sum(sizes)), ops.Evict(60 * GIVERS), ops.Usage())


def begin_with_great_numbers(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Play every operation on sizes, times, ids and payloads that neither 32 bits nor a double hold."""
    caches = {}
    for number, name in enumerate((A, B)):
        entries = {
            Position(GREAT, GREAT + one): Entry(GREAT + one + number, GREAT + one, GREAT + one) for one in range(3)
        }
        caches[name] = Cache(entries, sum(entry.size_bytes for entry in entries.values()))
    total = sum(cache.size_bytes for cache in caches.values())
    state = State(2 * GREAT + 1, caches, total)
    first, second = Position(GREAT, GREAT), Position(GREAT, GREAT + 1)
    for event in (
        ops.Get(A, second),
        ops.GetRange(A, first, second),
        ops.Exists(A, second),
        ops.ReadOne(A, second),
        ops.Read(A, first, second),
        ops.Observe(),
        ops.Usage(A),
        ops.Insert(A, second, 1),
        ops.Insert(A, Position(GREAT, GREAT + 9), GREAT, GREAT),
        ops.Advance(GREAT),
        ops.Expire(A, GREAT),
        ops.Expire(A, GREAT + 1),
        ops.EvictCache(A, GREAT),
        ops.EvictCache(A, GREAT + 1),
        ops.Evict(GREAT + 1),
        ops.Clear(A),
        ops.RemoveRange(A, first, second, False),
        ops.InvalidateLedger(A, GREAT),
        ops.InvalidateBefore(A, second),
        ops.RemoveCache(A),
    ):
        yield from (state, event, ops.Usage(), ops.Observe())
    yield from (state._replace(scheduled_bytes=GREAT + 1), ops.RunScheduled(), ops.Usage())


def begin_with_every_magnitude(config: Config, large: int) -> Iterator[State | ops.Op]:
    """Order, take and drop positions whose ids have from one to sixteen digits, in each combination."""
    magnitudes = (0, 7, 2**16 + 1, 2**31 + 1, 2**32 + 1, 10**10 - 1, 10**11, GREAT)
    places = [at(entry, ledger) for entry in magnitudes for ledger in magnitudes[::-1]]
    entries = {pos: Entry(100, number, number) for number, pos in enumerate(places)}
    state = State(10**3, {A: Cache(entries, 100 * len(places))}, 100 * len(places))
    yield from (state, ops.Observe(), ops.GetRange(A, min(places), max(places)), ops.Clear(A))
    for number, pos in enumerate(places[::3], 1):
        yield from (state, ops.GetRange(A, pos, max(places)), ops.InvalidateBefore(A, pos), ops.Observe())
        yield from (state, ops.RemoveRange(A, min(places), pos, False), ops.InvalidateLedger(A, pos.ledger))
        yield from (state, ops.EvictCache(A, 250 * number), ops.Observe(), state, ops.Expire(A, 10**3 - number))


def generate_runs_from_large_states(large: int) -> Iterator[tuple[Config, tuple[State | ops.Op, ...]]]:
    """Generate the runs that begin in a large state, with as many items of each collection."""
    config = Config(10**12)
    for begin in (begin_with_entries, begin_with_caches, begin_with_givers, begin_without_room):
        yield config, tuple(begin(config, large))
    great = Config(12 * GREAT, ttl_nanos=GREAT)
    yield great, tuple(begin_with_great_numbers(great, large))
    yield great, tuple(begin_with_every_magnitude(great, large))


def generate_crowded_runs() -> Iterator[tuple[Config, tuple[State | ops.Op, ...]]]:
    """Generate both crowded runs, the second one under the variant too."""
    yield Config(10**12), tuple(caches())
    yield Config(10**12), tuple(positions())
    yield Config(10**12, variants=Variants(SingleLookup.OBJECT)), tuple(positions())


# --- Short runs in the tests of single rules


class PlayedRun(NamedTuple):
    """A run: its states, the initial one first, and the steps between them."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]

    @property
    def last(self) -> ops.Outcome:
        """The answer of the last step."""
        return self.steps[-1].outcome

    @property
    def before(self) -> State:
        """The state before the last step."""
        return self.states[-2]

    @property
    def after(self) -> State:
        """The state after the last step."""
        return self.states[-1]

    def held(self, cache: CacheName = A) -> list[int]:
        """Return the entry numbers in a cache, ascending."""
        contents = self.after.caches.get(cache)
        return [] if contents is None else [pos.entry for pos in sorted(contents.entries)]


def play(*events: ops.Op, **config: Any) -> PlayedRun:
    """Play these events on the reference or the model under test; keywords change the configuration."""
    settings = Config(**config)
    report_run(NAME, settings, events)
    played = current_model() or pulsar_legacy
    states = [played.initial(settings)]
    steps: list[Step] = []
    for event in events:
        steps.append(played.step(states[-1], event, settings))
        states.append(steps[-1].state)
    return PlayedRun(tuple(states), tuple(steps))
