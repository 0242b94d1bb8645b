"""What every policy of the league is asked: adds, reads and what brokers say between them, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from entrycache_protocol.errors import UsageError
from entrycache_trace.jit import Array, jit

ADD: Final = 0
"""An entry is published: a cache may take it, nobody has read it yet."""
READ: Final = 1
"""Somebody reads an entry: a hit, or a storage read, whose entry a cache may take."""
EXPECT: Final = 2
"""One more read of an entry is expected, as of one that goes to the replay queue."""
PASSED: Final = 3
"""Every cursor of a topic is past the entries below this one."""

NEVER: Final = np.iinfo(np.int64).max
"""The next read of an entry that is not read again before it is added again."""


class Request(NamedTuple):
    """One request, before positions become numbers.

    `expected`: of an ADD the reads that are expected, of a READ those its fill would expect, itself included; 0: none.
    `call`: requests of one number beside each other are one read; None: a read of its own.
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
    """Requests in order, and the entries they are about.

    Entries are numbered topic by topic (by name) in the order of their positions. `numbers` holds the entry of each
    request; of PASSED the first that is not passed, and `counts` the topic. `ends` is one behind the last request of
    the same read. `sizes` and `topics` are by entry; `starts` has the first entry of each topic, and their number.
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
        """The first requests alone."""
        count = int(self.ends[count - 1]) if 0 < count < len(self.ends) else len(self.ends)
        parts = {name: getattr(self, name)[:count] for name in ("kinds", "times", "numbers", "counts", "ends")}
        return replace(self, **parts)

    @property
    def reads(self) -> int:
        """How many entries are read."""
        return int((self.kinds == READ).sum())

    @cached_property
    def one_size(self) -> bool:
        """Whether all entries have the same size."""
        return len(self.sizes) == 0 or bool((self.sizes == self.sizes[0]).all())

    @cached_property
    def entry_bytes(self) -> int:
        """The bytes of all entries together."""
        return int(self.sizes.sum())

    @cached_property
    def next_reads(self) -> Array:
        """The next READ of the same entry by request; NEVER where there is none, or an ADD comes first."""
        after = np.full(len(self.kinds), NEVER, np.int64)
        about = np.flatnonzero(self.kinds <= READ)
        order = about[np.argsort(self.numbers[about], kind="stable")]
        same = self.numbers[order[:-1]] == self.numbers[order[1:]]
        read = self.kinds[order[1:]] == READ
        after[order[:-1][same & read]] = order[1:][same & read]
        return after


def collect_requests(name: str, events: Iterable[Request]) -> Requests:
    """The requests of these events, which are in order of time.

    Raises:
        UsageError: none of them reads.
    """
    listed = list(events)
    place_of = {place: rank for rank, place in enumerate(sorted({event.position for event in listed}))}
    topic_of = {topic: rank for rank, topic in enumerate(sorted({event.topic for event in listed}))}
    calls = [-1 if event.call is None or event.kind != READ else event.call for event in listed]
    return number_requests(
        name,
        kinds=np.array([event.kind for event in listed], np.uint8),
        times=np.array([event.time_ns for event in listed], np.int64),
        topics=np.array([topic_of[event.topic] for event in listed], np.int64),
        places=np.array([place_of[event.position] for event in listed], np.int64),
        sizes=np.array([event.size_bytes for event in listed], np.int64),
        counts=np.array([event.expected for event in listed], np.int32),
        calls=np.array(calls, np.int64),
    )


def number_requests(
    name: str, kinds: Array, times: Array, topics: Array, places: Array, sizes: Array, counts: Array, calls: Array
) -> Requests:
    """Requests whose topics and places within them are numbers; the size of an entry is that of its first request.

    `calls` has one number for the requests of one read, which is of one topic, and -1 for those that are none.

    Raises:
        UsageError: none of them reads.
    """
    keys = topics.astype(np.int64) << 32 | places
    about = kinds != PASSED
    entries, first = np.unique(keys[about], return_index=True)
    of_entries = (entries >> 32).astype(np.int32)
    passed = np.where(kinds == PASSED, topics, counts).astype(np.int32)
    last = np.ones(len(kinds), np.bool_)
    last[:-1] = (calls[1:] != calls[:-1]) | (calls[1:] < 0) | (topics[1:] != topics[:-1])
    ends = np.flatnonzero(last)[np.searchsorted(np.flatnonzero(last), np.arange(len(kinds)))] + 1
    made = Requests(
        name=name,
        kinds=kinds,
        times=times,
        numbers=np.searchsorted(entries, keys).astype(np.int32),
        counts=passed,
        ends=ends.astype(np.int32),
        sizes=sizes[about][first],
        topics=of_entries,
        starts=topic_starts(of_entries, int(topics.max()) + 1 if len(topics) else 0),
    )
    if made.reads == 0:
        raise UsageError(f"{name}: nobody reads an entry; a league needs reads")
    return made


def topic_starts(topics: Array, count: int) -> Array:
    """The first entry of each topic, and behind the last one the number of entries."""
    return np.searchsorted(topics, np.arange(count + 1)).astype(np.int32)


# --- totals
# What kernels count while they replay.

EXAMINED: Final = 0
"""Entries, dead slots and, of legacy, caches that were looked at to find what leaves."""
EVICTED: Final = 1
EVICTED_BYTES: Final = 2
PEAK: Final = 3
"""The most bytes held at any moment, also within a request; 0: none but those after requests."""
OVERSHOOT: Final = 4
"""The most bytes that one pass freed beyond what it had to."""
TOTALS: Final = 5


@jit
def count_eviction(totals: Array, size_bytes: int) -> None:
    """One entry was looked at and evicted."""
    totals[EXAMINED] += 1
    totals[EVICTED] += 1
    totals[EVICTED_BYTES] += size_bytes
