"""ARC: what was read once and what was read again, with a ghost list of each that says which should be longer.

Megiddo and Modha, FAST 2003, figure 4, in bytes: a hit in a ghost list moves the target by the entry's size times
how many bytes the other ghost list has for each of its own, in whole bytes, at least by the entry's size.
"""

from __future__ import annotations

import numpy as np

from entrycache_league.links import NONE, NOWHERE, move, new_links
from entrycache_league.requests import READ
from entrycache_league.totals import count_evicted
from entrycache_trace.compiled import Array, compiled

ONCE, AGAIN, ONCE_GHOST, AGAIN_GHOST = 1, 2, 3, 4


@compiled
def arc(kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held: Array, totals: Array) -> None:
    """Replay; hits, bytes and totals are written into the last three."""
    links, ends = new_links(len(sizes), 5)
    where = np.zeros(len(sizes), np.uint8)
    used = np.zeros(5, np.int64)
    target = 0
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ and where[entry] in (ONCE, AGAIN):
            if kinds[i] == READ:
                hits[i] = True
                move(links, ends, where, used, sizes, entry, AGAIN)
        elif kinds[i] <= READ and sizes[entry] <= capacity:
            size = sizes[entry]
            was = where[entry]
            if was == ONCE_GHOST:
                target = min(capacity, target + max(size, size * used[AGAIN_GHOST] // max(1, used[ONCE_GHOST])))
            elif was == AGAIN_GHOST:
                target = max(0, target - max(size, size * used[ONCE_GHOST] // max(1, used[AGAIN_GHOST])))
            else:
                _forget(links, ends, where, used, sizes, capacity - size, totals)
            move(links, ends, where, used, sizes, entry, NOWHERE)
            while used[ONCE] + used[AGAIN] + size > capacity:
                _replace(links, ends, where, used, sizes, target, was == AGAIN_GHOST, totals)
            while was == NOWHERE and used.sum() + size > 2 * capacity:
                move(links, ends, where, used, sizes, ends[AGAIN_GHOST, 1], NOWHERE)
            move(links, ends, where, used, sizes, entry, ONCE if was == NOWHERE else AGAIN)
        held[i] = used[ONCE] + used[AGAIN]


@compiled
def _forget(links: Array, ends: Array, where: Array, used: Array, sizes: Array, most: int, totals: Array) -> None:
    """What was read once, and its ghosts, keep within so many bytes."""
    while used[ONCE] + used[ONCE_GHOST] > most:
        if ends[ONCE_GHOST, 1] != NONE:
            move(links, ends, where, used, sizes, ends[ONCE_GHOST, 1], NOWHERE)
        else:
            count_evicted(totals, sizes[ends[ONCE, 1]])
            move(links, ends, where, used, sizes, ends[ONCE, 1], NOWHERE)


@compiled
def _replace(
    links: Array, ends: Array, where: Array, used: Array, sizes: Array, target: int, again: bool, totals: Array
) -> None:
    """One entry leaves, and its ghost stays."""
    over = used[ONCE] > target or (again and used[ONCE] == target)
    which = ONCE if ends[ONCE, 1] != NONE and (over or ends[AGAIN, 1] == NONE) else AGAIN
    victim = ends[which, 1]
    count_evicted(totals, sizes[victim])
    move(links, ends, where, used, sizes, victim, which + 2)
