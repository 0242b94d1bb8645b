"""The shared broker cache that PIP-174 proposed: a ring of segments that is cleared one segment at a time.

    >>> from entrycache_fast.segmented import SegmentedCache
    >>> cache = SegmentedCache(max_size_bytes=200, segments=2)
    >>> cache.insert("orders", 1, 0, 60, value=b"hello")
    True
    >>> cache.get("orders", 1, 0)
    b'hello'

An insert and a lookup take the same time however much is cached. A turn of the ring takes time for each entry of the
segment that it clears. The cache keeps values as they are.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

ALIGNMENT: Final = 64
MAX_SEGMENT_BYTES: Final = 2**30

Key = tuple[str, int, int]
"""Cache, ledger, entry."""


class CachedEntry(NamedTuple):
    """One cached entry: its size in bytes and its value."""

    size_bytes: int
    value: Any


class Row(NamedTuple):
    """One event, in the columns of a recorded trace that this cache knows.

    `token` is the value of an insert or of a lookup. `segment` is the index of the segment that takes the entry, that
    the entry leaves, or that becomes current. `bound` is the byte of a segment at which the entry starts; in PASS_BEGIN
    it is the offset of the segment that has no room. `trigger_bytes` is the size of a segment. `manager_bytes` is the
    sum of all offsets after the event.
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
    """One segment: its entries in the order of their inserts, and the byte up to which it is written."""

    __slots__ = ("entries", "offset")

    def __init__(self) -> None:
        self.entries: dict[Key, CachedEntry] = {}
        self.offset = 0


class SegmentedCache:
    """A cache of many managed ledgers under one limit of bytes; the oldest entries leave first, by segments.

    With `max_size_bytes` 0 nothing is cached. There are at least 2 `segments`; None is one for each GiB. With `copies`
    an entry takes its size rounded up to 64, as if its bytes were copied into the segment; without, its size.
    `on_row` gets every event.

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
        """Offer one entry, and return whether it was taken; an entry that is cached or longer than a segment is not.

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
        """Return the value of one entry, or the default."""
        key = (cache, ledger, entry)
        segment = self.where.get(key)
        if segment is None:
            self._report("MISS", "GET", key)
            return default
        return self._hand_over("GET", key, segment)

    def contains(self, cache: str, ledger: int, entry: int) -> bool:
        """Return whether an entry is cached."""
        return (cache, ledger, entry) in self.where

    def get_range(self, cache: str, ledger: int, first: int, last: int) -> list[Any] | None:
        """Return the values of the entries from `first` to `last`, both included, or None if one is missing."""
        self.report_query(cache, (ledger, first), (ledger, last))
        if first > last or last - first >= len(self.where):
            return None
        keys = [(cache, ledger, entry) for entry in range(first, last + 1)]
        if not all(key in self.where for key in keys):
            return None
        return [self._hand_over("READ", key, self.where[key]) for key in keys]

    def report_query(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Report that a range is asked for; there is no range over two ledgers."""
        self._report("ASK", "FIRST", (cache, *first))
        self._report("ASK", "LAST", (cache, *last))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.where)

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys, segment by segment."""
        return (key for segment in self.ring for key in segment.entries)

    def _fits(self, segment: Segment, size_bytes: int) -> bool:
        """Return whether an entry ends within the segment."""
        return segment.offset + size_bytes <= self.segment_bytes

    def _turn(self, size_bytes: int) -> Segment:
        """Clear the next segment, make it the current one and return it."""
        full, self.current = self.ring[self.current], (self.current + 1) % len(self.ring)
        segment = self.ring[self.current]
        columns: dict[str, Any] = {"segment": self.current, "trigger_bytes": self.segment_bytes}
        self._report("PASS_BEGIN", "TURN", size_bytes=size_bytes, bound=full.offset, **columns)
        self._clear(segment)
        self._report("PASS_END", "TURN", **columns)
        return segment

    def _clear(self, segment: Segment) -> None:
        """Drop all entries of a segment."""
        start = 0
        for key, kept in segment.entries.items():
            del self.where[key]
            self.size_bytes -= kept.size_bytes
            self._report("EVICT", "TURN", key, size_bytes=kept.size_bytes, segment=self.current, bound=start)
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
        columns: dict[str, Any] = {"size_bytes": kept.size_bytes, "token": kept.value}
        self._report("INSERT", "ADD", key, **columns, segment=self.current, bound=start)

    def _advance(self, size_bytes: int) -> int:
        """Return the bytes that an entry takes in its segment."""
        return -(-size_bytes // ALIGNMENT) * ALIGNMENT if self.copies else size_bytes

    def _left_out(self, op: str, cause: str, key: Key, size_bytes: int) -> bool:
        """Report an entry that is not taken."""
        self._report(op, cause, key, size_bytes=size_bytes)
        return False

    def _hand_over(self, cause: str, key: Key, segment: Segment) -> Any:
        """Return the value of an entry and report that."""
        kept = segment.entries[key]
        self._report("HIT", cause, key, size_bytes=kept.size_bytes, token=kept.value)
        return kept.value

    def _report(self, op: str, cause: str, key: Key | tuple[()] = (), **columns: Any) -> None:
        if self.on_row is not None:
            row = Row(op, cause, *key, **columns)
            self.on_row(row._replace(manager_bytes=sum(each.offset for each in self.ring)))
