"""The small worlds of `kafka-streams`, level `store`: caching stores over in-memory stores."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_evidence.kafka_streams.worlds.caches import ENTRY_BYTES, PLENTY_BYTES
from entrycache_evidence.kafka_streams.worlds.world import World
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config

STORE: Final = World(
    "a store, nothing done downstream",
    Config(PLENTY_BYTES),
    (
        *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", "2", None)),
        *(ops.StoreGet("s", key) for key in "xy"),
        *(ops.StoreDelete("s", key) for key in "xy"),
        ops.StoreRange("s", "x", "x"),
        ops.StoreRange("s", "y", None),
        ops.StoreAll("s"),
        ops.StoreFlush("s"),
        ops.StoreInner("s"),
        ops.Evict("s"),
        *(ops.Resize(bytes_) for bytes_ in (0, ENTRY_BYTES, PLENTY_BYTES)),
        ops.Share(7, 2, True),
        ops.Share(7, 0, True),
    ),
    "two keys, two values or deleted; every operation of the level, an eviction, limits of 0, 47 and 1000 bytes",
)
"""A store as a plain map."""

FORWARDS: Final = World(
    "a store, its own keys written downstream",
    Config(PLENTY_BYTES),
    (
        *(ops.StorePut("s", key, value) for key in "xy" for value in ("1", None)),
        ops.StoreGet("s", "x"),
        ops.StoreDelete("s", "y"),
        ops.StoreAll("s"),
        ops.StoreFlush("s"),
        ops.Evict("s"),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
        ops.OnForward("s", "x", ()),
        ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreGet("s", "x"))),
        ops.OnForward("s", "x", (ops.StorePut("s", "y", "2"), ops.StoreFlush("s"))),
        ops.OnForward("s", "x", (ops.StoreDelete("s", "y"), ops.StoreFlush("s"))),
        ops.OnForward("s", "y", (ops.StoreDelete("s", "x"),)),
        ops.OnForward("s", "y", (ops.StorePut("s", "y", "2"), ops.StoreAll("s"))),
    ),
    "two keys, a value or deleted; downstream writes, deletes, reads and flushes of the same and of the other key, "
    "an eviction, limits of 47 and 1000 bytes",
)
"""A topology that writes back."""

STORES: Final = World(
    "two stores that write each other",
    Config(PLENTY_BYTES),
    (
        *(ops.StorePut(store, "x", value) for store in "st" for value in ("1", None)),
        *(ops.StoreGet(store, "x") for store in "st"),
        ops.StoreDelete("t", "x"),
        *(ops.StoreFlush(store) for store in "st"),
        ops.Resize(0),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(PLENTY_BYTES),
        ops.OnForward("s", "x", (ops.StorePut("t", "x", "2"), ops.StoreGet("s", "x"))),
        ops.OnForward("s", "x", (ops.StoreDelete("t", "x"), ops.StoreFlush("t"))),
        ops.OnForward("t", "x", ()),
        ops.OnForward("t", "x", (ops.StorePut("s", "x", "2"), ops.StoreGet("t", "x"))),
    ),
    "a key in each, a value or deleted; downstream of each writes, deletes, reads and flushes in the other, limits of "
    "0, 47 and 1000 bytes",
)
"""Several stores in one thread's cache."""

SECOND_KEY: Final = replace(
    STORES,
    name="two stores that write each other, two keys in one",
    events=(*STORES.events, ops.StorePut("s", "y", "1")),
    told_of=STORES.told_of.replace("a key in each", "two keys in one, one in the other"),
)
"""Together they hold more than the smallest limit in every order."""

ONE_CALL: Final = replace(STORES, name="two stores, one call performs its steps", config=Config(PLENTY_BYTES, 1))
"""The budget used up."""

USED: Final = World(
    "a store whose namespace somebody else uses",
    Config(PLENTY_BYTES),
    (
        ops.StorePut("s", "x", "1"),
        ops.StorePut("s", "x", None),
        ops.StoreGet("s", "x"),
        ops.StoreDelete("s", "x"),
        ops.StoreFlush("s"),
        ops.StoreAll("s"),
        ops.Put("s", "x", "2"),
        ops.Put("s", "x", "2", True),
        ops.Delete("s", "x"),
        ops.Listen("s"),
        ops.Listen("s", fails=1),
        ops.Listen("s", (ops.StorePut("s", "x", "3"),)),
        ops.Flush("s"),
        ops.Evict("s"),
        ops.Clear("s"),
        ops.Close("s"),
        ops.Resize(0),
        ops.Resize(PLENTY_BYTES),
        ops.OnForward("s", "x", (ops.Clear("s"),)),
        ops.OnForward("s", "x", (ops.Close("s"), ops.StorePut("s", "x", "4"))),
    ),
    "one key; the operations of both levels on the same namespace, also downstream, limits of 0 and 1000 bytes",
)
"""What the laws about stores say where their namespace is not theirs alone."""
