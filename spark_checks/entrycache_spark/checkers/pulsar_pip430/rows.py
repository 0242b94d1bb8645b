"""The vocabulary of the `pulsar-pip430` checker, the columns of a batch, and the rules that one row decides.

Compiled loops know rules, ops, causes and origins by number.
"""

from typing import Any, Final, NamedTuple

from entrycache_spark.checkers.batches import TextNumbers
from entrycache_spark.checkers.primitives import NULL, flag, numbers_differ
from entrycache_trace.jit import Array, jit

RULES: Final = (
    *("R-CONFIG-1", "R-COUNT-1", "R-COUNT-2", "R-COUNT-3", "R-CURSOR-11", "R-CURSOR-12", "R-CURSOR-6", "R-CURSOR-7"),
    *("R-EVICT-4", "R-EVICT-5", "R-EVICT-8", "R-EXPIRE-1", "R-EXPIRE-2"),
    *("R-INFLIGHT-1", "R-INFLIGHT-10", "R-INFLIGHT-13", "R-INFLIGHT-2", "R-INFLIGHT-3", "R-INFLIGHT-4", "R-INFLIGHT-9"),
    *("R-INSERT-1", "R-INSERT-2"),
    *("R-INVALIDATE-1", "R-INVALIDATE-4", "R-INVALIDATE-7", "R-INVALIDATE-8", "R-INVALIDATE-9"),
    *("R-LEDGER-1", "R-LEDGER-14", "R-LEDGER-17", "R-LEDGER-6"),
    *("R-LIMIT-1", "R-LIMIT-2", "R-LIMIT-3", "R-LIMIT-4", "R-LIMIT-5", "R-LIMIT-6", "R-LIMIT-7"),
    *("R-METRICS-3", "R-METRICS-4", "R-METRICS-5", "R-METRICS-6", "R-METRICS-7"),
    *("R-READ-1", "R-READ-10", "R-READ-2", "R-READ-7", "R-READ-9"),
    *("R-REQUEUE-1", "R-REQUEUE-3", "R-REQUEUE-4", "R-REQUEUE-5", "R-REQUEUE-6", "R-REQUEUE-8"),
    *("R-STATE-1", "R-STATE-2", "R-STATE-4", "R-STATE-6", "R-STATE-8"),
    *("R-TRIGGER-1", "R-TRIGGER-2", "R-TRIGGER-3", "R-TRIGGER-4", "R-TRIGGER-5", "R-TRIGGER-6", "R-TRIGGER-8"),
)
"""The rules that the checker decides; the number of a rule is its index here."""

CONFIG_1, COUNT_1, COUNT_2, COUNT_3, CURSOR_11, CURSOR_12, CURSOR_6, CURSOR_7 = range(8)
EVICT_4, EVICT_5, EVICT_8, EXPIRE_1, EXPIRE_2 = range(8, 13)
INFLIGHT_1, INFLIGHT_10, INFLIGHT_13, INFLIGHT_2, INFLIGHT_3, INFLIGHT_4, INFLIGHT_9 = range(13, 20)
INSERT_1, INSERT_2 = range(20, 22)
INVALIDATE_1, INVALIDATE_4, INVALIDATE_7, INVALIDATE_8, INVALIDATE_9 = range(22, 27)
LEDGER_1, LEDGER_14, LEDGER_17, LEDGER_6 = range(27, 31)
LIMIT_1, LIMIT_2, LIMIT_3, LIMIT_4, LIMIT_5, LIMIT_6, LIMIT_7 = range(31, 38)
METRICS_3, METRICS_4, METRICS_5, METRICS_6, METRICS_7 = range(38, 43)
READ_1, READ_10, READ_2, READ_7, READ_9 = range(43, 48)
REQUEUE_1, REQUEUE_3, REQUEUE_4, REQUEUE_5, REQUEUE_6, REQUEUE_8 = range(48, 54)
STATE_1, STATE_2, STATE_4, STATE_6, STATE_8 = range(54, 59)
TRIGGER_1, TRIGGER_2, TRIGGER_3, TRIGGER_4, TRIGGER_5, TRIGGER_6, TRIGGER_8 = range(59, 66)

