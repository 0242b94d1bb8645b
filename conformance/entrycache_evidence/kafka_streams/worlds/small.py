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

CI: Final[tuple[AnyWorld, ...]] = (*FAULTS, store.USED, *released.TOGETHER, cache.WIDE)

NIGHTLY: Final[tuple[AnyWorld, ...]] = (
    *CI,
    cache.DEEP,
    store.ONE_CALL,
    *(replace(world, name=f"{world.name}, deeper", depth=(world.depth or 0) + 2) for world in released.TOGETHER),
    cache.VAST,
)


def refute(mutant: Fault, inside: Sequence[AnyWorld]) -> Refutation | None:
    """The shortest counterexample in the worlds where its law is asked, one step deeper at a time."""
    return shallowest(mutant, [world for world in FAULTS if world in inside])
