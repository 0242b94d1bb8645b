"""Making cases: every step is made with the reference's state before it in sight.

The same code runs under Hypothesis, which shrinks, and from a seed, which is fast: all it asks for is an integer
between two bounds, and smaller answers lead to simpler cases. What a step may be is the system's own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from entrycache_conformance.judge import Coverage, checked_step
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw


class Made(NamedTuple):
    """A case, and the reference's steps through it."""

    case: Case
    steps: list[Any]


class Marks(NamedTuple):
    """Who is told where the draws of a step begin and end."""

    begin: Callable[[], None]
    end: Callable[[], None]


def make_case(
    draw: Draw,
    declaration: Declaration,
    menu: Sequence[str],
    coverage: Coverage,
    steps_max: int | None = None,
    stops: bool = True,
    theme: Any = None,
    marks: Marks | None = None,
) -> Made:
    """A case of these operations; `steps_max` None: as many as the theme wants at most; `theme` one of the system's.

    With `stops` it may end before that at every step, and then come the looks of its plan.
    """
    system = declaration.system
    plan = system.cases.plan(draw, declaration, tuple(menu), theme)
    config = plan.config
    state = system.model.initial(config)
    limit = plan.steps_max if steps_max is None else steps_max
    limit = min(limit, declaration.limits.max_steps or limit)
    length = len(plan.menu)
    ends = max(1, length // plan.usual_steps)
    greatest = ends + length * max(1, plan.usual_steps // length) - 1
    least = 0 if stops else ends
    made: list[Any] = []
    steps: list[Any] = []
    while len(made) < limit:
        if marks is not None:
            marks.begin()
        at = draw(least, greatest)
        op = None if at < ends else plan.make(plan.menu[(at - ends) % length], state)
        if marks is not None:
            marks.end()
        if op is None:
            break
        done = checked_step(system, config, state, op, coverage)
        made.append(op)
        steps.append(done)
        state = done.state
    for op in plan.looks(state)[: max(0, limit - len(made))] if stops else ():
        made.append(op)
        steps.append(checked_step(system, config, state, op, coverage))
        state = steps[-1].state
    return Made(Case(system, config, tuple(made)), steps)


__all__ = ["Draw", "Made", "Marks", "make_case"]
