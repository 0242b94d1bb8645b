"""The counts of expected reads, life by life (R-COUNT-1 to 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.lives import BEGINS, BORN
from entrycache_trace.compiled import compiled

SEEN, COUNT, BEGUN, FIRST, STEPS, MOVES = range(6)
"""Of each life: whether it was met, its count, whether its first event begins it and with which count, by how much
counts have changed, and the sum of what each change took and gave (for several threads)."""
COUNT_FIELDS = 6


@compiled
def fold_counts(c: Any, numbers: Any, how: Any, many: bool, t: Any, flags: Any) -> None:
    """With one thread each count follows from the one before; with several they pair up when the life is over."""
    for i in range(len(c.seq)):
        n, op = numbers[i], c.op[i]
        if n < 0:
            continue
        if how[i] & BORN:
            t[n, SEEN] = t[n, STEPS] = t[n, MOVES] = 0
        count = c.expected_reads[i]
        steps = op == w.READ_DONE or op == w.EXPECT
        if not steps:
            if op == w.HIT or op == w.REQUEUE:
                if count == NULL or many:
                    continue
            elif op != w.INSERT and op != w.EVICT and op != w.REMOVE and op != w.SNAPSHOT:
                continue
        step = (1 if op == w.EXPECT else -1) if steps else 0
        if t[n, SEEN] == 0:
            t[n, SEEN], t[n, BEGUN], t[n, FIRST] = 1, how[i] & BEGINS, count
            if steps and count == NULL:
                flag(flags, w.COUNT_3, c.seq[i])
        else:
            _judge(op, count, t[n, COUNT], step, many, c.seq[i], flags)
        t[n, COUNT] = count
        t[n, STEPS] += step
        if many and steps and count != NULL:
            t[n, MOVES] += token(count) - token(count - step)


@compiled
def _judge(op: int, count: int, before: int, step: int, many: bool, seq: int, flags: Any) -> None:
    if step == 0:
        if not many and op != w.INSERT and count != before:
            flag(flags, w.COUNT_3, seq)
        return
    if count == NULL or before == NULL:
        flag(flags, w.COUNT_3, seq)
    elif not many and count != before + step:
        flag(flags, w.COUNT_1 if step < 0 else w.COUNT_2, seq)


@compiled
def token(count: int) -> Any:
    """A number that no sum of others gives by chance."""
    mixed = np.uint64(count) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(mixed ^ (mixed >> np.uint64(31)))


@compiled
def close_counts(t: Any, lives: Any, many: bool, flags: Any) -> None:
    """What these lives show now that nothing more will be told of them."""
    for n in lives:
        first = t[n, FIRST]
        if many and t[n, SEEN] == 1 and t[n, BEGUN] != 0:
            # A life that begins without a count has none to change.
            if t[n, MOVES] != (0 if first == NULL else token(first + t[n, STEPS]) - token(first)):
                flag(flags, w.COUNT_1, 0)
