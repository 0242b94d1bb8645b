"""The plan of one case: its configuration, its menu of operations, and who makes their arguments."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from entrycache_conformance.places import odd_places
from entrycache_conformance.systems.pulsar_pip430.arguments import MAKERS, Aim
from entrycache_conformance.systems.pulsar_pip430.arguments.flood import flood
from entrycache_conformance.systems.pulsar_pip430.arguments.limits import within_limits
from entrycache_conformance.systems.pulsar_pip430.arguments.sequels import sequel
from entrycache_conformance.systems.pulsar_pip430.configs import make_config
from entrycache_conformance.systems.pulsar_pip430.themes import TRAITS, Theme
from entrycache_conformance.systems.pulsar_pip430.weights import LEVEL_OF, last_level, own_menu
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_protocol.plan import Plan
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State

USUAL_STEPS = 40
"""Of how many steps about one ends a case of the default theme."""

CROWD = 12
"""From so many names of cursors on a case goes on longer, so that they meet."""


@cache
def menus(whole: tuple[str, ...], traits_of: Theme) -> tuple[tuple[str, ...], ...]:
    """What a case may be made of: everything, or, one time in three, the last level with what that needs.

    The levels range and queue need each other.
    """
    often = TRAITS[traits_of].often
    weighted = tuple(name for name in whole for _ in range(often.get(name, 1)))
    if last_level(whole) in {"range", "queue"}:
        return (weighted,)
    return weighted, weighted, own_menu(weighted)


def plan(draw: Draw, declaration: Declaration, menu: tuple[str, ...], theme: Theme | None) -> Plan:
    """What a case of these operations is to be like."""
    wanted = Theme.DEFAULT if theme is None else theme
    traits = TRAITS[wanted]._replace(fresh=odd_places(draw)) if TRAITS[wanted].is_odd else TRAITS[wanted]
    levels = {LEVEL_OF[name] for name in menu}
    crosses = bool(levels - {"range", "queue"})
    config = make_config(draw, declaration, menu, traits)
    chosen = choose(draw, menus(menu, wanted))
    crowd = choose(draw, traits.crowds) if "cursors" in levels else 0
    aim = Aim(draw, declaration, config, traits, crosses, crowd)
    longer = 3 if crowd >= CROWD and traits.patience == 1 else 1
    return Plan(config, chosen, traits.steps_max * longer, USUAL_STEPS * traits.patience * longer, partial(made, aim))


def made(aim: Aim, name: str, state: State) -> Any:
    """An operation of that name for that state."""
    if aim.to_come:
        return aim.to_come.pop()
    op = within_limits(aim, state, MAKERS[name](aim, state))
    if aim.flood and isinstance(op, ops.Insert) and aim.draw(0, 2) == 2:
        aim.to_come = flood(aim, op)
    if aim.is_odd and not aim.to_come:
        aim.to_come = sequel(aim, state, op)[::-1]
    return op
