"""Level `range`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430 import odd
from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_protocol.draw import choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.limits import target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, Position

SIZES: Final = (1, 2, 3, 10, 0, 7, 1, 2, 0, 5, 100, 9_999, -1)
SMALL_SIZES: Final = (1, 2, 3, 10, 0, 7, 5, 30, -1)
COUNTS: Final[tuple[int | None | Absent, ...]] = (ABSENT, 1, 2, 1, 3, None, 0, -1)
AIMED_BYTES_MAX: Final = 10_000
"""Sizes are aimed at limits up to here; no subject is asked to hold more for that."""


def size_of(aim: Aim, state: State) -> int:
    """A size: where the trigger may be crossed, half of them bring the bytes to it, to the target or to the limit."""
    limit = state.settings.max_size_bytes
    if aim.is_odd and aim.room_bytes is None and 0 < limit <= AIMED_BYTES_MAX and aim.draw(0, 1) == 1:
        return min(aim.max_size, max(0, aim.near(_to_the_target(state))))
    if aim.room_bytes is None and 0 < limit <= AIMED_BYTES_MAX:
        at = aim.draw(0, 2 * len(SMALL_SIZES) - 1)
        if at < len(SMALL_SIZES):
            return min(aim.max_size, SMALL_SIZES[at])
        wanted = [bound - state.size_bytes for bound in (trigger_bytes(state), target_bytes(state), limit)]
        return min(aim.max_size, max(0, aim.near(wanted)))
    size: int = min(aim.max_size, choose(aim.draw, odd.SIZES if aim.is_odd else SIZES))
    if aim.room_bytes is None:
        return size
    if size > aim.room_bytes:
        return 0
    aim.room_bytes -= max(0, size)
    return size


def _to_the_target(state: State) -> list[int]:
    """Sizes that cross the trigger, and after which a pass that takes the first entries ends at the target."""
    over = trigger_bytes(state) - state.size_bytes
    wanted = [over]
    freed = 0
    for slot in state.queue:
        if slot is not None:
            freed += state.caches[slot.cache].entries[slot.pos].size_bytes
            size = target_bytes(state) - state.size_bytes + freed
            if size > over:
                wanted.append(size)
    return wanted


def insert(aim: Aim, state: State) -> ops.Insert:
    """An offer, now and then of what is cached already, or of what is held and cached no more."""
    cache, pos = aim.place(state, live_weight=1)
    if state.holds:
        gone = [held.slot for kept in state.holds.values() for held in kept if not held.is_cached]
        at = aim.draw(0, 2 * len(gone))
        if 0 < at <= len(gone):
            cache, pos = gone[at - 1]
    size = size_of(aim, state)
    unopened = [name for name in aim.caches if name not in state.caches] if aim.is_odd else []
    if unopened and aim.draw(0, 5) == 5:
        cache, size = unopened[0], -1
    count = choose(aim.draw, COUNTS)
    if not aim.declaration.payload:
        return ops.Insert(cache, pos, size, count)
    aim.token += 1
    return ops.Insert(cache, pos, size, count, aim.token)


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


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": lambda aim, state: ops.GetRange(*bounds(aim, state)),
    "exists": lambda aim, state: ops.Exists(*aim.place(state)),
    "remove_range": lambda aim, state: ops.RemoveRange(*bounds(aim, state), aim.draw(0, 1) == 1),
    "clear": lambda aim, state: ops.Clear(aim.cache()),
    "usage": lambda aim, state: ops.Usage() if aim.draw(0, 1) == 0 else ops.Usage(aim.cache()),
    "observe": lambda aim, state: ops.Observe(),
}
