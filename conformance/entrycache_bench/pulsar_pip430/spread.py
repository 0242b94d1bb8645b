"""The mix with cursors, and over a hundred thousand caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any, Final

from entrycache_bench.measurement import Measurement, Rounds, interleaved, rate, ratio, seconds_of
from entrycache_bench.mix import VALUE, keyed, operations, play_mapping, warm_up
from entrycache_bench.peers import lru_cache
from entrycache_bench.pulsar_pip430.fast import bounded, play_fast

READERS: Final = 1_000
CACHES: Final = 100_000

SpreadOperation = tuple[bool, str, int, int]
"""Whether it is a put, cache, ledger, entry."""


def with_cursors(rounds: int, count: int, live: int, readers: int = READERS) -> list[Measurement]:
    """The mix where a put asks first whether to cache, and a get moves one of many cursors first."""
    mix = list(operations(count, live))
    keys = keyed(mix)
    lru = lru_cache()
    seconds = interleaved(
        rounds,
        {
            "with cursors": lambda: play_with_cursors(mix, live, readers),
            "without": lambda: play_fast(mix, live).seconds,
            "LRU": lambda: play_mapping(keys, lru(live), live).seconds,
        },
    )
    return [
        beside(f"fast cache with {readers:,} cursors, times itself without", seconds, "with cursors", "without", count),
        beside(f"fast cache with {readers:,} cursors, times cachetools LRU", seconds, "with cursors", "LRU", count),
    ]


def over_many_caches(rounds: int, count: int, live: int, caches: int = CACHES) -> list[Measurement]:
    """The mix over many caches, one entry after another in the next one."""
    mix = spread(operations(count, live), caches)
    keys = [(put, (name, ledger, entry)) for put, name, ledger, entry in mix]
    one = list(operations(count, live))
    warm = spread(warm_up(live), caches)
    warm_keys = [(put, (name, ledger, entry)) for put, name, ledger, entry in warm]
    lru = lru_cache()
    seconds = interleaved(
        rounds,
        {
            "many caches": lambda: play_spread(warm, mix, live),
            "one": lambda: play_fast(one, live).seconds,
            "LRU": lambda: play_keys(warm_keys, keys, lru(live)),
        },
    )
    return [
        beside(f"fast cache over {caches:,} caches, times itself in one", seconds, "many caches", "one", count),
        beside(f"fast cache over {caches:,} caches, times cachetools LRU", seconds, "many caches", "LRU", count),
    ]


def beside(what: str, seconds: Rounds, name: str, other: str, count: int) -> Measurement:
    """How many times as quick the one is as the other; no target."""
    rates = ", ".join(f"{side} {rate(seconds, side, count) / 1_000:,.0f} k/s" for side in (name, other))
    return Measurement(what, ratio(seconds, other, name), "", note=rates)


def play_with_cursors(mix: list[tuple[bool, int, int]], live: int, readers: int) -> float:
    """The seconds of the mix with cursors; each get is one of the readers', in turn."""
    cache = bounded(live)
    names = [f"reader-{number}" for number in range(readers)]
    for name in names:
        cache.cursor_add("topic", name, (0, 0))
    insert, get, should_cache, move = cache.insert, cache.get, cache.should_cache, cache.cursor_move

    def play(part: Iterable[tuple[bool, int, int]]) -> None:
        reader = cycle(names)
        for put, ledger, entry in part:
            if put:
                if should_cache("topic"):
                    insert("topic", ledger, entry, 1, VALUE)
            else:
                move("topic", next(reader), (ledger, entry))
                get("topic", ledger, entry)

    play(warm_up(live))
    return seconds_of(lambda: play(mix))


def spread(mix: Iterator[tuple[bool, int, int]], caches: int) -> list[SpreadOperation]:
    """The same operations, each entry in the next cache."""
    names = [f"topic-{number}" for number in range(caches)]
    return [(put, names[entry % caches], 1, entry // caches) for put, _, entry in mix]


def play_spread(warm: list[SpreadOperation], mix: list[SpreadOperation], live: int) -> float:
    """The seconds of the mix on the fast cache."""
    cache = bounded(live)
    insert, get = cache.insert, cache.get

    def play(part: list[SpreadOperation]) -> None:
        for put, name, ledger, entry in part:
            if put:
                insert(name, ledger, entry, 1, VALUE)
            else:
                get(name, ledger, entry)

    play(warm)
    return seconds_of(lambda: play(mix))


def play_keys(
    warm: list[tuple[bool, tuple[str, int, int]]], mix: list[tuple[bool, tuple[str, int, int]]], cache: Any
) -> float:
    """The seconds of the mix on a cache of cachetools; making the keys is not in the time."""
    get = cache.get

    def play(part: list[tuple[bool, tuple[str, int, int]]]) -> None:
        for put, key in part:
            if put:
                cache[key] = VALUE
            else:
                get(key)

    play(warm)
    return seconds_of(lambda: play(mix))
