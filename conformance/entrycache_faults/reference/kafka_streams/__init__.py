"""Planted faults of the reference of `kafka-streams`: one realistic error a rule, and other ways to break some."""

from __future__ import annotations

from entrycache_faults.reference.kafka_streams import entries, flush, stores, threads
from entrycache_faults.reference.kafka_streams.registry import SEEDED_FAULTS, SEEDED_THREAD_FAULTS

__all__ = [
    "SEEDED_FAULTS",
    "SEEDED_THREAD_FAULTS",
    "entries",
    "flush",
    "listeners",
    "namespaces",
    "released",
    "stores",
    "threads",
    "variants",
]
