"""A caching store: an underlying store with a namespace of a cache in front of it.

Writes go to the cache. The store is the listener of its namespace: what the cache hands over is written to the
underlying store first, all of it, and is then forwarded downstream. So whatever is done downstream meets an underlying
store that holds the last write of every key.

Views merge the cache with the underlying store, in either direction. An `OpenView` is read step by step while others
write. A closed store has handed everything over and answers nobody any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping

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


class CachingStore:
    """One store under the name of its namespace.

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
        self._forward = self._with_old(forward_with_old, dict(underlying)) if forward_with_old else forward
        self._waiting: list[dict[bytes, Entry]] = []
        self.owed: set[bytes] = set()
        self.is_open = True
        cache.listen(name, self._receive)

    @staticmethod
    def _with_old(forward: ForwardWithOld, last: dict[bytes, bytes]) -> Forward:
        """Return a forward that hands over the last value of a key too."""

        def forward_both(key: bytes, value: bytes | None) -> None:
            old = last.pop(key, None)
            if value is not None:
                last[key] = value
            forward(key, value, old)

        return forward_both

    def require_open(self) -> None:
        """Check that the store is open.

        Raises:
            ClosedStoreError: it is closed.
        """
        if not self.is_open:
            raise ClosedStoreError(f"the store {self.name!r} is closed")

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

    def peek(self, key: bytes) -> bytes | None:
        """Return the last write of a key without counting or using anything."""
        entry = self.cache.peek(self.name, key)
        return self.underlying.get(key) if entry is None else entry.value

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

    def count(self) -> int:
        """Return the number of keys in the underlying store."""
        self.require_open()
        return len(self.underlying)

    def query(self, key: bytes, skip_cache: bool = False) -> bytes | None:
        """Return the last write of a key and cache nothing; or ask the underlying store alone."""
        self.require_open()
        cached = None if skip_cache else self.cache.get(self.name, key)
        return self.underlying.get(key) if cached is None else cached.value

    def clear(self) -> None:
        """Drop everything cached, dirty or not."""
        self.require_open()
        self.cache.clear(self.name)

    def close(self) -> None:
        """Flush, then drop the namespace and what lies below it. The rest happens even if the flush fails."""
        try:
            self.cache.flush(self.name)
        finally:
            self.cache.close(self.name)
            self.underlying.clear()
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
