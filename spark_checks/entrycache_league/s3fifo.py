"""S3-FIFO: a small queue that what is not read again leaves soon, a main queue, and a ghost queue.

Yang and others, SOSP 2023, algorithm 1, in bytes: the small queue has a tenth of the capacity, the ghost queue
remembers entries of as many bytes as the main queue has. An entry counts its reads up to 3. One read more than once
moves from the small to the main queue, its count cleared.
"""

from __future__ import annotations

import numpy as np

from entrycache_league.links import NONE, NOWHERE, move, new_links
from entrycache_league.requests import READ
from entrycache_league.totals import LOOKED, count_evicted
from entrycache_trace.compiled import Array, compiled

SMALL, MAIN, GHOST = 1, 2, 3
MOST_READS = 3


@compiled
def s3fifo(kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held: Array, totals: Array) -> None:
    """Replay; hits, bytes and totals are written into the last three."""
    links, ends = new_links(len(sizes), 4)
    where = np.zeros(len(sizes), np.uint8)
    reads = np.zeros(len(sizes), np.uint8)
    used = np.zeros(4, np.int64)
    small_share = capacity // 10
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ and where[entry] in (SMALL, MAIN):
            if kinds[i] == READ:
                hits[i] = True
                reads[entry] = min(MOST_READS, reads[entry] + 1)
        elif kinds[i] <= READ and sizes[entry] <= capacity:
            to = MAIN if where[entry] == GHOST else SMALL
            move(links, ends, where, used, sizes, entry, NOWHERE)
            while used[SMALL] + used[MAIN] + sizes[entry] > capacity:
                _evict(links, ends, where, used, sizes, reads, small_share, totals)
            while used[GHOST] > capacity - small_share:
                move(links, ends, where, used, sizes, ends[GHOST, 1], NOWHERE)
            reads[entry] = 0
            move(links, ends, where, used, sizes, entry, to)
        held[i] = used[SMALL] + used[MAIN]


@compiled
def _evict(
    links: Array, ends: Array, where: Array, used: Array, sizes: Array, reads: Array, small_share: int, totals: Array
) -> None:
    """Look at one entry: it leaves, or goes to the front of the main queue."""
    if ends[SMALL, 1] != NONE and (used[SMALL] >= small_share or ends[MAIN, 1] == NONE):
        victim = ends[SMALL, 1]
        stays = reads[victim] > 1
        reads[victim] = 0
        to = MAIN if stays else GHOST
    else:
        victim = ends[MAIN, 1]
        stays = reads[victim] > 0
        if stays:
            reads[victim] -= 1
        to = MAIN if stays else NOWHERE
    move(links, ends, where, used, sizes, victim, to)
    if stays:
        totals[LOOKED] += 1
    else:
        count_evicted(totals, sizes[victim])
