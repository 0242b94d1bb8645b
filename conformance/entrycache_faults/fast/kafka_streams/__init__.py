"""Planted faults of the fast cache of `kafka-streams`, each in one small method."""

from __future__ import annotations

from typing import Final

from entrycache_faults.fast.kafka_streams.entries import STREAM_ENTRIES
from entrycache_faults.fast.kafka_streams.flush import DELIVERIES
from entrycache_faults.fast.kafka_streams.planted import Planted
from entrycache_faults.fast.kafka_streams.stores import STORES

CACHES: Final[dict[str, Planted]] = {**STREAM_ENTRIES, **DELIVERIES}
"""Those of level `cache`."""

FAULTS: Final[dict[str, Planted]] = dict(sorted({**CACHES, **STORES}.items()))
"""All of them by name; `cases` holds a case of the same name for each."""