OPS: Final = (
    *("CONFIG", "SNAPSHOT", "CACHE_OPEN", "CACHE_CLOSE", "INSERT", "REJECT", "SKIP", "HIT", "MISS", "READ_DONE"),
    *("EXPECT", "PASS_BEGIN", "PASS_END", "REQUEUE", "EVICT", "TOMBSTONE", "REMOVE", "CURSOR_ADD", "CURSOR_MOVE"),
    *("CURSOR_REMOVE", "METRICS", "END", "READ_BEGIN", "ASK", "ANSWER", "READ_END", "PERMIT"),
)
"""The ops that a rule mentions, numbered from 1. 0 is null; further ops are numbered as they come."""

CONFIG, SNAPSHOT, CACHE_OPEN, CACHE_CLOSE, INSERT, REJECT, SKIP, HIT, MISS, READ_DONE = range(1, 11)
EXPECT, PASS_BEGIN, PASS_END, REQUEUE, EVICT, TOMBSTONE, REMOVE, CURSOR_ADD, CURSOR_MOVE = range(11, 20)
CURSOR_REMOVE, METRICS, END, READ_BEGIN, ASK, ANSWER, READ_END, PERMIT, LEDGER_DELETE = range(20, 29)

CAUSES: Final = (
    *("OPEN", "END", "ADD", "FILL", "DUPLICATE", "NOT_WANTED", "GET", "READ", "REPLAY", "TIME", "SIZE", "ACCESSED"),
    *("EXPECTED_READS", "RANGE", "CLEAR", "CURSOR", "LEDGER", "CLOSE", "FULL", "DISABLED"),
    *("DELIVERED", "ALL", "FAIL", "SHORT", "TAKEN", "QUEUED", "REFUSED", "GIVEN", "FAILED"),
)
"""The causes that a rule mentions, numbered in the same way."""

BY_OPEN, BY_END, BY_ADD, BY_FILL, BY_DUPLICATE, BY_NOT_WANTED, BY_GET, BY_READ, BY_REPLAY, BY_TIME = range(1, 11)
BY_SIZE, BY_ACCESSED, BY_EXPECTED, BY_RANGE, BY_CLEAR, BY_CURSOR, BY_LEDGER, BY_CLOSE, BY_FULL, BY_DISABLED = range(
    11, 21
)

BY_DELIVERED, BY_ALL, BY_FAIL, BY_SHORT, BY_TAKEN, BY_QUEUED, BY_REFUSED, BY_GIVEN, BY_FAILED = range(21, 30)

ORIGINS: Final = ("TRIGGER", "CYCLE", "CALL")
"""The origins that a rule mentions, numbered in the same way."""

OF_TRIGGER, OF_CYCLE, OF_CALL = range(1, 4)

# The columns of a table of settings: those of `SETTING_COLUMNS` in their order, then the limit.
TRIGGER_NOW, TARGET_NOW, TTL_NOW, REQUEUES_NOW, EXTEND_NOW, RANKS, MANUAL, GRACE, STORAGE = range(9)
PERMITS_NOW, QUEUE_NOW, TIMEOUT_NOW, DROPS_LATE, LIMIT_NOW = range(9, 14)


@jit
def in_pass(op: int) -> bool:
    """Return whether an event is part of a pass, including its begin and end."""
    return PASS_BEGIN <= op <= TOMBSTONE


# ---------- the columns of a batch


class Rows(NamedTuple):
    """The arrays of a batch; `settings` holds each event's row in the table of settings."""

    seq: Array
    ts_ns: Array
    op: Array
    cause: Array
    origin: Array
    cache: Array
    ledger_id: Array
    entry_id: Array
    life: Array
    size_bytes: Array
    expected_reads: Array
    requeues: Array
    accessed: Array
    stamp_ns: Array
    new_stamp_ns: Array
    pass_id: Array
    call_id: Array
    bound: Array
    max_requeues: Array
    extend_accessed: Array
    trigger_bytes: Array
    target_bytes: Array
    bytes_after: Array
    manager_bytes: Array
    tail_no: Array
    head_no: Array
    ticket: Array
    cursor: Array
    read_id: Array
    ask_id: Array
    last_entry_id: Array
    permits: Array
    settings: Array


