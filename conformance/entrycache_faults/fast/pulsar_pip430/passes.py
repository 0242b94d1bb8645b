"""Faults of the two passes."""

from __future__ import annotations

from typing import Final

from entrycache_fast import BrokerCache, Removal
from entrycache_fast.pulsar.store import Entry

PATIENCE = 1_000_000_000
"""After so many requeues, many minutes, a fault that never answers gives up, in case its runner has died."""


class ExpireAtTheCutoff(BrokerCache):
    """A time pass removes an entry whose stamp equals the cutoff."""

    def _cutoff(self, now_nanos: int, age_nanos: int) -> int:
        return super()._cutoff(now_nanos, age_nanos) + 1


class ExpireTwiceTheAge(BrokerCache):
    """A time pass without an age waits for twice the time to live."""

    def expire(self, older_than_nanos: int | None = None) -> Removal:
        """Take the wrong default."""
        return super().expire(2 * self.ttl_nanos if older_than_nanos is None else older_than_nanos)


class EvictOneTooMany(BrokerCache):
    """A size pass that has freed exactly what it needs takes one more entry."""

    def evict(self, size_bytes: int) -> Removal:
        """Ask for one byte more."""
        return super().evict(size_bytes + 1 if size_bytes > 0 else size_bytes)


class EvictNothingAccepted(BrokerCache):
    """An evict of 0 bytes is not refused."""

    def evict(self, size_bytes: int) -> Removal:
        """Answer that nothing was removed."""
        return Removal(0, 0) if size_bytes == 0 else super().evict(size_bytes)


class EvictCountsDeadSlots(BrokerCache):
    """A size pass counts the dead slots that it drops as entries that it removed."""

    def evict(self, size_bytes: int) -> Removal:
        """Add the dead slots to the answer."""
        before = self.tombstones
        removed = super().evict(size_bytes)
        return Removal(removed.entries + before - self.tombstones, removed.size_bytes)


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


PASSES: Final[dict[str, type[BrokerCache]]] = {
    "evict-counts-dead-slots": EvictCountsDeadSlots,
    "evict-nothing-accepted": EvictNothingAccepted,
    "evict-one-too-many": EvictOneTooMany,
    "evict-requeues-at-the-head": EvictRequeuesAtTheHead,
    "expire-at-the-cutoff": ExpireAtTheCutoff,
    "expire-twice-the-age": ExpireTwiceTheAge,
    "liveness-mark-survives-requeue": LivenessMarkSurvivesRequeue,
    "requeue-access-ignored-by-size": RequeueAccessIgnoredBySize,
    "requeue-access-though-off": RequeueAccessThoughOff,
    "requeue-expected-ignored": RequeueExpectedIgnored,
    "requeue-keeps-stamp": RequeueKeepsStamp,
    "requeue-one-too-many": RequeueOneTooMany,
    "requeue-split-budget": RequeueSplitBudget,
}
