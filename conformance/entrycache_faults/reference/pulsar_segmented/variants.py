"""Variants of the unmerged branch, as faults against the norm."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_segmented.planted import PLANTED
from entrycache_reference.pulsar_segmented.config import (
    ClearedIndex,
    ClearedOffset,
    Duplicate,
    FailedOffer,
    RangeWalk,
    Used,
)
from entrycache_reference.rules import Rule

PLANTED.plant_variant("A duplicate takes the place of the first.", Rule.S_INSERT_2, duplicate=Duplicate.OVERWRITTEN)
PLANTED.plant_variant("A duplicate turns the ring.", Rule.S_INSERT_2, duplicate=Duplicate.ROTATING)
PLANTED.plant_variant("What a segment does not take counts.", Rule.S_SEGMENT_4, failed_offer=FailedOffer.COUNTED)
PLANTED.plant_variant(
    "A cleared segment goes on behind its offset.",
    Rule.S_RING_1,
    Rule.S_RING_3,
    cleared_offset=ClearedOffset.KEPT,
)
PLANTED.plant_variant(
    "A cleared segment still finds its former entries.", Rule.S_RING_2, cleared_index=ClearedIndex.KEPT
)
PLANTED.plant_variant("A range asks each segment once.", Rule.S_RANGE_1, range_walk=RangeWalk.ONE_PASS)
PLANTED.plant_variant("Offsets are what is in use.", Rule.S_USAGE_1, used=Used.OFFSETS)
