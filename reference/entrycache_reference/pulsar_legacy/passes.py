"""The passes: thresholds, the passes over one cache, the size pass over all caches, and its trigger.

`expire` and `evict_cache` take entries of one cache from its lowest position up. `evict` chooses the caches that give
and divides the amount among them. `request_pass` is the first thing that every insert does; `run_scheduled` runs a pass
that waits.

Beside: RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold, .hasSpaceInCache (managed-ledger 4.0.8)
Beside: RangeCache.evictLEntriesBeforeTimestamp, .evictLeastAccessedEntries (managed-ledger 4.0.8)
Beside: EntryCacheDefaultEvictionPolicy.doEviction (managed-ledger 4.0.8)
"""

from math import trunc
from typing import Final

from entrycache_reference.pulsar_legacy.change import cache_of, drop_entries, pass_row, positions_of, removal_rows
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.ops import ErrorKind, Evict, EvictCache, Expire, Refused, Removed, RunScheduled
from entrycache_reference.pulsar_legacy.remove import count_removed
from entrycache_reference.pulsar_legacy.state import Part, Row, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

TRIGGER_SHARE: Final = 0.98
"""The share of the limit above which an insert requests a size pass."""


@rule(Rule.L_TRIGGER_1)
def trigger_bytes(config: Config) -> int:
    """Return the bytes above which an insert requests a size pass: the IEEE product, truncated."""
    return trunc(config.max_size_bytes * TRIGGER_SHARE)


@rule(Rule.L_TRIGGER_1)
def target_bytes(config: Config) -> int:
    """Return the bytes down to which a size pass has to free: the IEEE product, truncated."""
    return trunc(config.max_size_bytes * config.watermark)


@rule(Rule.L_TRIGGER_1)
def amount_bytes(size_bytes: int, config: Config) -> int:
    """Return the amount of a size pass that is requested at these bytes: the bytes above the target.

    It may be 0 or less.
    """
    return size_bytes - target_bytes(config)


def with_thresholds(row: Row, config: Config) -> Row:
    """Return the row of a size pass, with the two thresholds."""
    return row._replace(trigger_bytes=trigger_bytes(config), target_bytes=target_bytes(config))


# The passes over one cache.

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


@rule(Rule.L_EXPIRE_3)
def cutoff_of(state: State, event: Expire, config: Config) -> int:
    """Return the latest stamp that is old, by the requested age or the time to live. It may be negative."""
    return state.now_nanos - (config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos)


@rule(Rule.L_EXPIRE_1)
def is_old(stamp_nanos: int, cutoff_nanos: int) -> bool:
    """Return whether a stamp is at the cutoff or before it."""
    return stamp_nanos <= cutoff_nanos


@rule(Rule.L_EXPIRE_1, Rule.L_EXPIRE_2)
def find_expired(state: State, name: CacheName, cutoff_nanos: int) -> tuple[Position, ...]:
    """Return the positions that a time pass takes: the lowest ones, up to the first one younger than the cutoff."""
    chosen: list[Position] = []
    for pos in positions_of(state, name):
        if not is_old(cache_of(state, name).entries[pos].stamp_nanos, cutoff_nanos):
            break
        chosen.append(pos)
    return tuple(chosen)


