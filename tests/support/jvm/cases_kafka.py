"""The record cache and the caching store of Kafka Streams, worked out by hand from the protocol."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.driver import Step

NODE: Final = 47
"""Bytes of a key and a value of one byte each, with an empty topic and no headers."""


def put(key: str, value: str | None = "v", ns: str = "n", **more: Any) -> Step:
    return {"op": "put", "ns": ns, "key": key, "value": value, **more}


def at(op: str, ns: str = "n", **more: Any) -> Step:
    return {"op": op, "ns": ns, **more}


def of_store(op: str, **more: Any) -> Step:
    return {"op": op, "store": "s", **more}


def flushed(*entries: list[Any], inner: list[Step] | None = None, ns: str = "n") -> Step:
    return {"ns": ns, "entries": list(entries), "inner": inner or []}


def of(lru: list[str], dirty: list[str], **counts: int) -> Step:
    return {"hits": 0, "misses": 0, "overwrites": 0, "flushes": 0, **counts, "dirty": dirty, "lru": lru}


def usage(entries: int) -> Step:
    return {"entries": entries, "bytes": entries * NODE, "tracked": entries * NODE}


USAGE: Final[Step] = {"op": "usage"}
STORE_GET: Final[Step] = {"op": "store_get", "store": "s", "key": "a"}
LISTEN: Final[Step] = {"op": "listen", "ns": "n"}

CASES: dict[str, tuple[Step, list[tuple[Step, Step]]]] = {
    "sizes": (
        {},
        [
            (put("k"), {}),
            (USAGE, usage(1)),
            (put("k", None, topic="\U0001f600", headers=[["h", "é"]]), {}),
            (at("usage"), {"entries": 1, "bytes": NODE - 1 + 2 + 3}),
        ],
    ),
    "a clean put over a dirty key": (
        {},
        [
            (put("k", dirty=True), {}),
            (put("k", "w"), {"error": "illegal-state"}),
            (at("get", key="k"), {"hit": True, "value": "v"}),
            ({"op": "metrics"}, {"puts": 2, "gets": 1, "evicts": 0, "flushes": 0}),
            (at("metrics"), of(["k"], ["k"], hits=1)),
        ],
    ),
    "an eviction writes every dirty entry, the eldest first": (
        {"max_size_bytes": 3 * NODE},
        [
            (LISTEN, {}),
            (put("c", dirty=True, timestamp=5), {}),
            (put("b"), {}),
            (put("a", dirty=True), {}),
            (put("d"), {"flushed": [flushed(["c", "v", {"timestamp": 5}], ["a", "v"])]}),
            (USAGE, usage(3)),
            (at("all"), {"entries": [["a", "v"], ["b", "v"], ["d", "v"]]}),
            ({"op": "metrics"}, {"puts": 4, "gets": 0, "evicts": 1, "flushes": 0}),
        ],
    ),
    "steps of a listener run inside its call, within the budget": (
        {"reentry_budget": 1},
        [
            ({**LISTEN, "on_flush": [put("x", dirty=True), at("flush"), at("get", key="x")]}, {}),
            (put("k", dirty=True), {}),
            (
                at("flush"),
                {"flushed": [flushed(["k", "v"], inner=[{}, {}, {"hit": True, "value": "v"}]), flushed(["x", "v"])]},
            ),
        ],
    ),
    "a listener that fails": (
        {},
        [
            (put("k", dirty=True), {}),
            (at("flush"), {"error": "illegal-argument"}),
            ({**LISTEN, "fails": 1}, {}),
            (at("flush"), {"error": "listener-failed", "flushed": [flushed(["k", "v"])]}),
        ],
    ),
    "lookups": (
        {},
        [
            (at("get", key="k"), {"hit": False, "value": None}),
            (put("a", None), {}),
            (at("get", key="a"), {"hit": True, "value": None}),
            (at("put_if_absent", key="a", value="w"), {"present": True, "existing": None}),
            (at("put_if_absent", key="b", value="w"), {"present": False, "existing": None}),
            (at("range", **{"from": None, "to": "b", "to_inclusive": False}), {"entries": [["a", None]]}),
            (at("reverse_range", **{"from": "a", "to": None}), {"entries": [["b", "w"], ["a", None]]}),
            (at("reverse_all"), {"entries": [["b", "w"], ["a", None]]}),
            (at("delete", key="b"), {"present": True, "value": "w"}),
            (at("delete", key="b"), {"present": False, "value": None}),
            (at("get", key=None), {"hit": False, "value": None}),
            (at("metrics", "absent"), of([], [])),
        ],
    ),
    "what empties a cache": (
        {},
        [
            (at("put_all", entries=[{"key": "a", "value": "v"}, {"key": "b", "value": "v"}]), {}),
            (at("evict"), {}),
            (at("metrics"), of(["b"], [])),
            (USAGE, usage(1)),
            ({"op": "resize", "max_size_bytes": 0}, {}),
            (USAGE, usage(0)),
            ({"op": "resize", "max_size_bytes": 1000}, {}),
            (put("a"), {}),
            (at("clear"), {}),
            (put("a"), {}),
            (at("close"), {}),
            (USAGE, usage(0)),
            ({"op": "metrics"}, {"puts": 4, "gets": 0, "evicts": 1, "flushes": 0}),
        ],
    ),
    "a store, below it and downstream": (
        {},
        [
            (
                {
                    "op": "on_forward",
                    "store": "s",
                    "key": "a",
                    "steps": [{"op": "store_get", "store": "s", "key": "a"}],
                },
                {},
            ),
            ({"op": "store_put", "store": "s", "key": "a", "value": "v"}, {}),
            (STORE_GET, {"value": "v"}),
            ({"op": "store_inner", "store": "s"}, {"entries": []}),
            ({"op": "store_all", "store": "s"}, {"entries": [["a", "v"]]}),
            (at("usage", "s"), {"entries": 1, "bytes": NODE}),
            (
                {"op": "store_flush", "store": "s"},
                {"forwarded": [{"store": "s", "key": "a", "value": "v", "inner": [{"value": "v"}]}]},
            ),
            ({"op": "store_inner", "store": "s"}, {"entries": [["a", "v"]]}),
            ({"op": "store_delete", "store": "s", "key": "a"}, {"value": "v"}),
            ({"op": "store_range", "store": "s", "from": "a", "to": None}, {"entries": []}),
            (
                {"op": "store_flush", "store": "s"},
                {"forwarded": [{"store": "s", "key": "a", "value": None, "inner": [{"value": None}]}]},
            ),
            ({"op": "store_inner", "store": "s"}, {"entries": []}),
        ],
    ),
    "views and queries": (
        {},
        [
            (of_store("store_open"), {}),
            (of_store("store_open"), {"error": "illegal-state"}),
            (of_store("store_put_all", entries=[["a", "v"], ["b", "w"], ["c", None]]), {}),
            (of_store("store_view", **{"from": "b"}), {"entries": [["b", "w"]]}),
            (of_store("store_view", backward=True), {"entries": [["b", "w"], ["a", "v"]]}),
            (of_store("store_view", **{"to": "b", "backward": True}), {"entries": [["b", "w"], ["a", "v"]]}),
            (of_store("store_view", prefix="a"), {"entries": [["a", "v"]]}),
            (of_store("store_view", prefix="a", backward=True), {"error": "illegal-state"}),
            (of_store("store_count"), {"entries": 0}),
            (of_store("store_put_if_absent", key="a", value="x"), {"value": "v"}),
            (of_store("store_put_if_absent", key="c", value="x"), {"value": None}),
            (of_store("store_query", key="c"), {"value": "x"}),
            (of_store("store_query", key="c", skip_cache=True), {"value": None}),
            (of_store("store_clear"), {}),
            (of_store("store_query_range"), {"entries": []}),
            (of_store("store_put_all", entries=[["a", "v"]]), {}),
            (of_store("fail_forward", key="a", n=1), {}),
            (
                of_store("store_close"),
                {"error": "listener-failed", "forwarded": [{"store": "s", "key": "a", "value": "v", "inner": []}]},
            ),
            (of_store("store_view"), {"error": "illegal-state"}),
            (of_store("store_inner"), {"error": "illegal-state"}),
            (of_store("store_query_range"), {"error": "illegal-state"}),
            (of_store("store_close"), {}),
            (of_store("store_open"), {}),
            (of_store("store_count"), {"entries": 0}),
        ],
    ),
    "windows": (
        {},
        [
            (of_store("store_open", kind="window"), {}),
            (of_store("window_put", key="a", start=5, value="v"), {}),
            (of_store("window_get", key="a", start=5), {"value": "v"}),
            (of_store("window_get", key="a", start=6), {"value": None}),
            (of_store("window_view"), {"entries": [["a", 5, "v"]]}),
            (of_store("window_view", key="a", time_from=0, time_to=9), {"entries": [[5, "v"]]}),
            (
                of_store("store_flush"),
                {"forwarded": [{"store": "s", "key": "a", "start": 5, "value": "v", "inner": []}]},
            ),
            (of_store("store_inner"), {"entries": [["a", 5, "v"]]}),
        ],
    ),
    "sessions": (
        {},
        [
            (of_store("store_open", kind="session"), {}),
            (of_store("session_put", key="a", start=1, end=5, value="v"), {}),
            (of_store("session_get", key="a", start=1, end=5), {"value": "v"}),
            (of_store("session_view", key="a"), {"entries": [["a", 1, 5, "v"]]}),
            (of_store("session_remove", key="a", start=1, end=5), {}),
            (of_store("session_get", key="a", start=1, end=5), {"value": None}),
            (of_store("store_flush"), {}),
            (of_store("store_inner"), {"entries": []}),
        ],
    ),
    "old values": (
        {},
        [
            (of_store("store_open", old_values=True), {}),
            (of_store("store_put", key="a", value="v"), {}),
            (
                of_store("store_flush"),
                {"forwarded": [{"store": "s", "key": "a", "value": "v", "old": None, "inner": []}]},
            ),
            (of_store("store_put", key="a", value="w"), {}),
            (
                of_store("store_flush"),
                {"forwarded": [{"store": "s", "key": "a", "value": "w", "old": "v", "inner": []}]},
            ),
        ],
    ),
    "a view that stays open": (
        {},
        [
            (of_store("store_put", key="a", value="v"), {}),
            (of_store("store_put", key="b", value="w"), {}),
            (of_store("view_open", view="open"), {}),
            ({"op": "view_next", "view": "open"}, {"entry": ["a", "v"]}),
            ({"op": "view_next", "view": "open"}, {"entry": ["b", "w"]}),
            ({"op": "view_next", "view": "open"}, {"entry": None}),
            ({"op": "view_close", "view": "open"}, {}),
        ],
    ),
    "shares": (
        {},
        [
            ({"op": "share", "total_bytes": 100, "threads": 3, "global_thread": False}, {"bytes": 33}),
            ({"op": "share", "total_bytes": 100, "threads": 3, "global_thread": True}, {"bytes": 25}),
            ({"op": "share", "total_bytes": 100, "threads": 0, "global_thread": True}, {"bytes": 100}),
        ],
    ),
}
