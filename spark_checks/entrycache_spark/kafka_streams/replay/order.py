"""Replay of the order of a thread's events: time, calls, and the order in which entries are handed over."""

from __future__ import annotations

from entrycache_spark.kafka_streams.replay.entries import Entries, Tell
from entrycache_spark.kafka_streams.replay.facts import Facts, same
from entrycache_spark.replaying import Row, differ


def falls(one: int | None, other: int | None) -> bool:
    """Whether the second of two known numbers is the smaller one."""
    return one is not None and other is not None and other < one


class Order:
    """K-LIVENESS-1, and what K-FLUSH-1, K-EVICT-3, K-CLOSE-1 and K-CLOSE-2 say of rows that stand together."""

    def __init__(self, facts: Facts, tell: Tell, entries: Entries) -> None:
        self._facts = facts
        self._tell = tell
        self._entries = entries
        self._left_before = False

    def follow(self, at: int, row: Row) -> None:
        """Take in one event."""
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
            self._tell("K-LIVENESS-1", row, f"ts_ns at or after {before['ts_ns']}", sure=True)
        follows = before["seq"] == row["seq"] - 1
        goes_on = not differ(row["call_id"], row["seq"]) or not differ(row["call_id"], before["call_id"])
        if follows and not goes_on and not self._facts.many:
            self._tell("K-LIVENESS-1", row, f"call {before['call_id']}, or one that begins here", sure=True)

    def _handed(self, before: Row | None, row: Row, after: Row | None) -> None:
        together = same(before, row, "op", "cache", "call_id")
        if together and before is not None:
            if self._entries.is_evicted:
                self._tell("K-EVICT-3", row, "the evicted entry first", [before["seq"], row["seq"]])
            elif not self._entries.leaves_here and not self._left_before and falls(before["life"], row["life"]):
                self._tell("K-FLUSH-1", row, "the order of the last writes", [before["seq"], row["seq"]])
        goes_on = after is None or same(after, row, "op", "cache", "call_id")
        if not goes_on and self._entries.told[row["cache"]].dirty:
            self._tell("K-FLUSH-1", row, "every dirty entry handed over")

    def _left(self, row: Row, after: Row | None) -> None:
        if not self._entries.told[row["cache"]].nodes:
            return
        op, cause = row["op"], row["cause"]
        if op not in ("REMOVE", "CACHE_CLOSE") or after is None:
            return
        goes_on = same(after, row, "cache", "call_id")
        if op == "CACHE_CLOSE" or cause == "CLOSE":
            if not (goes_on and after["op"] in ("REMOVE", "CACHE_CLOSE")):
                self._tell("K-CLOSE-2", row, "an empty namespace")
        elif cause == "CLEAR" and not (goes_on and after["op"] == "REMOVE" and after["cause"] == "CLEAR"):
            self._tell("K-CLOSE-1", row, "an empty namespace")
