"""The order of events: running sum, passes and triggers, and the totals of METRICS and END.

`check_order` compares each event with the one before it and with the open pass. `check_passes` checks what a pass
takes, how much, and up to when. `add_totals` adds up what METRICS and END report, and `Totals` compares it
(R-METRICS-3 to 7, R-STATE-1 and 2 at the end).
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from entrycache_spark.checkers.primitives import NULL, flag, is_out_of_pass, names_differ
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.rows import held_bytes, value_or_setting
from entrycache_trace.jit import Array, jit

PRIOR_SEQ, PRIOR_TS, PRIOR_OP, PRIOR_BYTES, PRIOR_CALL, PRIOR_OFF, PRIOR_WAITS, OPEN_PASS, FIRST_BYTES = range(9)
OPEN_SO_FAR, OPENED, STARTS, CAME_IN, CAME_BEFORE, LAG, ASK_SEQ, RELIEVED, LAST_RELIEF, LAST_ABOVE = range(9, 19)
PASS_KIND, PASS_ORIGIN, MANAGER_BEFORE, MANAGER_THEN = range(19, 23)
"""The fields of the state, all `NULL` at first: of the event before, then what has gathered since the first event.

`PRIOR_WAITS` is the rule that requires a pass to come next.
"""
ORDER_FIELDS = 23


@jit
def check_order(c: Any, settings: Any, many: bool, virtual: bool, o: Any, flags: Any) -> None:
    """Check R-STATE-1, 4 and 6, and R-TRIGGER-2, 3, 5 and 6."""
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
            if names_differ(c.cause[i], o[PASS_KIND]) or (
                op == w.PASS_END and names_differ(c.origin[i], o[PASS_ORIGIN])
            ):
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


@jit
def _wanders(manager: int, off: int, o: Any) -> bool:
    """Return whether the manager's bytes are neither the sum as it was, nor unchanged, nor off by the same amount."""
    before = o[MANAGER_BEFORE]
    if before == NULL or o[PRIOR_SEQ] == NULL or manager == before or manager == o[PRIOR_BYTES]:
        return False
    return manager != o[MANAGER_THEN] and off != before - o[PRIOR_BYTES]


@jit
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


@jit
def _passes(seq: int, op: int, pass_id: int, many: bool, o: Any, flags: Any) -> None:
    within = not many and op != w.SNAPSHOT and w.in_pass(o[PRIOR_OP])
    if is_out_of_pass(op == w.PASS_BEGIN, w.in_pass(op), within, pass_id, seq, o[OPEN_PASS]):
        flag(flags, w.STATE_4, seq)
    if op == w.PASS_BEGIN:
        o[OPEN_PASS] = seq


@jit
def _inserted(seq: int, held: int, now: Any, many: bool, o: Any) -> None:
    if now[w.TRIGGER_NOW] == NULL or held <= now[w.TRIGGER_NOW]:
        return
    o[ASK_SEQ] = seq
    if now[w.MANUAL] == 0 and now[w.TARGET_NOW] != NULL and held > now[w.TARGET_NOW]:
        if many:
            o[LAST_ABOVE] = seq
        else:
            o[PRIOR_WAITS] = w.TRIGGER_2


@jit
def _triggers(c: Any, i: int, now: Any, many: bool, virtual: bool, o: Any, flags: Any) -> None:
    """Check the begin or the end of a pass."""
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


@jit
def _triggered(c: Any, i: int, now: Any, many: bool, held: int, o: Any, flags: Any) -> None:
    """Check the begin of a size pass of origin TRIGGER."""
    seq, before = c.seq[i], o[PRIOR_OP]
    other = _other_need(c, i, now, many, held)
    if now[w.MANUAL] == 0:
        unasked = not many and before != NULL and before != w.INSERT and before != w.REJECT and before != w.SKIP
        if other or unasked or _needless(c, i, now, many, held):
            flag(flags, w.TRIGGER_2, seq)
        if not many and (before == w.REJECT or before == w.SKIP):
            flag(flags, w.TRIGGER_3, seq)
    elif now[w.MANUAL] == 1:
        unasked = not many and o[STARTS] == 1 and o[OPENED] == 0 and (o[ASK_SEQ] == NULL or o[ASK_SEQ] < o[RELIEVED])
        if other or unasked or _needless(c, i, now, False, held):
            flag(flags, w.TRIGGER_5, seq)


@jit
def _needless(c: Any, i: int, now: Any, many: bool, held: int) -> bool:
    """Return whether a size pass begins at or under the trigger; with several threads by the bytes that it read."""
    trigger = value_or_setting(c.trigger_bytes[i], now[w.TRIGGER_NOW])
    target = value_or_setting(c.target_bytes[i], now[w.TARGET_NOW])
    if trigger == NULL or (many and (c.bound[i] == NULL or target == NULL)):
        return False
    return c.bound[i] + target <= trigger if many else held <= trigger


