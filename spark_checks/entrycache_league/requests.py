"""The arrays that every policy reads and writes: requests, and the totals of a replay.

A `Request` is an add, a read, or an announcement of a broker: one more expected read, or a position that every cursor
has passed. `collect_requests` turns a sequence of them into the arrays of `Requests`; `number_requests` does so for
requests that are arrays already. A policy writes its counts into an array of totals, with the indices below.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from entrycache_protocol.errors import UsageError
from entrycache_trace.jit import Array, jit

ADD: Final = 0
"""The publication of an entry: a cache may take it, and nobody has read it yet."""
READ: Final = 1
"""The read of an entry: a hit, or a storage read whose entry a cache may take."""
EXPECT: Final = 2
"""One more expected read of an entry, such as one that goes to the replay queue."""
PASSED: Final = 3
"""The announcement that every cursor of a topic has passed the entries below this one."""

NEVER: Final = np.iinfo(np.int64).max
"""The index of the next read of an entry that is not read before it is added again."""


class Request(NamedTuple):
    """One request, before positions become numbers.

    Attributes:
        time_ns: The time.
        kind: ADD, READ, EXPECT or PASSED.
        topic: The topic.
        position: The ledger and the entry.
        size_bytes: The size of the entry.
        expected: The expected reads of an ADD, or those that the fill of a READ would expect, including itself.
        call: The number of the read; neighbouring requests with one number are one read. None is a read of its own.
    """

    time_ns: int
    kind: int
    topic: str
    position: tuple[int, int]
    size_bytes: int = 0
    expected: int = 0
    call: int | None = None


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests in order, and their entries.

    Entries are numbered topic by topic (by name) in the order of their positions.

    Attributes:
        name: The name of the requests.
        kinds: The kind of each request.
        times: The time of each request.
        numbers: The entry of each request; for PASSED the first entry that is not passed.
        counts: The expected reads of each request; for PASSED the topic.
        ends: One behind the last request of the same read.
        sizes: The size of each entry.
        topics: The topic of each entry.
        starts: The first entry of each topic, and the number of entries.
    """

    name: str
    kinds: Array
    times: Array
    numbers: Array
    counts: Array
    ends: Array
    sizes: Array
    topics: Array
    starts: Array

    def head(self, count: int) -> Requests:
        """Return the first requests."""
        count = int(self.ends[count - 1]) if 0 < count < len(self.ends) else len(self.ends)
        parts = {name: getattr(self, name)[:count] for name in ("kinds", "times", "numbers", "counts", "ends")}
        return replace(self, **parts)

    @property
    def reads(self) -> int:
        """The number of entries that are read."""
        return int((self.kinds == READ).sum())

    @cached_property
    def one_size(self) -> bool:
        """True if all entries have the same size."""
        return len(self.sizes) == 0 or bool((self.sizes == self.sizes[0]).all())

    @cached_property
    def entry_bytes(self) -> int:
        """The bytes of all entries."""
        return int(self.sizes.sum())

    @cached_property
    def next_reads(self) -> Array:
        """The next READ of the same entry for each request; NEVER if there is none or an ADD comes first."""
        after = np.full(len(self.kinds), NEVER, np.int64)
        entry_requests = np.flatnonzero(self.kinds <= READ)
        order = entry_requests[np.argsort(self.numbers[entry_requests], kind="stable")]
        same = self.numbers[order[:-1]] == self.numbers[order[1:]]
        read = self.kinds[order[1:]] == READ
        after[order[:-1][same & read]] = order[1:][same & read]
        return after


def collect_requests(name: str, sequence: Iterable[Request]) -> Requests:
    """Turn requests in the order of time into arrays.

    Raises:
        UsageError: none of them reads.
    """
    requests = list(sequence)
    place_of = {place: rank for rank, place in enumerate(sorted({request.position for request in requests}))}
    topic_of = {topic: rank for rank, topic in enumerate(sorted({request.topic for request in requests}))}
    calls = [-1 if request.call is None or request.kind != READ else request.call for request in requests]
    return number_requests(
        name,
        kinds=np.array([request.kind for request in requests], np.uint8),
        times=np.array([request.time_ns for request in requests], np.int64),
        topics=np.array([topic_of[request.topic] for request in requests], np.int64),
        places=np.array([place_of[request.position] for request in requests], np.int64),
        sizes=np.array([request.size_bytes for request in requests], np.int64),
        counts=np.array([request.expected for request in requests], np.int32),
        calls=np.array(calls, np.int64),
    )


def number_requests(
    name: str, kinds: Array, times: Array, topics: Array, places: Array, sizes: Array, counts: Array, calls: Array
) -> Requests:
    """Number the entries of requests whose topics and places are numbers. The first request gives an entry's size.

    `calls` has one number for all requests of one read, which is of one topic, and -1 for other requests.

    Raises:
        UsageError: none of them reads.
    """
    keys = topics.astype(np.int64) << 32 | places
    entry_requests = kinds != PASSED
    entries, first = np.unique(keys[entry_requests], return_index=True)
    of_entries = (entries >> 32).astype(np.int32)
    passed = np.where(kinds == PASSED, topics, counts).astype(np.int32)
    last = np.ones(len(kinds), np.bool_)
    last[:-1] = (calls[1:] != calls[:-1]) | (calls[1:] < 0) | (topics[1:] != topics[:-1])
    ends = np.flatnonzero(last)[np.searchsorted(np.flatnonzero(last), np.arange(len(kinds)))] + 1
    requests = Requests(
        name=name,
        kinds=kinds,
        times=times,
        numbers=np.searchsorted(entries, keys).astype(np.int32),
        counts=passed,
        ends=ends.astype(np.int32),
        sizes=sizes[entry_requests][first],
        topics=of_entries,
        starts=topic_starts(of_entries, int(topics.max()) + 1 if len(topics) else 0),
    )
    if requests.reads == 0:
        raise UsageError(f"{name}: nobody reads an entry; a comparison needs reads")
    return requests


def topic_starts(topics: Array, count: int) -> Array:
    """Return the first entry of each topic, and after the last one the number of entries."""
    return np.searchsorted(topics, np.arange(count + 1)).astype(np.int32)


EXAMINED: Final = 0
"""The entries, dead slots and, for legacy, caches that were examined to find a victim."""
EVICTED: Final = 1
EVICTED_BYTES: Final = 2
PEAK: Final = 3
"""The most bytes held at any moment within a request; 0 if the bytes after requests are the most."""
OVERSHOOT: Final = 4
"""The most bytes that one pass freed beyond its need."""
TOTALS: Final = 5


@jit
def count_eviction(totals: Array, size_bytes: int) -> None:
    """Count one entry that was examined and evicted."""
    totals[EXAMINED] += 1
    totals[EVICTED] += 1
    totals[EVICTED_BYTES] += size_bytes
