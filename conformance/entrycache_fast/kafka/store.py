"""A caching store: a store below, and a namespace of a cache in front of it."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

from entrycache_fast.kafka.cache import KeyValue, ThreadCache
from entrycache_fast.kafka.state import DirtyEntry, Entry

Forward = Callable[[bytes, bytes | None], None]
"""What is told downstream: a key, and its value; None: it was deleted."""


class CachingStore:
    """One store under the name of its namespace.

    What it is handed goes to the store below, all of it, before anything is passed on downstream: so whatever is
    done downstream meets a store that holds the last write of every key. A write that was overtaken by a later
    one, passed on meanwhile, is not passed on; a tombstone of a key that does not lie below goes nowhere.
    """

    def __init__(
        self,
        cache: ThreadCache,
        name: str,
        below: MutableMapping[bytes, bytes],
        forward: Forward | None = None,
    ) -> None:
        """Put the cache in front of `below`, under the namespace `name`, whose listener the store becomes.

        `forward` is told each key that is written below, with its value; it may call the store again.
        """
        self.cache = cache
        self.name = name
        self.below = below
        self._forward = forward
        self._waiting: list[dict[bytes, Entry]] = []
        cache.listen(name, self._receive)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Write one value; None: delete the key."""
        self.cache.put(self.name, key, value, dirty=True)

    def get(self, key: bytes) -> bytes | None:
        """The last write of a key. What is read from the store below is cached, clean."""
        cached = self.cache.get(self.name, key)
        if cached is not None:
            return cached.value
        value = self.below.get(key)
        if value is not None:
            self.cache.put(self.name, key, value)
        return value

    def delete(self, key: bytes) -> bytes | None:
        """Delete one key, and give what it was; that is not cached, so that nothing comes in between."""
        cached = self.cache.get(self.name, key)
        value = self.below.get(key) if cached is None else cached.value
        self.put(key, None)
        return value

    def range(self, first: bytes | None = None, last: bytes | None = None) -> list[KeyValue]:
        """Cache and store below as one view, both bounds included: the cache wins, its tombstones hide."""
        view: dict[bytes, bytes | None] = {
            key: value
            for key, value in self.below.items()
            if (first is None or first <= key) and (last is None or key <= last)
        }
        view.update(self.cache.range(self.name, first, last))
        return [(key, view[key]) for key in sorted(view) if view[key] is not None]

    def flush(self) -> None:
        """Write everything that is dirty to the store below, and pass it on."""
        self.cache.flush(self.name)

    def _receive(self, handed: list[DirtyEntry]) -> None:
        """Take what the cache hands over."""
        known: dict[bytes, Entry] = {}
        for key, entry in handed:
            if entry.value is not None:
                self.below[key] = entry.value
            elif self.below.pop(key, None) is None:
                continue
            known[key] = entry
        if self._forward is None:
            return
        self._waiting.append(known)
        try:
            self._pass_on(known)
        finally:
            self._waiting.pop()

    def _pass_on(self, known: dict[bytes, Entry]) -> None:
        """Pass on what is known downstream; what was overtaken is gone from it by then."""
        for key, entry in list(known.items()):
            if known.get(key) is entry:
                for waiting in self._waiting:
                    waiting.pop(key, None)
                assert self._forward is not None
                self._forward(key, entry.value)
