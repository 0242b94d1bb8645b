"""The loop over the events of a batch of `kafka-streams`.

`check_events` compares each event with the one before it, with the state of its key, and with its namespace, and flags
the sufficient conditions that fail. It also counts what METRICS and END report.
"""

from typing import Any

from entrycache_spark.checkers.kafka_streams import rows as w
from entrycache_spark.checkers.kafka_streams import state
from entrycache_spark.checkers.kafka_streams import state as k
from entrycache_spark.checkers.kafka_streams import state as t
from entrycache_spark.checkers.primitives import NULL, USED, flag, position
from entrycache_trace.jit import jit


@jit
def check_events(
    c: Any, settings: Any, table: Any, used: Any, own: Any, suspects: Any, s: Any, at_metrics: Any, flags: Any
) -> None:
    """Check all sufficient conditions except those of counters.

    `own` is the table of namespaces. `at_metrics` receives the totals at each METRICS or END.
    """
    metered = 0
    for i in range(len(c.seq)):
        op, cause, cache, seq = c.op[i], c.cause[i], c.cache[i], c.seq[i]
        now = settings[c.settings[i]]
        if op == w.FLUSH and cause == w.BY_FAILED:
            op = w.FAILED_FLUSH
        elif op == w.SNAPSHOT and cause == w.BY_OPEN:
            s[k.OPENED] = 1
        keyed = c.key_hash[i] != NULL and not w.STORE_OPEN <= op <= w.VIEW_ENTRY
        if cache == 0 and (keyed or op == w.CACHE_CLOSE):
            s[k.HOMELESS] = 1
            return
        _framed(seq, c.ts_ns[i], op, cause, cache, c.call_id[i], own, s, flags)
        went_on = (
            op == w.FLUSH and s[k.LAST_OP] == w.FLUSH and s[k.LAST_CACHE] == cache and s[k.LAST_CALL] == c.call_id[i]
        )
        grown, left = 0, False
        if keyed:
            at = position(table, cache, 0, c.key_hash[i])
            if table[at, USED] or op != w.MISS:
                t.add_key(table, used, at, cache, c.key_hash[i])
            key_row = table[at]
            left = op == w.FLUSH and key_row[t.KEY_OP] == w.EVICT and _same_life(key_row, c.life[i], c.call_id[i])
            opens = _opens(seq, op, left, cache, now, s)
            same = _same_life(key_row, c.life[i], c.call_id[i])
            grown = _keyed(
                seq, op, cause, c.life[i], c.size_bytes[i], c.dirty[i] == 1, same, key_row, own[cache], s, flags
            )
            if op == w.EVICT:
                above = now[w.LIMIT] == NULL or c.bytes_after[i] + c.size_bytes[i] > now[w.LIMIT]
                _evicted(seq, cache, c.life[i], c.dirty[i] == 1, same, above, key_row, suspects, s, flags)
            elif op == w.FLUSH:
                _flushed(seq, c.life[i], went_on, left, opens, key_row, suspects, s, flags)
            if table[at, USED]:
                _note(seq, op, c.life[i], c.size_bytes[i], c.dirty[i] == 1, c.call_id[i], key_row)
        else:
            _opens(seq, op, False, cache, now, s)
            _unkeyed(seq, op, flags)
            if op == w.CACHE_CLOSE:
                state.close_space(own[cache])
        _summed(seq, op, grown, c.bytes_after[i], c.manager_bytes[i], s, flags)
        if op == w.METRICS or op == w.END:
            _copy_totals(own[cache], s, at_metrics[metered])
            metered += 1
        k.remember(seq, c.ts_ns[i], op, cause, cache, c.call_id[i], c.life[i], left, s)
        s[k.LAST_BYTES], s[k.LAST_MANAGER], s[k.LAST_LIMIT] = c.bytes_after[i], c.manager_bytes[i], now[w.LIMIT]