@rule(Rule.L_EVICT_1, Rule.L_EVICT_2)
def find_lowest(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """Return the lowest positions that free so many bytes: no more than necessary, or all."""
    chosen: list[Position] = []
    freed_bytes = 0
    for pos in positions_of(state, name):
        if freed_bytes >= need_bytes:
            break
        chosen.append(pos)
        freed_bytes += cache_of(state, name).entries[pos].size_bytes
    return tuple(chosen)


@rule(Rule.L_LIVENESS_1)
def eviction_rows(
    rule: Rule, cause: str, state: State, name: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """Return the rows of the entries that a pass takes, one for each."""
    return removal_rows(rule, "EVICT", cause, state, name, positions)


@rule(Rule.L_EXPIRE_1, Rule.L_EXPIRE_2, Rule.L_EXPIRE_3, Rule.L_STATE_3, Rule.L_STATE_5, Rule.L_LIVENESS_1)
def expire(state: State, event: Expire, config: Config) -> Step:
    """Run a time pass over one cache."""
    # GUARD: an age below 0 is refused.
    if event.older_than_nanos is not ABSENT and event.older_than_nanos < 0:
        return Step(state, REFUSED, ())

    # DECISION
    cutoff_nanos = cutoff_of(state, event, config)
    positions = find_expired(state, event.cache, cutoff_nanos)

    # EFFECT
    after = drop_entries(state, event.cache, positions)

    # OUTCOME
    begin = pass_row(Rule.L_EXPIRE_1, "PASS_BEGIN", "TIME", "CALL", state, cutoff_nanos, event.cache)
    end = pass_row(Rule.L_EXPIRE_2, "PASS_END", "TIME", "CALL", after, cutoff_nanos, event.cache)
    rows = eviction_rows(Rule.L_EXPIRE_1, "TIME", state, event.cache, positions)
    return Step(after, count_removed(state, event.cache, positions), (begin, *rows, end))


@rule(Rule.L_EVICT_1, Rule.L_EVICT_2, Rule.L_STATE_3, Rule.L_STATE_5, Rule.L_LIVENESS_1)
def evict_cache(state: State, event: EvictCache, config: Config) -> Step:
    """Free bytes in one cache."""
    # GUARD: an amount of 0 or less is refused.
    if event.bytes <= 0:
        return Step(state, REFUSED, ())

    # DECISION
    positions = find_lowest(state, event.cache, event.bytes)

    # EFFECT
    after = drop_entries(state, event.cache, positions)

    # OUTCOME
    rows = eviction_rows(Rule.L_EVICT_1, "SIZE", state, event.cache, positions)
    begin = pass_row(Rule.L_EVICT_1, "PASS_BEGIN", "SIZE", "CALL", state, event.bytes, event.cache)
    end = pass_row(Rule.L_EVICT_2, "PASS_END", "SIZE", "CALL", after, event.bytes, event.cache)
    begin, end = with_thresholds(begin, config), with_thresholds(end, config)
    return Step(after, count_removed(state, event.cache, positions), (begin, *rows, end))


# The size pass over all caches.

PASS_SHARE: Final = 0.5
"""The share of all bytes that the giving caches hold together."""


@rule(Rule.L_EVICT_3, Rule.L_EVICT_4)
def order_by_size(state: State) -> tuple[CacheName, ...]:
    """Return the caches from the largest to the smallest; caches of equal size by name."""
    return tuple(sorted(state.caches, key=lambda name: (-state.caches[name].size_bytes, name)))


@rule(Rule.L_EVICT_3)
def choose_givers(state: State) -> tuple[CacheName, ...]:
    """Return the caches that give: the largest, until they hold half of all bytes, truncated."""
    quota_bytes = trunc(state.size_bytes * PASS_SHARE)
    chosen: list[CacheName] = []
    sum_bytes = 0
    for name in order_by_size(state):
        if sum_bytes >= quota_bytes:
            break
        chosen.append(name)
        sum_bytes += state.caches[name].size_bytes
    return tuple(chosen)


@rule(Rule.L_EVICT_5)
def compute_share(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """Return the part of an amount that one cache has to give, computed in doubles and truncated."""
    return int(float(amount_bytes) * (float(cache_bytes) / float(sum_bytes)))


@rule(Rule.L_EVICT_3, Rule.L_EVICT_4, Rule.L_EVICT_5, Rule.L_STATE_3, Rule.L_STATE_5)
def evict(state: State, event: Evict, config: Config, origin: str = "CALL") -> Step:
    """Run a size pass over all caches; `origin` goes into its rows."""
    # GUARD: an amount of 0 or less is refused.
    if event.bytes <= 0:
        return Step(state, REFUSED, ())

    # DECISION: the giving caches.
    names = choose_givers(state)
    sum_bytes = sum(state.caches[name].size_bytes for name in names)

    # EFFECT: each gives its share, in that order; a share of 0 is skipped.
    after = state
    parts: tuple[Part, ...] = ()
    for name in names:
        share_bytes = compute_share(event.bytes, state.caches[name].size_bytes, sum_bytes)
        if share_bytes > 0:
            part = EvictCache(name, share_bytes)
            result = evict_cache(after, part, config)
            parts += (Part(after, part, result),)
            after = result.state

    # OUTCOME: the sum of all shares.
    rows = build_pass_rows(state, after, event.bytes, config, origin, parts)
    return Step(after, sum_removed(parts), rows, parts, names)


@rule(Rule.L_STATE_5)
def sum_removed(parts: tuple[Part, ...]) -> Removed:
    """Return the sum of what the caches gave."""
    entries = freed_bytes = 0
    for part in parts:
        assert isinstance(part.step.outcome, Removed)
        entries += part.step.outcome.entries
        freed_bytes += part.step.outcome.bytes
    return Removed(entries, freed_bytes)


def build_pass_rows(
    before: State, after: State, need_bytes: int, config: Config, origin: str, parts: tuple[Part, ...]
) -> tuple[Row, ...]:
    """Return the rows of the pass: its bounds around the evictions, without the share of each cache."""
    begin = with_thresholds(pass_row(Rule.L_EVICT_3, "PASS_BEGIN", "SIZE", origin, before, need_bytes), config)
    end = with_thresholds(pass_row(Rule.L_EVICT_5, "PASS_END", "SIZE", origin, after, need_bytes), config)
    return (begin, *(row for part in parts for row in part.step.rows if row.op == "EVICT"), end)


# The trigger.

NOTHING_REMOVED: Final = Removed(0, 0)


@rule(Rule.L_TRIGGER_6)
def run_requested_pass(state: State, need_bytes: int, config: Config) -> Step:
    """Run the size pass that an insert has requested, unless there is nothing to free."""
    if need_bytes <= 0:
        return Step(state, NOTHING_REMOVED, ())
    result = evict(state, Evict(need_bytes), config, "TRIGGER")
    return Step(result.state, result.outcome, result.rows, (Part(state, Evict(need_bytes), result),))


@rule(Rule.L_TRIGGER_1, Rule.L_TRIGGER_2, Rule.L_TRIGGER_3, Rule.L_TRIGGER_4)
def request_pass(state: State, config: Config) -> Step:
    """Request a size pass if the bytes are above the trigger and none is scheduled."""
    if state.size_bytes <= trigger_bytes(config) or state.scheduled_bytes is not None:
        return Step(state, NOTHING_REMOVED, ())
    need_bytes = amount_bytes(state.size_bytes, config)
    if config.eviction is Eviction.MANUAL:
        return Step(state._replace(scheduled_bytes=need_bytes), NOTHING_REMOVED, ())
    return run_requested_pass(state, need_bytes, config)


@rule(Rule.L_TRIGGER_5, Rule.L_TRIGGER_6, Rule.L_STATE_5)
def run_scheduled(state: State, event: RunScheduled, config: Config) -> Step:
    """Run the scheduled size pass, with the amount of the moment of its request."""
    # GUARD: no pass is scheduled.
    if state.scheduled_bytes is None:
        return Step(state, NOTHING_REMOVED, ())

    # DECISION: none.
    # EFFECT and OUTCOME: the removed entries; another pass may be scheduled from now on.
    return run_requested_pass(state._replace(scheduled_bytes=None), state.scheduled_bytes, config)
