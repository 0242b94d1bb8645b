"""The plan of one case: its configuration, its menu of operations, and who makes their arguments."""

from __future__ import annotations

import dataclasses
from functools import cache, partial
from typing import Any

from entrycache_conformance.systems.kafka_streams.arguments import Aim
from entrycache_conformance.systems.kafka_streams.fit import answered_only
from entrycache_conformance.systems.kafka_streams.themes import TRAITS, Theme
from entrycache_conformance.systems.kafka_streams.weights import LEVEL_OF
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_protocol.plan import Plan
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.state import State

USUAL_STEPS = 20

UNTHEMED = (
    Theme.DEFAULT,
    Theme.DEFAULT,
    Theme.SMALL_KEYS,
    Theme.NESTED,
    Theme.WIDE_TEXT,
    Theme.BATCHES,
    Theme.BUDGETS,
)
"""Where no theme is asked for."""


@cache
def weighted(menu: tuple[str, ...], theme: Theme) -> tuple[str, ...]:
    """The menu with the preferences of the theme."""
    often = TRAITS[theme].often
    return tuple(name for name in menu for _ in range(often.get(name, 1)))


def make_config(draw: Draw, declaration: Declaration, theme: Theme) -> Any:
    """A configuration that differs from the default where the subject lets it."""
    base = declaration.base_config()
    changes: dict[str, Any] = {}
    if declaration.varies("max_size_bytes"):
        changes["max_size_bytes"] = choose(draw, TRAITS[theme].max_sizes)
    if declaration.varies("reentry_budget"):
        changes["reentry_budget"] = choose(draw, TRAITS[theme].budgets)
    return dataclasses.replace(base, **changes)


def last_looks(menu: tuple[str, ...], state: State) -> tuple[Any, ...]:
    """All counters, sizes and orders, and what lies below: what should have gone is seen here at the latest."""
    looks: tuple[Any, ...] = (
        ops.Metrics(),
        ops.Usage(),
        *(ops.Metrics(name) for name in sorted(state.spaces)),
        *(ops.StoreInner(name) for name in sorted(state.stores)),
    )
    return tuple(op for op in looks if type(op).name in menu)


def plan(draw: Draw, declaration: Declaration, menu: tuple[str, ...], theme: Theme | None) -> Plan:
    """What a case of these operations is to be like."""
    wanted = choose(draw, UNTHEMED) if theme is None else theme
    traits = TRAITS[wanted]
    config = make_config(draw, declaration, wanted)
    with_stores = any(LEVEL_OF[name] == "store" for name in menu)
    namespaces = choose(draw, traits.namespaces)
    stores = choose(draw, traits.stores) if with_stores else 0
    chosen = weighted(menu, wanted)
    aim = Aim(draw, traits, tuple(dict.fromkeys(chosen)), namespaces, stores)
    make = answered_only(aim.op, config)
    return Plan(config, chosen, traits.steps_max, USUAL_STEPS * traits.patience, make, partial(last_looks, menu))
