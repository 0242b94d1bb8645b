"""The data of a broker cache: entries by ledger, and cursors in order.

A `RangeCache` is the cache of one managed ledger. It holds one `Ledger` (a dict
by entry number) for each ledger that has entries, and its `Cursors`. Range lookups need sorted numbers; a ledger sorts
its numbers only when a range is asked for. `SortedNumbers` keeps the positions of cursors in order: most cursors move
a little, so it changes a number in place if it passes no other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from itertools import chain
from typing import Any, Final

from entrycache_fast.pulsar.results import Position

BLOCK_LENGTH: Final = 512
"""The usual length of a block: it is split above twice this length, and joined to a neighbour below half of it."""


class SortedNumbers:
    """Numbers in ascending order, in blocks of a few hundred; equal numbers may occur.

    A number that moves past no other one is changed in place: two binary searches, and nothing is shifted. Readers at
    the tail of a log move like that. Any other change shifts numbers within one or two blocks. A count takes two binary
    searches and one addition for each block, from the nearer end.
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
        """Return the lowest number, or None if there is none."""
        return self._blocks[0][0] if self._blocks else None

    def count_up_to(self, number: int) -> int:
        """Count the numbers at or below this one."""
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
        """Insert a number."""
        self._size += 1
        if not self._blocks:
            self._blocks.append([number])
            self._lasts.append(number)
            return
        at = min(bisect_left(self._lasts, number), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, number)
        self._lasts[at] = block[-1]
        if len(block) > 2 * BLOCK_LENGTH:
            self._blocks.insert(at + 1, block[BLOCK_LENGTH:])
            self._lasts.insert(at, block[BLOCK_LENGTH - 1])
            del block[BLOCK_LENGTH:]

    def remove(self, number: int) -> None:
        """Remove a number that is present."""
        at = bisect_left(self._lasts, number)
        self._take(at, bisect_left(self._blocks[at], number))

    def move_up(self, old: int, new: int) -> None:
        """Replace `old`, the last one that equals it, by the higher `new`."""
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
        """Replace `old`, the first one that equals it, by the lower `new`."""
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
        """Remove the number at a place."""
        blocks, lasts = self._blocks, self._lasts
        block = blocks[at]
        del block[inside]
        self._size -= 1
        if len(block) < BLOCK_LENGTH // 2 and len(blocks) > 1:
            self._join(at)
        elif block:
            lasts[at] = block[-1]
        else:
            del blocks[at], lasts[at]

    def _join(self, at: int) -> None:
        """Join a small block to a neighbour, and split the two in halves if they are too long for one block."""
        first = max(0, at - 1)
        joined = self._blocks[first] + self._blocks[first + 1]
        middle = len(joined) // 2 if len(joined) > BLOCK_LENGTH else len(joined)
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
            assert all(BLOCK_LENGTH // 2 <= len(block) <= 2 * BLOCK_LENGTH for block in self._blocks), [
                *map(len, self._blocks)
            ]


ENTRY_BITS: Final = 64
"""The bits of an entry in a position. A position is kept as one number, which compares faster than a pair."""

BIAS: Final = 1 << (ENTRY_BITS - 1)
"""The bias of an entry, so that an entry below 0 stays within its ledger."""


