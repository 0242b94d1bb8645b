"""What makers of several operations draw: caches, places, thresholds."""

from __future__ import annotations

from typing import Any

from entrycache_conformance.systems.pulsar_pip430.limits import Limits
from entrycache_conformance.systems.pulsar_pip430.themes import HOLDS, Traits
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import CacheName, CursorName, Position

FIRST_TOKEN = 1_001
"""Payloads of inserts; those of fills are small."""


class Aim:
    """The draws of one case.

    `room_bytes`: what can still be inserted without crossing the trigger, None where it may be crossed.
    `looked_at`: the cursors of a cache as they stood at the last look. `to_come`: operations that are made
    already, the next one last.
    """

    def __init__(
        self, draw: Draw, declaration: Declaration, config: Config, traits: Traits, crosses: bool, crowd: int
    ) -> None:
        self.draw = draw
        self.config = config
        self.declaration = declaration
        self.fresh = traits.fresh
        self.caches = traits.caches
        self.widths = traits.widths
        self.flood = traits.flood
        self.is_odd = traits.is_odd
        self.crosses = crosses
        self.cursor_caches = traits.caches[: traits.cursor_caches]
        self.cursors = tuple(CursorName(f"s{number}") for number in range(crowd))
        self.holds = HOLDS
        self.limits: Limits = declaration.limits
        self.null_positions = declaration.limits.null_positions
        self.looked_at: dict[CacheName, dict[CursorName, Position | None]] = {}
        self.to_come: list[Any] = []
        self.max_size: int = declaration.limits.max_size
        self.room_bytes = None if crosses or config.max_size_bytes == 0 else int(config.max_size_bytes * 0.98)
        self.token = FIRST_TOKEN

    def cache(self) -> CacheName:
        """A name of a cache, known or not."""
        return self.caches[self.draw(0, len(self.caches) - 1)]

    def place(self, state: State, live_weight: int = 4) -> tuple[CacheName, Position]:
        """A place, cached or not, by one number: small key spaces make places meet."""
        fresh = self.fresh
        queue = state.queue
        at = self.draw(0, len(fresh) + live_weight * len(queue) - 1)
        if at < len(fresh):
            return fresh[at]
        return queue[(at - len(fresh)) % len(queue)] or fresh[at % len(fresh)]

    def near(self, thresholds: list[int]) -> int:
        """A threshold, one above it, or one below it, by one number."""
        at = self.draw(0, 3 * len(thresholds) - 1)
        return thresholds[at % len(thresholds)] + (0, 1, -1)[at // len(thresholds)]

    def ages(self, state: State) -> list[int]:
        """The ages at which a time pass would change its mind."""
        ages = {0}
        for slot in state.queue:
            if slot is not None:
                ages.add(state.now_nanos - state.caches[slot.cache].entries[slot.pos].stamp_nanos)
        return sorted(ages)
