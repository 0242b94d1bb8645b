"""Replay of the end of a trace: the last snapshot, and what END tells (R-STATE-1, R-STATE-2)."""

from __future__ import annotations

from entrycache_spark.asked import counters_of
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, is_open

CHANGES = ("INSERT", "REQUEUE", "EVICT", "REMOVE", "TOMBSTONE")


class Ending:
    """The entries and slots at the end; and the manager's own bytes at rest."""

    def __init__(self, facts: Facts, tell: Tell, numbered: bool) -> None:
        self._facts = facts
        self._tell = tell
        self._numbered = numbered
        self._live = self._slots = self._shown = self._shown_live = 0
        self._shown_seq: int | None = None
        self._changed_seq: int | None = None
        self._island = 0
        self._off: int | None = None
        self._former: list[int | None] = []
        """The manager's own bytes in the two rows before."""

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        row, op = now.row, now.row["op"]
        opens = is_open(row)
        self._live += (op == "INSERT" or (opens and row["life"] is not None)) - (op in ("EVICT", "REMOVE"))
        leaves = op in ("EVICT", "TOMBSTONE") or (op == "REMOVE" and row["ticket"] is not None)
        self._slots += (op == "INSERT" or opens) - leaves
        if op in CHANGES:
            self._changed_seq = row["seq"]
        if op == "SNAPSHOT" and row["cause"] == "END":
            self._shown += 1
            self._shown_live += row["life"] is not None
            self._shown_seq = row["seq"] if self._shown_seq is None else self._shown_seq
        self._at_rest(now)
        if op == "END":
            self._end(row)

    def _at_rest(self, now: Moment) -> None:
        row, after = now.row, now.after
        if now.island != self._island:
            self._island, self._off = now.island, None
            self._former.clear()
        former, self._former = self._former, [*self._former[-1:], row["manager_bytes"]]
        if row["manager_bytes"] is None:
            return
        ends = (
            after is not None and None not in (row["call_id"], after["call_id"]) and after["call_id"] != row["call_id"]
        )
        off = row["manager_bytes"] - row["bytes_after"]
        wrong = off != 0 and not self._facts.many and self._strays(now, former)
        if row["op"] == "END" or (ends and not self._facts.many):
            wrong |= off not in (0, self._off)
            self._off = off
        if wrong:
            self._tell("R-STATE-1", row, row["bytes_after"], row["manager_bytes"], [row["seq"]], True)

    def _strays(self, now: Moment, former: list[int | None]) -> bool:
        """Whether the manager's own bytes are neither the sum as it was, nor as they were, nor off as they were."""
        row, before = now.row, now.before
        if before is None or before["manager_bytes"] is None:
            return False
        own, summed = row["manager_bytes"], before["bytes_after"]
        lags = own in (*former, summed)
        return not lags and bool(own - row["bytes_after"] != before["manager_bytes"] - summed)

    def _end(self, row: Row) -> None:
        told = counters_of(row)
        if told.get("bytes") not in (None, row["bytes_after"]):
            self._tell("R-STATE-1", row, row["bytes_after"], told["bytes"], [row["seq"]], True)
        if not self._facts.complete:
            return
        slots = self._slots if self._numbered else None
        wrong = told.get("entries") not in (None, self._live)
        wrong |= slots is not None and told.get("slots") not in (None, slots)
        at_rest = self._changed_seq is None or (self._shown_seq is not None and self._changed_seq < self._shown_seq)
        if self._shown and at_rest:
            wrong |= self._shown_live != self._live or (slots is not None and self._shown != slots)
        if wrong:
            shown = f"{told}; a snapshot of {self._shown_live} and {self._shown}"
            self._tell("R-STATE-2", row, f"{self._live} entries, {slots} slots", shown, [row["seq"]], True)
