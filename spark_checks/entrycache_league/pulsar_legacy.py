"""The cache of Pulsar 4.0 and before as a policy, and that of PIP-174, which was never merged.

The first is a cache for each topic, evicted from its lowest position. It follows the rules of `pulsar-legacy` over
arrays. An add or a fill triggers a size pass by the bytes before it; the pass takes from the largest caches that
together hold half of the bytes, each its share. The periodic task walks over all topics. A read is served whole or not
at all.

The second is a ring of segments and follows the rules of `pulsar-segmented`. When the current segment is full, the next
one is cleared and becomes current. Only added entries are cached, and a read is served whole or not at all.
"""

import numpy as np

from entrycache_league.requests import ADD, EXAMINED, OVERSHOOT, PASSED, PEAK, READ, count_eviction
from entrycache_trace.jit import Array, jit


@jit
def _lowest_cached(topic: int, low: Array, starts: Array, cached: Array) -> int:
    """Return the lowest cached entry of a topic that has one."""
    while low[topic] < starts[topic + 1] and not cached[low[topic]]:
        low[topic] += 1
    return int(low[topic])


@jit
def _add_bytes(topic: int, size_bytes: int, entries: int, caches: Array) -> None:
    """Add bytes and entries to a topic and to the sum of all, the last line of `caches`."""
    caches[topic, 0] += size_bytes
    caches[topic, 1] += entries
    caches[-1, 0] += size_bytes
    caches[-1, 1] += entries


@jit
def _remove_entry(entry: int, topic: int, sizes: Array, cached: Array, caches: Array) -> None:
    """Remove an entry."""
    cached[entry] = False
    _add_bytes(topic, -sizes[entry], -1, caches)


@jit
def _expire(now: int, ttl: int, sizes: Array, starts: Array, cached: Array, stamps: Array, low: Array, caches: Array,
            totals: Array) -> None:  # fmt: skip
    """Expire each topic from its lowest position up to the first younger entry; each topic counts as examined."""
    for topic in range(len(starts) - 1):
        totals[EXAMINED] += 1
        while caches[topic, 1] > 0:
            entry = _lowest_cached(topic, low, starts, cached)
            if stamps[entry] > now - ttl:
                break
            _remove_entry(entry, topic, sizes, cached, caches)
            count_eviction(totals, sizes[entry])


@jit
def _run_size_pass(
    need: int, sizes: Array, starts: Array, cached: Array, low: Array, caches: Array, totals: Array
) -> None:
    """Take the shares of `need`, in doubles, from the largest caches that together have half of the bytes."""
    order = np.argsort(-caches[:-1, 0], kind="mergesort")
    totals[EXAMINED] += len(order)
    quota = int(caches[-1, 0] * 0.5)
    taken_bytes = 0
    taken = 0
    while taken < len(order) and taken_bytes < quota:
        taken_bytes += caches[order[taken], 0]
        taken += 1
    freed_in_all = 0
    for topic in order[:taken]:
        share = int(need * (caches[topic, 0] / taken_bytes))
        freed = 0
        while freed < share and caches[topic, 1] > 0:
            entry = _lowest_cached(topic, low, starts, cached)
            _remove_entry(entry, topic, sizes, cached, caches)
            count_eviction(totals, sizes[entry])
            freed += sizes[entry]
        freed_in_all += freed
    totals[OVERSHOOT] = max(totals[OVERSHOOT], freed_in_all - need)


@jit
def replay_legacy(
    kinds: Array, times: Array, numbers: Array, counts: Array, ends: Array, sizes: Array, topics: Array, starts: Array,
    capacity: int, watermark: float, ttl: int, interval: int, fills: bool,
    hits: Array, held_bytes: Array, totals: Array,
) -> None:  # fmt: skip
    """Replay requests; write hits, held bytes and totals into the last three arrays.

    The periodic task runs each `interval` nanoseconds, and size passes within the add or fill that triggers them. Reads
    fill only with `fills` (backlog caching).
    """
    cached = np.zeros(len(sizes), np.bool_)
    stamps = np.zeros(len(sizes), np.int64)
    low = starts[:-1].copy()
    caches = np.zeros((len(starts), 2), np.int64)
    trigger, goal = int(capacity * 0.98), int(capacity * watermark)
    tick = times[0] + interval
    i = 0
    while i < len(numbers):
        now = times[i]
        while tick <= now:
            _expire(tick, ttl, sizes, starts, cached, stamps, low, caches, totals)
            tick += interval
        end = ends[i] if kinds[i] == READ else i + 1
        whole = kinds[i] == READ
        for j in range(i, end):
            whole = whole and cached[numbers[j]]
        for j in range(i, end):
            entry = numbers[j]
            if whole:
                hits[j] = True
            elif kinds[j] == PASSED:
                while low[counts[j]] < entry:
                    if cached[low[counts[j]]]:
                        _remove_entry(low[counts[j]], counts[j], sizes, cached, caches)
                    low[counts[j]] += 1
            elif kinds[j] == ADD or (kinds[j] == READ and fills):
                before = caches[-1, 0]
                if before > trigger and before > goal:
                    _run_size_pass(before - goal, sizes, starts, cached, low, caches, totals)
                if before < capacity and not cached[entry]:
                    topic = topics[entry]
                    cached[entry] = True
                    stamps[entry] = now
                    low[topic] = min(low[topic], entry)
                    _add_bytes(topic, sizes[entry], 1, caches)
                    totals[PEAK] = max(totals[PEAK], caches[-1, 0])
            held_bytes[j] = caches[-1, 0]
        i = end


# The cache of PIP-174.

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
