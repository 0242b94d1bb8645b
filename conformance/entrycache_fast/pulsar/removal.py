"""Entries leave by a call; what that leaves in the removal queue."""

from __future__ import annotations

from collections import deque
from typing import Final

from entrycache_fast.pulsar import row as rows
from entrycache_fast.pulsar.state import CacheState
from entrycache_fast.pulsar.store import Entry
from entrycache_fast.pulsar.views import Removed

DEAD_SLACK: Final = 64
"""Dead slots are merged when there are more of them than this number plus two for each cached entry."""


class Removals(CacheState):
    """Removal of ranges, ledgers and whole caches."""

    def remove_range(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], last_inclusive: bool = False
    ) -> Removed:
        """Remove the entries from `first` up to `last`, that one included only if `last_inclusive`."""
        found = self._open(cache).between(first, last)
        if found and not last_inclusive and (found[-1].ledger.number, found[-1].number) == last:
            del found[-1]
        return self._remove(found, "RANGE")

    def clear(self, cache: str) -> Removed:
        """Remove every entry of a cache."""
        return self._remove(self._open(cache).everything(), "CLEAR")

    def invalidate_before(self, cache: str, position: tuple[int, int]) -> Removed:
        """Remove every entry of a cache below a position."""
        return self._remove(self._open(cache).below(position), "CURSOR")

    def invalidate_ledger(self, cache: str, ledger: int) -> Removed:
        """Remove every entry of one ledger of a cache."""
        home = self._open(cache).ledgers.get(ledger)
        return self._remove([] if home is None else home.between(None, None), "LEDGER")

    def remove_cache(self, cache: str) -> None:
        """Remove every entry of a cache and forget it until it is named again.

        Its cursors, its grace period and what was read from it and is still held stay, so a little memory
        stays with each name.
        """
        removed = self._open(cache)
        self._remove(removed.everything(), "CLOSE")
        self._removed_caches[cache] = self._caches.pop(cache)
        if self._on_row is not None:
            self._on_row(rows.cache_row("CACHE_CLOSE", self._clock(), self.size_bytes, cache))

    def _remove(self, found: list[Entry], cause: str) -> Removed:
        """Remove entries by a call; their slots stay in the queue, dead."""
        if not found:
            return Removed(0, 0)
        before_bytes = self.size_bytes
        now_nanos = 0 if self._on_row is None else self._clock()
        for entry in found:
            entry.ledger.remove(entry)
            entry.value = None
            entry.dead_slots = 1
            self.size_bytes -= entry.size_bytes
            if self._on_row is not None:
                self._on_row(rows.entry_row("REMOVE", cause, now_nanos, self.size_bytes, entry))
        found[0].ledger.shrink(len(found))
        found[-1].ledger.shrink(len(found))
        self._counts.evicted_entries += len(found)
        self.tombstones += len(found)
        self._dead_objects += len(found)
        self._merge_dead_slots()
        return Removed(len(found), before_bytes - self.size_bytes)

    def _merge_dead_slots(self) -> None:
        """Let one object stand for each run of dead slots, once there are many.

        It leaves one object more than entries at most, so it is due again only after as many removals.
        """
        if self._dead_objects <= DEAD_SLACK + 2 * self._live():
            return
        merged: deque[Entry] = deque()
        for entry in self._queue:
            if entry.dead_slots and merged and merged[-1].dead_slots:
                merged[-1].dead_slots += entry.dead_slots
                self._dead_objects -= 1
            else:
                merged.append(entry)
        self._queue = merged
