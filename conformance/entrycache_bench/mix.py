"""The mix of puts and gets, the same keys for each cache that plays it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final, NamedTuple

from entrycache_bench.measurement import seconds_of

PUT_SHARE: Final = 45 / 97
LEDGER_ENTRIES: Final = 50_000
Operation = tuple[bool, int, int]
"""Whether it is a put, ledger, entry."""

VALUE: Final = b"payload"


class Played(NamedTuple):
    """How long the mix took, and how many of its gets were hits."""

    seconds: float
    hits: int


def operations(count: int, live: int, seed: int = 1) -> Iterator[Operation]:
    """Puts of ever new entries, 45 in 97, and gets of the `live` newest ones, each as likely as another."""
    random = Random(seed).random
    newest = live
    for _ in range(count):
        if random() < PUT_SHARE:
            yield (True, newest // LEDGER_ENTRIES, newest)
            newest += 1
        else:
            number = newest - 1 - int(random() * live)
            yield (False, number // LEDGER_ENTRIES, number)


def warm_up(live: int, seed: int = 2) -> Iterator[Operation]:
    """What goes before, unmeasured: `live` puts, and as many gets among them as the mix has for each put."""
    random = Random(seed).random
    for newest in range(live):
        yield (True, newest // LEDGER_ENTRIES, newest)
        number = newest - int(random() * live)
        if number >= 0:
            yield (False, number // LEDGER_ENTRIES, number)


KeyedOperation = tuple[bool, tuple[int, int]]


def keyed(mix: list[Operation]) -> list[KeyedOperation]:
    """The same mix with its keys made beforehand, as a cache with one key wants them."""
    return [(put, (ledger, entry)) for put, ledger, entry in mix]


def play_mapping(mix: list[KeyedOperation], cache: Any, live: int) -> Played:
    """The mix on a cache of cachetools, which keeps its own bound; making the keys is not in the time."""
    get = cache.get
    hits = 0

    def play(part: Iterator[KeyedOperation] | list[KeyedOperation]) -> None:
        nonlocal hits
        for put, key in part:
            if put:
                cache[key] = VALUE
            elif get(key) is not None:
                hits += 1

    play((put, (ledger, entry)) for put, ledger, entry in warm_up(live))
    hits = 0
    seconds = seconds_of(lambda: play(mix))
    return Played(seconds, hits)
