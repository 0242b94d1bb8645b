"""Expected-read priority: the entry that expects the fewest reads goes first, among equals the one that came first.

PIP-430, alternative 2 (a priority queue by expected reads, then time), without a time to live.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from entrycache_league.requests import EXPECT, READ
from entrycache_league.totals import LOOKED, count_evicted
from entrycache_trace.compiled import Array, compiled

Item = tuple[np.int64, np.int64, np.int64]
"""Reads expected, when the entry came, the entry."""


@compiled
def expected_reads(
    kinds: Array, numbers: Array, counts: Array, sizes: Array, capacity: int, hits: Array, held: Array, totals: Array
) -> None:
    """Replay; the heap has an item for each count that an entry had, and those that no longer hold are passed over."""
    cached = np.zeros(len(sizes), np.bool_)
    expects = np.zeros(len(sizes), np.int64)
    came = np.zeros(len(sizes), np.int64)
    heap = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    used = 0
    live = 0
    for i in range(len(numbers)):
        entry = np.int64(numbers[i])
        kind = kinds[i]
        if kind <= EXPECT and cached[entry]:
            hits[i] = kind == READ
            if kind == READ:
                expects[entry] = max(0, expects[entry] - 1)
            elif kind == EXPECT:
                expects[entry] += 1
            if kind >= READ:
                heappush(heap, (expects[entry], came[entry], entry))
        elif kind <= READ and sizes[entry] <= capacity:
            cached[entry] = True
            live += 1
            came[entry] = i
            expects[entry] = max(0, counts[i] - (kind == READ))
            used += sizes[entry]
            heappush(heap, (expects[entry], came[entry], entry))
            while used > capacity:
                count, since, victim = heappop(heap)
                if cached[victim] and since == came[victim] and count == expects[victim]:
                    cached[victim] = False
                    live -= 1
                    used -= sizes[victim]
                    count_evicted(totals, sizes[victim])
                else:
                    totals[LOOKED] += 1
        if len(heap) > 4 * live + 64:
            tidy(heap, cached, came, expects)
        held[i] = used


@compiled
def tidy(heap: list[Item], cached: Array, came: Array, expects: Array) -> None:
    """Drop what no longer holds, and what stands there twice."""
    heap.sort()
    kept = 0
    for item in heap:
        count, since, entry = item
        holds = cached[entry] and since == came[entry] and count == expects[entry]
        if holds and (kept == 0 or heap[kept - 1] != item):
            heap[kept] = item
            kept += 1
    del heap[kept:]