@jit
def _framed(seq: int, ts_ns: int, op: int, cause: int, cache: int, call: int, own: Any, s: Any, flags: Any) -> None:
    """Check an event against the one before it."""
    if s[k.LAST_SEQ] == NULL:
        if call != seq:
            flag(flags, w.CALLS_HOLD, seq)
        return
    if seq != s[k.LAST_SEQ] + 1 or ts_ns < s[k.LAST_TS] or call == NULL or (call != seq and call != s[k.LAST_CALL]):
        flag(flags, w.CALLS_HOLD, seq)
    if not k.follows(op, cause, cache, call, s):
        k.end_run(s, own, flags)
    if call != s[k.LAST_CALL]:
        k.end_call(s, flags)


@jit
def _same_life(key_row: Any, life: int, call: int) -> bool:
    """Return whether an event has the life and the call of the key's last event."""
    return life != NULL and call != NULL and key_row[t.KEY_LIFE] == life and key_row[t.KEY_CALL] == call


@jit
def _opens(seq: int, op: int, left: bool, cache: int, now: Any, s: Any) -> bool:
    """Note what the call begins with; return whether that is a flush of an entry that is not evicted."""
    if op == w.HIT or op == w.MISS or op == w.CACHE_OPEN or op == w.STORE_OPEN or op == w.VIEW or op == w.VIEW_ENTRY:
        return False
    shrinks = op == w.CONFIG and now[w.LIMIT] != NULL and now[w.LIMIT] < now[w.LIMIT_BEFORE]
    s[k.SHRINKS] += shrinks
    if s[k.CALL_CHANGED] == 1:
        return False
    s[k.CALL_CHANGED], s[k.CALL_OPENER], s[k.CALL_KIND] = 1, seq, k.OTHER
    if op == w.PUT:
        s[k.CALL_KIND], s[k.PUT_CACHE] = k.BY_PUT, cache
    elif shrinks:
        s[k.CALL_KIND] = k.BY_SHRINK
    elif op == w.FLUSH and not left:
        s[k.CALL_KIND] = k.BY_FLUSH
        s[k.FLUSHES] += 1
    return s[k.CALL_KIND] == k.BY_FLUSH


@jit
def _keyed(
    seq: int,
    op: int,
    cause: int,
    life: int,
    size: int,
    dirty: bool,
    same_call: bool,
    key_row: Any,
    own: Any,
    s: Any,
    flags: Any,
) -> int:
    """Check an event of a key against the key's last event; return the growth in bytes, or `NULL` if it is unknown."""
    if key_row[t.KEY_WAITS] == 1:
        key_row[t.KEY_WAITS] = 0
        s[k.CALL_WAITING] -= 1
        if op != w.FLUSH or not same_call:
            flag(flags, w.KEYS_HOLD, seq)
    if not t.is_consistent(op, cause, seq, life, size, dirty, key_row, same_call):
        flag(flags, w.KEYS_HOLD, seq)
        if op == w.PUT and life != seq:
            flag(flags, w.WRITES_HOLD, seq)
    live = key_row[t.KEY_LIVE] == 1
    if live and op != w.FLUSH and op != w.FAILED_FLUSH:
        if key_row[t.KEY_USED_SEQ] < own[state.SPACE_EVICTED]:
            flag(flags, w.ELDEST_FIRST, seq)
    if op == w.EVICT:
        own[state.SPACE_EVICTED] = max(own[state.SPACE_EVICTED], key_row[t.KEY_USED_SEQ])
    s[k.ENTRIES] += state.count_key_event(
        op, live, key_row[t.KEY_DIRTY] == 1 and key_row[t.KEY_OP] != w.FLUSH, dirty, own
    )
    ends = live and (op == w.EVICT or op == w.DELETE or op == w.REMOVE)
    if (op == w.PUT and size == NULL) or (live and (ends or op == w.PUT) and key_row[t.KEY_SIZE] == NULL):
        return NULL
    return (size if op == w.PUT else 0) - (key_row[t.KEY_SIZE] if ends or (live and op == w.PUT) else 0)


@jit
def _unkeyed(seq: int, op: int, flags: Any) -> None:
    if op != w.CONFIG and op != w.CACHE_OPEN and op != w.CACHE_CLOSE and op != w.METRICS and op != w.END:
        if not w.STORE_OPEN <= op <= w.VIEW_ENTRY:
            flag(flags, w.KEYS_HOLD, seq)
    if op == w.PUT:
        flag(flags, w.WRITES_HOLD, seq)


