"""Rules of single rows: each has all that it takes to be judged."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import compiled

ODD_NS = 1_000_000_000
"""Older than its event by more than this, a stamp of a real clock is looked at."""


@compiled
def fold_plain(c: Any, settings: Any, many: bool, virtual: bool, flags: Any) -> None:
    """R-CONFIG-1, R-EXPIRE-2, R-INSERT-1, R-REQUEUE-1 and 8, R-TRIGGER-1, 4 and 8."""
    for i in range(len(c.seq)):
        op, now = c.op[i], c.settings[i]
        if op == w.INSERT:
            new, ts = c.new_stamp_ns[i], c.ts_ns[i]
            if (
                c.accessed[i] == 1
                or differ(c.requeues[i], 0)
                or (new != NULL and (new > ts or (virtual and new != ts) or ts - new > ODD_NS))
            ):
                flag(flags, w.INSERT_1, c.seq[i])
        elif w.in_pass(op):
            extend, extend_now = c.extend_accessed[i], settings[now, w.EXTEND_NOW]
            if differ(c.max_requeues[i], settings[now, w.REQUEUES_NOW]) or (
                extend >= 0 and extend_now != NULL and extend != extend_now
            ):
                flag(flags, w.CONFIG_1, c.seq[i])
            if op == w.REQUEUE:
                _requeue(c, i, flags)
            elif op == w.PASS_END and c.cause[i] == w.BY_TIME:
                stamp, bound = c.stamp_ns[i], c.bound[i]
                if bound != NULL and (stamp < bound if stamp != NULL else c.bytes_after[i] > 0):
                    flag(flags, w.EXPIRE_2, c.seq[i])
            if op <= w.PASS_END and c.cause[i] == w.BY_SIZE:
                _size_pass(c, i, settings[now], many, flags)


@compiled
def _requeue(c: Any, i: int, flags: Any) -> None:
    touched = c.accessed[i] == 1 and c.extend_accessed[i] == 1
    if c.cause[i] == w.BY_ACCESSED:
        if c.accessed[i] == 0 or c.extend_accessed[i] == 0:
            flag(flags, w.REQUEUE_1, c.seq[i])
    elif c.cause[i] == w.BY_EXPECTED and (c.expected_reads[i] < 1 or touched):
        flag(flags, w.REQUEUE_8, c.seq[i])


@compiled
def _size_pass(c: Any, i: int, now: Any, many: bool, flags: Any) -> None:
    if differ(c.trigger_bytes[i], now[w.TRIGGER_NOW]) or differ(c.target_bytes[i], now[w.TARGET_NOW]):
        flag(flags, w.TRIGGER_1, c.seq[i])
    origin = c.origin[i]
    if c.op[i] != w.PASS_BEGIN or (origin != w.OF_TRIGGER and origin != w.OF_CYCLE):
        return
    if origin == w.OF_TRIGGER and now[w.MANUAL] == 1 and not many and differ(c.call_id[i], c.seq[i]):
        flag(flags, w.TRIGGER_4, c.seq[i])
    held = held_bytes(c.manager_bytes[i], c.bytes_after[i])
    trigger, target = told_else(c.trigger_bytes[i], now[w.TRIGGER_NOW]), told_else(c.target_bytes[i], now[w.TARGET_NOW])
    if many:
        if c.bound[i] != NULL and c.bound[i] <= 0:
            flag(flags, w.TRIGGER_8, c.seq[i])
    elif trigger != NULL and target != NULL and trigger < held <= target:
        flag(flags, w.TRIGGER_8, c.seq[i])


@compiled
def told_else(told: int, other: int) -> int:
    """What a row tells, or what is in force."""
    return told if told != NULL else other


@compiled
def held_bytes(manager: int, after: int) -> int:
    """The bytes that the cache looks at: the manager's own where they are told."""
    return manager if manager != NULL else after
