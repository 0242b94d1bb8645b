"""A caching store: an underlying store with a namespace of a cache in front of it.

Writes go to the cache. The store is the listener of its namespace: what the cache hands over is written to the
underlying store first, all of it, and is then forwarded downstream. So whatever is done downstream meets an underlying
store that holds the last write of every key.
"""

from collections.abc import Callable, MutableMapping

from entrycache_fast.kafka.cache import KeyValue, ThreadCache
from entrycache_fast.kafka.state import DirtyEntry, Entry

Forward = Callable[[bytes, bytes | None], None]
"""A function that gets a key and its value downstream; None: the key was deleted."""


class CachingStore:
    """One store under the name of its namespace.

    A write that a later, already forwarded write has overtaken is not forwarded. A tombstone of a key that the
    underlying store does not have goes nowhere.
    """

    def __init__(
        self,
        cache: ThreadCache,
        name: str,
        underlying: MutableMapping[bytes, bytes],
        forward: Forward | None = None,
    ) -> None:
        """Put the cache in front of `underlying`, under the namespace `name`, and become the listener of that.

        `forward` gets each key that is written to the underlying store, with its value. It may call the store again.
        """
        self.cache = cache
        self.name = name
        self.underlying = underlying
        self._forward = forward
        self._waiting: list[dict[bytes, Entry]] = []
        cache.listen(name, self._receive)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Write one value; None deletes the key."""
        self.cache.put(self.name, key, value, dirty=True)

    def get(self, key: bytes) -> bytes | None:
        """Return the last write of a key; a value of the underlying store is cached, clean."""
        cached = self.cache.get(self.name, key)
        if cached is not None:
            return cached.value
        value = self.underlying.get(key)
        if value is not None:
            self.cache.put(self.name, key, value)
        return value

    def delete(self, key: bytes) -> bytes | None:
        """Delete one key and return its value; the value is not cached, so that nothing comes in between."""
        cached = self.cache.get(self.name, key)
        value = self.underlying.get(key) if cached is None else cached.value
        self.put(key, None)
        return value

    def range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Return cache and underlying store as one view, bounds included; the cache wins and its tombstones hide."""
        view: dict[bytes, bytes | None] = {
            key: value
            for key, value in self.underlying.items()
            if (first is None or first <= key) and (last is None or key <= last)
        }
        view.update(self.cache.range(self.name, first, last))
        return [(key, view[key]) for key in sorted(view) if view[key] is not None]

    def flush(self) -> None:
        """Write all dirty entries to the underlying store and forward them."""
        self.cache.flush(self.name)

    def _receive(self, handed: list[DirtyEntry]) -> None:
        """Take the entries that the cache hands over."""
        known: dict[bytes, Entry] = {}
        for key, entry in handed:
            if entry.value is not None:
                self.underlying[key] = entry.value
            elif self.underlying.pop(key, None) is None:
                continue
            known[key] = entry
        if self._forward is None:
            return
        self._waiting.append(known)
        try:
            self._forward_entries(known)
        finally:
            self._waiting.pop()

    def _forward_entries(self, known: dict[bytes, Entry]) -> None:
        """Forward the known entries; an overtaken one is gone from them by then."""
        for key, entry in list(known.items()):
            if known.get(key) is entry:
                for waiting in self._waiting:
                    waiting.pop(key, None)
                assert self._forward is not None
                self._forward(key, entry.value)
