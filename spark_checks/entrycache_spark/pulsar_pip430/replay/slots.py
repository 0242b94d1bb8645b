"""Replay of the numbers of slots, and of what the end of a pass sums up (R-STATE-2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, is_open
from entrycache_spark.replaying import differ

TAKES: Final = ("EVICT", "REQUEUE", "TOMBSTONE")
OF_SLOTS: Final = ("INSERT", *TAKES, "PASS_END", "SNAPSHOT", "REMOVE")
SHOWS_HEAD: Final = ("EVICT", "REQUEUE", "SNAPSHOT", "PASS_END")


class Side:
    """One end of the queue: so many slots by rows, and by the number that was told last."""

    def __init__(self) -> None:
        self.count = 0
        self.told: int | None = None

    def is_wrong(self, number: int | None, whole: bool, numbered: bool) -> bool:
        """Whether a number agrees neither with the rows nor with what was told last."""
        if number is None or not (whole or numbered) or (whole and number == self.count):
            return False
        return number != self.told if self.told is not None else whole

    def known(self, whole: bool) -> int | None:
        """What the number should be."""
        return self.count if whole else self.told


class Slots:
    """The slots of one broker; `rows`: all of its rows, of which the first `n_whole` miss nothing."""

    def __init__(self, facts: Facts, tell: Tell, numbered: bool, rows: Sequence[Row], sampled: bool) -> None:
        self._facts = facts
        self._tell = tell
        self._numbered = numbered
        self._linked = not any(row["op"] == "REMOVE" and row["ticket"] is not None for row in rows)
        whole = rows if facts.starts and not sampled else ()
        numbers = [row["tail_no"] for at, row in enumerate(whole) if gives(row) and row["seq"] == facts.first_seq + at]
        off = [number - at for at, number in enumerate(numbers) if number is not None]
        self._in_order, self._drifts = not any(off), sum(off) != 0
        self._given, self._taken = Side(), Side()
        self._island = 0
        self._before: list[Row] = []
        """The two events before, INSERTs aside."""

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self.finish()
            self._island = now.island
            self._given, self._taken = Side(), Side()
        row, op = now.row, now.row["op"]
        if op not in OF_SLOTS:
            return
        if op != "INSERT":
            self._heads(row)
        ends = op == "PASS_END"
        if gives(row) or ends:
            self._enter(row, now.whole, ends)
        if op in TAKES or ends:
            self._leave(row, now.whole, ends)
        empty = now.whole and self._linked and self._given.count == self._taken.count
        if ends and empty and row["stamp_ns"] is not None:
            self._tell("R-STATE-2", row, "no stamp: no slot is left", row["stamp_ns"], [row["seq"]], True)

    def finish(self) -> None:
        """Nothing follows the last event without a gap."""
        self._heads(None)
        self._before.clear()

    def _enter(self, row: Row, whole: bool, ends: bool) -> None:
        side, number = self._given, row["tail_no"]
        if side.is_wrong(number, whole, self._numbered):
            certain = self._in_order if ends else self._facts.complete and self._drifts
            sure = not self._facts.many or certain
            self._tell("R-STATE-2", row, side.known(whole), number, [row["seq"]], sure)
        side.count += not ends
        side.told = side.told if number is None else number + (not ends)

    def _leave(self, row: Row, whole: bool, ends: bool) -> None:
        side, number = self._taken, row["head_no"]
        if self._linked and side.is_wrong(number, whole, self._numbered):
            self._tell("R-STATE-2", row, side.known(whole), number, [row["seq"]], True)
        side.count += not ends
        side.told = side.told if number is None else number + (not ends)

    def _heads(self, row: Row | None) -> None:
        """What is taken or shown next is the head that the end of a pass has told."""
        if len(self._before) == 2:
            self._head(self._before[0], self._before[1], row)
        self._before = [*self._before[-1:], row] if row is not None else self._before

    def _head(self, ended: Row, shown: Row | None, then: Row | None) -> None:
        if ended["op"] != "PASS_END" or not self._linked or shown is None or shown["op"] not in SHOWS_HEAD:
            return
        stamp = ended["stamp_ns"]
        again = shown["op"] == "PASS_END" and then is not None and stamp is not None and then["stamp_ns"] == stamp
        if differ(shown["stamp_ns"], stamp) and not again:
            self._tell("R-STATE-2", ended, shown["stamp_ns"], stamp, [ended["seq"], shown["seq"]], True)


def gives(row: Row) -> bool:
    """Whether the event gives an entry a slot."""
    return row["op"] in ("INSERT", "REQUEUE") or is_open(row)
