"""Arguments of the operations of readers: reads, holds and cursors.

Cursors are aimed at each other, so that their order matters. `within_limits` replaces an operation that the limits of
the subject do not allow, or puts other operations before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.entry_arguments import Aim
from entrycache_protocol.system import choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, CursorName, HoldName, Position

EXPECTED_READS: Final = (1, 2, 0, 3, 1, -1)


def hold_of(aim: Aim, state: State) -> HoldName | Absent:
    """Return a hold for half of the reads, mostly under a free name."""
    at = aim.draw(0, 8)
    if at < 4:
        return ABSENT
    free = [name for name in aim.holds if name not in state.holds]
    if at == 8 or not free:
        return aim.holds[at % len(aim.holds)] if at == 8 else ABSENT
    return free[at % len(free)]


def read(aim: Aim, state: State) -> ops.Read:
    """Make a read near a place: whole hits, partial hits, misses, and sometimes a range that is refused."""
    cache, pos = aim.place(state, live_weight=3)
    first = Position(pos.ledger, max(0, pos.entry - (0, 0, 1, 2)[aim.draw(0, 3)]))
    last = Position(pos.ledger, first.entry + choose(aim.draw, aim.widths))
    kind = aim.draw(0, 19)
    if kind == 18:
        last = Position(pos.ledger + 1, last.entry)
    elif kind == 19:
        first, last = last, first
    count = choose(aim.draw, EXPECTED_READS)
    return ops.Read(cache, first, last, count, hold_of(aim, state))


def release(aim: Aim, state: State) -> ops.Release:
    """Release mostly a hold that is open."""
    opened = list(state.holds)
    at = aim.draw(0, 4 * len(opened) + len(aim.holds) - 1)
    return ops.Release(opened[at % len(opened)] if at < 4 * len(opened) else aim.holds[at % len(aim.holds)])


READ_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "read": read,
    "read_one": lambda aim, state: ops.ReadOne(*aim.place(state), hold_of(aim, state)),
    "release": release,
}


def cache_of(aim: Aim) -> CacheName:
    """Return mostly the first cache, so that cursors meet."""
    at = aim.draw(0, 2 * len(aim.cursor_caches) + 1)
    return aim.cursor_caches[at if at < len(aim.cursor_caches) else 0]


def tracked_cursors(state: State, cache: CacheName) -> list[tuple[Position, CursorName]]:
    """Return the tracked cursors of a cache, ascending."""
    if cache not in state.caches:
        return []
    return sorted((pos, name) for name, pos in state.caches[cache].members.items() if pos is not None)


def member(aim: Aim, state: State, cache: CacheName) -> CursorName:
    """Return mostly a member of that cache, else any name."""
    members = list(state.caches[cache].members) if cache in state.caches else []
    at = aim.draw(0, 5 * len(members) + len(aim.cursors) - 1)
    return members[at % len(members)] if at < 5 * len(members) else aim.cursors[at % len(aim.cursors)]


def position(aim: Aim, state: State, cache: CacheName) -> Position | None:
    """Return a position: half of them at or next to another cursor, the rest at places, at ends, or null."""
    kind = aim.draw(0, 9)
    if kind in ((2,) if aim.config.evict_by_expected_reads else (1, 2, 3)) and aim.null_positions:
        return None
    if kind == 3:
        return Position(aim.draw(0, 2) or -1, -1)
    others = tracked_cursors(state, cache) if kind >= 4 else []
    if not others:
        return aim.place(state)[1]
    at = aim.draw(0, 3 * len(others) - 1)
    pos = others[at % len(others)][0]
    return Position(pos.ledger, max(-1, pos.entry + (0, 1, -1)[at // len(others)]))


def cursor_add(aim: Aim, state: State) -> ops.CursorAdd:
    """Make a `cursor_add` of one of a few names, a member or not."""
    cache = cache_of(aim)
    name = aim.cursors[aim.draw(0, len(aim.cursors) - 1)]
    return ops.CursorAdd(cache, name, position(aim, state, cache))


def cursor_move(aim: Aim, state: State) -> ops.CursorMove:
    """Make a move to anywhere or in lockstep, where the last cursor catches up with the first."""
    cache = cache_of(aim)
    others = tracked_cursors(state, cache)
    if aim.draw(0, 2) < 2 or not others:
        return ops.CursorMove(cache, member(aim, state, cache), position(aim, state, cache))
    lowest, last = others[0]
    highest = others[-1][0]
    return ops.CursorMove(cache, last, Position(lowest.ledger, lowest.entry + 1) if lowest == highest else highest)


def cursor_remove(aim: Aim, state: State) -> ops.CursorRemove:
    """Make a `cursor_remove`, mostly of a member; half of them are the only member of their cache."""
    alone = [name for name, cache in state.caches.items() if len(cache.members) == 1]
    at = aim.draw(0, 2 * len(alone)) if alone else 0
    cache = alone[(at - 1) // 2] if at else cache_of(aim)
    return ops.CursorRemove(cache, member(aim, state, cache))


def cursor_rank(aim: Aim, state: State) -> ops.CursorRank:
    """Make a `cursor_rank`, mostly of a member."""
    cache = cache_of(aim)
    return ops.CursorRank(cache, member(aim, state, cache))


def should_cache(aim: Aim, state: State) -> ops.ShouldCache:
    """Make a `should_cache`, mostly of a cache without readers, where the grace period decides."""
    unread = [name for name, cache in state.caches.items() if not cache.members]
    at = aim.draw(0, 3 * len(unread))
    return ops.ShouldCache(unread[(at - 1) % len(unread)] if at else aim.cache())


CURSOR_MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "cursor_add": cursor_add,
    "cursor_move": cursor_move,
    "cursor_remove": cursor_remove,
    "cursor_rank": cursor_rank,
    "slowest": lambda aim, state: ops.Slowest(cache_of(aim)),
    "cursors": lambda aim, state: ops.Cursors(cache_of(aim)),
    "should_cache": should_cache,
}


Members = Mapping[CursorName, Position | None]


def within_limits(aim: Aim, state: State, op: Any) -> Any:
    """Return the operation, or its replacement within the limits of the subject."""
    if isinstance(op, ops.CursorAdd) and not aim.config.evict_by_expected_reads:
        return _into_the_heap(aim, state, op)
    if isinstance(op, ops.Configure) and op.max_requeues is not ABSENT and aim.limits.max_requeues is not None:
        return replace(op, max_requeues=min(aim.limits.max_requeues, op.max_requeues))
    if isinstance(op, ops.CursorRank | ops.Slowest) and not aim.limits.tail_ties:
        return _break_ties(aim, state, op)
    return op


def members_of(state: State, cache: CacheName) -> Members:
    """Return the members of a cache."""
    return state.caches[cache].members if cache in state.caches else {}


def _into_the_heap(aim: Aim, state: State, op: ops.CursorAdd) -> Any:
    """Return a move instead of a repeated add, and a removal instead of an add for which there is no room."""
    members = members_of(state, op.cache)
    if op.cursor in members:
        return op if aim.limits.readd_members else ops.CursorMove(op.cache, op.cursor, op.pos)
    full = aim.limits.heap_members is not None and len(members) >= aim.limits.heap_members
    return ops.CursorRemove(op.cache, next(iter(members))) if full else op


def _break_ties(aim: Aim, state: State, op: ops.CursorRank | ops.Slowest) -> Any:
    """Return the query, after a move of every tracked cursor if the foremost one has left a tie or come to one."""
    now = members_of(state, op.cache)
    before = aim.looked_at.get(op.cache, {})
    aim.looked_at[op.cache] = dict(now)
    if not at_risk(before, now):
        return op
    tracked = [(name, pos) for name, pos in now.items() if pos is not None]
    aim.pending_ops = [op, *(ops.CursorMove(op.cache, name, pos) for name, pos in tracked)]
    return aim.pending_ops.pop()


def at_risk(before: Members, now: Members) -> bool:
    """Return whether a cursor at the tail may have moved since the last query while a tie is possible.

    A cursor may have been at the tail if no cursor before it has stayed where it was.
    """
    for name, pos in now.items():
        former = before.get(name)
        if former is None or pos is None or former == pos:
            continue
        others = [other for other in now if other != name]
        if any(_stayed_ahead(before.get(other), now[other], former) for other in others):
            continue
        about = {before.get(other) for other in others} | {now[other] for other in others}
        if former in about or pos in about:
            return True
    return False


def _stayed_ahead(before: Position | None, now: Position | None, former: Position) -> bool:
    return before is not None and before == now and before > former
