"""Seeded faults about variants: those of other releases, and errors within a variant.

A variant of a release is a fault if the specification is the default behaviour. The functions below break a variant
itself: they show that its rule has a check of its own.
"""

from __future__ import annotations

from dataclasses import replace

from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS, seeded_fault
from entrycache_reference.pulsar_pip430 import change, entries, manager, ops, passes
from entrycache_reference.pulsar_pip430.config import (
    Config,
    CountFloor,
    DuplicateCount,
    RequeueBudget,
    SizePassRounds,
    ZeroReads,
)
from entrycache_reference.pulsar_pip430.state import Entry, State, Step
from entrycache_reference.rules import Rule

SEEDED_FAULTS.register_variant("A count stops at 0.", Rule.COUNT_1, count_floor=CountFloor.ZERO)
SEEDED_FAULTS.register_variant(
    "0 expected reads are a count.", Rule.INSERT_4, Rule.READ_9, zero_reads=ZeroReads.COUNTED
)
SEEDED_FAULTS.register_variant(
    "A duplicate gives its count to what is cached.", Rule.INSERT_2, duplicate_count=DuplicateCount.REPLACED
)
SEEDED_FAULTS.register_variant(
    "A requeue because of an access uses no budget.", Rule.REQUEUE_5, requeue_budget=RequeueBudget.SPLIT
)
SEEDED_FAULTS.register_variant(
    "A size pass spares entries in one round only.", Rule.REQUEUE_1, Rule.REQUEUE_2, size_pass_rounds=SizePassRounds.ONE
)


# Errors within a variant.


@seeded_fault(Rule.INSERT_7, ops.Insert)
def insert_without_zero(state: State, event: ops.Insert, config: Config) -> Step:
    """In a release that counts 0 expected reads, an insert with 0 gives no count."""
    if event.expected_reads == 0 and change.entry_at(state, event.cache, event.pos) is None:
        return manager.offer(state, replace(event, expected_reads=None), config)
    return manager.offer(state, event, config)


@seeded_fault(Rule.INSERT_8, "entries.keep_cached_entry")
def kept_without_a_count(state: State, event: ops.Insert, cached: Entry, config: Config) -> State:
    """In a release whose duplicate brings its count, a duplicate without a count leaves the former count."""
    if entries.initial_count(event.expected_reads, config) is None:
        return state
    return entries.keep_cached_entry(state, event, cached, config)


@seeded_fault(Rule.READ_13, "storage_reads.is_fill_cached")
def is_wanted_above_zero(expected_reads: int, config: Config) -> bool:
    """In a release that counts 0 expected reads, fills with 0 are not cached."""
    return expected_reads > 0


@seeded_fault(Rule.COUNT_8, "entries.lower_count")
def lowered_without_floor(count: int, config: Config) -> int:
    """In a release with a floor for counts, a delivery lowers a count below the floor."""
    return count - 1


@seeded_fault(Rule.REQUEUE_9, "passes.is_late")
def is_late_by_one(kind: passes.PassKind, looked_at: int, slots: int, config: Config) -> bool:
    """In a release with one round for a size pass, the pass spares one entry more."""
    return passes.is_late(kind, looked_at, slots + 1, config)
