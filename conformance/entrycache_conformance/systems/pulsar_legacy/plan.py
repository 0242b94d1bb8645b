"""The plan of one case: its configuration, and who makes the arguments of its operations."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, Final

from entrycache_conformance.places import ONE_ORDER, odd_places
from entrycache_conformance.systems.pulsar_legacy.arguments import Aim, made
from entrycache_conformance.systems.pulsar_legacy.weights import TRAITS, Theme
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_protocol.plan import Plan
from entrycache_reference.pulsar_legacy.config import Config, Eviction

CONFIGS: Final[dict[str, tuple[Any, ...]]] = {
    "max_size_bytes": (100, 1_000, 51, 10, 250, 101, 400, 33, 0),
    "watermark": (0.9, 0.5, 0.0, 0.98, 0.99, 1.0, 0.57),
    "ttl_nanos": (1_000_000_000, 5, 1, 0, 20),
    "eviction": (Eviction.INLINE, Eviction.MANUAL),
}
"""Small limits, so that a few entries cross them, and amounts below, at and above 0."""


def plan(draw: Draw, declaration: Declaration, menu: tuple[str, ...], theme: Theme | None) -> Plan:
    """What a case of these operations is to be like."""
    traits = TRAITS[Theme.DEFAULT if theme is None else theme]
    if traits.is_odd:
        traits = traits._replace(fresh=odd_places(draw, ONE_ORDER))
    base: Config = declaration.base_config()
    options = {**CONFIGS, "max_size_bytes": (base.max_size_bytes, *CONFIGS["max_size_bytes"])}
    changes = {key: choose(draw, values) for key, values in options.items() if declaration.varies(key)}
    config = dataclasses.replace(base, **changes)
    aim = Aim(draw, declaration, config, traits)
    return Plan(config, menu, traits.steps_max, traits.usual_steps, partial(made, aim))
