"""What events add up to, and what METRICS and END tell of it (R-METRICS-3 to 7, R-STATE-1 and 2 at the end)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import Array, compiled

INSERTED, EVICTED, CYCLES, HITS, HIT_BYTES, MISSES, MISS_BYTES, OPENED_LIVE, OPENED_SLOTS = range(9)
DEQUEUED, SHOWN, SHOWN_LIVE, SHOWN_SEQ, CHANGED_SEQ = range(9, 14)
SUMS: Final = 14
TOLD: Final = 7
"""The first sums are those that METRICS tells, by these names."""

NAMES: Final = (
    *("inserted_entries", "evicted_entries", "eviction_cycles"),
    *("hit_entries", "hit_bytes", "miss_entries", "miss_bytes"),
)
RULE_OF: Final = (w.METRICS_3, w.METRICS_4, w.METRICS_5, *(w.METRICS_6,) * 4)


@compiled
def fold_sums(c: Any, settings: Any, s: Any, at_metrics: Any) -> None:
    """The sums after the batch, and those that METRICS tells at each METRICS row of it."""
    k = 0
    for i in range(len(c.seq)):
        op, cause = c.op[i], c.cause[i]
        if op == w.HIT or op == w.MISS:
            if cause == w.BY_READ or cause == w.BY_REPLAY:
                size = c.size_bytes[i] if op == w.HIT else settings[c.settings[i], w.STORAGE]
                column = HITS if op == w.HIT else MISSES
                s[column] += 1
                s[column + 1] += size if size != NULL else 0
        elif op == w.INSERT:
            s[INSERTED] += 1
            s[CHANGED_SEQ] = c.seq[i]
        elif op == w.EVICT or op == w.REMOVE:
            s[EVICTED] += 1
            s[DEQUEUED] += op == w.EVICT or c.ticket[i] != NULL
            s[CHANGED_SEQ] = c.seq[i]
        elif op == w.REQUEUE or op == w.TOMBSTONE:
            s[DEQUEUED] += op == w.TOMBSTONE
            s[CHANGED_SEQ] = c.seq[i]
        elif op == w.PASS_BEGIN:
            asked = c.origin[i] == w.OF_TRIGGER or c.origin[i] == w.OF_CYCLE
            s[CYCLES] += cause == w.BY_SIZE and asked and c.bound[i] > 0
        elif op == w.SNAPSHOT:
            _shown(c, i, s)
        elif op == w.METRICS:
            for column in range(TOLD):
                at_metrics[k, column] = s[column]
            k += 1


@compiled
def _shown(c: Any, i: int, s: Any) -> None:
    if c.cause[i] == w.BY_OPEN:
        s[OPENED_SLOTS] += 1
        s[OPENED_LIVE] += c.life[i] != NULL
    elif c.cause[i] == w.BY_END:
        s[SHOWN] += 1
        s[SHOWN_LIVE] += c.life[i] != NULL
        if s[SHOWN_SEQ] == NULL:
            s[SHOWN_SEQ] = c.seq[i]


def new_sums() -> Array:
    """The sums at first."""
    found = np.zeros(SUMS, np.int64)
    found[[SHOWN_SEQ, CHANGED_SEQ]] = NULL
    return found


class Meters:
    """What METRICS tells, beside the sums since the start and since the METRICS before.

    Which of the two counts is known at the end only: whether the trace began with an empty cache.
    """

    def __init__(self) -> None:
        self._off: dict[int, int | None] = {}
        self._since_start: list[tuple[int, int]] = []
        self._since_before: list[tuple[int, int]] = []
        self._end: tuple[int, Mapping[str, int]] | None = None
        self._ends = 0

    def told(self, seq: int, told: Mapping[str, int], sums: Array, held: int, priced: bool, flags: Array) -> None:
        """A METRICS row."""
        for column, name in enumerate(NAMES):
            value, before = told.get(name), self._off.get(column)
            off = None if value is None else value - int(sums[column])
            if off is not None and (priced or name != "miss_bytes"):
                if off != 0:
                    self._since_start.append((RULE_OF[column], seq))
                if before is not None and off != before:
                    self._since_before.append((RULE_OF[column], seq))
            self._off[column] = off
        if told.get("bytes", held) != held:
            flag(flags, w.METRICS_7, seq)

    def told_end(self, seq: int, told: Mapping[str, int], after: int, flags: Array) -> None:
        """An END row."""
        self._end = (seq, told)
        self._ends += 1
        if told.get("bytes", after) != after:
            flag(flags, w.STATE_1, seq)

    def end(self, sums: Array, fresh: bool, complete: bool, numbered: bool, flags: Array) -> None:
        """What the whole trace shows."""
        for rule, seq in self._since_start if fresh else self._since_before:
            flag(flags, rule, seq)
        if not complete or self._end is None:
            return
        seq, told = self._end
        live = int(sums[INSERTED] + sums[OPENED_LIVE] - sums[EVICTED])
        slots = int(sums[INSERTED] + sums[OPENED_SLOTS] - sums[DEQUEUED])
        others = {told.get("entries", live) != live, numbered and told.get("slots", slots) != slots, self._ends > 1}
        if sums[SHOWN] and sums[CHANGED_SEQ] < sums[SHOWN_SEQ]:
            others |= {sums[SHOWN_LIVE] != live, numbered and sums[SHOWN] != slots}
        if any(others):
            flag(flags, w.STATE_2, seq)
