"""Replay of what is cached where: lookups and fills (R-READ-*), duplicates (R-INSERT-*), what calls leave."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, is_open

Place = tuple[Any, Any, Any]


class Change(NamedTuple):
    """The last event that put an entry at a position or took it away."""

    seq: int
    is_in: bool
    life: int | None


class Lookups:
    """What each position holds, and which call has missed it last."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._facts = facts
        self._tell = tell
        self._island = 0
        self._changes: dict[Place, Change] = {}
        self._missed: dict[Place, Row] = {}
        self._fills: dict[int, Row] = {}

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island = now.island
            self._changes.clear()
            self._missed.clear()
        row, op = now.row, now.row["op"]
        self._in_call(row)
        if row["entry_id"] is None:
            return
        place = (row["cache"], row["ledger_id"], row["entry_id"])
        change = self._changes.get(place)
        is_in = change.is_in if change is not None else False if now.whole else None
        if op in ("HIT", "MISS"):
            self._looked_up(row, change, is_in)
        elif op == "REJECT" and row["cause"] == "DUPLICATE" and is_in is False:
            self._tell("R-INSERT-1", row, "INSERT", "REJECT of what is not cached", [row["seq"]], not self._facts.many)
        elif op == "INSERT":
            if is_in:
                self._tell("R-INSERT-2", row, "REJECT", "INSERT", [row["seq"]], not self._facts.many)
            if row["cause"] == "FILL":
                self._filled(row, self._missed.get(place))
        if op == "MISS":
            self._missed[place] = row
        if op == "INSERT" or (is_open(row) and row["life"] is not None):
            self._changes[place] = Change(row["seq"], True, row["life"])
        elif op in ("EVICT", "REMOVE"):
            self._changes[place] = Change(row["seq"], False, row["life"])

    def _looked_up(self, row: Row, change: Change | None, is_in: bool | None) -> None:
        rule = {"GET": "R-READ-1", "READ": "R-READ-7", "REPLAY": "R-READ-10"}.get(row["cause"])
        if rule is None or is_in is None:
            return
        other = change is not None and row["life"] is not None and row["life"] != change.life
        if is_in if row["op"] == "MISS" else (not is_in or other):
            seqs = [None if change is None else change.seq, row["seq"]]
            self._tell(rule, row, "what is cached", f"{row['op']} of life {row['life']}", seqs, not self._facts.many)

    def _filled(self, row: Row, missed: Row | None) -> None:
        many, call_id = self._facts.many, row["call_id"]
        uncounted = row["expected_reads"] is None or row["expected_reads"] < 1
        seen = call_id is not None and call_id >= self._facts.first_seq and not self._facts.gapped
        told = None if missed is None else missed["call_id"]
        foreign = seen and (not many if told is None else told != call_id)
        if uncounted or foreign:
            self._tell("R-READ-9", row, "a MISS in the same call", row["expected_reads"], [], not many or uncounted)
        if missed is not None and missed["cause"] == "REPLAY" and missed["call_id"] == call_id is not None:
            self._tell("R-READ-10", row, "no fill", "a fill", [missed["seq"], row["seq"]], not many)

    def _in_call(self, row: Row) -> None:
        """The reads of one call that name no cursor: lookups first, then fills, ascending, of one count."""
        fill = row["op"] == "INSERT" and row["cause"] == "FILL"
        lookup = row["op"] in ("HIT", "MISS") and row["cause"] == "READ"
        if row["call_id"] is None or row["cursor"] is not None or not (fill or lookup):
            return
        last, sure = self._fills.get(row["call_id"]), not self._facts.many
        if last is not None and lookup:
            self._tell("R-READ-7", row, "lookups before fills", row["op"], [last["seq"], row["seq"]], sure)
        elif last is not None and _goes_astray(row, last):
            self._tell("R-READ-9", row, "ascending, one count", row["entry_id"], [last["seq"], row["seq"]], sure)
        if fill:
            names = ("expected_reads", "ledger_id", "entry_id")
            known = {} if last is None else {name: last[name] for name in names if row[name] is None}
            self._fills[row["call_id"]] = {**row, **known}


def _goes_astray(row: Row, last: Row) -> bool:
    """Whether a fill does not follow the one before it in a read."""
    return _differ(row, last, "expected_reads") or _differ(row, last, "ledger_id") or _falls_back(row, last)


def _differ(row: Row, last: Row, name: str) -> bool:
    return None not in (row[name], last[name]) and row[name] != last[name]


def _falls_back(row: Row, last: Row) -> bool:
    """Whether an entry of the same ledger does not lie behind the last one."""
    known = None not in (row["ledger_id"], row["entry_id"], last["entry_id"]) and row["ledger_id"] == last["ledger_id"]
    return known and bool(row["entry_id"] <= last["entry_id"])
