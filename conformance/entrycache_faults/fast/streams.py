"""The exhibits of `kafka-streams`: planted faults of its fast cache, each in one small method."""

from __future__ import annotations

from typing import Final

from entrycache_faults.fast.planted import Planted
from entrycache_faults.fast.streams_deliver import DELIVERIES
from entrycache_faults.fast.streams_entries import STREAM_ENTRIES
from entrycache_faults.fast.streams_stores import STORES

CACHES: Final[dict[str, Planted]] = {**STREAM_ENTRIES, **DELIVERIES}
"""Those of level `cache`."""

STREAM_EXHIBITS: Final[dict[str, Planted]] = dict(sorted({**CACHES, **STORES}.items()))
"""All of them by name; `cases` holds a case of the same name for each."""
