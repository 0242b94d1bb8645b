"""What each key of a namespace was shown as last: a table with a row a key, found by open addressing.

A key is kept while it is cached, and until the call that ended it is over.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.fold import GivenUp
from entrycache_spark.kafka_streams.fold import words as w
from entrycache_spark.loops.positions import CACHE, ENTRY, LEDGER, USED, new_positions, position, settle, with_positions
from entrycache_spark.loops.words import NULL
from entrycache_trace.compiled import Array, compiled

SEQ, OP, LIFE, SIZE, DIRTY, CALL, LIVE, USED_SEQ, WENT_ON, COUNTED, WAITS = range(ENTRY + 1, 15)
"""Of a key's last row: its seq, op, life, size, flag and call; whether the key is cached, and its last use. Of its
FLUSH: whether it goes on a handing over, and whether it was counted as one that begins a call. `WAITS`: its EVICT has
to be followed by a FLUSH."""
KEY_FIELDS: Final = 15

KEYS_MOST: Final = 2_000_000
"""Keys cached at once; above that the fold gives up, and DuckDB decides, which can use the disk."""


class Keys:
    """The table of keys."""

    def __init__(self) -> None:
        self.table = new_positions(KEY_FIELDS)
        self.used = np.zeros(1, np.int64)

    def make_room(self, more: int, call: int) -> None:
        """Let so many more keys in; those that have ended before the call are forgotten.

        Raises:
            GivenUp: there are too many.
        """
        if 2 * (int(self.used[0]) + more) <= len(self.table):
            return
        kept = int(np.count_nonzero((self.table[:, LIVE] == 1) | (self.table[:, CALL] == call)))
        if kept > KEYS_MOST:
            raise GivenUp("more keys are cached at once than the fold keeps in memory")
        wider = with_positions(new_positions(KEY_FIELDS), kept + more)
        self.used[0] = _copied(self.table, wider, call)
        self.table = wider

    def live(self) -> Array:
        """The rows of those that are cached."""
        return self.table[self.table[:, LIVE] == 1]


@compiled
def _copied(table: Any, wider: Any, call: int) -> int:
    kept = 0
    for old in table:
        if old[USED] and (old[LIVE] or old[CALL] == call):
            wider[position(wider, old[CACHE], old[LEDGER], old[ENTRY])] = old
            kept += 1
    return kept


@compiled
def let_in(table: Any, used: Any, at: int, cache: int, key: int) -> None:
    """Make a key of a free place; it has no ledger."""
    if settle(table, at, cache, 0, key):
        table[at, OP], table[at, LIVE], table[at, WAITS] = 0, 0, 0
        table[at, LIFE], table[at, CALL] = NULL, NULL
        used[0] += 1


@compiled
def is_same(told: Any, life: int, size: int) -> bool:
    """Whether an event shows the entry that is cached under its key."""
    life_now = told[SEQ] if told[OP] == w.PUT else told[LIFE]
    return told[LIVE] == 1 and life != NULL and life == life_now and size != NULL and size == told[SIZE]


@compiled
def is_honest(op: int, cause: int, seq: int, life: int, size: int, dirty: bool, told: Any, same_call: bool) -> bool:
    """Whether an event is what the key's last one leaves to happen; `told`: of the key, before it.

    `same_call`: of the two, and of one life. A FLUSH that an EVICT waits for is seen by `WAITS`.
    """
    live = told[LIVE] == 1
    dirty_now = told[DIRTY] == 1 and told[OP] != w.FLUSH
    handed = same_call and told[OP] == w.FLUSH
    if op == w.PUT:
        return life == seq and size != NULL and (dirty or not (live and dirty_now))
    if op == w.MISS:
        return not live
    same = is_same(told, life, size)
    if op == w.HIT or op == w.REMOVE or op == w.FAILED_FLUSH:
        return same and dirty == dirty_now
    if op == w.DELETE:
        if cause == w.BY_FLUSH:
            return same and dirty == dirty_now and handed
        return (same and dirty == dirty_now) or (life == NULL and not live)
    if op == w.EVICT:
        return same and (dirty == dirty_now or handed)
    if op == w.FLUSH:
        left = same_call and told[OP] == w.EVICT
        return (left and not live and told[DIRTY] == 1 and size == told[SIZE]) or (same and dirty_now)
    return False
