"""The vocabulary of the `pulsar-segmented` checker, the columns of a batch, and the rules of rows and their order.

Compiled loops know rules, ops and causes by number.
"""

from typing import Any, Final, NamedTuple

from entrycache_spark.checkers.batches import TextNumbers
from entrycache_spark.checkers.primitives import NULL, flag, is_out_of_pass, names_differ, numbers_differ
from entrycache_trace.jit import Array, jit

RULES: Final = (
    *("S-CONFIG-1", "S-CONFIG-2", "S-GET-1", "S-GET-2", "S-GET-3"),
    *("S-INSERT-1", "S-INSERT-2", "S-INSERT-3", "S-INSERT-4", "S-INSERT-5"),
    *("S-LIVENESS-1", "S-RANGE-1", "S-RANGE-2", "S-RANGE-3", "S-RING-1", "S-RING-2", "S-RING-3", "S-RING-4"),
    *("S-SEGMENT-1", "S-SEGMENT-2", "S-SEGMENT-3", "S-SEGMENT-4", "S-STATE-1", "S-STATE-2", "S-USAGE-1"),
)
"""The rules that the checker decides; the number of a rule is its index here."""

CONFIG_1, CONFIG_2, GET_1, GET_2, GET_3 = range(5)
INSERT_1, INSERT_2, INSERT_3, INSERT_4, INSERT_5 = range(5, 10)
LIVENESS_1, RANGE_1, RANGE_2, RANGE_3, RING_1, RING_2, RING_3, RING_4 = range(10, 18)
SEGMENT_1, SEGMENT_2, SEGMENT_3, SEGMENT_4, STATE_1, STATE_2, USAGE_1 = range(18, 25)

OPS: Final = (
    *("CONFIG", "INSERT", "REJECT", "SKIP", "HIT", "MISS", "ASK", "METRICS"),
    *("PASS_BEGIN", "PASS_END", "REQUEUE", "EVICT", "TOMBSTONE", "SNAPSHOT", "END"),
)
"""The ops that a rule mentions, numbered from 1. 0 is null; further ops are numbered as they come."""

CONFIG, INSERT, REJECT, SKIP, HIT, MISS, ASK, METRICS = range(1, 9)
PASS_BEGIN, PASS_END, REQUEUE, EVICT, TOMBSTONE, SNAPSHOT, END = range(9, 16)

CAUSES: Final = ("OPEN", "DUPLICATE", "DISABLED", "FULL", "TURN", "GET", "READ", "FIRST", "LAST")
"""The causes that a rule mentions, numbered in the same way."""

BY_OPEN, BY_DUPLICATE, BY_DISABLED, BY_FULL, BY_TURN, BY_GET, BY_READ, BY_FIRST, BY_LAST = range(1, 10)

# The columns of a table of settings: those of `SETTING_COLUMNS` in their order, and the limit.
SEGMENTS, ROOM, NAMED, COPIES, LIMIT = range(5)

MAX_BYTES: Final = 1 << 60
"""The bound of sums of bytes, far from the end of 64 bits."""


@jit
def in_turn(op: int) -> bool:
    """Return whether an event is part of a turn, including its begin and end."""
    return PASS_BEGIN <= op <= TOMBSTONE


@jit
def is_lookup(op: int) -> bool:
    """Return whether an event belongs to a call that changes nothing."""
    return HIT <= op <= METRICS


# ---------- the columns of a batch


class Rows(NamedTuple):
    """The arrays of a batch; `settings` holds each event's row in the table of settings."""

    seq: Array
    ts_ns: Array
    op: Array
    cause: Array
    cache: Array
    ledger_id: Array
    entry_id: Array
    key_hash: Array
    life: Array
    size_bytes: Array
    pass_id: Array
    call_id: Array
    bound: Array
    trigger_bytes: Array
    bytes_after: Array
    manager_bytes: Array
    tail_no: Array
    ticket: Array
    settings: Array


def vocabulary() -> dict[str, TextNumbers]:
    """Return the text numbers with which a broker begins."""
    return {"op": TextNumbers(OPS), "cause": TextNumbers(CAUSES), "cache": TextNumbers()}


