"""Replay of the frame of a trace: time (R-STATE-6), and passes one after the other (R-STATE-4)."""

from __future__ import annotations

from typing import Final

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell
from entrycache_spark.replaying import differ

TAKES: Final = ("EVICT", "REQUEUE", "TOMBSTONE")
KINDS: Final = ("EVICT", "TOMBSTONE")
"""What tells by its cause of what kind its pass is."""


class Clock:
    """Time never goes back."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._tell = tell
        self._last: Row | None = None

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        row, last = now.row, self._last
        if last is not None and row["ts_ns"] < last["ts_ns"]:
            self._tell("R-STATE-6", row, last["ts_ns"], row["ts_ns"], [last["seq"], row["seq"]], True)
        self._last = row


class Frames:
    """What a pass does stands between its begin and its end."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._facts = facts
        self._tell = tell
        self._island = 0
        self._marker: Row | None = None
        self._kind: str | None = None

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island, self._marker, self._kind = now.island, None, None
        row, op = now.row, now.row["op"]
        begun = self._marker["seq"] if self._marker is not None and self._marker["op"] == "PASS_BEGIN" else None
        if op == "PASS_BEGIN":
            wrong = begun is not None or row["pass_id"] != row["seq"]
        elif op == "PASS_END" or op in TAKES:
            strange = self._marker is not None or now.whole
            wrong = row["pass_id"] is None or (strange if begun is None else begun != row["pass_id"])
        else:
            inside = now.before is not None and now.before["op"] in ("PASS_BEGIN", *TAKES)
            wrong = not self._facts.many and op != "SNAPSHOT" and begun is not None and inside
        if wrong:
            seqs = [row["seq"]] if begun is None else [begun, row["seq"]]
            self._tell("R-STATE-4", row, f"pass {begun} under way", f"{op} of pass {row['pass_id']}", seqs, True)
        if begun is not None and begun == row["pass_id"] and op in ("PASS_END", *KINDS):
            self._kinds(row, self._marker or row)
        if op in ("PASS_BEGIN", *KINDS):
            self._kind = row["cause"] or self._kind
        if op in ("PASS_BEGIN", "PASS_END"):
            self._marker = row

    def _kinds(self, row: Row, begin: Row) -> None:
        """A pass is of one kind and origin."""
        wrong = differ(row["cause"], begin["cause"]) and differ(row["cause"], self._kind)
        if wrong or (row["op"] == "PASS_END" and differ(row["origin"], begin["origin"])):
            told = (row["cause"], row["origin"])
            self._tell("R-STATE-4", row, (begin["cause"], begin["origin"]), told, [begin["seq"], row["seq"]], True)
