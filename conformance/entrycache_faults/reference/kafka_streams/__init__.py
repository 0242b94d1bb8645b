"""Planted faults of the reference of `kafka-streams`: one realistic error a rule, and other ways to break some."""

from __future__ import annotations

from entrycache_faults.reference.kafka_streams import deliver, entries, readings, spaces, stores, variants
from entrycache_faults.reference.kafka_streams.planted import PLANTED

__all__ = ["PLANTED", "deliver", "entries", "readings", "spaces", "stores", "variants"]
