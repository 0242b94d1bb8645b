"""Each event beside the one before it, and what has to hold where a handing over, a clearing or a call ends."""

from __future__ import annotations

from typing import Any, Final

from entrycache_spark.kafka_streams.fold import spaces
from entrycache_spark.kafka_streams.fold import words as w
from entrycache_spark.loops.words import NULL, flag
from entrycache_trace.compiled import compiled

SEQ, TS, OP, CAUSE, CACHE, CALL, LIFE, LEFT, BYTES, MANAGER, LIMIT = range(11)
"""Of the event before; `LEFT`: a FLUSH of what was evicted before it."""
CHANGED, KIND, OPENER, PUT_CACHE, HANDED, WAITING, SUSPECTS, HOMELESS, OPENED = range(11, 20)
"""Of the call: whether an event has changed something, the kind of the first that did, its seq and namespace, whether
anything was handed over, how many an EVICT waits for, and pairs of FLUSH in the wrong order if nothing excuses them.
`HOMELESS`: an event of a key is of no namespace. `OPENED`: entries cached before."""
PUTS, LOOKUPS, EVICTS, SURE_EVICTS, FLUSHES, SHRINKS, ENTRIES = range(20, 27)
"""Since the start."""
STATE_FIELDS: Final = 27

OTHER, BY_PUT, BY_SHRINK, BY_FLUSH = range(4)
"""What the first event of a call that changes something is."""

SUSPECTS_MOST: Final = 64


@compiled
def follows(op: int, cause: int, cache: int, call: int, s: Any) -> bool:
    """Whether what the event before belongs to goes on with this one: a handing over, a clearing, a closing."""
    if cache != s[CACHE] or call != s[CALL]:
        return False
    if s[OP] == w.FLUSH:
        return op == w.FLUSH
    if s[OP] == w.REMOVE and s[CAUSE] == w.BY_CLEAR:
        return op == w.REMOVE and cause == w.BY_CLEAR
    return op == w.REMOVE or op == w.CACHE_CLOSE


@compiled
def end_run(s: Any, spaces_now: Any, flags: Any) -> None:
    """The event before is the last of its handing over, clearing or closing, if it is of one."""
    if s[OP] == w.FLUSH:
        if spaces_now[s[CACHE], spaces.DIRTY] != 0:
            flag(flags, w.HANDED_ALL, s[SEQ])
    elif s[OP] == w.CACHE_CLOSE or (s[OP] == w.REMOVE and (s[CAUSE] == w.BY_CLEAR or s[CAUSE] == w.BY_CLOSE)):
        if spaces_now[s[CACHE], spaces.LIVE] != 0:
            flag(flags, w.LEFT_EMPTY, s[SEQ])


@compiled
def end_call(s: Any, flags: Any) -> None:
    """The event before is the last of its call."""
    if s[LIMIT] != NULL and s[BYTES] > s[LIMIT]:
        if s[KIND] == BY_PUT:
            flag(flags, w.NONE_ABOVE, s[SEQ])
        elif s[KIND] == BY_SHRINK:
            flag(flags, w.NONE_LEFT_ABOVE, s[SEQ])
    if s[MANAGER] != NULL and s[MANAGER] != s[BYTES]:
        flag(flags, w.TOTALS_HOLD, s[SEQ])
    if s[WAITING] > 0:
        flag(flags, w.KEYS_HOLD, s[SEQ])
    if s[SUSPECTS] > 0:
        flag(flags, w.ORDER_HOLDS, s[SEQ])
    s[CHANGED] = s[KIND] = s[HANDED] = s[WAITING] = s[SUSPECTS] = 0


@compiled
def suspect(s: Any, suspects: Any, life: int, flags: Any) -> None:
    """A FLUSH of an older life follows one of a younger: only an evicted one may stand so."""
    if s[SUSPECTS] == len(suspects):
        flag(flags, w.ORDER_HOLDS, s[SEQ])
        return
    suspects[s[SUSPECTS], 0], suspects[s[SUSPECTS], 1] = s[LIFE], life
    s[SUSPECTS] += 1


@compiled
def excuse(s: Any, suspects: Any, life: int) -> None:
    """The entry of a life was handed over because it is evicted."""
    kept = 0
    for at in range(s[SUSPECTS]):
        if suspects[at, 0] != life and suspects[at, 1] != life:
            suspects[kept, 0], suspects[kept, 1] = suspects[at, 0], suspects[at, 1]
            kept += 1
    s[SUSPECTS] = kept


@compiled
def remember(seq: int, ts_ns: int, op: int, cause: int, cache: int, call: int, life: int, left: bool, s: Any) -> None:
    """The event is the one before from now on."""
    if op == w.FLUSH or op == w.FAILED_FLUSH:
        s[HANDED] = 1
    s[SEQ], s[TS], s[OP], s[CAUSE], s[CACHE] = seq, ts_ns, op, cause, cache
    s[CALL], s[LIFE], s[LEFT] = call, life, left
