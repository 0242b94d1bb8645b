"""What a range is answered with: ascending from its first position to its last one, and only if it is one (S-RANGE)."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.words import NULL, apart, differ, flag
from entrycache_spark.pulsar_segmented.fold import words as w
from entrycache_trace.compiled import compiled

FIRST_SEQ, FIRST_CACHE, FIRST_LEDGER, FIRST_ENTRY, LAST_SEQ, LAST_LEDGER, LAST_ENTRY = range(7)
PRIOR_OP, PRIOR_ENTRY, IS_PART = range(7, 10)
"""The fields of the state, all `NULL` at first: the bounds that were asked for last, the event before, and whether that
is of an answer that does not end there."""
RANGE_FIELDS = 10


@compiled
def fold_ranges(c: Any, r: Any, flags: Any) -> None:
    """S-RANGE-3, and of S-RANGE-1 and 2 what needs no position."""
    for i in range(len(c.seq)):
        op, cause, entry = c.op[i], c.cause[i], c.entry_id[i]
        reads = op == w.HIT and cause == w.BY_READ
        if r[IS_PART] == 1 and not reads:
            flag(flags, w.RANGE_2, c.seq[i])
        r[IS_PART] = 0
        if reads and r[FIRST_SEQ] != NULL:
            if _is_out_of_line(c.cache[i], c.ledger_id[i], entry, r):
                flag(flags, w.RANGE_1, c.seq[i])
            if r[LAST_SEQ] > r[FIRST_SEQ]:
                over = r[FIRST_ENTRY] != NULL and r[LAST_ENTRY] != NULL and r[FIRST_ENTRY] > r[LAST_ENTRY]
                if over or differ(r[FIRST_LEDGER], r[LAST_LEDGER]):
                    flag(flags, w.RANGE_3, c.seq[i])
                if r[FIRST_LEDGER] == r[LAST_LEDGER] and differ(entry, r[LAST_ENTRY]):
                    r[IS_PART] = 1
        elif op == w.ASK and cause == w.BY_FIRST:
            r[FIRST_SEQ], r[FIRST_CACHE] = c.seq[i], c.cache[i]
            r[FIRST_LEDGER], r[FIRST_ENTRY] = c.ledger_id[i], entry
        elif op == w.ASK and cause == w.BY_LAST:
            r[LAST_SEQ], r[LAST_LEDGER], r[LAST_ENTRY] = c.seq[i], c.ledger_id[i], entry
        r[PRIOR_OP], r[PRIOR_ENTRY] = op, entry


@compiled
def _is_out_of_line(cache: int, ledger: int, entry: int, r: Any) -> bool:
    """Whether an answer goes on elsewhere than behind the event before."""
    if apart(cache, r[FIRST_CACHE]) or differ(ledger, r[FIRST_LEDGER]):
        return True
    if r[PRIOR_OP] == w.ASK:
        return differ(entry, r[FIRST_ENTRY])
    return r[PRIOR_OP] == w.HIT and r[PRIOR_ENTRY] != NULL and differ(entry, r[PRIOR_ENTRY] + 1)
