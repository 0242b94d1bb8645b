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
        if row["manager_bytes"] is None:
            return
        ends = (
            after is not None and None not in (row["call_id"], after["call_id"]) and after["call_id"] != row["call_id"]
        )
        if row["op"] == "END" or (ends and not self._facts.many):
            before, self._off = self._off, row["manager_bytes"] - row["bytes_after"]
            if self._off not in (0, before):
                self._tell("R-STATE-1", row, row["bytes_after"], row["manager_bytes"], [row["seq"]], True)

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
