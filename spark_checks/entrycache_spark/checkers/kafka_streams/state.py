"""The state of the `kafka-streams` checker: namespaces, the current call, and keys.

A namespace counts its entries, its dirty entries, and what METRICS reports. The state of the call compares each event
with the one before it, and knows what must hold when a flush, a clear or a call ends. Each key has a row with its last
event, in a hash table; a key is kept while it is cached, and until the call that ended it is over.
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers import batches, primitives
from entrycache_spark.checkers.kafka_streams import rows as w
from entrycache_spark.common.system import CheckerGaveUp
from entrycache_trace.jit import Array, jit

SPACE_LIVE, SPACE_DIRTY, SPACE_EVICTED, SPACE_WRITTEN, SPACE_OVERWRITES, SPACE_MISSES, SPACE_SURE_MISSES, SPACE_HITS = (
    range(8)
)
"""The fields of a namespace. `SPACE_EVICTED`: the latest last use of an evicted entry.

`SPACE_WRITTEN`: there was a PUT since the last close.
"""
SPACE_FIELDS: Final = 8


def with_spaces(spaces: Array, names: int) -> Array:
    """Return the table, widened to a row for each name."""
    if names <= len(spaces):
        return spaces
    wider = batches.widen(spaces, 2 * names)
    wider[len(spaces) :, SPACE_EVICTED] = primitives.NULL
    return wider


def new_spaces() -> Array:
    """Return an empty table of namespaces."""
    return np.zeros((0, SPACE_FIELDS), np.int64)


@jit
def count_key_event(op: int, live: bool, dirty_now: bool, dirty: bool, own: Any) -> int:
    """Count an event of a key; return how many more entries are cached now."""
    entered = 0
    if op == w.PUT:
        own[SPACE_WRITTEN] = 1
        own[SPACE_DIRTY] += int(dirty) - int(live and dirty_now)
        if live:
            own[SPACE_OVERWRITES] += 1
        else:
            entered = 1
    elif op == w.EVICT or op == w.DELETE or op == w.REMOVE:
        own[SPACE_DIRTY] -= int(live and dirty_now)
        entered = -int(live)
        own[SPACE_HITS] -= int(op == w.EVICT and dirty)
    elif op == w.FLUSH:
        own[SPACE_DIRTY] -= int(live and dirty_now)
        own[SPACE_HITS] += 1
    elif op == w.HIT:
        own[SPACE_HITS] += 1
    elif op == w.MISS:
        own[SPACE_MISSES] += 1
        own[SPACE_SURE_MISSES] += own[SPACE_WRITTEN]
    own[SPACE_LIVE] += entered
    return entered


@jit
def close_space(own: Any) -> None:
    """Reset the counts of a closed namespace."""
    own[SPACE_WRITTEN] = own[SPACE_OVERWRITES] = own[SPACE_MISSES] = own[SPACE_SURE_MISSES] = own[SPACE_HITS] = 0


# ---------- calls

(
    LAST_SEQ,
    LAST_TS,
    LAST_OP,
    LAST_CAUSE,
    LAST_CACHE,
    LAST_CALL,
    LAST_LIFE,
    LAST_LEFT,
    LAST_BYTES,
    LAST_MANAGER,
    LAST_LIMIT,
) = range(11)
"""The fields of the event before. `LAST_LEFT`: it is a FLUSH of an entry that was evicted before it."""
CALL_CHANGED, CALL_KIND, CALL_OPENER, PUT_CACHE, CALL_HANDED, CALL_WAITING, CALL_SUSPECTS, HOMELESS, OPENED = range(
    11, 20
)
"""The fields of the current call.

