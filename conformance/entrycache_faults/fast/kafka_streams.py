"""The seeded faults that only an implementation of the cache of `kafka-streams` can have, each in one small method.

A model has no running total that drifts from the entries, and no reference that was saved before a call. The fast
cache has them here, one fault a subclass. Their public names are those of their case files. All other seeded faults
are faults of the reference: see `entrycache_faults.reference.kafka_streams.subjects`.
"""

from typing import Final

from entrycache_fast.kafka import ThreadCache, cache


class ClearKeepsBytes(ThreadCache):
    """A clear does not take what it dropped from the total."""

    def clear(self, ns: str) -> None:
        """Put the bytes back."""
        size_bytes = self.usage(ns).size_bytes
        super().clear(ns)
        self.size_bytes += size_bytes


class ListenerComesBack(ThreadCache):
    """A listener that is replaced while it is called is the listener again when the call ends."""

    def _call(self, call: cache.ListenerCall) -> None:
        try:
            super()._call(call)
        finally:
            call.space.listener = call.listener


class NestedCountedTwice(ThreadCache):
    """The total counts twice the entries that a listener adds to its own namespace."""

    def _call(self, call: cache.ListenerCall) -> None:
        size_bytes = call.space.size_bytes
        super()._call(call)
        self.size_bytes += call.space.size_bytes - size_bytes


CACHE: Final[dict[str, type[ThreadCache]]] = {
    "streams-clear-keeps-bytes": ClearKeepsBytes,
    "streams-listener-comes-back": ListenerComesBack,
    "streams-nested-counted-twice": NestedCountedTwice,
}
"""The faults of level `cache` by public name."""

FAULTS: Final[dict[str, type[ThreadCache]]] = CACHE
"""All of them by public name."""
