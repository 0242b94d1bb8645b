"""What an offer meets: the bytes at its beginning, and its own pass (L-INSERT-3 and 4, L-TRIGGER-2, 4, 5 and 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from entrycache_spark.loops.words import NULL, flag
from entrycache_spark.pulsar_legacy.fold import words as own
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.plain import held_bytes, told_else
from entrycache_trace.compiled import Array, compiled

HELD_BEFORE, ENDED_CALL, WAITS_SEQ, BEGUN_HELD, FIRST_AMOUNT, LAST_AMOUNT = range(6)
"""The fields of the state, all `NULL` at first: the bytes after the event before, and whose pass ended there; that
event if an offer has to follow; the bytes at the last begin of such a pass, and what has been asked for since."""


def new_offers() -> Array:
    """The state at first."""
    return np.full(6, NULL)


@compiled
def is_offer(op: int, cause: int) -> bool:
    """Whether an event tells what became of an offer."""
    return op == w.INSERT or op == w.REJECT or (op == w.SKIP and (cause == w.BY_FULL or cause == w.BY_DISABLED))


@compiled
def fold_offers(c: Any, settings: Any, o: Any, flags: Any) -> None:
    """Each offer behind the pass of its own call, or else behind the event before it."""
    for i in range(len(c.seq)):
        op, cause, call, seq = c.op[i], c.cause[i], c.call_id[i], c.seq[i]
        offers = is_offer(op, cause)
        behind = call != NULL and call == o[ENDED_CALL]
        if o[WAITS_SEQ] != NULL:
            if not (offers and behind):
                flag(flags, own.TRIGGER_2, o[WAITS_SEQ])
            o[WAITS_SEQ] = NULL
        held = held_bytes(c.manager_bytes[i], c.bytes_after[i])
        o[ENDED_CALL] = NULL
        if offers:
            found = o[BEGUN_HELD] if behind else o[HELD_BEFORE]
            if found != NULL:
                _offered(seq, op, cause, found, behind, settings[c.settings[i]], o, flags)
        elif cause == w.BY_SIZE and c.origin[i] == w.OF_TRIGGER:
            if op == w.PASS_BEGIN:
                _begun(seq, c.bound[i], held, c.trigger_bytes[i], settings[c.settings[i]], o, flags)
            elif op == w.PASS_END:
                o[ENDED_CALL] = call
                if settings[c.settings[i], own.MANUAL] == 0:
                    o[WAITS_SEQ] = seq
        o[HELD_BEFORE] = held


@compiled
def _offered(seq: int, op: int, cause: int, found: int, behind: bool, now: Any, o: Any, flags: Any) -> None:
    limit, target = now[own.LIMIT_NOW], now[own.TARGET_NOW]
    if limit != NULL:
        if op == w.INSERT and found >= limit:
            flag(flags, own.INSERT_3, seq)
        elif op == w.SKIP and cause == w.BY_FULL and found < limit:
            flag(flags, own.INSERT_4, seq)
    if now[own.TRIGGER_NOW] == NULL or found <= now[own.TRIGGER_NOW] or target == NULL or found <= target:
        return
    if now[own.MANUAL] == 1:
        o[LAST_AMOUNT] = found - target
        if o[FIRST_AMOUNT] == NULL:
            o[FIRST_AMOUNT] = found - target
    elif now[own.MANUAL] == 0 and not behind:
        flag(flags, own.TRIGGER_2 if op == w.INSERT else own.TRIGGER_7, seq)


@compiled
def _begun(seq: int, bound: int, held: int, trigger_bytes: int, now: Any, o: Any, flags: Any) -> None:
    """The begin of a pass that was asked for: at once, or of one that was scheduled."""
    trigger = told_else(trigger_bytes, now[own.TRIGGER_NOW])
    if now[own.MANUAL] == 0 and trigger != NULL and held <= trigger:
        flag(flags, own.TRIGGER_2, seq)
    elif now[own.MANUAL] == 1:
        if o[FIRST_AMOUNT] == NULL:
            flag(flags, own.TRIGGER_5, seq)
        elif bound != NULL and bound != o[FIRST_AMOUNT]:
            flag(flags, own.TRIGGER_4 if bound == o[LAST_AMOUNT] else own.TRIGGER_5, seq)
    o[BEGUN_HELD] = held
    o[FIRST_AMOUNT] = o[LAST_AMOUNT] = NULL
