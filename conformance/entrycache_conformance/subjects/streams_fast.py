"""Our own fast cache of `kafka-streams` as a subject: how it is opened, and what it offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.subjects.streams_adapter import Adapter
from entrycache_fast.streams import CachingStore, Row, ThreadCache
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Outcome

DECLARATION: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["dirty", "lru", "tracked"],
}
"""What the fast cache offers of this system, as a start answer says it: every key of the configuration varies."""


def open_streams(
    config: Config,
    cache_type: type[ThreadCache] = ThreadCache,
    store_type: type[CachingStore] = CachingStore,
    on_row: Callable[[Row], None] | None = None,
) -> Callable[[ops.Op], Outcome]:
    """An empty instance: a function from an operation to its outcome."""
    return Adapter(cache_type(config.max_size_bytes, on_row), store_type, config.reentry_budget).step


__all__ = ["DECLARATION", "CachingStore", "ThreadCache", "open_streams"]
