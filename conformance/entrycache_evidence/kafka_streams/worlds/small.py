"""The worlds of `kafka-streams` that are exhausted; together they fire every law of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_evidence.explore.parts import AnyWorld, bounded
from entrycache_evidence.kafka_streams.worlds import caches as cache
from entrycache_evidence.kafka_streams.worlds import released
from entrycache_evidence.kafka_streams.worlds import stores as store

WHOLE: Final[tuple[AnyWorld, ...]] = (
    cache.EVERY,
    cache.LISTENERS,
    cache.TWO,
    cache.SILENT,
    store.STORE,
    store.FORWARDS,
    store.STORES,
    *released.ALONE,
    released.RUNNING,
    store.USED,
    *released.TOGETHER,
    cache.ORDERS,
)
"""As far as a long run goes with them."""

BOUNDED: Final[Mapping[str, int]] = {
    cache.TWO.name: 5,
    cache.SILENT.name: 4,
    cache.ORDERS.name: 6,
    store.FORWARDS.name: 6,
    store.STORES.name: 6,
    released.LOST.name: 4,
    released.CLEAN.name: 4,
    released.ANY_WRITE.name: 4,
    released.ONE_BY_ONE.name: 6,
    released.RUNNING.name: 4,
    released.TOGETHER[0].name: 4,
    released.TOGETHER[1].name: 4,
    released.TOGETHER[2].name: 5,
    released.TOGETHER[3].name: 6,
}
"""The most steps of the largest ones in a pull request."""

CI: Final = bounded(WHOLE, BOUNDED)


def deeper(steps: int) -> tuple[AnyWorld, ...]:
    """The readings of the releases, all at once, so many steps deeper than in a pull request."""
    worlds = released.TOGETHER
    return tuple(replace(one, name=f"{one.name}, deeper", depth=(one.depth or 0) + steps) for one in worlds)


LONG: Final[tuple[AnyWorld, ...]] = (*WHOLE, store.ONE_CALL, store.SECOND_KEY, *deeper(1), cache.DEEP, cache.WIDE)
NIGHTLY: Final[tuple[AnyWorld, ...]] = (
    *(*WHOLE, store.ONE_CALL, store.SECOND_KEY, *deeper(3), cache.DEEP, cache.WIDE),
    cache.VAST,
)
