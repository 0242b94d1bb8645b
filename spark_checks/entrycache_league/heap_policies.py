"""Policies that keep entries in a heap: expected reads, LFU, and Belady's optimum.

- Expected reads: the entry that expects the fewest reads leaves first, and among equals the one that came first. This
is alternative 2 of PIP-430, a priority queue by expected reads and time, without a time to live. - LFU: the entry that
was read least often in its present life leaves first, and among equals the one that has had its count for the longest
time. An entry that has left and comes again begins anew. - Belady's optimum knows the future. It is exact for entries
of one size; for entries of several sizes `bound_hits` gives an upper bound.

A heap has an item for each count that an entry has had; `drop_stale_items` removes those that no longer hold.
"""

from heapq import heapify, heappop, heappush

import numpy as np

from entrycache_league.requests import EXAMINED, EXPECT, NEVER, READ, Requests, count_eviction
from entrycache_trace.jit import Array, jit

HeapItem = tuple[np.int64, np.int64, np.int64]
"""The expected reads, the time at which the entry came, and the entry."""


@jit
def replay_expected_reads(
    kinds: Array,
    numbers: Array,
    counts: Array,
    sizes: Array,
    capacity: int,
    hits: Array,
    held_bytes: Array,
    totals: Array,
) -> None:
    """Replay requests; write hits, held bytes and totals into the last three arrays."""
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
                    count_eviction(totals, sizes[victim])
                else:
                    totals[EXAMINED] += 1
        if len(heap) > 4 * live + 64:
            drop_stale_items(heap, cached, came, expects)
        held_bytes[i] = used


@jit
def drop_stale_items(heap: list[HeapItem], cached: Array, came: Array, expects: Array) -> None:
    """Drop items that no longer hold, and duplicates."""
    heap.sort()
    size = 0
    for item in heap:
        count, since, entry = item
        holds = cached[entry] and since == came[entry] and count == expects[entry]
        if holds and (size == 0 or heap[size - 1] != item):
            heap[size] = item
            size += 1
    del heap[size:]


# LFU


@jit
def replay_lfu(
    kinds: Array, numbers: Array, sizes: Array, capacity: int, hits: Array, held_bytes: Array, totals: Array
) -> None:
    """Replay requests; write hits, held bytes and totals into the last three arrays."""
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
                count_eviction(totals, sizes[victim])
            else:
                totals[EXAMINED] += 1
        if comes or (is_read and cached[entry]):
            hits[i] = not comes
            uses[entry] = 0 if comes else uses[entry] + 1
            since[entry] = i
            used += sizes[entry] if comes else 0
            live += 1 if comes else 0
            cached[entry] = True
            heappush(heap, (uses[entry], since[entry], entry))
        if len(heap) > 4 * live + 64:
            drop_stale_items(heap, cached, since, uses)
        held_bytes[i] = used


# Belady's optimum


@jit
def replay_belady(
    kinds: Array, numbers: Array, after: Array, size: int, slots: int, hits: Array, held_bytes: Array, totals: Array
) -> None:
    """Replay requests for entries of one size, and keep the `slots` entries whose next read comes first.

    The policy need not keep a requested entry, so no policy of this capacity has more hits. A hit is an interval
    between two requests of an entry, and at most `slots` intervals may overlap. Wherever more overlap, dropping the one
    that ends last keeps the most of them (Belady 1966; Carlisle and Lloyd 1995).
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
                    count_eviction(totals, size)
                if len(heap) > 4 * live + 64:
                    heap = [item for item in heap if until[item[1]] == -item[0]]
                    heapify(heap)
        held_bytes[i] = live * size


def bound_hits(requests: Requests, capacity: int) -> tuple[int, int]:
    """Return the most hits and hit bytes of any policy that never holds more than `capacity` bytes.

    A hit needs its entry held since the request before: its size times the number of requests. The sum of all of these
    is at most the capacity for each request. The most intervals fit if the cheapest are taken first. The most bytes fit
    if the shortest are taken first, and the last one in part (the relaxation PFOO-L of Berger, Beckmann and
    Harchol-Balter, SIGMETRICS 2018).
    """
    entry_requests = np.flatnonzero(requests.kinds <= READ)
    order = np.full(len(requests.kinds), 0, np.int64)
    order[entry_requests] = np.arange(len(entry_requests))
    begins = np.flatnonzero(requests.next_reads != NEVER)
    lengths = order[requests.next_reads[begins]] - order[begins]
    sizes = requests.sizes[requests.numbers[begins]]
    fits = sizes <= capacity
    lengths, sizes = lengths[fits], sizes[fits]
    budget = capacity * len(entry_requests)
    hits = int(np.searchsorted(np.cumsum(np.sort(lengths * sizes)), budget, side="right"))
    shortest = np.argsort(lengths, kind="stable")
    spent = np.cumsum((lengths * sizes)[shortest])
    whole = int(np.searchsorted(spent, budget, side="right"))
    hit_bytes = int(sizes[shortest][:whole].sum())
    if whole < len(shortest):
        left = budget - (int(spent[whole - 1]) if whole else 0)
        hit_bytes += left // int(lengths[shortest[whole]])
    return hits, hit_bytes
