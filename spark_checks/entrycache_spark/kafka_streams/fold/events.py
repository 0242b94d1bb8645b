"""The loop over the events of a batch."""

from __future__ import annotations

from typing import Any

from entrycache_spark.kafka_streams.fold import calls as k
from entrycache_spark.kafka_streams.fold import keys as t
from entrycache_spark.kafka_streams.fold import spaces
from entrycache_spark.kafka_streams.fold import words as w
from entrycache_spark.loops.positions import USED, position
from entrycache_spark.loops.words import NULL, flag
from entrycache_trace.compiled import compiled


@compiled
def fold_events(
    c: Any, settings: Any, table: Any, used: Any, own: Any, suspects: Any, s: Any, at_metrics: Any, flags: Any
) -> None:
    """All grounds but those of counters; `own`: of each namespace; `at_metrics`: the sums at each METRICS or END."""
    metered = 0
    for i in range(len(c.seq)):
        op, cause, cache, seq = c.op[i], c.cause[i], c.cache[i], c.seq[i]
        now = settings[c.settings[i]]
        if op == w.FLUSH and cause == w.BY_FAILED:
            op = w.FAILED_FLUSH
        elif op == w.SNAPSHOT and cause == w.BY_OPEN:
            s[k.OPENED] = 1
        keyed = c.key_hash[i] != NULL
        if cache == 0 and (keyed or op == w.CACHE_CLOSE):
            s[k.HOMELESS] = 1
            return
        _framed(seq, c.ts_ns[i], op, cause, cache, c.call_id[i], own, s, flags)
        went_on = op == w.FLUSH and s[k.OP] == w.FLUSH and s[k.CACHE] == cache and s[k.CALL] == c.call_id[i]
        grown, left = 0, False
        if keyed:
            at = position(table, cache, 0, c.key_hash[i])
            if table[at, USED] or op != w.MISS:
                t.let_in(table, used, at, cache, c.key_hash[i])
            told = table[at]
            left = op == w.FLUSH and told[t.OP] == w.EVICT and _same_life(told, c.life[i], c.call_id[i])
            opens = _opens(seq, op, left, cache, now, s)
            same = _same_life(told, c.life[i], c.call_id[i])
            grown = _keyed(
                seq, op, cause, c.life[i], c.size_bytes[i], c.dirty[i] == 1, same, told, own[cache], s, flags
            )
            if op == w.EVICT:
                above = now[w.LIMIT] == NULL or c.bytes_after[i] + c.size_bytes[i] > now[w.LIMIT]
                _evicted(seq, cache, c.life[i], c.dirty[i] == 1, same, above, told, suspects, s, flags)
            elif op == w.FLUSH:
                _flushed(seq, c.life[i], went_on, left, opens, told, suspects, s, flags)
            if table[at, USED]:
                _note(seq, op, c.life[i], c.size_bytes[i], c.dirty[i] == 1, c.call_id[i], told)
        else:
            _opens(seq, op, False, cache, now, s)
            _unkeyed(seq, op, flags)
            if op == w.CACHE_CLOSE:
                spaces.close(own[cache])
        _summed(seq, op, grown, c.bytes_after[i], c.manager_bytes[i], s, flags)
        if op == w.METRICS or op == w.END:
            _told(own[cache], s, at_metrics[metered])
            metered += 1
        k.remember(seq, c.ts_ns[i], op, cause, cache, c.call_id[i], c.life[i], left, s)
        s[k.BYTES], s[k.MANAGER], s[k.LIMIT] = c.bytes_after[i], c.manager_bytes[i], now[w.LIMIT]


@compiled
def _framed(seq: int, ts_ns: int, op: int, cause: int, cache: int, call: int, own: Any, s: Any, flags: Any) -> None:
    """The event beside the one before it."""
    if s[k.SEQ] == NULL:
        if call != seq:
            flag(flags, w.CALLS_HOLD, seq)
        return
    if seq != s[k.SEQ] + 1 or ts_ns < s[k.TS] or call == NULL or (call != seq and call != s[k.CALL]):
        flag(flags, w.CALLS_HOLD, seq)
    if not k.follows(op, cause, cache, call, s):
        k.end_run(s, own, flags)
    if call != s[k.CALL]:
        k.end_call(s, flags)


@compiled
def _same_life(told: Any, life: int, call: int) -> bool:
    """Whether an event is of the life and of the call of the key's last one."""
    return life != NULL and call != NULL and told[t.LIFE] == life and told[t.CALL] == call


@compiled
def _opens(seq: int, op: int, left: bool, cache: int, now: Any, s: Any) -> bool:
    """Note what the call begins with; whether that is a handing over of what is not evicted."""
    if op == w.HIT or op == w.MISS or op == w.CACHE_OPEN:
        return False
    shrinks = op == w.CONFIG and now[w.LIMIT] != NULL and now[w.LIMIT] < now[w.LIMIT_BEFORE]
    s[k.SHRINKS] += shrinks
    if s[k.CHANGED] == 1:
        return False
    s[k.CHANGED], s[k.OPENER], s[k.KIND] = 1, seq, k.OTHER
    if op == w.PUT:
        s[k.KIND], s[k.PUT_CACHE] = k.BY_PUT, cache
    elif shrinks:
        s[k.KIND] = k.BY_SHRINK
    elif op == w.FLUSH and not left:
        s[k.KIND] = k.BY_FLUSH
        s[k.FLUSHES] += 1
    return s[k.KIND] == k.BY_FLUSH


