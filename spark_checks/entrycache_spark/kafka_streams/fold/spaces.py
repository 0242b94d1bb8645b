"""What each namespace has counted: its entries, dirty ones, and what METRICS tells of it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.kafka_streams.fold import words as w
from entrycache_spark.loops.arrays import widened
from entrycache_spark.loops.words import NULL
from entrycache_trace.compiled import Array, compiled

LIVE, DIRTY, EVICTED, WRITTEN, OVERWRITES, MISSES, SURE_MISSES, HITS = range(8)
"""`EVICTED`: the last use of what was evicted, the latest of them. `WRITTEN`: a PUT, and no close since."""
SPACE_FIELDS: Final = 8


def with_space(spaces: Array, names: int) -> Array:
    """A table with a row for each name."""
    if names <= len(spaces):
        return spaces
    wider = widened(spaces, 2 * names)
    wider[len(spaces) :, EVICTED] = NULL
    return wider


def new_spaces() -> Array:
    """The table at first."""
    return np.zeros((0, SPACE_FIELDS), np.int64)


@compiled
def count(op: int, live: bool, dirty_now: bool, dirty: bool, own: Any) -> int:
    """Count an event of a key; by how much more is cached now."""
    entered = 0
    if op == w.PUT:
        own[WRITTEN] = 1
        own[DIRTY] += int(dirty) - int(live and dirty_now)
        if live:
            own[OVERWRITES] += 1
        else:
            entered = 1
    elif op == w.EVICT or op == w.DELETE or op == w.REMOVE:
        own[DIRTY] -= int(live and dirty_now)
        entered = -int(live)
        own[HITS] -= int(op == w.EVICT and dirty)
    elif op == w.FLUSH:
        own[DIRTY] -= int(live and dirty_now)
        own[HITS] += 1
    elif op == w.HIT:
        own[HITS] += 1
    elif op == w.MISS:
        own[MISSES] += 1
        own[SURE_MISSES] += own[WRITTEN]
    own[LIVE] += entered
    return entered


@compiled
def close(own: Any) -> None:
    """A namespace that is closed counts anew."""
    own[WRITTEN] = own[OVERWRITES] = own[MISSES] = own[SURE_MISSES] = own[HITS] = 0
