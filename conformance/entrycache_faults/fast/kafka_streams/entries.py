"""Faults of `kafka-streams`, level `cache`, about single entries: writes, lookups, sizes, counters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from entrycache_fast.kafka import DirtyKeyError, Entry, Header, NamespaceCounters, ThreadCache, Write
from entrycache_fast.kafka.cache import KeyValue
from entrycache_fast.kafka.state import Namespace
from entrycache_faults.fast.kafka_streams.planted import Planted


class CleanOverDirty(ThreadCache):
    """A clean write replaces a dirty entry."""

    def _write(self, ns: str, space: Namespace, key: bytes, entry: Entry) -> None:
        old = space.dirty.pop(key, None)
        if old is not None:
            old.dirty = False
        super()._write(ns, space, key, entry)


class OverwriteKeepsPlace(ThreadCache):
    """An overwritten key keeps its place in the order of use."""

    def _write(self, ns: str, space: Namespace, key: bytes, entry: Entry) -> None:
        order = list(space.nodes)
        super()._write(ns, space, key, entry)
        for other in order if key in order else ():
            space.nodes.move_to_end(other)


class DirtyByFirstWrite(ThreadCache):
    """Dirty keys keep the order of their first writes."""

    def _write(self, ns: str, space: Namespace, key: bytes, entry: Entry) -> None:
        order = list(space.dirty)
        super()._write(ns, space, key, entry)
        written = {**dict.fromkeys(order, entry), **space.dirty}
        space.dirty = {other: space.dirty[other] for other in written}


class HeadersInBytes(ThreadCache):
    """The names of headers count in UTF-8."""

    def put(
        self,
        ns: str,
        key: bytes,
        value: bytes | None,
        dirty: bool = False,
        topic: str = "",
        headers: Sequence[Header] = (),
        *context: Any,
    ) -> None:
        """Spell a name by its bytes."""
        spelled = [(name.encode("utf-8", "surrogatepass").decode("latin-1"), content) for name, content in headers]
        super().put(ns, key, value, dirty, topic, spelled, *context)


class TombstoneCountsNothing(ThreadCache):
    """A tombstone counts nothing but its key."""

    def _write(self, ns: str, space: Namespace, key: bytes, entry: Entry) -> None:
        if entry.value is None:
            entry.size_bytes = len(key)
        super()._write(ns, space, key, entry)


class AbsentPutDoesNotEvict(ThreadCache):
    """A put_if_absent of a key that is there evicts nothing."""

    def put_if_absent(self, ns: str, key: bytes, *write: Any) -> Entry | None:
        """Look first."""
        space = self._open(ns)
        return self._look(ns, space, key) if key in space.nodes else super().put_if_absent(ns, key, *write)


class AbsentPutCounts(ThreadCache):
    """Every put_if_absent counts as a put."""

    def put_if_absent(self, ns: str, key: bytes, *write: Any) -> Entry | None:
        """Count it."""
        found = super().put_if_absent(ns, key, *write)
        self.puts += found is not None
        return found


class AbsentPutOverTombstone(ThreadCache):
    """A put_if_absent writes over a tombstone."""

    def put_if_absent(self, ns: str, key: bytes, *write: Any) -> Entry | None:
        """Take a tombstone out first."""
        space = self._spaces.get(ns)
        if space is not None and key in space.nodes and space.nodes[key].value is None:
            self._take(space, key)
        return super().put_if_absent(ns, key, *write)


class BatchAllOrNothing(ThreadCache):
    """A put_all that would meet an error writes nothing."""

    def put_all(self, ns: str, writes: Iterable[Write]) -> None:
        """Look for the error first."""
        found = list(writes)
        dirty = set(self._spaces[ns].dirty) if ns in self._spaces else set()
        for write in found:
            if write.key in dirty and not write.dirty:
                self.puts += 1
                raise DirtyKeyError
            dirty |= {write.key} if write.dirty else set()
        super().put_all(ns, found)


class RefusedPutUncounted(ThreadCache):
    """A clean write over a dirty entry does not count as a put."""

    def put(self, ns: str, key: bytes, *write: Any, **named: Any) -> None:
        """Take the count back."""
        try:
            super().put(ns, key, *write, **named)
        except DirtyKeyError:
            self.puts -= 1
            raise


class GetLeavesUse(ThreadCache):
    """A hit does not make the key the most recent."""

    def get(self, ns: str, key: bytes | None) -> Entry | None:
        """Put the order back."""
        order = list(self._spaces[ns].nodes) if ns in self._spaces else []
        found = super().get(ns, key)
        for other in order:
            self._spaces[ns].nodes.move_to_end(other)
        return found


class GetTombstoneMissed(ThreadCache):
    """A get of a tombstone is a miss."""

    def get(self, ns: str, key: bytes | None) -> Entry | None:
        """Take a tombstone for nothing."""
        found = super().get(ns, key)
        return None if found is not None and found.value is None else found


class GetNullCounts(ThreadCache):
    """A get of the key null counts as a miss of the namespace."""

    def get(self, ns: str, key: bytes | None) -> Entry | None:
        """Count it."""
        if key is None and ns in self._spaces:
            self._spaces[ns].misses += 1
        return super().get(ns, key)


class RangeLeavesUse(ThreadCache):
    """Iterating does not make the keys the most recent."""

    def _listed(self, ns: str, keys: Iterable[bytes]) -> list[KeyValue]:
        order = list(self._spaces[ns].nodes) if ns in self._spaces else []
        found = super()._listed(ns, keys)
        for other in order:
            self._spaces[ns].nodes.move_to_end(other)
        return found


class RangeEndExcluded(ThreadCache):
    """The end never belongs to a range."""

    def range(self, ns: str, first: bytes | None = None, last: bytes | None = None, *_: Any) -> list[KeyValue]:
        """Leave it out."""
        return super().range(ns, first, last, False)


class RangeWithoutTombstones(ThreadCache):
    """A range leaves tombstones out."""

    def _listed(self, ns: str, keys: Iterable[bytes]) -> list[KeyValue]:
        return [(key, value) for key, value in super()._listed(ns, keys) if value is not None]


class ReverseRangeAscends(ThreadCache):
    """A reverse range is answered ascending."""

    def reverse_range(self, ns: str, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Turn it."""
        return super().reverse_range(ns, first, last)[::-1]


