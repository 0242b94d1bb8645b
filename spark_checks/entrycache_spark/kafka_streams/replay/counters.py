"""Replay of sums and counters: K-METRICS-1 to K-METRICS-3."""

from __future__ import annotations

from collections import Counter, defaultdict

from entrycache_spark.asked import counters_of
from entrycache_spark.kafka_streams.replay.calls import Calls
from entrycache_spark.kafka_streams.replay.entries import Entries, Tell
from entrycache_spark.kafka_streams.replay.facts import Facts
from entrycache_spark.replaying import Row, differ

THREAD_COUNTERS = ("puts", "gets", "evicts", "flushes")


class Counters:
    """The sum of all sizes, and the counters of the thread and of its namespaces."""

    def __init__(self, facts: Facts, tell: Tell, entries: Entries, calls: Calls) -> None:
        self._facts = facts
        self._tell = tell
        self._entries = entries
        self._calls = calls
        self._of_thread: Counter[str] = Counter()
        self._of_cache: defaultdict[str | None, Counter[str]] = defaultdict(Counter)
        self._vague: Counter[str | None] = Counter()
        self._written: set[str | None] = set()
        self._told_before: dict[str, int] = {}
        self._shrunk = False
        self._sum_before = 0

    def follow(self, at: int, row: Row) -> None:
        """Take in one event."""
        self._count(at, row)
        op, whole = row["op"], self._facts.whole[at]
        grown = self._entries.sum_bytes - self._sum_before
        self._sum_before = self._entries.sum_bytes
        by_row = None if at == 0 else self._facts.rows[at - 1]["bytes_after"] + grown
        if whole and row["bytes_after"] not in (by_row, self._entries.sum_bytes):
            self._tell("K-METRICS-1", row, f"bytes_after {self._entries.sum_bytes}")
        if whole and op == "END":
            shown = counters_of(row)
            right = {"bytes": self._entries.sum_bytes, "entries": self._entries.live_in_all}
            if any(differ(shown.get(name), value) for name, value in right.items()):
                self._tell("K-METRICS-1", row, right)
        if differ(row["manager_bytes"], row["bytes_after"]):
            if op == "END":
                self._tell("K-METRICS-1", row, f"a running total of {row['bytes_after']}", sure=True)
            elif self._facts.ends_call(at):
                self._tell("K-METRICS-1", row, f"a running total of {row['bytes_after']} between calls")
        if op == "METRICS" and row["cache"] is None:
            self._thread(row, whole)
        elif op == "METRICS" and whole and row["call_id"] == row["seq"]:
            self._namespace(row)

    def _count(self, at: int, row: Row) -> None:
        op, cache = row["op"], row["cache"]
        self._of_thread["lookups"] += op in ("HIT", "MISS")
        own = self._of_cache[cache]
        if op == "CACHE_CLOSE":
            own.clear()
            self._written.discard(cache)
        elif op == "PUT":
            self._of_thread["puts"] += 1
            self._written.add(cache)
            own["overwrites"] += self._entries.was_live
        elif op == "MISS":
            own["misses"] += 1
            own["sure_misses"] += cache in self._written
        elif op in ("HIT", "FLUSH"):
            own["hits"] += 1
        elif op == "EVICT":
            own["hits"] -= row["dirty"]
            self._of_thread["evicts"] += 1
        if op == "FAILED" or (op == "FLUSH" and row["cause"] is None):
            self._vague[cache] += 1
        self._of_thread["failed"] += op == "FAILED"
        self._shrunk |= op == "CONFIG" and self._facts.settings[at].shrank

    def _thread(self, row: Row, whole: bool) -> None:
        shown, mine = counters_of(row), self._of_thread
        wrong = any(name in shown and shown[name] < self._told_before.get(name, 0) for name in THREAD_COUNTERS)
        if whole and row["call_id"] == row["seq"]:
            wrong |= not mine["failed"] and shown.get("puts", mine["puts"]) < mine["puts"]
            evicts = shown.get("evicts")
            if evicts is not None:
                wrong |= evicts < self._calls.sure_evicts or (not self._shrunk and evicts > mine["evicts"])
            wrong |= shown.get("flushes", self._calls.flush_calls) < self._calls.flush_calls
            if shown.get("puts", 0) > mine["puts"] or shown.get("gets", 0) > mine["lookups"]:
                self._tell("K-METRICS-2", row, dict(mine), sure=False)
        if wrong:
            self._tell("K-METRICS-2", row, dict(mine))
        self._told_before |= {name: shown[name] for name in THREAD_COUNTERS if name in shown}

    def _namespace(self, row: Row) -> None:
        shown, mine = counters_of(row), self._of_cache[row["cache"]]
        hits, misses = shown.get("hits"), shown.get("misses")
        wrong = differ(shown.get("overwrites"), mine["overwrites"])
        if misses is not None:
            wrong |= not mine["sure_misses"] <= misses <= mine["misses"]
        if hits is not None:
            wrong |= hits < mine["hits"] or (not self._vague[row["cache"]] and hits > mine["hits"])
            if self._vague[row["cache"]] and hits > mine["hits"]:
                self._tell("K-METRICS-3", row, dict(mine), sure=False)
        if wrong:
            self._tell("K-METRICS-3", row, dict(mine))
