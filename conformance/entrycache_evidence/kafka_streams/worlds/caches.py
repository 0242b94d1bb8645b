"""The small worlds of `kafka-streams`, level `cache`: an entry with a value of one letter counts 47 bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_evidence.kafka_streams.worlds.world import World
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config

ENTRY_BYTES: Final = 47
PLENTY_BYTES: Final = 1000


def puts(ns: str, keys: str, *values: str | None, clean: bool = True) -> tuple[ops.Op, ...]:
    """Writes of every value to every key, dirty and, if asked for, clean."""
    flags = (True, False) if clean else (True,)
    return tuple(ops.Put(ns, key, value, dirty) for key in keys for value in values for dirty in flags)


def looks(ns: str) -> tuple[ops.Op, ...]:
    """The iterators over a namespace, and what is told about it."""
    return (
        ops.Range(ns, "x", "y"),
        ops.Range(ns, "x", "y", to_inclusive=False),
        ops.Range(ns, "y", "x"),
        ops.ReverseRange(ns, None, "x"),
        ops.All(ns),
        ops.ReverseAll(ns),
        ops.Usage(ns),
        ops.Metrics(ns),
    )


EVERY: Final = World(
    "every operation on a namespace",
    Config(PLENTY_BYTES),
    (
        *puts("a", "xy", "1", None),
        ops.Put("a", "x", "1", True, topic="é", headers=(("é", "é"),), timestamp=7),
        ops.PutAll("a", (ops.Write("x", "1", True), ops.Write("y", None), ops.Write("x", "1", True))),
        ops.PutIfAbsent("a", "x", "1", True),
        ops.PutIfAbsent("a", "y", None),
        *(ops.Get("a", key) for key in ("x", "y", None)),
        *(ops.Delete("a", key) for key in "xy"),
        *looks("a"),
        ops.Get("b", "x"),
        ops.Flush("b"),
        ops.Usage(),
        ops.Metrics(),
        ops.Flush("a"),
        ops.Evict("a"),
        ops.Clear("a"),
        ops.Close("a"),
        *(ops.Resize(bytes_) for bytes_ in (0, ENTRY_BYTES, 2 * ENTRY_BYTES, PLENTY_BYTES)),
        ops.Listen("a"),
        ops.Listen("a", fails=1),
        ops.Share(100, 2, True),
        ops.Share(100, 0, True),
    ),
    "two keys, a value or a tombstone, dirty or clean, one write with a topic, a header and a timestamp; every "
    "operation, limits of 0, 47, 94 and 1000 bytes, no listener, one that takes, one that throws once",
)
"""Every operation of the level, to the end."""

LISTENERS: Final = World(
    "listeners that act on their own namespace",
    Config(2 * ENTRY_BYTES),
    (
        *puts("a", "xy", "1", None),
        ops.PutAll("a", (ops.Write("x", "1", True), ops.Write("y", None, True))),
        ops.PutIfAbsent("a", "x", "1", True),
        ops.Get("a", "x"),
        ops.Delete("a", "x"),
        ops.Flush("a"),
        ops.Evict("a"),
        ops.Clear("a"),
        ops.Close("a"),
        ops.Resize(0),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(2 * ENTRY_BYTES),
        ops.Listen("a"),
        ops.Listen("a", fails=1),
        ops.Listen("a", (ops.Put("a", "x", "1", True),)),
        ops.Listen("a", (ops.Put("a", "y", None, True), ops.Get("a", "x"))),
        ops.Listen("a", (ops.Put("a", "x", "1"), ops.Flush("a"))),
        ops.Listen("a", (ops.Delete("a", "x"), ops.Evict("a"))),
        ops.Listen("a", (ops.Clear("a"), ops.Put("a", "x", "1", True))),
        ops.Listen("a", (ops.Close("a"), ops.Put("a", "y", "1"))),
        ops.Listen("a", (ops.Listen("a", fails=1), ops.Resize(ENTRY_BYTES), ops.Put("a", "x", "1"))),
    ),
    "two keys, a value or a tombstone, dirty or clean; listeners that take, throw once, write, read, delete, flush, "
    "evict, clear, close, resize and replace themselves, limits of 0, 47 and 94 bytes",
)
"""Re-entrancy into the namespace that is handed over."""

TWO: Final = World(
    "two namespaces, two calls perform their steps",
    Config(PLENTY_BYTES, reentry_budget=2),
    (
        *puts("a", "xy", "1", None, clean=False),
        *puts("b", "x", "1", None),
        ops.Get("a", "x"),
        ops.Flush("a"),
        ops.Flush("b"),
        ops.Evict("a"),
        ops.Evict("b"),
        ops.Delete("b", "x"),
        ops.Clear("a"),
        ops.Close("b"),
        ops.Resize(0),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
        ops.Usage(),
        ops.Metrics("b"),
        ops.Listen("a"),
        ops.Listen("a", (ops.Put("b", "x", "1", True), ops.Flush("b"), ops.Flush("b"))),
        ops.Listen("b"),
        ops.Listen("b", (ops.Put("b", "x", "1", True),), fails=1),
        ops.Listen("b", (ops.Put("a", "x", None, True), ops.Evict("a"))),
        ops.Listen("b", (ops.Close("a"),)),
    ),
    "two keys in one, one in the other, a value or a tombstone; listeners that take, throw once, write, flush, "
    "evict and close in the other, limits of 0, 47 and 1000 bytes",
)
"""Namespaces that act on each other, with a budget that is soon used up."""

DEEP: Final = replace(TWO, name="two namespaces, eight calls perform their steps", config=Config(PLENTY_BYTES))
"""The default budget."""

SILENT: Final = replace(LISTENERS, name="listeners that perform nothing", config=Config(2 * ENTRY_BYTES, 0))
"""A budget of 0: each call is recorded and returns."""

WIDE: Final = World(
    "two keys in each of two namespaces",
    Config(PLENTY_BYTES),
    (
        *(event for ns in "ab" for event in puts(ns, "xy", "1", "2", None, clean=False)),
        *(ops.Get(ns, key) for ns in "ab" for key in "xy"),
        *(event for ns in "ab" for event in (ops.Flush(ns), ops.Evict(ns))),
        ops.Listen("a"),
        ops.Listen("a", fails=1),
    ),
    "two values or a tombstone, all dirty; lookups, flushes and evictions; in one namespace no listener, one that "
    "takes or one that throws once, in the other one that takes",
    (ops.Listen("b"),),
)
"""A large world: every order of use and of dirty keys, with values that differ."""

ORDERS: Final = replace(
    WIDE,
    name="two keys in each of two namespaces, one value",
    events=(*(event for ns in "ab" for event in puts(ns, "xy", "1", None, clean=False)), *WIDE.events[12:]),
    told_of=WIDE.told_of.replace("two values", "a value"),
)
"""Every order of use and of dirty keys."""

VAST: Final = replace(
    WIDE,
    name="two keys in each of two namespaces, clean writes, a limit of three entries",
    events=(
        *(event for ns in "ab" for event in puts(ns, "xy", "1", "2", None)),
        *WIDE.events[12:],
        ops.Listen("a", (ops.Put("b", "x", "1", True), ops.Get("a", "y"))),
        ops.Resize(3 * ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
    ),
    told_of="two values or a tombstone, dirty or clean; lookups, flushes and evictions; in one namespace no listener, "
    "one that takes, one that throws once or one that writes into the other, where one takes; limits of 141 and "
    "1000 bytes",
)
"""The large world of a night."""
