"""Seeded faults of level `cursors`: members, positions, ranks and the grace period.

Each fault calls the function of the reference and changes its result, or replaces it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_faults.reference.pulsar_pip430.registry import seeded_fault
from entrycache_reference.pulsar_pip430 import change, cursors, manager, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CursorName, Position

EARLIEST: Final = Position(-1, -1)
"""A position before every other one."""


@seeded_fault(Rule.CONFIG_4, ops.ShouldCache)
def should_cache_by_present_ttl(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """The default grace period is twice the present time to live."""
    return cursors.should_cache(state, event, replace(config, ttl_nanos=state.settings.ttl_nanos))


@seeded_fault(Rule.CURSOR_1, ops.CursorAdd)
def cursor_add_at_the_start(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """A new cursor without a position is tracked at the very start."""
    is_member = event.cursor in change.cache_of(state, event.cache).members
    pos = EARLIEST if event.pos is None and not is_member else event.pos
    return cursors.cursor_add(state, replace(event, pos=pos), config)


@seeded_fault(Rule.CURSOR_2, ops.CursorAdd)
def cursor_add_once(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """cursor_add of a member leaves it where it was."""
    if event.cursor in change.cache_of(state, event.cache).members:
        return Step(state, outcomes.Done(), ())
    return cursors.cursor_add(state, event, config)


@seeded_fault(Rule.CURSOR_3, ops.CursorMove)
def cursor_move_forward(state: State, event: ops.CursorMove, config: Config) -> Step:
    """A cursor does not move back."""
    now = change.cache_of(state, event.cache).members.get(event.cursor)
    if now is not None and event.pos is not None and event.pos < now:
        return Step(state, outcomes.Done(), ())
    return cursors.cursor_move(state, event, config)


@seeded_fault(Rule.CURSOR_3, ops.CursorMove, other=True)
def cursor_move_ignoring_null(state: State, event: ops.CursorMove, config: Config) -> Step:
    """A move to nowhere leaves the cursor where it is."""
    return Step(state, outcomes.Done(), ()) if event.pos is None else cursors.cursor_move(state, event, config)


@seeded_fault(Rule.CURSOR_4, ops.CursorMove)
def cursor_move_adding(state: State, event: ops.CursorMove, config: Config) -> Step:
    """cursor_move of an unknown cursor makes it a member."""
    if event.cursor in change.cache_of(state, event.cache).members:
        return cursors.cursor_move(state, event, config)
    return cursors.cursor_add(state, ops.CursorAdd(event.cache, event.cursor, event.pos), config)


@seeded_fault(Rule.CURSOR_5, ops.CursorRemove)
def cursor_remove_tracked(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """cursor_remove answers whether the cursor was tracked."""
    done = cursors.cursor_remove(state, event, config)
    tracked = change.cache_of(state, event.cache).members.get(event.cursor) is not None
    return done._replace(outcome=outcomes.CursorRemoved(tracked))


@seeded_fault(Rule.CURSOR_6, ops.CursorRemove)
def cursor_remove_the_last(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """The grace period starts when the last member leaves, not before."""
    done = cursors.cursor_remove(state, event, config)
    left = change.cache_of(done.state, event.cache)
    if not left.members:
        return done
    start = change.cache_of(state, event.cache).grace_start_nanos
    return done._replace(state=cursors.with_members(done.state, event.cache, left.members, start))


@seeded_fault(Rule.CURSOR_6, ops.CursorRemove, other=True)
def cursor_remove_without_grace(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """The grace period starts with the cache and never again."""
    done = cursors.cursor_remove(state, event, config)
    start = change.cache_of(state, event.cache).grace_start_nanos
    left = change.cache_of(done.state, event.cache).members
    return done._replace(state=cursors.with_members(done.state, event.cache, left, start))


@seeded_fault(Rule.CURSOR_6, ops.CursorRemove, other=True)
def cursor_remove_grace_of_tracked(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """A member that was not tracked starts no grace period."""
    if change.cache_of(state, event.cache).members.get(event.cursor) is not None:
        return cursors.cursor_remove(state, event, config)
    return cursor_remove_without_grace(state, event, config)


@seeded_fault(Rule.CURSOR_6, ops.RemoveCache, other=True)
def remove_cache_with_grace(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """A cache that is named again has a grace period of its own."""
    done = manager.remove_cache(state, event, config)
    left = change.cache_of(done.state, event.cache).members
    return done._replace(state=cursors.with_members(done.state, event.cache, left, state.now_nanos))


@seeded_fault(Rule.CURSOR_7, "cursors.rank_of")
def rank_before(members: Mapping[CursorName, Position | None], cursor: CursorName) -> int:
    """Of the cursors at the same position a rank counts one."""
    own = members.get(cursor)
    return 0 if own is None else 1 + sum(1 for pos in members.values() if pos is not None and pos < own)


@seeded_fault(Rule.CURSOR_7, "cursors.rank_of", other=True)
def rank_with_untracked(members: Mapping[CursorName, Position | None], cursor: CursorName) -> int:
    """A rank counts the members that are not tracked too."""
    right = cursors.rank_of(members, cursor)
    return right and right + list(members.values()).count(None)


@seeded_fault(Rule.CURSOR_8, ops.CursorRank)
def cursor_rank_of_the_heap(state: State, event: ops.CursorRank, config: Config) -> Step:
    """A cursor of the heap container has the rank 0."""
    done = cursors.cursor_rank(state, event, config)
    return done._replace(outcome=outcomes.Ranked(0)) if isinstance(done.outcome, outcomes.Refused) else done


@seeded_fault(Rule.CURSOR_9, ops.Slowest)
def slowest_untracked(state: State, event: ops.Slowest, config: Config) -> Step:
    """slowest takes a member that is not tracked for one at the very start."""
    positions = change.cache_of(state, event.cache).members.values()
    if None in positions and any(pos is not None for pos in positions):
        return Step(state, outcomes.SlowestAt(EARLIEST), ())
    return cursors.slowest(state, event, config)


@seeded_fault(Rule.CURSOR_10, ops.Cursors)
def cursors_tracked(state: State, event: ops.Cursors, config: Config) -> Step:
    """cursors counts the tracked ones."""
    positions = change.cache_of(state, event.cache).members.values()
    return Step(state, outcomes.Members(sum(1 for pos in positions if pos is not None)), ())


@seeded_fault(Rule.CURSOR_11, "cursors.is_in_grace")
def in_grace_by_nanos(cache: Cache, now_nanos: int, grace_millis: int) -> bool:
    """The grace period is measured in nanoseconds."""
    return now_nanos - cache.grace_start_nanos < grace_millis * cursors.NANOS_A_MILLISECOND


@seeded_fault(Rule.CURSOR_12, ops.ShouldCache)
def should_cache_in_the_heap(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """The heap container knows the grace period."""
    return cursors.should_cache(state, event, replace(config, evict_by_expected_reads=True))


@seeded_fault(Rule.CURSOR_13, "cursors.can_move")
def moves_every_member(cache: Cache, cursor: CursorName, config: Config) -> bool:
    """The heap container tracks what is moved."""
    return cursor in cache.members


@seeded_fault(Rule.CURSOR_14, ops.CursorRemove)
def cursor_remove_clearing(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """The last cursor takes the entries of its cache with it."""
    done = cursors.cursor_remove(state, event, config)
    left = change.cache_of(done.state, event.cache)
    if done.state is state or left.members:
        return done
    cleared = change.drop_entries(done.state, event.cache, tuple(left.entries))
    return done._replace(state=cleared._replace(counts=state.counts))


@seeded_fault(Rule.CURSOR_14, ops.CursorRemove, other=True)
def cursor_remove_everywhere(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """A removed cursor leaves every cache."""
    done = cursors.cursor_remove(state, event, config)
    if done.outcome != outcomes.CursorRemoved(True):
        return done
    caches = {
        name: cache._replace(members={other: pos for other, pos in cache.members.items() if other != event.cursor})
        for name, cache in done.state.caches.items()
    }
    return done._replace(state=done.state._replace(caches=caches))
