"""Handing dirty entries to their listener: by a flush, or because the eldest is evicted. Nothing is lost."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_fast.kafka.entry import Entry, Handed, Listener
from entrycache_fast.kafka.namespace import Namespace
from entrycache_fast.kafka.state import CacheState, NoListenerError


class Call(NamedTuple):
    """One call of a listener: what it is given, and what was dirty before, to be dirty again if it throws."""

    ns: str
    space: Namespace
    listener: Listener
    handed: list[Handed]
    before: dict[bytes, Entry]
    evicted: bytes | None


class Delivery(CacheState):
    """Evictions and flushes. What a listener does meanwhile to this very cache is accounted as it happens."""

    def flush(self, ns: str) -> None:
        """Hand every dirty entry of a namespace to its listener, in one call, in the order of their writes.

        During the call they are in the cache and clean. A tombstone is dropped after it, unless its key was
        written again meanwhile. If the listener throws, its error comes through and they are dirty as before.

        Raises:
            NoListenerError: the namespace is there and has no listener.
        """
        self.flushes += 1
        space = self._spaces.get(ns)
        if space is not None:
            self._hand_over(ns, space, None)

    def evict(self, ns: str) -> None:
        """Evict the eldest entry of a namespace; `evicts` does not count it.

        A clean one is dropped. A dirty one is handed over first of all dirty entries; during the call it is
        out of the cache. If the listener throws, it is back in its place.

        Raises:
            NoListenerError: the eldest is dirty, and there is no listener.
        """
        space = self._spaces.get(ns)
        if space is not None and space.nodes:
            self._evict_eldest(ns, space)

    def _relieve(self, ns: str) -> None:
        """Evict from one namespace while the total is above the limit and that namespace holds entries."""
        while self.size_bytes > self.max_size_bytes:
            space = self._spaces.get(ns)
            if space is None or not space.nodes:
                return
            self._evict_eldest(ns, space)
            self.evicts += 1

    def _evict_eldest(self, ns: str, space: Namespace) -> None:
        key = next(iter(space.nodes))
        entry = space.nodes[key]
        if entry.dirty:
            self._hand_over(ns, space, key)
            return
        space.take(key)
        self.size_bytes -= entry.size_bytes
        if self._on_row is not None:
            self._tell("EVICT", ns, key, entry)

    def _hand_over(self, ns: str, space: Namespace, evicted: bytes | None) -> None:
        """Call the listener with every dirty entry, the evicted one first."""
        space.flushes += 1
        listener = space.listener
        handed = [Handed(key, entry) for key, entry in space.dirty.items() if key != evicted]
        if evicted is not None:
            handed.insert(0, Handed(evicted, space.dirty[evicted]))
        if listener is None:
            self._tell_failed(ns, space, handed)
            raise NoListenerError(f"namespace {ns!r} has no listener")
        if not handed:
            return
        self._confirm()
        before, space.dirty = space.dirty, {}
        space.hits += len(handed) - (evicted is not None)
        if evicted is not None:
            self._take(space, evicted)
            self._announce("EVICT", ns, evicted, before[evicted])
        for key, entry in handed:
            self._announce("FLUSH", ns, key, entry, "EVICT" if key == evicted else "CALL")
            entry.dirty = key == evicted
        self._call(Call(ns, space, listener, handed, before, evicted))
        self._confirm()
        for key, entry in handed:
            if entry.value is None:
                self._drop_tombstone(ns, key, entry)

    def _call(self, call: Call) -> None:
        """Call the listener; if it throws, what it did stays, and what it was given is dirty again."""
        emptied = call.space.emptied
        try:
            call.listener(call.handed)
        except BaseException:
            silent = bool(self._announced)
            self._announced = []
            if self._spaces.get(call.ns) is call.space and call.space.emptied == emptied:
                self._give_back(call, silent)
                self._tell_failed(call.ns, call.space, call.handed)
            raise

    def _give_back(self, call: Call, silent: bool) -> None:
        """Make those of the handed entries dirty again, in their order and place, that nothing has overtaken."""
        ns, space = call.ns, call.space
        written, space.dirty = space.dirty, {}
        for key, entry in call.before.items():
            if key == call.evicted and key not in space.nodes:
                self._put_back(space, key, entry)
                if not silent:
                    self._tell("PUT", ns, key, entry)
            if space.nodes.get(key) is entry:
                entry.dirty = True
                space.dirty[key] = entry
        space.dirty.update(written)

    def _put_back(self, space: Namespace, key: bytes, entry: Entry) -> None:
        """Make an evicted entry the eldest again."""
        space.nodes[key] = entry
        space.nodes.move_to_end(key, last=False)
        if space.order is not None:
            space.order.add(key)
        self.size_bytes += entry.size_bytes

    def _tell_failed(self, ns: str, space: Namespace, handed: list[Handed]) -> None:
        """Report what is still to be handed over because nobody took it."""
        for key, entry in handed:
            if space.nodes.get(key) is entry:
                self._tell("FLUSH", ns, key, entry, "FAILED")

    def _drop_tombstone(self, ns: str, key: bytes, entry: Entry) -> None:
        """Drop a tombstone that was handed over, if that very write is still there."""
        space = self._spaces.get(ns)
        if space is not None and space.nodes.get(key) is entry:
            self._take(space, key)
            self._tell("DELETE", ns, key, entry, "FLUSH")

    def _take(self, space: Namespace, key: bytes) -> None:
        """Take one entry out of its namespace and of the total."""
        self.size_bytes -= space.take(key).size_bytes
