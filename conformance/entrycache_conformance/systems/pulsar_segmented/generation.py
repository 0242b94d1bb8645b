"""The cases of `pulsar-segmented`: workload profiles, the plan of a case, and the arguments of its operations.

A `WorkloadProfile` has `WorkloadParameters`. Sizes aim at the room that is left in a segment, and ranges at
what is cached. A third of the inserts are new, so that the ring turns. A case ends with a query of the ring.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems import pulsar
from entrycache_conformance.systems.pulsar import (
    PlaceWalk,
    add_sizes,
    make_boundary_places,
    make_places,
    narrow_range,
    take_caches,
)
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import CasePlan, Draw, choose
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_segmented import ops, ring
from entrycache_reference.pulsar_segmented.config import Config, Mode
from entrycache_reference.pulsar_segmented.state import State


@dataclass(frozen=True, slots=True)
class Limits(pulsar.Limits):
    """The limits of this system: without `long_entries` no entry is longer than a segment."""

    long_entries: bool = True

    @property
    def hides_rules(self) -> bool:
        """Return whether some rule can hardly be met within these limits."""
        return not self.long_entries


RingSizes = tuple[tuple[int, int | None], ...]
"""Limits in bytes, each with a number of segments, or none."""

RING_SIZES: Final[RingSizes] = (
    *((256, 2), (384, 3), (129, 2), (100, None), (200, 2), (320, 5), (130, 2), (191, 3), (512, 4)),
    *((10, 2), (134_217_728, None), (3, 2), (1, 2), (0, None), (3 * 2**30, None), (2, 5), (7, 2)),
)
"""Rings whose segments hold a few alignments, one byte more or less, less than one, or nothing."""


class WorkloadParameters(NamedTuple):
    """The parameters of a profile. Every tuple is a menu whose first item is the simplest.

    `fresh` are the places that operations use. `patience` makes cases longer. `often` multiplies the weights of
    operations. `has_boundary_values` gives a profile names and numbers at which implementations go wrong.
    """

    fresh: tuple[tuple[vocabulary.CacheName, vocabulary.Position], ...]
    limits: RingSizes = RING_SIZES
    steps_max: int = 40
    patience: int = 1
    often: Mapping[str, int] = MappingProxyType({})
    has_boundary_values: bool = False


class WorkloadProfile(Enum):
    """The workload profiles."""

    DEFAULT = "default"
    SMALL_KEYS = "small-keys"
    TURNS = "turns"
    RANGES = "ranges"
    LONG_RUNS = "long-runs"
    GREAT = "great"
    BOUNDARY = "odd"


LARGE_RINGS: Final[RingSizes] = ((2**33, 2), (2**36, 3))
"""Rings in one of whose segments the bytes of a few entries leave the integers of 32 bits."""

SMALL_RINGS: Final[RingSizes] = ((4, 2), (128, 2), (3, 3), (192, 3), (2, 2))

WORKLOADS: Final = {
    WorkloadProfile.DEFAULT: WorkloadParameters(make_places(2, 2, 4)),
    WorkloadProfile.SMALL_KEYS: WorkloadParameters(make_places(1, 1, 3), SMALL_RINGS),
    WorkloadProfile.TURNS: WorkloadParameters(
        make_places(1, 1, 8), SMALL_RINGS, steps_max=80, patience=2, often={"insert": 3}
    ),
    WorkloadProfile.RANGES: WorkloadParameters(
        make_places(1, 2, 8), ((512, 4), (384, 3), (256, 2)), patience=2, often={"get_range": 3}
    ),
    WorkloadProfile.LONG_RUNS: WorkloadParameters(make_places(2, 2, 6), steps_max=2_000, patience=50),
    WorkloadProfile.GREAT: WorkloadParameters(
        make_places(2, 1, 150), ((6_400, 3), (64_000, 40)), steps_max=800, patience=15, often={"insert": 3}
    ),
    WorkloadProfile.BOUNDARY: WorkloadParameters(
        make_places(4, 2, 3), (*LARGE_RINGS, (512, 4), (384, 3)), patience=2, has_boundary_values=True
    ),
}
"""The parameters of each profile."""


SIZES: Final = (1, 10, 64, 0, 63, 65, 1, 2, 128, 40, -1)
BOUNDARY_SIZES: Final = (*SIZES, 2**31 - 1, 2**24 + 1, 2**30, 2**31 - 1, 65_536)
AIMED_BYTES_MOST: Final = 10_000
"""The greatest segment that sizes aim at; no subject must hold more for that."""

FIRST_TOKEN: Final = 1_000


class Aim:
    """The state of the makers of one case."""

    def __init__(self, draw: Draw, declaration: Declaration, traits: WorkloadParameters) -> None:
        self.draw = draw
        self.fresh = traits.fresh
        self.walk = PlaceWalk(draw, traits.fresh if traits.has_boundary_values else ())
        self.has_payload = declaration.payload
        self.max_size: int = declaration.limits.max_size
        self.has_long_entries: bool = declaration.limits.long_entries
        self.sizes = add_sizes(BOUNDARY_SIZES if traits.has_boundary_values else SIZES, declaration.sizes)
        self.token = FIRST_TOKEN

    def place(self, state: State, live_weight: int = 3) -> tuple[vocabulary.CacheName, vocabulary.Position]:
        """Return a place, cached or not, by one number. Key spaces are small, so that operations meet."""
        if (near := self.walk.next_place()) is not None:
            return near
        live = [entry.place for segment in state.segments.values() for entry in segment.entries] if live_weight else []
        at = self.draw(0, len(self.fresh) + live_weight * len(live) - 1)
        cache, pos = self.fresh[at] if at < len(self.fresh) else live[(at - len(self.fresh)) % len(live)]
        self.walk.note((cache, pos))
        return cache, pos

    def size(self, state: State) -> int:
        """Return a size; half of them end at the end of the current segment, of any segment, or of an alignment before
        it.
        """
        at = self.draw(0, 2 * len(self.sizes) - 1)
        room = state.segment_bytes
        most = self.max_size if self.has_long_entries else min(self.max_size, room)
        if at < len(self.sizes) or room > AIMED_BYTES_MOST:
            return min(most, self.sizes[at % len(self.sizes)])
        left = room - state.segments[state.current].offset
        bounds = (left, room, left // ring.ALIGNMENT * ring.ALIGNMENT)
        at = self.draw(0, 3 * len(bounds) - 1)
        return min(most, max(0, bounds[at % 3] + (0, 1, -1)[at // 3]))


def insert(aim: Aim, state: State) -> ops.Insert:
    """Make an insert; a third of them are of what is not cached yet, so that the ring turns."""
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
    """Make a lookup of a range.

    Half of them are the longest run of entries around a cached one, or one entry more or less at an end. Others reach
    over a ledger, or are reversed.
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
        return ops.GetRange(cache, vocabulary.Position(pos.ledger, first), vocabulary.Position(pos.ledger, last))
    other = choose(aim.draw, aim.fresh)[1]
    ends = [
        pos,
        other._replace(ledger=pos.ledger),
        other,
        vocabulary.Position(-1, -1),
        vocabulary.Position(pos.ledger, pos.entry - 1),
    ]
    return ops.GetRange(cache, pos, narrow_range(pos, choose(aim.draw, ends)))


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "insert": insert,
    "get": lambda aim, state: ops.Get(*aim.place(state)),
    "get_range": get_range,
    "usage": lambda aim, state: ops.Usage(),
    "observe": lambda aim, state: ops.Observe(),
}


