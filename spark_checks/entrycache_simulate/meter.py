"""What is measured of one simulated broker, from the rows that the cache reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from entrycache_fast import Row

POINTS: Final = 400
"""Points of a curve over time."""


@dataclass(slots=True)
class Meter:
    """Counters of one run; bytes are accounted bytes."""

    first_ns: int
    last_ns: int
    hits: int = 0
    misses: int = 0
    entries: int = 0
    evicted_by_time: int = 0
    evicted_by_size: int = 0
    evicted_bytes: int = 0
    requeues: int = 0
    size_passes: int = 0
    peak_bytes: int = 0
    area: int = 0
    """Bytes times nanoseconds so far."""
    overshoot_bytes: int = 0
    """The most that one size pass freed beyond what it had to."""
    curve: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The most bytes in each part of the time, and those at its end."""
    _bytes: int = 0
    _since_ns: int = 0

    def __post_init__(self) -> None:
        self._since_ns = self.first_ns

    def row(self, row: Row) -> None:
        """Count one event."""
        op = row.op
        if op == "HIT":
            self.hits += 1
        elif op == "MISS":
            self.misses += 1
        elif op == "EVICT":
            self.evicted_by_time += row.cause == "TIME"
            self.evicted_by_size += row.cause == "SIZE"
            self.evicted_bytes += row.size_bytes or 0
        elif op == "REQUEUE":
            self.requeues += 1
        elif op == "PASS_BEGIN" and row.cause == "SIZE":
            self.size_passes += 1
        elif op == "PASS_END" and row.cause == "SIZE":
            self.overshoot_bytes = max(self.overshoot_bytes, -(row.bound or 0))
        if row.bytes_after != self._bytes:
            self._move(row.ts_ns, row.bytes_after)

    def _move(self, now_ns: int, size_bytes: int) -> None:
        self.area += self._bytes * (now_ns - self._since_ns)
        self._since_ns = now_ns
        self._bytes = size_bytes
        self.peak_bytes = max(self.peak_bytes, size_bytes)
        part = self._part(now_ns)
        self.curve[part] = (max(self.curve.get(part, (0, 0))[0], size_bytes), size_bytes)

    def _part(self, now_ns: int) -> int:
        return (now_ns - self.first_ns) * POINTS // max(1, self.last_ns - self.first_ns + 1)

    def close(self) -> None:
        """The trace has ended."""
        self._move(max(self.last_ns, self._since_ns), self._bytes)

    def over_time(self) -> list[int]:
        """The most bytes in each of `POINTS` parts of the time."""
        shown: list[int] = []
        before = 0
        for part in range(POINTS):
            most, before = self.curve.get(part, (before, before))
            shown.append(most)
        return shown
