"""Reads, holds and the references that they keep."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from entrycache_conformance.systems.pulsar_pip430.fast_cache import open_cache
from entrycache_fast import BrokerCache, Counters, Position, ReadResult, Removal, StoredEntry
from entrycache_fast.pulsar.store import Entry
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.vocabulary import CacheName, HoldName
from entrycache_reference.vocabulary import Position as At


@pytest.fixture
def requests() -> list[tuple[str, int, int]]:
    return []


@pytest.fixture
def cache(requests: list[tuple[str, int, int]]) -> BrokerCache:
    def storage(cache: str, ledger: int, entry: int) -> StoredEntry:
        requests.append((cache, ledger, entry))
        return StoredEntry(entry + 1, f"stored {entry}")

    return BrokerCache(max_size_bytes=1_000, clock=lambda: 0, storage=storage)


def test_a_read_asks_storage_for_the_gaps_only(cache: BrokerCache, requests: list[tuple[str, int, int]]) -> None:
    cache.insert("orders", 1, 1, 10, value="cached 1")
    served = cache.read("orders", (1, 0), (1, 2), expected_reads=2)
    assert served == ReadResult(
        (Position(1, 1),), (Position(1, 0), Position(1, 2)), ["cached 1", "stored 0", "stored 2"]
    )
    assert requests == [("orders", 1, 0), ("orders", 1, 2)]
    assert [(slot.position, slot.size_bytes, slot.expected_reads) for slot in cache.observe().queue] == [
        ((1, 1), 10, None),
        ((1, 0), 1, 1),
        ((1, 2), 3, 1),
    ]
    assert cache.metrics() == Counters(3, 0, 0, 1, 10, 2, 4, 14)
    assert cache.read("orders", (1, 0), (1, 2), expected_reads=2).fills == ()


def test_an_entry_that_nobody_will_read_again_is_not_cached(cache: BrokerCache) -> None:
    assert cache.read("orders", (1, 0), (1, 1), expected_reads=0).fills == ((1, 0), (1, 1))
    assert cache.read_one("orders", 1, 5).values == ["stored 5"]
    assert cache.usage().entries == 0


def test_a_release_counts_for_the_entry_that_was_read(cache: BrokerCache) -> None:
    cache.read("orders", (1, 0), (1, 1), expected_reads=3, hold="first")
    cache.remove_range("orders", (1, 0), (1, 0), last_inclusive=True)
    cache.insert("orders", 1, 0, 1, expected_reads=9)
    assert cache.release("first") == 2
    assert [slot.expected_reads for slot in cache.observe().queue] == [2, 9]
    with pytest.raises(ValueError, match="first"):
        cache.release("first")


def test_hits_survive_the_evictions_of_their_own_read() -> None:
    cache = BrokerCache(max_size_bytes=100, watermark=0.1, extend_recently_accessed=False, clock=lambda: 0)
    cache.insert("orders", 1, 0, 60, value="kept")
    served = cache.read("orders", (1, 0), (1, 1), expected_reads=1, hold="h")
    assert served == ReadResult((Position(1, 0),), (Position(1, 1),), ["kept", None])
    assert cache.usage() == (0, 0)
    assert cache.release("h") == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda cache: cache.read("new", (1, 0), (2, 0), 1),
        lambda cache: cache.read("new", (1, 1), (1, 0), 1),
        lambda cache: cache.read("new", (1, 1), (1, 1), 1, hold="open"),
        lambda cache: cache.read_one("new", 1, 1, hold="open"),
        lambda cache: cache.release("closed"),
        lambda cache: cache.configure(watermark=0.5, ttl_nanos=-1),
        lambda cache: cache.configure(watermark=1.5),
        lambda cache: cache.configure(max_size_bytes=0),
    ],
)
def test_a_wrong_argument_changes_nothing(cache: BrokerCache, wrong: Callable[[BrokerCache], object]) -> None:
    cache.read("orders", (1, 0), (1, 1), 1, hold="open")
    before = (cache.observe(), cache.metrics(), cache.names, cache.holds, cache._settings())
    with pytest.raises(ValueError, match=r"\w"):
        wrong(cache)
    assert (cache.observe(), cache.metrics(), cache.names, cache.holds, cache._settings()) == before


def test_an_error_of_storage_changes_nothing() -> None:
    def storage(cache: str, ledger: int, entry: int) -> StoredEntry:
        if entry == 2:
            raise OSError("no such entry")
        return StoredEntry(1, None)

    cache = BrokerCache(clock=lambda: 0, storage=storage)
    cache.insert("orders", 1, 0, 10)
    before = (cache.observe(), cache.metrics())
    with pytest.raises(OSError, match="no such entry"):
        cache.read("orders", (1, 0), (1, 2), 1, hold="h")
    assert (cache.observe(), cache.metrics(), cache.holds) == (*before, ())


class Hoarder(BrokerCache):
    """A cache that keeps the payloads of entries that a call removes."""

    def _remove(self, entries: list[Entry], cause: str) -> Removal:
        values = [entry.value for entry in entries]
        done = super()._remove(entries, cause)
        for entry, value in zip(entries, values, strict=True):
            entry.value = value
        return done


class Forgetful(BrokerCache):
    """A cache that keeps released holds."""

    def release(self, hold: str) -> int:
        kept = self._holds[hold]
        done = super().release(hold)
        self._holds[f"{hold} again"] = kept
        return done

    @property
    def holds(self) -> tuple[str, ...]:
        return ()


RUN = (
    ops.Insert(CacheName("a"), At(1, 0), 10, token=7),
    ops.Insert(CacheName("a"), At(1, 0), 10, token=8),
    ops.Read(CacheName("a"), At(1, 0), At(1, 3), 1, HoldName("h")),
    ops.Release(HoldName("h")),
    ops.Clear(CacheName("a")),
)


@pytest.mark.parametrize(("cache_type", "leaked"), [(BrokerCache, 0), (Hoarder, 4), (Forgetful, 4)])
def test_leaked_references_are_counted(cache_type: type[BrokerCache], leaked: int) -> None:
    instance = open_cache(Config(), cache_type)
    for op in RUN:
        instance(op)
    assert instance.leaked() == leaked


def test_open_holds_and_cached_entries_are_no_leak() -> None:
    instance = open_cache(Config())
    for op in RUN[:3]:
        instance(op)
    assert instance.leaked() == 0
