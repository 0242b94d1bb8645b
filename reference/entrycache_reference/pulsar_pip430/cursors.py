"""Operations on the container of active cursors of one cache: `cursor_add` to `should_cache`.

A cache knows its member cursors and, of those that are tracked, the positions. Members decide whether a new entry is
cached; ranks say how many cursors are at or behind a position. After the last member leaves, the grace period goes on
for a while. With `evict_by_expected_reads` off, the container is the older heap, which knows no ranks and no grace.

Beside: ActiveManagedCursorContainerImpl.add, .updateCursor, .removeCursor, .size (managed-ledger 4.2.4)
"""

from collections.abc import Mapping

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.change import cache_of, cursor_row
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Cache, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position

NANOS_A_MILLISECOND = 1_000_000


def with_members(
    state: State, name: CacheName, members: Mapping[CursorName, Position | None], grace_start_nanos: int
) -> State:
    """Return the state with these cursors of one cache."""
    cache = cache_of(state, name)._replace(members=members, grace_start_nanos=grace_start_nanos)
    return state._replace(caches={**state.caches, name: cache})


def place_cursor(state: State, name: CacheName, cursor: CursorName, pos: Position | None) -> State:
    """Return the state with this cursor a member at that position."""
    cache = cache_of(state, name)
    return with_members(state, name, {**cache.members, cursor: pos}, cache.grace_start_nanos)


@rule(Rule.CURSOR_1, Rule.CURSOR_2, Rule.CURSOR_14)
def cursor_add(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """Make a cursor a member; an existing member only changes its position."""
    # GUARD: none.  DECISION: none.
    # EFFECT: only this cursor's position.
    is_member = event.cursor in cache_of(state, event.cache).members
    after = place_cursor(state, event.cache, event.cursor, event.pos)

    # OUTCOME
    rule = Rule.CURSOR_2 if is_member else Rule.CURSOR_1
    return Step(after, outcomes.Done(), (cursor_row(rule, "CURSOR_ADD", after, event.cache, event.cursor, event.pos),))


@rule(Rule.CURSOR_3, Rule.CURSOR_4, Rule.CURSOR_13)
def can_move(cache: Cache, cursor: CursorName, config: Config) -> bool:
    """Return whether a move takes effect: only for a member, in the heap container only for a tracked one."""
    if cursor not in cache.members:
        return False
    return config.evict_by_expected_reads or cache.members[cursor] is not None


@rule(Rule.CURSOR_3, Rule.CURSOR_4, Rule.CURSOR_13, Rule.CURSOR_14)
def cursor_move(state: State, event: ops.CursorMove, config: Config) -> Step:
    """Move a member; null stops its tracking."""
    # GUARD: none.
    # DECISION: an unknown cursor is ignored, and in the heap container one that is not tracked.
    if not can_move(cache_of(state, event.cache), event.cursor, config):
        return Step(state, outcomes.Done(), ())

    # EFFECT: only this cursor's position.
    after = place_cursor(state, event.cache, event.cursor, event.pos)

    # OUTCOME
    row = cursor_row(Rule.CURSOR_3, "CURSOR_MOVE", after, event.cache, event.cursor, event.pos)
    return Step(after, outcomes.Done(), (row,))


@rule(Rule.CURSOR_5, Rule.CURSOR_6, Rule.CURSOR_14)
def cursor_remove(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """Remove a member."""
    # GUARD: none.
    # DECISION: removing what is no member changes nothing.
    members = cache_of(state, event.cache).members
    if event.cursor not in members:
        return Step(state, outcomes.CursorRemoved(False), ())

    # EFFECT: it is no member any more, and the grace period starts again.
    left = {name: pos for name, pos in members.items() if name != event.cursor}
    after = with_members(state, event.cache, left, state.now_nanos)

    # OUTCOME
    row = cursor_row(Rule.CURSOR_5, "CURSOR_REMOVE", after, event.cache, event.cursor, None)
    return Step(after, outcomes.CursorRemoved(True), (row,))


@rule(Rule.CURSOR_7)
def rank_of(members: Mapping[CursorName, Position | None], cursor: CursorName) -> int:
    """Return how many tracked cursors are at or before this one, itself included; 0 if it is not tracked."""
    own = members.get(cursor)
    if own is None:
        return 0
    return sum(1 for pos in members.values() if pos is not None and pos <= own)


@rule(Rule.CURSOR_7, Rule.CURSOR_8, Rule.CURSOR_14)
def cursor_rank(state: State, event: ops.CursorRank, config: Config) -> Step:
    """Return how many readers have still to pass."""
    # GUARD: the heap container knows no ranks.
    if not config.evict_by_expected_reads:
        return Step(state, outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, outcomes.Ranked(rank_of(cache_of(state, event.cache).members, event.cursor)), ())


@rule(Rule.CURSOR_9, Rule.CURSOR_14)
def slowest(state: State, event: ops.Slowest, config: Config) -> Step:
    """Return the lowest tracked position."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    tracked = [pos for pos in cache_of(state, event.cache).members.values() if pos is not None]
    return Step(state, outcomes.SlowestAt(min(tracked, default=None)), ())


@rule(Rule.CURSOR_10, Rule.CURSOR_14)
def cursors(state: State, event: ops.Cursors, config: Config) -> Step:
    """Return the number of members."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, outcomes.Members(len(cache_of(state, event.cache).members)), ())


@rule(Rule.CURSOR_11)
def is_in_grace(cache: Cache, now_nanos: int, grace_millis: int) -> bool:
    """Return whether the grace period goes on: the clock is read twice, each time in whole milliseconds."""
    now_millis = now_nanos // NANOS_A_MILLISECOND
    start_millis = cache.grace_start_nanos // NANOS_A_MILLISECOND
    return now_millis - start_millis < grace_millis


@rule(Rule.CURSOR_11, Rule.CURSOR_12, Rule.CONFIG_4, Rule.CURSOR_14)
def should_cache(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """Return whether an entry that is added now should be cached."""
    # GUARD: none.
    # DECISION: while there is a member, or, in the active container, for the grace period.
    cache = cache_of(state, event.cache)
    wanted = bool(cache.members)
    if config.evict_by_expected_reads and not wanted:
        wanted = is_in_grace(cache, state.now_nanos, config.effective_grace_millis)

    # EFFECT: none.
    # OUTCOME
    return Step(state, outcomes.Wanted(wanted), ())
