"""The worlds of `kafka-streams` that are exhausted; together they fire every law of its steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_evidence.explore import cache_worlds as cache
from entrycache_evidence.explore import released_worlds as released
from entrycache_evidence.explore import store_worlds as store

FAULTS: Final = (
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

CI: Final = (*FAULTS, store.USED, *released.TOGETHER, cache.WIDE)

NIGHTLY: Final = (
    *CI,
    cache.DEEP,
    store.ONE_CALL,
    *(replace(world, name=f"{world.name}, deeper", depth=(world.depth or 0) + 2) for world in released.TOGETHER),
    cache.VAST,
)
