"""Replay of `kafka-streams`: counters, the order of events, and the loop over the rows of each thread.

`Counters` recomputes the sum of all sizes and the counters of the thread and its namespaces. `Order` checks the rules
about adjacent rows. The loop hands each row to all checks and collects their violations by rule.
"""

from collections import Counter, defaultdict
from functools import partial

from entrycache_spark.replay.common import ReplayPlan, Row, ViolationCollector, differ, read_counters, replay_each
from entrycache_spark.replay.kafka_streams.entries import (
    LIMITS,
    Calls,
    Entries,
    Facts,
    Reporter,
    applicable_rules,
    as_followed,
    same,
)
from entrycache_spark.systems.kafka_streams import COLUMNS

THREAD_COUNTERS = ("puts", "gets", "evicts", "flushes")


class Counters:
    """The sum of all sizes, and the counters of the thread and of its namespaces."""

    def __init__(self, facts: Facts, report: Reporter, entries: Entries, calls: Calls) -> None:
        self._facts = facts
        self._report = report
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
        """Read one event."""
        self._count(at, row)
        op, whole = row["op"], self._facts.whole[at]
        grown = self._entries.sum_bytes - self._sum_before
        self._sum_before = self._entries.sum_bytes
        by_row = None if at == 0 else self._facts.rows[at - 1]["bytes_after"] + grown
        if whole and row["bytes_after"] not in (by_row, self._entries.sum_bytes):
            self._report("K-METRICS-1", row, f"bytes_after {self._entries.sum_bytes}")
        if whole and op == "END":
            counters = read_counters(row)
            right = {"bytes": self._entries.sum_bytes, "entries": self._entries.live_in_all}
            if any(differ(counters.get(name), value) for name, value in right.items()):
                self._report("K-METRICS-1", row, right)
        if differ(row["manager_bytes"], row["bytes_after"]):
            if op == "END":
                self._report("K-METRICS-1", row, f"a running total of {row['bytes_after']}", sure=True)
            elif self._facts.ends_call(at):
                self._report("K-METRICS-1", row, f"a running total of {row['bytes_after']} between calls")
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
        counters, mine = read_counters(row), self._of_thread
        wrong = any(name in counters and counters[name] < self._told_before.get(name, 0) for name in THREAD_COUNTERS)
        if whole and row["call_id"] == row["seq"]:
            wrong |= not mine["failed"] and counters.get("puts", mine["puts"]) < mine["puts"]
            evicts = counters.get("evicts")
            if evicts is not None:
                wrong |= evicts < self._calls.sure_evicts or (not self._shrunk and evicts > mine["evicts"])
            wrong |= counters.get("flushes", self._calls.flush_calls) < self._calls.flush_calls
            if counters.get("puts", 0) > mine["puts"] or counters.get("gets", 0) > mine["lookups"]:
                self._report("K-METRICS-2", row, dict(mine), sure=False)
        if wrong:
            self._report("K-METRICS-2", row, dict(mine))
        self._told_before |= {name: counters[name] for name in THREAD_COUNTERS if name in counters}

    def _namespace(self, row: Row) -> None:
        counters, mine = read_counters(row), self._of_cache[row["cache"]]
        hits, misses = counters.get("hits"), counters.get("misses")
        wrong = differ(counters.get("overwrites"), mine["overwrites"])
        if misses is not None:
            wrong |= not mine["sure_misses"] <= misses <= mine["misses"]
        if hits is not None:
            wrong |= hits < mine["hits"] or (not self._vague[row["cache"]] and hits > mine["hits"])
            if self._vague[row["cache"]] and hits > mine["hits"]:
                self._report("K-METRICS-3", row, dict(mine), sure=False)
        if wrong:
            self._report("K-METRICS-3", row, dict(mine))


# ---------- the order of events


def falls(one: int | None, other: int | None) -> bool:
    """Return whether the second of two known numbers is the smaller one."""
    return one is not None and other is not None and other < one


class Order:
    """K-LIVENESS-1, and the parts of K-FLUSH-1, K-EVICT-3, K-CLOSE-1 and K-CLOSE-2 about adjacent rows."""

    def __init__(self, facts: Facts, report: Reporter, entries: Entries) -> None:
        self._facts = facts
        self._report = report
        self._entries = entries
        self._left_before = False

    def follow(self, at: int, row: Row) -> None:
        """Read one event."""
        before = self._facts.rows[at - 1] if at else None
        if before is not None:
            self._frame(before, row)
        if self._facts.whole[at]:
            after = self._facts.next_to(at)
            if row["op"] == "FLUSH":
                self._handed(before, row, after)
            self._left(row, after)
        self._left_before = self._entries.leaves_here

    def _frame(self, before: Row, row: Row) -> None:
        if row["ts_ns"] < before["ts_ns"]:
            self._report("K-LIVENESS-1", row, f"ts_ns at or after {before['ts_ns']}", sure=True)
        follows = before["seq"] == row["seq"] - 1
        goes_on = not differ(row["call_id"], row["seq"]) or not differ(row["call_id"], before["call_id"])
        if follows and not goes_on and not self._facts.many:
            self._report("K-LIVENESS-1", row, f"call {before['call_id']}, or one that begins here", sure=True)

    def _handed(self, before: Row | None, row: Row, after: Row | None) -> None:
        same_call = same(before, row, "op", "cache", "call_id")
        if same_call and before is not None:
            if self._entries.is_evicted:
                self._report("K-EVICT-3", row, "the evicted entry first", [before["seq"], row["seq"]])
            elif not self._entries.leaves_here and not self._left_before and falls(before["life"], row["life"]):
                self._report("K-FLUSH-1", row, "the order of the last writes", [before["seq"], row["seq"]])
        goes_on = after is None or same(after, row, "op", "cache", "call_id")
        if not goes_on and self._entries.spaces[row["cache"]].dirty:
            self._report("K-FLUSH-1", row, "every dirty entry handed over")

    def _left(self, row: Row, after: Row | None) -> None:
        if not self._entries.spaces[row["cache"]].nodes:
            return
        op, cause = row["op"], row["cause"]
        if op not in ("REMOVE", "CACHE_CLOSE") or after is None:
            return
        goes_on = same(after, row, "cache", "call_id")
        if op == "CACHE_CLOSE" or cause == "CLOSE":
            if not (goes_on and after["op"] in ("REMOVE", "CACHE_CLOSE")):
                self._report("K-CLOSE-2", row, "an empty namespace")
        elif cause == "CLEAR" and not (goes_on and after["op"] == "REMOVE" and after["cause"] == "CLEAR"):
            self._report("K-CLOSE-1", row, "an empty namespace")


# ---------- threads


def _follow(facts: Facts, collector: ViolationCollector, max_live_slots: int) -> bool:
    """Replay the rows in order; return whether there were never more entries than replay is meant for."""
    as_followed(facts.rows)
    entries = Entries(facts, collector.report)
    calls = Calls(facts, collector.report, entries)
    checks: tuple[Order | Calls | Counters, ...] = (
        Order(facts, collector.report, entries),
        calls,
        Counters(facts, collector.report, entries, calls),
    )
    for at, row in enumerate(facts.rows):
        entries.follow(at, row)
        for check in checks:
            check.follow(at, row)
        if entries.live_in_all > max_live_slots:
            return False
    return True


replay = partial(replay_each, ReplayPlan(COLUMNS, LIMITS, applicable_rules, _follow))
"""Return the findings of each thread."""
