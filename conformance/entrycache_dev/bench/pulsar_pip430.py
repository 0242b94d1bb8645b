"""The measurements of the fast cache of `pulsar-pip430`.

`play_fast` plays the mix of puts and gets. `measure_caches` compares the fast cache with cachetools, with itself at
other sizes, with cursors, and over a hundred thousand caches. `PARTS` lists the measurements.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from math import ceil
from statistics import median
from typing import Any, Final

from entrycache_dev.bench import measurement
from entrycache_fast import BrokerCache
from entrycache_fast.pulsar.state import TRIGGER

WATERMARK: Final = 0.96
"""The share of its limit down to which a size pass frees."""


def bounded_cache(live: int) -> BrokerCache:
    """Return a fast cache whose trigger is `live` bytes."""
    return BrokerCache(max_size_bytes=ceil(live / TRIGGER), watermark=WATERMARK)


def play_fast(mix: list[measurement.Operation], live: int) -> measurement.PlayedMix:
    """Play the mix on the fast cache.

    Every entry has size 1. The insert that leaves more than `live` runs a size pass that frees 2 % of the bound. So the
    fast cache holds between 98 % and 100 % of `live`, where cachetools holds exactly `live`. The time includes the
    passes, with every requeue of an entry that was read. Keys are given as three arguments.
    """
    cache = bounded_cache(live)
    insert, get = cache.insert, cache.get
    hits = 0

    def play(part: Iterator[measurement.Operation] | list[measurement.Operation]) -> None:
        nonlocal hits
        for put, ledger, entry in part:
            if put:
                insert("topic", ledger, entry, 1, measurement.VALUE)
            elif get("topic", ledger, entry) is not None:
                hits += 1

    play(measurement.warm_up_operations(live))
    hits = 0
    seconds = measurement.seconds_of(lambda: play(mix))
    return measurement.PlayedMix(seconds, hits)


READERS: Final = 1_000
CACHES: Final = 100_000

SpreadOperation = tuple[bool, str, int, int]
"""An operation: whether it is a put, its cache, ledger and entry."""


def measure_with_cursors(rounds: int, count: int, live: int, readers: int = READERS) -> list[measurement.Measurement]:
    """Measure the mix with cursors: a put first asks whether to cache, and a get first moves a cursor."""
    mix = list(measurement.mixed_operations(count, live))
    keys = measurement.with_keys(mix)
    lru = measurement.import_lru_cache()
    seconds = measurement.interleaved(
        rounds,
        {
            "with cursors": lambda: play_with_cursors(mix, live, readers),
            "without": lambda: play_fast(mix, live).seconds,
            "LRU": lambda: measurement.play_mapping(keys, lru(live), live).seconds,
        },
    )
    return [
        ratio_measurement(
            f"fast cache with {readers:,} cursors, times itself without", seconds, "with cursors", "without", count
        ),
        ratio_measurement(
            f"fast cache with {readers:,} cursors, times cachetools LRU", seconds, "with cursors", "LRU", count
        ),
    ]


def measure_over_many_caches(rounds: int, count: int, live: int, caches: int = CACHES) -> list[measurement.Measurement]:
    """Measure the mix over many caches, with each entry in the next cache."""
    mix = spread_operations(measurement.mixed_operations(count, live), caches)
    keys = [(put, (name, ledger, entry)) for put, name, ledger, entry in mix]
    one = list(measurement.mixed_operations(count, live))
    warm = spread_operations(measurement.warm_up_operations(live), caches)
    warm_keys = [(put, (name, ledger, entry)) for put, name, ledger, entry in warm]
    lru = measurement.import_lru_cache()
    seconds = measurement.interleaved(
        rounds,
        {
            "many caches": lambda: play_spread(warm, mix, live),
            "one": lambda: play_fast(one, live).seconds,
            "LRU": lambda: play_keys(warm_keys, keys, lru(live)),
        },
    )
    return [
        ratio_measurement(
            f"fast cache over {caches:,} caches, times itself in one", seconds, "many caches", "one", count
        ),
        ratio_measurement(
            f"fast cache over {caches:,} caches, times cachetools LRU", seconds, "many caches", "LRU", count
        ),
    ]


def ratio_measurement(
    what: str, seconds: measurement.Rounds, name: str, other: str, count: int
) -> measurement.Measurement:
    """Return the ratio of two speeds, without a target."""
    rates = ", ".join(f"{side} {measurement.rate(seconds, side, count) / 1_000:,.0f} k/s" for side in (name, other))
    return measurement.Measurement(what, measurement.ratio(seconds, other, name), "", note=rates)


def play_with_cursors(mix: list[tuple[bool, int, int]], live: int, readers: int) -> float:
    """Return the seconds of the mix with cursors; each get belongs to the next reader."""
    cache = bounded_cache(live)
    names = [f"reader-{number}" for number in range(readers)]
    for name in names:
        cache.cursor_add("topic", name, (0, 0))
    insert, get, should_cache, move = cache.insert, cache.get, cache.should_cache, cache.cursor_move

    def play(part: Iterable[tuple[bool, int, int]]) -> None:
        reader = cycle(names)
        for put, ledger, entry in part:
            if put:
                if should_cache("topic"):
                    insert("topic", ledger, entry, 1, measurement.VALUE)
            else:
                move("topic", next(reader), (ledger, entry))
                get("topic", ledger, entry)

    play(measurement.warm_up_operations(live))
    return measurement.seconds_of(lambda: play(mix))


def spread_operations(mix: Iterator[tuple[bool, int, int]], caches: int) -> list[SpreadOperation]:
    """Return the same operations with each entry in the next cache."""
    names = [f"topic-{number}" for number in range(caches)]
    return [(put, names[entry % caches], 1, entry // caches) for put, _, entry in mix]


def play_spread(warm: list[SpreadOperation], mix: list[SpreadOperation], live: int) -> float:
    """Return the seconds of the mix on the fast cache."""
    cache = bounded_cache(live)
    insert, get = cache.insert, cache.get

    def play(part: list[SpreadOperation]) -> None:
        for put, name, ledger, entry in part:
            if put:
                insert(name, ledger, entry, 1, measurement.VALUE)
            else:
                get(name, ledger, entry)

    play(warm)
    return measurement.seconds_of(lambda: play(mix))


def play_keys(
    warm: list[tuple[bool, tuple[str, int, int]]], mix: list[tuple[bool, tuple[str, int, int]]], cache: Any
) -> float:
    """Return the seconds of the mix on a cache of cachetools, without making the keys."""
    get = cache.get

    def play(part: list[tuple[bool, tuple[str, int, int]]]) -> None:
        for put, key in part:
            if put:
                cache[key] = measurement.VALUE
            else:
                get(key)

    play(warm)
    return measurement.seconds_of(lambda: play(mix))


LIVE: Final = (1_000, 100_000)
MANY_LIVE: Final = 1_000_000
FEW_CACHES: Final = 10
MANY_CACHES: Final = 100_000
TTL_SECONDS: Final = 3_600

LRU_AT_LEAST: Final = 1.4
TTL_AT_LEAST: Final = 3.0
MANY_LIVE_AT_MOST: Final = 1.6
MANY_CACHES_AT_MOST: Final = 1.2


def measure_caches(rounds: int, operations: int) -> Iterator[measurement.Measurement]:
    """Yield every measurement: medians of `rounds` interleaved rounds with mixes of `operations` operations.

    Raises:
        MissingPrerequisite: cachetools is not installed.
    """
    for part in PARTS:
        yield from part(rounds, operations)


def measure_beside_cachetools(rounds: int, count: int, live: int) -> list[measurement.Measurement]:
    """Compare the fast cache with the LRU and TTL caches of cachetools, with the same bound on live entries."""
    lru = measurement.import_lru_cache()
    from cachetools import TTLCache  # noqa: PLC0415 - an extra

    mix = list(measurement.mixed_operations(count, live))
    keys = measurement.with_keys(mix)
    hits: dict[str, int] = {}

    def noted(name: str, play: Callable[[], measurement.PlayedMix]) -> Callable[[], float]:
        def run() -> float:
            played = play()
            hits[name] = played.hits
            return played.seconds

        return run

    seconds = measurement.interleaved(
        rounds,
        {
            "fast": noted("fast", lambda: play_fast(mix, live)),
            "LRU": noted("LRU", lambda: measurement.play_mapping(keys, lru(live), live)),
            "TTL": noted("TTL", lambda: measurement.play_mapping(keys, TTLCache(live, TTL_SECONDS), live)),
        },
    )
    gets = max(1, sum(not put for put, _, _ in mix))
    shares = ", ".join(f"{name} {hits[name] / gets:.0%}" for name in hits)
    return [
        measurement.Measurement(
            f"fast cache, times cachetools {name}, {live:,} live",
            measurement.ratio(seconds, name, "fast"),
            "",
            at_least=least,
            note=f"{measurement.thousands(seconds, 'fast', count)} and {measurement.thousands(seconds, name, count)}; "
            f"hits: {shares}",
        )
        for name, least in (("LRU", LRU_AT_LEAST), ("TTL", TTL_AT_LEAST))
    ] + [measurement.bare_rate(f"fast cache, {live:,} live", seconds, "fast", count)]


def measure_more_live(rounds: int, count: int, live: int, many_live: int) -> list[measurement.Measurement]:
    """Compare the time of an operation with many live entries and with fewer."""
    mixes = {size: list(measurement.mixed_operations(count, size)) for size in (live, many_live)}
    seconds = measurement.interleaved(
        rounds,
        {
            "fewer": lambda: play_fast(mixes[live], live).seconds,
            "many": lambda: play_fast(mixes[many_live], many_live).seconds,
        },
    )
    nanos = {name: 1e9 * median(seconds[name]) / count for name in ("fewer", "many")}
    return [
        measurement.Measurement(
            f"fast cache, time an operation at {many_live:,} live, times that at {live:,}",
            measurement.ratio(seconds, "many", "fewer"),
            "",
            at_most=MANY_LIVE_AT_MOST,
            note=f"{nanos['many']:,.0f} ns and {nanos['fewer']:,.0f} ns",
        )
    ]


def time_one_pass(caches: int, entries: int) -> float:
    """Time a size pass that takes half of the entries, which lie in turn in that many caches."""
    cache = BrokerCache(max_size_bytes=2 * entries)
    for number in range(entries):
        cache.insert(f"topic-{number % caches}", 1, number // caches, 1)
    return measurement.seconds_of(lambda: cache.evict(entries // 2))


def measure_more_caches(rounds: int, caches: int, many_caches: int, entries: int) -> list[measurement.Measurement]:
    """Compare a pass over many caches with one over few; the same entries leave in both."""
    seconds = measurement.interleaved(
        rounds,
        {"few": lambda: time_one_pass(caches, entries), "many": lambda: time_one_pass(many_caches, entries)},
    )
    taken = entries // 2
    nanos = {name: 1e9 * median(seconds[name]) / taken for name in ("few", "many")}
    return [
        measurement.Measurement(
            f"fast cache, a pass over {many_caches:,} caches, times one over {caches}",
            measurement.ratio(seconds, "many", "few"),
            "",
            at_most=MANY_CACHES_AT_MOST,
            note=f"{nanos['many']:,.0f} ns and {nanos['few']:,.0f} ns an entry, {taken:,} entries",
        )
    ]


PARTS: Final[tuple[Callable[[int, int], list[measurement.Measurement]], ...]] = (
    lambda rounds, count: measure_beside_cachetools(rounds, count, LIVE[0]),
    lambda rounds, count: measure_beside_cachetools(rounds, count, LIVE[1]),
    lambda rounds, count: measure_more_live(rounds, count, LIVE[1], MANY_LIVE),
    lambda rounds, _count: measure_more_caches(rounds, FEW_CACHES, MANY_CACHES, 4 * MANY_CACHES),
    lambda rounds, count: measure_with_cursors(rounds, count, LIVE[0]),
    lambda rounds, count: measure_over_many_caches(rounds, count, 2 * MANY_CACHES, MANY_CACHES),
)
"""The parts of `measure_caches`; each takes rounds and operations."""
