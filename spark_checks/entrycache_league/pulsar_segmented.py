"""The cache of PIP-174, which was never merged: a ring of segments, the next one cleared when the current is full.

Rules (protocol: pulsar-segmented): only what is added is cached; a read is served whole or not at all.
"""

from __future__ import annotations

import numpy as np

from entrycache_league.requests import ADD, READ, count_eviction
from entrycache_trace.jit import Array, jit

LINE_BYTES = 64
"""A segment of copies gives each entry a multiple of so many bytes."""


@jit
def replay_segmented(
    kinds: Array, numbers: Array, ends: Array, sizes: Array, capacity: int, segments: int, copies: bool,
    hits: Array, held: Array, totals: Array,
) -> None:  # fmt: skip
    """Replay; bytes held are what is taken of the segments, where entries are copied rounded up."""
    segment_bytes = capacity // segments
    current = 0
    offsets = np.zeros(segments, np.int64)
    lists = np.full(segments, -1, np.int64)
    after = np.full(len(sizes), -1, np.int64)
    cached = np.zeros(len(sizes), np.bool_)
    i = 0
    while i < len(numbers):
        end = ends[i] if kinds[i] == READ else i + 1
        whole = kinds[i] == READ
        for j in range(i, end):
            whole = whole and cached[numbers[j]]
        for j in range(i, end):
            entry = numbers[j]
            hits[j] = whole
            if kinds[j] == ADD and not cached[entry] and sizes[entry] <= segment_bytes:
                if offsets[current] + sizes[entry] > segment_bytes:
                    current = (current + 1) % segments
                    gone = lists[current]
                    while gone != -1:
                        cached[gone] = False
                        count_eviction(totals, sizes[gone])
                        gone = after[gone]
                    lists[current] = -1
                    offsets[current] = 0
                taken = sizes[entry]
                offsets[current] += (taken + LINE_BYTES - 1) // LINE_BYTES * LINE_BYTES if copies else taken
                after[entry] = lists[current]
                lists[current] = entry
                cached[entry] = True
            held[j] = offsets.sum()
        i = end
