"""What a campaign dwells on: themes, each a set of traits of the cases that are made."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from entrycache_conformance.places import places
from entrycache_reference.vocabulary import CacheName, HoldName, Position

STEPS_MAX: Final = 60
HOLDS: Final = tuple(HoldName(name) for name in ("h", "i", "j"))


class Traits(NamedTuple):
    """What the cases of a theme have in common; every tuple is a menu, its first item the simplest.

    `fresh`: places that are asked for whether they are cached or not. `crowds`: how many names of cursors there
    are. `patience`: how much longer than usual cases go on before they end by chance. `often`: operations that
    come so many times more often. `flood`: up to so many entries are offered in a row, with counts and limits to match.
    `is_odd`: names, numbers, limits and rows of steps as no other theme has them.
    """

    fresh: tuple[tuple[CacheName, Position], ...]
    crowds: tuple[int, ...] = (3, 2, 4, 3, 6, 5, 12, 40)
    steps_max: int = STEPS_MAX
    patience: int = 1
    often: Mapping[str, int] = MappingProxyType({})
    is_extreme: bool = False
    widths: tuple[int, ...] = (0, 1, 2, 3, 4)
    cursor_caches: int = 3
    flood: int = 0
    is_odd: bool = False

    @property
    def caches(self) -> tuple[CacheName, ...]:
        """The names of caches, in order."""
        return tuple(dict.fromkeys(cache for cache, _ in self.fresh))


class Theme(Enum):
    """The themes of campaigns."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    CURSORS_MANY = "cursors-many"
    EXTREME_SETTINGS = "extreme-settings"
    LONG_RUNS = "long-runs"
    FILLS_AND_HOLDS = "fills-and-holds"
    GREAT = "great"
    ODD = "odd"


TRAITS: Final = {
    Theme.DEFAULT: Traits(places(3, 2, 4)),
    Theme.SMALL_KEYS: Traits(places(1, 1, 2), (2, 1, 3), widths=(0, 1, 2)),
    Theme.CURSORS_MANY: Traits(
        places(2, 2, 4),
        (6, 8, 10, 14, 20, 28, 40),
        steps_max=240,
        patience=6,
        often={"cursor_add": 5, "cursor_move": 5, "cursor_remove": 5, "cursor_rank": 3, "slowest": 2},
        cursor_caches=1,
    ),
    Theme.EXTREME_SETTINGS: Traits(places(2, 2, 3), is_extreme=True),
    Theme.LONG_RUNS: Traits(places(3, 2, 6), (4, 8, 16), steps_max=5_000, patience=100),
    Theme.FILLS_AND_HOLDS: Traits(
        places(2, 1, 6),
        steps_max=120,
        patience=2,
        often={"read": 5, "read_one": 3, "release": 5, "get": 2, "mark_read": 2},
        widths=(0, 1, 2, 3, 4, 6, 10),
    ),
    Theme.GREAT: Traits(
        places(2, 1, 6),
        (30, 3),
        steps_max=400,
        often={"insert": 3, "evict": 3, "expire": 2, "get_range": 2, "read": 3, "remove_range": 2},
        widths=(40, 0, 130, 9, 18),
        flood=150,
    ),
    Theme.ODD: Traits(places(4, 2, 3), (3, 20, 2), steps_max=120, widths=(0, 1, 2, 16, 17), is_odd=True),
}
"""The traits of each theme."""
