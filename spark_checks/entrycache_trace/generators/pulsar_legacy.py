"""A seeded workload of one `pulsar-legacy` broker, driven through the reference and recorded.

`LegacyBroker` adds to topics of different sizes, reads near their tails, and removes entries by calls. The limit is
small and its caches differ in size, so size passes take from several of them. There is no fast cache of this system;
the reference reports the rows.
"""

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from entrycache_reference.pulsar_legacy import NAME, config, ops, state
from entrycache_reference.pulsar_legacy.step import step
from entrycache_reference.vocabulary import CacheName, Position
from entrycache_trace import files, recording

START_NS: Final = 1_000_000_000_000
"""The virtual clock starts late, as a real one does, so that stamps are larger than any number of bytes."""

LIMIT_BYTES: Final = 6_000
TTL_NANOS: Final = 12_000_000
STEP_NANOS: Final = 400_000
TOPICS: Final = ("busy", "busy", "busy", "second", "second", "third", "quiet")
LEDGER_ENTRIES: Final = 60


class LegacyBroker:
    """The run of one broker: the workload, the state that it drives, and the recorder."""

    def __init__(self, writer: files.PartWriter, name: str, seed: str, eviction: config.Eviction) -> None:
        self._random = random.Random(seed)
        self._config = config.Config(LIMIT_BYTES, 0.7, TTL_NANOS, eviction)
        self._state = state.initial(self._config)._replace(now_nanos=START_NS)
        settings_json = {
            "max_size_bytes": LIMIT_BYTES,
            "watermark": 0.7,
            "ttl_nanos": TTL_NANOS,
            "eviction": eviction.value,
        }
        self._recorder = recording.Recorder(writer, name, settings_json, START_NS, numbers_slots=False)
        self._last = {CacheName(topic): Position(1, 0) for topic in TOPICS}

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until at least `events` events are recorded, and return their number."""
        reported = 0
        while self._recorder.seq < events:
            self._do(ops.Advance(self._random.randrange(2 * STEP_NANOS)))
            self._work()
            if self._recorder.seq - reported > 2_000:
                progress(self._recorder.seq - reported)
                reported = self._recorder.seq
        self._recorder.close()
        progress(self._recorder.seq - reported)
        return self._recorder.seq

    def _do(self, op: ops.Op) -> None:
        result = step(self._state, op, self._config)
        self._state = result.state
        if result.rows:
            self._recorder.call(result.rows)

    def _work(self) -> None:
        chance = self._random
        cache = CacheName(chance.choice(TOPICS))
        last = self._last[cache]
        roll = chance.random()
        if roll < 0.5:
            self._append(cache)
        elif roll < 0.56:
            self._do(ops.Insert(cache, self._near(last), chance.randrange(1, 300)))
        elif roll < 0.68:
            self._do(ops.Get(cache, self._near(last)))
        elif roll < 0.74:
            self._do(ops.GetRange(cache, self._near(last), last))
        elif roll < 0.82:
            first = self._near(last)
            self._do(ops.Read(cache, first, first._replace(entry=first.entry + chance.randrange(4))))
        elif roll < 0.86:
            self._do(ops.ReadOne(cache, self._near(last)))
        elif roll < 0.92:
            self._do(ops.Expire(cache))
        else:
            self._remove(cache, last)
        if chance.random() < 0.15:
            self._do(ops.RunScheduled())

    def _append(self, cache: CacheName) -> None:
        pos = self._last[cache]
        following = Position(pos.ledger, pos.entry + 1)
        self._last[cache] = following if following.entry < LEDGER_ENTRIES else Position(pos.ledger + 1, 0)
        size_bytes = 0 if self._random.random() < 0.02 else self._random.randrange(1, 400)
        self._do(ops.Insert(cache, pos, size_bytes))

    def _remove(self, cache: CacheName, last: Position) -> None:
        """Remove entries by one of the calls that remove."""
        chance = self._random
        near = self._near(last)
        calls: tuple[tuple[float, ops.Op], ...] = (
            (3, ops.RemoveRange(cache, near, near._replace(entry=near.entry + 3), chance.random() < 0.5)),
            (2, ops.InvalidateBefore(cache, self._near(last, 30))),
            (2, ops.EvictCache(cache, chance.randrange(1, 600))),
            (2, ops.Evict(chance.randrange(1, 1_500))),
            (1, ops.InvalidateLedger(cache, max(1, last.ledger - 1))),
            (0.2, ops.Clear(cache)),
            (0.2, ops.RemoveCache(cache)),
        )
        self._do(chance.choices([op for _, op in calls], [weight for weight, _ in calls])[0])

    def _near(self, last: Position, most: int = 15) -> Position:
        return Position(last.ledger, max(0, last.entry - self._random.randrange(most)))


def _begin(
    eviction: config.Eviction, writer: files.PartWriter, name: str, seed: str, number: int, settings: Mapping[str, Any]
) -> LegacyBroker:
    return LegacyBroker(writer, name, seed, eviction)


WORKLOADS: Final = {
    "unequal-topics": recording.Workload(NAME, "broker", False, partial(_begin, config.Eviction.INLINE)),
    "unequal-topics-late": recording.Workload(NAME, "broker", False, partial(_begin, config.Eviction.MANUAL)),
}
"""In the preset `-late`, size passes wait until they are run, as on a broker that hands them to another thread."""