WEIGHTS: Final = {"insert": 14, "get": 5, "get_range": 6, "usage": 2, "observe": 3}

VARIANT_RULES: Final = frozenset(
    {
        rules.Rule.S_INSERT_6,
        rules.Rule.S_INSERT_7,
        rules.Rule.S_SEGMENT_5,
        rules.Rule.S_RING_5,
        rules.Rule.S_RING_6,
        rules.Rule.S_RANGE_4,
        rules.Rule.S_USAGE_2,
    }
)
"""Rules about a variant and not about the default behaviour."""

USUAL_STEPS: Final = 30
"""The usual length of a case of the default profile: about one in so many steps ends it."""


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """Return the operations, each as often as its weight says."""
    wanted = frozenset(names)
    return tuple(name for name, weight in WEIGHTS.items() if name in wanted for _ in range(weight))


def make_config(draw: Draw, declaration: Declaration, traits: WorkloadParameters) -> Config:
    """Draw a configuration of the profile within what the subject lets vary."""
    max_size_bytes, segments = choose(draw, traits.limits)
    max_size_bytes = declaration.limits.clamp(max_size_bytes)
    mode = choose(draw, tuple(Mode))
    chosen = {"max_size_bytes": max_size_bytes, "segments": segments, "mode": mode}
    base: Config = declaration.base_config()
    return dataclasses.replace(base, **{key: value for key, value in chosen.items() if declaration.varies(key)})


def final_queries(declaration: Declaration, traits: WorkloadParameters, state: State) -> tuple[Any, ...]:
    """Return the last queries of a case: the ring, or every place if the subject does not show it."""
    if "observe" in declaration.ops and declaration.introspection:
        return (ops.Observe(),)
    return tuple(ops.Get(*place) for place in traits.fresh[:16]) if "get" in declaration.ops else ()


def plan_case(
    draw: Draw, declaration: Declaration, menu: tuple[str, ...], workload: WorkloadProfile | None
) -> CasePlan:
    """Plan a case of these operations."""
    traits = WORKLOADS[WorkloadProfile.DEFAULT if workload is None else workload]
    if traits.has_boundary_values:
        traits = traits._replace(fresh=make_boundary_places(draw))
    traits = traits._replace(fresh=take_caches(traits.fresh, declaration))
    config = make_config(draw, declaration, traits)
    aim = Aim(draw, declaration, traits)
    chosen = tuple(name for name in menu for _ in range(traits.often.get(name, 1)))
    return CasePlan(
        config,
        chosen,
        traits.steps_max * aim.walk.patience,
        USUAL_STEPS * traits.patience * aim.walk.patience,
        make=lambda name, state: MAKERS[name](aim, state),
        final_queries=lambda state: final_queries(declaration, traits, state),
    )
