"""Random calls on a fast cache, recorded as a trace."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from entrycache_fast import BrokerCache, Row
from entrycache_trace.files import Metadata
from entrycache_trace.recording import TraceWriter

CACHES = ("a", "b")


class RecordedCache:
    """A fast cache with its clock and the recorder of one broker."""

    def __init__(self, out: Path | None, config: Mapping[str, Any], broker: str = "one", **metadata: Any) -> None:
        self.now_nanos = 0
        self.rows: list[Row] = []
        self.hits = self.misses = 0
        self.cache = BrokerCache(**config, clock=lambda: self.now_nanos, on_row=self.rows.append)
        self.recorder = None
        if out is not None:
            self.recorder = TraceWriter(out, Metadata(source="test", **metadata)).recorder(broker, config)

    def flush(self) -> None:
        """Record the rows of the call that has ended."""
        self.hits += sum(row.op == "HIT" for row in self.rows)
        self.misses += sum(row.op == "MISS" for row in self.rows)
        if self.recorder is not None:
            self.recorder.call(self.rows)
        self.rows.clear()

    def close(self) -> None:
        if self.recorder is not None:
            self.recorder.close()


def record_plain_calls(seed: int, out: Path | None, config: Mapping[str, Any], steps: int = 600) -> RecordedCache:
    """Record inserts, lookups each followed by a delivery, and cycles: calls that do not depend on settings."""
    random_source = random.Random(seed)
    run = RecordedCache(out, config)
    for number in range(steps):
        run.now_nanos += random_source.randrange(3_000_000)
        cache = random_source.choice(CACHES)
        run.cache.insert(cache, 1, number, random_source.randrange(1, 60), expected_reads=2)
        run.flush()
        for _ in range(2):
            at = max(0, number - random_source.choice((0, 1, 2, 5, 30)))
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


class RandomCalls:
    """Random calls of every kind, with few positions and small numbers; each method makes one call."""

    def __init__(self, seed: int, run: RecordedCache) -> None:
        self.random_source = random.Random(seed)
        self.cache = run.cache
        self.run = run
        self.step_count = 0

    def step(self) -> None:
        self.step_count += 1
        weighted_calls = [(self.insert, 4), (self.get, 3), (self.read, 4), (self.release, 1), (self.count, 2)]
        weighted_calls += [(self.evict, 2), (self.remove, 3), (self.cursor, 3), (self.configure, 0.3)]
        calls, weights = zip(*weighted_calls, strict=True)
        self.random_source.choices(calls, weights)[0](self.random_source.choice(CACHES))
        self.run.flush()
        self.run.now_nanos += self.random_source.choice((0, 0, 1, 2, 5))

    def position(self) -> tuple[int, int]:
        return self.random_source.randrange(1, 3), self.random_source.randrange(6)

    def bounds(self) -> tuple[tuple[int, int], tuple[int, int]]:
        ledger, entry = self.position()
        return (ledger, entry), (ledger, entry + self.random_source.randrange(3))

    def insert(self, name: str) -> None:
        count = self.random_source.choice((None, 0, 1, 2))
        self.cache.insert(name, *self.position(), self.random_source.randrange(30), expected_reads=count)

    def get(self, name: str) -> None:
        if self.random_source.random() < 0.7:
            self.cache.get(name, *self.position())
        else:
            self.cache.get_range(name, *self.bounds())

    def read(self, name: str) -> None:
        hold = self.random_source.choice((None, f"hold {self.step_count}"))
        if self.random_source.random() < 0.8:
            self.cache.read(name, *self.bounds(), self.random_source.choice((0, 1, 3)), hold)
        else:
            self.cache.read_one(name, *self.position(), hold)

    def release(self, name: str) -> None:
        if self.cache.holds:
            self.cache.release(self.random_source.choice(self.cache.holds))

    def count(self, name: str) -> None:
        self.random_source.choice((self.cache.mark_read, self.cache.expect_read))(name, *self.position())

    def evict(self, name: str) -> None:
        passes = (self.cache.expire, self.cache.cycle, self.cache.run_scheduled)
        if self.random_source.random() < 0.3:
            self.cache.evict(20)
        elif self.random_source.random() < 0.3:
            self.cache.expire(3)
        else:
            self.random_source.choice(passes)()

    def remove(self, name: str) -> None:
        first, last = self.bounds()
        kind = self.random_source.randrange(5)
        if kind == 0:
            self.cache.remove_range(name, first, last, self.random_source.random() < 0.5)
        elif kind == 1:
            self.cache.invalidate_before(name, first)
        elif kind == 2:
            self.cache.invalidate_ledger(name, first[0])
        else:
            (self.cache.clear if kind == 3 else self.cache.remove_cache)(name)

    def cursor(self, name: str) -> None:
        cursor = self.random_source.choice("xyz")
        if self.random_source.random() < 0.15:
            self.cache.cursor_remove(name, cursor)
            return
        where = self.random_source.choice((None, self.position()))
        self.random_source.choice((self.cache.cursor_add, self.cache.cursor_move))(name, cursor, where)

    def configure(self, name: str) -> None:
        if self.cache.max_size_bytes:
            self.cache.configure(
                ttl_nanos=self.random_source.randrange(20), max_requeues=self.random_source.randrange(3)
            )


def record_random_calls(seed: int, out: Path, config: Mapping[str, Any], steps: int = 400) -> RecordedCache:
    """Record random calls of every kind."""
    run = RecordedCache(out, config)
    random_calls = RandomCalls(seed, run)
    for _ in range(steps):
        random_calls.step()
    run.cache.metrics()
    run.flush()
    run.close()
    return run
