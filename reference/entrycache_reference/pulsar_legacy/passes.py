"""The passes over one cache, `expire` and `evict_cache`: from its lowest position up.

Beside: RangeCache.evictLEntriesBeforeTimestamp, .evictLeastAccessedEntries (managed-ledger 4.0.8)
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_legacy.change import cache_of, drop_entries, positions_of
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import EvictCache, Expire
from entrycache_reference.pulsar_legacy.outcomes import ErrorKind, Refused
from entrycache_reference.pulsar_legacy.remove import removed
from entrycache_reference.pulsar_legacy.rows import left_rows, pass_row
from entrycache_reference.pulsar_legacy.state import Row, State, Step
from entrycache_reference.pulsar_legacy.thresholds import with_thresholds
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


@rule(Rule.L_EXPIRE_3)
def cutoff_of(state: State, event: Expire, config: Config) -> int:
    """The latest stamp that is old: as long ago as was asked for, or as the time to live. It may be negative."""
    return state.now_nanos - (config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos)


@rule(Rule.L_EXPIRE_1)
def is_old(stamp_nanos: int, cutoff_nanos: int) -> bool:
    """Whether a stamp is at the cutoff or before it."""
    return stamp_nanos <= cutoff_nanos


@rule(Rule.L_EXPIRE_1, Rule.L_EXPIRE_2)
def expired(state: State, name: CacheName, cutoff_nanos: int) -> tuple[Position, ...]:
    """The positions that a time pass takes: the lowest ones, up to the first that is younger than the cutoff."""
    taken: list[Position] = []
    for pos in positions_of(state, name):
        if not is_old(cache_of(state, name).entries[pos].stamp_nanos, cutoff_nanos):
            break
        taken.append(pos)
    return tuple(taken)


@rule(Rule.L_EVICT_1, Rule.L_EVICT_2)
def lowest(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """The positions that free so many bytes: the lowest ones, no more of them than it takes, or all."""
    taken: list[Position] = []
    freed_bytes = 0
    for pos in positions_of(state, name):
        if freed_bytes >= need_bytes:
            break
        taken.append(pos)
        freed_bytes += cache_of(state, name).entries[pos].size_bytes
    return tuple(taken)


@rule(Rule.L_LIVENESS_1)
def taken_rows(
    rule: Rule, cause: str, state: State, name: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """The rows of what a pass takes: each entry once."""
    return left_rows(rule, "EVICT", cause, state, name, positions)


@rule(Rule.L_EXPIRE_1, Rule.L_EXPIRE_2, Rule.L_EXPIRE_3, Rule.L_STATE_3, Rule.L_STATE_5, Rule.L_LIVENESS_1)
def expire(state: State, event: Expire, config: Config) -> Step:
    """Run a time pass over one cache."""
    # GUARD: an age below 0 is refused.
    if event.older_than_nanos is not ABSENT and event.older_than_nanos < 0:
        return Step(state, REFUSED, ())

    # DECISION
    cutoff_nanos = cutoff_of(state, event, config)
    positions = expired(state, event.cache, cutoff_nanos)

    # EFFECT
    after = drop_entries(state, event.cache, positions)

    # OUTCOME
    begin = pass_row(Rule.L_EXPIRE_1, "PASS_BEGIN", "TIME", "CALL", state, cutoff_nanos, event.cache)
    end = pass_row(Rule.L_EXPIRE_2, "PASS_END", "TIME", "CALL", after, cutoff_nanos, event.cache)
    rows = taken_rows(Rule.L_EXPIRE_1, "TIME", state, event.cache, positions)
    return Step(after, removed(state, event.cache, positions), (begin, *rows, end))


@rule(Rule.L_EVICT_1, Rule.L_EVICT_2, Rule.L_STATE_3, Rule.L_STATE_5, Rule.L_LIVENESS_1)
def evict_cache(state: State, event: EvictCache, config: Config) -> Step:
    """Free bytes in one cache."""
    # GUARD: an amount of 0 or less is refused.
    if event.bytes <= 0:
        return Step(state, REFUSED, ())

    # DECISION
    positions = lowest(state, event.cache, event.bytes)

    # EFFECT
    after = drop_entries(state, event.cache, positions)

    # OUTCOME
    rows = taken_rows(Rule.L_EVICT_1, "SIZE", state, event.cache, positions)
    begin = pass_row(Rule.L_EVICT_1, "PASS_BEGIN", "SIZE", "CALL", state, event.bytes, event.cache)
    end = pass_row(Rule.L_EVICT_2, "PASS_END", "SIZE", "CALL", after, event.bytes, event.cache)
    begin, end = with_thresholds(begin, config), with_thresholds(end, config)
    return Step(after, removed(state, event.cache, positions), (begin, *rows, end))
