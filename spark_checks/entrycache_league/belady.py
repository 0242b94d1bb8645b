"""Belady's optimum: exact for entries of one size, and an upper bound for entries of several sizes."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from entrycache_league.requests import NEVER, READ, Requests
from entrycache_league.totals import count_evicted
from entrycache_trace.compiled import Array, compiled


@compiled
def belady(
    kinds: Array, numbers: Array, after: Array, size: int, slots: int, hits: Array, held: Array, totals: Array
) -> None:
    """Keep the entries that are read soonest, of those of one size that fit into `slots`.

    What is asked for need not be kept, so no policy of this capacity has more hits, whatever it admits: a hit is an
    interval between two requests of an entry, at most `slots` of them may overlap, and to drop the one that ends last
    wherever too many do keeps the most (Belady 1966; Carlisle and Lloyd 1995).
    """
    until = np.full(numbers.max() + 1, NEVER, np.int64)
    heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
    live = 0
    for i in range(len(numbers)):
        entry = np.int64(numbers[i])
        if kinds[i] <= READ:
            if until[entry] == i:
                hits[i] = True
            if until[entry] != NEVER:
                live -= 1
            until[entry] = after[i]
            if after[i] != NEVER:
                live += 1
                heappush(heap, (-after[i], entry))
                if live > slots:
                    ends, victim = heappop(heap)
                    while until[victim] != -ends:
                        ends, victim = heappop(heap)
                    until[victim] = NEVER
                    live -= 1
                    count_evicted(totals, size)
                if len(heap) > 4 * live + 64:
                    heap = [item for item in heap if until[item[1]] == -item[0]]
                    heapify(heap)
        held[i] = live * size


def most_hits(requests: Requests, capacity: int) -> tuple[int, int]:
    """More hits, and more hit bytes, than these no policy has that never holds more than `capacity` bytes.

    A hit needs its entry held from the request before it: its size, for so many requests. All of that together is at
    most the capacity for each request. The most intervals fit if the cheapest are taken first; the most bytes, if the
    shortest are, the last one in part (the relaxation PFOO-L of Berger, Beckmann and Harchol-Balter, SIGMETRICS 2018).
    """
    about = np.flatnonzero(requests.kinds <= READ)
    order = np.full(len(requests.kinds), 0, np.int64)
    order[about] = np.arange(len(about))
    begins = np.flatnonzero(requests.next_reads != NEVER)
    lengths = order[requests.next_reads[begins]] - order[begins]
    sizes = requests.sizes[requests.numbers[begins]]
    fits = sizes <= capacity
    lengths, sizes = lengths[fits], sizes[fits]
    budget = capacity * len(about)
    hits = int(np.searchsorted(np.cumsum(np.sort(lengths * sizes)), budget, side="right"))
    shortest = np.argsort(lengths, kind="stable")
    spent = np.cumsum((lengths * sizes)[shortest])
    whole = int(np.searchsorted(spent, budget, side="right"))
    hit_bytes = int(sizes[shortest][:whole].sum())
    if whole < len(shortest):
        left = budget - (int(spent[whole - 1]) if whole else 0)
        hit_bytes += left // int(lengths[shortest[whole]])
    return hits, hit_bytes
