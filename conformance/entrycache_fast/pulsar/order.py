"""A sorted list of numbers, equal ones included, for numbers that mostly move a little."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from itertools import chain
from typing import Final

BLOCK: Final = 512
"""A block is split above twice this length, and joined to its neighbour below half of it."""


class Order:
    """Numbers in ascending order, in blocks of some hundred.

    A number that moves past no other one is changed where it stands, which is what a reader at the tail of
    a log does: two binary searches, and nothing is shifted. Any other change shifts within one block or two.
    A count takes two binary searches and one addition a block, from the nearer end.
    """

    __slots__ = ("_blocks", "_lasts", "_size")

    def __init__(self) -> None:
        self._blocks: list[list[int]] = []
        self._lasts: list[int] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> chain[int]:
        return chain.from_iterable(self._blocks)

    def least(self) -> int | None:
        """The lowest number, None if there is none."""
        return self._blocks[0][0] if self._blocks else None

    def count_up_to(self, number: int) -> int:
        """How many numbers are at or below this one."""
        blocks = self._blocks
        at = bisect_right(self._lasts, number)
        if at == len(blocks):
            return self._size
        inside = bisect_right(blocks[at], number)
        if at == 0:
            return inside
        if 2 * at < len(blocks):
            return sum(map(len, blocks[:at])) + inside
        return self._size - sum(map(len, blocks[at:])) + inside

    def add(self, number: int) -> None:
        """Put a number in."""
        self._size += 1
        if not self._blocks:
            self._blocks.append([number])
            self._lasts.append(number)
            return
        at = min(bisect_left(self._lasts, number), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, number)
        self._lasts[at] = block[-1]
        if len(block) > 2 * BLOCK:
            self._blocks.insert(at + 1, block[BLOCK:])
            self._lasts.insert(at, block[BLOCK - 1])
            del block[BLOCK:]

    def remove(self, number: int) -> None:
        """Take a number out that is in."""
        at = bisect_left(self._lasts, number)
        self._take(at, bisect_left(self._blocks[at], number))

    def move_up(self, old: int, new: int) -> None:
        """Put the higher `new` in the place of `old`, which is in: of the last one that equals it."""
        blocks, lasts = self._blocks, self._lasts
        at = bisect_right(lasts, old)
        if at == len(blocks) or blocks[at][0] > old:
            at -= 1
        block = blocks[at]
        inside = bisect_right(block, old) - 1
        if inside + 1 == len(block):
            if at + 1 == len(blocks) or blocks[at + 1][0] >= new:
                block[inside] = lasts[at] = new
                return
        elif block[inside + 1] >= new:
            block[inside] = new
            return
        elif new <= lasts[at]:
            before = bisect_left(block, new, inside + 1) - 1
            del block[inside]
            block.insert(before, new)
            return
        self._take(at, inside)
        self.add(new)

    def move_down(self, old: int, new: int) -> None:
        """Put the lower `new` in the place of `old`, which is in: of the first one that equals it."""
        blocks, lasts = self._blocks, self._lasts
        at = bisect_left(lasts, old)
        block = blocks[at]
        inside = bisect_left(block, old)
        if block[inside - 1] <= new if inside else at == 0 or lasts[at - 1] <= new:
            block[inside] = new
            lasts[at] = block[-1]
            return
        self._take(at, inside)
        self.add(new)

    def _take(self, at: int, inside: int) -> None:
        """Take out the number at a place."""
        blocks, lasts = self._blocks, self._lasts
        block = blocks[at]
        del block[inside]
        self._size -= 1
        if len(block) < BLOCK // 2 and len(blocks) > 1:
            self._join(at)
        elif block:
            lasts[at] = block[-1]
        else:
            del blocks[at], lasts[at]

    def _join(self, at: int) -> None:
        """Join a small block to a neighbour, and cut the two in halves if they are too long for one."""
        first = max(0, at - 1)
        joined = self._blocks[first] + self._blocks[first + 1]
        middle = len(joined) // 2 if len(joined) > BLOCK else len(joined)
        parts = [part for part in (joined[:middle], joined[middle:]) if part]
        self._blocks[first : first + 2] = parts
        self._lasts[first : first + 2] = [part[-1] for part in parts]

    def check(self) -> None:
        """Assert every invariant; for tests."""
        numbers = list(self)
        assert numbers == sorted(numbers), numbers
        assert self._lasts == [block[-1] for block in self._blocks]
        assert all(self._blocks)
        assert self._size == len(numbers)
        if len(self._blocks) > 1:
            assert all(BLOCK // 2 <= len(block) <= 2 * BLOCK for block in self._blocks), [*map(len, self._blocks)]
