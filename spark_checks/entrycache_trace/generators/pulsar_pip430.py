"""Seeded workloads of one `pulsar-pip430` broker, driven through the fast cache and recorded.

`PulsarBroker` (preset `tail-fanout`) appends to some managed ledgers (`Log`), and its readers follow the tail.
`CatchUpBroker` (preset `catch-up-fanout`) has cursors: some follow the tail and one has a backlog. It also changes
settings, invalidates entries, and reads the counters. A `Preset` holds the sizes of a workload. All draws come from the
seed, so the same seed gives the same trace.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from typing import Any, Final

from entrycache_fast import BrokerCache, Row
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_trace import files, recording

START_NS: Final = 1_000_000_000_000
"""The virtual clock starts late, as a real one does, so that stamps are larger than any number of bytes."""


@dataclass(frozen=True)
class Preset:
    """The sizes of a workload; counts are those of one broker."""

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
    """More settings of the cache."""
    forced: Mapping[str, Any] = field(default_factory=dict)
    """Settings that every broker has, whatever the preset says."""


@dataclass
class Reader:
    """A reader that follows the tail, `lag` entries behind."""

    lag: int
    queue: deque[tuple[int, int]] = field(default_factory=deque)


@dataclass
class Log:
    """One managed ledger and the readers that follow its tail."""

    name: str
    readers: list[Reader]
    ledger: int = 1
    entry: int = 0


def complete_settings(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return every setting as a CONFIG event has it: those that are named, and the defaults of the others."""
    defaults = {item.name: getattr(Config(), item.name) for item in fields(Config) if item.name != "variants"}
    defaults = {name: value.value if isinstance(value, Enum) else value for name, value in defaults.items()}
    return {name: value for name, value in {**defaults, **named}.items() if value is not None}


