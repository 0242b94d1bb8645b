"""A file of a user of the public door; mypy --strict must accept it, and report each deliberate mistake."""

import sys
from collections.abc import Mapping
from typing import Any

from entrycache import Refuse, Skip, StoredEntry, Subject, check, serve
from entrycache_fast import BrokerCache, Position, Removal
from entrycache_fast.kafka import CachingStore, Entry, ThreadCache


class Mine(Subject):
    """The fast cache as another project would test it."""

    system = "pulsar-pip430"
    settings = ("max_size_bytes",)
    limits = {"max_steps": 100}  # noqa: RUF012 -- as users write it

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.cache = BrokerCache(max_size_bytes=config.get("max_size_bytes", 134_217_728))

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> dict[str, bool]:
        if size < 0:
            raise Refuse
        return {"inserted": self.cache.insert(cache, *pos, size, expected_reads=expected_reads)}

    def exists(self, cache: str, pos: tuple[int, int]) -> dict[str, bool]:
        if len(cache) > 1_000:
            raise Skip("names are short here")
        return {"exists": self.cache.exists(cache, *pos)}

    def clear(self, cache: str) -> dict[str, int]:
        removed: Removal = self.cache.clear(cache)
        return {"entries": removed.entries, "bytes": removed.size_bytes}


def positions(cache: BrokerCache) -> list[Position]:
    """Return the positions of a range."""
    return [position for position, _ in cache.get_range("a", (1, 0), (1, 9))]


def records(cache: ThreadCache) -> bytes | None:
    """Return the value that a store reads."""
    underlying: dict[bytes, bytes] = {}
    entry: Entry | None = cache.get("a", b"k")
    return CachingStore(cache, "a", underlying).get(b"k") if entry is None else entry.value


def read_payload(cache: BrokerCache[bytes]) -> bytes | None:
    """Return a value, whose type is that of the cache."""
    cache.insert("a", 1, 0, 5, value=b"hello")
    payload: bytes | None = cache.get("a", 1, 0)
    either: bytes | int | None = cache.get("a", 1, 1, default=0)
    values: list[bytes | None] = cache.read("a", (1, 0), (1, 9), expected_reads=1).values
    return payload if either == 0 else values[0]


def untyped() -> BrokerCache[bytes]:
    """Return a cache whose values are bytes; a bare cache takes any value."""
    bare = BrokerCache()
    bare.insert("a", 1, 0, 5, value=3)
    return BrokerCache(storage=lambda cache, ledger, entry: StoredEntry(5, b"hello"))


def mistakes() -> None:
    """Make mistakes: a type checker reports each line, otherwise its ignore is unused."""
    check(Mine({}))  # type: ignore[arg-type]
    check(Mine, levels=3)  # type: ignore[arg-type]
    serve(str)  # type: ignore[arg-type]
    BrokerCache(max_size_bytes="1")  # type: ignore[arg-type]
    BrokerCache().evict(b"1")  # type: ignore[arg-type]
    untyped().insert("a", 1, 0, 5, value="hello")  # type: ignore[arg-type]
    text: str | None = untyped().get("a", 1, 0)  # type: ignore[assignment]
    print(text)
    ThreadCache(1).put("a", "k", b"v")  # type: ignore[arg-type]


class Wrong(Subject):
    """A class whose attributes have wrong types."""

    system = 3  # type: ignore[assignment]
    payload = "yes"  # type: ignore[assignment]


if __name__ == "__main__":
    sys.exit(serve(Mine))