They say whether an event has changed something, the kind of the first that did, its seq and namespace, whether anything
was flushed, how many flushes an EVICT waits for, and the pairs of FLUSH in the wrong order. `HOMELESS`: an event of a
key has no namespace. `OPENED`: the trace begins with cached entries.
"""
PUTS, LOOKUPS, EVICTS, SURE_EVICTS, FLUSHES, SHRINKS, ENTRIES = range(20, 27)
"""The totals since the start."""
STATE_FIELDS: Final = 27

OTHER, BY_PUT, BY_SHRINK, BY_FLUSH = range(4)
"""The kinds of the first event of a call that changes something."""

MAX_SUSPECTS: Final = 64


@jit
def follows(op: int, cause: int, cache: int, call: int, s: Any) -> bool:
    """Return whether an event continues the flush, clear or close of the event before it."""
    if cache != s[LAST_CACHE] or call != s[LAST_CALL]:
        return False
    if s[LAST_OP] == w.FLUSH:
        return op == w.FLUSH
    if s[LAST_OP] == w.REMOVE and s[LAST_CAUSE] == w.BY_CLEAR:
        return op == w.REMOVE and cause == w.BY_CLEAR
    return op == w.REMOVE or op == w.CACHE_CLOSE


@jit
def end_run(s: Any, spaces_now: Any, flags: Any) -> None:
    """Check a flush, clear or close of which the event before is the last."""
    if s[LAST_OP] == w.FLUSH:
        if spaces_now[s[LAST_CACHE], SPACE_DIRTY] != 0:
            primitives.flag(flags, w.HANDED_ALL, s[LAST_SEQ])
    elif s[LAST_OP] == w.CACHE_CLOSE or (
        s[LAST_OP] == w.REMOVE and (s[LAST_CAUSE] == w.BY_CLEAR or s[LAST_CAUSE] == w.BY_CLOSE)
    ):
        if spaces_now[s[LAST_CACHE], SPACE_LIVE] != 0:
            primitives.flag(flags, w.LEFT_EMPTY, s[LAST_SEQ])


@jit
def end_call(s: Any, flags: Any) -> None:
    """Check a call of which the event before is the last."""
    if s[LAST_LIMIT] != primitives.NULL and s[LAST_BYTES] > s[LAST_LIMIT]:
        if s[CALL_KIND] == BY_PUT:
            primitives.flag(flags, w.NONE_ABOVE, s[LAST_SEQ])
        elif s[CALL_KIND] == BY_SHRINK:
            primitives.flag(flags, w.NONE_LEFT_ABOVE, s[LAST_SEQ])
    if s[LAST_MANAGER] != primitives.NULL and s[LAST_MANAGER] != s[LAST_BYTES]:
        primitives.flag(flags, w.TOTALS_HOLD, s[LAST_SEQ])
    if s[CALL_WAITING] > 0:
        primitives.flag(flags, w.KEYS_HOLD, s[LAST_SEQ])
    if s[CALL_SUSPECTS] > 0:
        primitives.flag(flags, w.ORDER_HOLDS, s[LAST_SEQ])
    s[CALL_CHANGED] = s[CALL_KIND] = s[CALL_HANDED] = s[CALL_WAITING] = s[CALL_SUSPECTS] = 0


@jit
def suspect(s: Any, suspects: Any, life: int, flags: Any) -> None:
    """Note that a FLUSH of an older life follows one of a younger life, which only an eviction allows."""
    if s[CALL_SUSPECTS] == len(suspects):
        primitives.flag(flags, w.ORDER_HOLDS, s[LAST_SEQ])
        return
    suspects[s[CALL_SUSPECTS], 0], suspects[s[CALL_SUSPECTS], 1] = s[LAST_LIFE], life
    s[CALL_SUSPECTS] += 1


@jit
def excuse(s: Any, suspects: Any, life: int) -> None:
    """Drop the suspicions about a life that was flushed because it is evicted."""
    kept = 0
    for at in range(s[CALL_SUSPECTS]):
        if suspects[at, 0] != life and suspects[at, 1] != life:
            suspects[kept, 0], suspects[kept, 1] = suspects[at, 0], suspects[at, 1]
            kept += 1
    s[CALL_SUSPECTS] = kept


@jit
def remember(seq: int, ts_ns: int, op: int, cause: int, cache: int, call: int, life: int, left: bool, s: Any) -> None:
    """Store an event as the one before."""
    if op == w.FLUSH or op == w.FAILED_FLUSH:
        s[CALL_HANDED] = 1
    s[LAST_SEQ], s[LAST_TS], s[LAST_OP], s[LAST_CAUSE], s[LAST_CACHE] = seq, ts_ns, op, cause, cache
    s[LAST_CALL], s[LAST_LIFE], s[LAST_LEFT] = call, life, left


# ---------- keys

(
    KEY_SEQ,
    KEY_OP,
    KEY_LIFE,
    KEY_SIZE,
    KEY_DIRTY,
    KEY_CALL,
    KEY_LIVE,
    KEY_USED_SEQ,
    KEY_WENT_ON,
    KEY_COUNTED,
    KEY_WAITS,
) = range(primitives.ENTRY + 1, 15)
"""The fields of a key: the seq, op, life, size, flag and call of its last event; whether it is cached; its last use.

