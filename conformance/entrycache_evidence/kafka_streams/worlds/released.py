"""The small worlds of the named variants of `kafka-streams`: each released reading alone, then all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_evidence.kafka_streams.worlds.caches import ENTRY_BYTES, LISTENERS, TWO
from entrycache_evidence.kafka_streams.worlds.stores import FORWARDS, STORE, STORES
from entrycache_evidence.kafka_streams.worlds.world import World
from entrycache_reference.kafka_streams.config import (
    DeleteRead,
    Delivery,
    FailedFlush,
    FlushedTombstone,
    Total,
    UndeliveredEviction,
    Variants,
)


def read(world: World, told: str, variants: Variants, depth: int | None = None) -> World:
    """The same world under these readings."""
    config = replace(world.config, variants=variants)
    name = f"{world.name}, {told}"
    return replace(world, name=name, config=config, drift_bytes=2 * ENTRY_BYTES, depth=depth)


LOST: Final = read(LISTENERS, "undelivered_eviction lost", Variants(undelivered_eviction=UndeliveredEviction.LOST))
CLEAN: Final = read(LISTENERS, "failed_flush clean", Variants(failed_flush=FailedFlush.CLEAN))
ANY_WRITE: Final = read(
    LISTENERS, "flushed_tombstone any-write", Variants(flushed_tombstone=FlushedTombstone.ANY_WRITE)
)
ONE_BY_ONE: Final = read(FORWARDS, "delivery one-by-one", Variants(delivery=Delivery.ONE_BY_ONE))
CACHED: Final = read(STORE, "delete_read cached", Variants(delete_read=DeleteRead.CACHED))
ALONE: Final = (LOST, CLEAN, ANY_WRITE, ONE_BY_ONE, CACHED)
"""One reading, to the end."""

RUNNING: Final = read(LISTENERS, "total running", Variants(total=Total.RUNNING), depth=5)
"""The running total may leave the sum in so many ways that the number of steps is bounded."""

TOGETHER: Final = (
    read(LISTENERS, "all readings of the releases", RELEASED, depth=5),
    read(TWO, "all readings of the releases", RELEASED, depth=5),
    read(FORWARDS, "all readings of the releases", RELEASED, depth=6),
    read(STORES, "all readings of the releases", RELEASED, depth=7),
)
"""All variants at once, as the releases have them."""
