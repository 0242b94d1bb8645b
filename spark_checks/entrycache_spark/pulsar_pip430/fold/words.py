"""What the loops of this fold speak in: numbers for rules, ops, causes and origins."""

from __future__ import annotations

from typing import Final

from entrycache_trace.compiled import compiled

RULES: Final = (
    *("R-CONFIG-1", "R-COUNT-1", "R-COUNT-2", "R-COUNT-3", "R-CURSOR-11", "R-CURSOR-12", "R-CURSOR-6", "R-CURSOR-7"),
    *("R-EVICT-4", "R-EVICT-5", "R-EVICT-8", "R-EXPIRE-1", "R-EXPIRE-2", "R-INSERT-1", "R-INSERT-2"),
    *("R-INVALIDATE-1", "R-INVALIDATE-4", "R-INVALIDATE-7", "R-INVALIDATE-8", "R-INVALIDATE-9"),
    *("R-METRICS-3", "R-METRICS-4", "R-METRICS-5", "R-METRICS-6", "R-METRICS-7"),
    *("R-READ-1", "R-READ-10", "R-READ-2", "R-READ-7", "R-READ-9"),
    *("R-REQUEUE-1", "R-REQUEUE-3", "R-REQUEUE-4", "R-REQUEUE-5", "R-REQUEUE-6", "R-REQUEUE-8"),
    *("R-STATE-1", "R-STATE-2", "R-STATE-4", "R-STATE-6", "R-STATE-8"),
    *("R-TRIGGER-1", "R-TRIGGER-2", "R-TRIGGER-3", "R-TRIGGER-4", "R-TRIGGER-5", "R-TRIGGER-6", "R-TRIGGER-8"),
)
"""The rules that the fold decides; a rule's number is its place here."""

CONFIG_1, COUNT_1, COUNT_2, COUNT_3, CURSOR_11, CURSOR_12, CURSOR_6, CURSOR_7 = range(8)
EVICT_4, EVICT_5, EVICT_8, EXPIRE_1, EXPIRE_2, INSERT_1, INSERT_2 = range(8, 15)
INVALIDATE_1, INVALIDATE_4, INVALIDATE_7, INVALIDATE_8, INVALIDATE_9 = range(15, 20)
METRICS_3, METRICS_4, METRICS_5, METRICS_6, METRICS_7 = range(20, 25)
READ_1, READ_10, READ_2, READ_7, READ_9 = range(25, 30)
REQUEUE_1, REQUEUE_3, REQUEUE_4, REQUEUE_5, REQUEUE_6, REQUEUE_8 = range(30, 36)
STATE_1, STATE_2, STATE_4, STATE_6, STATE_8 = range(36, 41)
TRIGGER_1, TRIGGER_2, TRIGGER_3, TRIGGER_4, TRIGGER_5, TRIGGER_6, TRIGGER_8 = range(41, 48)

OPS: Final = (
    *("CONFIG", "SNAPSHOT", "CACHE_OPEN", "CACHE_CLOSE", "INSERT", "REJECT", "SKIP", "HIT", "MISS", "READ_DONE"),
    *("EXPECT", "PASS_BEGIN", "PASS_END", "REQUEUE", "EVICT", "TOMBSTONE", "REMOVE", "CURSOR_ADD", "CURSOR_MOVE"),
    *("CURSOR_REMOVE", "METRICS", "END"),
)
"""Ops that a rule speaks of, numbered from 1; 0 is null, others follow as they come."""

CONFIG, SNAPSHOT, CACHE_OPEN, CACHE_CLOSE, INSERT, REJECT, SKIP, HIT, MISS, READ_DONE = range(1, 11)
EXPECT, PASS_BEGIN, PASS_END, REQUEUE, EVICT, TOMBSTONE, REMOVE, CURSOR_ADD, CURSOR_MOVE = range(11, 20)
CURSOR_REMOVE, METRICS, END = range(20, 23)

CAUSES: Final = (
    *("OPEN", "END", "ADD", "FILL", "DUPLICATE", "NOT_WANTED", "GET", "READ", "REPLAY", "TIME", "SIZE", "ACCESSED"),
    *("EXPECTED_READS", "RANGE", "CLEAR", "CURSOR", "LEDGER", "CLOSE", "FULL", "DISABLED"),
)
"""The same of causes."""

BY_OPEN, BY_END, BY_ADD, BY_FILL, BY_DUPLICATE, BY_NOT_WANTED, BY_GET, BY_READ, BY_REPLAY, BY_TIME = range(1, 11)
BY_SIZE, BY_ACCESSED, BY_EXPECTED, BY_RANGE, BY_CLEAR, BY_CURSOR, BY_LEDGER, BY_CLOSE, BY_FULL, BY_DISABLED = range(
    11, 21
)

ORIGINS: Final = ("TRIGGER", "CYCLE", "CALL")
"""The same of origins."""

OF_TRIGGER, OF_CYCLE, OF_CALL = range(1, 4)

# The columns of a table of settings: those of `SETTING_COLUMNS` in their order.
TRIGGER_NOW, TARGET_NOW, TTL_NOW, REQUEUES_NOW, EXTEND_NOW, RANKS, MANUAL, GRACE, STORAGE = range(9)


@compiled
def in_pass(op: int) -> bool:
    """Whether an event stands in a pass, its begin and end included."""
    return PASS_BEGIN <= op <= TOMBSTONE
