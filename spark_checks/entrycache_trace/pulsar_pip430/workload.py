"""A seeded workload driven through the fast cache and recorded as it goes: readers that follow the tail."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any, Final

from entrycache_fast import BrokerCache, Row
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_trace.files import PartWriter
from entrycache_trace.pulsar_pip430.recorder import Recorder

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
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings of the cache."""
    forced: Mapping[str, Any] = field(default_factory=dict)
    """Settings that hold in every broker, whatever else the preset says."""


@dataclass
class Reader:
    """Somebody who follows the tail, so many entries behind."""

    lag: int
    queue: deque[tuple[int, int]] = field(default_factory=deque)


@dataclass
class Log:
    """One managed ledger and the readers that follow its tail."""

    name: str
    readers: list[Reader]
    ledger: int = 1
    entry: int = 0


def whole_config(named: Mapping[str, Any]) -> dict[str, Any]:
    """What a CONFIG event tells: every setting, those that are named and the others as they are meant."""
    told = {item.name: getattr(Config(), item.name) for item in fields(Config) if item.name != "variants"}
    told = {name: value.value if isinstance(value, Enum) else value for name, value in told.items()}
    return {name: value for name, value in {**told, **named}.items() if value is not None}


class Broker:
    """One broker run: the workload, the cache it drives, and the recorder of both."""

    def __init__(self, writer: PartWriter, preset: Preset, name: str, seed: str, number: int = 0) -> None:
        self._preset = preset
        self._random = random.Random(seed)
        self._now_ns = START_NS
        self._rows: list[Row] = []
        more = dict(preset.settings)
        if preset.settings and number % 2 == 1:
            more["eviction"] = "manual"
        if preset.settings and number % 4 == 3:
            more["evict_by_expected_reads"] = False
        own = {key: asdict(preset)[key] for key in ("max_size_bytes", "ttl_nanos", "max_requeues")}
        config = {**own, **more, **preset.forced}
        self._cache = BrokerCache(**config, clock=lambda: self._now_ns, on_row=self._rows.append)
        self._recorder = Recorder(writer, name, whole_config(config), START_NS)
        self._logs = [
            Log(f"topic-{i}", [Reader(self._random.choice((0, 2, 20, 150))) for _ in range(preset.readers)])
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

    def _append(self, log: Log) -> None:
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

    def _deliver(self, log: Log, ledger: int, entry: int) -> None:
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

    def _flush(self, reader: str | None = None) -> None:
        """Record the call that has just ended, by this cursor if one has read, and follow the number of slots."""
        if not self._rows:
            return
        for row in self._rows:
            if row.op == "INSERT":
                self._slots += 1
            elif row.op in ("EVICT", "TOMBSTONE"):
                self._slots -= 1
        self._recorder.call(self._rows, reader)
        self._rows.clear()
