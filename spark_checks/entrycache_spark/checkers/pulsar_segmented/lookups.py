"""Positions and range reads of a ring.

`Places` knows which entry each position holds. It checks lookups and inserts, and whether a range that is not answered
is cached as a whole (S-GET-1, S-INSERT-1 and 2, S-RANGE-1 and 2). `check_ranges` checks that an answer ascends from the
first position to the last one, and that the bounds are a range (S-RANGE-1 to 3).
"""

from typing import Any, Final

import numpy as np

from entrycache_spark.checkers import primitives
from entrycache_spark.checkers.pulsar_segmented import rows as w
from entrycache_trace.jit import Array, jit

STEPS_AT_ONCE: Final = 1 << 20
STEPS_PER_EVENT: Final = 4
"""The positions that may be looked up in ranges, for each event; above that S-RANGE-1 is left to its window."""

HOLDER: Final = primitives.ENTRY + 1
"""The INSERT of the cached entry; a position is kept while it holds one."""
PLACE_FIELDS: Final = 5

_PLACES, _STEPS, _CACHE, _LEDGER, _FIRST, _LAST = range(6)
"""The fields of the state: held positions, steps that are left, and the bounds of the last range asked for."""


class Places:
    """The positions that hold an entry."""

    def __init__(self, steps: int = STEPS_AT_ONCE) -> None:
        self._table = primitives.new_positions(PLACE_FIELDS)
        self._state = np.array([0, steps, 0, primitives.NULL, primitives.NULL, primitives.NULL], np.int64)

    def follow(self, c: Any, flags: Array) -> None:
        """Read a batch."""
        more = int(np.count_nonzero(c.op == w.INSERT))
        self._table = primitives.with_positions(self._table, int(self._state[_PLACES]) + more)
        _check_places(c, self._table, self._state, flags)


@jit
def _check_places(c: Any, table: Any, p: Any, flags: Any) -> None:
    for i in range(len(c.seq)):
        op, cause, entry = c.op[i], c.cause[i], c.entry_id[i]
        p[_STEPS] += STEPS_PER_EVENT
        if p[_LAST] != primitives.NULL:
            if not (op == w.HIT and cause == w.BY_READ) and _is_cached(table, p):
                primitives.flag(flags, w.RANGE_1, c.seq[i])
            p[_LAST] = primitives.NULL
        if op == w.ASK:
            _ask(cause, c.cache[i], c.ledger_id[i], entry, p)
            continue
        p[_FIRST] = primitives.NULL
        if entry != primitives.NULL and (w.INSERT <= op <= w.MISS or op == w.EVICT) and op != w.SKIP:
            _at(c.seq[i], op, cause, c.cache[i], c.ledger_id[i], entry, c.life[i], table, p, flags)


@jit
def _at(
    seq: int, op: int, cause: int, cache: int, ledger: int, entry: int, life: int, table: Any, p: Any, flags: Any
) -> None:
    """Check an event at a position."""
    at = primitives.position(table, cache, ledger, entry)
    held, placed = table[at, primitives.USED] == 1, cache != 0 and ledger != primitives.NULL
    if op == w.HIT:
        if not held or (life != primitives.NULL and life != table[at, HOLDER]):
            if cause == w.BY_GET:
                primitives.flag(flags, w.GET_1, seq)
            elif cause == w.BY_READ and placed:
                primitives.flag(flags, w.RANGE_2, seq)
    elif op == w.MISS:
        if held and cause == w.BY_GET:
            primitives.flag(flags, w.GET_1, seq)
    elif op == w.REJECT:
        if not held and cause == w.BY_DUPLICATE and placed:
            primitives.flag(flags, w.INSERT_1, seq)
    elif op == w.INSERT:
        if held:
            primitives.flag(flags, w.INSERT_2, seq)
        if life != seq:
            primitives.flag(flags, w.GET_1, seq)
        p[_PLACES] += primitives.occupy(table, at, cache, ledger, entry)
        table[at, HOLDER] = seq
    elif held:
        p[_PLACES] -= 1
        primitives.forget(table, at)


