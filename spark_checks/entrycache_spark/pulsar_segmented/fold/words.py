"""What the loops of this fold speak in: numbers for rules, ops and causes."""

from __future__ import annotations

from typing import Final

from entrycache_trace.compiled import compiled

RULES: Final = (
    *("S-CONFIG-1", "S-CONFIG-2", "S-GET-1", "S-GET-2", "S-GET-3"),
    *("S-INSERT-1", "S-INSERT-2", "S-INSERT-3", "S-INSERT-4", "S-INSERT-5"),
    *("S-LIVENESS-1", "S-RANGE-1", "S-RANGE-2", "S-RANGE-3", "S-RING-1", "S-RING-2", "S-RING-3", "S-RING-4"),
    *("S-SEGMENT-1", "S-SEGMENT-2", "S-SEGMENT-3", "S-SEGMENT-4", "S-STATE-1", "S-STATE-2", "S-USAGE-1"),
)
"""The rules that the fold decides; a rule's number is its place here."""

CONFIG_1, CONFIG_2, GET_1, GET_2, GET_3 = range(5)
INSERT_1, INSERT_2, INSERT_3, INSERT_4, INSERT_5 = range(5, 10)
LIVENESS_1, RANGE_1, RANGE_2, RANGE_3, RING_1, RING_2, RING_3, RING_4 = range(10, 18)
SEGMENT_1, SEGMENT_2, SEGMENT_3, SEGMENT_4, STATE_1, STATE_2, USAGE_1 = range(18, 25)

OPS: Final = (
    *("CONFIG", "INSERT", "REJECT", "SKIP", "HIT", "MISS", "ASK", "METRICS"),
    *("PASS_BEGIN", "PASS_END", "REQUEUE", "EVICT", "TOMBSTONE", "SNAPSHOT", "END", "REMOVE"),
)
"""Ops that a rule speaks of, numbered from 1; 0 is null, others follow as they come."""

CONFIG, INSERT, REJECT, SKIP, HIT, MISS, ASK, METRICS = range(1, 9)
PASS_BEGIN, PASS_END, REQUEUE, EVICT, TOMBSTONE, SNAPSHOT, END, REMOVE = range(9, 17)

CAUSES: Final = ("OPEN", "DUPLICATE", "DISABLED", "FULL", "TURN", "GET", "READ", "FIRST", "LAST")
"""The same of causes."""

BY_OPEN, BY_DUPLICATE, BY_DISABLED, BY_FULL, BY_TURN, BY_GET, BY_READ, BY_FIRST, BY_LAST = range(1, 10)

# The columns of a table of settings: those of `SETTING_COLUMNS` in their order, and the limit.
SEGMENTS, ROOM, NAMED, COPIES, LIMIT = range(5)

BYTES_MOST: Final = 1 << 60
"""No sum of bytes may come near the end of 64 bits."""


@compiled
def in_turn(op: int) -> bool:
    """Whether an event stands in a turn, its begin and end included."""
    return PASS_BEGIN <= op <= TOMBSTONE


@compiled
def looks(op: int) -> bool:
    """Whether an event is of a call that changes nothing."""
    return HIT <= op <= METRICS
