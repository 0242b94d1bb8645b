"""Our own fast cache as a subject: how it is opened, and what it offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.adapter import Adapter, Payloads, VirtualClock
from entrycache_fast import BrokerCache, Row
from entrycache_protocol.system import Own
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Outcome, Refused

DECLARATION: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "variants": {"requeue_budget": "shared"},
    "introspection": ["now", "bytes", "caches", "queue", "tombstones", "requeues"],
    "payload": True,
    "leaks": True,
}
"""What the fast cache offers of this system, as a start answer says it: every key of the configuration varies."""

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


class Instance:
    """An instance of the fast cache: a function from an operation to its outcome.

    A wrong argument, which the cache answers with ValueError, becomes a refusal; any other error of the
    cache goes on to the caller.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self._functions = adapter.functions()

    def __call__(self, op: ops.Op) -> Outcome:
        """The outcome of one operation."""
        try:
            return self._functions[type(op)](op)
        except ValueError:
            return REFUSED

    def leaked(self) -> int:
        """The payloads that are still referred to, once everything is released and cleared: it ends the run."""
        return self.adapter.leaked()


def open_cache(
    config: Config,
    cache_type: type[BrokerCache] = BrokerCache,
    on_row: Callable[[Row], None] | None = None,
) -> Instance:
    """An empty instance at time 0."""
    clock = VirtualClock()
    payloads = Payloads(config.storage_entry_size)
    cache = cache_type(
        max_size_bytes=config.max_size_bytes,
        ttl_nanos=config.ttl_nanos,
        max_requeues=config.max_requeues,
        extend_recently_accessed=config.extend_recently_accessed,
        watermark=config.watermark,
        eviction=config.eviction.value,
        evict_by_expected_reads=config.evict_by_expected_reads,
        evict_by_mark_deleted=config.evict_by_mark_deleted,
        grace_millis=config.grace_millis,
        storage_entry_size=config.storage_entry_size,
        storage=payloads.stored,
        clock=clock.read,
        on_row=on_row,
        requeue_budget=config.variants.requeue_budget.value,
    )
    return Instance(Adapter(cache, clock, payloads))


FAST: Final = Own(DECLARATION, open_cache, open_told=lambda config, on_row: open_cache(config, on_row=on_row))
"""The fast cache as a subject."""

__all__ = ["DECLARATION", "FAST", "BrokerCache", "Instance", "open_cache"]
