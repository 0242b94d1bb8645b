"""The worlds of `kafka-streams` in which TLC's states and edges are held beside the explorer's."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_evidence.kafka_streams.tlc.events import record
from entrycache_evidence.kafka_streams.tlc.look import SpacesLook
from entrycache_evidence.kafka_streams.worlds.caches import ENTRY_BYTES, LISTENERS, TWO, looks
from entrycache_evidence.kafka_streams.worlds.world import World
from entrycache_evidence.tlc.beside import Beside
from entrycache_evidence.tlc.module import Module
from entrycache_evidence.tlc.text import texts
from entrycache_reference.kafka_streams import NAME, ops

SMALL: Final = replace(
    LISTENERS,
    name="a listener that writes, one key",
    events=(
        ops.Put("a", "x", "1", True),
        ops.Put("a", "x", None, True),
        ops.Put("a", "x", "1"),
        ops.Get("a", "x"),
        ops.Flush("a"),
        ops.Evict("a"),
        ops.Listen("a", fails=1),
        ops.Listen("a", (ops.Put("a", "x", None, True), ops.Get("a", "x"))),
    ),
    told_of="a value or a tombstone; a listener that throws once, or writes and reads",
)
"""A few states."""

LOOKS: Final = replace(
    LISTENERS,
    name="lookups and one listener",
    events=(
        ops.Put("a", "x", "1", True),
        ops.Put("a", "y", "1"),
        ops.Put("a", "y", None, True),
        ops.PutIfAbsent("a", "y", "1"),
        ops.Get("a", "x"),
        ops.Get("a", None),
        ops.Get("b", "x"),
        ops.Delete("a", "y"),
        *looks("a"),
        ops.Usage(),
        ops.Metrics(),
        ops.Flush("a"),
        ops.Flush("b"),
        ops.Evict("a"),
        ops.Resize(ENTRY_BYTES),
        ops.Resize(2 * ENTRY_BYTES),
        ops.Listen("a", (ops.Get("a", "x"), ops.Range("a", None, "y", to_inclusive=False))),
    ),
    told_of="two keys; every lookup, limits of 47 and 94 bytes, a listener that looks",
)
"""Every lookup, and what it does to the order of use."""

ORDERED: Final = replace(
    TWO,
    name="two namespaces, two calls perform their steps, the limit stays",
    events=tuple(
        event
        for event in TWO.events
        if not isinstance(event, ops.Resize | ops.PutIfAbsent) and event not in {ops.Delete("b", "x"), ops.Usage()}
    ),
    told_of=TWO.told_of.replace(", limits of 0, 47 and 1000 bytes", ""),
)
"""Namespaces that act on each other; the texts do not say in which order several pay for a lower limit."""


def beside(world: World) -> Beside:
    """A world of the explorer, and the module that is run with the same constants."""
    look = SpacesLook(world)
    constants = {
        "Limit": world.config.max_size_bytes,
        "Budget": world.config.reentry_budget,
        "Scripts": tuple(tuple(record(step, look.scripts) for step in steps) for steps in look.scripts),
        "Keys": ("x", "y"),
        "Spaces": look.names,
        "Before": tuple(record(event, look.scripts) for event in world.start),
        "Events": tuple(record(event, look.scripts) for event in world.events),
    }
    config = ("INIT Init", "NEXT Next", "VIEW View", "ACTION_CONSTRAINT Edge", "INVARIANT AlwaysSound")
    module = Module(NAME, "ThreadCacheWorld", texts(constants), config)
    return Beside(world, look, module)


QUICK: Final = beside(SMALL)
"""A few states."""

CLOSED: Final = (beside(LOOKS), beside(LISTENERS), beside(ORDERED))
"""Each to its end."""
