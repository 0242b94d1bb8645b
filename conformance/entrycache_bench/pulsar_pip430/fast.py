"""The mix on the fast cache."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Final

from entrycache_bench.measurement import seconds_of
from entrycache_bench.mix import VALUE, Operation, Played, warm_up
from entrycache_fast import BrokerCache
from entrycache_fast.pulsar.state import TRIGGER

WATERMARK: Final = 0.96
"""The share of its limit down to which a size pass frees."""


def bounded(live: int) -> BrokerCache:
    """A fast cache whose trigger is `live` bytes."""
    return BrokerCache(max_size_bytes=ceil(live / TRIGGER), watermark=WATERMARK)


def play_fast(mix: list[Operation], live: int) -> Played:
    """The mix on the fast cache.

    Every entry has size 1. The insert that leaves more than `live` runs a size pass that frees 2 % of the
    bound, so the fast cache holds between 98 % and 100 % of `live`, where cachetools holds exactly `live`.
    The passes are part of the time, with every requeue of an entry that was read. Keys are given as three
    arguments.
    """
    cache = bounded(live)
    insert, get = cache.insert, cache.get
    hits = 0

    def play(part: Iterator[Operation] | list[Operation]) -> None:
        nonlocal hits
        for put, ledger, entry in part:
            if put:
                insert("topic", ledger, entry, 1, VALUE)
            elif get("topic", ledger, entry) is not None:
                hits += 1

    play(warm_up(live))
    hits = 0
    seconds = seconds_of(lambda: play(mix))
    return Played(seconds, hits)
