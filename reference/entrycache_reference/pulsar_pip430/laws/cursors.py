"""The laws about the members of the active-cursor container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, always
from entrycache_reference.pulsar_pip430.ops import (
    CursorAdd,
    CursorMove,
    CursorRank,
    CursorRemove,
    Cursors,
    Op,
    ShouldCache,
    Slowest,
)
from entrycache_reference.pulsar_pip430.outcomes import CursorRemoved, Done
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position

Tracked = Mapping[CursorName, Position | None]


def members_of(state: State, name: CacheName) -> Tracked:
    """The cursors of a cache with their positions; none where it is not known."""
    cache = state.caches.get(name)
    return {} if cache is None else cache.members


def is_new(config: Config, pre: State, event: CursorAdd, step: Step) -> bool:
    """The cursor is no member."""
    return event.cursor not in members_of(pre, event.cache)


def is_member(config: Config, pre: State, event: CursorAdd, step: Step) -> bool:
    """The cursor is a member."""
    return event.cursor in members_of(pre, event.cache)


def stands_there(config: Config, pre: State, event: CursorAdd | CursorMove, step: Step) -> bool:
    """R-CURSOR-1, R-CURSOR-2, R-CURSOR-3."""
    return step.outcome == Done() and members_of(step.state, event.cache) == {
        **members_of(pre, event.cache),
        event.cursor: event.pos,
    }


def takes_effect(config: Config, pre: State, event: CursorMove, step: Step) -> bool:
    """The cursor is a member, in the heap container one that is tracked."""
    members = members_of(pre, event.cache)
    return event.cursor in members and (config.evict_by_expected_reads or members[event.cursor] is not None)


def is_unknown(config: Config, pre: State, event: CursorMove, step: Step) -> bool:
    """The cursor is no member."""
    return event.cursor not in members_of(pre, event.cache)


def untracked_in_the_heap(config: Config, pre: State, event: CursorMove, step: Step) -> bool:
    """The container is the heap one, and the cursor a member that is not tracked."""
    members = members_of(pre, event.cache)
    return not config.evict_by_expected_reads and event.cursor in members and members[event.cursor] is None


def nobody_moves(config: Config, pre: State, event: CursorMove, step: Step) -> bool:
    """R-CURSOR-4, R-CURSOR-13."""
    return step.outcome == Done() and members_of(step.state, event.cache) == members_of(pre, event.cache)


def is_out(config: Config, pre: State, event: CursorRemove, step: Step) -> bool:
    """R-CURSOR-5."""
    members = dict(members_of(pre, event.cache))
    was_member = event.cursor in members
    members.pop(event.cursor, None)
    return step.outcome == CursorRemoved(was_member) and members_of(step.state, event.cache) == members


def touches_cursors_only(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-CURSOR-14; that the grace period starts only where it has to is a matter of R-CURSOR-6."""
    after = step.state
    if after is pre:
        return True
    if after._replace(caches=pre.caches) != pre:
        return False
    own = getattr(event, "cache", None)
    looks = type(event) in LOOKING
    for name, cache in after.caches.items():
        before = pre.caches.get(name)
        if before is cache:
            continue
        entries, size_bytes, members = ({}, 0, {}) if before is None else before[:3]
        if (cache.entries, cache.size_bytes) != (entries, size_bytes):
            return False
        if cache.members != members and (looks or name != own):
            return False
    return True


LOOKING: Final = frozenset({CursorRank, Slowest, Cursors, ShouldCache})

LAWS: Final = (
    Law(Rule.CURSOR_1, (CursorAdd,), is_new, stands_there, True),
    Law(Rule.CURSOR_2, (CursorAdd,), is_member, stands_there, True),
    Law(Rule.CURSOR_3, (CursorMove,), takes_effect, stands_there, True),
    Law(Rule.CURSOR_4, (CursorMove,), is_unknown, nobody_moves, True),
    Law(Rule.CURSOR_5, (CursorRemove,), always, is_out, True),
    Law(Rule.CURSOR_13, (CursorMove,), untracked_in_the_heap, nobody_moves, True),
    Law(Rule.CURSOR_14, (CursorAdd, CursorMove, CursorRemove, *LOOKING), always, touches_cursors_only, True),
)
