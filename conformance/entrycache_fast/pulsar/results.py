"""The results of the calls of a broker cache, as named tuples, and the type of its values.

Who annotates a cache as `BrokerCache[bytes]` gets bytes from `get`, `get_range` and `read`, or None for an entry that
was inserted without a value. A bare `BrokerCache` takes and returns values of any type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar  # a type checker knows it without the package

    V = DefaultTypeVar("V", default=Any)
else:
    V = TypeVar("V")

D = TypeVar("D")
"""The type of the default of a lookup."""


class Position(NamedTuple):
    """The place of an entry in a managed ledger; ordered by ledger, then entry."""

    ledger: int
    entry: int


class Removal(NamedTuple):
    """The number and bytes of the entries that a call removed."""

    entries: int
    size_bytes: int


class Usage(NamedTuple):
    """The number and bytes of the entries that are cached."""

    entries: int
    size_bytes: int


class CacheView(NamedTuple):
    """One cache, with ascending positions."""

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
    """The whole state: caches with entries by ascending name, and live slots from head to tail."""

    now_nanos: int
    size_bytes: int
    caches: dict[str, CacheView]
    queue: tuple[SlotView, ...]
    tombstones: int


class StoredEntry(NamedTuple, Generic[V]):
    """One entry as storage returns it."""

    size_bytes: int
    value: V | None


class ReadResult(NamedTuple, Generic[V]):
    """The result of a read: the positions from the cache and those from storage, both ascending.

    `values` holds the values of `hits`, then those of `fills`.
    """

    hits: tuple[Position, ...]
    fills: tuple[Position, ...]
    values: list[V | None]


class Counters(NamedTuple):
    """The counters since the cache was made; hits and misses are those of reads."""

    inserted_entries: int
    evicted_entries: int
    eviction_cycles: int
    hit_entries: int
    hit_bytes: int
    miss_entries: int
    miss_bytes: int
    size_bytes: int
