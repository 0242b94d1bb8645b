"""Faults of `kafka-streams`, level `store`: reads, the merged view, what goes below and what is passed on."""

from __future__ import annotations

from typing import Final

from entrycache_fast.kafka import CachingStore, DirtyEntry, Entry, ThreadCache, share_bytes
from entrycache_fast.kafka.cache import KeyValue
from entrycache_faults.fast.kafka_streams.planted import Planted


class ViewShowsTombstones(CachingStore):
    """The merged view shows a deleted key with the value null."""

    def range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Leave nothing out."""
        hidden: list[KeyValue] = [
            (key, None)
            for key, entry in self.cache._spaces[self.name].nodes.items()
            if entry.value is None and (first is None or first <= key) and (last is None or key <= last)
        ]
        return sorted([*super().range(first, last), *hidden])


class ViewBelowWins(CachingStore):
    """The merged view shows what lies below where the cache has the key too."""

    def range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Prefer what lies below."""
        return [(key, self.below.get(key, value)) for key, value in super().range(first, last)]


class ViewEndExcluded(CachingStore):
    """The end never belongs to a range of a store."""

    def range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Leave it out."""
        return [found for found in super().range(first, last) if found[0] != last]


class TombstoneFallsThrough(CachingStore):
    """A read of a deleted key answers what lies below."""

    def get(self, key: bytes) -> bytes | None:
        """Look below."""
        value = super().get(key)
        return self.below.get(key) if value is None else value


class ReadNotCached(CachingStore):
    """What is read from the store below is not cached."""

    def get(self, key: bytes) -> bytes | None:
        """Only look."""
        cached = self.cache.get(self.name, key)
        return self.below.get(key) if cached is None else cached.value


class ReadCachedDirty(CachingStore):
    """What is read from the store below is cached as a write."""

    def get(self, key: bytes) -> bytes | None:
        """Write it."""
        cached = self.cache.get(self.name, key)
        if cached is not None:
            return cached.value
        value = self.below.get(key)
        if value is not None:
            self.put(key, value)
        return value


class DeleteOfUnknownWritesNothing(CachingStore):
    """A delete of a key without a value writes no tombstone."""

    def delete(self, key: bytes) -> bytes | None:
        """Look first."""
        cached = self.cache.get(self.name, key)
        value = self.below.get(key) if cached is None else cached.value
        if value is not None:
            self.put(key, None)
        return value


class DeleteWritesThrough(CachingStore):
    """A delete takes the key from the store below at once."""

    def delete(self, key: bytes) -> bytes | None:
        """Do not wait."""
        value = super().delete(key)
        self.below.pop(key, None)
        return value


class UnknownTombstonePassedOn(CachingStore):
    """A tombstone of a key that does not lie below is passed on."""

    def _receive(self, handed: list[DirtyEntry]) -> None:
        unknown = [one.key for one in handed if one.entry.value is None and one.key not in self.below]
        super()._receive(handed)
        for key in unknown:
            assert self._forward is not None
            self._forward(key, None)


class DeletedStaysBelow(CachingStore):
    """A tombstone is passed on, but the key stays below."""

    def _receive(self, handed: list[DirtyEntry]) -> None:
        deleted = {one.key: self.below[one.key] for one in handed if one.entry.value is None and one.key in self.below}
        super()._receive(handed)
        for key, value in deleted.items():
            self.below.setdefault(key, value)


class PassedOnOneByOne(CachingStore):
    """Each entry is passed on before the next one lies below."""

    def _receive(self, handed: list[DirtyEntry]) -> None:
        for one in handed:
            super()._receive([one])


class PassedOnBeforeBelow(CachingStore):
    """An entry is passed on before it lies below."""

    def _receive(self, handed: list[DirtyEntry]) -> None:
        assert self._forward is not None
        for key, entry in handed:
            if entry.value is not None or key in self.below:
                self._forward(key, entry.value)
        for key, entry in handed:
            if entry.value is None:
                self.below.pop(key, None)
            else:
                self.below[key] = entry.value


class OvertakenPassedOn(CachingStore):
    """A write that was overtaken by a later one is passed on all the same."""

    def _pass_on(self, known: dict[bytes, Entry]) -> None:
        assert self._forward is not None
        for key, entry in list(known.items()):
            self._forward(key, entry.value)


class ShareWithoutGlobal(ThreadCache):
    """The global thread gets nothing of the total."""

    share = staticmethod(lambda total_bytes, threads, global_thread: share_bytes(total_bytes, threads, False))


class ShareRounded(ThreadCache):
    """A share is rounded to the nearest instead of down."""

    share = staticmethod(
        lambda total_bytes, threads, global_thread: (
            (2 * total_bytes + threads + global_thread) // (2 * (threads + global_thread)) if threads else total_bytes
        )
    )


STORES: Final[dict[str, Planted]] = {
    "streams-view-shows-tombstones": Planted(store_type=ViewShowsTombstones),
    "streams-view-below-wins": Planted(store_type=ViewBelowWins),
    "streams-view-end-excluded": Planted(store_type=ViewEndExcluded),
    "streams-tombstone-falls-through": Planted(store_type=TombstoneFallsThrough),
    "streams-read-not-cached": Planted(store_type=ReadNotCached),
    "streams-read-cached-dirty": Planted(store_type=ReadCachedDirty),
    "streams-delete-of-unknown-writes-nothing": Planted(store_type=DeleteOfUnknownWritesNothing),
    "streams-delete-writes-through": Planted(store_type=DeleteWritesThrough),
    "streams-unknown-tombstone-passed-on": Planted(store_type=UnknownTombstonePassedOn),
    "streams-deleted-stays-below": Planted(store_type=DeletedStaysBelow),
    "streams-passed-on-one-by-one": Planted(store_type=PassedOnOneByOne),
    "streams-passed-on-before-below": Planted(store_type=PassedOnBeforeBelow),
    "streams-overtaken-passed-on": Planted(store_type=OvertakenPassedOn),
    "streams-share-without-global": Planted(ShareWithoutGlobal),
    "streams-share-rounded": Planted(ShareRounded),
}
"""The faults of this part."""
