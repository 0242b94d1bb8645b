"""Faults of level `cursors` about what the container tells: ranks, the slowest, members, the grace period."""

from __future__ import annotations

from typing import Any, Final

from entrycache_fast import BrokerCache, Position
from entrycache_fast.pulsar.state import NANOS_A_MILLI
from entrycache_faults.fast.pulsar_pip430.cursors import place_of


class CursorRankBefore(BrokerCache):
    """A rank counts the cursors before this one, not those at the same position."""

    def cursor_rank(self, cache: str, cursor: str) -> int:
        """Count again."""
        members = self._cursors(self._open(cache))
        super().cursor_rank(cache, cursor)
        own = place_of(members, cursor)
        places = [place_of(members, name) for name in members._members]
        return 0 if own is None else 1 + sum(1 for place in places if place is not None and place < own)


class CursorRankCountsUntracked(BrokerCache):
    """A rank counts the members that are not tracked too."""

    def cursor_rank(self, cache: str, cursor: str) -> int:
        """Add them."""
        rank = super().cursor_rank(cache, cursor)
        members = self._cursors(self._open(cache))._members
        return rank and rank + list(members.values()).count(None)


class CursorRankStartsAtZero(BrokerCache):
    """A rank leaves the cursor itself out."""

    def cursor_rank(self, cache: str, cursor: str) -> int:
        """Take it out."""
        return max(0, super().cursor_rank(cache, cursor) - 1)


class CursorHeapRanks(BrokerCache):
    """Without expected reads a rank is answered instead of being refused."""

    def cursor_rank(self, cache: str, cursor: str) -> int:
        """Answer it."""
        return self._cursors(self._open(cache)).rank(cursor)


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


class CursorSlowestOfAll(BrokerCache):
    """The slowest position is looked for in every cache."""

    def slowest(self, cache: str) -> Position | None:
        """Look everywhere."""
        self._open(cache)
        found = [home.cursors.slowest() for home in self._caches.values() if home.cursors is not None]
        return min((place for place in found if place is not None), default=None)


class CursorMembersTracked(BrokerCache):
    """The number of members counts the tracked ones."""

    def cursors(self, cache: str) -> int:
        """Count them."""
        members = self._cursors(self._open(cache))._members
        return sum(1 for place in members.values() if place is not None)


class GraceOnlyOnce(BrokerCache):
    """The grace period starts with the cache and never again."""

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Put the start back."""
        before = self._open(cache).grace_start_nanos
        removed = super().cursor_remove(cache, cursor)
        self._open(cache).grace_start_nanos = before
        return removed


class GraceLastMillisecond(BrokerCache):
    """The grace period lasts one millisecond longer."""

    def should_cache(self, cache: str) -> bool:
        """Add one."""
        self.grace_millis += 1
        try:
            return super().should_cache(cache)
        finally:
            self.grace_millis -= 1


class GraceInTheHeap(BrokerCache):
    """The grace period is granted without expected reads too."""

    def should_cache(self, cache: str) -> bool:
        """Grant it."""
        own, self.evict_by_expected_reads = self.evict_by_expected_reads, True
        try:
            return super().should_cache(cache)
        finally:
            self.evict_by_expected_reads = own


class GraceFollowsTtl(BrokerCache):
    """A configure that changes the time to live changes the grace period too."""

    def configure(self, **settings: Any) -> None:
        """Compute it again."""
        super().configure(**settings)
        if settings.get("ttl_nanos") is not None:
            self.grace_millis = 2 * self.ttl_nanos // NANOS_A_MILLI


READERS: Final[dict[str, type[BrokerCache]]] = {
    "cursor-rank-before": CursorRankBefore,
    "cursor-rank-counts-untracked": CursorRankCountsUntracked,
    "cursor-rank-starts-at-zero": CursorRankStartsAtZero,
    "cursor-heap-ranks": CursorHeapRanks,
    "cursor-slowest-of-the-first": CursorSlowestOfTheFirst,
    "cursor-slowest-of-all": CursorSlowestOfAll,
    "cursor-members-tracked": CursorMembersTracked,
    "cursor-grace-only-once": GraceOnlyOnce,
    "cursor-grace-last-millisecond": GraceLastMillisecond,
    "cursor-grace-in-the-heap": GraceInTheHeap,
    "config-grace-follows-ttl": GraceFollowsTtl,
}
"""The faults of this part."""
