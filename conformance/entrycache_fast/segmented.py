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

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

ALIGNMENT: Final = 64
SEGMENT_BYTES_MOST: Final = 2**30

Key = tuple[str, int, int]
"""Cache, ledger, entry."""


class Kept(NamedTuple):
    """One cached entry: its size in bytes, and the value that it was given."""

    size_bytes: int
    value: Any


class Segment:
    """Its entries in the order of their inserts, and the byte up to which it is written."""

    __slots__ = ("entries", "offset")

    def __init__(self) -> None:
        self.entries: dict[Key, Kept] = {}
        self.offset = 0


class SegmentedCache:
    """Entries of many managed ledgers under one limit of bytes; what was inserted first leaves first, by segments.

    `max_size_bytes` 0: nothing is cached. `segments`: at least 2; None: one for each GiB. `copies`: an entry takes its
    size rounded up to 64, as where bytes are copied into the segment; else its size.

    Raises:
        ValueError: a limit is negative, or there are fewer than two segments.
    """

    def __init__(self, max_size_bytes: int = 134_217_728, segments: int | None = None, copies: bool = True) -> None:
        number = max(2, max_size_bytes // SEGMENT_BYTES_MOST) if segments is None else segments
        if max_size_bytes < 0 or number < 2:
            raise ValueError(f"max_size_bytes {max_size_bytes}, {number} segments; expected 0 or more, 2 or more")
        self.max_size_bytes = max_size_bytes
        self.segment_bytes = max_size_bytes // number
        self.copies = copies
        self.ring = [Segment() for _ in range(number)]
        self.current = 0
        self.where: dict[Key, Segment] = {}
        self.size_bytes = 0

    def insert(self, cache: str, ledger: int, entry: int, size_bytes: int, value: Any = None) -> bool:
        """Offer one entry; whether it was taken. What is cached already, or longer than a segment, is not.

        Raises:
            ValueError: the size is negative.
        """
        if size_bytes < 0:
            raise ValueError(f"size_bytes is {size_bytes}, expected 0 or more")
        key = (cache, ledger, entry)
        if not self.max_size_bytes or size_bytes > self.segment_bytes or key in self.where:
            return False
        segment = self.ring[self.current]
        if not self._fits(segment, size_bytes):
            segment = self._turn(size_bytes)
        self._put(segment, key, Kept(size_bytes, value))
        return True

    def get(self, cache: str, ledger: int, entry: int, default: Any = None) -> Any:
        """The value of one entry, or the default."""
        key = (cache, ledger, entry)
        segment = self.where.get(key)
        return default if segment is None else segment.entries[key].value

    def contains(self, cache: str, ledger: int, entry: int) -> bool:
        """Whether the entry is cached."""
        return (cache, ledger, entry) in self.where

    def get_range(self, cache: str, ledger: int, first: int, last: int) -> list[Any] | None:
        """The values of the entries from `first` to `last`, both included; None if one of them is missing."""
        if first > last or last - first >= len(self.where):
            return None
        keys = [(cache, ledger, entry) for entry in range(first, last + 1)]
        if not all(key in self.where for key in keys):
            return None
        return [self.where[key].entries[key].value for key in keys]

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
        self.current = (self.current + 1) % len(self.ring)
        segment = self.ring[self.current]
        self._clear(segment)
        return segment

    def _clear(self, segment: Segment) -> None:
        """Drop all entries of a segment."""
        for key, kept in segment.entries.items():
            del self.where[key]
            self.size_bytes -= kept.size_bytes
        segment.entries = {}
        segment.offset = 0

    def _put(self, segment: Segment, key: Key, kept: Kept) -> None:
        """Write an entry behind the offset."""
        segment.entries[key] = kept
        self.where[key] = segment
        segment.offset += self._advance(kept.size_bytes)
        self.size_bytes += kept.size_bytes

    def _advance(self, size_bytes: int) -> int:
        """The bytes that an entry takes."""
        return -(-size_bytes // ALIGNMENT) * ALIGNMENT if self.copies else size_bytes