@jit
def _other_need(c: Any, i: int, now: Any, many: bool, held: int) -> bool:
    """Return whether a size pass is to free another amount than the excess over the target."""
    target = value_or_setting(c.target_bytes[i], now[w.TARGET_NOW])
    return not many and target != NULL and held > target and c.bound[i] != NULL and c.bound[i] != held - target


@jit
def _too_much(c: Any, i: int, now: Any, o: Any) -> bool:
    """Return whether more is left than came in during the pass, with several threads."""
    target, tail, head = value_or_setting(c.target_bytes[i], now[w.TARGET_NOW]), c.tail_no[i], c.head_no[i]
    slot_left = tail > head if tail != NULL and head != NULL else c.stamp_ns[i] != NULL
    return target != NULL and slot_left and c.bytes_after[i] > target + o[CAME_IN] - o[CAME_BEFORE] + o[LAG]


def end_order(o: Any, many: bool, flags: Any) -> None:
    """Check what only the end of the trace decides."""
    if o[STARTS] == 1 and o[FIRST_BYTES] not in (0, o[OPEN_SO_FAR]):
        flag(flags, w.STATE_1, 0)
    if many and o[LAST_ABOVE] != NULL and (o[LAST_RELIEF] == NULL or o[LAST_RELIEF] < o[LAST_ABOVE]):
        flag(flags, w.TRIGGER_2, int(o[LAST_ABOVE]))


# ---------- passes

PASS, KIND, NEED, FREED, UNSIZED, BEGAN_NS, ENDED_NS, LIVE, LIVE_AT_LAST, PASS_STARTS = range(10)
"""The fields of the state: the open pass (`PASS` is `NULL` if none is), the end of the one before, and entry counts."""
PASS_FIELDS = 10


@jit
def check_passes(c: Any, virtual: bool, p: Any, flags: Any) -> None:
    """Check R-EVICT-4 and 5, R-EXPIRE-1, and R-REQUEUE-4 of the row itself."""
    for i in range(len(c.seq)):
        op, pass_id = c.op[i], c.pass_id[i]
        if p[PASS_STARTS] == NULL:
            p[PASS_STARTS] = 1 if op == w.CONFIG else 0
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


@jit
def _disorder(seq: int, flags: Any) -> None:
    """Leave the rules of passes to their windows: an event does not belong to the open pass."""
    flag(flags, w.EVICT_4, seq)
    flag(flags, w.EVICT_5, seq)
    flag(flags, w.EXPIRE_1, seq)
    flag(flags, w.REQUEUE_4, seq)


@jit
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
        if p[NEED] == NULL or p[PASS_STARTS] == 0 or (p[LIVE] > 0 and p[LIVE_AT_LAST] > 0):
            flag(flags, w.EVICT_4, seq)


@jit
def _of_time(seq: int, op: int, bound: int, stamp: int, p: Any, flags: Any) -> None:
    if bound != NULL and p[NEED] != NULL and bound != p[NEED]:
        flag(flags, w.EXPIRE_1, seq)
    if (op == w.EVICT or op == w.REQUEUE) and stamp != NULL:
        cutoff = bound if bound != NULL else p[NEED]
        if cutoff == NULL or stamp >= cutoff:
            flag(flags, w.EXPIRE_1, seq)


@jit
def _stamped(seq: int, new: int, ts: int, stamp: int, virtual: bool, p: Any, flags: Any) -> None:
    stays = stamp != NULL and new <= stamp and p[BEGAN_NS] > stamp
    if new > ts or (virtual and new != ts) or (p[ENDED_NS] != NULL and new < p[ENDED_NS]) or stays:
        flag(flags, w.REQUEUE_4, seq)


def end_passes(p: Any, flags: Any) -> None:
    """Flag a size pass that does not end."""
    if p[PASS] != NULL and p[KIND] == w.BY_SIZE:
        flag(flags, w.EVICT_4, int(p[PASS]))


# ---------- totals that METRICS and END report

INSERTED, EVICTED, CYCLES, HITS, HIT_BYTES, MISSES, MISS_BYTES, OPENED_LIVE, OPENED_SLOTS = range(9)
DEQUEUED, SNAPSHOT_ROWS, SHOWN_LIVE, SHOWN_SEQ, CHANGED_SEQ = range(9, 14)
SUM_FIELDS: Final = 14
METRIC_FIELDS: Final = 7
"""The number of totals that METRICS reports; they come first, in the order of `METRIC_NAMES`."""

METRIC_NAMES: Final = (
    *("inserted_entries", "evicted_entries", "eviction_cycles"),
    *("hit_entries", "hit_bytes", "miss_entries", "miss_bytes"),
)
RULE_OF: Final = (w.METRICS_3, w.METRICS_4, w.METRICS_5, *(w.METRICS_6,) * 4)


