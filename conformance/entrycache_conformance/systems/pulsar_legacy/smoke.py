"""One hand-made case an operation."""

from __future__ import annotations

from typing import Any, Final

Steps = list[dict[str, Any]]

A: Final = {"cache": "a"}
INSERTS: Final[Steps] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0},
    {"op": "insert", **A, "pos": [2, 0], "size": 4},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 7},
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
    "invalidate_before": [*INSERTS, {"op": "invalidate_before", **A, "pos": [1, 1]}],
    "invalidate_ledger": [
        *INSERTS,
        {"op": "invalidate_ledger", **A, "ledger": 2},
        {"op": "invalidate_ledger", **A, "ledger": -1},
    ],
    "remove_cache": [*INSERTS, {"op": "remove_cache", **A}, {"op": "usage"}, {"op": "remove_cache", "cache": "none"}],
    "usage": [*INSERTS, {"op": "usage"}, {"op": "usage", **A}, {"op": "usage", "cache": "none"}],
    "observe": [*INSERTS, {"op": "observe"}],
    "advance": [*INSERTS, {"op": "advance", "nanos": 5}, {"op": "advance", "nanos": -1}],
    "expire": [
        *INSERTS,
        {"op": "advance", "nanos": 1_000_000_000},
        {"op": "expire", **A},
        {"op": "expire", "cache": "b", "older_than_nanos": 1_000_000_001},
        {"op": "expire", "cache": "b", "older_than_nanos": 1_000_000_000},
        {"op": "expire", **A, "older_than_nanos": -1},
    ],
    "evict": [*INSERTS, {"op": "evict", "bytes": 11}, {"op": "evict", "bytes": 1}, {"op": "evict", "bytes": 0}],
    "evict_cache": [
        *INSERTS,
        {"op": "evict_cache", **A, "bytes": 11},
        {"op": "evict_cache", "cache": "none", "bytes": 1},
        {"op": "evict_cache", **A, "bytes": 0},
    ],
    "run_scheduled": [*INSERTS, {"op": "run_scheduled"}],
    "read": [
        *INSERTS,
        {"op": "read", **A, "first": [1, 0], "last": [1, 1]},
        {"op": "read", **A, "first": [1, 1], "last": [1, 3]},
        {"op": "read", **A, "first": [1, 1], "last": [1, 0]},
        {"op": "read", **A, "first": [1, 0], "last": [2, 0]},
    ],
    "read_one": [*INSERTS, {"op": "read_one", **A, "pos": [1, 0]}, {"op": "read_one", **A, "pos": [1, 7]}],
}
"""One case an operation; it runs where all its operations are declared."""
