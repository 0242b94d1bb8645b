"""Replay of what a life carries from event to event: position, size, slot, stamp, mark and requeue count.

The entry is the reference's own (`ReferenceEntries`); here stands which rule a row breaks that shows it otherwise
(R-STATE-2, R-INSERT-1, R-READ-2, R-REQUEUE-4, R-REQUEUE-5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, is_open

SHOWING: Final = ("HIT", "READ_DONE", "EXPECT", "REQUEUE", "EVICT", "REMOVE", "SNAPSHOT")
PLACE: Final = ("cache", "ledger_id", "entry_id")
PAST_MOST_NS: Final = 1_000_000_000
"""A thread may be held up between reading the clock and its event, though hardly for so long."""


@dataclass
class Carried:
    """One life as its rows of one island have left it; None where they do not tell."""

    place: tuple[Any, ...]
    size_bytes: int | None
    given_seq: int
    given_by: str
    stamp_ns: int | None
    slot_no: int | None
    marked: bool | None
    first_off: int | None
    off: int | None
    steps: int = 0
    hit_seq: int | None = None
    shown_seq: int | None = None
    last: dict[str, Any] = field(default_factory=dict)
    """What the last event that told it showed, or gave."""


class Carriers:
    """All lives that began in the present island; `begins`: the time at which each pass began."""

    def __init__(self, facts: Facts, tell: Tell, split: bool, begins: Mapping[int, int]) -> None:
        self._facts = facts
        self._tell = tell
        self._split = split
        self._island = 0
        self._lives: dict[int, Carried | None] = {}
        self._ended_ns: int | None = None
        self._begun_ns = begins

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island = now.island
            self._lives.clear()
        row, op, life = now.row, now.row["op"], now.row["life"]
        if op == "INSERT":
            self._inserted(row)
        elif op == "REQUEUE" and row["new_stamp_ns"] is not None:
            self._requeued(row)
        elif op == "PASS_END":
            self._ended_ns = row["ts_ns"] if self._ended_ns is None else max(self._ended_ns, row["ts_ns"])
        if life is None or (op not in SHOWING and op != "INSERT"):
            return
        begins = op == "INSERT" or is_open(row)
        if life not in self._lives:
            self._lives[life] = self._begun(row) if begins else None
            return
        carried = self._lives[life]
        if carried is None:
            return
        carried.steps += op == "REQUEUE" and not (self._split and row["cause"] == "ACCESSED")
        if not begins:
            self._compare(row, carried)
        self._change(row, carried, begins)
        if op in ("EVICT", "REMOVE"):
            self._lives[life] = None

    def _given_stamp(self, row: Row) -> int | None:
        if row["op"] == "SNAPSHOT":
            return None if row["stamp_ns"] is None else int(row["stamp_ns"])
        stamp = row["ts_ns"] if row["new_stamp_ns"] is None and self._facts.virtual else row["new_stamp_ns"]
        return None if stamp is None else int(stamp)

    def _begun(self, row: Row) -> Carried:
        off = row["requeues"]
        begun = Carried(
            place=tuple(row[name] for name in PLACE),
            size_bytes=row["size_bytes"],
            given_seq=row["seq"],
            given_by=row["op"],
            stamp_ns=self._given_stamp(row),
            slot_no=row["tail_no"],
            marked=row["accessed"] if row["op"] == "SNAPSHOT" else False,
            first_off=off or 0 if row["op"] == "INSERT" else off,
            off=off,
        )
        self._remember(row, begun)
        return begun

    def _change(self, row: Row, carried: Carried, begins: bool) -> None:
        op = row["op"]
        if begins or op == "REQUEUE":
            carried.given_seq, carried.given_by = row["seq"], op
            carried.stamp_ns, carried.slot_no = self._given_stamp(row), row["tail_no"]
            carried.marked = row["accessed"] if op == "SNAPSHOT" else False
        if op == "HIT":
            carried.hit_seq, carried.marked = row["seq"], True
        if op == "SNAPSHOT" and row["cause"] == "END":
            carried.shown_seq = row["seq"]
        self._remember(row, carried)
        if row["requeues"] is not None:
            carried.off = row["requeues"] - carried.steps

    def _remember(self, row: Row, carried: Carried) -> None:
        op = row["op"]
        gives = op in ("INSERT", "REQUEUE") or is_open(row)
        after = {name: row[name] for name in (*PLACE, "size_bytes")}
        after["stamp_ns"] = self._given_stamp(row) if gives else row["stamp_ns"]
        after["accessed"] = True if op == "HIT" else False if op in ("INSERT", "REQUEUE") else row["accessed"]
        carried.last.update((name, value) for name, value in after.items() if value is not None)

    @staticmethod
    def _is_odd(row: Row, carried: Carried, name: str, held: object) -> bool:
        """Whether a value is neither what is held nor what the event before showed, so that one lie is told once."""
        return _differ(row[name], held) and row[name] != carried.last.get(name)

    def _compare(self, row: Row, carried: Carried) -> None:
        """What the row shows from before its event, and the requeue count from after it."""
        op = row["op"]
        seqs = [carried.given_seq, row["seq"]]
        place = tuple(row[name] for name in PLACE)
        if any(self._is_odd(row, carried, name, first) for name, first in zip(PLACE, carried.place, strict=True)):
            self._tell("R-STATE-2", row, carried.place, place, [row["life"], row["seq"]], True)
        if op not in ("EVICT", "REMOVE") and self._is_odd(row, carried, "size_bytes", carried.size_bytes):
            self._tell("R-STATE-2", row, carried.size_bytes, row["size_bytes"], [row["life"], row["seq"]], True)
        if op == "SNAPSHOT":
            if _differ(row["tail_no"], carried.slot_no):
                self._tell("R-STATE-2", row, f"slot {carried.slot_no}", row["tail_no"], seqs, True)
            if row["cause"] == "END" and carried.shown_seq is not None:
                self._tell("R-STATE-2", row, "one row a slot", "a second row", [carried.shown_seq, row["seq"]], True)
        if self._is_odd(row, carried, "stamp_ns", carried.stamp_ns):
            rule = "R-REQUEUE-4" if carried.given_by == "REQUEUE" else "R-INSERT-1"
            self._tell(rule, row, f"stamp {carried.stamp_ns}", row["stamp_ns"], seqs, True)
        if self._is_odd(row, carried, "accessed", carried.marked):
            self._tell("R-READ-2", row, carried.marked, row["accessed"], [*seqs, carried.hit_seq], True)
        off = None if row["requeues"] is None else row["requeues"] - carried.steps
        if _differ(off, carried.off) and off != carried.first_off:
            self._tell("R-REQUEUE-5", row, (carried.off or 0) + carried.steps, row["requeues"], seqs, True)

    def _is_strange(self, row: Row) -> bool:
        """Whether a new stamp is not of the present."""
        stamp, ts = row["new_stamp_ns"], row["ts_ns"]
        return stamp is not None and bool(stamp > ts or (self._facts.virtual and stamp != ts))

    def _inserted(self, row: Row) -> None:
        stamp, ts = row["new_stamp_ns"], row["ts_ns"]
        sure = self._is_strange(row) or bool(row["accessed"]) or row["requeues"] not in (None, 0)
        if sure or (stamp is not None and ts - stamp > PAST_MOST_NS):
            shown = (row["accessed"], row["requeues"], stamp)
            self._tell("R-INSERT-1", row, (False, 0, ts), shown, [row["seq"]], sure or self._facts.virtual)

    def _requeued(self, row: Row) -> None:
        stamp, before, ended = row["new_stamp_ns"], row["stamp_ns"], self._ended_ns
        begun = None if row["pass_id"] is None else self._begun_ns.get(row["pass_id"])
        kept = None not in (before, begun) and stamp <= before < begun
        if self._is_strange(row) or kept or (ended is not None and stamp < ended):
            seqs = [row["pass_id"], row["seq"]]
            self._tell("R-REQUEUE-4", row, f"a stamp from {ended} to {row['ts_ns']}", stamp, seqs, True)


def _differ(shown: object, held: object) -> bool:
    return shown is not None and held is not None and shown != held
