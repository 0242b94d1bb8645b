"""Replay of the calls that remove entries: nothing of their range is left (R-INVALIDATE-*)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, is_open

RULE_OF: Final = {
    "RANGE": "R-INVALIDATE-1",
    "CLEAR": "R-INVALIDATE-4",
    "CURSOR": "R-INVALIDATE-7",
    "LEDGER": "R-INVALIDATE-8",
    "CLOSE": "R-INVALIDATE-9",
}
Pos = tuple[int, int]


@dataclass
class Call:
    """One call that removes entries of one cache, or of one ledger of it."""

    cause: str
    ledger: int | None
    first_seq: int
    last_row: Row
    lowest: Pos | None = None
    highest: Pos | None = None
    left_since: list[tuple[int, Pos, int, int]] = field(default_factory=list)

    def covers(self, pos: Pos) -> bool:
        """Whether a position is of the range that the rows show."""
        if self.cause == "LEDGER":
            return pos[0] == self.ledger
        if self.cause in ("RANGE", "CURSOR"):
            assert self.lowest is not None and self.highest is not None
            return pos <= self.highest and (self.cause == "CURSOR" or pos >= self.lowest)
        return True


class Leavers:
    """The lives of each cache, and the call that is under way."""

    def __init__(self, facts: Facts, tell: Tell, rows: list[Row]) -> None:
        self._facts = facts
        self._tell = tell
        begins = Counter(row["life"] for row in rows if row["op"] == "INSERT" or is_open(row))
        self._twice = {life for life, times in begins.items() if times > 1}
        self._live: defaultdict[Any, dict[int, tuple[Pos, int]]] = defaultdict(dict)
        self._cache_of: dict[int, Any] = {}
        self._gone: set[int] = set()
        self._call_id: int | None = None
        self._calls: dict[tuple[Any, str, int | None], Call] = {}

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        row, op, life = now.row, now.row["op"], now.row["life"]
        if self._calls and row["call_id"] != self._call_id:
            self.finish()
        begins = (op == "INSERT" or is_open(row)) and life is not None and row["entry_id"] is not None
        if begins and life not in self._twice and life not in self._gone:
            self._live[row["cache"]][life] = ((row["ledger_id"], row["entry_id"]), row["seq"])
            self._cache_of[life] = row["cache"]
        if op in ("EVICT", "REMOVE") and life is not None:
            self._gone.add(life)
            cache = self._cache_of.get(life)
            known = self._live[cache].pop(life, None)
            for (name, _, _), call in self._calls.items():
                if known is not None and name == cache:
                    call.left_since.append((life, *known, row["seq"]))
        if op == "CACHE_CLOSE" or (op == "REMOVE" and row["cause"] in RULE_OF):
            self._removes(row)

    def _removes(self, row: Row) -> None:
        cause = "CLOSE" if row["op"] == "CACHE_CLOSE" else row["cause"]
        if row["call_id"] is None or (cause != "CLOSE" and row["entry_id"] is None):
            return
        self._call_id = row["call_id"]
        ledger = row["ledger_id"] if cause == "LEDGER" else None
        call = self._calls.setdefault((row["cache"], cause, ledger), Call(cause, ledger, row["seq"], row))
        call.last_row = row
        if row["entry_id"] is not None:
            pos = (row["ledger_id"], row["entry_id"])
            call.lowest = pos if call.lowest is None else min(call.lowest, pos)
            call.highest = pos if call.highest is None else max(call.highest, pos)

    def finish(self) -> None:
        """Judge the call that is over."""
        for (cache, cause, _), call in self._calls.items():
            last_seq = call.last_row["seq"]
            kept = [(life, pos, begun) for life, (pos, begun) in self._live[cache].items()]
            kept += [(life, pos, begun) for life, pos, begun, gone in call.left_since if gone > last_seq]
            left = [life for life, pos, begun in kept if begun < call.first_seq and call.covers(pos)]
            if left:
                row = {**call.last_row, "life": min(left)}
                sure = not self._facts.gapped and not self._facts.many
                self._tell(RULE_OF[cause], row, "none left", f"{len(left)} left", [last_seq], sure)
        self._calls.clear()
