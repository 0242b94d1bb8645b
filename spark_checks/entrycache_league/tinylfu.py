"""W-TinyLFU: a small LRU window; what leaves it stays only where it is read more often than what it replaces.

Einziger, Friedman and Manes, ACM TOS 2017: the window has a hundredth of the capacity, the rest is a segmented LRU
with four fifths protected. Frequencies are exact counts up to 15, halved every ten times as many requests as entries
of the mean size fit: what a sketch without collisions would say, and without a doorkeeper.
"""

from __future__ import annotations

import numpy as np

from entrycache_league.links import NONE, NOWHERE, move, new_links
from entrycache_league.requests import READ
from entrycache_league.totals import LOOKED, count_evicted
from entrycache_trace.compiled import Array, compiled

WINDOW, PROBATION, PROTECTED = 1, 2, 3
MOST = 15


@compiled
def tinylfu(kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held: Array, totals: Array) -> None:
    """Replay; hits, bytes and totals are written into the last three."""
    links, ends = new_links(len(sizes), 4)
    where = np.zeros(len(sizes), np.uint8)
    used = np.zeros(4, np.int64)
    often = np.zeros(len(sizes), np.uint8)
    window_share = capacity // 100
    main_share = capacity - window_share
    period = max(10, 10 * capacity * len(sizes) // max(1, sizes.sum()))
    asked = 0
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ:
            asked += 1
            often[entry] = min(MOST, often[entry] + 1)
            if asked % period == 0:
                often[:] = often >> 1
            if where[entry] == NOWHERE:
                if sizes[entry] <= capacity:
                    move(links, ends, where, used, sizes, entry, WINDOW)
                    while used[WINDOW] > window_share:
                        _leave(links, ends, where, used, sizes, often, main_share, totals)
            elif kinds[i] == READ:
                hits[i] = True
                move(links, ends, where, used, sizes, entry, WINDOW if where[entry] == WINDOW else PROTECTED)
                while used[PROTECTED] > main_share * 4 // 5:
                    move(links, ends, where, used, sizes, ends[PROTECTED, 1], PROBATION)
        held[i] = used.sum()


@compiled
def _leave(
    links: Array, ends: Array, where: Array, used: Array, sizes: Array, often: Array, main_share: int, totals: Array
) -> None:
    """The oldest of the window leaves it: it takes the place of others that are asked for less often, or goes."""
    entry = ends[WINDOW, 1]
    while used[PROBATION] + used[PROTECTED] + sizes[entry] > main_share:
        victim = ends[PROBATION, 1] if ends[PROBATION, 1] != NONE else ends[PROTECTED, 1]
        if victim == NONE or often[entry] <= often[victim]:
            count_evicted(totals, sizes[entry])
            totals[LOOKED] += victim != NONE
            move(links, ends, where, used, sizes, entry, NOWHERE)
            return
        count_evicted(totals, sizes[victim])
        move(links, ends, where, used, sizes, victim, NOWHERE)
    move(links, ends, where, used, sizes, entry, PROBATION)
