"""Variants of other releases, as faults against the norm."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_pip430.planted import PLANTED
from entrycache_reference.pulsar_pip430.config import (
    CountFloor,
    DuplicateCount,
    RequeueBudget,
    SizePassRounds,
    ZeroReads,
)
from entrycache_reference.rules import Rule

PLANTED.plant_variant("A count stops at 0.", Rule.COUNT_1, count_floor=CountFloor.ZERO)
PLANTED.plant_variant("0 expected reads are a count.", Rule.INSERT_4, Rule.READ_9, zero_reads=ZeroReads.COUNTED)
PLANTED.plant_variant(
    "A duplicate gives its count to what is cached.", Rule.INSERT_2, duplicate_count=DuplicateCount.REPLACED
)
PLANTED.plant_variant(
    "A requeue because of an access uses no budget.", Rule.REQUEUE_5, requeue_budget=RequeueBudget.SPLIT
)
PLANTED.plant_variant(
    "A size pass spares entries in one round only.", Rule.REQUEUE_1, Rule.REQUEUE_2, size_pass_rounds=SizePassRounds.ONE
)
