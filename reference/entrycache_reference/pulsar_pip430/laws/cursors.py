"""The laws about the container of active cursors: its members, ranks, the slowest position, and the grace period.

The laws of members compare the cursors before and after a step. The laws of ranks compute each answer once more, from
the sorted positions of the tracked cursors. The grace period starts with the cache and with each removal of a member;
its length comes from the configuration, not from the present settings.
"""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, always
from entrycache_reference.pulsar_pip430.laws.state import is_to_refuse, refuses
from entrycache_reference.pulsar_pip430.outcomes import CursorRemoved, Done, Members, Ranked, Refused, SlowestAt, Wanted
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position

Tracked = Mapping[CursorName, Position | None]


def members_of(state: State, name: CacheName) -> Tracked:
    """Return the cursors of a cache with their positions; none if the cache is unknown."""
    cache = state.caches.get(name)
    return {} if cache is None else cache.members


def is_new(config: Config, pre: State, event: ops.CursorAdd, step: Step) -> bool:
    """Return whether the cursor is not a member."""
    return event.cursor not in members_of(pre, event.cache)


def is_member(config: Config, pre: State, event: ops.CursorAdd, step: Step) -> bool:
    """Return whether the cursor is a member."""
    return event.cursor in members_of(pre, event.cache)


def stands_there(config: Config, pre: State, event: ops.CursorAdd | ops.CursorMove, step: Step) -> bool:
    """Check R-CURSOR-1, R-CURSOR-2, R-CURSOR-3."""
    return step.outcome == Done() and members_of(step.state, event.cache) == {
        **members_of(pre, event.cache),
        event.cursor: event.pos,
    }


def takes_effect(config: Config, pre: State, event: ops.CursorMove, step: Step) -> bool:
    """Return whether the cursor is a member, and in the heap container a tracked one."""
    members = members_of(pre, event.cache)
    return event.cursor in members and (config.evict_by_expected_reads or members[event.cursor] is not None)


def is_unknown(config: Config, pre: State, event: ops.CursorMove, step: Step) -> bool:
    """Return whether the cursor is not a member."""
    return event.cursor not in members_of(pre, event.cache)


def untracked_in_the_heap(config: Config, pre: State, event: ops.CursorMove, step: Step) -> bool:
    """Return whether the container is the heap, and the cursor is a member that is not tracked."""
    members = members_of(pre, event.cache)
    return not config.evict_by_expected_reads and event.cursor in members and members[event.cursor] is None


def nobody_moves(config: Config, pre: State, event: ops.CursorMove, step: Step) -> bool:
    """Check R-CURSOR-4, R-CURSOR-13."""
    return step.outcome == Done() and members_of(step.state, event.cache) == members_of(pre, event.cache)


def is_out(config: Config, pre: State, event: ops.CursorRemove, step: Step) -> bool:
    """Check R-CURSOR-5."""
    members = dict(members_of(pre, event.cache))
    was_member = event.cursor in members
    members.pop(event.cursor, None)
    return step.outcome == CursorRemoved(was_member) and members_of(step.state, event.cache) == members


