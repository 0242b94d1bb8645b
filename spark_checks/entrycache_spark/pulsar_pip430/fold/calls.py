"""The order of a read: all lookups before its fills, which ascend and carry one count (R-READ-7 and 9)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from entrycache_spark.loops.hashing import place
from entrycache_spark.loops.words import NULL, differ, flag
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_trace.compiled import Array, compiled

CALLS_KEPT: Final = 1 << 12

CALL, SEQ, LEDGER, ENTRY, COUNT = range(5)


def new_calls(kept: int = CALLS_KEPT) -> Array:
    """The last fill of each call, where no other call has taken its place; the last row: the last fill of those."""
    return np.full((kept + 1, 5), NULL, np.int64)


@compiled
def fold_calls(c: Any, t: Any, flags: Any) -> None:
    """Only of reads that name no cursor; a reader's call may be several reads, one after the other."""
    mask = len(t) - 2
    for i in range(len(c.seq)):
        op, call = c.op[i], c.call_id[i]
        fills = op == w.INSERT and c.cause[i] == w.BY_FILL
        if (
            call == NULL
            or c.cursor[i] != 0
            or not (fills or ((op == w.HIT or op == w.MISS) and c.cause[i] == w.BY_READ))
        ):
            continue
        own = t[place(call, mask)]
        known = own[CALL] == call
        lost = not known and t[mask + 1, SEQ] != NULL and call <= t[mask + 1, SEQ]
        if not fills:
            if known or lost:
                flag(flags, w.READ_7, c.seq[i])
            continue
        ledger, entry, count = c.ledger_id[i], c.entry_id[i], c.expected_reads[i]
        if lost or (
            known
            and (
                differ(count, own[COUNT])
                or differ(ledger, own[LEDGER])
                or (ledger != NULL and ledger == own[LEDGER] and entry != NULL and entry <= own[ENTRY])
            )
        ):
            flag(flags, w.READ_9, c.seq[i])
        if not known:
            if own[CALL] != NULL:
                t[mask + 1, SEQ] = max(t[mask + 1, SEQ], own[SEQ])
            own[LEDGER] = own[ENTRY] = own[COUNT] = NULL
        own[CALL], own[SEQ] = call, c.seq[i]
        if ledger != NULL:
            own[LEDGER] = ledger
        if entry != NULL:
            own[ENTRY] = entry
        if count != NULL:
            own[COUNT] = count
