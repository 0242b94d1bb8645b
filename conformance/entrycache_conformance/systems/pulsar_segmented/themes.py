"""What a campaign dwells on: themes, each a set of traits of the cases that are made."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from entrycache_conformance.places import places
from entrycache_reference.vocabulary import CacheName, Position

Limits = tuple[tuple[int, int | None], ...]
"""Limits in bytes, each with a number of segments, or none."""

LIMITS: Final[Limits] = (
    *((256, 2), (384, 3), (129, 2), (100, None), (200, 2), (320, 5), (130, 2), (191, 3), (512, 4)),
    *((10, 2), (134_217_728, None), (3, 2), (1, 2), (0, None), (3 * 2**30, None), (2, 5), (7, 2)),
)
"""Segments of some alignments, one more or less, of less than one, and of no byte."""


class Traits(NamedTuple):
    """What the cases of a theme have in common; every tuple is a menu, its first item the simplest.

    `fresh`: places that are asked for whether they are cached or not. `patience`: how much longer than usual cases go
    on. `often`: operations that come so many times more often. `is_odd`: names and numbers as no other theme has them.
    """

    fresh: tuple[tuple[CacheName, Position], ...]
    limits: Limits = LIMITS
    steps_max: int = 40
    patience: int = 1
    often: Mapping[str, int] = MappingProxyType({})
    is_odd: bool = False


class Theme(Enum):
    """The themes of campaigns."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    TURNS = "turns"
    RANGES = "ranges"
    LONG_RUNS = "long-runs"
    GREAT = "great"
    ODD = "odd"


SMALL: Final[Limits] = ((4, 2), (128, 2), (3, 3), (192, 3), (2, 2))

TRAITS: Final = {
    Theme.DEFAULT: Traits(places(2, 2, 4)),
    Theme.SMALL_KEYS: Traits(places(1, 1, 3), SMALL),
    Theme.TURNS: Traits(places(1, 1, 8), SMALL, steps_max=80, patience=2, often={"insert": 3}),
    Theme.RANGES: Traits(places(1, 2, 8), ((512, 4), (384, 3), (256, 2)), patience=2, often={"get_range": 3}),
    Theme.LONG_RUNS: Traits(places(2, 2, 6), steps_max=2_000, patience=50),
    Theme.GREAT: Traits(places(2, 1, 150), ((6_400, 3), (64_000, 40)), steps_max=800, patience=15, often={"insert": 3}),
    Theme.ODD: Traits(places(4, 2, 3), is_odd=True),
}
"""The traits of each theme."""
