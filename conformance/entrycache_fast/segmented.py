"""The shared broker cache of PIP-174: a ring of segments that is cleared one segment at a time.

    >>> from entrycache_fast.segmented import SegmentedCache
    >>> cache = SegmentedCache(max_size_bytes=200, segments=2)
    >>> cache.insert("orders", 1, 0, 60, value=b"hello")
    True
    >>> cache.get("orders", 1, 0)
    b'hello'

An insert and a lookup take the same time however much is cached; only a turn of the ring takes as long as the segment
that it clears has entries. Values are kept as they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

ALIGNMENT: Final = 64
MAX_SEGMENT_BYTES: Final = 2**30

Key = tuple[str, int, int]
"""Cache, ledger, entry."""


class CachedEntry(NamedTuple):
    """One cached entry: its size in bytes, and the value that it was given."""

    size_bytes: int
    value: Any


class Row(NamedTuple):
    """One event, in the columns of a recorded trace that this cache knows.

    `token`: the value that came with an insert, or that a lookup hands over. `segment`: the index of the segment that
    takes the entry, that it leaves, or that becomes current. `bound`: the byte of a segment at which the entry starts;
    of PASS_BEGIN the offset of the segment that has no room. `trigger_bytes`: what a segment has room for.
    `manager_bytes`: the sum of all offsets after the event.
    """

    op: str
    cause: str
    cache: str | None = None
    ledger_id: int | None = None
    entry_id: int | None = None
    size_bytes: int | None = None
    token: Any = None
    segment: int | None = None
    bound: int | None = None
    trigger_bytes: int | None = None
    manager_bytes: int | None = None


class Segment:
    """Its entries in the order of their inserts, and the byte up to which it is written."""

    __slots__ = ("entries", "offset")

    def __init__(self) -> None:
        self.entries: dict[Key, CachedEntry] = {}
        self.offset = 0


class SegmentedCache:
    """Entries of many managed ledgers under one limit of bytes; what was inserted first leaves first, by segments.

    `max_size_bytes` 0: nothing is cached. `segments`: at least 2; None: one for each GiB. `copies`: an entry takes its
    size rounded up to 64, as where bytes are copied into the segment; else its size. `on_row` is told every event.

    Raises:
        ValueError: a limit is negative, or there are fewer than two segments.
    """

    def __init__(
        self,
        max_size_bytes: int = 134_217_728,
        segments: int | None = None,
        copies: bool = True,
        on_row: Callable[[Row], None] | None = None,
    ) -> None:
        number = max(2, max_size_bytes // MAX_SEGMENT_BYTES) if segments is None else segments
        if max_size_bytes < 0 or number < 2:
            raise ValueError(f"max_size_bytes {max_size_bytes}, {number} segments; expected 0 or more, 2 or more")
        self.max_size_bytes = max_size_bytes
        self.segment_bytes = max_size_bytes // number
        self.copies = copies
        self.ring = [Segment() for _ in range(number)]
        self.current = 0
        self.where: dict[Key, Segment] = {}
        self.size_bytes = 0
        self.on_row = on_row

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Offer one entry; whether it was taken. What is cached already, or longer than a segment, is not.

        Raises:
            ValueError: the size is negative.
        """
        if size_bytes < 0:
            raise ValueError(f"size_bytes is {size_bytes}, expected 0 or more")
        key = (cache, ledger, entry)
        if not self.max_size_bytes:
            return self._left_out("SKIP", "DISABLED", key, size_bytes)
        if size_bytes > self.segment_bytes:
            return self._left_out("SKIP", "FULL", key, size_bytes)
        if key in self.where:
            return self._left_out("REJECT", "DUPLICATE", key, size_bytes)
        segment = self.ring[self.current]
        if not self._fits(segment, size_bytes):
            segment = self._turn(size_bytes)
        self._put(segment, key, CachedEntry(size_bytes, value))
        return True

    def get(self, cache: str, ledger: int, entry: int, default: Any = None) -> Any:
        """The value of one entry, or the default."""
        key = (cache, ledger, entry)
        segment = self.where.get(key)
        if segment is None:
            self._tell("MISS", "GET", key)
            return default
        return self._hand_over("GET", key, segment)

    def contains(self, cache: str, ledger: int, entry: int) -> bool:
        """Whether the entry is cached."""
        return (cache, ledger, entry) in self.where

    def get_range(self, cache: str, ledger: int, first: int, last: int) -> list[Any] | None:
        """The values of the entries from `first` to `last`, both included; None if one of them is missing."""
        self.asked(cache, (ledger, first), (ledger, last))
        if first > last or last - first >= len(self.where):
            return None
        keys = [(cache, ledger, entry) for entry in range(first, last + 1)]
        if not all(key in self.where for key in keys):
            return None
        return [self._hand_over("READ", key, self.where[key]) for key in keys]

    def asked(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Tell that a range is asked for; over two ledgers there is none."""
        self._tell("ASK", "FIRST", (cache, *first))
        self._tell("ASK", "LAST", (cache, *last))

    def __len__(self) -> int:
        """The number of entries."""
        return len(self.where)

    def __iter__(self) -> Iterator[Key]:
        """The keys, segment by segment."""
        return (key for segment in self.ring for key in segment.entries)

    def _fits(self, segment: Segment, size_bytes: int) -> bool:
        """Whether the entry ends within the segment."""
        return segment.offset + size_bytes <= self.segment_bytes

    def _turn(self, size_bytes: int) -> Segment:
        """The next segment, cleared; it is current from now on."""
        full, self.current = self.ring[self.current], (self.current + 1) % len(self.ring)
        segment = self.ring[self.current]
        told: dict[str, Any] = {"segment": self.current, "trigger_bytes": self.segment_bytes}
        self._tell("PASS_BEGIN", "TURN", size_bytes=size_bytes, bound=full.offset, **told)
        self._clear(segment)
        self._tell("PASS_END", "TURN", **told)
        return segment

    def _clear(self, segment: Segment) -> None:
        """Drop all entries of a segment."""
        start = 0
        for key, kept in segment.entries.items():
            del self.where[key]
            self.size_bytes -= kept.size_bytes
            self._tell("EVICT", "TURN", key, size_bytes=kept.size_bytes, segment=self.current, bound=start)
            start += self._advance(kept.size_bytes)
        segment.entries = {}
        segment.offset = 0

    def _put(self, segment: Segment, key: Key, kept: CachedEntry) -> None:
        """Write an entry behind the offset."""
        start = segment.offset
        segment.entries[key] = kept
        self.where[key] = segment
        segment.offset += self._advance(kept.size_bytes)
        self.size_bytes += kept.size_bytes
        told: dict[str, Any] = {"size_bytes": kept.size_bytes, "token": kept.value}
        self._tell("INSERT", "ADD", key, **told, segment=self.current, bound=start)

    def _advance(self, size_bytes: int) -> int:
        """The bytes that an entry takes."""
        return -(-size_bytes // ALIGNMENT) * ALIGNMENT if self.copies else size_bytes

    def _left_out(self, op: str, cause: str, key: Key, size_bytes: int) -> bool:
        """Tell of an entry that is not taken."""
        self._tell(op, cause, key, size_bytes=size_bytes)
        return False

    def _hand_over(self, cause: str, key: Key, segment: Segment) -> Any:
        """The value of an entry, which is told."""
        kept = segment.entries[key]
        self._tell("HIT", cause, key, size_bytes=kept.size_bytes, token=kept.value)
        return kept.value

    def _tell(self, op: str, cause: str, key: Key | tuple[()] = (), **columns: Any) -> None:
        if self.on_row is not None:
            row = Row(op, cause, *key, **columns)
            self.on_row(row._replace(manager_bytes=sum(each.offset for each in self.ring)))
