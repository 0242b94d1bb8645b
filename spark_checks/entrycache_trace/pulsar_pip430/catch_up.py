"""A seeded workload with cursors: tailing ones and one with a backlog, changing settings, invalidation."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from entrycache_fast import Row
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_trace.files import PartWriter
from entrycache_trace.making import Workload
from entrycache_trace.pulsar_pip430.workload import Broker, Log, Preset


@dataclass
class _Cursor:
    """One cursor of a managed ledger: where it reads next, and how far behind the tail it likes to be."""

    name: str
    lag: int
    ledger: int = 1
    entry: int = 0
    is_member: bool = True
    holds: deque[str] = field(default_factory=deque)


class CatchUp(Broker):
    """Tailing cursors and one with a backlog: fills with ranks, settings that change, invalidation, counters.

    It does what a managed ledger does around its cache: it asks before it caches what is added, and it counts what
    it adds by the cursors that are there. Every second broker evicts by hand, every fourth has the heap container.
    """

    def __init__(self, writer: PartWriter, preset: Preset, name: str, seed: str, number: int = 0) -> None:
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
        self._seldom(log, chance.random())

    def _add(self, log: Log) -> None:
        """An entry is written; it is cached if somebody reads, or did so lately."""
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
        """A batch, its rank asked before the cursor moves over it; some deliveries take their time."""
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

    def _seldom(self, log: Log, roll: float) -> None:
        """What happens now and then."""
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
        """Mostly one at a time; now and then the last ones leave together, and the grace period runs."""
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
        """One or two settings, changed a little."""
        preset = self._preset
        found: dict[str, Any] = {
            "max_size_bytes": int(preset.max_size_bytes * self._random.uniform(0.7, 1.2)),
            "watermark": self._random.choice((0.5, 0.8, 0.9, 0.985, 1.0)),
            "ttl_nanos": int(preset.ttl_nanos * self._random.uniform(0.3, 3)),
            "max_requeues": self._random.randrange(4),
            "extend_recently_accessed": self._random.random() < 0.7,
        }
        names = self._random.sample(sorted(found), self._random.randrange(1, 3))
        return {name: found[name] for name in names}


def _workload(kind: type[Broker], preset: Preset) -> Workload:
    def begin(writer: PartWriter, name: str, seed: str, number: int, settings: Mapping[str, Any]) -> Broker:
        return kind(writer, replace(preset, forced=settings), name, seed, number)

    return Workload(NAME, "broker", True, begin)


WORKLOADS: Final[Mapping[str, Workload]] = {
    "tail-fanout": _workload(Broker, Preset()),
    "catch-up-fanout": _workload(
        CatchUp,
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