class Cursors:
    """The active cursors of one managed ledger: members by name, and their positions in order.

    A member without a position is not tracked. If `moves_untracked` is False, a move does not track such a member; an
    `add` does.
    """

    __slots__ = ("_members", "_moves_untracked", "_order")

    def __init__(self, moves_untracked: bool) -> None:
        self._members: dict[str, int | None] = {}
        self._order = SortedNumbers()
        self._moves_untracked = moves_untracked

    def __len__(self) -> int:
        """The number of members."""
        return len(self._members)

    def add(self, cursor: str, position: tuple[int, int] | None) -> None:
        """Make a cursor a member at a position, or give a member that position."""
        old = self._members.get(cursor)
        if old is not None:
            self._order.remove(old)
        new = None
        if position is not None:
            new = (position[0] << ENTRY_BITS) + position[1] + BIAS
            self._order.add(new)
        self._members[cursor] = new

    def move(self, cursor: str, position: tuple[int, int] | None) -> bool:
        """Give a member that position, and return whether that was done."""
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
        """Remove a member, and return whether it was one."""
        if cursor not in self._members:
            return False
        old = self._members.pop(cursor)
        if old is not None:
            self._order.remove(old)
        return True

    def rank(self, cursor: str) -> int:
        """Count the tracked cursors at or before this one, itself included; 0 if it is unknown or not tracked."""
        own = self._members.get(cursor)
        return 0 if own is None else self._order.count_up_to(own)

    def slowest(self) -> Position | None:
        """Return the lowest tracked position."""
        return _position(self._order.least())

    def positions(self) -> dict[str, Position | None]:
        """Return the members with their positions; None means not tracked."""
        return {name: _position(at) for name, at in self._members.items()}

    def check(self) -> None:
        """Assert every invariant; for tests."""
        self._order.check()
        assert list(self._order) == sorted(at for at in self._members.values() if at is not None)


def _position(number: int | None) -> Position | None:
    """Return the position that a number stands for."""
    return None if number is None else Position(number >> ENTRY_BITS, (number & (2 * BIAS - 1)) - BIAS)


MAX_SINGLE_INSERTS: Final = 32
"""The most numbers that are inserted into an order one by one; with more, the order is sorted anew."""

ORDER_SLACK: Final = 64
"""The removed numbers that an order may hold, beyond as many as are cached, before it is cleaned."""


class Entry:
    """One entry, and its slot in the removal queue.

    `dead_slots` is 0 while the entry is cached. After a call has removed the entry, it is the number of dead slots that
    the object stands for. `ordered` says that the number stands in the order of its ledger. There is no `__init__`:
    only `EntryCalls.insert` makes entries, and setting every field directly takes half the time.
    """

    __slots__ = (
        "accessed",
        "dead_slots",
        "expected_reads",
        "ledger",
        "number",
        "ordered",
        "requeues",
        "size_bytes",
        "stamp_nanos",
        "value",
    )

    ledger: Ledger
    number: int
    size_bytes: int
    stamp_nanos: int
    expected_reads: int | None
    value: Any
    requeues: int
    accessed: bool
    dead_slots: int
    ordered: bool


class Ledger(dict[int, Entry]):
    """The cached entries of one ledger, by number.

    `order` holds numbers in ascending order: those that the last range lookup has put there, some of which may have
    been removed since. Inserts and passes do not touch it. A dict keeps its keys in the order of insertion, so the
    entries that are not yet in the order are the last ones.

    The class is a dict and does not have one, because a pass over many ledgers waits for memory most of all.
    """

    __slots__ = ("cache", "number", "order", "size_bytes")

    def __init__(self, cache: RangeCache, number: int) -> None:
        self.cache = cache
        self.number = number
        self.size_bytes = 0
        self.order: list[int] = []

    def between(self, first: int | None, last: int | None) -> list[Entry]:
        """Return the entries from `first` to `last`, both included, ascending; None is no bound."""
        self._update_order()
        order = self.order
        start = 0 if first is None else bisect_left(order, first)
        end = len(order) if last is None else bisect_right(order, last)
        numbers = order[start:end]
        entries = [self[number] for number in numbers if number in self]
        if len(entries) != len(numbers):
            order[start:end] = [entry.number for entry in entries]
        return entries

    def _update_order(self) -> None:
        """Enter the numbers that were inserted since the last call into the order."""
        new: list[int] = []
        for number, entry in reversed(self.items()):
            if entry.ordered:
                break
            entry.ordered = True
            new.append(number)
        if not new:
            return
        new.sort()
        if not self.order or new[0] > self.order[-1]:
            self.order += new
        elif len(new) <= MAX_SINGLE_INSERTS:
            for number in new:
                self._put_in_order(number)
        else:
            self.order = sorted(self)
        if len(self.order) > 2 * len(self) + ORDER_SLACK:
            self.order = [number for number in self.order if number in self]

    def _put_in_order(self, number: int) -> None:
        """Enter one number into the order, unless it stands there from an earlier stay."""
        at = bisect_left(self.order, number)
        if at == len(self.order) or self.order[at] != number:
            self.order.insert(at, number)

    def remove(self, entry: Entry) -> None:
        """Remove one entry."""
        del self[entry.number]
        self.size_bytes -= entry.size_bytes
        if not self:
            self.cache.drop(self)

    def shrink(self, removed: int) -> None:
        """Free the memory of `removed` entries that have just left, if they were the greater part."""
        if removed > len(self):
            kept = dict(self)
            self.clear()
            self.update(kept)


