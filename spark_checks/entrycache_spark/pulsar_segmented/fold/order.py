"""Rules of the order of events: time, calls, turns one at a time, and what follows what."""

from __future__ import annotations

from typing import Any

from entrycache_spark.loops.passes import is_out_of_pass
from entrycache_spark.loops.words import NULL, apart, differ, flag
from entrycache_spark.pulsar_segmented.fold import words as w
from entrycache_trace.compiled import compiled

PRIOR_SEQ, PRIOR_TS, PRIOR_OP, PRIOR_CALL, OPEN_TURN, TURNED_BYTES = range(6)
"""The fields of the state, all `NULL` at first: of the event before, the turn that is under way, and the size of the
entry for which the ring turned last."""
ORDER_FIELDS = 6


@compiled
def fold_order(c: Any, many: bool, o: Any, flags: Any) -> None:
    """S-LIVENESS-1, and of S-RING-1 and S-GET-2 what stands beside what."""
    for i in range(len(c.seq)):
        seq, op, call = c.seq[i], c.op[i], c.call_id[i]
        if o[PRIOR_SEQ] != NULL:
            before = o[PRIOR_OP]
            other = differ(call, o[PRIOR_CALL])
            if c.ts_ns[i] < o[PRIOR_TS] or (not many and seq == o[PRIOR_SEQ] + 1 and call != seq and other):
                flag(flags, w.LIVENESS_1, seq)
            changes = op == w.INSERT or op == w.PASS_BEGIN or op == w.EVICT
            if changes and w.looks(before) and call != NULL and call == o[PRIOR_CALL]:
                flag(flags, w.GET_2, seq)
            if before == w.PASS_END and (op != w.INSERT or other or differ(c.size_bytes[i], o[TURNED_BYTES])):
                flag(flags, w.RING_1, seq)
        within = not many and op != w.SNAPSHOT and w.in_turn(o[PRIOR_OP])
        if is_out_of_pass(op == w.PASS_BEGIN, w.in_turn(op), within, c.pass_id[i], seq, o[OPEN_TURN]):
            flag(flags, w.RING_1, seq)
        if (op == w.PASS_END or op == w.EVICT or op == w.TOMBSTONE) and apart(c.cause[i], w.BY_TURN):
            flag(flags, w.RING_1, seq)
        if op == w.PASS_BEGIN:
            o[OPEN_TURN], o[TURNED_BYTES] = seq, c.size_bytes[i]
        elif op == w.PASS_END:
            o[OPEN_TURN] = NULL
        o[PRIOR_SEQ], o[PRIOR_TS], o[PRIOR_OP], o[PRIOR_CALL] = seq, c.ts_ns[i], op, call
