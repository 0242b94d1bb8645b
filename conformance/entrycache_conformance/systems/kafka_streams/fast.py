"""Our own fast cache of `kafka-streams` as a subject: how it is opened, and what it offers."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams.adapter import Adapter
from entrycache_fast.kafka import CachingStore, Row, ThreadCache
from entrycache_protocol.system import Own
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Outcome

DECLARATION: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["dirty", "lru", "tracked"],
}
"""What the fast cache offers of this system, as a start answer says it: every key of the configuration varies."""


def open_cache(
    config: Config,
    cache_type: type[ThreadCache] = ThreadCache,
    store_type: type[CachingStore] = CachingStore,
    on_row: Callable[[Row], None] | None = None,
) -> Callable[[ops.Op], Outcome]:
    """An empty instance: a function from an operation to its outcome."""
    return Adapter(cache_type(config.max_size_bytes, on_row), store_type, config.reentry_budget).step


def open_shared(config: Config) -> Callable[[ops.Op], Outcome]:
    """An empty instance that several threads may call: one step after another, under one lock."""
    step = open_cache(config)
    lock = Lock()

    def alone(op: ops.Op) -> Outcome:
        with lock:
            return step(op)

    return alone


FAST: Final = Own(
    {**DECLARATION, "limits": {"threads": 8}},
    open_cache,
    open_shared,
    open_told=lambda config, on_row: open_cache(config, on_row=on_row),
)
"""The fast cache as a subject; behind a lock it takes histories."""

__all__ = ["DECLARATION", "FAST", "CachingStore", "ThreadCache", "open_cache", "open_shared"]
