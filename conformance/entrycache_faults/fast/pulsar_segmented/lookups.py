"""Faults about lookups and about what is told of the ring."""

from __future__ import annotations

from typing import Any, Final

from entrycache_fast.segmented import CachedEntry, Key, Segment, SegmentedCache


class RangeStopsEarly(SegmentedCache):
    """A range asks each segment once, the newest first, and ends before the last position where only that is left."""

    def get_range(self, cache: str, ledger: int, first: int, last: int) -> list[Any] | None:
        """Walk once."""
        values, at = [], first
        for back in range(len(self.ring)):
            entries = self.ring[(self.current - back) % len(self.ring)].entries
            while at <= last and (cache, ledger, at) in entries:
                values.append(entries[cache, ledger, at].value)
                at += 1
            if at == last:
                break
        return values if at > last >= first else None


class RangeInPart(SegmentedCache):
    """A range whose first entries are cached is answered as if it ended there."""

    def get_range(self, cache: str, ledger: int, first: int, last: int) -> list[Any] | None:
        """Make up for what is missing at its end."""
        values = super().get_range(cache, ledger, first, last)
        if values is None and last == first + 1 and self.contains(cache, ledger, first):
            return [self.get(cache, ledger, first)] * 2
        return values


class LooksInTheCurrent(SegmentedCache):
    """Only the current segment is asked for a single entry."""

    def contains(self, cache: str, ledger: int, entry: int) -> bool:
        """Whether the current segment holds it."""
        return (cache, ledger, entry) in self.ring[self.current].entries


class ReadIsNewest(SegmentedCache):
    """An entry that is read becomes the newest of its segment."""

    def get(self, cache: str, ledger: int, entry: int, default: Any = None) -> Any:
        """Move it to the end."""
        key = (cache, ledger, entry)
        if key in self.where:
            entries = self.where[key].entries
            entries[key] = entries.pop(key)
        return super().get(cache, ledger, entry, default)


class BytesOfTheFirst(SegmentedCache):
    """Once the ring has turned, an entry hands over what lies at the start of its segment."""

    def get(self, cache: str, ledger: int, entry: int, default: Any = None) -> Any:
        """Read from the start."""
        segment = self.where.get((cache, ledger, entry))
        if segment is None or self.current == 0:
            return super().get(cache, ledger, entry, default)
        return next(iter(segment.entries.values())).value


class UsageKeepsGrowing(SegmentedCache):
    """What a turn drops stays in the bytes in use."""

    def _clear(self, segment: Segment) -> None:
        used = self.size_bytes
        super()._clear(segment)
        self.size_bytes = used


class UsageOfOffsets(SegmentedCache):
    """What is in use is what the offsets say."""

    def _put(self, segment: Segment, key: Key, kept: CachedEntry) -> None:
        super()._put(segment, key, kept)
        self.size_bytes += self._advance(kept.size_bytes) - kept.size_bytes


LOOKUPS: Final[dict[str, type[SegmentedCache]]] = {
    "segmented-range-stops-early": RangeStopsEarly,
    "segmented-range-in-part": RangeInPart,
    "segmented-looks-in-the-current": LooksInTheCurrent,
    "segmented-read-is-newest": ReadIsNewest,
    "segmented-bytes-of-the-first": BytesOfTheFirst,
    "segmented-usage-keeps-growing": UsageKeepsGrowing,
    "segmented-usage-of-offsets": UsageOfOffsets,
}
"""By name."""
