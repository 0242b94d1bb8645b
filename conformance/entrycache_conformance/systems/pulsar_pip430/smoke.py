"""One hand-made case an operation."""

from __future__ import annotations

from typing import Any, Final

Steps = list[dict[str, Any]]

A: Final = {"cache": "a"}
S: Final = {**A, "cursor": "s"}
T: Final = {**A, "cursor": "t"}
INSERTS: Final[Steps] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0, "expected_reads": 2},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 7, "expected_reads": None},
]
CURSORS: Final[Steps] = [
    {"op": "cursor_add", **S, "pos": [1, 0]},
    {"op": "cursor_add", **T, "pos": [1, 5]},
]

CASES: Final[dict[str, Steps]] = {
    "insert": [
        *INSERTS,
        {"op": "insert", **A, "pos": [1, 0], "size": 3},
        {"op": "insert", **A, "pos": [1, 2], "size": -1},
    ],
    "get": [*INSERTS, {"op": "get", **A, "pos": [1, 1]}, {"op": "get", **A, "pos": [9, 9]}],
    "get_range": [
        *INSERTS,
        {"op": "get_range", **A, "first": [-1, -1], "last": [1, 1]},
        {"op": "get_range", **A, "first": [1, 1], "last": [1, 0]},
    ],
    "exists": [*INSERTS, {"op": "exists", **A, "pos": [1, 0]}, {"op": "exists", "cache": "none", "pos": [1, 0]}],
    "remove_range": [
        *INSERTS,
        {"op": "remove_range", **A, "first": [1, 0], "last": [1, 1], "last_inclusive": False},
        {"op": "remove_range", **A, "first": [1, 0], "last": [1, 1], "last_inclusive": True},
    ],
    "clear": [*INSERTS, {"op": "clear", **A}, {"op": "clear", **A}],
    "usage": [*INSERTS, {"op": "usage"}, {"op": "usage", **A}, {"op": "usage", "cache": "none"}],
    "observe": [*INSERTS, {"op": "observe"}],
    "advance": [*INSERTS, {"op": "advance", "nanos": 5}, {"op": "advance", "nanos": -1}],
    "expire": [
        *INSERTS,
        {"op": "advance", "nanos": 2_000_000_000},
        {"op": "expire"},
        {"op": "expire", "older_than_nanos": 0},
        {"op": "expire", "older_than_nanos": -1},
    ],
    "evict": [*INSERTS, {"op": "evict", "bytes": 11}, {"op": "evict", "bytes": 1}, {"op": "evict", "bytes": 0}],
    "mark_read": [*INSERTS, {"op": "mark_read", **A, "pos": [1, 1]}, {"op": "mark_read", **A, "pos": [1, 0]}],
    "expect_read": [*INSERTS, {"op": "expect_read", **A, "pos": [1, 1]}, {"op": "expect_read", **A, "pos": [5, 5]}],
    "cycle": [*INSERTS, {"op": "cycle"}, {"op": "advance", "nanos": 2_000_000_000}, {"op": "cycle"}],
    "run_scheduled": [*INSERTS, {"op": "run_scheduled"}],
    "configure": [
        *INSERTS,
        {"op": "configure", "ttl_nanos": 5, "watermark": 0.5},
        {"op": "advance", "nanos": 6},
        {"op": "expire"},
        {"op": "configure", "max_requeues": -1},
    ],
    "invalidate_before": [*INSERTS, {"op": "invalidate_before", **A, "pos": [1, 1]}],
    "invalidate_ledger": [
        *INSERTS,
        {"op": "invalidate_ledger", **A, "ledger": 2},
        {"op": "invalidate_ledger", **A, "ledger": 1},
    ],
    "remove_cache": [*INSERTS, {"op": "remove_cache", **A}, {"op": "usage"}, {"op": "remove_cache", "cache": "none"}],
    "metrics": [*INSERTS, {"op": "evict", "bytes": 1}, {"op": "metrics"}],
    "read": [
        *INSERTS,
        {"op": "read", **A, "first": [1, 1], "last": [1, 3], "expected_reads": 2},
        {"op": "read", **A, "first": [1, 0], "last": [1, 3], "expected_reads": 0},
        {"op": "read", **A, "first": [1, 1], "last": [1, 0], "expected_reads": 1},
    ],
    "read_one": [*INSERTS, {"op": "read_one", **A, "pos": [1, 0]}, {"op": "read_one", **A, "pos": [1, 7]}],
    "release": [
        *INSERTS,
        {"op": "read", **A, "first": [1, 0], "last": [1, 2], "expected_reads": 1, "hold": "h"},
        {"op": "release", "hold": "h"},
        {"op": "release", "hold": "h"},
    ],
    "cursor_add": [*CURSORS, {"op": "cursor_add", **S, "pos": [1, 7]}, {"op": "cursors", **A}],
    "cursor_move": [*CURSORS, {"op": "cursor_move", **S, "pos": [1, 6]}, {"op": "slowest", **A}],
    "cursor_remove": [*CURSORS, {"op": "cursor_remove", **S}, {"op": "cursor_remove", **S}],
    "cursor_rank": [*CURSORS, {"op": "cursor_rank", **T}, {"op": "cursor_rank", **A, "cursor": "none"}],
    "slowest": [{"op": "slowest", **A}, *CURSORS, {"op": "slowest", **A}],
    "cursors": [{"op": "cursors", **A}, *CURSORS, {"op": "cursors", **A}],
    "should_cache": [
        {"op": "should_cache", **A},
        {"op": "advance", "nanos": 2_000_000_000},
        {"op": "should_cache", **A},
        *CURSORS,
        {"op": "should_cache", **A},
    ],
}
"""One case an operation; it runs where all its operations are declared."""
