"""The seeded faults that only an implementation of the cache of `pulsar-pip430` can have, each in one small method.

A model has no leaks, no endless loops, no stale indexes, no sums beside what they sum up and no buffers that two
entries share. The fast cache has them here, one fault a subclass. Their public names are those of their case files.
All other seeded faults are faults of the reference: see `entrycache_faults.reference.pulsar_pip430.subjects`.
"""

from typing import Any, Final

from entrycache_fast import BrokerCache, Position, ReadResult, Removal
from entrycache_fast.pulsar.cache import HeldEntries, Lookup
from entrycache_fast.pulsar.store import Entry

PATIENCE = 1_000_000_000
"""The requeues of one entry after which an endless pass gives up, after many minutes, in case its runner has died."""


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


class StateClearKeepsBytes(BrokerCache):
    """A clear does not take what it removed from the bytes of the manager."""

    def clear(self, cache: str) -> Removal:
        """Put the bytes back."""
        removed = super().clear(cache)
        self.size_bytes += removed.size_bytes
        return removed


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


class InvalidateLedgerKeepsBytes(BrokerCache):
    """An invalidate_ledger does not take what it removed from the bytes of the manager."""

    def invalidate_ledger(self, cache: str, ledger: int) -> Removal:
        """Put the bytes back."""
        removed = super().invalidate_ledger(cache, ledger)
        self.size_bytes += removed.size_bytes
        return removed


class CountHoldForgotten(BrokerCache):
    """A release gives the counts back but keeps what it has handed over in memory."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._forgotten: list[HeldEntries] = []

    def release(self, hold: str) -> int:
        """Keep it."""
        self._forgotten.append(self._holds.get(hold, []))
        return super().release(hold)


class ReadHandsOverStorage(BrokerCache):
    """A read hands over what storage holds for its hits too."""

    def _finish(self, lookup: Lookup, filled: HeldEntries, hold: str | None) -> ReadResult:
        served = super()._finish(lookup, filled, hold)
        values = list(served.values)
        for at, pos in enumerate(served.hits):
            values[at] = self._storage(lookup.cache, *pos).value
        return served._replace(values=values)


class ReadHitsWhileFilling(BrokerCache):
    """A read decides about each position only when its turn comes, after the fills before it."""

    def read(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], expected_reads: int, hold: str | None = None
    ) -> ReadResult:
        """Look up and fill position by position."""
        if first[0] != last[0] or first > last:
            return super().read(cache, first, last, expected_reads, hold)
        self._check_free(hold)
        numbers = range(first[1], last[1] + 1)
        entries: list[Entry | None] = []
        filled: HeldEntries = []
        for number in numbers:
            lookup = self._look_up(cache, first[0], (number,))
            filled += self._fill(lookup, self._serve(lookup), expected_reads)
            entries += lookup.entries
        return self._finish(Lookup(cache, first[0], numbers, entries), filled, hold)


class CursorAddedTwice(BrokerCache):
    """A member that is added again leaves its old position behind, and ranks count that too."""

    def cursor_add(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Leave it behind."""
        members = self._cursors(self._open(cache))
        old = members._members.get(cursor)
        super().cursor_add(cache, cursor, position)
        if old is not None:
            members._order.add(old)


class CursorRemovedStillRanks(BrokerCache):
    """A cursor that was removed still counts as the slowest, and in the ranks of the others."""

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Put its position back."""
        members = self._cursors(self._open(cache))
        old = members._members.get(cursor)
        removed = super().cursor_remove(cache, cursor)
        if old is not None:
            members._order.add(old)
        return removed


class CursorSlowestOfTheFirst(BrokerCache):
    """The slowest position is remembered, and only a lower one replaces it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._slowest: dict[str, Position] = {}

    def slowest(self, cache: str) -> Position | None:
        """Remember the lowest ever."""
        now = super().slowest(cache)
        if now is not None:
            self._slowest[cache] = min(now, self._slowest.get(cache, now))
        return self._slowest.get(cache)


QUEUE: Final[dict[str, type[BrokerCache]]] = {
    "insert-takes-dead-slot": InsertTakesDeadSlot,
    "liveness-mark-survives-requeue": LivenessMarkSurvivesRequeue,
    "state-clear-keeps-bytes": StateClearKeepsBytes,
}
"""The faults of levels `range` and `queue` by public name."""

MANAGER: Final[dict[str, type[BrokerCache]]] = {"invalidate-ledger-keeps-bytes": InvalidateLedgerKeepsBytes}
"""The faults of level `manager` by public name."""

READS: Final[dict[str, type[BrokerCache]]] = {
    "count-hold-forgotten": CountHoldForgotten,
    "read-hands-over-storage": ReadHandsOverStorage,
    "read-hits-while-filling": ReadHitsWhileFilling,
}
"""The faults of level `reads` by public name."""

CURSORS: Final[dict[str, type[BrokerCache]]] = {
    "cursor-added-twice": CursorAddedTwice,
    "cursor-removed-still-ranks": CursorRemovedStillRanks,
    "cursor-slowest-of-the-first": CursorSlowestOfTheFirst,
}
"""The faults of level `cursors` by public name."""

FAULTS: Final[dict[str, type[BrokerCache]]] = {**QUEUE, **MANAGER, **READS, **CURSORS}
"""All of them by public name."""
