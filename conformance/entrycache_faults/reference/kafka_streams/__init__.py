"""Planted faults of the reference of `kafka-streams`: one realistic error a rule, and other ways to break some."""

from __future__ import annotations

from entrycache_faults.reference.kafka_streams import (
    entries,
    flush,
    listeners,
    namespaces,
    released,
    stores,
    threads,
    variants,
)
from entrycache_faults.reference.kafka_streams.planted import PLANTED, THREADS

__all__ = [
    "PLANTED",
    "THREADS",
    "entries",
    "flush",
    "listeners",
    "namespaces",
    "released",
    "stores",
    "threads",
    "variants",
]
