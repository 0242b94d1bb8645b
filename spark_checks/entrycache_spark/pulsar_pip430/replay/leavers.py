"""Replay of the calls that remove entries: nothing of their range is left (R-INVALIDATE-*)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


Named = tuple[Any, str, int | None, int]
"""A call that removes entries: its cache, cause and ledger (cause LEDGER alone), and its id."""


@dataclass
class Call:
    """The range of a call that removes entries, or finds several, as its rows show it."""

    cause: str
    ledger: int | None
    first_seq: int
    last_seq: int
    lowest: Pos | None = None
    highest: Pos | None = None
    n_rows: int = 0

    def covers(self, pos: Pos) -> bool:
        """Whether a position is of the range that the rows show."""
        if self.cause == "LEDGER":
            return pos[0] == self.ledger
        if self.cause in ("RANGE", "GET", "CURSOR", "TIME", "SIZE"):
            if self.lowest is None or self.highest is None:
                return False
            return pos <= self.highest and (self.cause not in ("RANGE", "GET") or pos >= self.lowest)
        return True


def _named(row: Row) -> Named | None:
    """The call that a row is of, if it removes entries."""
    if row["call_id"] is None or not (
        row["op"] == "CACHE_CLOSE" or (row["op"] == "REMOVE" and row["cause"] in RULE_OF)
    ):
        return None
    cause = "CLOSE" if row["op"] == "CACHE_CLOSE" else row["cause"]
    if cause != "CLOSE" and row["entry_id"] is None:
        return None
    return row["cache"], cause, row["ledger_id"] if cause == "LEDGER" else None, row["call_id"]


def _calls(rows: list[Row], named_of: Callable[[Row], Named | None]) -> dict[Named, Call]:
    found: dict[Named, Call] = {}
    for row in rows:
        named = named_of(row)
        if named is None:
            continue
        call = found.setdefault(named, Call(named[1], named[2], row["seq"], row["seq"]))
        call.last_seq = row["seq"]
        call.n_rows += 1
        if row["entry_id"] is not None and row["ledger_id"] is not None:
            pos = (row["ledger_id"], row["entry_id"])
            call.lowest = pos if call.lowest is None else min(call.lowest, pos)
            call.highest = pos if call.highest is None else max(call.highest, pos)
    return found


class Leavers:
    """The lives of each cache; a call is judged at its last row.

    `named_of`: the call that a row is of, if it is one of those; `rule_of`: the rule of a call, by its cause.
    """

    def __init__(
        self,
        facts: Facts,
        tell: Tell,
        rows: list[Row],
        named_of: Callable[[Row], Named | None] = _named,
        rule_of: Mapping[str, str] = RULE_OF,
    ) -> None:
        self._facts = facts
        self._tell = tell
        self._named_of = named_of
        self._rule_of = rule_of
        begins = Counter(row["life"] for row in rows if row["op"] == "INSERT" or is_open(row))
        self._twice = {life for life, times in begins.items() if times > 1}
        self._live: defaultdict[Any, dict[int, tuple[Pos, int]]] = defaultdict(dict)
        self._cache_of: dict[int, Any] = {}
        self._gone: set[int] = set()
        self._calls = _calls(rows, named_of)

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        self.take(now.row)

    def take(self, row: Row) -> None:
        """Take in one row."""
        op, life = row["op"], row["life"]
        begins = (
            (op == "INSERT" or is_open(row)) and life is not None and None not in (row["ledger_id"], row["entry_id"])
        )
        if begins and life not in self._twice and life not in self._gone:
            self._live[row["cache"]][life] = ((row["ledger_id"], row["entry_id"]), row["seq"])
            self._cache_of[life] = row["cache"]
        if op in ("EVICT", "REMOVE") and life is not None:
            self._gone.add(life)
            self._live[self._cache_of.get(life)].pop(life, None)
        named = self._named_of(row)
        if named is not None and self._calls[named].last_seq == row["seq"]:
            self._judge(row, self._calls[named])

    def _judge(self, row: Row, call: Call) -> None:
        live = self._live[row["cache"]].items()
        left = [life for life, (pos, begun) in live if begun < call.first_seq and call.covers(pos)]
        if len(left) > call.n_rows > 1 if call.cause == "GET" else left:
            sure = not self._facts.gapped and not self._facts.many
            told = {**row, "life": min(left)}
            self._tell(self._rule_of[call.cause], told, "none left", f"{len(left)} left", [call.last_seq], sure)
