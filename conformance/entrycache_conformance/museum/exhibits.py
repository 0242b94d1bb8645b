"""Planted faults of the fast cache, each in one small method; `cases` shows the shortest proof of each."""

from __future__ import annotations

from typing import Final

from entrycache_fast import BrokerCache, Position, Removed, Usage
from entrycache_fast.store import Entry

PATIENCE = 1_000_000_000
"""After so many requeues, many minutes, an exhibit that never answers gives up, in case its runner has died."""


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

    def clear(self, cache: str) -> Removed:
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


class ExpireAtTheCutoff(BrokerCache):
    """A time pass removes an entry whose stamp equals the cutoff."""

    def _cutoff(self, now_nanos: int, age_nanos: int) -> int:
        return super()._cutoff(now_nanos, age_nanos) + 1


class ExpireTwiceTheAge(BrokerCache):
    """A time pass without an age waits for twice the time to live."""

    def expire(self, older_than_nanos: int | None = None) -> Removed:
        """Take the wrong default."""
        return super().expire(2 * self.ttl_nanos if older_than_nanos is None else older_than_nanos)


class EvictOneTooMany(BrokerCache):
    """A size pass that has freed exactly what it needs takes one more entry."""

    def evict(self, size_bytes: int) -> Removed:
        """Ask for one byte more."""
        return super().evict(size_bytes + 1 if size_bytes > 0 else size_bytes)


class EvictNothingAccepted(BrokerCache):
    """An evict of 0 bytes is not refused."""

    def evict(self, size_bytes: int) -> Removed:
        """Answer that nothing was removed."""
        return Removed(0, 0) if size_bytes == 0 else super().evict(size_bytes)


class EvictCountsDeadSlots(BrokerCache):
    """A size pass counts the dead slots that it drops as entries that it removed."""

    def evict(self, size_bytes: int) -> Removed:
        """Add the dead slots to the answer."""
        before = self.tombstones
        removed = super().evict(size_bytes)
        return Removed(removed.entries + before - self.tombstones, removed.size_bytes)


class EvictRequeuesAtTheHead(BrokerCache):
    """A requeued entry goes back to the head of the queue instead of its tail."""

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        super()._put_back(entry, now_nanos, uses)
        self._queue.appendleft(self._queue.pop())


class RequeueOneTooMany(BrokerCache):
    """An entry that expects reads is requeued once more than max_requeues allows."""

    def _budget(self) -> int:
        return super()._budget() + 1


class RequeueExpectedIgnored(BrokerCache):
    """An entry that expects reads is not requeued."""

    def _budget(self) -> int:
        return 0


class RequeueSplitBudget(BrokerCache):
    """A requeue because of an access does not use up the budget of expected reads."""

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        owed_to_access = entry.accessed and self.extend_recently_accessed
        super()._put_back(entry, now_nanos, 0 if owed_to_access else uses)


class RequeueKeepsStamp(BrokerCache):
    """A requeued entry keeps its old stamp."""

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        super()._put_back(entry, entry.stamp_nanos, uses)


class RequeueAccessIgnoredBySize(BrokerCache):
    """A size pass removes an entry although it was accessed."""

    def _extends(self, kind: str) -> bool:
        return kind == "TIME" and super()._extends(kind)


class RequeueAccessThoughOff(BrokerCache):
    """An accessed entry is requeued though extend_recently_accessed is off."""

    def _extends(self, kind: str) -> bool:
        return True


class InvalidateEndIncluded(BrokerCache):
    """A remove_range removes the entry at its end though the end is exclusive."""

    def remove_range(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], last_inclusive: bool = False
    ) -> Removed:
        """Include the end."""
        return super().remove_range(cache, first, last, True)


class InvalidateClearTakesAll(BrokerCache):
    """A clear of one cache clears every cache."""

    def clear(self, cache: str) -> Removed:
        """Clear them all."""
        answers = [super(InvalidateClearTakesAll, self).clear(name) for name in {**self._caches, cache: None}]
        return Removed(sum(one.entries for one in answers), sum(one.size_bytes for one in answers))


class MetricsOneCacheForAll(BrokerCache):
    """The usage of all caches counts the entries of one cache only."""

    def usage(self, cache: str | None = None) -> Usage:
        """Answer for the cache that was opened first."""
        if cache is not None or not self._caches:
            return super().usage(cache)
        return Usage(super().usage(next(iter(self._caches))).entries, self.size_bytes)


class LivenessMarkSurvivesRequeue(BrokerCache):
    """A requeue leaves the access mark, so a size pass takes the same entry for ever.

    It gives up with an error after `PATIENCE` requeues of one entry.
    """

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        marked = entry.accessed
        super()._put_back(entry, now_nanos, uses)
        entry.accessed = marked
        if entry.requeues > PATIENCE:
            raise RuntimeError(f"the pass does not end: {PATIENCE} requeues of one entry")


EXHIBITS: Final[dict[str, type[BrokerCache]]] = {
    "count-marks-accessed": CountMarksAccessed,
    "count-stops-at-zero": CountStopsAtZero,
    "evict-counts-dead-slots": EvictCountsDeadSlots,
    "evict-nothing-accepted": EvictNothingAccepted,
    "evict-one-too-many": EvictOneTooMany,
    "evict-requeues-at-the-head": EvictRequeuesAtTheHead,
    "expire-at-the-cutoff": ExpireAtTheCutoff,
    "expire-twice-the-age": ExpireTwiceTheAge,
    "insert-duplicate-restamps": InsertDuplicateRestamps,
    "insert-limit-zero-ignored": InsertLimitZeroIgnored,
    "insert-no-reads-counted": InsertNoReadsCounted,
    "insert-takes-dead-slot": InsertTakesDeadSlot,
    "invalidate-clear-takes-all": InvalidateClearTakesAll,
    "invalidate-end-included": InvalidateEndIncluded,
    "liveness-mark-survives-requeue": LivenessMarkSurvivesRequeue,
    "metrics-one-cache-for-all": MetricsOneCacheForAll,
    "read-empty-entry-missed": ReadEmptyEntryMissed,
    "read-range-end-excluded": ReadRangeEndExcluded,
    "read-restamps": ReadRestamps,
    "read-reversed-range-turned": ReadReversedRangeTurned,
    "requeue-access-ignored-by-size": RequeueAccessIgnoredBySize,
    "requeue-access-though-off": RequeueAccessThoughOff,
    "requeue-expected-ignored": RequeueExpectedIgnored,
    "requeue-keeps-stamp": RequeueKeepsStamp,
    "requeue-one-too-many": RequeueOneTooMany,
    "requeue-split-budget": RequeueSplitBudget,
    "state-clear-keeps-bytes": StateClearKeepsBytes,
    "state-exists-marks": StateExistsMarks,
    "state-insert-counted-twice": StateInsertCountedTwice,
}
"""The exhibits by name; `cases` holds a case of the same name for each."""
