"""FIFO, LRU, CLOCK and SIEVE: one queue each. All make room first, then take what was missed.

CLOCK has one bit, which is clear when an entry comes (Corbato 1968); SIEVE is that of Zhang and others, NSDI 2024.
"""

from __future__ import annotations

import numpy as np

from entrycache_league.links import NONE, new_links, push, unlink
from entrycache_league.requests import READ
from entrycache_league.totals import LOOKED, count_evicted
from entrycache_trace.compiled import Array, compiled

FIFO, LRU, CLOCK, SIEVE = range(4)


@compiled
def queue(
    policy: int, kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held: Array, totals: Array
) -> None:
    """What a read entry gets: nothing (FIFO), the front of the queue (LRU), or a mark that spares it once.

    A spared entry goes to the front (CLOCK), or stays where it is while the hand goes on to newer ones (SIEVE).
    """
    links, ends = new_links(len(sizes), 1)
    cached = np.zeros(len(sizes), np.bool_)
    marked = np.zeros(len(sizes), np.bool_)
    used = 0
    hand = NONE
    for i in range(len(numbers)):
        entry = numbers[i]
        if kinds[i] <= READ and cached[entry]:
            if kinds[i] == READ:
                hits[i] = True
                marked[entry] = policy >= CLOCK
                if policy == LRU:
                    unlink(links, ends, 0, entry)
                    push(links, ends, 0, entry)
        elif kinds[i] <= READ and sizes[entry] <= capacity:
            while used + sizes[entry] > capacity:
                victim = ends[0, 1] if hand == NONE else hand
                if policy == SIEVE:
                    hand = links[victim, 0]
                if marked[victim]:
                    marked[victim] = False
                    totals[LOOKED] += 1
                    if policy == CLOCK:
                        unlink(links, ends, 0, victim)
                        push(links, ends, 0, victim)
                    continue
                unlink(links, ends, 0, victim)
                cached[victim] = False
                used -= sizes[victim]
                count_evicted(totals, sizes[victim])
            push(links, ends, 0, entry)
            cached[entry] = True
            used += sizes[entry]
        held[i] = used