@jit
def add_totals(c: Any, settings: Any, s: Any, at_metrics: Any) -> None:
    """Add up the totals of a batch, and copy those of METRICS at each METRICS row."""
    k = 0
    for i in range(len(c.seq)):
        op, cause = c.op[i], c.cause[i]
        if op == w.HIT or op == w.MISS:
            if cause == w.BY_READ or cause == w.BY_REPLAY:
                size = c.size_bytes[i]
                if op == w.MISS and size == NULL:
                    size = settings[c.settings[i], w.STORAGE]
                column = HITS if op == w.HIT else MISSES
                s[column] += 1
                s[column + 1] += size if size != NULL else 0
        elif op == w.INSERT:
            s[INSERTED] += 1
            s[CHANGED_SEQ] = c.seq[i]
        elif op == w.EVICT or op == w.REMOVE:
            s[EVICTED] += 1
            s[DEQUEUED] += op == w.EVICT or c.ticket[i] != NULL
            s[CHANGED_SEQ] = c.seq[i]
        elif op == w.REQUEUE or op == w.TOMBSTONE:
            s[DEQUEUED] += op == w.TOMBSTONE
            s[CHANGED_SEQ] = c.seq[i]
        elif op == w.PASS_BEGIN:
            is_requested = c.origin[i] == w.OF_TRIGGER or c.origin[i] == w.OF_CYCLE
            s[CYCLES] += cause == w.BY_SIZE and is_requested and c.bound[i] > 0
        elif op == w.SNAPSHOT:
            _count_snapshot(c, i, s)
        elif op == w.METRICS:
            for column in range(METRIC_FIELDS):
                at_metrics[k, column] = s[column]
            k += 1


@jit
def _count_snapshot(c: Any, i: int, s: Any) -> None:
    if c.cause[i] == w.BY_OPEN:
        s[OPENED_SLOTS] += 1
        s[OPENED_LIVE] += c.life[i] != NULL
    elif c.cause[i] == w.BY_END:
        s[SNAPSHOT_ROWS] += 1
        s[SHOWN_LIVE] += c.life[i] != NULL
        if s[SHOWN_SEQ] == NULL:
            s[SHOWN_SEQ] = c.seq[i]


def new_sums() -> Array:
    """Return the initial totals."""
    sums = np.zeros(SUM_FIELDS, np.int64)
    sums[[SHOWN_SEQ, CHANGED_SEQ]] = NULL
    return sums


class Totals:
    """The values of METRICS against the totals since the start, and since the METRICS before.

    Only the end decides which totals count, since it tells whether the trace began with an empty cache.
    """

    def __init__(self) -> None:
        self._off: dict[int, int | None] = {}
        self._since_start: list[tuple[int, int]] = []
        self._since_before: list[tuple[int, int]] = []
        self._end: tuple[int, Mapping[str, int]] | None = None
        self._ends = 0

    def check_metrics(
        self, seq: int, counters: Mapping[str, int], sums: Array, held: int, priced: bool, flags: Array
    ) -> None:
        """Check a METRICS row."""
        for column, name in enumerate(METRIC_NAMES):
            value, before = counters.get(name), self._off.get(column)
            off = None if value is None else value - int(sums[column])
            if off is not None and (priced or name != "miss_bytes"):
                if off != 0:
                    self._since_start.append((RULE_OF[column], seq))
                if before is not None and off != before:
                    self._since_before.append((RULE_OF[column], seq))
            self._off[column] = off
        if counters.get("bytes", held) != held:
            flag(flags, w.METRICS_7, seq)

    def check_end(self, seq: int, counters: Mapping[str, int], after: int, flags: Array) -> None:
        """Check an END row."""
        self._end = (seq, counters)
        self._ends += 1
        if counters.get("bytes", after) != after:
            flag(flags, w.STATE_1, seq)

    def end(self, sums: Array, fresh: bool, complete: bool, numbered: bool, flags: Array) -> None:
        """Check the whole trace."""
        for rule, seq in self._since_start if fresh else self._since_before:
            flag(flags, rule, seq)
        if not complete or self._end is None:
            return
        seq, counters = self._end
        live = int(sums[INSERTED] + sums[OPENED_LIVE] - sums[EVICTED])
        slots = int(sums[INSERTED] + sums[OPENED_SLOTS] - sums[DEQUEUED])
        others = {
            counters.get("entries", live) != live,
            numbered and counters.get("slots", slots) != slots,
            self._ends > 1,
        }
        if sums[SNAPSHOT_ROWS] and sums[CHANGED_SEQ] < sums[SHOWN_SEQ]:
            others |= {sums[SHOWN_LIVE] != live, numbered and sums[SNAPSHOT_ROWS] != slots}
        if any(others):
            flag(flags, w.STATE_2, seq)