@jit
def _flushed(
    seq: int, life: int, went_on: bool, left: bool, opens: bool, key_row: Any, suspects: Any, s: Any, flags: Any
) -> None:
    """Check a FLUSH against the event before it."""
    if went_on:
        if left and key_row[t.KEY_DIRTY] == 1:
            flag(flags, w.EVICTED_FIRST, seq)
        if not left and s[k.LAST_LEFT] == 0 and life < s[k.LAST_LIFE]:
            k.suspect(s, suspects, life, flags)
    key_row[t.KEY_WENT_ON], key_row[t.KEY_COUNTED] = went_on, opens


@jit
def _evicted(
    seq: int,
    cache: int,
    life: int,
    dirty: bool,
    same_call: bool,
    above: bool,
    key_row: Any,
    suspects: Any,
    s: Any,
    flags: Any,
) -> None:
    """Check an EVICT; a FLUSH directly before it flushed the evicted entry.

    `above`: the cache held more than the limit.
    """
    handed = same_call and key_row[t.KEY_OP] == w.FLUSH
    if handed:
        k.excuse(s, suspects, life)
        s[k.FLUSHES] -= key_row[t.KEY_COUNTED]
        if dirty and key_row[t.KEY_WENT_ON] == 1:
            flag(flags, w.EVICTED_FIRST, seq)
    elif dirty:
        key_row[t.KEY_WAITS] = 1
        s[k.CALL_WAITING] += 1
    if s[k.CALL_KIND] == k.BY_PUT and _overflows(handed, key_row, s):
        s[k.SURE_EVICTS] += 1
        if not above:
            flag(flags, w.NONE_NEEDLESS, seq)
        if cache != s[k.PUT_CACHE]:
            flag(flags, w.NONE_ELSEWHERE, seq)


@jit
def _overflows(handed: bool, key_row: Any, s: Any) -> bool:
    """Return whether an EVICT in a call that begins with a PUT is certainly an overflow."""
    return s[k.CALL_HANDED] == 0 or (handed and s[k.LAST_OP] == w.FLUSH and key_row[t.KEY_SEQ] == s[k.CALL_OPENER] + 1)


@jit
def _note(seq: int, op: int, life: int, size: int, dirty: bool, call: int, key_row: Any) -> None:
    (
        key_row[t.KEY_SEQ],
        key_row[t.KEY_OP],
        key_row[t.KEY_LIFE],
        key_row[t.KEY_SIZE],
        key_row[t.KEY_DIRTY],
        key_row[t.KEY_CALL],
    ) = (
        seq,
        op,
        life,
        size,
        dirty,
        call,
    )
    if op != w.FLUSH and op != w.FAILED_FLUSH:
        key_row[t.KEY_LIVE], key_row[t.KEY_USED_SEQ] = op == w.PUT or op == w.HIT, seq


@jit
def _summed(seq: int, op: int, grown: int, after: int, manager: int, s: Any, flags: Any) -> None:
    before = s[k.LAST_BYTES] if s[k.LAST_SEQ] != NULL else 0
    if grown == NULL or after - grown != before:
        flag(flags, w.SUMS_HOLD, seq)
    if op == w.END and manager != NULL and manager != after:
        flag(flags, w.TOTALS_HOLD, seq)
    s[k.PUTS] += op == w.PUT
    s[k.LOOKUPS] += op == w.HIT or op == w.MISS
    s[k.EVICTS] += op == w.EVICT


@jit
def _copy_totals(own: Any, s: Any, sums: Any) -> None:
    """Copy the totals up to a METRICS or END, in the order of `Sums`."""
    for at in range(k.PUTS, k.ENTRIES + 1):
        sums[at - k.PUTS] = s[at]
    for at in range(state.SPACE_OVERWRITES, state.SPACE_HITS + 1):
        sums[k.ENTRIES + 1 - k.PUTS + at - state.SPACE_OVERWRITES] = own[at]
