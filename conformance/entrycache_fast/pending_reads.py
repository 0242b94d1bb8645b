"""A table of pending reads: reads that overlap in time ask storage once for an entry.

A read that needs a range waits for the parts that somebody has asked for already, and asks for the rest. When storage
answers, everybody who waits is given his part. These are the rules of level `pending`. It needs only the standard
library, and calls nothing: its caller sends what `read` returns, and hands the answers to `answer` or `fail`.

    >>> from entrycache_fast.pending_reads import PendingReads
    >>> table = PendingReads()
    >>> table.read("first", 7, 0, 3)  # entries 0 to 3 of ledger 7
    [Ask(number=0, ledger=7, first=0, last=3)]
    >>> table.read("second", 7, 2, 5)  # 2 and 3 are on their way
    [Ask(number=1, ledger=7, first=4, last=5)]
    >>> table.answer(0, ["a", "b", "c", "d"])
    [Ended(name='first', entries=[(0, 'a'), (1, 'b'), (2, 'c'), (3, 'd')])]
    >>> table.answer(1, ["e", "f"])
    [Ended(name='second', entries=[(2, 'c'), (3, 'd'), (4, 'e'), (5, 'f')])]
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple


class Ask(NamedTuple):
    """A read of storage; asks are numbered from 0."""

    number: int
    ledger: int
    first: int
    last: int


class Ended(NamedTuple):
    """A read that has ended: its entries with their numbers, ascending; None: it has failed."""

    name: Hashable
    entries: list[tuple[int, Any]] | None


class _Read:
    """A read that has not ended: the number of parts that it waits for, and what it was given."""

    __slots__ = ("entries", "has_failed", "name", "parts")

    def __init__(self, name: Hashable) -> None:
        self.name = name
        self.parts = 0
        self.has_failed = False
        self.entries: list[tuple[int, Any]] = []


class _Part(NamedTuple):
    """A part of an ask that a read waits for."""

    read: _Read
    first: int
    last: int


class JoinableAsks:
    """The asks of one ledger that can be joined, ascending. No two of them overlap."""

    __slots__ = ("asks", "lasts")

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.lasts: list[int] = []

    def covering(self, first: int, last: int) -> list[Ask]:
        """Return the asks that have an entry of the range."""
        start = end = bisect_left(self.lasts, first)
        while end < len(self.asks) and self.asks[end].first <= last:
            end += 1
        return self.asks[start:end]

    def add(self, ask: Ask) -> None:
        """Add an ask that overlaps with none."""
        at = bisect_right(self.lasts, ask.last)
        self.asks.insert(at, ask)
        self.lasts.insert(at, ask.last)

    def discard(self, ask: Ask) -> None:
        """Remove an ask, if it is there."""
        at = bisect_left(self.lasts, ask.last)
        if at < len(self.asks) and self.asks[at].number == ask.number:
            del self.asks[at], self.lasts[at]


class PendingReads:
    """The table. It is not safe for several threads: hold a lock around each call."""

    __slots__ = ("_asks", "_joinable", "_parts", "_reads", "_sent")

    def __init__(self) -> None:
        self._asks: dict[int, Ask] = {}
        self._parts: dict[int, list[_Part]] = {}
        self._joinable: dict[int, JoinableAsks] = {}
        self._reads: dict[Hashable, _Read] = {}
        self._sent = 0

    @property
    def asks(self) -> list[Ask]:
        """The asks that were not answered yet, in the order in which they were sent."""
        return list(self._asks.values())

    @property
    def reads(self) -> list[Hashable]:
        """The names of the reads that have not ended."""
        return list(self._reads)

    def read(self, name: Hashable, ledger: int, first: int, last: int) -> list[Ask]:
        """Begin a read of the entries from `first` to `last`, and return what is to be asked of storage for it."""
        if name in self._reads:
            raise ValueError(f"a read {name!r} has not ended; expected another name")
        if first > last:
            raise ValueError(f"expected a first entry not above the last one, got {first} and {last}")
        read = self._reads[name] = _Read(name)
        joinable = self._joinable.setdefault(ledger, JoinableAsks())
        sent = []
        start = first
        for ask in joinable.covering(first, last):
            if start < ask.first:
                sent.append(self._send(read, ledger, start, ask.first - 1))
            self._wait(read, ask, max(start, ask.first), min(last, ask.last))
            start = ask.last + 1
        if start <= last:
            sent.append(self._send(read, ledger, start, last))
        for ask in sent:
            joinable.add(ask)
        return sent

    def answer(self, number: int, entries: Sequence[Any]) -> list[Ended]:
        """Take the answer to an ask: all its entries, or only the first of them. Return the reads that it ends."""
        ask = self._open_ask(number)
        if not 0 < len(entries) <= ask.last - ask.first + 1:
            raise ValueError(f"expected 1 to {ask.last - ask.first + 1} entries for ask {number}, got {len(entries)}")
        parts = self._close(ask)
        for read, first, last in parts:
            given = entries[first - ask.first : last - ask.first + 1]
            read.entries += zip(range(first, first + len(given)), given, strict=True)
        return self._end(parts)

    def fail(self, number: int, is_busy: bool = False) -> list[Ended]:
        """Take an error for an answer, and return the reads that it ends.

        Unless storage is only busy, nobody joins another ask of that ledger any more.
        """
        ask = self._open_ask(number)
        parts = self._close(ask)
        if not is_busy:
            self._joinable.pop(ask.ledger, None)
        for read, _, _ in parts:
            read.has_failed = True
        return self._end(parts)

    def _open_ask(self, number: int) -> Ask:
        """Return an ask that was not answered yet."""
        if number not in self._asks:
            raise ValueError(f"no ask {number} is open; expected one of {list(self._asks)}")
        return self._asks[number]

    def _send(self, read: _Read, ledger: int, first: int, last: int) -> Ask:
        """Make an ask that a read waits for."""
        ask = self._asks[self._sent] = Ask(self._sent, ledger, first, last)
        self._parts[ask.number] = []
        self._sent += 1
        self._wait(read, ask, first, last)
        return ask

    def _wait(self, read: _Read, ask: Ask, first: int, last: int) -> None:
        """Let a read wait for a part of an ask."""
        self._parts[ask.number].append(_Part(read, first, last))
        read.parts += 1

    def _close(self, ask: Ask) -> list[_Part]:
        """Forget an ask, and return the parts that reads wait for, in the order in which they joined."""
        del self._asks[ask.number]
        joinable = self._joinable.get(ask.ledger)
        if joinable is not None:
            joinable.discard(ask)
            if not joinable.asks:
                del self._joinable[ask.ledger]
        return self._parts.pop(ask.number)

    def _end(self, parts: list[_Part]) -> list[Ended]:
        """Return the reads that wait for no further part."""
        ended = []
        for read, _, _ in parts:
            read.parts -= 1
            if read.parts == 0:
                del self._reads[read.name]
                ended.append(Ended(read.name, None if read.has_failed else sorted(read.entries)))
        return ended
