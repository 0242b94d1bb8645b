"""Variants of the releases, as faults against the norm."""

from __future__ import annotations

from entrycache_faults.reference.kafka_streams.planted import PLANTED
from entrycache_reference.kafka_streams.config import (
    DeleteRead,
    Delivery,
    FailedFlush,
    FlushedTombstone,
    Total,
    UndeliveredEviction,
)
from entrycache_reference.rules import Rule

PLANTED.plant_variant(
    "An eviction that nobody takes is lost.", Rule.K_FLUSH_3, undelivered_eviction=UndeliveredEviction.LOST
)
PLANTED.plant_variant("What a listener refused is clean.", Rule.K_FLUSH_3, failed_flush=FailedFlush.CLEAN)
PLANTED.plant_variant(
    "The limit is held against a running total.",
    Rule.K_METRICS_1,
    Rule.K_EVICT_3,
    Rule.K_EVICT_5,
    total=Total.RUNNING,
)
PLANTED.plant_variant(
    "What an eviction could not hand over is lost, and still in a running total.",
    Rule.K_FLUSH_3,
    undelivered_eviction=UndeliveredEviction.LOST,
    total=Total.RUNNING,
)
PLANTED.plant_variant(
    "The key of a tombstone goes, whatever was written to it meanwhile.",
    Rule.K_FLUSH_4,
    flushed_tombstone=FlushedTombstone.ANY_WRITE,
)
PLANTED.plant_variant("Entries are passed on one by one.", Rule.K_STORE_1, Rule.K_STORE_4, delivery=Delivery.ONE_BY_ONE)
PLANTED.plant_variant("A deletion caches what it reads.", Rule.K_STORE_7, delete_read=DeleteRead.CACHED)
