"""Faults of level `cursors` about the members and where they stand."""

from __future__ import annotations

from typing import Final

from entrycache_fast import BrokerCache, Position
from entrycache_fast.pulsar.store import Cursors, RangeCache


class CursorAddTrackedAtTheStart(BrokerCache):
    """A cursor that is added without a position is tracked at the very start."""

    def cursor_add(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Give it one."""
        super().cursor_add(cache, cursor, (-1, -1) if position is None else position)


class CursorAddedTwice(BrokerCache):
    """A member that is added again leaves its old position behind, and ranks count that too."""

    def cursor_add(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Leave it behind."""
        members = self._cursors(self._open(cache))
        old = members._members.get(cursor)
        super().cursor_add(cache, cursor, position)
        if old is not None:
            members._order.add(old)


class CursorOnlyForward(BrokerCache):
    """A cursor does not move back."""

    def cursor_move(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Ignore a lower position."""
        now = place_of(self._cursors(self._open(cache)), cursor)
        if now is None or position is None or position >= now:
            super().cursor_move(cache, cursor, position)


class CursorUntrackedKeepsPosition(BrokerCache):
    """A move to nowhere leaves the cursor tracked where it was."""

    def cursor_move(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Ignore it."""
        if position is None:
            self._open(cache)
        else:
            super().cursor_move(cache, cursor, position)


class CursorMoveAdds(BrokerCache):
    """A move of an unknown cursor makes it a member."""

    def cursor_move(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Add it."""
        if cursor in self._cursors(self._open(cache))._members:
            super().cursor_move(cache, cursor, position)
        else:
            super().cursor_add(cache, cursor, position)


class CursorRemoveTellsTracked(BrokerCache):
    """The removal of a member that is not tracked answers that it was none."""

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Look for a position."""
        tracked = place_of(self._cursors(self._open(cache)), cursor) is not None
        return super().cursor_remove(cache, cursor) and tracked


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


class CursorHeapTracksMoved(BrokerCache):
    """Without expected reads a move tracks a member that was not tracked."""

    def _cursors(self, home: RangeCache) -> Cursors:
        members = super()._cursors(home)
        members._moves_untracked = True
        return members


class CursorNamesShared(BrokerCache):
    """A cursor that is removed from one cache is removed from every cache."""

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Remove it everywhere."""
        removed = super().cursor_remove(cache, cursor)
        for home in self._caches.values():
            if home.cursors is not None and removed:
                home.cursors.remove(cursor)
        return removed


class CursorLastClears(BrokerCache):
    """The last cursor that leaves takes the entries of its cache with it."""

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Clear the cache."""
        removed = super().cursor_remove(cache, cursor)
        if removed and not self.cursors(cache):
            self.clear(cache)
        return removed


class InvalidateCacheForgetsCursors(BrokerCache):
    """A cache that is removed and named again has lost its cursors."""

    def remove_cache(self, cache: str) -> None:
        """Forget them."""
        super().remove_cache(cache)
        self._removed_caches[cache].cursors = None


def place_of(members: Cursors, cursor: str) -> Position | None:
    """Where a cursor is tracked."""
    alone = Cursors(moves_untracked=True)
    number = members._members.get(cursor)
    if number is None:
        return None
    alone._members[cursor] = number
    alone._order.add(number)
    return alone.slowest()


CURSORS: Final[dict[str, type[BrokerCache]]] = {
    "cursor-add-tracked-at-the-start": CursorAddTrackedAtTheStart,
    "cursor-added-twice": CursorAddedTwice,
    "cursor-only-forward": CursorOnlyForward,
    "cursor-untracked-keeps-position": CursorUntrackedKeepsPosition,
    "cursor-move-adds": CursorMoveAdds,
    "cursor-remove-tells-tracked": CursorRemoveTellsTracked,
    "cursor-removed-still-ranks": CursorRemovedStillRanks,
    "cursor-heap-tracks-moved": CursorHeapTracksMoved,
    "cursor-names-shared": CursorNamesShared,
    "cursor-last-clears": CursorLastClears,
    "invalidate-cache-forgets-cursors": InvalidateCacheForgetsCursors,
}
"""The faults of this part."""
