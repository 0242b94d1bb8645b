"""Arguments for the next operation: sizes aim at the room that is left, ranges at what is cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_segmented.themes import Traits
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_reference.pulsar_segmented import ops
from entrycache_reference.pulsar_segmented.segment import ALIGNMENT
from entrycache_reference.pulsar_segmented.state import State
from entrycache_reference.vocabulary import CacheName, Position

SIZES: Final = (1, 10, 64, 0, 63, 65, 1, 2, 128, 40, -1)
AIMED_BYTES_MOST: Final = 10_000
"""Sizes are aimed at segments up to here; no subject is asked to hold more for that."""

FIRST_TOKEN: Final = 1_000


class Aim:
    """What the arguments of one case are made with."""

    def __init__(self, draw: Draw, declaration: Declaration, traits: Traits) -> None:
        self.draw = draw
        self.fresh = traits.fresh
        self.has_payload = declaration.payload
        self.max_size: int = declaration.limits.max_size
        self.token = FIRST_TOKEN

    def place(self, state: State, live_weight: int = 3) -> tuple[CacheName, Position]:
        """A place, cached or not, by one number: small key spaces make places meet."""
        live = [entry.place for segment in state.segments.values() for entry in segment.entries] if live_weight else []
        at = self.draw(0, len(self.fresh) + live_weight * len(live) - 1)
        cache, pos = self.fresh[at] if at < len(self.fresh) else live[(at - len(self.fresh)) % len(live)]
        return cache, pos

    def size(self, state: State) -> int:
        """A size: half of them end at the end of the current segment, of any segment, or of an alignment before it."""
        at = self.draw(0, 2 * len(SIZES) - 1)
        room = state.segment_bytes
        if at < len(SIZES) or room > AIMED_BYTES_MOST:
            return min(self.max_size, SIZES[at % len(SIZES)])
        left = room - state.segments[state.current].offset
        bounds = (left, room, left // ALIGNMENT * ALIGNMENT)
        at = self.draw(0, 3 * len(bounds) - 1)
        return min(self.max_size, max(0, bounds[at % 3] + (0, 1, -1)[at // 3]))


def insert(aim: Aim, state: State) -> ops.Insert:
    """An offer; a third of them of what is not cached yet, so that the ring turns."""
    is_new = aim.draw(0, 2) == 2
    cache, pos = aim.place(state, live_weight=0 if is_new else 1)
    if is_new:
        cached = {tuple(entry.place) for segment in state.segments.values() for entry in segment.entries}
        at = aim.fresh.index((cache, pos))
        turned = (*aim.fresh[at:], *aim.fresh[:at])
        cache, pos = next((place for place in turned if place not in cached), (cache, pos))
    size = aim.size(state)
    if not aim.has_payload:
        return ops.Insert(cache, pos, size)
    aim.token += 1
    return ops.Insert(cache, pos, size, aim.token)


def get_range(aim: Aim, state: State) -> ops.GetRange:
    """Half of them: the longest run of cached entries round a cached one, or one entry more or less at an end.

    Others reach over a ledger, or are reversed.
    """
    cache, pos = aim.place(state)
    ledger = {entry.place.pos.entry for segment in state.segments.values() for entry in segment.entries
              if entry.place.cache == cache and entry.place.pos.ledger == pos.ledger}  # fmt: skip
    kind = aim.draw(0, 7)
    if kind < 5 and pos.entry in ledger:
        first = last = pos.entry
        while first - 1 in ledger:
            first -= 1
        while last + 1 in ledger:
            last += 1
        first, last = ((first, last), (first, pos.entry), (pos.entry, last), (first - 1, last), (first, last + 1))[kind]
        return ops.GetRange(cache, Position(pos.ledger, first), Position(pos.ledger, last))
    other = choose(aim.draw, aim.fresh)[1]
    ends = [pos, other._replace(ledger=pos.ledger), other, Position(-1, -1), Position(pos.ledger, pos.entry - 1)]
    return ops.GetRange(cache, pos, choose(aim.draw, ends))


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": get_range,
    "usage": lambda aim, state: ops.Usage(),
    "observe": lambda aim, state: ops.Observe(),
}
