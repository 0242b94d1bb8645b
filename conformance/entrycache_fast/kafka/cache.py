"""The record cache of one stream thread: many namespaces under one limit of bytes.

`Delivery` hands dirty entries to the listener of their namespace: by a flush, or because the eldest entry is evicted.
Nothing is lost: if the listener raises, the entries are dirty again and in their places. `ThreadCache` adds writes,
lookups, ranges and the limit. A write that leaves the total above the limit evicts from its own namespace.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from entrycache_fast.kafka import state


class ListenerCall(NamedTuple):
    """One call of a listener: the entries that it gets, and those that are dirty again if it raises.

    `gone` holds those of them that have been evicted, in this order: first the one that brings the call about.
    """

    ns: str
    space: state.Namespace
    listener: state.Listener
    handed: list[state.DirtyEntry]
    before: dict[bytes, state.Entry]
    gone: dict[bytes, state.Entry]


class Delivery(state.CacheState):
    """Evictions and flushes; whatever a listener does to the cache meanwhile is accounted at once."""

    def __init__(self, max_size_bytes: int, on_row: Callable[[state.Row], None] | None = None) -> None:
        """Make an empty cache; see `CacheState`."""
        super().__init__(max_size_bytes, on_row)
        self._calls: list[ListenerCall] = []

    def flush(self, ns: str) -> None:
        """Hand every dirty entry of a namespace to its listener, in one call, in the order of their writes.

        During the call the entries are in the cache and clean. A tombstone is dropped after the call, unless its key
        was written again meanwhile. If the listener raises, the error propagates and the entries are dirty as before.

        Raises:
            NoListenerError: the namespace exists and has no listener.
        """
        self.flushes += 1
        space = self._spaces.get(ns)
        if space is not None:
            self._hand_over(ns, space, None)

    def evict(self, ns: str) -> None:
        """Evict the eldest entry of a namespace; `evicts` does not count it.

        A clean entry is dropped. A dirty entry is handed over before all other dirty entries, and is out of the cache
        during the call. If the listener raises, the entry is back in its place.

        Raises:
            NoListenerError: the eldest entry is dirty, and there is no listener.
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

    def _evict_eldest(self, ns: str, space: state.Namespace) -> None:
        key = next(iter(space.nodes))
        entry = space.nodes[key]
        if entry.dirty:
            self._hand_over(ns, space, key)
            return
        space.take(key)
        self.size_bytes -= entry.size_bytes
        for call in self._calls:
            if call.space is space and call.before.get(key) is entry:
                call.gone[key] = entry
        if self._on_row is not None:
            self._report("EVICT", ns, key, entry)

    def _hand_over(self, ns: str, space: state.Namespace, evicted: bytes | None) -> None:
        """Call the listener with every dirty entry, the evicted one first."""
        space.flushes += 1
        listener = space.listener
        handed = [state.DirtyEntry(key, entry) for key, entry in space.dirty.items() if key != evicted]
        if evicted is not None:
            handed.insert(0, state.DirtyEntry(evicted, space.dirty[evicted]))
        if listener is None:
            self._tell_failed(ns, space, handed)
            raise state.NoListenerError(f"namespace {ns!r} has no listener")
        if not handed:
            return
        self.confirm()
        before, space.dirty = space.dirty, {}
        space.hits += len(handed) - (evicted is not None)
        if evicted is not None:
            self._take(space, evicted)
            self._announce("EVICT", ns, evicted, before[evicted])
        for key, entry in handed:
            self._announce("FLUSH", ns, key, entry, "EVICT" if key == evicted else "CALL")
            entry.dirty = key == evicted
        gone = {} if evicted is None else {evicted: before[evicted]}
        self._call(ListenerCall(ns, space, listener, handed, before, gone))
        self.confirm()
        for key, entry in handed:
            if entry.value is None:
                self._drop_tombstone(ns, key, entry)

    def _call(self, call: ListenerCall) -> None:
        """Call the listener; if it raises, its own changes stay and its entries are dirty again."""
        emptied = call.space.emptied
        self._calls.append(call)
        try:
            call.listener(call.handed)
        except BaseException:
            silent = bool(self._announced)
            self._announced = []
            if self._spaces.get(call.ns) is call.space and call.space.emptied == emptied:
                self._give_back(call, silent)
                self._tell_failed(call.ns, call.space, call.handed)
            raise
        finally:
            self._calls.remove(call)

    def _give_back(self, call: ListenerCall, silent: bool) -> None:
        """Make the handed entries dirty again, in their order and place, unless a later write has overtaken them."""
        ns, space = call.ns, call.space
        written, space.dirty = space.dirty, {}
        for key, entry in reversed(call.gone.items()):
            self._put_back(space, key, entry)
            entry.dirty = True
            if not silent:
                self._report("PUT", ns, key, entry)
        for key, entry in call.before.items():
            if space.nodes.get(key) is entry:
                entry.dirty = True
                space.dirty[key] = entry
        space.dirty.update(written)

    def _put_back(self, space: state.Namespace, key: bytes, entry: state.Entry) -> None:
        """Make an evicted entry the eldest again, or put it in the place of a clean copy."""
        copy = space.nodes.get(key)
        space.nodes[key] = entry
        self.size_bytes += entry.size_bytes
        if copy is not None:
            self.size_bytes -= copy.size_bytes
            return
        space.nodes.move_to_end(key, last=False)
        if space.order is not None:
            space.order.add(key)

    def _forget(self, space: state.Namespace, key: bytes) -> None:
        """Note that a key was written or deleted: no call in progress brings an older entry of it back."""
        for call in self._calls:
            if call.space is space:
                call.gone.pop(key, None)

    def _tell_failed(self, ns: str, space: state.Namespace, handed: list[state.DirtyEntry]) -> None:
        """Report the entries that no listener took."""
        for key, entry in handed:
            if space.nodes.get(key) is entry:
                self._report("FLUSH", ns, key, entry, "FAILED")

    def _drop_tombstone(self, ns: str, key: bytes, entry: state.Entry) -> None:
        """Drop a tombstone that was handed over, if that very write is still cached."""
        space = self._spaces.get(ns)
        if space is not None and space.nodes.get(key) is entry:
            self._take(space, key)
            self._report("DELETE", ns, key, entry, "FLUSH")

    def _take(self, space: state.Namespace, key: bytes) -> None:
        """Remove one entry from its namespace and from the total."""
        self.size_bytes -= space.take(key).size_bytes


