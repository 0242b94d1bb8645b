"""The measurements of the fast cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from entrycache_bench.measurement import Measurement, bare_rate, interleaved, ratio, seconds_of, thousands
from entrycache_bench.mix import Played, keyed, operations, play_mapping
from entrycache_bench.peers import lru_cache
from entrycache_bench.pulsar_pip430.fast import play_fast
from entrycache_bench.pulsar_pip430.spread import over_many_caches, with_cursors
from entrycache_fast import BrokerCache

LIVE: Final = (1_000, 100_000)
MANY_LIVE: Final = 1_000_000
FEW_CACHES: Final = 10
MANY_CACHES: Final = 100_000
TTL_SECONDS: Final = 3_600

LRU_AT_LEAST: Final = 1.4
TTL_AT_LEAST: Final = 3.0
MANY_LIVE_AT_MOST: Final = 1.6
MANY_CACHES_AT_MOST: Final = 1.2


def measure(rounds: int, operations: int) -> Iterator[Measurement]:
    """Every measurement: the median of `rounds` interleaved rounds, each mix of `operations` operations.

    Raises:
        MissingPrerequisite: cachetools is not installed.
    """
    for part in PARTS:
        yield from part(rounds, operations)


def beside_cachetools(rounds: int, count: int, live: int) -> list[Measurement]:
    """The fast cache beside the LRU and the TTL cache of cachetools, with the same bound on live entries."""
    lru = lru_cache()
    from cachetools import TTLCache  # noqa: PLC0415 - an extra

    mix = list(operations(count, live))
    keys = keyed(mix)
    hits: dict[str, int] = {}

    def noted(name: str, play: Callable[[], Played]) -> Callable[[], float]:
        def run() -> float:
            played = play()
            hits[name] = played.hits
            return played.seconds

        return run

    seconds = interleaved(
        rounds,
        {
            "fast": noted("fast", lambda: play_fast(mix, live)),
            "LRU": noted("LRU", lambda: play_mapping(keys, lru(live), live)),
            "TTL": noted("TTL", lambda: play_mapping(keys, TTLCache(live, TTL_SECONDS), live)),
        },
    )
    gets = max(1, sum(not put for put, _, _ in mix))
    shares = ", ".join(f"{name} {hits[name] / gets:.0%}" for name in hits)
    return [
        Measurement(
            f"fast cache, times cachetools {name}, {live:,} live",
            ratio(seconds, name, "fast"),
            "",
            at_least=least,
            note=f"{thousands(seconds, 'fast', count)} and {thousands(seconds, name, count)}; hits: {shares}",
        )
        for name, least in (("LRU", LRU_AT_LEAST), ("TTL", TTL_AT_LEAST))
    ] + [bare_rate(f"fast cache, {live:,} live", seconds, "fast", count)]


def more_live(rounds: int, count: int, live: int, many_live: int) -> list[Measurement]:
    """The time of one operation of the mix with many entries live, beside that with fewer."""
    mixes = {size: list(operations(count, size)) for size in (live, many_live)}
    seconds = interleaved(
        rounds,
        {
            "fewer": lambda: play_fast(mixes[live], live).seconds,
            "many": lambda: play_fast(mixes[many_live], many_live).seconds,
        },
    )
    nanos = {name: 1e9 * median(seconds[name]) / count for name in ("fewer", "many")}
    return [
        Measurement(
            f"fast cache, time an operation at {many_live:,} live, times that at {live:,}",
            ratio(seconds, "many", "fewer"),
            "",
            at_most=MANY_LIVE_AT_MOST,
            note=f"{nanos['many']:,.0f} ns and {nanos['fewer']:,.0f} ns",
        )
    ]


def one_pass(caches: int, entries: int) -> float:
    """A size pass that takes half of `entries` entries, which lie in turn in so many caches."""
    cache = BrokerCache(max_size_bytes=2 * entries)
    for number in range(entries):
        cache.insert(f"topic-{number % caches}", 1, number // caches, 1)
    return seconds_of(lambda: cache.evict(entries // 2))


def more_caches(rounds: int, caches: int, many_caches: int, entries: int) -> list[Measurement]:
    """The time of one pass over many caches, beside that over few; the same entries leave in both."""
    seconds = interleaved(
        rounds,
        {"few": lambda: one_pass(caches, entries), "many": lambda: one_pass(many_caches, entries)},
    )
    taken = entries // 2
    nanos = {name: 1e9 * median(seconds[name]) / taken for name in ("few", "many")}
    return [
        Measurement(
            f"fast cache, a pass over {many_caches:,} caches, times one over {caches}",
            ratio(seconds, "many", "few"),
            "",
            at_most=MANY_CACHES_AT_MOST,
            note=f"{nanos['many']:,.0f} ns and {nanos['few']:,.0f} ns an entry, {taken:,} entries",
        )
    ]


PARTS: Final[tuple[Callable[[int, int], list[Measurement]], ...]] = (
    lambda rounds, count: beside_cachetools(rounds, count, LIVE[0]),
    lambda rounds, count: beside_cachetools(rounds, count, LIVE[1]),
    lambda rounds, count: more_live(rounds, count, LIVE[1], MANY_LIVE),
    lambda rounds, _count: more_caches(rounds, FEW_CACHES, MANY_CACHES, 4 * MANY_CACHES),
    lambda rounds, count: with_cursors(rounds, count, LIVE[0]),
    lambda rounds, count: over_many_caches(rounds, count, 2 * MANY_CACHES, MANY_CACHES),
)
"""The parts of `measure`: each takes rounds and operations; a new measurement is one more line here."""
