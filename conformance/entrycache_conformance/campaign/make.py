"""Making the runs of a campaign: the generator's own plan, most cases without looking at the laws."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from entrycache_conformance.campaign.played import Run
from entrycache_conformance.judge import Coverage, checked_step
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem
from entrycache_protocol.wire import run_line

REMEMBERED: Final = 200_000
"""So many outcomes are kept with their JSON; most outcomes are small and come again."""

_REMEMBERED: dict[Any, dict[str, Any]] = {}


class Source:
    """A fast source of draws: an integer between two bounds from a seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def __call__(self, least: int, greatest: int) -> int:
        """An integer between the bounds, both included."""
        return least + int(self._random() * (greatest - least + 1))


def make_run(
    declaration: Declaration,
    menu: Sequence[str],
    theme: Any,
    seed: str,
    steps: int,
    coverage: Coverage | None,
) -> Run:
    """A run of that many steps; with `coverage` every law is looked at after every step.

    `theme` is one of the system's.
    """
    draw = Source(seed)
    system = declaration.system
    plan = system.cases.plan(draw, declaration, tuple(menu), theme)
    state = system.model.initial(plan.config)
    length = len(plan.menu) - 1
    made = []
    outcomes = []
    for _ in range(min(steps, declaration.limits.max_steps or steps)):
        op = plan.make(plan.menu[draw(0, length)], state)
        done = (
            system.model.step(state, op, plan.config)
            if coverage is None
            else checked_step(system, plan.config, state, op, coverage)
        )
        state = done.state
        made.append(op)
        outcomes.append(done.outcome)
    case = Case(system, plan.config, tuple(made))
    return Run(case, run_line(case, 0, declaration), tuple(outcomes), [_json(system, outcome) for outcome in outcomes])


def _json(system: AnySystem, outcome: Any) -> dict[str, Any]:
    try:
        known: dict[str, Any] | None = _REMEMBERED.get((type(outcome), outcome))
    except TypeError:  # what `observe` shows holds mappings
        return system.wire.write_outcome(outcome)
    if known is None:
        known = system.wire.write_outcome(outcome)
        if len(_REMEMBERED) < REMEMBERED:
            _REMEMBERED[type(outcome), outcome] = known
    return known
