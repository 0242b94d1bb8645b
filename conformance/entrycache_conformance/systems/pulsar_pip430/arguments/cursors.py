"""Level `cursors`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import CacheName, CursorName, Position


def cache_of(aim: Aim) -> CacheName:
    """Mostly the first cache: cursors shall meet."""
    at = aim.draw(0, 2 * len(aim.cursor_caches) + 1)
    return aim.cursor_caches[at if at < len(aim.cursor_caches) else 0]


def tracked(state: State, cache: CacheName) -> list[tuple[Position, CursorName]]:
    """The tracked cursors of a cache, ascending."""
    if cache not in state.caches:
        return []
    return sorted((pos, name) for name, pos in state.caches[cache].members.items() if pos is not None)


def member(aim: Aim, state: State, cache: CacheName) -> CursorName:
    """Mostly a member of that cache, else any name."""
    members = list(state.caches[cache].members) if cache in state.caches else []
    at = aim.draw(0, 5 * len(members) + len(aim.cursors) - 1)
    return members[at % len(members)] if at < 5 * len(members) else aim.cursors[at % len(aim.cursors)]


def position(aim: Aim, state: State, cache: CacheName) -> Position | None:
    """Half of them at another cursor, one entry above it or one below it; the rest at places, at ends, or null."""
    kind = aim.draw(0, 9)
    if kind in ((2,) if aim.config.evict_by_expected_reads else (1, 2, 3)) and aim.null_positions:
        return None
    if kind == 3:
        return Position(aim.draw(0, 2) or -1, -1)
    others = tracked(state, cache) if kind >= 4 else []
    if not others:
        return aim.place(state)[1]
    at = aim.draw(0, 3 * len(others) - 1)
    pos = others[at % len(others)][0]
    return Position(pos.ledger, max(-1, pos.entry + (0, 1, -1)[at // len(others)]))


def cursor_add(aim: Aim, state: State) -> ops.CursorAdd:
    """A name out of few, a member or not."""
    cache = cache_of(aim)
    name = aim.cursors[aim.draw(0, len(aim.cursors) - 1)]
    return ops.CursorAdd(cache, name, position(aim, state, cache))


def cursor_move(aim: Aim, state: State) -> ops.CursorMove:
    """A move to anywhere, or in lockstep: the last one catches up with the first, or starts when all are level."""
    cache = cache_of(aim)
    others = tracked(state, cache)
    if aim.draw(0, 2) < 2 or not others:
        return ops.CursorMove(cache, member(aim, state, cache), position(aim, state, cache))
    lowest, last = others[0]
    highest = others[-1][0]
    return ops.CursorMove(cache, last, Position(lowest.ledger, lowest.entry + 1) if lowest == highest else highest)


def cursor_remove(aim: Aim, state: State) -> ops.CursorRemove:
    """Mostly a member; half of them out of a cache of which it is the only one."""
    alone = [name for name, cache in state.caches.items() if len(cache.members) == 1]
    at = aim.draw(0, 2 * len(alone)) if alone else 0
    cache = alone[(at - 1) // 2] if at else cache_of(aim)
    return ops.CursorRemove(cache, member(aim, state, cache))


def cursor_rank(aim: Aim, state: State) -> ops.CursorRank:
    """Mostly a member."""
    cache = cache_of(aim)
    return ops.CursorRank(cache, member(aim, state, cache))


def should_cache(aim: Aim, state: State) -> ops.ShouldCache:
    """Mostly of a cache that nobody reads: there the grace period decides."""
    unread = [name for name, cache in state.caches.items() if not cache.members]
    at = aim.draw(0, 3 * len(unread))
    return ops.ShouldCache(unread[(at - 1) % len(unread)] if at else aim.cache())


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "cursor_add": cursor_add,
    "cursor_move": cursor_move,
    "cursor_remove": cursor_remove,
    "cursor_rank": cursor_rank,
    "slowest": lambda aim, state: ops.Slowest(cache_of(aim)),
    "cursors": lambda aim, state: ops.Cursors(cache_of(aim)),
    "should_cache": should_cache,
}
