"""The cache of one namespace: its entries in the order of use, its dirty keys in the order of their writes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from sortedcontainers import SortedList

from entrycache_fast.kafka.entry import Entry, Listener


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
