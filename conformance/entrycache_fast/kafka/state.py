"""The state of a record cache: entries, namespaces, counters, errors, and the rows that it reports.

An `Entry` is one cached write. A `Namespace` holds its entries in the order of use, and its dirty keys in the order of
their writes. `CacheState` holds the namespaces, the limit, the running total and the counters, and reports each event
as a `Row` to a callback. A row that is announced is reported before the next one, so that the entries which a listener
gets stand in front of what it does.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from sortedcontainers import SortedList

Header = tuple[str, bytes]
"""A header of a record: its name and its content."""

PLAIN_BYTES: Final = 45
"""The bytes of every entry besides its key, value, topic and headers: flag 1, timestamp 8, offset 8, partition 4,
and three references of 8 for its place in the order of use."""


class Context(NamedTuple):
    """The origin of a write: timestamp, offset and partition, each None if the write carried none."""

    timestamp: int | None = None
    offset: int | None = None
    partition: int | None = None


NO_CONTEXT: Final = Context()


class Entry:
    """One cached write; its identity is that of the write. A tombstone has the value None.

    There is no `__init__`: only `ThreadCache` makes entries, and setting every field directly takes half the time.
    """

    __slots__ = ("context", "dirty", "size_bytes", "value")

    value: bytes | None
    dirty: bool
    size_bytes: int
    context: Context


class DirtyEntry(NamedTuple):
    """One dirty entry, as a listener gets it."""

    key: bytes
    entry: Entry


Listener = Callable[[list[DirtyEntry]], None]
"""A function that gets the dirty entries of a namespace, in one call."""


def utf16_units(text: str) -> int:
    """Return the code units of a text in UTF-16: the size of names of topics and headers."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def extra_bytes(topic: str, headers: Sequence[Header]) -> int:
    """Return the bytes that topic and headers of an entry count."""
    return utf16_units(topic) + sum(utf16_units(name) + len(content) for name, content in headers)


class Namespace:
    """One namespace: `nodes` runs from the eldest to the most recent key, `dirty` holds dirty keys in write order.

    `order` holds the keys sorted by their bytes. It is made for the first range and kept from then on, so a namespace
    without ranges does not pay for it. `emptied` counts how often all entries were dropped.
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
        """The sum of the sizes of its entries."""
        return sum(entry.size_bytes for entry in self.nodes.values())

    def take(self, key: bytes) -> Entry:
        """Remove one entry and return it."""
        entry = self.nodes.pop(key)
        self.dirty.pop(key, None)
        if self.order is not None:
            self.order.remove(key)
        return entry

    def drop_all(self) -> list[tuple[bytes, Entry]]:
        """Remove all entries and return them, from the most recent to the eldest."""
        dropped = list(reversed(self.nodes.items()))
        self.nodes.clear()
        self.dirty.clear()
        self.order = None
        self.emptied += 1
        return dropped

    def between(self, first: bytes | None, last: bytes | None, last_inclusive: bool) -> list[bytes]:
        """Return the keys between two bounds, ascending; None is no bound."""
        if self.order is None:
            self.order = SortedList(self.nodes)
        inside: Iterator[bytes] = self.order.irange(first, last, (True, last_inclusive))
        return list(inside)

    def check(self) -> None:
        """Assert every invariant of this namespace; for tests."""
        assert list(self.dirty) == [key for key in self.dirty if self.nodes[key] is self.dirty[key]]
        assert {key for key, entry in self.nodes.items() if entry.dirty} == set(self.dirty)
        assert self.order is None or list(self.order) == sorted(self.nodes)


class Row(NamedTuple):
    """One event, in the columns of a recorded trace that this cache knows.

    `size_bytes` and `dirty` belong to the entry, `dirty` before the event; `bytes_after` is the sum of all entries
    after it. A FLUSH with the cause EVICT is about the entry that is being evicted, one with the cause FAILED about an
    entry that no listener took.
    """

    op: str
    cause: str | None
    bytes_after: int
    ns: str | None = None
    key: bytes | None = None
    size_bytes: int | None = None
    dirty: bool | None = None
    value: str | None = None


class DirtyKeyError(RuntimeError):
    """A clean write would overwrite a dirty entry and lose it."""


class NoListenerError(LookupError):
    """A namespace has dirty entries to hand over and no listener."""


class ClosedStoreError(RuntimeError):
    """An operation on a closed store."""


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
    """The number of entries and the sum of their sizes."""

    entries: int
    size_bytes: int


class CacheState:
    """The namespaces by name, the limit, the running total and the counters."""

    def __init__(self, max_size_bytes: int, on_row: Callable[[Row], None] | None = None) -> None:
        """Make an empty cache with a limit in bytes, and a callback that gets a row for each event.

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
        """Return the namespace of that name, and make it if it does not exist."""
        space = self._spaces.get(ns)
        if space is None:
            space = self._spaces[ns] = Namespace()
        return space

    def _report(self, op: str, ns: str, key: bytes, entry: Entry | None, cause: str | None = None) -> None:
        """Report one event, after those that are announced."""
        if self._on_row is None:
            return
        self.confirm()
        self._on_row(self._row(op, ns, key, entry, cause))

    def _note(self, op: str, ns: str | None = None, value: str | None = None) -> None:
        """Report one event that is not about an entry."""
        if self._on_row is not None:
            self.confirm()
            self._on_row(Row(op, None, self.size_bytes, ns, value=value))

    def _announce(self, op: str, ns: str, key: bytes, entry: Entry, cause: str | None = None) -> None:
        """Report one event before the next one, or when it is confirmed."""
        if self._on_row is not None:
            self._announced.append(self._row(op, ns, key, entry, cause))

    def confirm(self) -> None:
        """Report the announced events: a listener has begun to use what it was given."""
        if self._on_row is not None and self._announced:
            rows, self._announced = self._announced, []
            for row in rows:
                self._on_row(row)

    def _row(self, op: str, ns: str, key: bytes, entry: Entry | None, cause: str | None) -> Row:
        if entry is None:
            return Row(op, cause, self.size_bytes, ns, key)
        return Row(op, cause, self.size_bytes, ns, key, entry.size_bytes, entry.dirty)

    def listen(self, ns: str, listener: Listener) -> None:
        """Register the listener of a namespace; a call in progress does not change."""
        self._open(ns).listener = listener

    def has_listener(self, ns: str, listener: Listener) -> bool:
        """Return whether this is the listener of a namespace."""
        return ns in self._spaces and self._spaces[ns].listener == listener

    def usage(self, ns: str | None = None) -> Usage:
        """Return the entries and bytes of one namespace, or of all."""
        if ns is None:
            return Usage(sum(len(space.nodes) for space in self._spaces.values()), self.size_bytes)
        space = self._spaces.get(ns)
        return Usage(0, 0) if space is None else Usage(len(space.nodes), space.size_bytes)

    def thread_counters(self) -> ThreadCounters:
        """Return the counters of this cache."""
        return ThreadCounters(self.puts, self.gets, self.evicts, self.flushes)

    def counters(self, ns: str) -> NamespaceCounters:
        """Return the counters of one namespace; a namespace that does not exist has zeros."""
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
