"""The worlds of `pulsar-pip430` in which TLC's states and edges are held beside the explorer's."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_evidence.pulsar_pip430.tlc.events import fraction, records
from entrycache_evidence.pulsar_pip430.tlc.look import QueueLook
from entrycache_evidence.pulsar_pip430.worlds.small import PAIR, UNAWAITED
from entrycache_evidence.pulsar_pip430.worlds.world import World, slot
from entrycache_evidence.tlc.beside import Beside
from entrycache_evidence.tlc.module import Module
from entrycache_evidence.tlc.text import texts
from entrycache_reference.pulsar_pip430 import NAME, ops
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

_A: Final = CacheName("a")

TRIGGER: Final = World(
    "trigger, settings and invalidation",
    Config(max_size_bytes=4, watermark=0.5, ttl_nanos=1, max_requeues=1),
    (slot("a", 0, 0), slot("a", 1, 0)),
    (2,),
    (1,),
    (0, 1),
    2,
    (ABSENT,),
    (1,),
    (
        ops.Cycle(),
        ops.RunScheduled(),
        ops.Configure(max_size_bytes=2),
        ops.Configure(max_size_bytes=4, watermark=1),
        ops.Configure(watermark=0.5),
        ops.InvalidateBefore(_A, Position(1, 0)),
        ops.InvalidateLedger(_A, 1),
        ops.RemoveCache(_A),
    ),
    (ops.Configure(max_size_bytes=3, watermark=2), ops.Configure(max_size_bytes=0)),
)
"""A limit that is crossed, settings that change, and entries that leave by calls of the manager."""

MANUAL: Final = replace(
    TRIGGER,
    name="trigger, settings and invalidation, eviction manual",
    config=replace(TRIGGER.config, eviction=Eviction.MANUAL),
)
"""The flag instead of the pass."""


def beside(world: World) -> Beside:
    """A world of the explorer, and the module that is run with the same constants."""
    look = QueueLook(world)
    settings = world.config
    constants = {
        "Start": {
            "max": settings.max_size_bytes,
            "watermark": fraction(settings.watermark),
            "ttl": settings.ttl_nanos,
            "requeues": settings.max_requeues,
            "extend": settings.extend_recently_accessed,
        },
        "Eviction": settings.eviction.value,
        "Caches": look.caches,
        "Events": records(world),
        "Slots": world.slots,
        "Least": world.counts[0],
        "Greatest": world.counts[1],
        "Looks": world.looks,
        "Oldest": world.oldest,
        "Most": settings.max_requeues,
    }
    config = ("INIT Init", "NEXT Next", "VIEW View", "ACTION_CONSTRAINT Edge", "INVARIANT AlwaysSound")
    module = Module(NAME, "RemovalQueueWorld", texts(constants), config)
    return Beside(world, look, module)


SMALL: Final = replace(
    PAIR, name="two entries of one cache, one slot", expected=(ABSENT, 0, 2), counts=(-1, 2), slots=1
)
"""A few states, with every operation of the level."""

QUICK: Final = beside(SMALL)
"""The smallest."""

CLOSED: Final = (beside(PAIR), beside(UNAWAITED), beside(TRIGGER), beside(MANUAL))
"""Each to its end."""
