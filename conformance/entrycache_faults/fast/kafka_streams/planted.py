"""What a planted fault of the fast cache of `kafka-streams` is made of."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_fast.kafka import CachingStore, ThreadCache


class Planted(NamedTuple):
    """The types that an instance with the fault is opened with; one of them is not the right one."""

    cache_type: type[ThreadCache] = ThreadCache
    store_type: type[CachingStore] = CachingStore
