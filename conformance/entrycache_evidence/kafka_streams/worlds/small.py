"""The worlds of `kafka-streams` that are exhausted; together they fire every law of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.refute import Refutation, shallowest
from entrycache_evidence.kafka_streams.worlds import caches as cache
from entrycache_evidence.kafka_streams.worlds import released
from entrycache_evidence.kafka_streams.worlds import stores as store
from entrycache_faults.planted import Fault

FAULTS: Final[tuple[AnyWorld, ...]] = (
    cache.EVERY,
    cache.LISTENERS,
    cache.TWO,
    cache.SILENT,
    store.STORE,
    store.FORWARDS,
    store.STORES,
    *released.ALONE,
    released.RUNNING,
)
"""Where mutants are looked for."""

CI: Final[tuple[AnyWorld, ...]] = (*FAULTS, store.USED, *released.TOGETHER, cache.ORDERS)


def deeper(steps: int) -> tuple[AnyWorld, ...]:
    """The readings of the releases, all at once, so many steps deeper than in a pull request."""
    worlds = released.TOGETHER
    return tuple(replace(one, name=f"{one.name}, deeper", depth=(one.depth or 0) + steps) for one in worlds)


LONG: Final[tuple[AnyWorld, ...]] = (*CI, store.ONE_CALL, store.SECOND_KEY, *deeper(1), cache.DEEP, cache.WIDE)
NIGHTLY: Final[tuple[AnyWorld, ...]] = (
    *(*CI, store.ONE_CALL, store.SECOND_KEY, *deeper(3), cache.DEEP, cache.WIDE),
    cache.VAST,
)


def refute(mutant: Fault, inside: Sequence[AnyWorld]) -> Refutation | None:
    """The shortest counterexample in the worlds where its law is asked, one step deeper at a time."""
    return shallowest(mutant, [world for world in FAULTS if world in inside])
