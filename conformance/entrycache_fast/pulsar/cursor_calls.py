"""The active cursors of each cache."""

from __future__ import annotations

from entrycache_fast.pulsar import row as rows
from entrycache_fast.pulsar.cursors import Cursors
from entrycache_fast.pulsar.state import NANOS_A_MILLI, CacheState
from entrycache_fast.pulsar.store import RangeCache
from entrycache_fast.pulsar.views import Position


class CursorCalls(CacheState):
    """What readers tell of where they stand, and what follows for what should be cached."""

    def cursor_add(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Make a cursor a member, tracked at `position`; None: not tracked. A member only changes its position."""
        self._cursors(self._open(cache)).add(cursor, position)
        self._tell_cursor("CURSOR_ADD", cache, cursor, position)

    def cursor_move(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Let a member stand at `position`; None: it is not tracked. An unknown cursor is ignored.

        Without `evict_by_expected_reads` a member that is not tracked is ignored too.
        """
        cursors = self._open(cache).cursors
        if cursors is not None and cursors.move(cursor, position) and self._on_row is not None:
            self._tell_cursor("CURSOR_MOVE", cache, cursor, position)

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Take a member out, whether it was one; the grace period starts again."""
        home = self._open(cache)
        if not self._cursors(home).remove(cursor):
            return False
        home.grace_start_nanos = self._clock()
        self._tell_cursor("CURSOR_REMOVE", cache, cursor, None)
        return True

    def cursor_rank(self, cache: str, cursor: str) -> int:
        """How many tracked cursors stand at or before this one, itself included; 0 if it is not tracked."""
        if not self.evict_by_expected_reads:
            raise ValueError("there are no ranks without evict_by_expected_reads")
        return self._cursors(self._open(cache)).rank(cursor)

    def slowest(self, cache: str) -> Position | None:
        """The lowest position of a tracked cursor."""
        return self._cursors(self._open(cache)).slowest()

    def cursors(self, cache: str) -> int:
        """The number of members, tracked or not."""
        return len(self._cursors(self._open(cache)))

    def should_cache(self, cache: str) -> bool:
        """Whether an entry that is added now should be cached.

        While there is a member, and for the grace period after the last one has left or the cache was named
        for the first time; clock readings count in whole milliseconds.
        """
        home = self._open(cache)
        if home.cursors is not None and len(home.cursors):
            return True
        if not self.evict_by_expected_reads:
            return False
        passed_millis = self._clock() // NANOS_A_MILLI - home.grace_start_nanos // NANOS_A_MILLI
        return passed_millis < self.grace_millis

    def _cursors(self, home: RangeCache) -> Cursors:
        """The cursors of a cache, made with the first call about them."""
        if home.cursors is None:
            home.cursors = Cursors(moves_untracked=self.evict_by_expected_reads)
        return home.cursors

    def _tell_cursor(self, op: str, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Write a row about a cursor."""
        if self._on_row is not None:
            self._on_row(rows.cursor_row(op, self._clock(), self.size_bytes, cache, cursor, position))
