"""Faults of `kafka-streams`, level `cache`, about evictions, flushes and listeners."""

from __future__ import annotations

from typing import Final

from entrycache_fast.kafka import Entry, NoListenerError, ThreadCache
from entrycache_fast.kafka.cache import ListenerCall
from entrycache_fast.kafka.state import Namespace
from entrycache_faults.fast.kafka_streams.planted import Planted


class EvictNewest(ThreadCache):
    """What is evicted is the most recent entry."""

    def _evict_eldest(self, ns: str, space: Namespace) -> None:
        space.nodes.move_to_end(next(reversed(space.nodes)), last=False)
        super()._evict_eldest(ns, space)


class EvictedComesLast(ThreadCache):
    """The evicted entry is handed over last."""

    def _call(self, call: ListenerCall) -> None:
        turned = call.handed if call.evicted is None else [*call.handed[1:], call.handed[0]]
        super()._call(call._replace(handed=turned))


class EvictAlone(ThreadCache):
    """The eviction of a dirty entry hands over that entry only."""

    def _hand_over(self, ns: str, space: Namespace, evicted: bytes | None) -> None:
        others = {}
        if evicted is not None and space.listener is not None:
            others = {key: entry for key, entry in space.dirty.items() if key != evicted}
            space.dirty = {evicted: space.dirty[evicted]}
        try:
            super()._hand_over(ns, space, evicted)
        finally:
            space.dirty = {**others, **space.dirty}


class EvictAtTheLimit(ThreadCache):
    """A write that reaches the limit exactly evicts."""

    def _write(self, ns: str, space: Namespace, key: bytes, entry: Entry) -> None:
        super()._write(ns, space, key, entry)
        if self.size_bytes == self.max_size_bytes:
            self._evict_eldest(ns, space)
            self.evicts += 1


class EvictOnce(ThreadCache):
    """An overflow makes one eviction."""

    def _relieve(self, ns: str) -> None:
        if self.size_bytes > self.max_size_bytes and self._open(ns).nodes:
            self._evict_eldest(ns, self._open(ns))
            self.evicts += 1


class EvictSparesTheLast(ThreadCache):
    """An overflow leaves the last entry of the namespace."""

    def _relieve(self, ns: str) -> None:
        while self.size_bytes > self.max_size_bytes and len(self._open(ns).nodes) > 1:
            self._evict_eldest(ns, self._open(ns))
            self.evicts += 1


class EvictElsewhere(ThreadCache):
    """The namespace that holds most entries pays for an overflow."""

    def _relieve(self, ns: str) -> None:
        super()._relieve(max(sorted(self._spaces), key=lambda name: len(self._spaces[name].nodes)))


class EvictCountedOnFailure(ThreadCache):
    """An eviction of an overflow that cannot be delivered counts all the same."""

    def _relieve(self, ns: str) -> None:
        try:
            super()._relieve(ns)
        except Exception:
            self.evicts += 1
            raise


class EvictCallCounts(ThreadCache):
    """An evict counts as an eviction of the thread."""

    def evict(self, ns: str) -> None:
        """Count it."""
        super().evict(ns)
        self.evicts += 1


class EvictedStillCounts(ThreadCache):
    """During the call the evicted entry is in the total."""

    def _call(self, call: ListenerCall) -> None:
        late = 0 if call.evicted is None else call.before[call.evicted].size_bytes
        self.size_bytes += late
        try:
            super()._call(call)
        finally:
            self.size_bytes -= late


class EvictionLoses(ThreadCache):
    """An eviction that cannot be delivered for want of a listener loses the entry."""

    def _hand_over(self, ns: str, space: Namespace, evicted: bytes | None) -> None:
        try:
            super()._hand_over(ns, space, evicted)
        except NoListenerError:
            if evicted is not None:
                self._take(space, evicted)
            raise


class FlushByKey(ThreadCache):
    """A flush hands over in the order of the keys."""

    def _call(self, call: ListenerCall) -> None:
        ordered = sorted(call.handed, key=lambda one: (one.key != call.evicted, one.key))
        super()._call(call._replace(handed=ordered))


class FlushOneByOne(ThreadCache):
    """A flush calls the listener once an entry."""

    def _call(self, call: ListenerCall) -> None:
        for one in call.handed:
            super()._call(call._replace(handed=[one]))


class FlushUses(ThreadCache):
    """What a flush hands over becomes the most recent."""

    def _hand_over(self, ns: str, space: Namespace, evicted: bytes | None) -> None:
        if evicted is None and space.listener is not None:
            for key in space.dirty:
                space.nodes.move_to_end(key)
        super()._hand_over(ns, space, evicted)


