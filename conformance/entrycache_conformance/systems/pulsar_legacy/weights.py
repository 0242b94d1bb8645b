"""How often each operation comes, and what the cases of a theme have in common."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from entrycache_conformance.places import places
from entrycache_reference.vocabulary import CacheName, Position

WEIGHTS: Final[dict[str, int]] = {
    "insert": 18,
    "get": 2,
    "get_range": 2,
    "exists": 2,
    "remove_range": 1,
    "clear": 1,
    "invalidate_before": 2,
    "invalidate_ledger": 2,
    "remove_cache": 1,
    "usage": 2,
    "observe": 2,
    "advance": 4,
    "expire": 5,
    "evict": 6,
    "evict_cache": 4,
    "run_scheduled": 4,
    "read": 5,
    "read_one": 2,
}
"""Half of the steps add or evict."""


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """The operations, each as often as its weight says; `insert` comes first."""
    wanted = frozenset(names)
    return tuple(name for name, weight in WEIGHTS.items() if name in wanted for _ in range(weight))


class Theme(Enum):
    """The themes of campaigns."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    MANY_CACHES = "many-caches"
    LONG_RUNS = "long-runs"
    ODD = "odd"


class Traits(NamedTuple):
    """The places that are asked for whether they are cached or not, the simplest first, and how long cases are.

    `is_odd`: names and numbers as no other theme has them.
    """

    fresh: tuple[tuple[CacheName, Position], ...]
    steps_max: int = 60
    usual_steps: int = 40
    is_odd: bool = False

    @property
    def caches(self) -> tuple[CacheName, ...]:
        """The names of caches, in order."""
        return tuple(dict.fromkeys(cache for cache, _ in self.fresh))


TRAITS: Final = {
    Theme.DEFAULT: Traits(places(3, 2, 4)),
    Theme.SMALL_KEYS: Traits(places(2, 1, 2)),
    Theme.MANY_CACHES: Traits(places(8, 1, 3), steps_max=120, usual_steps=80),
    Theme.LONG_RUNS: Traits(places(4, 2, 6), steps_max=4_000, usual_steps=2_000),
    Theme.ODD: Traits(places(4, 2, 3), is_odd=True),
}
"""The traits of each theme."""
