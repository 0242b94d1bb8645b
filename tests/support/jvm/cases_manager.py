"""Level `manager`, worked out by hand from the protocol."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.steps import DONE, INSERTED, REFUSED, Case, advance, counted, get, insert, metrics, removed

SMALL: Final = {"max_size_bytes": 100, "watermark": 0.5, "max_requeues": 0, "extend_recently_accessed": False}
"""The trigger is 98 bytes, the target 50."""

USAGE: Final = {"op": "usage"}
METRICS: Final = {"op": "metrics"}
CYCLE: Final = {"op": "cycle"}
RUN_SCHEDULED: Final = {"op": "run_scheduled"}


def _configure(**settings: Any) -> dict[str, Any]:
    return {"op": "configure", **settings}


CASES: Final[dict[str, Case]] = {
    "an insert that crosses the trigger frees down to the target at once": (
        SMALL,
        [
            (insert(0, 49), INSERTED),
            (insert(1, 49), INSERTED),
            (USAGE, removed(2, 98)),
            (insert(2, 1), INSERTED),
            (USAGE, removed(2, 50)),
            (METRICS, metrics(inserted=3, evicted=1, cycles=1, size=50)),
        ],
    ),
    "an entry larger than the limit comes and goes": (
        SMALL,
        [(insert(0, 500), INSERTED), (USAGE, removed(0, 0)), (METRICS, metrics(inserted=1, evicted=1, cycles=1))],
    ),
    "a target above the bytes frees nothing and counts nothing": (
        {**SMALL, "watermark": 1},
        [(insert(0, 99), INSERTED), (CYCLE, removed(0, 0)), (METRICS, metrics(inserted=1, size=99))],
    ),
    "a duplicate triggers nothing": (
        SMALL,
        [
            (insert(0, 60), INSERTED),
            (_configure(max_size_bytes=50), DONE),
            (insert(0, 60), {"inserted": False}),
            (USAGE, removed(1, 60)),
            (insert(1, 0), INSERTED),
            (USAGE, removed(1, 0)),
        ],
    ),
    "a scheduled pass waits until it is run, by the sizes of that moment": (
        {**SMALL, "eviction": "manual"},
        [
            *((insert(entry, 60), INSERTED) for entry in range(3)),
            (USAGE, removed(3, 180)),
            ({"op": "clear", "cache": "b"}, removed(0, 0)),
            ({"op": "evict", "bytes": 1}, removed(1, 60)),
            (RUN_SCHEDULED, removed(2, 120)),
            (insert(3, 60), INSERTED),
            (RUN_SCHEDULED, removed(0, 0)),
            (METRICS, metrics(inserted=4, evicted=3, cycles=1, size=60)),
        ],
    ),
    "a scheduled pass finds that all has left": (
        {**SMALL, "eviction": "manual"},
        [
            (insert(0, 120), INSERTED),
            ({"op": "clear", "cache": "a"}, removed(1, 120)),
            (RUN_SCHEDULED, removed(0, 0)),
            (METRICS, metrics(inserted=1, evicted=1)),
        ],
    ),
    "a cycle runs both passes at once, in both modes": (
        {**SMALL, "eviction": "manual", "ttl_nanos": 10},
        [
            (insert(0, 10), INSERTED),
            (advance(11), DONE),
            (insert(1, 40), INSERTED),
            (CYCLE, removed(1, 10)),
            (insert(2, 60), INSERTED),
            (CYCLE, removed(2, 100)),
            (RUN_SCHEDULED, removed(0, 0)),
            (METRICS, metrics(inserted=3, evicted=3, cycles=1)),
        ],
    ),
    "settings that are refused change nothing": (
        SMALL,
        [
            (_configure(max_size_bytes=0), REFUSED),
            (_configure(max_size_bytes=-1), REFUSED),
            (_configure(watermark=-0.1), REFUSED),
            (_configure(watermark=1.5, max_size_bytes=10), REFUSED),
            (_configure(ttl_nanos=-1, watermark=0.9), REFUSED),
            (_configure(max_requeues=-1, max_size_bytes=10), REFUSED),
            (insert(0, 98), INSERTED),
            (USAGE, removed(1, 98)),
        ],
    ),
    "settings act from the next step on and remove nothing by themselves": (
        {**SMALL, "ttl_nanos": 100},
        [
            (insert(0, 10, 1), INSERTED),
            (get(0), {"hit": True}),
            (advance(50), DONE),
            (_configure(ttl_nanos=10, max_requeues=1, extend_recently_accessed=True), DONE),
            ({"op": "expire"}, removed(0, 0)),
            (advance(50), DONE),
            (_configure(max_requeues=0), DONE),
            ({"op": "expire"}, removed(1, 10)),
            (insert(1, 30), INSERTED),
            (_configure(watermark=0, max_size_bytes=20), DONE),
            (USAGE, removed(1, 30)),
            (insert(2, 0), INSERTED),
            (USAGE, removed(1, 0)),
        ],
    ),
    "no caching cannot be switched on": (
        {"max_size_bytes": 0},
        [
            (_configure(max_size_bytes=10), REFUSED),
            (_configure(watermark=0.5), DONE),
            (insert(0), {"inserted": False}),
            (METRICS, metrics()),
        ],
    ),
    "invalidation drops what is below a position, or one ledger": (
        {},
        [
            *((insert(entry), INSERTED) for entry in range(3)),
            ({"op": "insert", "cache": "a", "pos": [2, 0], "size": 5}, INSERTED),
            ({"op": "insert", "cache": "b", "pos": [1, 0], "size": 7}, INSERTED),
            ({"op": "invalidate_before", "cache": "a", "pos": [-1, -1]}, removed(0, 0)),
            ({"op": "invalidate_before", "cache": "a", "pos": [1, 1]}, removed(1, 10)),
            ({"op": "invalidate_ledger", "cache": "a", "ledger": 2}, removed(1, 5)),
            ({"op": "invalidate_ledger", "cache": "a", "ledger": -1}, removed(0, 0)),
            (USAGE, removed(3, 27)),
            (METRICS, metrics(inserted=5, evicted=2, size=27)),
        ],
    ),
    "the name of a removed cache may come back": (
        {},
        [
            (insert(0), INSERTED),
            ({"op": "remove_cache", "cache": "a"}, DONE),
            ({"op": "remove_cache", "cache": "unknown"}, DONE),
            (USAGE, removed(0, 0)),
            (insert(0, 4, 2), INSERTED),
            (counted("mark_read", 0), {"expected_reads": 1}),
            (METRICS, metrics(inserted=2, evicted=1, size=4)),
        ],
    ),
}
