"""Made-up but honest traces: a seeded workload driven through the fast cache, recorded as it goes."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from entrycache_fast import BrokerCache, Row
from entrycache_reference.errors import UsageError
from entrycache_spark.files import Metadata
from entrycache_spark.recorder import Recorder, TraceWriter

START_NS: Final = 1_000_000_000_000
"""The virtual clock starts late, as a real one does, so that stamps are larger than any number of bytes."""


@dataclass(frozen=True)
class Preset:
    """A kind of workload. Counts are those of one broker."""

    caches: int = 4
    readers: int = 3
    max_live_slots: int = 1_000
    mean_size_bytes: int = 1_000
    max_size_bytes: int = 1 << 40
    ttl_nanos: int = 15_000_000
    max_requeues: int = 2
    step_nanos: int = 200_000
    expire_every: int = 20
    ledger_entries: int = 500


PRESETS: Final[Mapping[str, Preset]] = {"tail-fanout": Preset()}


@dataclass
class _Reader:
    lag: int
    queue: deque[tuple[int, int]] = field(default_factory=deque)


@dataclass
class _Log:
    """One managed ledger and the readers that follow its tail."""

    name: str
    readers: list[_Reader]
    ledger: int = 1
    entry: int = 0


def generate(
    preset: str,
    events: int,
    seed: int,
    directory: Path,
    brokers: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> int:
    """Write a trace of at least `events` events over `brokers` brokers; the number of events."""
    if preset not in PRESETS:
        raise UsageError(f"preset {preset!r} is not known; there are {', '.join(PRESETS)}")
    if events < 1 or brokers < 1:
        raise UsageError("events and brokers must be 1 or more")
    if directory.exists() and any(directory.iterdir()):
        raise UsageError(f"{directory}: not empty; a trace is written into a new folder")
    writer = TraceWriter(directory, Metadata(source=f"generate {preset} --events {events} --seed {seed}"))
    count = 0
    for number in range(brokers):
        share = (events * (number + 1)) // brokers - (events * number) // brokers
        count += _Broker(writer, PRESETS[preset], f"broker-{number}", f"{preset} {seed} {number}").run(share, progress)
    return count


class _Broker:
    """One broker run: the workload, the cache it drives, and the recorder of both."""

    def __init__(self, writer: TraceWriter, preset: Preset, name: str, seed: str) -> None:
        self._preset = preset
        self._random = random.Random(seed)
        self._now_ns = START_NS
        self._rows: list[Row] = []
        self._cache = BrokerCache(
            max_size_bytes=preset.max_size_bytes,
            ttl_nanos=preset.ttl_nanos,
            max_requeues=preset.max_requeues,
            clock=lambda: self._now_ns,
            on_row=self._rows.append,
        )
        config = {key: asdict(preset)[key] for key in ("max_size_bytes", "ttl_nanos", "max_requeues")}
        self._recorder: Recorder = writer.recorder(name, config, START_NS)
        self._logs = [
            _Log(f"topic-{i}", [_Reader(self._random.choice((0, 2, 20, 150))) for _ in range(preset.readers)])
            for i in range(preset.caches)
        ]
        self._slots = 0

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until so many events are recorded."""
        tick = reported = 0
        while self._recorder.seq < events:
            tick += 1
            self._work(tick)
            if self._recorder.seq - reported > 20_000:
                progress(self._recorder.seq - reported)
                reported = self._recorder.seq
        self._recorder.close()
        progress(self._recorder.seq - reported)
        return self._recorder.seq

    def _work(self, tick: int) -> None:
        chance = self._random
        preset = self._preset
        self._now_ns += chance.randrange(2 * preset.step_nanos)
        log = chance.choice(self._logs)
        self._append(log)
        for reader in log.readers:
            while len(reader.queue) > reader.lag:
                self._deliver(log, *reader.queue.popleft())
        if self._slots >= preset.max_live_slots or chance.random() < 0.015:
            self._evict()
        if tick % preset.expire_every == 0:
            self._cache.expire()
            self._flush()
        roll = chance.random()
        if roll < 0.004:
            low = max(0, log.entry - chance.randrange(1, 60))
            self._cache.remove_range(log.name, (log.ledger, low), (log.ledger, low + chance.randrange(20)), True)
            self._flush()
        elif roll < 0.0045:
            self._cache.clear(log.name)
            self._flush()

    def _append(self, log: _Log) -> None:
        chance = self._random
        size_bytes = 0 if chance.random() < 0.01 else chance.randrange(1, 2 * self._preset.mean_size_bytes)
        expected = chance.choice((None, len(log.readers), len(log.readers), len(log.readers) + 1))
        self._cache.insert(log.name, log.ledger, log.entry, size_bytes, expected_reads=expected)
        self._flush()
        for reader in log.readers:
            reader.queue.append((log.ledger, log.entry))
        log.entry += 1
        if log.entry >= self._preset.ledger_entries:
            log.ledger, log.entry = log.ledger + 1, 0

    def _deliver(self, log: _Log, ledger: int, entry: int) -> None:
        if self._random.random() < 0.7:
            self._cache.get(log.name, ledger, entry)
        else:
            self._cache.get_range(log.name, (ledger, entry), (ledger, entry))
        self._flush()
        self._cache.mark_read(log.name, ledger, entry)
        self._flush()
        if self._random.random() < 0.01:
            self._cache.expect_read(log.name, ledger, entry)
            self._flush()

    def _evict(self) -> None:
        if self._cache.size_bytes > 0:
            self._cache.evict(max(1, int(self._cache.size_bytes * self._random.choice((0.02, 0.1, 0.25, 0.5, 2)))))
        else:
            self._cache.expire(0)
        self._flush()

    def _flush(self) -> None:
        """Record the call that has just ended, and follow the number of slots."""
        if not self._rows:
            return
        for row in self._rows:
            if row.op == "INSERT":
                self._slots += 1
            elif row.op in ("EVICT", "TOMBSTONE"):
                self._slots -= 1
        self._recorder.call(self._rows)
        self._rows.clear()
