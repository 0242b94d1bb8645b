"""One hand-made case an operation."""

from __future__ import annotations

from typing import Any, Final

Steps = list[dict[str, Any]]

A: Final = {"ns": "a"}
S: Final = {"store": "s"}
BOTH: Final = {"from": None, "to": None}
CARRIED: Final = {"topic": "t", "headers": [["h", "1"]], "timestamp": 7}
PUTS: Final[Steps] = [
    {"op": "put", **A, "key": "y", "value": "2"},
    {"op": "put", **A, "key": "x", "value": "1", "dirty": True},
]
STORED: Final[Steps] = [
    {"op": "store_put", **S, "key": "x", "value": "1"},
    {"op": "store_put", **S, "key": "y", "value": "2"},
]
HEARD: Final[Steps] = [*PUTS, {"op": "listen", **A, "on_flush": [{"op": "usage", **A}]}]
LOOK: Final[Steps] = [{"op": "metrics", **A}, {"op": "metrics"}, {"op": "usage"}]

CASES: Final[dict[str, Steps]] = {
    "put": [
        *PUTS,
        {"op": "put", **A, "key": "x", "value": None, "topic": "t", "headers": [["h", "1"]], "dirty": True},
        *LOOK,
    ],
    "put_all": [{"op": "put_all", **A, "entries": [{"key": "x", "value": "1"}, {"key": "y", "value": None}]}, *LOOK],
    "put_if_absent": [*PUTS, {"op": "put_if_absent", **A, "key": "x", "value": "3"}, *LOOK],
    "get": [*PUTS, {"op": "get", **A, "key": "y"}, {"op": "get", **A, "key": "z"}, {"op": "get", **A, "key": None}],
    "delete": [*PUTS, {"op": "delete", **A, "key": "x"}, {"op": "delete", **A, "key": "x"}, *LOOK],
    "range": [*PUTS, {"op": "range", **A, "from": "x", "to": "y", "to_inclusive": False}, *LOOK],
    "reverse_range": [*PUTS, {"op": "reverse_range", **A, "from": "x", "to": None}, *LOOK],
    "all": [*PUTS, {"op": "all", **A}, *LOOK],
    "reverse_all": [*PUTS, {"op": "reverse_all", **A}, *LOOK],
    "listen": [{"op": "listen", **A, "on_flush": []}, *PUTS, {"op": "flush", **A}, *LOOK],
    "flush": [*HEARD, {"op": "flush", **A}, *LOOK],
    "evict": [*HEARD, {"op": "evict", **A}, {"op": "evict", **A}, {"op": "evict", **A}, *LOOK],
    "clear": [*HEARD, {"op": "clear", **A}, *LOOK],
    "close": [*HEARD, {"op": "close", **A}, *LOOK],
    "resize": [*HEARD, {"op": "resize", "max_size_bytes": 47}, *LOOK],
    "usage": [*PUTS, {"op": "usage", **A}, {"op": "usage"}, {"op": "usage", "ns": "b"}],
    "metrics": [*PUTS, {"op": "get", **A, "key": "x"}, *LOOK, {"op": "metrics", "ns": "b"}],
    "store_put": [*STORED, {"op": "store_put", **S, "key": "x", "value": None}, {"op": "store_all", **S}],
    "store_get": [*STORED, {"op": "store_get", **S, "key": "x"}, {"op": "store_get", **S, "key": "z"}],
    "store_delete": [*STORED, {"op": "store_delete", **S, "key": "x"}, {"op": "store_get", **S, "key": "x"}],
    "store_range": [*STORED, {"op": "store_range", **S, "from": "x", "to": "x"}, {"op": "store_range", **S, **BOTH}],
    "store_all": [*STORED, {"op": "store_flush", **S}, {"op": "store_all", **S}],
    "store_flush": [*STORED, {"op": "store_flush", **S}, {"op": "store_inner", **S}],
    "store_inner": [*STORED, {"op": "store_inner", **S}],
    "on_forward": [
        {"op": "on_forward", **S, "key": "x", "steps": [{"op": "store_get", **S, "key": "x"}]},
        *STORED,
        {"op": "store_flush", **S},
    ],
    "share": [{"op": "share", "total_bytes": 100, "threads": 2, "global_thread": True}],
}
"""The steps, under the name of the operation that they are about."""
