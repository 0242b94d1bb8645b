"""Rules of the order of events: the running sum, passes one at a time, time, and what follows what."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.passes import is_out_of_pass
from entrycache_spark.loops.words import NULL, apart, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.plain import held_bytes, told_else
from entrycache_trace.compiled import compiled

PRIOR_SEQ, PRIOR_TS, PRIOR_OP, PRIOR_BYTES, PRIOR_CALL, PRIOR_OFF, PRIOR_WAITS, OPEN_PASS, FIRST_BYTES = range(9)
OPEN_SO_FAR, OPENED, STARTS, CAME_IN, CAME_BEFORE, LAG, ASKED, RELIEVED, LAST_RELIEF, LAST_ABOVE = range(9, 19)
PASS_KIND, PASS_ORIGIN, MANAGER_BEFORE, MANAGER_THEN = range(19, 23)
"""The fields of the state, all `NULL` at first: of the event before, then what has gathered since the first one.

`PRIOR_WAITS`: the rule whose pass has to come next, if one has.
"""
ORDER_FIELDS = 23


@compiled
def fold_order(c: Any, settings: Any, many: bool, virtual: bool, o: Any, flags: Any) -> None:
    """R-STATE-1, 4 and 6, R-TRIGGER-2, 3, 5 and 6."""
    for i in range(len(c.seq)):
        seq, op = c.seq[i], c.op[i]
        if o[PRIOR_SEQ] == NULL:
            o[STARTS] = 1 if op == w.CONFIG else 0
            o[FIRST_BYTES] = c.bytes_after[i]
            o[OPEN_SO_FAR] = o[OPENED] = o[CAME_IN] = o[CAME_BEFORE] = o[LAG] = 0
        else:
            if c.ts_ns[i] < o[PRIOR_TS]:
                flag(flags, w.STATE_6, seq)
            if not many and o[PRIOR_OFF] != 0 and o[PRIOR_CALL] != NULL and c.call_id[i] != NULL:
                if c.call_id[i] != o[PRIOR_CALL]:
                    flag(flags, w.STATE_1, o[PRIOR_SEQ])
            if o[PRIOR_WAITS] != NULL:
                origin = w.OF_TRIGGER if o[PRIOR_WAITS] == w.TRIGGER_2 else w.OF_CYCLE
                if not (op == w.PASS_BEGIN and c.cause[i] == w.BY_SIZE and c.origin[i] == origin):
                    flag(flags, o[PRIOR_WAITS], o[PRIOR_SEQ])
        opens = op == w.SNAPSHOT and c.cause[i] == w.BY_OPEN
        if op == w.PASS_BEGIN:
            o[PASS_KIND], o[PASS_ORIGIN] = c.cause[i], c.origin[i]
        elif w.in_pass(op) and op != w.REQUEUE and o[OPEN_PASS] == c.pass_id[i]:
            if apart(c.cause[i], o[PASS_KIND]) or (op == w.PASS_END and apart(c.origin[i], o[PASS_ORIGIN])):
                flag(flags, w.STATE_4, seq)
        _sum(seq, op, opens, c.bytes_after[i], c.size_bytes[i], o, flags)
        _passes(seq, op, c.pass_id[i], many, o, flags)
        o[PRIOR_WAITS] = NULL
        if op == w.INSERT:
            _inserted(seq, held_bytes(c.manager_bytes[i], c.bytes_after[i]), settings[c.settings[i]], many, o)
        elif op == w.PASS_BEGIN or op == w.PASS_END:
            _triggers(c, i, settings[c.settings[i]], many, virtual, o, flags)
        off = c.manager_bytes[i] - c.bytes_after[i] if c.manager_bytes[i] != NULL else 0
        if off != 0 and (op == w.END or (not many and _wanders(c.manager_bytes[i], off, o))):
            flag(flags, w.STATE_1, seq)
        o[MANAGER_THEN], o[MANAGER_BEFORE] = o[MANAGER_BEFORE], c.manager_bytes[i]
        o[PRIOR_SEQ], o[PRIOR_TS], o[PRIOR_OP], o[PRIOR_OFF] = seq, c.ts_ns[i], op, off
        o[PRIOR_BYTES], o[PRIOR_CALL] = c.bytes_after[i], c.call_id[i]


@compiled
def _wanders(manager: int, off: int, o: Any) -> bool:
    """Whether the manager's own bytes are neither the sum as it was, nor what they were, nor as far off as before."""
    before = o[MANAGER_BEFORE]
    if before == NULL or o[PRIOR_SEQ] == NULL or manager == before or manager == o[PRIOR_BYTES]:
        return False
    return manager != o[MANAGER_THEN] and off != before - o[PRIOR_BYTES]