KeyValue = tuple[bytes, bytes | None]
"""A key and its value; None is a tombstone."""


class Write(NamedTuple):
    """One entry of a `put_all`; see `ThreadCache.put`."""

    key: bytes
    value: bytes | None
    dirty: bool = False
    topic: str = ""
    headers: Sequence[state.Header] = ()
    context: state.Context = state.NO_CONTEXT


def share_bytes(total_bytes: int, threads: int, global_thread: bool) -> int:
    """Return the bytes of one thread's cache: an equal share, the global thread counting as one; no threads: all."""
    return total_bytes // (threads + global_thread) if threads else total_bytes


class ThreadCache(Delivery):
    """A cache of keys and values in bytes for one thread; a listener may call it again.

    Each namespace keeps its writes in the order of use, under one limit for all. A write that leaves the total above
    `max_size_bytes` evicts the eldest entries of its own namespace. Dirty entries go to the listener of their
    namespace, all in one call, when the namespace is flushed or when a dirty entry is evicted:

        cache.listen("counts", lambda handed: store.update((key, entry.value) for key, entry in handed))
        cache.put("counts", b"apples", b"1", dirty=True)
        cache.flush("counts")

    It differs from the released Kafka Streams where a release loses something: an eviction or a flush that cannot be
    delivered leaves everything as it was, and the total is always exact. `on_row` gets one `Row` for each event; it
    must neither raise nor call the cache.
    """

    share = staticmethod(share_bytes)

    def put(
        self,
        ns: str,
        key: bytes,
        value: bytes | None,
        dirty: bool = False,
        topic: str = "",
        headers: Sequence[state.Header] = (),
        context: state.Context = state.NO_CONTEXT,
    ) -> None:
        """Write one entry, where the value None is a tombstone; the namespace pays for the overflow.

        Raises:
            DirtyKeyError: the write is clean and the entry is dirty; only `puts` has counted.
            NoListenerError: a dirty entry has to be evicted, and there is no listener; the write stays.
        """
        self.puts += 1
        space = self._spaces.get(ns)
        if space is None:
            space = self._open(ns)
        entry = state.Entry()
        entry.value = value
        entry.dirty = dirty
        entry.context = context
        size = len(key) + state.PLAIN_BYTES
        if value is not None:
            size += len(value)
        if topic or headers:
            size += state.extra_bytes(topic, headers)
        entry.size_bytes = size
        self._write(ns, space, key, entry)
        if self.size_bytes > self.max_size_bytes:
            self._relieve(ns)

    def _write(self, ns: str, space: state.Namespace, key: bytes, entry: state.Entry) -> None:
        """Enter an entry into its namespace and into the total."""
        nodes = space.nodes
        old = nodes.get(key)
        if old is not None:
            if old.dirty and not entry.dirty:
                raise state.DirtyKeyError(f"a clean write over the dirty key {key!r} of namespace {ns!r}")
            space.overwrites += 1
            self.size_bytes += entry.size_bytes - old.size_bytes
            nodes[key] = entry
            nodes.move_to_end(key)
        else:
            self.size_bytes += entry.size_bytes
            nodes[key] = entry
            if space.order is not None:
                space.order.add(key)
        if entry.dirty:
            space.dirty.pop(key, None)
            space.dirty[key] = entry
            if self._calls:
                self._forget(space, key)
        if self._on_row is not None:
            self._report("PUT", ns, key, entry)

    def put_all(self, ns: str, writes: Iterable[Write]) -> None:
        """Write entries one by one; the first error ends it, and earlier writes stay."""
        for write in writes:
            self.put(ns, *write)

    def put_if_absent(
        self,
        ns: str,
        key: bytes,
        value: bytes | None,
        dirty: bool = False,
        topic: str = "",
        headers: Sequence[state.Header] = (),
        context: state.Context = state.NO_CONTEXT,
    ) -> state.Entry | None:
        """Write one entry unless the key is cached, and return the former entry; the lookup counts, overflow is paid.

        Raises:
            NoListenerError: see `put`; `puts` has not counted.
        """
        space = self._open(ns)
        existing = self._look_up(ns, space, key)
        if existing is None:
            entry = state.Entry()
            entry.value = value
            entry.dirty = dirty
            entry.context = context
            entry.size_bytes = state.PLAIN_BYTES + len(key) + len(value or b"") + state.extra_bytes(topic, headers)
            self._write(ns, space, key, entry)
        self._relieve(ns)
        if existing is None:
            self.puts += 1
        return existing

    def get(self, ns: str, key: bytes | None) -> state.Entry | None:
        """Return the entry of a key, which becomes the most recent, or None for a miss."""
        self.gets += 1
        space = self._spaces.get(ns)
        if space is None or key is None:
            return None
        entry = space.nodes.get(key)
        if entry is None:
            space.misses += 1
        else:
            space.hits += 1
            space.nodes.move_to_end(key)
        if self._on_row is not None:
            self._report("MISS" if entry is None else "HIT", ns, key, entry, "GET")
        return entry

    def _look_up(self, ns: str, space: state.Namespace, key: bytes) -> state.Entry | None:
        """Look one key up and count that for the namespace."""
        entry = space.nodes.get(key)
        if entry is None:
            space.misses += 1
            self._report("MISS", ns, key, None, "GET")
            return None
        space.hits += 1
        space.nodes.move_to_end(key)
        self._report("HIT", ns, key, entry, "GET")
        return entry

    def delete(self, ns: str, key: bytes) -> state.Entry | None:
        """Remove one key and return its entry; no listener is called and nothing is counted."""
        space = self._spaces.get(ns)
        if space is None or key not in space.nodes:
            return None
        entry = space.nodes[key]
        self._take(space, key)
        self._forget(space, key)
        self._report("DELETE", ns, key, entry, "CALL")
        return entry

    def range(
        self, ns: str, first: bytes | None = None, last: bytes | None = None, last_inclusive: bool = True
    ) -> list[KeyValue]:
        """Return the keys between two bounds with their values, ascending; each is looked up. None is no bound."""
        return self._list(ns, self._between(ns, first, last, last_inclusive))

    def reverse_range(self, ns: str, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Return the same keys descending, both bounds included."""
        return self._list(ns, self._between(ns, first, last, True)[::-1])

    def _between(self, ns: str, first: bytes | None, last: bytes | None, last_inclusive: bool) -> list[bytes]:
        space = self._spaces.get(ns)
        return [] if space is None else space.between(first, last, last_inclusive)

    def _list(self, ns: str, keys: Iterable[bytes]) -> list[KeyValue]:
        """Look keys up in turn and return those with their values."""
        space = self._spaces.get(ns)
        if space is None:
            return []
        return [(key, entry.value) for key in keys if (entry := self._look_up(ns, space, key)) is not None]

    def peek(self, ns: str, key: bytes) -> state.Entry | None:
        """Return the entry of a key or None, without counting or using it."""
        space = self._spaces.get(ns)
        return None if space is None else space.nodes.get(key)

    def peek_keys(self, ns: str, first: bytes | None = None, last: bytes | None = None) -> list[bytes]:
        """Return the cached keys between two bounds, ascending, without counting or using them."""
        return self._between(ns, first, last, True)

    def clear(self, ns: str) -> None:
        """Drop the entries of a namespace without calling its listener; listener and counters stay."""
        space = self._spaces.get(ns)
        if space is not None:
            self._drop_all(ns, space, "CLEAR")

    def close(self, ns: str) -> None:
        """Drop a namespace with its entries, its listener and its counters, without calling the listener."""
        space = self._spaces.pop(ns, None)
        if space is not None:
            self._drop_all(ns, space, "CLOSE")
            self._note("CACHE_CLOSE", ns)

    def _drop_all(self, ns: str, space: state.Namespace, cause: str) -> None:
        size_bytes = space.size_bytes
        dropped = space.drop_all()
        self.size_bytes -= size_bytes
        if self._on_row is not None:
            for key, entry in dropped:
                self._report("REMOVE", ns, key, entry, cause)

    def resize(self, max_size_bytes: int) -> None:
        """Set the limit; a smaller one evicts the eldest entry of each namespace in turn, by name, and counts these.

        Raises:
            ValueError: the limit is negative.
            NoListenerError: see `put`; the new limit holds.
        """
        if max_size_bytes < 0:
            raise ValueError(f"max_size_bytes is {max_size_bytes}, expected 0 or more")
        shrinks = max_size_bytes < self.max_size_bytes
        self.max_size_bytes = max_size_bytes
        self._note("CONFIG", value=f'{{"max_size_bytes": {max_size_bytes}}}')
        while shrinks and self.size_bytes > self.max_size_bytes and any(map(_has_entries, self._spaces.values())):
            for ns in sorted(self._spaces):
                if self.size_bytes > self.max_size_bytes:
                    self.evict(ns)
                    self.evicts += 1


def _has_entries(space: state.Namespace) -> bool:
    return bool(space.nodes)
