"""Faults about inserts, segments and the turn of the ring."""

from __future__ import annotations

from typing import Any, Final

from entrycache_fast.segmented import ALIGNMENT, CachedEntry, Key, Segment, SegmentedCache


class FullAdvances(SegmentedCache):
    """The offset is moved before the room is asked for, also where there is none."""

    def _turn(self, size_bytes: int) -> Segment:
        self.ring[self.current].offset += self._advance(size_bytes)
        return super()._turn(size_bytes)


class DuplicateTurns(SegmentedCache):
    """An insert of what the current segment holds turns the ring, as if the segment were full."""

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Turn, and insert it anew."""
        key = (cache, ledger, entry)
        here = self.ring[self.current]
        if size_bytes < 0 or size_bytes > self.segment_bytes or self.where.get(key) is not here:
            return super().insert(cache, ledger, entry, size_bytes, value)
        kept = here.entries.pop(key)
        self.size_bytes -= kept.size_bytes
        self._put(self._turn(size_bytes), key, CachedEntry(size_bytes, value))
        return True


class DuplicateOverwrites(SegmentedCache):
    """An insert of what is cached already replaces it."""

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Forget the first."""
        key = (cache, ledger, entry)
        if 0 <= size_bytes <= self.segment_bytes and key in self.where:
            self.size_bytes -= self.where.pop(key).entries.pop(key).size_bytes
        return super().insert(cache, ledger, entry, size_bytes, value)


class OffsetKept(SegmentedCache):
    """The offset of a segment is not reset when it is cleared, so after one turn nothing is taken."""

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Say no where the next segment has no room either."""
        fits = self._fits(self.ring[self.current], size_bytes)
        is_new = 0 <= size_bytes <= self.segment_bytes and (cache, ledger, entry) not in self.where
        if is_new and not fits and not self._fits(self.ring[(self.current + 1) % len(self.ring)], size_bytes):
            self._turn(size_bytes)
            return False
        return super().insert(cache, ledger, entry, size_bytes, value)

    def _clear(self, segment: Segment) -> None:
        offset = segment.offset
        super()._clear(segment)
        segment.offset = offset


class IndexKept(SegmentedCache):
    """The index of a segment is not cleared: former entries are still found, over bytes that are not theirs."""

    def _clear(self, segment: Segment) -> None:
        segment.offset = 0


class TurnsBackwards(SegmentedCache):
    """The ring turns backwards."""

    def _turn(self, size_bytes: int) -> Segment:
        self.current = (self.current - 2) % len(self.ring)
        return super()._turn(size_bytes)


class ClearsTheFullOne(SegmentedCache):
    """A turn drops the entries of the segment that was full, too."""

    def _turn(self, size_bytes: int) -> Segment:
        full = self.ring[self.current]
        offset = full.offset
        self._clear(full)
        full.offset = offset
        return super()._turn(size_bytes)


class RoundedBeforeTheTest(SegmentedCache):
    """An entry has to fit with its size rounded up."""

    def _fits(self, segment: Segment, size_bytes: int) -> bool:
        return segment.offset + self._advance(size_bytes) <= self.segment_bytes


class NotAligned(SegmentedCache):
    """Copies are written one behind the other, without an alignment."""

    def _advance(self, size_bytes: int) -> int:
        return size_bytes


class ReferencesAligned(SegmentedCache):
    """References are counted as copies are."""

    def _advance(self, size_bytes: int) -> int:
        return -(-size_bytes // ALIGNMENT) * ALIGNMENT


class NoRoomAtTheEnd(SegmentedCache):
    """An entry that ends exactly at the end of its segment does not fit."""

    def _fits(self, segment: Segment, size_bytes: int) -> bool:
        return segment.offset + size_bytes < self.segment_bytes


class TooLongIsTaken(SegmentedCache):
    """An entry longer than a segment turns the ring and is written over its end."""

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Take it."""
        key: Key = (cache, ledger, entry)
        if not self.max_size_bytes or size_bytes <= self.segment_bytes or key in self.where:
            return super().insert(cache, ledger, entry, size_bytes, value)
        self._put(self._turn(size_bytes), key, CachedEntry(size_bytes, value))
        return True


class EmptyWhereOff(SegmentedCache):
    """With a limit of 0 entries without bytes are cached."""

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Take what needs no room."""
        off, self.max_size_bytes = self.max_size_bytes, self.max_size_bytes or 1
        try:
            return super().insert(cache, ledger, entry, size_bytes, value)
        finally:
            self.max_size_bytes = off


RING: Final[dict[str, type[SegmentedCache]]] = {
    "segmented-full-advances": FullAdvances,
    "segmented-duplicate-turns": DuplicateTurns,
    "segmented-duplicate-overwrites": DuplicateOverwrites,
    "segmented-offset-kept": OffsetKept,
    "segmented-index-kept": IndexKept,
    "segmented-turns-backwards": TurnsBackwards,
    "segmented-clears-the-full-one": ClearsTheFullOne,
    "segmented-rounded-before-the-test": RoundedBeforeTheTest,
    "segmented-not-aligned": NotAligned,
    "segmented-references-aligned": ReferencesAligned,
    "segmented-no-room-at-the-end": NoRoomAtTheEnd,
    "segmented-too-long-is-taken": TooLongIsTaken,
    "segmented-empty-where-off": EmptyWhereOff,
}
"""By name."""