def vocabulary() -> dict[str, TextNumbers]:
    """Return the text numbers with which a broker begins."""
    return {
        "op": TextNumbers(OPS),
        "cause": TextNumbers(CAUSES),
        "origin": TextNumbers(ORIGINS),
        "cache": TextNumbers(),
        "cursor": TextNumbers(),
    }


# ---------- rules that one row decides

MAX_STAMP_AGE_NS = 1_000_000_000
"""The age above which a stamp of a real clock is left to the window."""


@jit
def check_single_rows(c: Any, settings: Any, many: bool, virtual: bool, flags: Any) -> None:
    """Check R-CONFIG-1, R-EXPIRE-2, R-INSERT-1, R-REQUEUE-1 and 8, and R-TRIGGER-1, 4 and 8."""
    for i in range(len(c.seq)):
        op, now = c.op[i], c.settings[i]
        if op == INSERT:
            new, ts = c.new_stamp_ns[i], c.ts_ns[i]
            if (
                c.accessed[i] == 1
                or numbers_differ(c.requeues[i], 0)
                or (new != NULL and (new > ts or (virtual and new != ts) or ts - new > MAX_STAMP_AGE_NS))
            ):
                flag(flags, INSERT_1, c.seq[i])
        elif in_pass(op):
            extend, extend_now = c.extend_accessed[i], settings[now, EXTEND_NOW]
            if numbers_differ(c.max_requeues[i], settings[now, REQUEUES_NOW]) or (
                extend >= 0 and extend_now != NULL and extend != extend_now
            ):
                flag(flags, CONFIG_1, c.seq[i])
            if op == REQUEUE:
                _requeue(c, i, flags)
            elif op == PASS_END and c.cause[i] == BY_TIME:
                stamp, bound = c.stamp_ns[i], c.bound[i]
                if bound != NULL and (stamp < bound if stamp != NULL else c.bytes_after[i] > 0):
                    flag(flags, EXPIRE_2, c.seq[i])
            if op <= PASS_END and c.cause[i] == BY_SIZE:
                _size_pass(c, i, settings[now], many, flags)


@jit
def _requeue(c: Any, i: int, flags: Any) -> None:
    touched = c.accessed[i] == 1 and c.extend_accessed[i] == 1
    if c.cause[i] == BY_ACCESSED:
        if c.accessed[i] == 0 or c.extend_accessed[i] == 0:
            flag(flags, REQUEUE_1, c.seq[i])
    elif c.cause[i] == BY_EXPECTED and (c.expected_reads[i] < 1 or touched):
        flag(flags, REQUEUE_8, c.seq[i])


@jit
def _size_pass(c: Any, i: int, now: Any, many: bool, flags: Any) -> None:
    if numbers_differ(c.trigger_bytes[i], now[TRIGGER_NOW]) or numbers_differ(c.target_bytes[i], now[TARGET_NOW]):
        flag(flags, TRIGGER_1, c.seq[i])
    origin = c.origin[i]
    if c.op[i] != PASS_BEGIN or (origin != OF_TRIGGER and origin != OF_CYCLE):
        return
    if origin == OF_TRIGGER and now[MANUAL] == 1 and not many and numbers_differ(c.call_id[i], c.seq[i]):
        flag(flags, TRIGGER_4, c.seq[i])
    held = held_bytes(c.manager_bytes[i], c.bytes_after[i])
    trigger, target = (
        value_or_setting(c.trigger_bytes[i], now[TRIGGER_NOW]),
        value_or_setting(c.target_bytes[i], now[TARGET_NOW]),
    )
    if many:
        if c.bound[i] != NULL and c.bound[i] <= 0:
            flag(flags, TRIGGER_8, c.seq[i])
    elif trigger != NULL and target != NULL and trigger < held <= target:
        flag(flags, TRIGGER_8, c.seq[i])


@jit
def value_or_setting(value: int, setting: int) -> int:
    """Return the value of the row, or the effective setting if it is null."""
    return value if value != NULL else setting


@jit
def held_bytes(manager: int, after: int) -> int:
    """Return the bytes that the cache compares: the manager's own if they are recorded."""
    return manager if manager != NULL else after
