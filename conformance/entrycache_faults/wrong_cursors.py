"""Wrong versions of the reference's functions of level `cursors`, each with one error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_reference.pulsar_pip430 import change, cursors, manage, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.vocabulary import CursorName, Position

EARLIEST: Final = Position(-1, -1)

_Members = Mapping[CursorName, Position | None]


def cursor_add_at_the_start(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """R-CURSOR-1."""
    is_member = event.cursor in change.cache_of(state, event.cache).members
    pos = EARLIEST if event.pos is None and not is_member else event.pos
    return cursors.cursor_add(state, replace(event, pos=pos), config)


def cursor_add_once(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """R-CURSOR-2."""
    if event.cursor in change.cache_of(state, event.cache).members:
        return Step(state, outcomes.Done(), ())
    return cursors.cursor_add(state, event, config)


def cursor_move_forward(state: State, event: ops.CursorMove, config: Config) -> Step:
    """R-CURSOR-3."""
    now = change.cache_of(state, event.cache).members.get(event.cursor)
    if now is not None and event.pos is not None and event.pos < now:
        return Step(state, outcomes.Done(), ())
    return cursors.cursor_move(state, event, config)


def cursor_move_adding(state: State, event: ops.CursorMove, config: Config) -> Step:
    """R-CURSOR-4."""
    if event.cursor in change.cache_of(state, event.cache).members:
        return cursors.cursor_move(state, event, config)
    return cursors.cursor_add(state, ops.CursorAdd(event.cache, event.cursor, event.pos), config)


def cursor_remove_tracked(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """R-CURSOR-5."""
    done = cursors.cursor_remove(state, event, config)
    tracked = change.cache_of(state, event.cache).members.get(event.cursor) is not None
    return done._replace(outcome=outcomes.CursorRemoved(tracked))


def cursor_remove_the_last(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """R-CURSOR-6."""
    done = cursors.cursor_remove(state, event, config)
    left = change.cache_of(done.state, event.cache)
    if not left.members:
        return done
    start = change.cache_of(state, event.cache).grace_start_nanos
    return done._replace(state=cursors.with_members(done.state, event.cache, left.members, start))


def rank_before(members: _Members, cursor: CursorName) -> int:
    """R-CURSOR-7."""
    own = members.get(cursor)
    return 0 if own is None else 1 + sum(1 for pos in members.values() if pos is not None and pos < own)


def cursor_rank_of_the_heap(state: State, event: ops.CursorRank, config: Config) -> Step:
    """R-CURSOR-8."""
    done = cursors.cursor_rank(state, event, config)
    return done._replace(outcome=outcomes.Ranked(0)) if isinstance(done.outcome, outcomes.Refused) else done


def slowest_untracked(state: State, event: ops.Slowest, config: Config) -> Step:
    """R-CURSOR-9."""
    positions = change.cache_of(state, event.cache).members.values()
    if None in positions and any(pos is not None for pos in positions):
        return Step(state, outcomes.SlowestAt(EARLIEST), ())
    return cursors.slowest(state, event, config)


def cursors_tracked(state: State, event: ops.Cursors, config: Config) -> Step:
    """R-CURSOR-10."""
    positions = change.cache_of(state, event.cache).members.values()
    return Step(state, outcomes.Members(sum(1 for pos in positions if pos is not None)), ())


def in_grace_by_nanos(cache: Cache, now_nanos: int, grace_millis: int) -> bool:
    """R-CURSOR-11."""
    return now_nanos - cache.grace_start_nanos < grace_millis * cursors.NANOS_A_MILLISECOND


def should_cache_in_the_heap(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """R-CURSOR-12."""
    return cursors.should_cache(state, event, replace(config, evict_by_expected_reads=True))


def should_cache_by_present_ttl(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """R-CONFIG-4."""
    return cursors.should_cache(state, event, replace(config, ttl_nanos=state.settings.ttl_nanos))


def moves_every_member(cache: Cache, cursor: CursorName, config: Config) -> bool:
    """R-CURSOR-13."""
    return cursor in cache.members


def cursor_remove_clearing(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """R-CURSOR-14."""
    done = cursors.cursor_remove(state, event, config)
    left = change.cache_of(done.state, event.cache)
    if done.state is state or left.members:
        return done
    cleared = change.drop_entries(done.state, event.cache, tuple(left.entries))
    return done._replace(state=cleared._replace(counts=state.counts))


def cursor_move_ignoring_null(state: State, event: ops.CursorMove, config: Config) -> Step:
    """R-CURSOR-3: a move to nowhere leaves the cursor where it is."""
    return Step(state, outcomes.Done(), ()) if event.pos is None else cursors.cursor_move(state, event, config)


def cursor_remove_everywhere(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """R-CURSOR-14: a removed cursor leaves every cache."""
    done = cursors.cursor_remove(state, event, config)
    if done.outcome != outcomes.CursorRemoved(True):
        return done
    caches = {
        name: cache._replace(members={other: pos for other, pos in cache.members.items() if other != event.cursor})
        for name, cache in done.state.caches.items()
    }
    return done._replace(state=done.state._replace(caches=caches))


def cursor_remove_without_grace(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """R-CURSOR-6: the grace period starts with the cache and never again."""
    done = cursors.cursor_remove(state, event, config)
    start = change.cache_of(state, event.cache).grace_start_nanos
    left = change.cache_of(done.state, event.cache).members
    return done._replace(state=cursors.with_members(done.state, event.cache, left, start))


def cursor_remove_grace_of_tracked(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """R-CURSOR-6: a member that was not tracked starts no grace period."""
    if change.cache_of(state, event.cache).members.get(event.cursor) is not None:
        return cursors.cursor_remove(state, event, config)
    return cursor_remove_without_grace(state, event, config)


def remove_cache_with_grace(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """R-CURSOR-6: a cache that is named again has a grace period of its own."""
    done = manage.remove_cache(state, event, config)
    left = change.cache_of(done.state, event.cache).members
    return done._replace(state=cursors.with_members(done.state, event.cache, left, state.now_nanos))
