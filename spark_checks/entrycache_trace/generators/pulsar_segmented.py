"""A seeded workload of one `pulsar-segmented` broker, driven through the fast cache and recorded.

`SegmentedBroker` has producers of several topics, and readers that follow the tail or lag behind; all share one ring of
segments. The presets differ in the mode of the ring, which copies entries or keeps references.
"""

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from entrycache_fast.segmented import Row, SegmentedCache
from entrycache_reference.pulsar_segmented import NAME
from entrycache_trace import files, recording
from entrycache_trace.formats.pulsar_segmented import Recorder

START_NS: Final = 1_000_000_000
TOPICS: Final = 6
SEGMENTS: Final = 4
MAX_SIZE_BYTES: Final = 16_000
SIZES: Final = (0, 1, 63, 64, 65, 128, 100, 200, 311, 40, 1_024)
LEDGER_ENTRIES: Final = 60
"""The entries after which a topic continues in a new ledger."""


class SegmentedBroker:
    """The run of one broker: the workload, the cache that it drives, and the recorder."""

    def __init__(
        self, writer: files.PartWriter, mode: str, seed: str, cache_type: type[SegmentedCache] = SegmentedCache
    ) -> None:
        self._random = random.Random(seed)
        self._now_ns = START_NS
        self._rows: list[Row] = []
        self._cache = cache_type(MAX_SIZE_BYTES, SEGMENTS, mode == "copy", self._rows.append)
        config = {"max_size_bytes": MAX_SIZE_BYTES, "segments": SEGMENTS, "mode": mode}
        self._recorder = Recorder(writer, config, START_NS)
        self._last = [-1] * TOPICS
        self._sizes: dict[tuple[int, int], int] = {}

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until at least `events` events are recorded, and return their number."""
        reported = 0
        while self._recorder.seq < events:
            self._now_ns += self._random.randrange(100_000)
            self._work(self._random.randrange(TOPICS), self._random.random())
            if self._recorder.seq - reported > 20_000:
                progress(self._recorder.seq - reported)
                reported = self._recorder.seq
        self._recorder.close(self._now_ns)
        progress(self._recorder.seq - reported)
        return self._recorder.seq

    def _work(self, topic: int, roll: float) -> None:
        """Do one operation."""
        newest = self._last[topic]
        if roll < 0.55 or newest < 0:
            self._last[topic] = newest + 1
            self._add(topic, newest + 1)
        elif roll < 0.62:  # a reader that took the entry from storage offers it once more
            self._add(topic, self._random.randrange(newest + 1))
        elif roll < 0.78:
            self._cache.get(*self._key(topic, max(0, newest - self._random.randrange(12))))
        elif roll < 0.98:
            self._read(topic, max(0, newest - self._random.randrange(9)))
        else:
            self._recorder.metrics({"entries": len(self._cache), "bytes": self._cache.size_bytes}, self._now_ns)
        self._record_call()

    def _key(self, topic: int, number: int) -> tuple[str, int, int]:
        return f"topic-{topic}", 10 * topic + number // LEDGER_ENTRIES, number % LEDGER_ENTRIES

    def _add(self, topic: int, number: int) -> None:
        """Add an entry, rarely one that is longer than a segment."""
        size = self._sizes.setdefault((topic, number), self._random.choice(SIZES))
        long = MAX_SIZE_BYTES // SEGMENTS + 1 if self._random.random() < 0.01 else 0
        self._cache.insert(*self._key(topic, number), max(size, long), 1_000 * topic + number)

    def _read(self, topic: int, number: int) -> None:
        """Read a range of a ledger, up to its end or some entries, rarely a reversed one."""
        cache, ledger, first = self._key(topic, number)
        last = min(first + self._random.randrange(5), LEDGER_ENTRIES - 1)
        if self._random.random() < 0.02:
            first, last = last, first
        self._cache.get_range(cache, ledger, first, last)

    def _record_call(self) -> None:
        """Record the reported rows as one call."""
        self._recorder.call(self._rows, self._now_ns)
        self._rows.clear()


def _begin(
    mode: str, writer: files.PartWriter, name: str, seed: str, number: int, settings: Mapping[str, Any]
) -> SegmentedBroker:
    return SegmentedBroker(writer, mode, seed)


WORKLOADS: Final[Mapping[str, recording.Workload]] = {
    "ring-copies": recording.Workload(NAME, "broker", False, partial(_begin, "copy")),
    "ring-references": recording.Workload(NAME, "broker", False, partial(_begin, "reference")),
}
"""The presets, one for each mode."""