class FlushOfNothingNeedsNobody(ThreadCache):
    """A flush with nothing dirty does not ask for a listener."""

    def _hand_over(self, ns: str, space: Namespace, evicted: bytes | None) -> None:
        if space.dirty:
            super()._hand_over(ns, space, evicted)
        else:
            space.flushes += 1


class FlushForgets(ThreadCache):
    """What a listener threw at counts as handed over."""

    def _give_back(self, call: ListenerCall, silent: bool) -> None:
        super()._give_back(call, silent)
        for entry in call.space.dirty.values():
            entry.dirty = False
        call.space.dirty = {}


class FlushPutsBackAsNewest(ThreadCache):
    """An eviction that a listener threw at leaves the entry as the most recent."""

    def _put_back(self, space: Namespace, key: bytes, entry: Entry) -> None:
        super()._put_back(space, key, entry)
        space.nodes.move_to_end(key)


class FlushLosesAWrite(ThreadCache):
    """A write to a deleted key while its tombstone is handed over is dropped with the tombstone."""

    def _drop_tombstone(self, ns: str, key: bytes, entry: Entry) -> None:
        space = self._spaces.get(ns)
        super()._drop_tombstone(ns, key, entry if space is None else space.nodes.get(key, entry))


class FlushKeepsTombstones(ThreadCache):
    """A tombstone that was handed over stays."""

    def _drop_tombstone(self, ns: str, key: bytes, entry: Entry) -> None:
        pass


class FlushCleansAfterwards(ThreadCache):
    """What was written while a flush was under way is clean after it."""

    def _call(self, call: ListenerCall) -> None:
        super()._call(call)
        for key in [one.key for one in call.handed if one.key in call.space.dirty]:
            call.space.dirty.pop(key).dirty = False


class ListenerComesBack(ThreadCache):
    """A listener that is replaced while it is called is the listener again when the call ends."""

    def _call(self, call: ListenerCall) -> None:
        try:
            super()._call(call)
        finally:
            call.space.listener = call.listener


class NestedCountedTwice(ThreadCache):
    """What a listener adds to its own namespace counts twice in the total."""

    def _call(self, call: ListenerCall) -> None:
        size_bytes = call.space.size_bytes
        super()._call(call)
        self.size_bytes += call.space.size_bytes - size_bytes


class ResizeLazily(ThreadCache):
    """A smaller limit evicts nothing until the next write."""

    def resize(self, max_size_bytes: int) -> None:
        """Set it only."""
        self.max_size_bytes = max_size_bytes


class ResizeKeepsLimitOnFailure(ThreadCache):
    """A resize that fails leaves the limit as it was."""

    def resize(self, max_size_bytes: int) -> None:
        """Put it back."""
        before = self.max_size_bytes
        try:
            super().resize(max_size_bytes)
        except Exception:
            self.max_size_bytes = before
            raise


DELIVERIES: Final[dict[str, Planted]] = {
    "streams-evict-newest": Planted(EvictNewest),
    "streams-evicted-comes-last": Planted(EvictedComesLast),
    "streams-evict-alone": Planted(EvictAlone),
    "streams-evict-at-the-limit": Planted(EvictAtTheLimit),
    "streams-evict-once": Planted(EvictOnce),
    "streams-evict-spares-the-last": Planted(EvictSparesTheLast),
    "streams-evict-elsewhere": Planted(EvictElsewhere),
    "streams-evict-counted-on-failure": Planted(EvictCountedOnFailure),
    "streams-evict-call-counts": Planted(EvictCallCounts),
    "streams-evicted-still-counts": Planted(EvictedStillCounts),
    "streams-eviction-loses": Planted(EvictionLoses),
    "streams-flush-by-key": Planted(FlushByKey),
    "streams-flush-one-by-one": Planted(FlushOneByOne),
    "streams-flush-uses": Planted(FlushUses),
    "streams-flush-of-nothing-needs-nobody": Planted(FlushOfNothingNeedsNobody),
    "streams-flush-forgets": Planted(FlushForgets),
    "streams-flush-puts-back-as-newest": Planted(FlushPutsBackAsNewest),
    "streams-flush-loses-a-write": Planted(FlushLosesAWrite),
    "streams-flush-keeps-tombstones": Planted(FlushKeepsTombstones),
    "streams-flush-cleans-afterwards": Planted(FlushCleansAfterwards),
    "streams-listener-comes-back": Planted(ListenerComesBack),
    "streams-nested-counted-twice": Planted(NestedCountedTwice),
    "streams-resize-lazily": Planted(ResizeLazily),
    "streams-resize-keeps-limit-on-failure": Planted(ResizeKeepsLimitOnFailure),
}
"""The faults of this part."""
