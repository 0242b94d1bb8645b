"""Faults of the passes: which entries of a cache they take, and which caches give how much."""

from __future__ import annotations

from dataclasses import replace

from entrycache_faults.reference.pulsar_legacy.planted import planted
from entrycache_reference.pulsar_legacy import change, ops, passes, policy, remove
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.outcomes import Refused, Removed
from entrycache_reference.pulsar_legacy.state import Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


@planted(Rule.L_EVICT_1, "passes.lowest")
def from_the_highest(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """A cache gives from its highest position down."""
    entries = change.cache_of(state, name).entries
    taken: list[Position] = []
    freed_bytes = 0
    for pos in reversed(change.positions_of(state, name)):
        if freed_bytes >= need_bytes:
            break
        taken.append(pos)
        freed_bytes += entries[pos].size_bytes
    return tuple(taken)


@planted(Rule.L_EVICT_1, "passes.lowest", other=True)
def only_what_fits(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """A cache gives no entry that would free more than it was asked for."""
    taken = passes.lowest(state, name, need_bytes)
    entries = change.cache_of(state, name).entries
    return taken[:-1] if sum(entries[pos].size_bytes for pos in taken) > need_bytes else taken


@planted(Rule.L_EVICT_2, "passes.lowest")
def one_too_many(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """A cache gives one entry more than it takes."""
    taken = passes.lowest(state, name, need_bytes)
    return change.positions_of(state, name)[: len(taken) + 1]


@planted(Rule.L_EVICT_3, "policy.givers")
def every_cache_gives(state: State) -> tuple[CacheName, ...]:
    """Every cache gives, the smallest too."""
    return policy.by_size(state) if state.size_bytes > 0 else ()


@planted(Rule.L_EVICT_3, "policy.givers", other=True)
def half_exceeded(state: State) -> tuple[CacheName, ...]:
    """Caches are taken until they hold more than half of the bytes."""
    taken: list[CacheName] = []
    for name in policy.by_size(state) if state.size_bytes > 0 else ():
        if sum(state.caches[other].size_bytes for other in taken) > int(state.size_bytes * 0.5):
            break
        taken.append(name)
    return tuple(taken)


@planted(Rule.L_EVICT_3, "policy.by_size", other=True)
def smallest_first(state: State) -> tuple[CacheName, ...]:
    """The smallest caches give first."""
    return tuple(sorted(state.caches, key=lambda name: (state.caches[name].size_bytes, name)))


@planted(Rule.L_EVICT_4, "policy.by_size")
def ties_from_the_end(state: State) -> tuple[CacheName, ...]:
    """Of caches of one size the last by name gives first."""
    names = sorted(state.caches, reverse=True)
    return tuple(sorted(names, key=lambda name: -state.caches[name].size_bytes))


@planted(Rule.L_EVICT_5, "policy.share")
def share_in_integers(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """A share is computed in integers, the product first."""
    return amount_bytes * cache_bytes // sum_bytes


@planted(Rule.L_EVICT_5, "policy.share", other=True)
def share_rounded(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """A share is rounded, not truncated."""
    return round(float(amount_bytes) * (float(cache_bytes) / float(sum_bytes)))


@planted(Rule.L_EVICT_5, "policy.share", other=True)
def share_of_everything(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """Each cache that gives gives all of the amount."""
    return amount_bytes


@planted(Rule.L_EXPIRE_1, "passes.is_old")
def cutoff_is_young(stamp_nanos: int, cutoff_nanos: int) -> bool:
    """An entry at the cutoff stays."""
    return stamp_nanos < cutoff_nanos


@planted(Rule.L_EXPIRE_2, "passes.expired")
def whole_cache_searched(state: State, name: CacheName, cutoff_nanos: int) -> tuple[Position, ...]:
    """An old entry behind a young one leaves too."""
    entries = change.cache_of(state, name).entries
    return tuple(
        pos for pos in change.positions_of(state, name) if passes.is_old(entries[pos].stamp_nanos, cutoff_nanos)
    )


@planted(Rule.L_EXPIRE_3, "passes.cutoff_of")
def no_age_for_absent(state: State, event: ops.Expire, config: Config) -> int:
    """An age of 0 is taken for none."""
    return state.now_nanos - ((0 if event.older_than_nanos is ABSENT else event.older_than_nanos) or config.ttl_nanos)


@planted(Rule.L_STATE_5, "remove.removed")
def empty_entries_uncounted(state: State, name: CacheName, positions: tuple[Position, ...]) -> Removed:
    """Entries of 0 bytes are not counted among those that left."""
    entries = change.cache_of(state, name).entries
    return remove.removed(state, name, tuple(pos for pos in positions if entries[pos].size_bytes > 0))


@planted(Rule.L_LIVENESS_1, "passes.taken_rows")
def last_taken_twice(
    rule: Rule, cause: str, state: State, name: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """A pass comes to its last entry twice."""
    rows = passes.taken_rows(rule, cause, state, name, positions)
    return rows + rows[-1:]


@planted(Rule.L_STATE_3, ops.Evict, ops.EvictCache)
def nothing_asked_nothing_done(state: State, event: ops.Evict | ops.EvictCache, config: Config) -> Step:
    """An amount of 0 or less is no error: nothing leaves."""
    done = (
        policy.evict(state, event, config) if isinstance(event, ops.Evict) else passes.evict_cache(state, event, config)
    )
    return Step(state, Removed(0, 0), ()) if isinstance(done.outcome, Refused) else done


@planted(Rule.L_STATE_3, ops.Expire, other=True)
def refused_after_the_pass(state: State, event: ops.Expire, config: Config) -> Step:
    """An age below 0 is refused after a pass with the age 0 has run."""
    done = passes.expire(state, event, config)
    if not isinstance(done.outcome, Refused):
        return done
    return done._replace(state=passes.expire(state, replace(event, older_than_nanos=0), config).state)
