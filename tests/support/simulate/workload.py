"""Made-up calls on a fast cache, recorded as they are made."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from entrycache_fast import BrokerCache, Row
from entrycache_trace.files import Metadata
from entrycache_trace.recording import TraceWriter

CACHES = ("a", "b")


class Recorded:
    """A fast cache, its clock, and the recorder of one broker."""

    def __init__(self, out: Path | None, config: Mapping[str, Any], broker: str = "one", **metadata: Any) -> None:
        self.now_nanos = 0
        self.rows: list[Row] = []
        self.hits = self.misses = 0
        self.cache = BrokerCache(**config, clock=lambda: self.now_nanos, on_row=self.rows.append)
        self.recorder = None
        if out is not None:
            self.recorder = TraceWriter(out, Metadata(source="test", **metadata)).recorder(broker, config)

    def flush(self) -> None:
        """A call has ended."""
        self.hits += sum(row.op == "HIT" for row in self.rows)
        self.misses += sum(row.op == "MISS" for row in self.rows)
        if self.recorder is not None:
            self.recorder.call(self.rows)
        self.rows.clear()

    def close(self) -> None:
        if self.recorder is not None:
            self.recorder.close()


def plain(seed: int, out: Path | None, config: Mapping[str, Any], steps: int = 600) -> Recorded:
    """Inserts, lookups each followed by a delivery, and scheduled passes: calls that no setting changes."""
    chance = random.Random(seed)
    run = Recorded(out, config)
    for number in range(steps):
        run.now_nanos += chance.randrange(3_000_000)
        cache = chance.choice(CACHES)
        run.cache.insert(cache, 1, number, chance.randrange(1, 60), expected_reads=2)
        run.flush()
        for _ in range(2):
            at = max(0, number - chance.choice((0, 1, 2, 5, 30)))
            for name in CACHES:
                run.cache.get(name, 1, at)
                run.flush()
                run.cache.mark_read(name, 1, at)
                run.flush()
        if number % 4 == 0:
            run.cache.cycle()
            run.flush()
    run.close()
    return run


class Anything:
    """Every call there is, at random, with few positions and small numbers; each method draws one call."""

    def __init__(self, seed: int, run: Recorded) -> None:
        self.chance = random.Random(seed)
        self.cache = run.cache
        self.run = run
        self.made = 0

    def step(self) -> None:
        self.made += 1
        weighed = [(self.insert, 4), (self.get, 3), (self.read, 4), (self.release, 1), (self.count, 2)]
        weighed += [(self.evict, 2), (self.remove, 3), (self.cursor, 3), (self.configure, 0.3)]
        calls, weights = zip(*weighed, strict=True)
        self.chance.choices(calls, weights)[0](self.chance.choice(CACHES))
        self.run.flush()
        self.run.now_nanos += self.chance.choice((0, 0, 1, 2, 5))

    def position(self) -> tuple[int, int]:
        return self.chance.randrange(1, 3), self.chance.randrange(6)

    def bounds(self) -> tuple[tuple[int, int], tuple[int, int]]:
        ledger, entry = self.position()
        return (ledger, entry), (ledger, entry + self.chance.randrange(3))

    def insert(self, name: str) -> None:
        count = self.chance.choice((None, 0, 1, 2))
        self.cache.insert(name, *self.position(), self.chance.randrange(30), expected_reads=count)

    def get(self, name: str) -> None:
        if self.chance.random() < 0.7:
            self.cache.get(name, *self.position())
        else:
            self.cache.get_range(name, *self.bounds())

    def read(self, name: str) -> None:
        hold = self.chance.choice((None, f"hold {self.made}"))
        if self.chance.random() < 0.8:
            self.cache.read(name, *self.bounds(), self.chance.choice((0, 1, 3)), hold)
        else:
            self.cache.read_one(name, *self.position(), hold)

    def release(self, name: str) -> None:
        if self.cache.holds:
            self.cache.release(self.chance.choice(self.cache.holds))

    def count(self, name: str) -> None:
        self.chance.choice((self.cache.mark_read, self.cache.expect_read))(name, *self.position())

    def evict(self, name: str) -> None:
        passes = (self.cache.expire, self.cache.cycle, self.cache.run_scheduled)
        if self.chance.random() < 0.3:
            self.cache.evict(20)
        elif self.chance.random() < 0.3:
            self.cache.expire(3)
        else:
            self.chance.choice(passes)()

    def remove(self, name: str) -> None:
        first, last = self.bounds()
        kind = self.chance.randrange(5)
        if kind == 0:
            self.cache.remove_range(name, first, last, self.chance.random() < 0.5)
        elif kind == 1:
            self.cache.invalidate_before(name, first)
        elif kind == 2:
            self.cache.invalidate_ledger(name, first[0])
        else:
            (self.cache.clear if kind == 3 else self.cache.remove_cache)(name)

    def cursor(self, name: str) -> None:
        cursor = self.chance.choice("xyz")
        if self.chance.random() < 0.15:
            self.cache.cursor_remove(name, cursor)
            return
        where = self.chance.choice((None, self.position()))
        self.chance.choice((self.cache.cursor_add, self.cache.cursor_move))(name, cursor, where)

    def configure(self, name: str) -> None:
        if self.cache.max_size_bytes:
            self.cache.configure(ttl_nanos=self.chance.randrange(20), max_requeues=self.chance.randrange(3))


def anything(seed: int, out: Path, config: Mapping[str, Any], steps: int = 400) -> Recorded:
    """A recording of so many calls of every kind."""
    run = Recorded(out, config)
    drawn = Anything(seed, run)
    for _ in range(steps):
        drawn.step()
    run.cache.metrics()
    run.flush()
    run.close()
    return run