@compiled
def _sum(seq: int, op: int, opens: bool, after: int, size: int, o: Any, flags: Any) -> None:
    change = 0
    if op == w.INSERT or op == w.EVICT or op == w.REMOVE:
        if size == NULL:
            return
        change = size if op == w.INSERT else -size
        if op == w.INSERT:
            o[CAME_IN] += size
    elif opens:
        o[OPENED] = 1
        o[OPEN_SO_FAR] += size if size != NULL else 0
        if after == o[OPEN_SO_FAR] and o[STARTS] == 1:
            return
    if o[PRIOR_SEQ] != NULL and after != o[PRIOR_BYTES] + change:
        flag(flags, w.STATE_1, seq)


@compiled
def _passes(seq: int, op: int, pass_id: int, many: bool, o: Any, flags: Any) -> None:
    within = not many and op != w.SNAPSHOT and w.in_pass(o[PRIOR_OP])
    if is_out_of_pass(op == w.PASS_BEGIN, w.in_pass(op), within, pass_id, seq, o[OPEN_PASS]):
        flag(flags, w.STATE_4, seq)
    if op == w.PASS_BEGIN:
        o[OPEN_PASS] = seq


@compiled
def _inserted(seq: int, held: int, now: Any, many: bool, o: Any) -> None:
    if now[w.TRIGGER_NOW] == NULL or held <= now[w.TRIGGER_NOW]:
        return
    o[ASKED] = seq
    if now[w.MANUAL] == 0 and now[w.TARGET_NOW] != NULL and held > now[w.TARGET_NOW]:
        if many:
            o[LAST_ABOVE] = seq
        else:
            o[PRIOR_WAITS] = w.TRIGGER_2


@compiled
def _triggers(c: Any, i: int, now: Any, many: bool, virtual: bool, o: Any, flags: Any) -> None:
    """The begin or the end of a pass."""
    op, cause, origin, seq = c.op[i], c.cause[i], c.origin[i], c.seq[i]
    held, manual = held_bytes(c.manager_bytes[i], c.bytes_after[i]), now[w.MANUAL]
    above = (
        now[w.TRIGGER_NOW] != NULL
        and held > now[w.TRIGGER_NOW]
        and now[w.TARGET_NOW] != NULL
        and held > now[w.TARGET_NOW]
    )
    if op == w.PASS_BEGIN:
        o[LAG] = max(c.bytes_after[i] - held, 0)
        if cause == w.BY_SIZE and origin == w.OF_TRIGGER:
            _triggered(c, i, now, many, held, o, flags)
            o[RELIEVED] = seq
        elif cause == w.BY_SIZE and origin == w.OF_CYCLE and manual != NULL:
            if _needless(c, i, now, many, held) or _other_need(c, i, now, many, held):
                flag(flags, w.TRIGGER_6, seq)
        elif cause == w.BY_TIME and origin == w.OF_CYCLE and manual != NULL and c.bound[i] != NULL:
            if now[w.TTL_NOW] != NULL:
                cutoff = c.ts_ns[i] - now[w.TTL_NOW]
                if c.bound[i] > cutoff or (virtual and c.bound[i] != cutoff):
                    flag(flags, w.TRIGGER_6, seq)
    else:
        if not many and cause == w.BY_TIME and origin == w.OF_CYCLE and manual != NULL and above:
            o[PRIOR_WAITS] = w.TRIGGER_6
        if many and cause == w.BY_SIZE and o[OPEN_PASS] == c.pass_id[i] and _too_much(c, i, now, o):
            if origin == w.OF_TRIGGER and manual == 0:
                flag(flags, w.TRIGGER_2, seq)
            elif origin == w.OF_CYCLE and manual != NULL:
                flag(flags, w.TRIGGER_6, seq)
        if cause == w.BY_SIZE and (origin == w.OF_TRIGGER or origin == w.OF_CYCLE):
            o[LAST_RELIEF] = seq
        o[CAME_BEFORE] = max(o[CAME_BEFORE], o[CAME_IN])
        o[OPEN_PASS] = NULL


