"""The cache of PIP-174, which was never merged, as a policy: a ring of segments.

It follows the rules of `pulsar-segmented` over arrays. When the current segment is full, the next one is cleared and
becomes current. Only added entries are cached, and a read is served whole or not at all.
"""

import numpy as np

from entrycache_league.requests import ADD, READ, count_eviction
from entrycache_trace.jit import Array, jit

LINE_BYTES = 64
"""A segment of copies gives each entry a multiple of these bytes."""


@jit
def replay_segmented(
    kinds: Array, numbers: Array, ends: Array, sizes: Array, capacity: int, segments: int, copies: bool,
    hits: Array, held_bytes: Array, totals: Array,
) -> None:  # fmt: skip
    """Replay requests; held bytes are the bytes used in the segments, rounded up where entries are copied."""
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
                    dropped = lists[current]
                    while dropped != -1:
                        cached[dropped] = False
                        count_eviction(totals, sizes[dropped])
                        dropped = after[dropped]
                    lists[current] = -1
                    offsets[current] = 0
                size = sizes[entry]
                offsets[current] += (size + LINE_BYTES - 1) // LINE_BYTES * LINE_BYTES if copies else size
                after[entry] = lists[current]
                lists[current] = entry
                cached[entry] = True
            held_bytes[j] = offsets.sum()
        i = end
