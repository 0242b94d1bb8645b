"""Levels `range` and `queue`, worked out by hand from the protocol."""

from __future__ import annotations

from typing import Final

from tests.support.jvm.steps import INSERTED, REFUSED, Case, advance, counted, exists, get, insert, of_range, removed

CASES: Final[dict[str, Case]] = {
    "a duplicate changes nothing": (
        {},
        [
            (insert(0, 10, 2), INSERTED),
            (insert(0, 99, 7), {"inserted": False}),
            ({"op": "usage"}, removed(1, 10)),
            (counted("mark_read", 0), {"expected_reads": 1}),
        ],
    ),
    "an empty entry is an entry": (
        {},
        [(insert(0, 0), INSERTED), (get(0), {"hit": True}), ({"op": "usage"}, removed(1, 0))],
    ),
    "an entry of the largest size": (
        {"max_size_bytes": 2**40},
        [(insert(0, 2**31 - 1), INSERTED), (get(0), {"hit": True}), ({"op": "usage"}, removed(1, 2**31 - 1))],
    ),
    "refused arguments change nothing": (
        {},
        [
            (insert(0, -1), REFUSED),
            (advance(-1), REFUSED),
            ({"op": "expire", "older_than_nanos": -1}, REFUSED),
            ({"op": "evict", "bytes": 0}, REFUSED),
            ({"op": "evict", "bytes": -5}, REFUSED),
            ({"op": "usage"}, removed(0, 0)),
        ],
    ),
    "no cache without bytes": (
        {"max_size_bytes": 0},
        [
            (insert(0), {"inserted": False}),
            (get(0), {"hit": False}),
            (exists(0), {"exists": False}),
            (of_range("get_range", 0, 9), {"hits": []}),
            (of_range("remove_range", 0, 9, last_inclusive=True), removed(0, 0)),
            ({"op": "clear", "cache": "a"}, removed(0, 0)),
            ({"op": "usage", "cache": "a"}, removed(0, 0)),
        ],
    ),
    "ranges include both ends and may be reversed": (
        {},
        [
            *((insert(entry), INSERTED) for entry in (3, 1, 2, 5)),
            (of_range("get_range", 1, 3), {"hits": [[1, 1], [1, 2], [1, 3]]}),
            (of_range("get_range", 3, 1), {"hits": []}),
            (of_range("get_range", -1, 1), {"hits": [[1, 1]]}),
            (of_range("remove_range", 3, 1, last_inclusive=True), removed(0, 0)),
            (of_range("remove_range", 1, 3, last_inclusive=False), removed(2, 20)),
            (of_range("remove_range", 3, 3, last_inclusive=False), removed(0, 0)),
            (of_range("remove_range", 3, 5, last_inclusive=True), removed(2, 20)),
            ({"op": "usage"}, removed(0, 0)),
        ],
    ),
    "clear empties one cache": (
        {},
        [
            (insert(0), INSERTED),
            (insert(0, 7, cache="b"), INSERTED),
            ({"op": "clear", "cache": "a"}, removed(1, 10)),
            ({"op": "usage", "cache": "a"}, removed(0, 0)),
            ({"op": "usage"}, removed(1, 7)),
            ({"op": "usage", "cache": "unknown"}, removed(0, 0)),
        ],
    ),
    "the cutoff is strict": (
        {"ttl_nanos": 100},
        [
            (insert(0), INSERTED),
            (advance(100), {}),
            ({"op": "expire"}, removed(0, 0)),
            (advance(1), {}),
            ({"op": "expire"}, removed(1, 10)),
        ],
    ),
    "a cutoff may be negative": (
        {},
        [(insert(0), INSERTED), ({"op": "expire", "older_than_nanos": 2**53 - 1}, removed(0, 0))],
    ),
    "an accessed entry is spared once": (
        {},
        [
            (insert(0), INSERTED),
            (get(0), {"hit": True}),
            (advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, removed(0, 0)),
            (advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, removed(1, 10)),
        ],
    ),
    "exists marks nothing": (
        {},
        [
            (insert(0), INSERTED),
            (exists(0), {"exists": True}),
            (advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, removed(1, 10)),
            (exists(0), {"exists": False}),
        ],
    ),
    "accesses do not count when the setting is off": (
        {"extend_recently_accessed": False},
        [
            (insert(0), INSERTED),
            (get(0), {"hit": True}),
            (advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, removed(1, 10)),
        ],
    ),
    "expected reads are spared as often as the budget says": (
        {"max_requeues": 1},
        [
            (insert(0, 10, 1), INSERTED),
            (advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, removed(0, 0)),
            (advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, removed(1, 10)),
        ],
    ),
    "counts have no floor, and none is none": (
        {},
        [
            (insert(0, 10, 1), INSERTED),
            (insert(1, 10, 0), INSERTED),
            (counted("mark_read", 0), {"expected_reads": 0}),
            (counted("mark_read", 0), {"expected_reads": -1}),
            (counted("expect_read", 0), {"expected_reads": 0}),
            (counted("expect_read", 1), {"expected_reads": None}),
            (counted("mark_read", 9), {"expected_reads": None}),
        ],
    ),
    "whole entries go until enough is free": (
        {},
        [
            *((insert(entry), INSERTED) for entry in range(4)),
            ({"op": "evict", "bytes": 10}, removed(1, 10)),
            ({"op": "evict", "bytes": 11}, removed(2, 20)),
            ({"op": "evict", "bytes": 11}, removed(1, 10)),
            ({"op": "evict", "bytes": 1}, removed(0, 0)),
        ],
    ),
    "the queue, its order, stamps and tombstones": (
        {},
        [
            (insert(0, 10, 2), INSERTED),
            (insert(1, 20), INSERTED),
            (advance(7), {}),
            (insert(0, 30, cache="b"), INSERTED),
            (of_range("remove_range", 1, 1, last_inclusive=True), removed(1, 20)),
            (get(0, "b"), {"hit": True}),
            ({"op": "expire", "older_than_nanos": 6}, removed(0, 0)),
            (
                {"op": "observe"},
                {
                    "now": 7,
                    "bytes": 40,
                    "caches": {
                        "a": {"bytes": 10, "entries": [[1, 0]]},
                        "b": {"bytes": 30, "entries": [[1, 0]]},
                    },
                    "queue": [
                        {"cache": "b", "pos": [1, 0], "size": 30, "age_nanos": 0, "requeues": 0}
                        | {"accessed": True, "expected_reads": None},
                        {"cache": "a", "pos": [1, 0], "size": 10, "age_nanos": 0, "requeues": 1}
                        | {"accessed": False, "expected_reads": 2},
                    ],
                    "tombstones": 0,
                },
            ),
        ],
    ),
    "tombstones behind a live head stay, and nothing is shown of an empty cache": (
        {},
        [
            (insert(0), INSERTED),
            (insert(1), INSERTED),
            (insert(0, cache="b"), INSERTED),
            ({"op": "clear", "cache": "b"}, removed(1, 10)),
            (of_range("remove_range", 1, 1, last_inclusive=True), removed(1, 10)),
            ({"op": "expire"}, removed(0, 0)),
            (
                {"op": "observe"},
                {
                    "now": 0,
                    "bytes": 10,
                    "caches": {"a": {"bytes": 10, "entries": [[1, 0]]}},
                    "queue": [
                        {"cache": "a", "pos": [1, 0], "size": 10, "age_nanos": 0, "requeues": 0}
                        | {"accessed": False, "expected_reads": None},
                    ],
                    "tombstones": 2,
                },
            ),
        ],
    ),
}
