"""The plan of one case: its configuration, its menu of operations, and who makes their arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Final

from entrycache_conformance.places import odd_places
from entrycache_conformance.systems.pulsar_segmented.arguments import MAKERS, Aim
from entrycache_conformance.systems.pulsar_segmented.themes import TRAITS, Theme, Traits
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_protocol.plan import Plan
from entrycache_reference.pulsar_segmented import ops
from entrycache_reference.pulsar_segmented.config import Config, Mode
from entrycache_reference.pulsar_segmented.state import State
from entrycache_reference.rules import Rule

WEIGHTS: Final = {"insert": 14, "get": 5, "get_range": 6, "usage": 2, "observe": 3}

OF_VARIANTS: Final = frozenset(
    {Rule.S_INSERT_6, Rule.S_INSERT_7, Rule.S_SEGMENT_5, Rule.S_RING_5, Rule.S_RING_6, Rule.S_RANGE_4, Rule.S_USAGE_2}
)
"""Rules that are about another reading than the norm."""

USUAL_STEPS: Final = 30
"""Of how many steps about one ends a case of the default theme."""


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """The operations, each as often as its weight says."""
    wanted = frozenset(names)
    return tuple(name for name, weight in WEIGHTS.items() if name in wanted for _ in range(weight))


def make_config(draw: Draw, declaration: Declaration, traits: Traits) -> Config:
    """A configuration of the theme, where the subject lets it vary."""
    max_size_bytes, segments = choose(draw, traits.limits)
    mode = choose(draw, tuple(Mode))
    chosen = {"max_size_bytes": max_size_bytes, "segments": segments, "mode": mode}
    base: Config = declaration.base_config()
    return dataclasses.replace(base, **{key: value for key, value in chosen.items() if declaration.varies(key)})


def looks(declaration: Declaration, traits: Traits, state: State) -> tuple[Any, ...]:
    """What a case ends with: the ring, or, where a subject does not show it, every place."""
    if "observe" in declaration.ops and declaration.introspection:
        return (ops.Observe(),)
    return tuple(ops.Get(*place) for place in traits.fresh[:16]) if "get" in declaration.ops else ()


def plan(draw: Draw, declaration: Declaration, menu: tuple[str, ...], theme: Theme | None) -> Plan:
    """What a case of these operations is to be like."""
    traits = TRAITS[Theme.DEFAULT if theme is None else theme]
    if traits.is_odd:
        traits = traits._replace(fresh=odd_places(draw))
    config = make_config(draw, declaration, traits)
    aim = Aim(draw, declaration, traits)
    chosen = tuple(name for name in menu for _ in range(traits.often.get(name, 1)))
    return Plan(
        config,
        chosen,
        traits.steps_max,
        USUAL_STEPS * traits.patience,
        make=lambda name, state: MAKERS[name](aim, state),
        final_queries=lambda state: looks(declaration, traits, state),
    )
