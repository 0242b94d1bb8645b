"""Operations on the entries of one cache, and reads through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_legacy.arguments.arguments import Aim, offer
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.state import State
from entrycache_reference.vocabulary import CacheName, Position

SIZES: Final = (1, 2, 3, 10, 0, 7, 5, 30, 49, -1)
AIMED_BYTES_MAX: Final = 10_000
"""Sizes are aimed at limits up to here; no subject is asked to hold more for that."""


def size_of(aim: Aim, state: State, cache: CacheName) -> int:
    """A size: half of them bring the bytes to a threshold, or the cache to the bytes of another one."""
    limit = aim.config.max_size_bytes
    at = aim.draw(0, 2 * len(SIZES) - 1)
    if at < len(SIZES):
        return min(aim.max_size, SIZES[at])
    own = state.caches[cache].size_bytes if cache in state.caches else 0
    wanted = [other.size_bytes - own for other in state.caches.values() if other.size_bytes > own]
    if wanted and aim.draw(0, 1) == 1:
        return min(aim.max_size, wanted[aim.draw(0, len(wanted) - 1)])
    if not 0 < limit <= AIMED_BYTES_MAX:
        return min(aim.max_size, at)
    bounds = [int(limit * 0.98), int(limit * aim.config.watermark), limit, limit - 1]
    return min(aim.max_size, max(0, aim.near([bound - state.size_bytes for bound in bounds])))


def insert(aim: Aim, state: State) -> ops.Insert:
    """An offer; two in seven bring the bytes above the trigger, and there most are of what a pass would evict."""
    cache, pos = aim.place(state, live_weight=1)
    brink = to_the_brink(aim, state)
    if brink == 0 and state.scheduled_bytes is None and aim.draw(0, 7) > 0:
        return first_to_go(aim, state)
    kind = aim.draw(0, 6)
    if kind >= 5 and brink > 0:
        return offer(aim, cache, pos, min(aim.max_size, brink))
    if kind == 4 and state.caches:
        cache = min(aim.caches, key=lambda name: state.caches[name].size_bytes if name in state.caches else 0)
    elif kind == 3 and cache in state.caches:
        lowest = min(state.caches[cache].entries)
        pos = lowest._replace(entry=max(0, lowest.entry - 1))
    return offer(aim, cache, pos, size_of(aim, state, cache))


def to_the_brink(aim: Aim, state: State) -> int:
    """The size that brings the bytes to one below the limit, where that is above the trigger; else below 0."""
    most = aim.config.max_size_bytes - 1
    is_above = int(aim.config.max_size_bytes * 0.98) < most <= AIMED_BYTES_MAX
    return most - state.size_bytes if is_above else -1


def first_to_go(aim: Aim, state: State) -> ops.Insert:
    """An offer of what the size pass takes first: the lowest position of the largest cache."""
    cache = max(sorted(state.caches), key=lambda name: state.caches[name].size_bytes)
    return offer(aim, cache, min(state.caches[cache].entries), SIZES[aim.draw(0, 4)])


def bounds(aim: Aim, state: State) -> tuple[CacheName, Position, Position]:
    """Two bounds, mostly in order, mostly at a cached position, next to one, or at an end of everything."""
    cache, first = aim.place(state, live_weight=12)
    entries = state.caches[cache].entries if cache in state.caches else {}
    ends = [*sorted(entries), Position(first.ledger, first.entry + 1), Position(-1, -1), Position(3, 0)]
    at = aim.draw(0, 4 * len(ends) - 1)
    last = ends[at % len(ends)]
    if first > last and at < 3 * len(ends):
        first, last = last, first
    return cache, first, last


def read(aim: Aim, state: State) -> ops.Read:
    """A range about a place, cached or not: whole hits, partial ones, misses; now and then one that is refused."""
    cache, pos = aim.place(state, live_weight=3)
    first = Position(pos.ledger, max(0, pos.entry - (0, 0, 1)[aim.draw(0, 2)]))
    last = Position(pos.ledger, first.entry + (0, 1, 2, 3)[aim.draw(0, 3)])
    odd = aim.draw(0, 19)
    if odd == 18:
        last = Position(pos.ledger + 1, last.entry)
    elif odd == 19:
        first, last = last, first
    return ops.Read(cache, first, last)


def ledger(aim: Aim, state: State) -> ops.InvalidateLedger:
    """A ledger of a place, or one that holds nothing."""
    cache, pos = aim.place(state)
    return ops.InvalidateLedger(cache, (pos.ledger, pos.ledger, -1, 9)[aim.draw(0, 3)])


def below(aim: Aim, state: State) -> ops.InvalidateBefore:
    """A position that is cached, or near one."""
    cache, first, last = bounds(aim, state)
    return ops.InvalidateBefore(cache, (first, last)[aim.draw(0, 1)])


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": lambda aim, state: ops.GetRange(*bounds(aim, state)),
    "exists": lambda aim, state: ops.Exists(*aim.place(state)),
    "remove_range": lambda aim, state: ops.RemoveRange(*bounds(aim, state), aim.draw(0, 1) == 1),
    "clear": lambda aim, state: ops.Clear(aim.cache(state)),
    "invalidate_before": below,
    "invalidate_ledger": ledger,
    "remove_cache": lambda aim, state: ops.RemoveCache(aim.cache(state)),
    "read": read,
    "read_one": lambda aim, state: ops.ReadOne(*aim.place(state)),
}
