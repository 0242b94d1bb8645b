"""Seeded faults of the reference of `kafka-streams`: one realistic error for each rule, and others.

Importing the modules of this folder enters their faults in the registry, in the order of the imports.
"""

from entrycache_faults.reference.kafka_streams import entries, flush, stores, threads, views
from entrycache_faults.reference.kafka_streams.entries import SEEDED_FAULTS, SEEDED_THREAD_FAULTS

__all__ = ["SEEDED_FAULTS", "SEEDED_THREAD_FAULTS", "entries", "flush", "stores", "threads", "views"]
