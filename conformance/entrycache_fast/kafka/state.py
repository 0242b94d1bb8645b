"""One cached entry, and what it counts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from sortedcontainers import SortedList

Header = tuple[str, bytes]
"""A header of a record: its name, its content."""

PLAIN_BYTES: Final = 45
"""What every entry counts besides its key, value, topic and headers: flag 1, timestamp 8, offset 8, partition 4,
and three references of 8 for its place in the order of use."""


class Context(NamedTuple):
    """What the write of an entry carried; None: it did not."""

    timestamp: int | None = None
    offset: int | None = None
    partition: int | None = None


NO_CONTEXT: Final = Context()


class Entry:
    """One cached write; its identity is that of the write. `value` None: a tombstone.

    There is no `__init__`: `ThreadCache`, the only maker, sets every field itself, which takes half the time.
    """

    __slots__ = ("context", "dirty", "size_bytes", "value")

    value: bytes | None
    dirty: bool
    size_bytes: int
    context: Context


class DirtyEntry(NamedTuple):
    """One entry as a listener gets it."""

    key: bytes
    entry: Entry


Listener = Callable[[list[DirtyEntry]], None]
"""Who gets the dirty entries of a namespace, in one call."""


def utf16_units(text: str) -> int:
    """The code units of a text in UTF-16: what names of topics and headers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def extra_bytes(topic: str, headers: Sequence[Header]) -> int:
    """What topic and headers of an entry count."""
    return utf16_units(topic) + sum(utf16_units(name) + len(content) for name, content in headers)


# --- namespace
# The cache of one namespace: its entries in the order of use, its dirty keys in the order of their writes.


class Namespace:
    """One namespace. `nodes` runs from the eldest to the most recent key; `dirty` holds keys as a dict does.

    `order`, the keys by their bytes, is made when the first range is asked for, and kept from then on: a
    namespace that nobody asks for a range pays nothing for it. `emptied` counts how often everything was dropped.
    """

    __slots__ = ("dirty", "emptied", "flushes", "hits", "listener", "misses", "nodes", "order", "overwrites")

    def __init__(self) -> None:
        self.nodes: OrderedDict[bytes, Entry] = OrderedDict()
        self.dirty: dict[bytes, Entry] = {}
        self.order: SortedList | None = None
        self.listener: Listener | None = None
        self.emptied = 0
        self.hits = 0
        self.misses = 0
        self.overwrites = 0
        self.flushes = 0

    @property
    def size_bytes(self) -> int:
        """The sum of its entries."""
        return sum(entry.size_bytes for entry in self.nodes.values())

    def take(self, key: bytes) -> Entry:
        """Take one entry out."""
        entry = self.nodes.pop(key)
        self.dirty.pop(key, None)
        if self.order is not None:
            self.order.remove(key)
        return entry

    def drop_all(self) -> list[tuple[bytes, Entry]]:
        """Take every entry out; they come from the most recent to the eldest."""
        dropped = list(reversed(self.nodes.items()))
        self.nodes.clear()
        self.dirty.clear()
        self.order = None
        self.emptied += 1
        return dropped

    def between(self, first: bytes | None, last: bytes | None, last_inclusive: bool) -> list[bytes]:
        """The keys between two bounds, ascending; None: no bound on that side."""
        if self.order is None:
            self.order = SortedList(self.nodes)
        inside: Iterator[bytes] = self.order.irange(first, last, (True, last_inclusive))
        return list(inside)

    def check(self) -> None:
        """Assert every invariant of this namespace; for tests."""
        assert list(self.dirty) == [key for key in self.dirty if self.nodes[key] is self.dirty[key]]
        assert {key for key, entry in self.nodes.items() if entry.dirty} == set(self.dirty)
        assert self.order is None or list(self.order) == sorted(self.nodes)


# --- row
# What a `ThreadCache` reports to its `on_row` callback: one row an event.


class Row(NamedTuple):
    """One event, in the columns of a recorded trace that this cache knows.

    `size_bytes` and `dirty` are those of the entry, `dirty` before the event; `bytes_after` is the sum of all
    entries after it. A FLUSH of the cause EVICT is that of the entry that is being evicted, one of the cause FAILED
    that of an entry that nobody took. What a call of a listener hands over stands in front of what it does.
    """

    op: str
    cause: str | None
    bytes_after: int
    ns: str | None = None
    key: bytes | None = None
    size_bytes: int | None = None
    dirty: bool | None = None
    value: str | None = None