@compiled
def _keyed(
    seq: int,
    op: int,
    cause: int,
    life: int,
    size: int,
    dirty: bool,
    same_call: bool,
    told: Any,
    own: Any,
    s: Any,
    flags: Any,
) -> int:
    """An event of a key, beside the key's last one; by how much the bytes grow, `NULL` if that is not told."""
    if told[t.WAITS] == 1:
        told[t.WAITS] = 0
        s[k.WAITING] -= 1
        if op != w.FLUSH or not same_call:
            flag(flags, w.KEYS_HOLD, seq)
    if not t.is_honest(op, cause, seq, life, size, dirty, told, same_call):
        flag(flags, w.KEYS_HOLD, seq)
        if op == w.PUT and life != seq:
            flag(flags, w.WRITES_HOLD, seq)
    live = told[t.LIVE] == 1
    if live and op != w.FLUSH and op != w.FAILED_FLUSH:
        if told[t.USED_SEQ] < own[spaces.EVICTED]:
            flag(flags, w.ELDEST_FIRST, seq)
    if op == w.EVICT:
        own[spaces.EVICTED] = max(own[spaces.EVICTED], told[t.USED_SEQ])
    s[k.ENTRIES] += spaces.count(op, live, told[t.DIRTY] == 1 and told[t.OP] != w.FLUSH, dirty, own)
    ends = live and (op == w.EVICT or op == w.DELETE or op == w.REMOVE)
    if (op == w.PUT and size == NULL) or (live and (ends or op == w.PUT) and told[t.SIZE] == NULL):
        return NULL
    return (size if op == w.PUT else 0) - (told[t.SIZE] if ends or (live and op == w.PUT) else 0)


@compiled
def _unkeyed(seq: int, op: int, flags: Any) -> None:
    if op != w.CONFIG and op != w.CACHE_OPEN and op != w.CACHE_CLOSE and op != w.METRICS and op != w.END:
        flag(flags, w.KEYS_HOLD, seq)
    if op == w.PUT:
        flag(flags, w.WRITES_HOLD, seq)


@compiled
def _flushed(
    seq: int, life: int, went_on: bool, left: bool, opens: bool, told: Any, suspects: Any, s: Any, flags: Any
) -> None:
    """A FLUSH beside the one before it."""
    if went_on:
        if left and told[t.DIRTY] == 1:
            flag(flags, w.EVICTED_FIRST, seq)
        if not left and s[k.LEFT] == 0 and life < s[k.LIFE]:
            k.suspect(s, suspects, life, flags)
    told[t.WENT_ON], told[t.COUNTED] = went_on, opens


@compiled
def _evicted(
    seq: int,
    cache: int,
    life: int,
    dirty: bool,
    same_call: bool,
    above: bool,
    told: Any,
    suspects: Any,
    s: Any,
    flags: Any,
) -> None:
    """An EVICT; behind its own FLUSH, that one was of the evicted entry. `above`: more than the limit was cached."""
    handed = same_call and told[t.OP] == w.FLUSH
    if handed:
        k.excuse(s, suspects, life)
        s[k.FLUSHES] -= told[t.COUNTED]
        if dirty and told[t.WENT_ON] == 1:
            flag(flags, w.EVICTED_FIRST, seq)
    elif dirty:
        told[t.WAITS] = 1
        s[k.WAITING] += 1
    if s[k.KIND] == k.BY_PUT and _overflows(handed, told, s):
        s[k.SURE_EVICTS] += 1
        if not above:
            flag(flags, w.NONE_NEEDLESS, seq)
        if cache != s[k.PUT_CACHE]:
            flag(flags, w.NONE_ELSEWHERE, seq)


@compiled
def _overflows(handed: bool, told: Any, s: Any) -> bool:
    """Whether an EVICT in a call that begins with a PUT is overflow for certain."""
    return s[k.HANDED] == 0 or (handed and s[k.OP] == w.FLUSH and told[t.SEQ] == s[k.OPENER] + 1)


@compiled
def _note(seq: int, op: int, life: int, size: int, dirty: bool, call: int, told: Any) -> None:
    told[t.SEQ], told[t.OP], told[t.LIFE], told[t.SIZE], told[t.DIRTY], told[t.CALL] = seq, op, life, size, dirty, call
    if op != w.FLUSH and op != w.FAILED_FLUSH:
        told[t.LIVE], told[t.USED_SEQ] = op == w.PUT or op == w.HIT, seq


@compiled
def _summed(seq: int, op: int, grown: int, after: int, manager: int, s: Any, flags: Any) -> None:
    before = s[k.BYTES] if s[k.SEQ] != NULL else 0
    if grown == NULL or after - grown != before:
        flag(flags, w.SUMS_HOLD, seq)
    if op == w.END and manager != NULL and manager != after:
        flag(flags, w.TOTALS_HOLD, seq)
    s[k.PUTS] += op == w.PUT
    s[k.LOOKUPS] += op == w.HIT or op == w.MISS
    s[k.EVICTS] += op == w.EVICT


@compiled
def _told(own: Any, s: Any, sums: Any) -> None:
    """What has been counted up to a METRICS or END, as `meters.Sums` names it."""
    for at in range(k.PUTS, k.ENTRIES + 1):
        sums[at - k.PUTS] = s[at]
    for at in range(spaces.OVERWRITES, spaces.HITS + 1):
        sums[k.ENTRIES + 1 - k.PUTS + at - spaces.OVERWRITES] = own[at]
