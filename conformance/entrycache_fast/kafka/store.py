"""Caching stores of keys, of windows and of sessions: an underlying store with a namespace of a cache in front of it.

Writes go to the cache. The store is the listener of its namespace: what the cache hands over is written to the
underlying store first, all of it, and is then forwarded downstream. So whatever is done downstream meets an underlying
store that holds the last write of every key.

Views merge the cache with the underlying store, in either direction. An `OpenView` is read step by step while others
write. A closed store has handed everything over and answers nobody any more.

A window is a key with a start, a session a key with a start and an end. They expire: the stream time of their store is
the greatest time of its writes, and what is as old as that less the retention, or older, is gone from every read. It
leaves the underlying store at once, and the cache without being handed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import NamedTuple

from sortedcontainers import SortedList

from entrycache_fast.kafka.cache import KeyValue, ThreadCache
from entrycache_fast.kafka.state import ClosedStoreError, DirtyEntry, Entry

Forward = Callable[[bytes, bytes | None], None]
"""A function that gets a key and its value downstream; None: the key was deleted."""

ForwardWithOld = Callable[[bytes, bytes | None, bytes | None], None]
"""A function that also gets the value that it got before for the key; None: there was none."""


def increment(prefix: bytes) -> bytes | None:
    """Return the least key above all keys with a prefix; None if every greater key has it."""
    counted = prefix.rstrip(b"\xff")
    return counted[:-1] + bytes([counted[-1] + 1]) if counted else None


class OpenView:
    """A view that is read step by step: the keys of the opening, each with its value of the moment when it comes.

    A key that was deleted meanwhile does not come, nor does one that is new. Reading it uses no cached key.
    """

    def __init__(self, store: CachingStore, keys: list[bytes]) -> None:
        """Go through these keys of a store."""
        self.store = store
        self._keys = iter(keys)

    def next(self) -> KeyValue | None:
        """Return the next key with its value, or None at the end and ever after."""
        self.store.require_open()
        for key in self._keys:
            value = self.store.peek(key)
            if value is not None:
                return key, value
        return None


class UnderlyingStore:
    """One store under the name of its namespace: how it takes entries, hands them on, and ends.

    A write that a later, already forwarded write has overtaken is not forwarded. A tombstone of a key that the
    underlying store does not have goes nowhere. If `forward` raises, the error propagates, what was written to the
    underlying store stays there, and the next flush forwards every entry of the call again.
    """

    def __init__(
        self,
        cache: ThreadCache,
        name: str,
        underlying: MutableMapping[bytes, bytes],
        forward: Forward | None = None,
        forward_with_old: ForwardWithOld | None = None,
    ) -> None:
        """Put the cache in front of `underlying`, under the namespace `name`, and become the listener of that.

        `forward` gets each key that is written to the underlying store, with its value. It may call the store again.
        So may `forward_with_old`, which also gets the value before; give one of the two.
        """
        self.cache = cache
        self.name = name
        self.underlying = underlying
        self.old_values = forward_with_old is not None
        self._last = dict(underlying) if forward_with_old else {}
        self._forward = self._with_old(forward_with_old) if forward_with_old else forward
        self._waiting: list[dict[bytes, Entry]] = []
        self.owed: set[bytes] = set()
        self.is_open = True
        cache.listen(name, self._receive)

    def _with_old(self, forward: ForwardWithOld) -> Forward:
        """Return a forward that hands over the last value of a key too."""

        def forward_both(key: bytes, value: bytes | None) -> None:
            old = self._last.pop(key, None)
            if value is not None:
                self._last[key] = value
            forward(key, value, old)

        return forward_both

    def require_open(self) -> None:
        """Check that the store is open.

        Raises:
            ClosedStoreError: it is closed.
        """
        if not self.is_open:
            raise ClosedStoreError(f"the store {self.name!r} is closed")

    def peek(self, key: bytes) -> bytes | None:
        """Return the last write of a key without counting or using anything."""
        entry = self.cache.peek(self.name, key)
        return self.underlying.get(key) if entry is None else entry.value

    def count(self) -> int:
        """Return the number of keys in the underlying store."""
        self.require_open()
        return len(self.underlying)

    def clear(self) -> None:
        """Drop everything cached, dirty or not."""
        self.require_open()
        self.cache.clear(self.name)

    def close(self) -> None:
        """Flush, then drop the namespace and what lies below it. The rest happens even if the flush fails.

        If a forward of the flush closes the store, the namespace may belong to another one by then, and stays.
        """
        was_open = self.is_open
        try:
            self.cache.flush(self.name)
        finally:
            if self.is_open or not was_open:
                self.cache.close(self.name)
                self.underlying.clear()
                self._last.clear()
                self.owed.clear()
                self.is_open = False

    def flush(self) -> None:
        """Write all dirty entries to the underlying store and forward them."""
        self.require_open()
        self.cache.flush(self.name)

    def _receive(self, handed: list[DirtyEntry]) -> None:
        """Take the entries that the cache hands over."""
        known: dict[bytes, Entry] = {}
        for key, entry in handed:
            if entry.value is not None:
                self.underlying[key] = entry.value
            elif self.underlying.pop(key, None) is None and key not in self.owed:
                continue
            known[key] = entry
        if self._forward is None:
            return
        deletions = [key for key, entry in known.items() if entry.value is None]
        self._waiting.append(known)
        try:
            self._forward_entries(known)
        except BaseException:
            if self.cache.has_listener(self.name, self._receive):
                self.owed.update(deletions)
            raise
        finally:
            self._waiting.pop()

    def _forward_entries(self, known: dict[bytes, Entry]) -> None:
        """Forward the known entries; an overtaken one is gone from them by then."""
        for key, entry in list(known.items()):
            if known.get(key) is entry:
                for waiting in self._waiting:
                    waiting.pop(key, None)
                assert self._forward is not None
                self.owed.discard(key)
                self.cache.confirm()
                self._forward(key, entry.value)


class CachingStore(UnderlyingStore):
    """A caching store of keys."""

    def put(self, key: bytes, value: bytes | None) -> None:
        """Write one value; None deletes the key."""
        self.require_open()
        self.cache.put(self.name, key, value, dirty=True)

    def get(self, key: bytes) -> bytes | None:
        """Return the last write of a key; a value of the underlying store is cached, clean."""
        self.require_open()
        cached = self.cache.get(self.name, key)
        if cached is not None:
            return cached.value
        value = self.underlying.get(key)
        if value is not None:
            self.cache.put(self.name, key, value)
        return value

    def delete(self, key: bytes) -> bytes | None:
        """Delete one key and return its value; the value is not cached, so that nothing comes in between."""
        self.require_open()
        cached = self.cache.get(self.name, key)
        value = self.underlying.get(key) if cached is None else cached.value
        self.put(key, None)
        return value

    def range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Return cache and underlying store as one view, bounds included; the cache wins and its tombstones hide."""
        self.require_open()
        return self._merge(self.cache.range(self.name, first, last), first, last)

    def reverse_range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Return the view of a range in descending order."""
        self.require_open()
        return self._merge(self.cache.reverse_range(self.name, first, last), first, last)[::-1]

    def prefix_scan(self, prefix: bytes) -> list[KeyValue]:
        """Return the view of the keys that begin with a prefix."""
        self.require_open()
        after = increment(prefix)
        cached = self.cache.range(self.name, prefix, after, False)
        return [entry for entry in self._merge(cached, prefix, after) if entry[0] != after]

    def _merge(self, cached: list[KeyValue], first: bytes | None, last: bytes | None) -> list[KeyValue]:
        """Return cached entries and those of the underlying store, ascending."""
        view: dict[bytes, bytes | None] = {
            key: value
            for key, value in self.underlying.items()
            if (first is None or first <= key) and (last is None or key <= last)
        }
        view.update(cached)
        return [(key, view[key]) for key in sorted(view) if view[key] is not None]

    def read_committed(
        self, first: bytes | None = None, last: bytes | None = None, backward: bool = False, prefix: bytes | None = None
    ) -> list[KeyValue]:
        """Return what the underlying store holds in a range or with a prefix; the cache is not asked."""
        self.require_open()
        stored = sorted((key for key in self.underlying if key.startswith(prefix or b"")), reverse=backward)
        inside = (key for key in stored if (first is None or first <= key) and (last is None or key <= last))
        return [(key, self.underlying[key]) for key in inside]

    def open_view(
        self, first: bytes | None = None, last: bytes | None = None, backward: bool = False, prefix: bytes | None = None
    ) -> OpenView:
        """Open a view of a range, bounds included, or of a prefix, to be read step by step."""
        self.require_open()
        if prefix is not None:
            first, last = prefix, increment(prefix)
        cached = set(self.cache.peek_keys(self.name, first, last))
        keys = {key for key in self.underlying if (first is None or first <= key) and (last is None or key <= last)}
        visible = [key for key in keys | cached if prefix is None or key.startswith(prefix)]
        ordered = sorted((key for key in visible if self.peek(key) is not None), reverse=backward)
        return OpenView(self, ordered)

    def put_if_absent(self, key: bytes, value: bytes | None) -> bytes | None:
        """Write one value unless the key has one, and return the value that it had."""
        there = self.get(key)
        if there is None:
            self.put(key, value)
        return there

    def put_all(self, entries: Iterable[KeyValue]) -> None:
        """Write values one by one; the first error ends it."""
        self.require_open()
        for key, value in entries:
            self.put(key, value)

    def query(self, key: bytes, skip_cache: bool = False) -> bytes | None:
        """Return the last write of a key and cache nothing; or ask the underlying store alone."""
        self.require_open()
        cached = None if skip_cache else self.cache.get(self.name, key)
        return self.underlying.get(key) if cached is None else cached.value


class Window(NamedTuple):
    """A window or a session of a key, in milliseconds. A window ends where it starts."""

    key: bytes
    start: int
    end: int


ForwardWindow = Callable[[Window, bytes | None], None]
"""A function that gets a window and its value downstream; None: it was deleted."""

ForwardWindowWithOld = Callable[[Window, bytes | None, bytes | None], None]
"""A function that also gets the value that it got before for the window; None: there was none."""


class OpenWindows:
    """A view of windows or sessions that is read step by step; see `OpenView`."""

    def __init__(self, store: TimedStore, windows: list[Window], of_one_key: bool) -> None:
        """Go through these windows of a store."""
        self.store = store
        self.of_one_key = of_one_key
        self._windows = iter(windows)

    def next(self) -> tuple[Window, bytes] | None:
        """Return the next window with its value, or None at the end and ever after."""
        self.store.require_open()
        for window in self._windows:
            value = self.store.peek_window(window)
            if value is not None:
                return window, value
        return None


class TimedStore(UnderlyingStore):
    """The common part of stores of windows and of sessions. Their time is the end: of a window, its start.

    The underlying store has packed keys (`pack`, `unpack`). Views are ordered by time and key. With a segment interval
    above 1 they are ordered by the segment of the time, key and time. `_by_time` and `_by_key` hold every window that
    may have a value; a view drops those from them that are nowhere.
    """

    def __init__(
        self,
        cache: ThreadCache,
        name: str,
        underlying: MutableMapping[bytes, bytes],
        retention_ms: int,
        segment_interval_ms: int = 1,
        forward: ForwardWindow | None = None,
        forward_with_old: ForwardWindowWithOld | None = None,
    ) -> None:
        """Put the cache in front of `underlying`, whose windows are no older than `retention_ms`; see `CachingStore`.

        Raises:
            ValueError: the retention or the interval is not positive.
        """
        if retention_ms < 1 or segment_interval_ms < 1:
            raise ValueError(f"expected 1 ms or more, got {retention_ms} of retention, {segment_interval_ms} a segment")
        self.retention_ms = retention_ms
        self.segment_interval_ms = segment_interval_ms
        self.stream_time = -1
        self._by_time: SortedList = SortedList()
        self._by_key: dict[bytes, SortedList] = {}
        super().__init__(cache, name, underlying, *self._packed(forward, forward_with_old))
        for window in map(self.unpack, underlying):
            self._index(window)
            self.stream_time = max(self.stream_time, window.end)
        self._expire()

    def _packed(
        self, forward: ForwardWindow | None, forward_with_old: ForwardWindowWithOld | None
    ) -> tuple[Forward | None, ForwardWithOld | None]:
        """Return the same functions for packed keys."""

        def plain(key: bytes, value: bytes | None) -> None:
            assert forward is not None
            forward(self.unpack(key), value)

        def with_old(key: bytes, value: bytes | None, old: bytes | None) -> None:
            assert forward_with_old is not None
            forward_with_old(self.unpack(key), value, old)

        return plain if forward else None, with_old if forward_with_old else None

    def pack(self, window: Window) -> bytes:
        """Return the key of a window in the cache and in the underlying store."""
        raise NotImplementedError

    def unpack(self, key: bytes) -> Window:
        """Return the window of a packed key."""
        raise NotImplementedError

    def is_expired(self, time: int) -> bool:
        """Return whether a window of this time is as old as the stream time less the retention, or older."""
        return time <= self.stream_time - self.retention_ms

    def peek_window(self, window: Window) -> bytes | None:
        """Return the last write of a window without counting or using anything."""
        return None if self.is_expired(window.end) else self.peek(self.pack(window))

    def list_underlying(self) -> list[tuple[Window, bytes]]:
        """Return the windows of the underlying store, in the order of a view of all keys."""
        self.require_open()
        below = sorted(((self.unpack(key), value) for key, value in self.underlying.items()), key=_by_time)
        return self._view(below, False, False)

    def _write(self, window: Window, value: bytes | None) -> None:
        """Write one window, unless it has expired."""
        self.require_open()
        if window.end > self.stream_time:
            self.stream_time = window.end
            self._expire()
        if not self.is_expired(window.end):
            self._index(window)
            self.cache.put(self.name, self.pack(window), value, dirty=True)

    def _read(self, window: Window) -> bytes | None:
        """Return the last write of a window and cache nothing; a cached one becomes the most recent."""
        self.require_open()
        key = self.pack(window)
        cached = self.cache.get(self.name, key)
        if self.is_expired(window.end):
            return None
        return self.underlying.get(key) if cached is None else cached.value

    def _index(self, window: Window) -> None:
        """Note a window that may have a value."""
        key, start, end = window
        of_key = self._by_key.setdefault(key, SortedList())
        if (end, start) not in of_key:
            of_key.add((end, start))
            self._by_time.add((end, key, start))

    def _forget(self, window: Window) -> None:
        """Drop a window without a value from the indexes."""
        key, start, end = window
        self._by_time.remove((end, key, start))
        of_key = self._by_key[key]
        of_key.remove((end, start))
        if not of_key:
            del self._by_key[key]

    def _expire(self) -> None:
        """Drop what has expired from the underlying store and from what waits to be forwarded."""
        while self._by_time and self.is_expired(self._by_time[0][0]):
            end, key, start = self._by_time[0]
            window = Window(key, start, end)
            packed = self.pack(window)
            self._forget(window)
            self.underlying.pop(packed, None)
            self._last.pop(packed, None)
            self.owed.discard(packed)
            for waiting in self._waiting:
                waiting.pop(packed, None)

    def _receive(self, handed: list[DirtyEntry]) -> None:
        """Take the entries that the cache hands over, without the expired ones."""
        super()._receive([entry for entry in handed if not self.is_expired(self.unpack(entry.key).end)])

    def _find(
        self,
        key: bytes | None,
        first: bytes | None,
        last: bytes | None,
        times: tuple[int, int | None],
        starts_by: int | None,
    ) -> list[tuple[Window, bytes]]:
        """Return the windows of one key, or of a range of keys, that have a value and a time in a range, by time."""
        entries, without = [], []
        for window in self._between(key, times):
            inside = (first is None or first <= window.key) and (last is None or window.key <= last)
            if inside and (starts_by is None or window.start <= starts_by):
                value = self.peek_window(window)
                if value is not None:
                    entries.append((window, value))
                elif not self._is_known(self.pack(window)):
                    without.append(window)
        for window in without:
            self._forget(window)
        return entries

    def _is_known(self, key: bytes) -> bool:
        """Return whether a packed key is cached, or in the underlying store."""
        return key in self.underlying or self.cache.peek(self.name, key) is not None

    def _between(self, key: bytes | None, times: tuple[int, int | None]) -> Iterator[Window]:
        """Return the windows of one key, or of all, with a time in a range."""
        low, high = (times[0],), None if times[1] is None else (times[1] + 1,)
        if key is None:
            return (Window(of, start, end) for end, of, start in self._by_time.irange(low, high))
        return (Window(key, start, end) for end, start in self._by_key.get(key, SortedList()).irange(low, high))

    def _view(
        self, entries: list[tuple[Window, bytes]], of_one_key: bool, backward: bool
    ) -> list[tuple[Window, bytes]]:
        """Return windows in the order of the store, or in reverse."""
        if self.segment_interval_ms > 1 and not of_one_key:
            entries.sort(key=lambda entry: (entry[0].end // self.segment_interval_ms, entry[0].key, entry[0].end))
        return entries[::-1] if backward else entries


def _by_time(entry: tuple[Window, bytes]) -> tuple[int, bytes, int]:
    """Return the place of a window by its time and key."""
    key, start, end = entry[0]
    return end, key, start


class WindowStore(TimedStore):
    """A caching store of windows."""

    def pack(self, window: Window) -> bytes:
        """Return the segment, the key, the start and a number, as the cache counts them."""
        segment = (window.start // self.segment_interval_ms).to_bytes(8)
        return b"".join((segment, window.key, window.start.to_bytes(8), bytes(4)))

    def unpack(self, key: bytes) -> Window:
        """Return the window of a packed key."""
        start = int.from_bytes(key[-12:-4])
        return Window(key[8:-12], start, start)

    def put(self, key: bytes, start: int, value: bytes | None) -> None:
        """Write one window; None deletes it. One that has expired is not written."""
        self._write(Window(key, start, start), value)

    def get(self, key: bytes, start: int) -> bytes | None:
        """Return the last write of one window."""
        return self._read(Window(key, start, start))

    def fetch(
        self,
        key: bytes | None = None,
        first: bytes | None = None,
        last: bytes | None = None,
        time_from: int = 0,
        time_to: int | None = None,
        backward: bool = False,
    ) -> list[tuple[Window, bytes]]:
        """Return the windows of one key, or of a range of keys, that start in a range of times; bounds are included."""
        self.require_open()
        entries = self._find(key, first, last, (time_from, time_to), None)
        return self._view(entries, key is not None, backward)

    def open_view(
        self,
        key: bytes | None = None,
        first: bytes | None = None,
        last: bytes | None = None,
        time_from: int = 0,
        time_to: int | None = None,
        backward: bool = False,
    ) -> OpenWindows:
        """Open a view that is read step by step; see `fetch`."""
        entries = self.fetch(key, first, last, time_from, time_to, backward)
        return OpenWindows(self, [window for window, _ in entries], key is not None)


class SessionStore(TimedStore):
    """A caching store of sessions."""

    def pack(self, window: Window) -> bytes:
        """Return the segment, the key, the end and the start, as the cache counts them."""
        segment = (window.end // self.segment_interval_ms).to_bytes(8)
        return b"".join((segment, window.key, window.end.to_bytes(8), window.start.to_bytes(8)))

    def unpack(self, key: bytes) -> Window:
        """Return the session of a packed key."""
        return Window(key[8:-16], int.from_bytes(key[-8:]), int.from_bytes(key[-16:-8]))

    @staticmethod
    def _session(key: bytes, start: int, end: int) -> Window:
        if start > end:
            raise ValueError(f"a session ends at {end}, before its start {start}")
        return Window(key, start, end)

    def put(self, key: bytes, start: int, end: int, value: bytes | None) -> None:
        """Write one session; None deletes it. One that has expired is not written.

        Raises:
            ValueError: it ends before it starts.
        """
        self._write(self._session(key, start, end), value)

    def remove(self, key: bytes, start: int, end: int) -> None:
        """Delete one session; see `put`."""
        self.put(key, start, end, None)

    def get(self, key: bytes, start: int, end: int) -> bytes | None:
        """Return the last write of one session; see `put`."""
        return self._read(self._session(key, start, end))

    def find(
        self,
        key: bytes | None = None,
        first: bytes | None = None,
        last: bytes | None = None,
        earliest_end: int = 0,
        latest_start: int | None = None,
        backward: bool = False,
    ) -> list[tuple[Window, bytes]]:
        """Return the sessions of one key, or of a range of keys, that end and start in a range of times."""
        self.require_open()
        entries = self._find(key, first, last, (earliest_end, None), latest_start)
        return self._view(entries, key is not None, backward)

    def open_view(
        self,
        key: bytes | None = None,
        first: bytes | None = None,
        last: bytes | None = None,
        earliest_end: int = 0,
        latest_start: int | None = None,
        backward: bool = False,
    ) -> OpenWindows:
        """Open a view that is read step by step; see `find`."""
        entries = self.find(key, first, last, earliest_end, latest_start, backward)
        return OpenWindows(self, [window for window, _ in entries], key is not None)
