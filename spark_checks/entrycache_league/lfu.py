"""LFU: the entry that was read least often since it came goes first, among equals the one that has been so the longest.

Counts are those of the present stay: an entry that has left and comes again begins anew.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from entrycache_league.expected import tidy
from entrycache_league.requests import READ
from entrycache_league.totals import LOOKED, count_evicted
from entrycache_trace.compiled import Array, compiled


@compiled
def lfu(kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held: Array, totals: Array) -> None:
    """Replay; the heap has an item for each count that an entry had, and those that no longer hold are passed over."""
    cached = np.zeros(len(sizes), np.bool_)
    uses = np.zeros(len(sizes), np.int64)
    since = np.zeros(len(sizes), np.int64)
    heap = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    used = 0
    live = 0
    for i in range(len(numbers)):
        entry = np.int64(numbers[i])
        is_read = kinds[i] == READ
        comes = kinds[i] <= READ and not cached[entry] and sizes[entry] <= capacity
        while comes and used + sizes[entry] > capacity:
            count, when, victim = heappop(heap)
            if cached[victim] and when == since[victim] and count == uses[victim]:
                cached[victim] = False
                live -= 1
                used -= sizes[victim]
                count_evicted(totals, sizes[victim])
            else:
                totals[LOOKED] += 1
        if comes or (is_read and cached[entry]):
            hits[i] = not comes
            uses[entry] = 0 if comes else uses[entry] + 1
            since[entry] = i
            used += sizes[entry] if comes else 0
            live += 1 if comes else 0
            cached[entry] = True
            heappush(heap, (uses[entry], since[entry], entry))
        if len(heap) > 4 * live + 64:
            tidy(heap, cached, since, uses)
        held[i] = used
