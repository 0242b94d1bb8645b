"""What the loops of this fold speak in: numbers for grounds, ops and causes."""

from __future__ import annotations

from typing import Final

GROUNDS: Final = (
    *("keys_hold", "calls_hold", "evicted_first", "order_holds", "handed_all", "left_empty", "eldest_first"),
    *("none_needless", "none_elsewhere", "none_above", "none_left_above", "sums_hold", "totals_hold", "counts_hold"),
    *("own_counts_hold", "writes_hold"),
)
"""Those of the view `settled`, and what K-PUT-1 asks of each row; a ground's number is its place here."""

KEYS_HOLD, CALLS_HOLD, EVICTED_FIRST, ORDER_HOLDS, HANDED_ALL, LEFT_EMPTY, ELDEST_FIRST = range(7)
NONE_NEEDLESS, NONE_ELSEWHERE, NONE_ABOVE, NONE_LEFT_ABOVE, SUMS_HOLD, TOTALS_HOLD, COUNTS_HOLD = range(7, 14)
OWN_COUNTS_HOLD, WRITES_HOLD = range(14, 16)

OPS: Final = (
    *("CONFIG", "CACHE_OPEN", "CACHE_CLOSE", "PUT", "HIT", "MISS", "EVICT", "FLUSH", "DELETE", "REMOVE", "METRICS"),
    *("END", "SNAPSHOT"),
)
"""Ops that a ground speaks of, numbered from 1; 0 is null, others follow as they come."""

CONFIG, CACHE_OPEN, CACHE_CLOSE, PUT, HIT, MISS, EVICT, FLUSH, DELETE, REMOVE, METRICS, END, SNAPSHOT = range(1, 14)

FAILED_FLUSH: Final = -1
"""A FLUSH of the cause FAILED: an op of its own to all grounds."""

CAUSES: Final = ("FAILED", "FLUSH", "CLEAR", "CLOSE", "OPEN")
"""The same of causes."""

BY_FAILED, BY_FLUSH, BY_CLEAR, BY_CLOSE, BY_OPEN = range(1, 6)

# The columns of a table of settings.
LIMIT, LIMIT_BEFORE = range(2)
