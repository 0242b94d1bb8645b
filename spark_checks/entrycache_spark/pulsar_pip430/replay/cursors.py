"""Replay of the cursors: ranks of fills (R-CURSOR-7), and what is cached when nobody reads (R-CURSOR-6, -11, -12)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from entrycache_reference.pulsar_pip430.change import EMPTY
from entrycache_reference.pulsar_pip430.cursors import NANOS_A_MILLISECOND, in_grace, rank
from entrycache_reference.vocabulary import CursorName, Position
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell


@dataclass
class CacheCursors:
    """The cursors of one cache, and when its grace period started."""

    members: dict[CursorName, Position | None] = field(default_factory=dict)
    opened_ns: int | None = None
    grace_ns: int | None = None
    restart_ns: int | None = None
    turns: list[tuple[int, dict[CursorName, Position | None]]] = field(default_factory=list)
    """The members behind each of their events, kept of a trace of several threads."""


class Cursors:
    """The cursors of all caches."""

    def __init__(self, facts: Facts, tell: Tell, asking: frozenset[Any]) -> None:
        self._facts = facts
        self._tell = tell
        self._asking = asking
        self._of: dict[Any, CacheCursors] = {}

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        row, op = now.row, now.row["op"]
        cursors = self._of.setdefault(row["cache"], CacheCursors())
        if op == "CACHE_OPEN":
            if cursors.opened_ns is None:
                cursors.opened_ns = row["ts_ns"]
                self._restart(cursors, row["ts_ns"])
            cursors.restart_ns = _later(cursors.restart_ns, row["ts_ns"])
        elif row["cursor"] is not None and op in ("CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE"):
            self._turned(row, cursors)
        elif now.settings is not None and op == "INSERT" and row["cause"] == "FILL" and row["cursor"] is not None:
            wanted = rank(self._asked(row, cursors), row["cursor"])
            if now.settings.ranks and row["expected_reads"] != wanted:
                sure = self._facts.fresh and not self._facts.gapped and not self._facts.many
                self._tell("R-CURSOR-7", row, wanted, row["expected_reads"], [row["seq"]], sure)
        elif op == "INSERT" and row["cause"] == "ADD":
            if row["cache"] in self._asking or not self._facts.virtual:
                self._added(now, cursors, True)
        elif asks(now.row, now.before):
            self._added(now, cursors, False)

    def _asked(self, row: Row, cursors: CacheCursors) -> Mapping[CursorName, Position | None]:
        """The members when the fill's count was asked for: with several threads that is when its call begins."""
        call_id = row["call_id"]
        if not self._facts.many or call_id is None or call_id >= row["seq"]:
            return cursors.members
        at = bisect_right(cursors.turns, call_id, key=lambda turn: turn[0])
        return cursors.turns[at - 1][1] if at else {}

    def _turned(self, row: Row, cursors: CacheCursors) -> None:
        op, name = row["op"], row["cursor"]
        pos = None if row["ledger_id"] is None else Position(row["ledger_id"], row["entry_id"])
        if op == "CURSOR_ADD":
            cursors.members[name] = pos
            cursors.restart_ns = _later(cursors.restart_ns, row["ts_ns"])
        elif op == "CURSOR_MOVE" and name in cursors.members:
            cursors.members[name] = pos
        elif op == "CURSOR_REMOVE" and name in cursors.members:
            del cursors.members[name]
            self._restart(cursors, row["ts_ns"])
        if self._facts.many:
            cursors.turns.append((row["seq"], dict(cursors.members)))

    def _restart(self, cursors: CacheCursors, ts_ns: int) -> None:
        cursors.grace_ns = _later(cursors.grace_ns, ts_ns)
        cursors.restart_ns = _later(cursors.restart_ns, ts_ns)

    def _added(self, now: Moment, cursors: CacheCursors, cached: bool) -> None:
        """Let the reference say whether the entry was wanted."""
        row, settings = now.row, now.settings
        if settings is None or settings.ranks is None:
            return
        known = self._facts.fresh and not self._facts.gapped and not self._facts.many
        members, seqs = len(cursors.members), [row["seq"]]
        if not settings.ranks:
            if cached != (members > 0):
                self._tell("R-CURSOR-12", row, members > 0, cached, seqs, known)
            return
        grace = settings.grace_millis
        if grace is None:
            return
        by_grace, by_restart, by_open = (
            None if start is None else in_grace(EMPTY._replace(grace_start_nanos=start), row["ts_ns"], grace)
            for start in (cursors.grace_ns, cursors.restart_ns, cursors.opened_ns)
        )
        sure = known and (self._facts.virtual or members > 0 or not self._near(row, cursors, grace))
        if cached and members == 0 and by_grace is False:
            self._tell("R-CURSOR-6" if by_restart else "R-CURSOR-11", row, "SKIP", "INSERT", seqs, sure)
        elif not cached and (members > 0 or (by_grace and by_open)):
            self._tell("R-CURSOR-11", row, "INSERT", "SKIP", seqs, sure)
        elif not cached and by_grace and by_open is False:
            self._tell("R-CURSOR-6", row, "INSERT", "SKIP", seqs, sure)

    def _near(self, row: Row, cursors: CacheCursors, grace: int) -> bool:
        """Whether the end of the grace period is within a millisecond."""
        if cursors.grace_ns is None:
            return True
        passed = row["ts_ns"] // NANOS_A_MILLISECOND - cursors.grace_ns // NANOS_A_MILLISECOND
        return bool(abs(passed - grace) <= 1)


def _later(known: int | None, ts_ns: int) -> int:
    return ts_ns if known is None else max(known, ts_ns)


def asks(row: Row, before: Row | None) -> bool:
    """Whether the row is an added entry that was not wanted: the first event of its call, but for CACHE_OPEN."""
    if row["op"] != "SKIP" or row["cause"] != "NOT_WANTED" or row["call_id"] is None:
        return False
    opened = before is not None and before["op"] == "CACHE_OPEN" and before["call_id"] == row["call_id"]
    return bool(row["seq"] == row["call_id"] or (opened and row["seq"] == row["call_id"] + 1))