class DeleteStaysDirty(ThreadCache):
    """A delete of a dirty key is handed over as a tombstone later."""

    def delete(self, ns: str, key: bytes) -> Entry | None:
        """Leave a tombstone behind."""
        found = super().delete(ns, key)
        if found is not None and found.dirty:
            entry = Entry()
            entry.value, entry.dirty, entry.context = None, True, found.context
            entry.size_bytes = found.size_bytes - len(found.value or b"")
            self._write(ns, self._spaces[ns], key, entry)
        return found


class OverwriteKeepsBytes(ThreadCache):
    """An overwrite does not take the former size from the total."""

    def _write(self, ns: str, space: Namespace, key: bytes, entry: Entry) -> None:
        old = space.nodes.get(key)
        super()._write(ns, space, key, entry)
        if old is not None:
            self.size_bytes += old.size_bytes


class ClearKeepsBytes(ThreadCache):
    """A clear does not take what it dropped from the total."""

    def clear(self, ns: str) -> None:
        """Put the bytes back."""
        size_bytes = self.usage(ns).size_bytes
        super().clear(ns)
        self.size_bytes += size_bytes


class ClearForgetsListener(ThreadCache):
    """A clear drops the listener too."""

    def clear(self, ns: str) -> None:
        """Drop it."""
        super().clear(ns)
        if ns in self._spaces:
            self._spaces[ns].listener = None


class CloseKeepsCounters(ThreadCache):
    """A close drops entries and listener, but not the counters."""

    def close(self, ns: str) -> None:
        """Keep the namespace."""
        super().clear(ns)
        if ns in self._spaces:
            self._spaces[ns].listener = None


class DirtyByKey(ThreadCache):
    """The counters of a namespace name its dirty keys in the order of use."""

    def counters(self, ns: str) -> NamespaceCounters:
        """Turn to the order of use."""
        found = super().counters(ns)
        return found._replace(dirty=tuple(key for key in found.recent if key in found.dirty))


STREAM_ENTRIES: Final[dict[str, Planted]] = {
    "streams-clean-over-dirty": Planted(CleanOverDirty),
    "streams-overwrite-keeps-place": Planted(OverwriteKeepsPlace),
    "streams-dirty-by-first-write": Planted(DirtyByFirstWrite),
    "streams-headers-in-bytes": Planted(HeadersInBytes),
    "streams-tombstone-counts-nothing": Planted(TombstoneCountsNothing),
    "streams-absent-put-does-not-evict": Planted(AbsentPutDoesNotEvict),
    "streams-absent-put-counts": Planted(AbsentPutCounts),
    "streams-absent-put-over-tombstone": Planted(AbsentPutOverTombstone),
    "streams-batch-all-or-nothing": Planted(BatchAllOrNothing),
    "streams-refused-put-uncounted": Planted(RefusedPutUncounted),
    "streams-get-leaves-use": Planted(GetLeavesUse),
    "streams-get-tombstone-missed": Planted(GetTombstoneMissed),
    "streams-get-null-counts": Planted(GetNullCounts),
    "streams-range-leaves-use": Planted(RangeLeavesUse),
    "streams-range-end-excluded": Planted(RangeEndExcluded),
    "streams-range-without-tombstones": Planted(RangeWithoutTombstones),
    "streams-reverse-range-ascends": Planted(ReverseRangeAscends),
    "streams-delete-stays-dirty": Planted(DeleteStaysDirty),
    "streams-overwrite-keeps-bytes": Planted(OverwriteKeepsBytes),
    "streams-clear-keeps-bytes": Planted(ClearKeepsBytes),
    "streams-clear-forgets-listener": Planted(ClearForgetsListener),
    "streams-close-keeps-counters": Planted(CloseKeepsCounters),
    "streams-dirty-by-use": Planted(DirtyByKey),
}
"""The faults of this part."""