@jit
def _ask(cause: int, cache: int, ledger: int, entry: int, p: Any) -> None:
    """Store a bound of a range; the last bound counts only directly after the first one, in the same ledger."""
    if cause == w.BY_FIRST:
        p[_CACHE], p[_LEDGER], p[_FIRST] = cache, ledger, entry
    elif (
        cause == w.BY_LAST and cache != 0 and cache == p[_CACHE] and ledger != primitives.NULL and ledger == p[_LEDGER]
    ):
        if 0 <= p[_FIRST] <= entry:
            p[_LAST] = entry
        else:
            p[_FIRST] = primitives.NULL
    else:
        p[_FIRST] = primitives.NULL


@jit
def _is_cached(table: Any, p: Any) -> bool:
    """Return whether all of a range is cached, or the steps are used up."""
    if p[_LAST] - p[_FIRST] >= p[_PLACES]:
        return False
    for entry in range(p[_FIRST], p[_LAST] + 1):
        p[_STEPS] -= 1
        if p[_STEPS] < 0:
            return True
        if not table[primitives.position(table, p[_CACHE], p[_LEDGER], entry), primitives.USED]:
            return False
    return True


# ---------- answers to range reads

FIRST_SEQ, FIRST_CACHE, FIRST_LEDGER, FIRST_ENTRY, LAST_SEQ, LAST_LEDGER, LAST_ENTRY = range(7)
PRIOR_OP, PRIOR_ENTRY, IS_PART = range(7, 10)
"""The fields of the state, all `NULL` at first.

They are the bounds that were asked for last, the event before, and whether it is part of an answer that must go on.
"""
RANGE_FIELDS = 10


@jit
def check_ranges(c: Any, r: Any, flags: Any) -> None:
    """Check S-RANGE-3, and what S-RANGE-1 and 2 require without positions."""
    for i in range(len(c.seq)):
        op, cause, entry = c.op[i], c.cause[i], c.entry_id[i]
        reads = op == w.HIT and cause == w.BY_READ
        if r[IS_PART] == 1 and not reads:
            primitives.flag(flags, w.RANGE_2, c.seq[i])
        r[IS_PART] = 0
        if reads and r[FIRST_SEQ] != primitives.NULL:
            if _is_out_of_line(c.cache[i], c.ledger_id[i], entry, r):
                primitives.flag(flags, w.RANGE_1, c.seq[i])
            if r[LAST_SEQ] > r[FIRST_SEQ]:
                over = (
                    r[FIRST_ENTRY] != primitives.NULL
                    and r[LAST_ENTRY] != primitives.NULL
                    and r[FIRST_ENTRY] > r[LAST_ENTRY]
                )
                if over or primitives.numbers_differ(r[FIRST_LEDGER], r[LAST_LEDGER]):
                    primitives.flag(flags, w.RANGE_3, c.seq[i])
                if r[FIRST_LEDGER] == r[LAST_LEDGER] and primitives.numbers_differ(entry, r[LAST_ENTRY]):
                    r[IS_PART] = 1
        elif op == w.ASK and cause == w.BY_FIRST:
            r[FIRST_SEQ], r[FIRST_CACHE] = c.seq[i], c.cache[i]
            r[FIRST_LEDGER], r[FIRST_ENTRY] = c.ledger_id[i], entry
        elif op == w.ASK and cause == w.BY_LAST:
            r[LAST_SEQ], r[LAST_LEDGER], r[LAST_ENTRY] = c.seq[i], c.ledger_id[i], entry
        r[PRIOR_OP], r[PRIOR_ENTRY] = op, entry


@jit
def _is_out_of_line(cache: int, ledger: int, entry: int, r: Any) -> bool:
    """Return whether an answer does not continue directly after the event before."""
    if primitives.names_differ(cache, r[FIRST_CACHE]) or primitives.numbers_differ(ledger, r[FIRST_LEDGER]):
        return True
    if r[PRIOR_OP] == w.ASK:
        return primitives.numbers_differ(entry, r[FIRST_ENTRY])
    return (
        r[PRIOR_OP] == w.HIT
        and r[PRIOR_ENTRY] != primitives.NULL
        and primitives.numbers_differ(entry, r[PRIOR_ENTRY] + 1)
    )
