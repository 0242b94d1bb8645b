"""What makers of several operations draw: caches, places, thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_legacy.weights import Traits
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import State
from entrycache_reference.vocabulary import CacheName, Position

FIRST_TOKEN: Final = 1_001
"""Payloads of inserts; those of fills are small."""


class Aim:
    """The draws of one case. `to_come`: the makers of operations that follow one another, the next one last."""

    def __init__(self, draw: Draw, declaration: Declaration, config: Config, traits: Traits) -> None:
        self.draw = draw
        self.config = config
        self.has_payload = declaration.payload
        self.has_insert = "insert" in declaration.ops
        self.max_size: int = declaration.limits.max_size
        self.fresh = traits.fresh
        self.caches = traits.caches
        self.token = FIRST_TOKEN
        self.to_come: list[Callable[[State], Any]] = []

    def cache(self, state: State) -> CacheName:
        """A name of a cache, mostly of one that holds entries."""
        names = [*self.caches, *sorted(state.caches), *sorted(state.caches)]
        return CacheName(choose(self.draw, names))

    def place(self, state: State, live_weight: int = 4) -> tuple[CacheName, Position]:
        """A place, cached or not, by one number: small key spaces make places meet."""
        live = [(name, pos) for name in sorted(state.caches) for pos in sorted(state.caches[name].entries)]
        return (*self.fresh, *live * live_weight)[self.draw(0, len(self.fresh) + live_weight * len(live) - 1)]

    def near(self, thresholds: list[int]) -> int:
        """A threshold, one above it, or one below it, by one number."""
        at = self.draw(0, 3 * len(thresholds) - 1)
        return thresholds[at % len(thresholds)] + (0, 1, -1)[at // len(thresholds)]


def offer(aim: Aim, cache: CacheName, pos: Position, size: int) -> ops.Insert:
    """An insert, with a payload of its own where payloads are carried."""
    if not aim.has_payload:
        return ops.Insert(cache, pos, size)
    aim.token += 1
    return ops.Insert(cache, pos, size, aim.token)
