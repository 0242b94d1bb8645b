"""Where entries are kept: one dict a ledger, and orders of numbers that range lookups make when they need them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from entrycache_fast.pulsar.cursors import Cursors

FEW: Final = 32
"""Up to so many numbers out of order are put into the order one by one; more, and it is sorted anew."""

SLACK: Final = 64
"""An order may hold so many numbers that have left, beyond as many as are cached, before it is cleaned."""


class Entry:
    """One entry, and its slot in the removal queue.

    `dead_slots` is 0 while the entry is cached; when a call has removed it, the number of dead slots that
    this object stands for. `ordered`: its number stands in the order of its ledger. There is no `__init__`:
    `Entries.insert`, the only maker, sets every field itself, which takes half the time.
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
    value: object
    requeues: int
    accessed: bool
    dead_slots: int
    ordered: bool


class Ledger(dict[int, Entry]):
    """The cached entries of one ledger, by number.

    `order` holds the numbers of its entries, ascending, as far as the last range lookup has put them there,
    and numbers that have left since. Inserts and passes do not touch it: a dict keeps its keys in the order
    of insertion, so the entries that are not yet in the order are the last ones.

    It is a dict, and does not merely have one, because a pass over many ledgers waits for memory above all.
    """

    __slots__ = ("cache", "number", "order", "size_bytes")

    def __init__(self, cache: RangeCache, number: int) -> None:
        self.cache = cache
        self.number = number
        self.size_bytes = 0
        self.order: list[int] = []

    def between(self, first: int | None, last: int | None) -> list[Entry]:
        """The entries from `first` to `last`, both included, ascending; None: no bound on that side."""
        self._update_order()
        order = self.order
        start = 0 if first is None else bisect_left(order, first)
        end = len(order) if last is None else bisect_right(order, last)
        numbers = order[start:end]
        found = [self[number] for number in numbers if number in self]
        if len(found) != len(numbers):
            order[start:end] = [entry.number for entry in found]
        return found

    def _update_order(self) -> None:
        """Put the numbers inserted since the last call into the order."""
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
        elif len(new) <= FEW:
            for number in new:
                self._put_in_order(number)
        else:
            self.order = sorted(self)
        if len(self.order) > 2 * len(self) + SLACK:
            self.order = [number for number in self.order if number in self]

    def _put_in_order(self, number: int) -> None:
        """Put one number into the order, unless it stands there since an earlier stay."""
        at = bisect_left(self.order, number)
        if at == len(self.order) or self.order[at] != number:
            self.order.insert(at, number)

    def remove(self, entry: Entry) -> None:
        """Take one entry out."""
        del self[entry.number]
        self.size_bytes -= entry.size_bytes
        if not self:
            self.cache.drop(self)

    def shrink(self, removed: int) -> None:
        """Give back the room of `removed` entries that have just left, if they were the greater part."""
        if removed > len(self):
            kept = dict(self)
            self.clear()
            self.update(kept)


class RangeCache:
    """The cache of one managed ledger: its ledgers that hold entries, by number and in ascending order.

    `cursors` are made when the first one comes; `grace_start_nanos` is when the last one left, or when this
    cache was named for the first time.
    """

    __slots__ = ("cursors", "grace_start_nanos", "ledgers", "name", "numbers")

    def __init__(self, name: str, now_nanos: int) -> None:
        self.name = name
        self.ledgers: dict[int, Ledger] = {}
        self.numbers: list[int] = []
        self.cursors: Cursors | None = None
        self.grace_start_nanos = now_nanos

    def ledger(self, number: int) -> Ledger:
        """The ledger of that number, made where it is not there."""
        found = self.ledgers.get(number)
        if found is None:
            found = self.ledgers[number] = Ledger(self, number)
            insort(self.numbers, number)
        return found

    def drop(self, ledger: Ledger) -> None:
        """Forget a ledger that holds no entry any more."""
        del self.ledgers[ledger.number]
        del self.numbers[bisect_left(self.numbers, ledger.number)]

    def between(self, first: tuple[int, int], last: tuple[int, int]) -> list[Entry]:
        """The entries from position `first` to position `last`, both included, ascending."""
        if first > last:
            return []
        first_ledger, first_entry = first
        last_ledger, last_entry = last
        start = bisect_left(self.numbers, first_ledger)
        end = bisect_right(self.numbers, last_ledger)
        found: list[Entry] = []
        for number in self.numbers[start:end]:
            found += self.ledgers[number].between(
                first_entry if number == first_ledger else None,
                last_entry if number == last_ledger else None,
            )
        return found

    def below(self, position: tuple[int, int]) -> list[Entry]:
        """The entries below a position, ascending."""
        ledger, entry = position
        found: list[Entry] = []
        for number in self.numbers[: bisect_right(self.numbers, ledger)]:
            found += self.ledgers[number].between(None, entry - 1 if number == ledger else None)
        return found

    def everything(self) -> list[Entry]:
        """All entries, ascending by position."""
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