`KEY_WENT_ON`: its FLUSH continues a flush. `KEY_COUNTED`: its FLUSH was counted as one that begins a call.
`KEY_WAITS`: a FLUSH must follow its EVICT.
"""
KEY_FIELDS: Final = 15

MAX_KEYS: Final = 2_000_000
"""The number of cached keys above which the checker gives up; DuckDB decides then, which can use the disk."""


class Keys:
    """The table of keys."""

    def __init__(self) -> None:
        self.table = primitives.new_positions(KEY_FIELDS)
        self.used = np.zeros(1, np.int64)

    def make_room(self, more: int, call: int) -> None:
        """Make room for so many more keys; forget those that ended before the call.

        Raises:
            CheckerGaveUp: there are too many.
        """
        if 2 * (int(self.used[0]) + more) <= len(self.table):
            return
        kept = int(np.count_nonzero((self.table[:, KEY_LIVE] == 1) | (self.table[:, KEY_CALL] == call)))
        if kept > MAX_KEYS:
            raise CheckerGaveUp("more keys are cached at once than the checker keeps in memory")
        wider = primitives.with_positions(primitives.new_positions(KEY_FIELDS), kept + more)
        self.used[0] = _copy_keys(self.table, wider, call)
        self.table = wider

    def live(self) -> Array:
        """Return the rows of the cached keys."""
        return self.table[self.table[:, KEY_LIVE] == 1]


@jit
def _copy_keys(table: Any, wider: Any, call: int) -> int:
    kept = 0
    for old in table:
        if old[primitives.USED] and (old[KEY_LIVE] or old[KEY_CALL] == call):
            wider[primitives.position(wider, old[primitives.CACHE], old[primitives.LEDGER], old[primitives.ENTRY])] = (
                old
            )
            kept += 1
    return kept


@jit
def add_key(table: Any, used: Any, at: int, cache: int, key: int) -> None:
    """Give a free row to a key; it has no ledger."""
    if primitives.occupy(table, at, cache, 0, key):
        table[at, KEY_OP], table[at, KEY_LIVE], table[at, KEY_WAITS] = 0, 0, 0
        table[at, KEY_LIFE], table[at, KEY_CALL] = primitives.NULL, primitives.NULL
        used[0] += 1


@jit
def is_same(key_row: Any, life: int, size: int) -> bool:
    """Return whether an event shows the entry that is cached under its key."""
    life_now = key_row[KEY_SEQ] if key_row[KEY_OP] == w.PUT else key_row[KEY_LIFE]
    return (
        key_row[KEY_LIVE] == 1
        and life != primitives.NULL
        and life == life_now
        and size != primitives.NULL
        and size == key_row[KEY_SIZE]
    )


@jit
def is_consistent(
    op: int, cause: int, seq: int, life: int, size: int, dirty: bool, key_row: Any, same_call: bool
) -> bool:
    """Return whether an event may follow the key's last event, whose row is `key_row`.

    `same_call`: both have the same call and the same life. `KEY_WAITS` covers a FLUSH that an EVICT waits for.
    """
    live = key_row[KEY_LIVE] == 1
    dirty_now = key_row[KEY_DIRTY] == 1 and key_row[KEY_OP] != w.FLUSH
    handed = same_call and key_row[KEY_OP] == w.FLUSH
    if op == w.PUT:
        return life == seq and size != primitives.NULL and (dirty or not (live and dirty_now))
    if op == w.MISS:
        return not live
    same = is_same(key_row, life, size)
    if op == w.HIT or op == w.REMOVE or op == w.FAILED_FLUSH:
        return same and dirty == dirty_now
    if op == w.DELETE:
        if cause == w.BY_FLUSH:
            return same and dirty == dirty_now and handed
        return (same and dirty == dirty_now) or (life == primitives.NULL and not live)
    if op == w.EVICT:
        return same and (dirty == dirty_now or handed)
    if op == w.FLUSH:
        left = same_call and key_row[KEY_OP] == w.EVICT
        return (left and not live and key_row[KEY_DIRTY] == 1 and size == key_row[KEY_SIZE]) or (same and dirty_now)
    return False
