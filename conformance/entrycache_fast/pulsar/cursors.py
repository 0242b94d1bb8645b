"""The active cursors of one managed ledger: where its readers stand."""

from __future__ import annotations

from typing import Final

from entrycache_fast.pulsar.order import Order
from entrycache_fast.pulsar.views import Position

ENTRY_BITS: Final = 64
"""A position is kept as one number, which compares more quickly than a pair; its entry has so many bits."""

BIAS: Final = 1 << (ENTRY_BITS - 1)
"""Added to the entry, so that an entry below 0 stays within its ledger."""


class Cursors:
    """The members by name, each with its position, and the positions in order.

    A member may be without a position; then it is not tracked. With `moves_untracked` False a move does not
    track such a member, an `add` does.
    """

    __slots__ = ("_members", "_moves_untracked", "_order")

    def __init__(self, moves_untracked: bool) -> None:
        self._members: dict[str, int | None] = {}
        self._order = Order()
        self._moves_untracked = moves_untracked

    def __len__(self) -> int:
        """The number of members."""
        return len(self._members)

    def add(self, cursor: str, position: tuple[int, int] | None) -> None:
        """Make a cursor a member, or give a member that position."""
        old = self._members.get(cursor)
        if old is not None:
            self._order.remove(old)
        new = None
        if position is not None:
            new = (position[0] << ENTRY_BITS) + position[1] + BIAS
            self._order.add(new)
        self._members[cursor] = new

    def move(self, cursor: str, position: tuple[int, int] | None) -> bool:
        """Give a member that position; whether that was done: of no other cursor."""
        old = self._members.get(cursor)
        if old is not None and position is not None:
            self._members[cursor] = new = (position[0] << ENTRY_BITS) + position[1] + BIAS
            if new > old:
                self._order.move_up(old, new)
            elif new < old:
                self._order.move_down(old, new)
            return True
        if old is None and not (self._moves_untracked and cursor in self._members):
            return False
        self.add(cursor, position)
        return True

    def remove(self, cursor: str) -> bool:
        """Take a member out; whether it was one."""
        if cursor not in self._members:
            return False
        old = self._members.pop(cursor)
        if old is not None:
            self._order.remove(old)
        return True

    def rank(self, cursor: str) -> int:
        """The tracked cursors at or before this one, itself included; 0 if it is unknown or not tracked."""
        own = self._members.get(cursor)
        return 0 if own is None else self._order.count_up_to(own)

    def slowest(self) -> Position | None:
        """The lowest tracked position."""
        return _position(self._order.least())

    def positions(self) -> dict[str, Position | None]:
        """The members with their positions; None: not tracked."""
        return {name: _position(at) for name, at in self._members.items()}

    def check(self) -> None:
        """Assert every invariant; for tests."""
        self._order.check()
        assert list(self._order) == sorted(at for at in self._members.values() if at is not None)


def _position(number: int | None) -> Position | None:
    """The position that is kept as this number."""
    return None if number is None else Position(number >> ENTRY_BITS, (number & (2 * BIAS - 1)) - BIAS)
