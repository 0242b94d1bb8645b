"""Replay of the counts of expected reads, life by life (R-COUNT-1 to R-COUNT-3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, is_open

STEPS: Final = {"READ_DONE": -1, "EXPECT": 1}
RULE_OF: Final = {"READ_DONE": "R-COUNT-1", "EXPECT": "R-COUNT-2"}


@dataclass
class Tally:
    """The counts of one life, as far as its rows have shown them without a gap."""

    begun: bool
    first_count: int | None
    count: int | None
    seq: int
    steps: int = 0
    before: Counter[int] = field(default_factory=Counter)
    after: Counter[int] = field(default_factory=Counter)
    last_step: Row | None = None


class Tallies:
    """The counts of all lives."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._facts = facts
        self._tell = tell
        self._island = 0
        self._of: dict[int, Tally] = {}

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self.finish()
            self._island = now.island
            self._of.clear()
        row, op, life = now.row, now.row["op"], now.row["life"]
        if life is None or not self._speaks(row):
            return
        count, step = row["expected_reads"], STEPS.get(op, 0)
        tally = self._of.get(life)
        if tally is None:
            begun = op == "INSERT" or is_open(row)
            tally = self._of[life] = Tally(begun, count, count, row["seq"])
            if step and count is None:
                self._tell("R-COUNT-3", row, "a count", None, [row["seq"]], True)
        else:
            self._compare(row, tally, step)
        tally.steps += step
        tally.count, tally.seq = count, row["seq"]
        if step:
            tally.last_step = row
            if count is not None:
                tally.after[count] += 1
                tally.before[count - step] += 1

    def _speaks(self, row: Row) -> bool:
        if row["op"] in ("HIT", "REQUEUE"):
            return row["expected_reads"] is not None and not self._facts.many
        return row["op"] in ("INSERT", "READ_DONE", "EXPECT", "EVICT", "REMOVE", "SNAPSHOT")

    def _compare(self, row: Row, tally: Tally, step: int) -> None:
        op, count = row["op"], row["expected_reads"]
        total = None if tally.first_count is None else tally.first_count + tally.steps + step
        seqs = [tally.seq, row["seq"]]
        if step:
            if count is None or tally.count is None:
                self._tell("R-COUNT-3", row, "an entry with a count", count, seqs, True)
            elif not self._facts.many and count != tally.count + step and not (tally.begun and count == total):
                self._tell(RULE_OF[op], row, tally.count + step, count, seqs, True)
        elif op != "INSERT" and not self._facts.many and count != tally.count and not (tally.begun and count == total):
            self._tell("R-COUNT-3", row, tally.count, count, seqs, True)

    def finish(self) -> None:
        """With several threads: the counts before and after pair up, but for the first and the last."""
        if not self._facts.many:
            return
        for tally in self._of.values():
            if not tally.begun or tally.last_step is None:
                continue
            first, last = tally.first_count, None if tally.first_count is None else tally.first_count + tally.steps
            before, after = tally.before.copy(), tally.after.copy()
            if first is not None and last is not None:
                after[first] += 1
                before[last] += 1
            if before + Counter() != after + Counter():
                self._tell(
                    "R-COUNT-1", tally.last_step, last, "other counts", [tally.last_step["seq"]], self._facts.complete
                )