class PulsarBroker:
    """The run of one broker: the workload, the cache that it drives, and the recorder."""

    def __init__(self, writer: files.PartWriter, preset: Preset, name: str, seed: str, number: int = 0) -> None:
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
        self._recorder = recording.Recorder(writer, name, complete_settings(config), START_NS)
        self._logs = [
            Log(f"topic-{i}", [Reader(self._random.choice((0, 2, 20, 150))) for _ in range(preset.readers)])
            for i in range(preset.caches)
        ]
        self._slots = 0

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until at least `events` events are recorded, and return their number."""
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
        """Record the call that has just ended, with the cursor that read by it, and update the number of slots."""
        if not self._rows:
            return
        for row in self._rows:
            if row.op == "INSERT":
                self._slots += 1
            elif row.op in ("EVICT", "TOMBSTONE"):
                self._slots -= 1
        self._recorder.call(self._rows, reader)
        self._rows.clear()


@dataclass
class _Cursor:
    """One cursor of a managed ledger: its next position, and the lag that it keeps behind the tail."""

    name: str
    lag: int
    ledger: int = 1
    entry: int = 0
    is_member: bool = True
    holds: deque[str] = field(default_factory=deque)


class CatchUpBroker(PulsarBroker):
    """A broker with tailing cursors and one with a backlog.

    It does what a managed ledger does around its cache: it asks whether to cache an added entry, and counts the
    cursors that will read it. Every second broker evicts manually, and every fourth has the heap container.
    """

    def __init__(self, writer: files.PartWriter, preset: Preset, name: str, seed: str, number: int = 0) -> None:
        super().__init__(writer, preset, name, seed, number)
        lags = (0, 1, 12, 400)
        self._cursors = {
            log.name: [_Cursor(f"{log.name}-{i}", lags[i % len(lags)]) for i in range(preset.readers)]
            for log in self._logs
        }
        self._holds = 0
        for log in self._logs:
            for cursor in self._cursors[log.name]:
                self._cache.cursor_add(log.name, cursor.name, (1, 0))
                self._flush()

    def _work(self, tick: int) -> None:
        chance = self._random
        preset = self._preset
        self._now_ns += chance.randrange(2 * preset.step_nanos)
        log = chance.choice(self._logs)
        for _ in range(chance.randrange(1, 6)):
            self._add(log)
        for cursor in self._cursors[log.name]:
            if cursor.is_member:
                self._read(log, cursor)
        if self._cache.eviction == "manual" and chance.random() < 0.3:
            self._cache.run_scheduled()
            self._flush()
        if tick % preset.expire_every == 0:
            self._cache.cycle()
            self._flush()
        if tick % 97 == 0:
            self._cache.metrics()
            self._flush()
        if self._slots >= preset.max_live_slots:
            self._evict()
        self._rare_operation(log, chance.random())

    def _add(self, log: Log) -> None:
        """Add an entry, and cache it if a cursor reads or did so within the grace period."""
        size_bytes = self._random.randrange(1, 2 * self._preset.mean_size_bytes)
        if self._cache.should_cache(log.name):
            members = self._cache.cursors(log.name) if self._cache.evict_by_expected_reads else None
            self._cache.insert(log.name, log.ledger, log.entry, size_bytes, expected_reads=members)
            self._flush()
        else:
            row = Row("SKIP", "NOT_WANTED", self._now_ns, self._cache.size_bytes, cache=log.name)
            row = row._replace(ledger_id=log.ledger, entry_id=log.entry, size_bytes=size_bytes)
            self._rows.append(row)
            self._flush()
        log.entry += 1
        if log.entry >= self._preset.ledger_entries:
            log.ledger, log.entry = log.ledger + 1, 0
            if self._random.random() < 0.5:
                self._cache.invalidate_ledger(log.name, log.ledger - 1)
                self._flush()

    def _read(self, log: Log, cursor: _Cursor) -> None:
        """Read a batch with the rank of the cursor before it moves; some deliveries are released later."""
        chance = self._random
        behind = (log.ledger - cursor.ledger) * self._preset.ledger_entries + log.entry - cursor.entry
        if behind <= cursor.lag * chance.random():
            return
        last = self._preset.ledger_entries if cursor.ledger < log.ledger else log.entry
        number = min(last - cursor.entry, chance.randrange(1, 20))
        if number > 0:
            ranks = self._cache.evict_by_expected_reads
            rank = self._cache.cursor_rank(log.name, cursor.name) if ranks else 1
            hold = None
            if chance.random() < 0.4:
                self._holds += 1
                hold = f"hold-{self._holds}"
                cursor.holds.append(hold)
            first, end = (cursor.ledger, cursor.entry), (cursor.ledger, cursor.entry + number - 1)
            self._cache.read(log.name, first, end, rank, hold)
            self._flush(cursor.name)
            cursor.entry += number
        if cursor.ledger < log.ledger and cursor.entry >= self._preset.ledger_entries:
            cursor.ledger, cursor.entry = cursor.ledger + 1, 0
        self._cache.cursor_move(log.name, cursor.name, (cursor.ledger, cursor.entry))
        self._flush()
        if number > 0 and chance.random() < 0.03:
            self._cache.expect_read(log.name, cursor.ledger, cursor.entry - 1)
            self._flush()
        while cursor.holds and (len(cursor.holds) > 3 or chance.random() < 0.5):
            self._cache.release(cursor.holds.popleft())
            self._flush()

    def _rare_operation(self, log: Log, roll: float) -> None:
        """Do one of the rare operations."""
        chance = self._random
        cursor = chance.choice(self._cursors[log.name])
        if roll < 0.02:
            self._join_or_leave(log, cursor)
        elif roll < 0.03:
            back = max(0, cursor.entry - chance.randrange(1, 50))
            cursor.entry = back
            if cursor.is_member:
                self._cache.cursor_move(log.name, cursor.name, (cursor.ledger, back))
        elif roll < 0.04:
            slowest = self._cache.slowest(log.name)
            if slowest is not None:
                self._cache.invalidate_before(log.name, slowest)
        elif roll < 0.05:
            self._cache.configure(**self._changes())
        elif roll < 0.055:
            self._cache.read_one(log.name, log.ledger, chance.randrange(self._preset.ledger_entries))
        elif roll < 0.06:
            self._cache.get(log.name, log.ledger, max(0, log.entry - chance.randrange(1, 40)))
        elif roll < 0.063:
            self._cache.remove_cache(log.name)
        elif roll < 0.065:
            self._cache.expire()
        elif roll < 0.07 and self._cache.exists(log.name, log.ledger, log.entry - 1):
            self._cache.insert(log.name, log.ledger, log.entry - 1, 10)
        self._flush()

    def _join_or_leave(self, log: Log, cursor: _Cursor) -> None:
        """Let one cursor join or leave, or sometimes all together, so that the grace period runs."""
        everybody = self._cursors[log.name] if self._random.random() < 0.3 else [cursor]
        leave = cursor.is_member
        for each in everybody:
            if each.is_member is leave:
                each.is_member = not leave
                if leave:
                    self._cache.cursor_remove(log.name, each.name)
                else:
                    self._cache.cursor_add(log.name, each.name, (each.ledger, each.entry))
                self._flush()

    def _changes(self) -> dict[str, Any]:
        """Return one or two settings with slightly different values."""
        preset = self._preset
        values: dict[str, Any] = {
            "max_size_bytes": int(preset.max_size_bytes * self._random.uniform(0.7, 1.2)),
            "watermark": self._random.choice((0.5, 0.8, 0.9, 0.985, 1.0)),
            "ttl_nanos": int(preset.ttl_nanos * self._random.uniform(0.3, 3)),
            "max_requeues": self._random.randrange(4),
            "extend_recently_accessed": self._random.random() < 0.7,
        }
        names = self._random.sample(sorted(values), self._random.randrange(1, 3))
        return {name: values[name] for name in names}


def _workload(kind: type[PulsarBroker], preset: Preset) -> recording.Workload:
    def begin(writer: files.PartWriter, name: str, seed: str, number: int, settings: Mapping[str, Any]) -> PulsarBroker:
        return kind(writer, replace(preset, forced=settings), name, seed, number)

    return recording.Workload(NAME, "broker", True, begin)


WORKLOADS: Final[Mapping[str, recording.Workload]] = {
    "tail-fanout": _workload(PulsarBroker, Preset()),
    "catch-up-fanout": _workload(
        CatchUpBroker,
        Preset(
            readers=4,
            max_size_bytes=400_000,
            settings={
                "watermark": 0.8,
                "grace_millis": 6,
                "storage_entry_size": 1_000,
                "evict_by_expected_reads": True,
            },
        ),
    ),
}
