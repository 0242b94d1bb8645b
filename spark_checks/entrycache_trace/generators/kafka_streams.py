"""A seeded workload of one `kafka-streams` thread: counts in tumbling windows, with several stores in one cache.

A `StreamThread` has some tasks. Each `StreamTask` counts its records by user and window in its first store. Inside the
forward of that store, a second store adds the counts up by user. The thread deletes windows that are over, and its
commits flush the stores. The limit is small, so the cache evicts much. A `Topology` holds the sizes of the workload.
"""

import random
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from entrycache_fast.kafka import CachingStore, Row, ThreadCache, Write
from entrycache_reference.kafka_streams import NAME
from entrycache_trace import files, recording
from entrycache_trace.formats.kafka_streams import Recorder

START_NS: Final = 1_000_000_000_000


@dataclass(frozen=True)
class Topology:
    """The sizes of a workload; counts are those of one thread."""

    tasks: int = 3
    users: int = 500
    skew: float = 1.0
    """The exponent of the Zipf law that users follow."""
    max_size_bytes: int = 12_000
    step_nanos: int = 500_000
    window_nanos: int = 100_000_000
    windows_kept: int = 2
    commit_nanos: int = 40_000_000


@dataclass
class StreamTask:
    """One task: its two stores, and the keys that were written in each window."""

    number: int
    counts: CachingStore
    sums: CachingStore
    underlying: dict[bytes, bytes] = field(default_factory=dict)
    keys_by_window: dict[int, dict[bytes, None]] = field(default_factory=dict)


class StreamThread:
    """The run of one stream thread: the workload, the cache that it drives, and the recorder."""

    def __init__(self, writer: files.PartWriter, topology: Topology, seed: str) -> None:
        self._topology = topology
        self._random = random.Random(seed)
        self._now_ns = START_NS
        self._committed_ns = START_NS
        self._rows: list[Row] = []
        self._max_size_bytes = topology.max_size_bytes
        self._cache = ThreadCache(topology.max_size_bytes, self._rows.append)
        self._recorder = Recorder(writer, {"max_size_bytes": topology.max_size_bytes}, START_NS)
        self._weights = list(accumulate(1 / (rank + 1) ** topology.skew for rank in range(topology.users)))
        self._tasks = [self._task(number, {}, {}) for number in range(topology.tasks)]

    def _task(self, number: int, underlying: dict[bytes, bytes], underlying_sums: dict[bytes, bytes]) -> StreamTask:
        sums = CachingStore(self._cache, f"0_{number}-sums", underlying_sums)

        def add_up(key: bytes, value: bytes | None) -> None:
            user = key.partition(b"@")[0]
            if value is not None:
                sums.put(user, str(int(sums.get(user) or b"0") + 1).encode())

        counts = CachingStore(self._cache, f"0_{number}-counts", underlying, add_up)
        return StreamTask(number, counts, sums, underlying)

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until at least `events` events are recorded, and return their number."""
        reported = 0
        while self._recorder.seq < events:
            self._process_record()
            if self._recorder.seq - reported > 20_000:
                progress(self._recorder.seq - reported)
                reported = self._recorder.seq
        self._recorder.close(self._now_ns)
        progress(self._recorder.seq - reported)
        return self._recorder.seq

    def _record_call(self) -> None:
        """Record the reported rows as one call."""
        self._recorder.call(self._rows, self._now_ns)
        self._rows.clear()

    def _process_record(self) -> None:
        """Process one input record, and whatever is due after it."""
        chance = self._random
        self._now_ns += chance.randrange(self._topology.step_nanos)
        task = self._tasks[chance.randrange(len(self._tasks))]
        user = b"user-%d" % bisect_left(self._weights, chance.random() * self._weights[-1])
        window = self._now_ns // self._topology.window_nanos
        key = b"%b@%d" % (user, window)
        count = task.counts.get(key)
        self._record_call()
        task.counts.put(key, str(int(count or b"0") + 1).encode())
        self._record_call()
        task.keys_by_window.setdefault(window, {})[key] = None
        roll = chance.random()
        if roll < 0.03:
            self._rare_operation(task, key, roll)
        if window - min(task.keys_by_window) >= self._topology.windows_kept:
            self._expire(task, min(task.keys_by_window))
        if self._now_ns - self._committed_ns >= self._topology.commit_nanos:
            self._commit()

    def _expire(self, task: StreamTask, window: int) -> None:
        """Delete everything in a window that is over."""
        for key in task.keys_by_window.pop(window):
            task.counts.put(key, None)
            self._record_call()

    def _commit(self) -> None:
        """Flush every store, and sometimes read the counters."""
        self._committed_ns = self._now_ns
        for task in self._tasks:
            task.counts.flush()
            self._record_call()
            task.sums.flush()
            self._record_call()
        if self._random.random() < 0.5:
            self._recorder.metrics(self._cache.thread_counters()._asdict(), ts_ns=self._now_ns)
            name = self._random.choice(self._tasks).counts.name
            own = self._cache.counters(name)
            counters = {"hits": own.hits, "misses": own.misses, "overwrites": own.overwrites, "flushes": own.flushes}
            self._recorder.metrics(counters, name, self._now_ns)

    def _rare_operation(self, task: StreamTask, key: bytes, roll: float) -> None:
        """Do one of the rare operations."""
        chance, cache = self._random, self._cache
        if roll < 0.015:
            cache.get(task.sums.name, key.partition(b"@")[0])
        elif roll < 0.02:
            task.counts.range(key[:6], key[:7])
        elif roll < 0.025:
            cache.put_if_absent(task.sums.name, key.partition(b"@")[0], b"0", dirty=True)
        elif roll < 0.027:
            cache.put_all(task.sums.name, [Write(b"total-%d" % number, b"0", True) for number in range(4)])
        elif roll < 0.0282:
            task.counts.delete(key)
        elif roll < 0.0287:
            cache.delete(task.sums.name, key.partition(b"@")[0])
        elif roll < 0.0293:
            task.sums.flush()
            cache.clear(task.sums.name)
        elif roll < 0.0297:
            self._max_size_bytes = int(self._topology.max_size_bytes * chance.choice((0.5, 0.75, 1, 1.25)))
            cache.resize(self._max_size_bytes)
        else:
            self._restart(task)
        self._record_call()

    def _restart(self, task: StreamTask) -> None:
        """Give a task away and take it back: flush, close and reopen its stores."""
        for store in (task.counts, task.sums):
            store.flush()
            self._record_call()
        for store in (task.sums, task.counts):
            self._cache.close(store.name)
            self._record_call()
        underlying_sums = dict(task.sums.underlying)
        reopened = self._task(task.number, task.underlying, underlying_sums)
        reopened.keys_by_window = task.keys_by_window
        self._tasks[self._tasks.index(task)] = reopened


def _begin(writer: files.PartWriter, name: str, seed: str, number: int, settings: Mapping[str, Any]) -> StreamThread:
    return StreamThread(writer, Topology(), seed)


WORKLOADS: Final[Mapping[str, recording.Workload]] = {
    "windowed-aggregation": recording.Workload(NAME, "thread", False, _begin)
}
