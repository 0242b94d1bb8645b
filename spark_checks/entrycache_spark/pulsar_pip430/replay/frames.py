"""Replay of the frame of a trace: time (R-STATE-6), and passes one after the other (R-STATE-4)."""

from __future__ import annotations

from typing import Final

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell

TAKES: Final = ("EVICT", "REQUEUE", "TOMBSTONE")


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

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island, self._marker = now.island, None
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
        if op in ("PASS_BEGIN", "PASS_END"):
            self._marker = row
