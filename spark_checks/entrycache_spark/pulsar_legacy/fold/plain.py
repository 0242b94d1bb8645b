"""Rules of single rows: each has all that it takes to be judged."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_legacy.fold import words as own
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.plain import held_bytes, told_else
from entrycache_trace.compiled import compiled


@compiled
def fold_rows(c: Any, settings: Any, flags: Any) -> None:
    """L-STATE-3, L-TRIGGER-6, and the amount of L-TRIGGER-1."""
    for i in range(len(c.seq)):
        op, cause, origin, bound = c.op[i], c.cause[i], c.origin[i], c.bound[i]
        if op == w.INSERT:
            if c.size_bytes[i] != NULL and c.size_bytes[i] < 0:
                flag(flags, own.STATE_3, c.seq[i])
        elif op == w.PASS_BEGIN and bound != NULL:
            if origin == w.OF_CALL and (
                bound <= 0 if cause == w.BY_SIZE else cause == w.BY_TIME and bound > c.ts_ns[i]
            ):
                flag(flags, own.STATE_3, c.seq[i])
            elif origin == w.OF_TRIGGER and cause == w.BY_SIZE:
                now = settings[c.settings[i]]
                if bound <= 0:
                    flag(flags, own.TRIGGER_6, c.seq[i])
                target = told_else(c.target_bytes[i], now[own.TARGET_NOW])
                held = held_bytes(c.manager_bytes[i], c.bytes_after[i])
                if now[own.MANUAL] == 0 and target != NULL and differ(bound, held - target):
                    flag(flags, own.TRIGGER_1, c.seq[i])
