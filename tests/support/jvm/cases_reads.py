"""Level `reads`, worked out by hand from the protocol."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.cases_manager import METRICS, SMALL, USAGE
from tests.support.jvm.steps import (
    DONE,
    INSERTED,
    REFUSED,
    Case,
    counted,
    get,
    insert,
    metrics,
    of_range,
    read,
    read_one,
    removed,
    served,
)

LARGEST_TOKEN: Final = 2**53 - 1


def _release(hold: str) -> dict[str, Any]:
    return {"op": "release", "hold": hold}


CASES: Final[dict[str, Case]] = {
    "a range is served from the cache where it can be, and the gaps are filled": (
        {},
        [
            (insert(1, 10, 3, token=7), INSERTED),
            (read(0, 2, 2, hold="h"), served([1], [0, 2], [7, 0, 2])),
            (METRICS, metrics(inserted=3, hits=(1, 10), misses=(2, 200), size=210)),
            (_release("h"), {"released": 3}),
            (counted("expect_read", 1), {"expected_reads": 3}),
            (counted("expect_read", 0), {"expected_reads": 2}),
            (read(0, 2, 9), served([0, 1, 2], [], [0, 7, 2])),
        ],
    ),
    "without a hold a read is delivered when the step ends": (
        {},
        [(read(0, 0, 3), served([], [0])), (counted("mark_read", 0), {"expected_reads": 1})],
    ),
    "fills that nobody else reads are not cached": (
        {},
        [(read(0, 1, 0), served([], [0, 1], [0, 1])), (read(0, 1, -1), served([], [0, 1])), (USAGE, removed(0, 0))],
    ),
    "a single read marks what it hits and caches nothing": (
        {},
        [
            (insert(0, 10, 1), INSERTED),
            (read_one(0), served([0], [])),
            (read_one(1), served([], [1], [1])),
            ({"op": "expire", "older_than_nanos": 0}, removed(0, 0)),
            ({"op": "advance", "nanos": 1}, DONE),
            ({"op": "expire", "older_than_nanos": 0}, removed(0, 0)),
            ({"op": "advance", "nanos": 1}, DONE),
            ({"op": "expire", "older_than_nanos": 0}, removed(1, 10)),
            (METRICS, metrics(inserted=1, evicted=1, hits=(1, 10), misses=(1, 100))),
        ],
    ),
    "each fill has its own trigger": (
        {**SMALL, "storage_entry_size": 60},
        [
            (read(0, 2, 1), served([], [0, 1, 2])),
            (USAGE, removed(1, 60)),
            (METRICS, metrics(inserted=3, evicted=2, cycles=1, misses=(3, 180), size=60)),
        ],
    ),
    "what a fill pushes out was served all the same": (
        {**SMALL, "storage_entry_size": 60},
        [(insert(1, 40, token=5), INSERTED), (read(0, 1, 1), served([1], [0], [5, 0])), (USAGE, removed(0, 0))],
    ),
    "reads that are refused change nothing": (
        {},
        [
            ({"op": "read", "cache": "a", "first": [1, 0], "last": [2, 0], "expected_reads": 1}, REFUSED),
            (read(1, 0, 1), REFUSED),
            (_release("h"), REFUSED),
            (read(0, 0, 1, hold="h"), served([], [0])),
            (read(1, 1, 1, hold="h"), REFUSED),
            (read_one(1, hold="h"), REFUSED),
            (_release("h"), {"released": 1}),
            (_release("h"), REFUSED),
            (METRICS, metrics(inserted=1, misses=(1, 100), size=100)),
        ],
    ),
    "a delivery counts for what was read": (
        {},
        [
            (insert(0, 10, 2, token=1), INSERTED),
            (read(0, 0, 1, hold="h"), served([0], [], [1])),
            ({"op": "clear", "cache": "a"}, removed(1, 10)),
            (insert(0, 10, 5, token=2), INSERTED),
            (_release("h"), {"released": 1}),
            (counted("expect_read", 0), {"expected_reads": 6}),
            (get(0), {"hit": True, "tokens": [2]}),
        ],
    ),
    "nothing held is protected": (
        {},
        [
            (insert(0), INSERTED),
            (read_one(0, hold="h"), served([0], [])),
            ({"op": "evict", "bytes": 1}, removed(1, 10)),
            (get(0), {"hit": False}),
            ({"op": "remove_cache", "cache": "a"}, DONE),
            (_release("h"), {"released": 1}),
        ],
    ),
    "what is held when a run ends is no leak": ({}, [(read(0, 3, 2, hold="h"), served([], [0, 1, 2, 3]))]),
    "without caching all is read from storage": (
        {"max_size_bytes": 0},
        [
            (insert(0), {"inserted": False}),
            (read(0, 2, 3, hold="h"), served([], [0, 1, 2], [0, 1, 2])),
            (read_one(0), served([], [0], [0])),
            (METRICS, metrics(misses=(4, 400))),
        ],
    ),
    "entries too small for their token carry it too": (
        {"storage_entry_size": 1},
        [
            *((insert(size, size, token=LARGEST_TOKEN - size), INSERTED) for size in range(10)),
            (get(0), {"hit": True, "tokens": [LARGEST_TOKEN]}),
            (
                of_range("get_range", 7, 9),
                {"hits": [[1, 7], [1, 8], [1, 9]]}
                | {"tokens": [LARGEST_TOKEN - 7, LARGEST_TOKEN - 8, LARGEST_TOKEN - 9]},
            ),
            (read(9, 11, 1), served([9], [10, 11], [LARGEST_TOKEN - 9, 10, 11])),
            (USAGE, removed(12, 47)),
        ],
    ),
    "the largest entry carries its token": (
        {"max_size_bytes": 2**40},
        [(insert(0, 2**31 - 1, token=5), INSERTED), (get(0), {"hit": True, "tokens": [5]})],
    ),
}
