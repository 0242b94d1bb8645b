"""Wrong versions of the reference's functions of the variants, each with one error."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from entrycache_reference.pulsar_pip430 import change, insert, ops, passes, trigger
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Entry, State, Step

_is_late: Final = passes.is_late
_kept: Final = insert.kept


def insert_without_zero(state: State, event: ops.Insert, config: Config) -> Step:
    """R-INSERT-7."""
    if event.expected_reads == 0 and change.entry_at(state, event.cache, event.pos) is None:
        return trigger.offer(state, replace(event, expected_reads=None), config)
    return trigger.offer(state, event, config)


def kept_without_a_count(state: State, event: ops.Insert, cached: Entry, config: Config) -> State:
    """R-INSERT-8."""
    if insert.initial_count(event.expected_reads, config) is None:
        return state
    return _kept(state, event, cached, config)


def is_wanted_above_zero(expected_reads: int, config: Config) -> bool:
    """R-READ-13."""
    return expected_reads > 0


def lowered_without_floor(count: int, config: Config) -> int:
    """R-COUNT-8."""
    return count - 1


def is_late_by_one(kind: passes.PassKind, looked_at: int, slots: int, config: Config) -> bool:
    """R-REQUEUE-9."""
    return _is_late(kind, looked_at, slots + 1, config)
