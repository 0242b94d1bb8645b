"""The turns of the ring: how many there were, and the numbers that are shown of them (S-RING-1, and S-INSERT-1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_segmented.fold import words as w
from entrycache_trace.compiled import Array, compiled

TURNS, NUMBER = range(2)
"""Of each event: the turns up to it, and the number that the last one shows."""


class Turns:
    """The turns at the end of the last batch."""

    def __init__(self) -> None:
        self._now = np.zeros(2, np.int64)

    def follow(self, c: Any, settings: Array, flags: Array) -> Array:
        """The turns before the first event of a batch, and after each."""
        turned = np.empty((len(c.seq) + 1, 2), np.int64)
        turned[0] = self._now
        _follow(c, settings, turned, flags)
        self._now = turned[-1].copy()
        return turned


@compiled
def _follow(c: Any, settings: Any, turned: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, tail = c.op[i], c.tail_no[i]
        turned[i + 1, TURNS], turned[i + 1, NUMBER] = turned[i, TURNS], turned[i, NUMBER]
        if op == w.INSERT:
            if differ(c.life[i], c.seq[i]) or (differ(tail, turned[i, TURNS]) and tail != turned[i, NUMBER]):
                flag(flags, w.INSERT_1, c.seq[i])
        elif op == w.PASS_BEGIN:
            turned[i + 1, TURNS] += 1
            turned[i + 1, NUMBER] = turned[i + 1, TURNS] if tail == NULL else tail
        if op != w.PASS_BEGIN and op != w.PASS_END:
            continue
        turns, segments, ticket = turned[i + 1, TURNS], settings[c.settings[i], w.SEGMENTS], c.ticket[i]
        wanted = turned[i, NUMBER] + 1 if op == w.PASS_BEGIN else turned[i, NUMBER]
        if differ(tail, turns) and tail != wanted:
            flag(flags, w.RING_1, c.seq[i])
        if ticket != NULL and (ticket < 0 or (segments != NULL and _is_other(ticket, turns, tail, segments))):
            flag(flags, w.RING_1, c.seq[i])


@compiled
def _is_other(ticket: int, turns: int, tail: int, segments: int) -> bool:
    """Whether a segment that is cleared is not the one whose turn it is."""
    return ticket != turns - segments and (tail == NULL or ticket != tail - segments)
