"""The numbers of slots, one after the other, and what the end of a pass sums up (R-STATE-2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import Array, compiled

STARTS, GIVEN, TAKEN, GIVEN_TOLD, TAKEN_TOLD, HEAD_STAMP, HEAD_SEQ, IF_LINKED = range(8)
"""The fields of the state: whether the trace begins with CONFIG; how many slots were given and taken, by the rows and
by what they last told; the stamp of the head at the end of the last pass, until an event shows it; and the first event
that is wrong unless calls unlink slots at once."""


def new_numbers() -> Array:
    """The state at first."""
    found = np.full(8, NULL, np.int64)
    found[[GIVEN, TAKEN]] = 0
    return found


@compiled
def fold_numbers(c: Any, s: Any, flags: Any) -> None:
    """With several threads what is out of order is left to the window, which knows how much that may be."""
    for i in range(len(c.seq)):
        op = c.op[i]
        if s[STARTS] == NULL:
            s[STARTS] = 1 if op == w.CONFIG else 0
        gives = op == w.INSERT or op == w.REQUEUE or (op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN)
        takes = op == w.EVICT or op == w.REQUEUE or op == w.TOMBSTONE
        ends = op == w.PASS_END
        if not (gives or takes or ends or op == w.SNAPSHOT or op == w.REMOVE):
            continue
        if op != w.INSERT and s[HEAD_STAMP] != NULL:
            if op != w.TOMBSTONE and op != w.REMOVE and differ(c.stamp_ns[i], s[HEAD_STAMP]):
                _unless_unlinked(s[HEAD_SEQ], s)
            s[HEAD_STAMP] = NULL
        if gives or ends:
            if differ(c.tail_no[i], s[GIVEN] if s[STARTS] == 1 else s[GIVEN_TOLD]):
                flag(flags, w.STATE_2, c.seq[i])
            if c.tail_no[i] != NULL:
                s[GIVEN_TOLD] = c.tail_no[i] + (1 if gives else 0)
        if takes or ends:
            if differ(c.head_no[i], s[TAKEN] if s[STARTS] == 1 else s[TAKEN_TOLD]):
                _unless_unlinked(c.seq[i], s)
            if c.head_no[i] != NULL:
                s[TAKEN_TOLD] = c.head_no[i] + (1 if takes else 0)
        if ends and c.stamp_ns[i] != NULL:
            if s[STARTS] == 1 and s[GIVEN] == s[TAKEN]:
                _unless_unlinked(c.seq[i], s)
            s[HEAD_STAMP], s[HEAD_SEQ] = c.stamp_ns[i], c.seq[i]
        s[GIVEN] += gives
        s[TAKEN] += takes


@compiled
def _unless_unlinked(seq: int, s: Any) -> None:
    if s[IF_LINKED] == NULL:
        s[IF_LINKED] = seq


def end_numbers(s: Array, unlinked: bool, flags: Array) -> None:
    """What only the end tells: whether slots are unlinked by calls."""
    if s[IF_LINKED] != NULL and not unlinked:
        flag(flags, w.STATE_2, int(s[IF_LINKED]))
