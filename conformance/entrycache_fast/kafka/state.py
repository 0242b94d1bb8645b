"""What a `ThreadCache` holds, its counters, its errors, and how it tells what happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from entrycache_fast.kafka.entry import Entry, Listener
from entrycache_fast.kafka.namespace import Namespace
from entrycache_fast.kafka.row import Row


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
