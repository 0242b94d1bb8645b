"""Our own fast cache as a subject: operations in, outcomes out, and no cache logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_fast import BrokerCache, Row
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.outcomes import (
    CacheView,
    Counted,
    Done,
    ErrorKind,
    Existing,
    Hit,
    Hits,
    Inserted,
    Observed,
    Outcome,
    Refused,
    Removed,
    SlotView,
    Used,
)
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

DECLARATION: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "config": ["max_size_bytes", "watermark", "ttl_nanos", "max_requeues", "extend_recently_accessed"],
    "variants": {"requeue_budget": "shared"},
    "introspection": ["now", "bytes", "caches", "queue", "tombstones", "requeues"],
    "payload": True,
}
"""What the fast cache offers of this system, as a start answer says it."""

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)
MISSED: Final = Hit(False)
HIT_WITHOUT_TOKEN: Final = Hit(True)
INSERTED: Final = Inserted(True)
NOT_INSERTED: Final = Inserted(False)
EXISTING: Final = Existing(True)
NOT_EXISTING: Final = Existing(False)
DONE: Final = Done()
NOTHING: Final = object()
"""What a lookup answers where the position is not cached; no payload is this object."""


def open_fast(
    config: Config,
    cache_type: type[BrokerCache] = BrokerCache,
    on_row: Callable[[Row], None] | None = None,
) -> Callable[[ops.Op], Outcome]:
    """An empty instance at time 0: a function from an operation to its outcome.

    A wrong argument, which the cache answers with ValueError, becomes a refusal; any other error of the
    cache goes on to the caller.
    """
    clock = VirtualClock()
    cache = cache_type(
        max_size_bytes=config.max_size_bytes,
        ttl_nanos=config.ttl_nanos,
        max_requeues=config.max_requeues,
        extend_recently_accessed=config.extend_recently_accessed,
        watermark=config.watermark,
        clock=clock.read,
        on_row=on_row,
        requeue_budget=config.variants.requeue_budget.value,
    )
    functions = Adapter(cache, clock).functions()

    def answer(op: ops.Op) -> Outcome:
        try:
            return functions[type(op)](op)
        except ValueError:
            return REFUSED

    return answer


class VirtualClock:
    """Time that moves only when it is told to."""

    __slots__ = ("now_nanos",)

    def __init__(self) -> None:
        self.now_nanos = 0

    def read(self) -> int:
        """The present."""
        return self.now_nanos


class Adapter:
    """One function an operation."""

    def __init__(self, cache: BrokerCache, clock: VirtualClock) -> None:
        self.cache = cache
        self.clock = clock

    def functions(self) -> dict[type[ops.Op], Callable[[Any], Outcome]]:
        """The function of each operation."""
        return {
            ops.Insert: self.insert,
            ops.Get: self.get,
            ops.GetRange: self.get_range,
            ops.Exists: self.exists,
            ops.RemoveRange: self.remove_range,
            ops.Clear: self.clear,
            ops.Usage: self.usage,
            ops.Observe: self.observe,
            ops.Advance: self.advance,
            ops.Expire: self.expire,
            ops.Evict: self.evict,
            ops.MarkRead: self.mark_read,
            ops.ExpectRead: self.expect_read,
        }

    def insert(self, op: ops.Insert) -> Outcome:
        """The payload is the token; None stands for no token."""
        ledger, entry = op.pos
        token = None if op.token is ABSENT else op.token
        expected_reads = None if op.expected_reads is ABSENT else op.expected_reads
        done = self.cache.insert(op.cache, ledger, entry, op.size, token, expected_reads)
        return INSERTED if done else NOT_INSERTED

    def get(self, op: ops.Get) -> Outcome:
        """A hit carries the payload that was inserted."""
        ledger, entry = op.pos
        token: Any = self.cache.get(op.cache, ledger, entry, NOTHING)
        if token is NOTHING:
            return MISSED
        return HIT_WITHOUT_TOKEN if token is None else Hit(True, (token,))

    def get_range(self, op: ops.GetRange) -> Outcome:
        """Tokens are answered where every entry found carries one."""
        found: list[tuple[Any, Any]] = self.cache.get_range(op.cache, op.first, op.last)
        tokens = tuple(token for _, token in found if token is not None)
        positions = tuple(Position(*position) for position, _ in found)
        return Hits(positions, tokens if tokens and len(tokens) == len(found) else None)

    def exists(self, op: ops.Exists) -> Outcome:
        """Whether the position is cached."""
        return EXISTING if self.cache.exists(op.cache, *op.pos) else NOT_EXISTING

    def remove_range(self, op: ops.RemoveRange) -> Outcome:
        """Number and bytes of what was removed."""
        return Removed(*self.cache.remove_range(op.cache, op.first, op.last, op.last_inclusive))

    def clear(self, op: ops.Clear) -> Outcome:
        """Number and bytes of what was removed."""
        return Removed(*self.cache.clear(op.cache))

    def usage(self, op: ops.Usage) -> Outcome:
        """One cache, or all."""
        return Used(*self.cache.usage(None if op.cache is ABSENT else op.cache))

    def observe(self, op: ops.Observe) -> Outcome:
        """The whole state."""
        seen = self.cache.observe()
        caches = {
            CacheName(name): CacheView(view.size_bytes, tuple(Position(*at) for at in view.entries))
            for name, view in seen.caches.items()
        }
        queue = tuple(
            SlotView(CacheName(slot.cache), Position(*slot.position), *slot[2:])  # the same fields follow
            for slot in seen.queue
        )
        return Observed(seen.now_nanos, seen.size_bytes, caches, queue, seen.tombstones)

    def advance(self, op: ops.Advance) -> Outcome:
        """The clock is this adapter's own, and so is the refusal to turn it back."""
        if op.nanos < 0:
            return REFUSED
        self.clock.now_nanos += op.nanos
        return DONE

    def expire(self, op: ops.Expire) -> Outcome:
        """Number and bytes of what was removed."""
        return Removed(*self.cache.expire(None if op.older_than_nanos is ABSENT else op.older_than_nanos))

    def evict(self, op: ops.Evict) -> Outcome:
        """Number and bytes of what was removed."""
        return Removed(*self.cache.evict(op.bytes))

    def mark_read(self, op: ops.MarkRead) -> Outcome:
        """The count after it."""
        return Counted(self.cache.mark_read(op.cache, *op.pos))

    def expect_read(self, op: ops.ExpectRead) -> Outcome:
        """The count after it."""
        return Counted(self.cache.expect_read(op.cache, *op.pos))


__all__ = ["DECLARATION", "BrokerCache", "open_fast"]