def touches_cursors_only(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-CURSOR-14; R-CURSOR-6 checks that the grace period starts only when it has to."""
    after = step.state
    if after is pre:
        return True
    if after._replace(caches=pre.caches) != pre:
        return False
    own = getattr(event, "cache", None)
    only_observes = type(event) in LOOKING
    for name, cache in after.caches.items():
        before = pre.caches.get(name)
        if before is cache:
            continue
        entries, size_bytes, members = ({}, 0, {}) if before is None else before[:3]
        if (cache.entries, cache.size_bytes) != (entries, size_bytes):
            return False
        if cache.members != members and (only_observes or name != own):
            return False
    return True


LOOKING: Final = frozenset({ops.CursorRank, ops.Slowest, ops.Cursors, ops.ShouldCache})

CURSORS_LAWS: Final = (
    Law(Rule.CURSOR_1, (ops.CursorAdd,), is_new, stands_there, True),
    Law(Rule.CURSOR_2, (ops.CursorAdd,), is_member, stands_there, True),
    Law(Rule.CURSOR_3, (ops.CursorMove,), takes_effect, stands_there, True),
    Law(Rule.CURSOR_4, (ops.CursorMove,), is_unknown, nobody_moves, True),
    Law(Rule.CURSOR_5, (ops.CursorRemove,), always, is_out, True),
    Law(Rule.CURSOR_13, (ops.CursorMove,), untracked_in_the_heap, nobody_moves, True),
    Law(
        Rule.CURSOR_14, (ops.CursorAdd, ops.CursorMove, ops.CursorRemove, *LOOKING), always, touches_cursors_only, True
    ),
)


# Laws about ranks, the slowest position and the grace period.


def tracked(state: State, name: CacheName) -> list[Position]:
    """Return the positions of the tracked cursors of a cache, ascending."""
    return sorted(pos for pos in members_of(state, name).values() if pos is not None)


def knows_ranks(config: Config, pre: State, event: ops.CursorRank, step: Step) -> bool:
    """Return whether the container is the active one."""
    return config.evict_by_expected_reads


def counts_up_to_it(config: Config, pre: State, event: ops.CursorRank, step: Step) -> bool:
    """Check R-CURSOR-7."""
    own = members_of(pre, event.cache).get(event.cursor)
    return step.outcome == Ranked(0 if own is None else bisect_right(tracked(pre, event.cache), own))


def is_the_first(config: Config, pre: State, event: ops.Slowest, step: Step) -> bool:
    """Check R-CURSOR-9."""
    positions = tracked(pre, event.cache)
    return step.outcome == SlowestAt(positions[0] if positions else None)


def counts_members(config: Config, pre: State, event: ops.Cursors, step: Step) -> bool:
    """Check R-CURSOR-10."""
    return step.outcome == Members(len(members_of(pre, event.cache)))


LEAVING: Final = (ops.CursorRemove, ops.Deactivate, ops.CursorClose)
"""The operations by which a cursor leaves the container."""


def grace_in_question(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether a member was to be removed, a cache began to exist, or a grace period was started."""
    before, after = pre.caches, step.state.caches
    if after is before:
        return False
    if type(event) in LEAVING or len(after) != len(before):
        return True
    for name, cache in after.items():
        known = before.get(name)
        if known is not cache and (known is None or known.grace_start_nanos != cache.grace_start_nanos):
            return True
    return False


def starts_where_it_has_to(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-CURSOR-6."""
    for name, cache in step.state.caches.items():
        before = pre.caches.get(name)
        own = isinstance(event, LEAVING) and event.cache == name
        removed = (
            own and getattr(event, "cursor", None) in members_of(pre, name) and not isinstance(step.outcome, Refused)
        )
        wanted = pre.now_nanos if before is None or removed else before.grace_start_nanos
        if cache.grace_start_nanos != wanted:
            return False
    return True


def grace_was_reset(config: Config, pre: State, event: ops.ShouldCache, step: Step) -> bool:
    """Return whether the grace period has its default length and the time to live was changed since."""
    if not config.evict_by_expected_reads or pre.settings.ttl_nanos == config.ttl_nanos:
        return False
    return config.grace_millis is None or config.grace_millis == config.ttl_nanos // 500_000


def grace_counts(config: Config, pre: State, event: ops.ShouldCache, step: Step) -> bool:
    """Return whether the container is the active one; a changed time to live is left to R-CONFIG-4."""
    return config.evict_by_expected_reads and not grace_was_reset(config, pre, event, step)


def wanted_while_in_grace(config: Config, pre: State, event: ops.ShouldCache, step: Step) -> bool:
    """Check R-CURSOR-11, R-CONFIG-4."""
    grace_millis = config.ttl_nanos // 500_000 if config.grace_millis is None else config.grace_millis
    cache = pre.caches.get(event.cache, Cache({}, 0, {}, pre.now_nanos))
    now_millis, _ = divmod(pre.now_nanos, 10**6)
    start_millis, _ = divmod(cache.grace_start_nanos, 10**6)
    return step.outcome == Wanted(bool(cache.members) or start_millis + grace_millis > now_millis)


def is_the_heap(config: Config, pre: State, event: ops.ShouldCache, step: Step) -> bool:
    """Return whether the container is the heap."""
    return not config.evict_by_expected_reads


def wanted_by_members(config: Config, pre: State, event: ops.ShouldCache, step: Step) -> bool:
    """Check R-CURSOR-12."""
    return step.outcome == Wanted(bool(members_of(pre, event.cache)))


CURSOR_RANKS_LAWS: Final = (
    Law(Rule.CURSOR_6, (), grace_in_question, starts_where_it_has_to, True),
    Law(Rule.CURSOR_7, (ops.CursorRank,), knows_ranks, counts_up_to_it, True),
    Law(Rule.CURSOR_8, (ops.CursorRank,), is_to_refuse, refuses, True),
    Law(Rule.CURSOR_9, (ops.Slowest,), always, is_the_first, True),
    Law(Rule.CURSOR_10, (ops.Cursors,), always, counts_members, True),
    Law(Rule.CURSOR_11, (ops.ShouldCache,), grace_counts, wanted_while_in_grace, True),
    Law(Rule.CURSOR_12, (ops.ShouldCache,), is_the_heap, wanted_by_members, True),
    Law(Rule.CONFIG_4, (ops.ShouldCache,), grace_was_reset, wanted_while_in_grace, True),
)
