"""Faults about single entries: inserts, lookups, counts, removals, sums."""

from __future__ import annotations

from typing import Final

from entrycache_fast import BrokerCache, Position, Removal, Usage
from entrycache_fast.pulsar.store import Entry


class StateInsertCountedTwice(BrokerCache):
    """An insert adds its size twice to the bytes of the manager."""

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: object = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Add the size once more."""
        done = super().insert(cache, ledger, entry, size_bytes, value, expected_reads)
        if done:
            self.size_bytes += size_bytes
        return done


class StateClearKeepsBytes(BrokerCache):
    """A clear does not take what it removed from the bytes of the manager."""

    def clear(self, cache: str) -> Removal:
        """Put the bytes back."""
        removed = super().clear(cache)
        self.size_bytes += removed.size_bytes
        return removed


class StateExistsMarks(BrokerCache):
    """An exists marks the entry accessed."""

    def exists(self, cache: str, ledger: int, entry: int) -> bool:
        """Mark what is there."""
        found = self._find(cache, ledger, entry)
        if found is not None:
            found.accessed = True
        return found is not None


class InsertDuplicateRestamps(BrokerCache):
    """A duplicate insert gives the cached entry a new stamp."""

    def _reject(self, cached: Entry, size_bytes: int) -> bool:
        cached.stamp_nanos = self._clock()
        return super()._reject(cached, size_bytes)


class InsertLimitZeroIgnored(BrokerCache):
    """A limit of 0 does not disable caching."""

    def _skip(self, cache: str, ledger: int, entry: int, size_bytes: int) -> bool:
        self.max_size_bytes = 1
        done = self.insert(cache, ledger, entry, size_bytes)
        self.max_size_bytes = 0
        return done


class InsertNoReadsCounted(BrokerCache):
    """An insert with no expected reads gives the entry a count of 0."""

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: object = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Set the count after the fact."""
        done = super().insert(cache, ledger, entry, size_bytes, value, expected_reads)
        added = self._find(cache, ledger, entry)
        if done and added is not None and expected_reads == 0:
            added.expected_reads = 0
        return done


class InsertTakesDeadSlot(BrokerCache):
    """A position that is cached anew takes the dead slot of its earlier stay instead of a new one."""

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: object = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Move the new entry to the dead slot that bears its name."""
        done = super().insert(cache, ledger, entry, size_bytes, value, expected_reads)
        for at, slot in enumerate(self._queue):
            names = (slot.ledger.cache.name, slot.ledger.number, slot.number)
            if done and slot.dead_slots == 1 and names == (cache, ledger, entry):
                self._queue[at] = self._queue.pop()
                self._dead_objects -= 1
                self.tombstones -= 1
                break
        return done


class ReadEmptyEntryMissed(BrokerCache):
    """A get takes an entry of size 0 for an absent one."""

    def get(self, cache: str, ledger: int, entry: int, default: object = None) -> object:
        """Miss it."""
        found = self._find(cache, ledger, entry)
        if found is not None and found.size_bytes == 0:
            self._miss(cache, ledger, entry)
            return default
        return super().get(cache, ledger, entry, default)


class ReadRestamps(BrokerCache):
    """A get gives the entry a new stamp."""

    def get(self, cache: str, ledger: int, entry: int, default: object = None) -> object:
        """Renew the stamp in passing."""
        found = self._find(cache, ledger, entry)
        if found is not None:
            found.stamp_nanos = self._clock()
        return super().get(cache, ledger, entry, default)


class ReadRangeEndExcluded(BrokerCache):
    """A get_range leaves out the entry at its end."""

    def get_range(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> list[tuple[Position, object]]:
        """Stop one entry early."""
        return super().get_range(cache, first, (last[0], last[1] - 1))


class ReadReversedRangeTurned(BrokerCache):
    """A get_range whose first position lies behind its last one is read the other way round."""

    def get_range(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> list[tuple[Position, object]]:
        """Turn the range."""
        return super().get_range(cache, min(first, last), max(first, last))


class CountStopsAtZero(BrokerCache):
    """A delivery does not lower the count below 0."""

    def _count(self, entry: Entry | None, change: int) -> int | None:
        if entry is not None and entry.expected_reads == 0 and change < 0:
            return 0
        return super()._count(entry, change)


class CountMarksAccessed(BrokerCache):
    """A mark_read marks the entry accessed."""

    def mark_read(self, cache: str, ledger: int, entry: int) -> int | None:
        """Mark what is there."""
        found = self._find(cache, ledger, entry)
        if found is not None:
            found.accessed = True
        return super().mark_read(cache, ledger, entry)


class InvalidateEndIncluded(BrokerCache):
    """A remove_range removes the entry at its end though the end is exclusive."""

    def remove_range(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], last_inclusive: bool = False
    ) -> Removal:
        """Include the end."""
        return super().remove_range(cache, first, last, True)


class InvalidateClearTakesAll(BrokerCache):
    """A clear of one cache clears every cache."""

    def clear(self, cache: str) -> Removal:
        """Clear them all."""
        answers = [super(InvalidateClearTakesAll, self).clear(name) for name in {**self._caches, cache: None}]
        return Removal(sum(one.entries for one in answers), sum(one.size_bytes for one in answers))


class MetricsOneCacheForAll(BrokerCache):
    """The usage of all caches counts the entries of one cache only."""

    def usage(self, cache: str | None = None) -> Usage:
        """Answer for the cache that was opened first."""
        if cache is not None or not self._caches:
            return super().usage(cache)
        return Usage(super().usage(next(iter(self._caches))).entries, self.size_bytes)


ENTRIES: Final[dict[str, type[BrokerCache]]] = {
    "count-marks-accessed": CountMarksAccessed,
    "count-stops-at-zero": CountStopsAtZero,
    "insert-duplicate-restamps": InsertDuplicateRestamps,
    "insert-limit-zero-ignored": InsertLimitZeroIgnored,
    "insert-no-reads-counted": InsertNoReadsCounted,
    "insert-takes-dead-slot": InsertTakesDeadSlot,
    "invalidate-clear-takes-all": InvalidateClearTakesAll,
    "invalidate-end-included": InvalidateEndIncluded,
    "metrics-one-cache-for-all": MetricsOneCacheForAll,
    "read-empty-entry-missed": ReadEmptyEntryMissed,
    "read-range-end-excluded": ReadRangeEndExcluded,
    "read-restamps": ReadRestamps,
    "read-reversed-range-turned": ReadReversedRangeTurned,
    "state-clear-keeps-bytes": StateClearKeepsBytes,
    "state-exists-marks": StateExistsMarks,
    "state-insert-counted-twice": StateInsertCountedTwice,
}