@compiled
def _triggered(c: Any, i: int, now: Any, many: bool, held: int, o: Any, flags: Any) -> None:
    """The begin of a size pass of origin TRIGGER."""
    seq, before = c.seq[i], o[PRIOR_OP]
    other = _other_need(c, i, now, many, held)
    if now[w.MANUAL] == 0:
        unasked = not many and before != NULL and before != w.INSERT and before != w.REJECT and before != w.SKIP
        if other or unasked or _needless(c, i, now, many, held):
            flag(flags, w.TRIGGER_2, seq)
        if not many and (before == w.REJECT or before == w.SKIP):
            flag(flags, w.TRIGGER_3, seq)
    elif now[w.MANUAL] == 1:
        unasked = not many and o[STARTS] == 1 and o[OPENED] == 0 and (o[ASKED] == NULL or o[ASKED] < o[RELIEVED])
        if other or unasked or _needless(c, i, now, False, held):
            flag(flags, w.TRIGGER_5, seq)


@compiled
def _needless(c: Any, i: int, now: Any, many: bool, held: int) -> bool:
    """Whether a size pass begins at or under the trigger; with several threads by the bytes that it looked at."""
    trigger = told_else(c.trigger_bytes[i], now[w.TRIGGER_NOW])
    target = told_else(c.target_bytes[i], now[w.TARGET_NOW])
    if trigger == NULL or (many and (c.bound[i] == NULL or target == NULL)):
        return False
    return c.bound[i] + target <= trigger if many else held <= trigger


@compiled
def _other_need(c: Any, i: int, now: Any, many: bool, held: int) -> bool:
    """Whether it is to free another amount than what is above the target."""
    target = told_else(c.target_bytes[i], now[w.TARGET_NOW])
    return not many and target != NULL and held > target and c.bound[i] != NULL and c.bound[i] != held - target


@compiled
def _too_much(c: Any, i: int, now: Any, o: Any) -> bool:
    """Whether more is left than came in; with several threads."""
    target, tail, head = told_else(c.target_bytes[i], now[w.TARGET_NOW]), c.tail_no[i], c.head_no[i]
    slot_left = tail > head if tail != NULL and head != NULL else c.stamp_ns[i] != NULL
    return target != NULL and slot_left and c.bytes_after[i] > target + o[CAME_IN] - o[CAME_BEFORE] + o[LAG]


def end_order(o: Any, many: bool, flags: Any) -> None:
    """What only the end of the trace tells."""
    if o[STARTS] == 1 and o[FIRST_BYTES] not in (0, o[OPEN_SO_FAR]):
        flag(flags, w.STATE_1, 0)
    if many and o[LAST_ABOVE] != NULL and (o[LAST_RELIEF] == NULL or o[LAST_RELIEF] < o[LAST_ABOVE]):
        flag(flags, w.TRIGGER_2, int(o[LAST_ABOVE]))
