"""A file of a user of the public door; mypy --strict must accept it, and report each deliberate mistake."""

import sys
from collections.abc import Mapping
from typing import Any

from entrycache import Refuse, Skip, Subject, check, serve
from entrycache_fast import BrokerCache, Position, Removal
from entrycache_fast.kafka import CachingStore, Entry, ThreadCache


class Mine(Subject):
    """The fast cache as another project would test it."""

    system = "pulsar-pip430"
    settings = ("max_size_bytes",)
    limits = {"max_steps": 100}  # noqa: RUF012 -- as users write it

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.cache = BrokerCache(max_size_bytes=config["max_size_bytes"])

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


def mistakes() -> None:
    """Make mistakes: a type checker reports each line, otherwise its ignore is unused."""
    check(Mine({}))  # type: ignore[arg-type]
    check(Mine, levels=3)  # type: ignore[arg-type]
    serve(str)  # type: ignore[arg-type]
    BrokerCache(max_size_bytes="1")  # type: ignore[arg-type]
    BrokerCache().evict(b"1")  # type: ignore[arg-type]
    ThreadCache(1).put("a", "k", b"v")  # type: ignore[arg-type]


class Wrong(Subject):
    """A class whose attributes have wrong types."""

    system = 3  # type: ignore[assignment]
    payload = "yes"  # type: ignore[assignment]


if __name__ == "__main__":
    sys.exit(serve(Mine))