# ---------- rules that one row decides


@jit
def check_single_rows(c: Any, settings: Any, flags: Any) -> None:
    """Check S-CONFIG-1 and 2, S-INSERT-3 to 5, S-SEGMENT-1, and the skips of S-INSERT-1 and S-RING-1."""
    for i in range(len(c.seq)):
        op, size, bound = c.op[i], c.size_bytes[i], c.bound[i]
        if op == PASS_BEGIN or op == PASS_END:
            named, room = settings[c.settings[i], NAMED], settings[c.settings[i], ROOM]
            if named != NULL and numbers_differ(c.trigger_bytes[i], room):
                flag(flags, CONFIG_2 if named == 1 else CONFIG_1, c.seq[i])
            if op == PASS_BEGIN and bound != NULL and size != NULL and room != NULL and bound + size <= room:
                flag(flags, SEGMENT_1, c.seq[i])
        if op == INSERT:
            _check_insert(c.seq[i], size, bound, settings[c.settings[i], LIMIT], settings[c.settings[i], ROOM], flags)
        elif op == SKIP and settings[c.settings[i], LIMIT] > 0:
            room = settings[c.settings[i], ROOM]
            if c.cause[i] == BY_DISABLED:
                flag(flags, INSERT_1, c.seq[i])
            elif c.cause[i] == BY_FULL and size != NULL and size <= room:
                flag(flags, RING_1, c.seq[i])
        offered = op == INSERT or op == REJECT or op == SKIP or op == PASS_BEGIN
        if offered and size != NULL and size < 0:
            flag(flags, INSERT_5, c.seq[i])


@jit
def _check_insert(seq: int, size: int, bound: int, limit: int, room: int, flags: Any) -> None:
    if limit == 0:
        flag(flags, INSERT_4, seq)
    if limit <= 0 or size == NULL or room == NULL:
        return
    if size > room:
        flag(flags, INSERT_3, seq)
    elif bound != NULL and bound + size > room:
        flag(flags, SEGMENT_1, seq)


# ---------- the order of events

PRIOR_SEQ, PRIOR_TS, PRIOR_OP, PRIOR_CALL, OPEN_TURN, TURNED_BYTES = range(6)
"""The fields of the state, all `NULL` at first: the event before, the open turn, and the size that caused it."""
ORDER_FIELDS = 6


@jit
def check_order(c: Any, many: bool, o: Any, flags: Any) -> None:
    """Check S-LIVENESS-1, and the order of events that S-RING-1 and S-GET-2 require."""
    for i in range(len(c.seq)):
        seq, op, call = c.seq[i], c.op[i], c.call_id[i]
        if o[PRIOR_SEQ] != NULL:
            before = o[PRIOR_OP]
            other = numbers_differ(call, o[PRIOR_CALL])
            if c.ts_ns[i] < o[PRIOR_TS] or (not many and seq == o[PRIOR_SEQ] + 1 and call != seq and other):
                flag(flags, LIVENESS_1, seq)
            changes = op == INSERT or op == PASS_BEGIN or op == EVICT
            if changes and is_lookup(before) and call != NULL and call == o[PRIOR_CALL]:
                flag(flags, GET_2, seq)
            if before == PASS_END and (op != INSERT or other or numbers_differ(c.size_bytes[i], o[TURNED_BYTES])):
                flag(flags, RING_1, seq)
        within = not many and op != SNAPSHOT and in_turn(o[PRIOR_OP])
        if is_out_of_pass(op == PASS_BEGIN, in_turn(op), within, c.pass_id[i], seq, o[OPEN_TURN]):
            flag(flags, RING_1, seq)
        if (op == PASS_END or op == EVICT or op == TOMBSTONE) and names_differ(c.cause[i], BY_TURN):
            flag(flags, RING_1, seq)
        if op == PASS_BEGIN:
            o[OPEN_TURN], o[TURNED_BYTES] = seq, c.size_bytes[i]
        elif op == PASS_END:
            o[OPEN_TURN] = NULL
        o[PRIOR_SEQ], o[PRIOR_TS], o[PRIOR_OP], o[PRIOR_CALL] = seq, c.ts_ns[i], op, call
