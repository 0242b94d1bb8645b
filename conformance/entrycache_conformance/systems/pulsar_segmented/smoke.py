"""One hand-made case an operation."""

from __future__ import annotations

from typing import Any, Final

Steps = list[dict[str, Any]]

A: Final = {"cache": "a"}
INSERTS: Final[Steps] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 64},
]

CASES: Final[dict[str, Steps]] = {
    "insert": [
        *INSERTS,
        {"op": "insert", **A, "pos": [1, 0], "size": 3},
        {"op": "insert", **A, "pos": [1, 2], "size": -1},
        {"op": "insert", **A, "pos": [1, 2], "size": 1_000_000_000_000},
    ],
    "get": [*INSERTS, {"op": "get", **A, "pos": [1, 1]}, {"op": "get", "cache": "b", "pos": [1, 1]}],
    "get_range": [
        *INSERTS,
        {"op": "get_range", **A, "first": [1, 0], "last": [1, 1]},
        {"op": "get_range", **A, "first": [1, 0], "last": [1, 2]},
        {"op": "get_range", **A, "first": [1, 1], "last": [1, 0]},
        {"op": "get_range", **A, "first": [-1, -1], "last": [2, 0]},
    ],
    "usage": [*INSERTS, {"op": "usage"}],
    "observe": [*INSERTS, {"op": "observe"}],
}
"""One case an operation; it runs where all its operations are declared."""
