"""What the calls of a `BrokerCache` answer."""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """The place of an entry in a managed ledger; ordered by ledger, then entry."""

    ledger: int
    entry: int


class Removed(NamedTuple):
    """Number and bytes of the entries that a call removed."""

    entries: int
    size_bytes: int


class Usage(NamedTuple):
    """Number and bytes of the entries that are cached."""

    entries: int
    size_bytes: int


class CacheView(NamedTuple):
    """One cache; positions ascend."""

    size_bytes: int
    entries: tuple[Position, ...]


class SlotView(NamedTuple):
    """One live slot of the removal queue."""

    cache: str
    position: Position
    size_bytes: int
    age_nanos: int
    requeues: int
    accessed: bool
    expected_reads: int | None


class Snapshot(NamedTuple):
    """The whole state: caches that hold entries by ascending name, live slots from head to tail."""

    now_nanos: int
    size_bytes: int
    caches: dict[str, CacheView]
    queue: tuple[SlotView, ...]
    tombstones: int


class Stored(NamedTuple):
    """One entry as storage gives it."""

    size_bytes: int
    value: object


class Served(NamedTuple):
    """What a read handed over: positions served from the cache, positions read from storage, both ascending.

    `values` are those of `hits`, then of `fills`.
    """

    hits: tuple[Position, ...]
    fills: tuple[Position, ...]
    values: list[object]


class Counters(NamedTuple):
    """What has happened since the cache was made; hits and misses are those of reads."""

    inserted_entries: int
    evicted_entries: int
    eviction_cycles: int
    hit_entries: int
    hit_bytes: int
    miss_entries: int
    miss_bytes: int
    size_bytes: int
