"""The worlds along which fast cache and stores of `kafka-streams` are held to the reference, and a fault for each."""

from __future__ import annotations

from typing import Final

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.kafka_streams.abstraction import fast
from entrycache_evidence.kafka_streams.worlds import caches, stores
from entrycache_evidence.refine.evidence import Refines
from entrycache_fast.kafka import ThreadCache
from entrycache_faults.fast.kafka_streams import FAULTS
from entrycache_faults.fast.kafka_streams.planted import Planted

WORLDS: Final[tuple[tuple[AnyWorld, str, bool], ...]] = (
    (stores.STORE, "streams-read-cached-dirty", True),
    (caches.EVERY, "streams-flush-puts-back-as-newest", True),
    (caches.LISTENERS, "streams-flush-loses-a-write", False),
    (stores.STORES, "streams-deleted-stays-below", False),
    (stores.FORWARDS, "streams-view-below-wins", False),
    (caches.TWO, "streams-evict-elsewhere", False),
)
"""With the fault that is told apart in it, and whether it is walked in a pull request; the quick ones first."""


def _note(planted: Planted) -> str:
    wrong = planted.cache_type if planted.cache_type is not ThreadCache else planted.store_type
    return (wrong.__doc__ or wrong.__name__).strip()


REFINED: Final = tuple(
    Refines(world, fast(), fast(*FAULTS[name]), _note(FAULTS[name]), is_quick) for world, name, is_quick in WORLDS
)