# --- state
# What a `ThreadCache` holds, its counters, its errors, and how it tells what happens.


class DirtyKeyError(RuntimeError):
    """A clean write over a dirty entry, which would be lost."""


class NoListenerError(LookupError):
    """Dirty entries are to be handed over, and their namespace has no listener."""


class ThreadCounters(NamedTuple):
    """The counters of a cache."""

    puts: int
    gets: int
    evicts: int
    flushes: int


class NamespaceCounters(NamedTuple):
    """The counters of one namespace, its dirty keys in their order, its keys from most to least recent."""

    hits: int = 0
    misses: int = 0
    overwrites: int = 0
    flushes: int = 0
    dirty: tuple[bytes, ...] = ()
    recent: tuple[bytes, ...] = ()


class Usage(NamedTuple):
    """Entries and the sum of their sizes."""

    entries: int
    size_bytes: int


class CacheState:
    """The namespaces by name, the limit, the running total, the counters."""

    def __init__(self, max_size_bytes: int, on_row: Callable[[Row], None] | None = None) -> None:
        """Make an empty cache: its limit in bytes, and who is told of each event.

        Raises:
            ValueError: the limit is negative.
        """
        if max_size_bytes < 0:
            raise ValueError(f"max_size_bytes is {max_size_bytes}, expected 0 or more")
        self.max_size_bytes = max_size_bytes
        self.size_bytes = 0
        self.puts = 0
        self.gets = 0
        self.evicts = 0
        self.flushes = 0
        self._spaces: dict[str, Namespace] = {}
        self._on_row = on_row
        self._announced: list[Row] = []

    def _open(self, ns: str) -> Namespace:
        """The namespace of that name, made where it is not there."""
        space = self._spaces.get(ns)
        if space is None:
            space = self._spaces[ns] = Namespace()
        return space

    def _tell(self, op: str, ns: str, key: bytes, entry: Entry | None, cause: str | None = None) -> None:
        """Report one event; what is announced comes first."""
        if self._on_row is None:
            return
        self._confirm()
        self._on_row(self._row(op, ns, key, entry, cause))

    def _note(self, op: str, ns: str | None = None, value: str | None = None) -> None:
        """Report one event that is about no entry."""
        if self._on_row is not None:
            self._confirm()
            self._on_row(Row(op, None, self.size_bytes, ns, value=value))

    def _announce(self, op: str, ns: str, key: bytes, entry: Entry, cause: str | None = None) -> None:
        """Report one event as soon as another one is reported, or as it is confirmed."""
        if self._on_row is not None:
            self._announced.append(self._row(op, ns, key, entry, cause))

    def _confirm(self) -> None:
        """Report what was announced."""
        if self._on_row is not None and self._announced:
            rows, self._announced = self._announced, []
            for row in rows:
                self._on_row(row)

    def _row(self, op: str, ns: str, key: bytes, entry: Entry | None, cause: str | None) -> Row:
        if entry is None:
            return Row(op, cause, self.size_bytes, ns, key)
        return Row(op, cause, self.size_bytes, ns, key, entry.size_bytes, entry.dirty)

    def listen(self, ns: str, listener: Listener) -> None:
        """Register who gets the dirty entries of a namespace; a call under way is not touched by it."""
        self._open(ns).listener = listener

    def usage(self, ns: str | None = None) -> Usage:
        """Entries and bytes of one namespace, or of all."""
        if ns is None:
            return Usage(sum(len(space.nodes) for space in self._spaces.values()), self.size_bytes)
        space = self._spaces.get(ns)
        return Usage(0, 0) if space is None else Usage(len(space.nodes), space.size_bytes)

    def thread_counters(self) -> ThreadCounters:
        """The counters of this cache."""
        return ThreadCounters(self.puts, self.gets, self.evicts, self.flushes)

    def counters(self, ns: str) -> NamespaceCounters:
        """The counters of one namespace; of one that is not there zeros."""
        space = self._spaces.get(ns)
        if space is None:
            return NamespaceCounters()
        counted = (space.hits, space.misses, space.overwrites, space.flushes)
        return NamespaceCounters(*counted, tuple(space.dirty), tuple(reversed(space.nodes)))

    def check(self) -> None:
        """Assert every invariant; for tests."""
        assert self.size_bytes == sum(space.size_bytes for space in self._spaces.values())
        assert not self._announced
        for space in self._spaces.values():
            space.check()
