"""The vocabulary of the `kafka-streams` checker: numbers for conditions, ops and causes, and the columns of a batch.

Compiled loops know conditions, ops and causes by number. `Sums` are the totals that METRICS and END report, and
`Counters` compares them.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_spark.checkers import batches, primitives
from entrycache_trace.jit import Array

SUFFICIENT_CONDITIONS: Final = (
    *("keys_hold", "calls_hold", "evicted_first", "order_holds", "handed_all", "left_empty", "eldest_first"),
    *("none_needless", "none_outside", "none_above", "none_left_above", "sums_hold", "totals_hold", "counts_hold"),
    *("own_counts_hold", "writes_hold"),
    *("written_below", "forwarded", "none_expired", "chained", "closed_rest", "keys_shown", "windows_shown"),
    "order_shown",
)
"""The conditions that the loop flags if they fail; the number of a condition is its index here."""

KEYS_HOLD, CALLS_HOLD, EVICTED_FIRST, ORDER_HOLDS, HANDED_ALL, LEFT_EMPTY, ELDEST_FIRST = range(7)
NONE_NEEDLESS, NONE_ELSEWHERE, NONE_ABOVE, NONE_LEFT_ABOVE, SUMS_HOLD, TOTALS_HOLD, COUNTS_HOLD = range(7, 14)
OWN_COUNTS_HOLD, WRITES_HOLD = range(14, 16)
WRITTEN_BELOW, FORWARDED, NONE_EXPIRED, CHAINED, CLOSED_REST, KEYS_SHOWN, WINDOWS_SHOWN, ORDER_SHOWN = range(16, 24)

CONDITIONS_BY_RULE: Final = {
    "K-CLOSE-1": {KEYS_HOLD, CALLS_HOLD, LEFT_EMPTY},
    "K-CLOSE-2": {KEYS_HOLD, CALLS_HOLD, LEFT_EMPTY},
    "K-DELETE-1": {KEYS_HOLD},
    "K-EVICT-1": {KEYS_HOLD, CALLS_HOLD, ELDEST_FIRST},
    "K-EVICT-3": {KEYS_HOLD, CALLS_HOLD, EVICTED_FIRST},
    "K-EVICT-4": {KEYS_HOLD, CALLS_HOLD, NONE_ELSEWHERE, NONE_ABOVE},
    "K-EVICT-5": {KEYS_HOLD, CALLS_HOLD, NONE_NEEDLESS},
    "K-FLUSH-1": {KEYS_HOLD, CALLS_HOLD, ORDER_HOLDS, HANDED_ALL},
    "K-FLUSH-2": {KEYS_HOLD},
    "K-FLUSH-3": {KEYS_HOLD},
    "K-FLUSH-4": {KEYS_HOLD},
    "K-GET-1": {KEYS_HOLD},
    "K-GET-2": {KEYS_HOLD},
    "K-LIVENESS-1": {CALLS_HOLD},
    "K-METRICS-1": {KEYS_HOLD, CALLS_HOLD, SUMS_HOLD, TOTALS_HOLD},
    "K-METRICS-2": {KEYS_HOLD, CALLS_HOLD, COUNTS_HOLD},
    "K-METRICS-3": {KEYS_HOLD, CALLS_HOLD, OWN_COUNTS_HOLD},
    "K-PUT-1": {WRITES_HOLD},
    "K-PUT-4": {KEYS_HOLD},
    "K-RESIZE-2": {CALLS_HOLD, NONE_LEFT_ABOVE},
    "K-SIZE-1": {KEYS_HOLD},
    "K-STORE-2": {CALLS_HOLD, WRITTEN_BELOW},
    "K-STORE-4": {CALLS_HOLD, FORWARDED},
    "K-WINDOW-6": {NONE_EXPIRED},
    "K-OLD-2": {CHAINED},
    "K-CLOSE-3": {CALLS_HOLD, CLOSED_REST},
    "K-VIEW-1": {KEYS_SHOWN},
    "K-WINDOW-1": {ORDER_SHOWN},
    "K-WINDOW-2": {WINDOWS_SHOWN},
}
"""The conditions of each rule. If they hold, no event violates the rule; if one fails, its window decides."""

OPS: Final = (
    *("CONFIG", "CACHE_OPEN", "CACHE_CLOSE", "PUT", "HIT", "MISS", "EVICT", "FLUSH", "DELETE", "REMOVE", "METRICS"),
    *("END", "SNAPSHOT", "STORE_OPEN", "STORE_CLOSE", "BELOW", "FORWARD", "VIEW", "VIEW_ENTRY"),
)
"""The ops that a condition mentions, numbered from 1. 0 is null; further ops are numbered as they come."""

CONFIG, CACHE_OPEN, CACHE_CLOSE, PUT, HIT, MISS, EVICT, FLUSH, DELETE, REMOVE, METRICS, END, SNAPSHOT = range(1, 14)
STORE_OPEN, STORE_CLOSE, BELOW, FORWARD, VIEW, VIEW_ENTRY = range(14, 20)

FAILED_FLUSH: Final = -1
"""The op of a FLUSH with the cause FAILED, which all conditions treat as an op of its own."""

CAUSES: Final = ("FAILED", "FLUSH", "CLEAR", "CLOSE", "OPEN", "CALL", "VALUE", "DELETE", "PUT", "BACKWARD")
"""The causes that a condition mentions, numbered in the same way."""

BY_FAILED, BY_FLUSH, BY_CLEAR, BY_CLOSE, BY_OPEN, BY_CALL, BY_VALUE, BY_DELETE, BY_PUT, BY_BACKWARD = range(1, 11)

# The columns of a table of settings.
LIMIT, LIMIT_BEFORE = range(2)


# ---------- the columns of a batch


class Rows(NamedTuple):
    """The arrays of a batch; `settings` holds each event's row in the table of settings."""

    seq: Array
    ts_ns: Array
    op: Array
    cause: Array
    cache: Array
    key_hash: Array
    life: Array
    size_bytes: Array
    dirty: Array
    call_id: Array
    bytes_after: Array
    manager_bytes: Array
    pass_id: Array
    window_start: Array
    window_end: Array
    value_hash: Array
    old_hash: Array
    settings: Array


