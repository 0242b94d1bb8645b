"""Faults about variants."""

from __future__ import annotations

from dataclasses import replace

from entrycache_faults.reference.pulsar_pip430.planted import planted
from entrycache_reference.pulsar_pip430 import change, insert, ops, passes, trigger
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Entry, State, Step
from entrycache_reference.rules import Rule


@planted(Rule.INSERT_7, ops.Insert)
def insert_without_zero(state: State, event: ops.Insert, config: Config) -> Step:
    """Where 0 expected reads count, an insert with 0 gives no count."""
    if event.expected_reads == 0 and change.entry_at(state, event.cache, event.pos) is None:
        return trigger.offer(state, replace(event, expected_reads=None), config)
    return trigger.offer(state, event, config)


@planted(Rule.INSERT_8, "insert.kept")
def kept_without_a_count(state: State, event: ops.Insert, cached: Entry, config: Config) -> State:
    """Where a duplicate brings its count, one without a count leaves the former one."""
    if insert.initial_count(event.expected_reads, config) is None:
        return state
    return insert.kept(state, event, cached, config)


@planted(Rule.READ_13, "storage_reads.is_wanted")
def is_wanted_above_zero(expected_reads: int, config: Config) -> bool:
    """Where 0 expected reads count, fills with 0 are not cached."""
    return expected_reads > 0


@planted(Rule.COUNT_8, "count.lowered")
def lowered_without_floor(count: int, config: Config) -> int:
    """Where counts have a floor, a delivery goes below it."""
    return count - 1


@planted(Rule.REQUEUE_9, "passes.is_late")
def is_late_by_one(kind: passes.PassKind, looked_at: int, slots: int, config: Config) -> bool:
    """Where a size pass has one round, it spares one entry more."""
    return passes.is_late(kind, looked_at, slots + 1, config)
