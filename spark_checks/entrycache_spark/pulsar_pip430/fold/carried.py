"""What the events of a life show of it, beside what those before have left: position, size, stamp, mark, requeues."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.lives import BEGINS, BORN, GONE
from entrycache_trace.compiled import compiled

BEGUN, CACHE, LEDGER, ENTRY, SIZE, AHEAD, STEPS, STAMP, GIVEN, MARK, SLOT, SHOWN, HAD, FROM_BEGIN = range(14)
"""Of each life: whether its first event begins it, and what it says; by how much the requeue count shown is ahead of
the `STEPS` recorded; the stamp, mark (-1: not known) and slot that the event `GIVEN` gave it; whether the last snapshot
has shown it; and the requeues that it had, from its begin or not."""
CARRIED_FIELDS = 14


@compiled
def fold_carried(c: Any, numbers: Any, how: Any, virtual: bool, split: bool, t: Any, flags: Any) -> None:
    """R-STATE-2, R-READ-2, R-REQUEUE-3, 5 and 6, and the later events of R-INSERT-1, R-REQUEUE-4 and R-STATE-1."""
    for i in range(len(c.seq)):
        n, op = numbers[i], c.op[i]
        if n < 0 or op == w.TOMBSTONE:
            continue
        if how[i] & BORN:
            t[n, BEGUN], t[n, STEPS], t[n, SHOWN], t[n, HAD], t[n, FROM_BEGIN] = how[i] & BEGINS, 0, 0, 0, 0
            t[n, AHEAD], t[n, GIVEN], t[n, MARK], t[n, SIZE] = NULL, NULL, -1, NULL
        leaves = op == w.EVICT or op == w.REMOVE
        if leaves and t[n, BEGUN] and differ(c.size_bytes[i], t[n, SIZE]):
            flag(flags, w.STATE_1, c.seq[i])
        if op == w.EVICT:
            touched = c.accessed[i] == 1 and c.extend_accessed[i] == 1
            if touched or _has_budget(t[n], c.expected_reads[i], c.requeues[i], c.max_requeues[i]):
                flag(flags, w.REQUEUE_3, c.seq[i])
        elif op == w.REQUEUE or how[i] & BEGINS:
            _spent(c.seq[i], op, c.cause[i], c.requeues[i], c.max_requeues[i], split, t[n], flags)
        shows = leaves or op == w.SNAPSHOT or op == w.INSERT or op == w.HIT or op == w.REQUEUE
        if how[i] & GONE or not (shows or op == w.READ_DONE or op == w.EXPECT):
            continue
        if op == w.REQUEUE and not (split and c.cause[i] == w.BY_ACCESSED):
            t[n, STEPS] += 1
        if how[i] & BEGINS:
            _begin(c.cache[i], c.ledger_id[i], c.entry_id[i], c.size_bytes[i], c.requeues[i], t[n])
            if op == w.INSERT:
                _give(op, c.new_stamp_ns[i], c.ts_ns[i], virtual, 0, c.tail_no[i], t[n])
            else:
                _give(op, c.stamp_ns[i], NULL, False, c.accessed[i], c.tail_no[i], t[n])
            continue
        if t[n, BEGUN]:
            size = NULL if leaves else c.size_bytes[i]
            if _lies(c.requeues[i], c.stamp_ns[i], c.accessed[i], t[n]):
                _judge(c.seq[i], c.requeues[i], c.stamp_ns[i], c.accessed[i], t[n], flags)
            if _elsewhere(c.cache[i], c.ledger_id[i], c.entry_id[i], size, t[n]):
                flag(flags, w.STATE_2, c.seq[i])
            if op == w.SNAPSHOT and (differ(c.tail_no[i], t[n, SLOT]) or (c.cause[i] == w.BY_END and t[n, SHOWN])):
                flag(flags, w.STATE_2, c.seq[i])
        if c.requeues[i] != NULL:
            t[n, AHEAD] = c.requeues[i] - t[n, STEPS]
        if op == w.HIT:
            t[n, MARK] = 1
        elif op == w.REQUEUE:
            _give(op, c.new_stamp_ns[i], c.ts_ns[i], virtual, 0, c.tail_no[i], t[n])
        elif op == w.SNAPSHOT and c.cause[i] == w.BY_END:
            t[n, SHOWN] = 1


@compiled
def _begin(cache: int, ledger: int, entry: int, size: int, requeues: int, own: Any) -> None:
    own[CACHE], own[LEDGER], own[ENTRY], own[SIZE] = cache, ledger, entry, size
    if requeues != NULL:
        own[AHEAD] = requeues


@compiled
def _give(op: int, stamp: int, now: int, virtual: bool, mark: int, slot: int, own: Any) -> None:
    """What a slot of the removal queue gives: the stamp of a virtual clock is known where it is not told."""
    own[STAMP] = now if virtual and stamp == NULL else stamp
    own[GIVEN], own[MARK], own[SLOT] = op, mark, slot


@compiled
def _lies(requeues: int, stamp: int, mark: int, own: Any) -> bool:
    """Whether an event shows anything else than what was given."""
    return (
        (requeues != NULL and own[AHEAD] != NULL and requeues - own[STEPS] != own[AHEAD])
        or differ(stamp, own[STAMP])
        or (mark >= 0 and own[MARK] >= 0 and mark != own[MARK])
    )


@compiled
def _judge(seq: int, requeues: int, stamp: int, mark: int, own: Any, flags: Any) -> None:
    """What it shows."""
    if requeues != NULL and own[AHEAD] != NULL and requeues - own[STEPS] != own[AHEAD]:
        flag(flags, w.REQUEUE_5, seq)
    if differ(stamp, own[STAMP]):
        flag(flags, w.REQUEUE_4 if own[GIVEN] == w.REQUEUE else w.INSERT_1, seq)
    if mark >= 0 and own[MARK] >= 0 and mark != own[MARK]:
        flag(flags, w.READ_2, seq)


@compiled
def _elsewhere(cache: int, ledger: int, entry: int, size: int, own: Any) -> bool:
    return (
        (cache != 0 and own[CACHE] != 0 and cache != own[CACHE])
        or differ(ledger, own[LEDGER])
        or differ(entry, own[ENTRY])
        or differ(size, own[SIZE])
    )


@compiled
def _spent(seq: int, op: int, cause: int, requeues: int, most: int, split: bool, own: Any, flags: Any) -> None:
    """Count the requeues that an entry had, those before the trace too."""
    if op != w.REQUEUE:
        own[FROM_BEGIN] = 1
        if op == w.SNAPSHOT and requeues != NULL:
            own[HAD] += requeues
        return
    if not (split and cause == w.BY_ACCESSED):
        own[HAD] += 1
    if cause == w.BY_EXPECTED and most != NULL and (own[HAD] > most or requeues > most):
        flag(flags, w.REQUEUE_6, seq)


@compiled
def _has_budget(own: Any, expected: int, requeues: int, most: int) -> bool:
    """Whether an expected read keeps an entry."""
    used = requeues
    if own[FROM_BEGIN] and (used == NULL or own[HAD] < used):
        used = own[HAD]
    return expected >= 1 and used != NULL and most != NULL and used < most