def vocabulary() -> dict[str, batches.TextNumbers]:
    """Return the text numbers with which a broker begins."""
    return {"op": batches.TextNumbers(OPS), "cause": batches.TextNumbers(CAUSES), "cache": batches.TextNumbers()}


# ---------- totals that METRICS and END report

NEVER_FALL: Final = ("puts", "gets", "evicts", "flushes")


class Sums(NamedTuple):
    """The totals since the start; those of a namespace count since it was last closed."""

    puts: int
    lookups: int
    evicts: int
    sure_evicts: int
    flushes: int
    shrinks: int
    entries: int
    overwrites: int
    misses: int
    sure_misses: int
    hits: int


class Counters:
    """The thread's counters as last reported; they never fall."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}

    def check_thread(self, seq: int, counters: Mapping[str, int], sums: Sums, flags: Array) -> None:
        """Check the counters of the thread."""
        for name in NEVER_FALL:
            value = counters.get(name)
            if value is None:
                continue
            most = self._most.setdefault(name, value)
            if value < most:
                primitives.flag(flags, COUNTS_HOLD, seq)
            self._most[name] = max(most, value)
        evicts = counters.get("evicts", sums.evicts)
        if (
            counters.get("puts", sums.puts) != sums.puts
            or counters.get("gets", 0) > sums.lookups
            or evicts < sums.sure_evicts
            or (sums.shrinks == 0 and evicts > sums.evicts)
            or counters.get("flushes", sums.flushes) < sums.flushes
        ):
            primitives.flag(flags, COUNTS_HOLD, seq)

    def check_space(self, seq: int, counters: Mapping[str, int], sums: Sums, flags: Array) -> None:
        """Check the counters of a namespace."""
        misses = counters.get("misses", sums.misses)
        if (
            counters.get("overwrites", sums.overwrites) != sums.overwrites
            or counters.get("hits", sums.hits) != sums.hits
            or misses > sums.misses
            or misses < sums.sure_misses
        ):
            primitives.flag(flags, OWN_COUNTS_HOLD, seq)

    def check_end(self, seq: int, counters: Mapping[str, int], sums: Sums, after: int, flags: Array) -> None:
        """Check the values of an END."""
        if counters.get("bytes", after) != after or counters.get("entries", sums.entries) != sums.entries:
            primitives.flag(flags, SUMS_HOLD, seq)
