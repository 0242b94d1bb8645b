"""What kernels count while they replay."""

from __future__ import annotations

from typing import Final

from entrycache_trace.compiled import Array, compiled

LOOKED: Final = 0
"""Entries, dead slots and, of legacy, caches that were looked at to find what leaves."""
EVICTED: Final = 1
EVICTED_BYTES: Final = 2
PEAK: Final = 3
"""The most bytes held at any moment, also within a request; 0: none but those after requests."""
OVERSHOOT: Final = 4
"""The most bytes that one pass freed beyond what it had to."""
KINDS: Final = 5


@compiled
def count_evicted(totals: Array, size_bytes: int) -> None:
    """One entry was looked at and evicted."""
    totals[LOOKED] += 1
    totals[EVICTED] += 1
    totals[EVICTED_BYTES] += size_bytes
