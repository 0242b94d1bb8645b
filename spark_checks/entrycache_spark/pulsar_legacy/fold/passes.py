"""What stands in a pass (L-EVICT-1, L-EXPIRE-1 and 2).

It takes the lowest entries of a cache, up to its cutoff, and its end says what its begin does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.words import NULL, apart, differ, flag
from entrycache_spark.pulsar_legacy.fold import words as own
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.plain import told_else
from entrycache_trace.compiled import Array, compiled

PASS, KIND, BOUND, CACHE = range(4)
"""The fields of the state: of the pass that is open (`PASS` is `NULL` where none is)."""

TAKEN_BY, LEDGER, ENTRY = range(3)
"""Of each cache: the pass that took an entry of it last, and which."""
TAKEN_FIELDS = 3


def new_passes() -> Array:
    """The state at first."""
    return np.full(4, NULL)


def no_taken(caches: int) -> Array:
    """Caches of which nothing was taken."""
    return np.full((caches, TAKEN_FIELDS), NULL)


@compiled
def fold_passes(c: Any, below: Any, p: Any, taken: Any, flags: Any) -> None:
    """`below`: of each EVICT the life right below its own, -1 where it is the lowest."""
    for i in range(len(c.seq)):
        op, cause, pass_id, seq = c.op[i], c.cause[i], c.pass_id[i], c.seq[i]
        if op == w.PASS_BEGIN:
            if p[PASS] != NULL or pass_id != seq or (cause != w.BY_TIME and cause != w.BY_SIZE):
                _disorder(seq, flags)
            p[PASS], p[KIND], p[BOUND], p[CACHE] = pass_id, cause, c.bound[i], c.cache[i]
        elif op == w.EVICT or op == w.PASS_END:
            if pass_id == NULL or pass_id != p[PASS] or cause != p[KIND]:
                _disorder(seq, flags)
            elif op == w.EVICT:
                last = taken[c.cache[i]]
                if below[i] != -1 or (last[TAKEN_BY] == pass_id and descends(c.ledger_id[i], c.entry_id[i], last)):
                    flag(flags, own.EVICT_1 if cause == w.BY_SIZE else own.EXPIRE_2, seq)
                last[TAKEN_BY], last[LEDGER], last[ENTRY] = pass_id, c.ledger_id[i], c.entry_id[i]
            if cause == w.BY_TIME:
                _of_time(seq, op, c.cache[i], c.stamp_ns[i], c.bound[i], p, flags)
            elif op == w.PASS_END and (differ(c.bound[i], p[BOUND]) or apart(c.cache[i], p[CACHE])):
                flag(flags, own.EVICT_1, seq)
            if op == w.PASS_END:
                p[PASS] = NULL


@compiled
def descends(ledger: int, entry: int, before: Any) -> bool:
    """Whether a position is known to be no higher than the one before it."""
    if ledger == NULL or before[LEDGER] == NULL or ledger > before[LEDGER]:
        return False
    return ledger < before[LEDGER] or (entry != NULL and before[ENTRY] != NULL and entry <= before[ENTRY])


@compiled
def _of_time(seq: int, op: int, cache: int, stamp: int, bound: int, p: Any, flags: Any) -> None:
    if apart(cache, p[CACHE]):
        flag(flags, own.EXPIRE_1, seq)
    elif op == w.EVICT:
        if p[BOUND] != NULL and stamp > p[BOUND]:
            flag(flags, own.EXPIRE_1, seq)
    else:
        cutoff = told_else(bound, p[BOUND])
        if differ(bound, p[BOUND]) or (stamp != NULL and cutoff != NULL and stamp <= cutoff):
            flag(flags, own.EXPIRE_1, seq)


@compiled
def _disorder(seq: int, flags: Any) -> None:
    """Rows that do not tell of which pass they are: all is left to the windows."""
    for rule in range(own.EVICT_1, own.EXPIRE_2 + 1):
        flag(flags, rule, seq)
