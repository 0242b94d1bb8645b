"""Rules of what stands in a pass: what it takes, how much, and up to when."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import compiled

PASS, KIND, NEED, FREED, UNSIZED, BEGAN_NS, ENDED_NS, LIVE, LIVE_AT_LAST, STARTS = range(10)
"""The fields of the state: of the pass that is open (`PASS` is `NULL` where none is), then the end of the one before
it, and how many entries are cached: now, and at the last row of the pass."""
PASS_FIELDS = 10


@compiled
def fold_passes(c: Any, virtual: bool, p: Any, flags: Any) -> None:
    """R-EVICT-4 and 5, R-EXPIRE-1, and R-REQUEUE-4 of the row itself."""
    for i in range(len(c.seq)):
        op, pass_id = c.op[i], c.pass_id[i]
        if p[STARTS] == NULL:
            p[STARTS] = 1 if op == w.CONFIG else 0
            p[LIVE] = 0
        if op == w.INSERT or (op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN and c.life[i] != NULL):
            p[LIVE] += 1
        elif op == w.EVICT or op == w.REMOVE:
            p[LIVE] -= 1
        if op == w.PASS_BEGIN:
            if p[PASS] != NULL or pass_id != c.seq[i] or (c.cause[i] != w.BY_TIME and c.cause[i] != w.BY_SIZE):
                _disorder(c.seq[i], flags)
            p[PASS], p[KIND], p[NEED], p[FREED], p[UNSIZED] = pass_id, c.cause[i], c.bound[i], 0, 0
            p[BEGAN_NS], p[LIVE_AT_LAST] = c.ts_ns[i], p[LIVE]
        elif w.in_pass(op):
            if pass_id == NULL or pass_id != p[PASS]:
                _disorder(c.seq[i], flags)
            elif p[KIND] == w.BY_SIZE:
                _of_size(c.seq[i], op, c.bound[i], c.size_bytes[i], p, flags)
            else:
                _of_time(c.seq[i], op, c.bound[i], c.stamp_ns[i], p, flags)
            if op == w.REQUEUE and c.new_stamp_ns[i] != NULL:
                _stamped(c.seq[i], c.new_stamp_ns[i], c.ts_ns[i], c.stamp_ns[i], virtual, p, flags)
            elif op == w.PASS_END:
                p[PASS] = NULL
                p[ENDED_NS] = max(p[ENDED_NS], c.ts_ns[i])
            else:
                p[LIVE_AT_LAST] = p[LIVE]
        elif pass_id != NULL and (op == w.INSERT or op == w.REMOVE or op == w.SNAPSHOT):
            _disorder(c.seq[i], flags)


@compiled
def _disorder(seq: int, flags: Any) -> None:
    """Rows that do not tell of which pass they are: all is left to the windows."""
    flag(flags, w.EVICT_4, seq)
    flag(flags, w.EVICT_5, seq)
    flag(flags, w.EXPIRE_1, seq)
    flag(flags, w.REQUEUE_4, seq)


@compiled
def _of_size(seq: int, op: int, bound: int, size: int, p: Any, flags: Any) -> None:
    if op == w.EVICT and size == NULL:
        p[UNSIZED] = 1
    if p[UNSIZED] == 0 and bound != NULL and p[NEED] != NULL and bound != p[NEED] - p[FREED]:
        flag(flags, w.EVICT_5, seq)
    if op == w.EVICT:
        if p[UNSIZED] == 0 and ((p[NEED] != NULL and p[FREED] >= p[NEED]) or (bound != NULL and bound <= 0)):
            flag(flags, w.EVICT_5, seq)
        if size != NULL:
            p[FREED] += size
    elif op == w.PASS_END and (p[NEED] == NULL or p[FREED] < p[NEED]):
        if p[NEED] == NULL or p[STARTS] == 0 or (p[LIVE] > 0 and p[LIVE_AT_LAST] > 0):
            flag(flags, w.EVICT_4, seq)


@compiled
def _of_time(seq: int, op: int, bound: int, stamp: int, p: Any, flags: Any) -> None:
    if bound != NULL and p[NEED] != NULL and bound != p[NEED]:
        flag(flags, w.EXPIRE_1, seq)
    if (op == w.EVICT or op == w.REQUEUE) and stamp != NULL:
        cutoff = bound if bound != NULL else p[NEED]
        if cutoff == NULL or stamp >= cutoff:
            flag(flags, w.EXPIRE_1, seq)


@compiled
def _stamped(seq: int, new: int, ts: int, stamp: int, virtual: bool, p: Any, flags: Any) -> None:
    stays = stamp != NULL and new <= stamp and p[BEGAN_NS] > stamp
    if new > ts or (virtual and new != ts) or (p[ENDED_NS] != NULL and new < p[ENDED_NS]) or stays:
        flag(flags, w.REQUEUE_4, seq)


def end_passes(p: Any, flags: Any) -> None:
    """A size pass that does not end."""
    if p[PASS] != NULL and p[KIND] == w.BY_SIZE:
        flag(flags, w.EVICT_4, int(p[PASS]))