class RangeCache:
    """The cache of one managed ledger: its ledgers with entries, by number and in ascending order.

    `cursors` is made for the first cursor. `grace_start_nanos` is the time at which the last cursor left, or at which
    this cache was named for the first time.
    """

    __slots__ = ("cursors", "grace_start_nanos", "ledgers", "name", "numbers")

    def __init__(self, name: str, now_nanos: int) -> None:
        self.name = name
        self.ledgers: dict[int, Ledger] = {}
        self.numbers: list[int] = []
        self.cursors: Cursors | None = None
        self.grace_start_nanos = now_nanos

    def ledger(self, number: int) -> Ledger:
        """Return the ledger of that number, and make it if it does not exist."""
        ledger = self.ledgers.get(number)
        if ledger is None:
            ledger = self.ledgers[number] = Ledger(self, number)
            insort(self.numbers, number)
        return ledger

    def drop(self, ledger: Ledger) -> None:
        """Remove a ledger that has no entries left."""
        del self.ledgers[ledger.number]
        del self.numbers[bisect_left(self.numbers, ledger.number)]

    def between(self, first: tuple[int, int], last: tuple[int, int]) -> list[Entry]:
        """Return the entries from position `first` to position `last`, both included, ascending."""
        if first > last:
            return []
        first_ledger, first_entry = first
        last_ledger, last_entry = last
        start = bisect_left(self.numbers, first_ledger)
        end = bisect_right(self.numbers, last_ledger)
        entries: list[Entry] = []
        for number in self.numbers[start:end]:
            entries += self.ledgers[number].between(
                first_entry if number == first_ledger else None,
                last_entry if number == last_ledger else None,
            )
        return entries

    def below(self, position: tuple[int, int]) -> list[Entry]:
        """Return the entries below a position, ascending."""
        ledger, entry = position
        entries: list[Entry] = []
        for number in self.numbers[: bisect_right(self.numbers, ledger)]:
            entries += self.ledgers[number].between(None, entry - 1 if number == ledger else None)
        return entries

    def everything(self) -> list[Entry]:
        """Return all entries, ascending by position."""
        return [entry for number in self.numbers for entry in self.ledgers[number].between(None, None)]

    def check(self) -> None:
        """Assert every invariant of this cache; for tests."""
        assert self.numbers == sorted(self.ledgers), (self.numbers, list(self.ledgers))
        for number, ledger in self.ledgers.items():
            assert ledger.number == number
            assert ledger.cache is self
            assert ledger, f"ledger {number} of {self.name} is empty and was not dropped"
            assert ledger.size_bytes == sum(entry.size_bytes for entry in ledger.values())
            assert all(entry.number == at for at, entry in ledger.items())
            assert ledger.order == sorted(set(ledger.order)), ledger.order
            in_order = set(ledger.order)
            flags = [entry.ordered for entry in ledger.values()]
            assert flags == sorted(flags, reverse=True), flags
            assert all(entry.number in in_order for entry in ledger.values() if entry.ordered)
        if self.cursors is not None:
            self.cursors.check()
