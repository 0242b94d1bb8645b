"""Making cases: every step is made with the reference's state before it in sight.

The same code runs under Hypothesis, which shrinks, and from a seed, which is fast: all it asks for is an integer
between two bounds, and smaller answers lead to simpler cases. What a step may be is the system's own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from entrycache_conformance.judge import Coverage, step_with_laws
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem, CasePlan, Draw


class GeneratedCase(NamedTuple):
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
    coverage: Coverage | None,
    steps: int | None = None,
    theme: Any = None,
    marks: Marks | None = None,
) -> GeneratedCase:
    """A case of these operations, of so many steps; `theme` is one of the system's.

    `steps` None: it may end at every step, after as many as the theme wants at most, and then come the looks of its
    plan. Without `coverage` no law is looked at.
    """
    system = declaration.system
    plan = system.cases.plan(draw, declaration, tuple(menu), theme)
    next_op = _finite_choice(draw, plan) if steps is None else _endless_choice(draw, plan)
    limit = plan.steps_max if steps is None else steps
    limit = min(limit, declaration.limits.max_steps or limit)
    state = system.model.initial(plan.config)
    made: list[Any] = []
    done: list[Any] = []

    def play(op: Any) -> Any:
        made.append(op)
        done.append(_step_reference(system, plan.config, state, op, coverage))
        return done[-1].state

    while len(made) < limit:
        if marks is not None:
            marks.begin()
        op = next_op(state)
        if marks is not None:
            marks.end()
        if op is None:
            break
        state = play(op)
    for op in plan.final_queries(state)[: max(0, limit - len(made))] if steps is None else ():
        state = play(op)
    return GeneratedCase(Case(system, plan.config, tuple(made)), done)


def _finite_choice(draw: Draw, plan: CasePlan) -> Callable[[Any], Any]:
    """The next operation, by chance none: the simplest answer of a draw ends the case."""
    length = len(plan.menu)
    ends = max(1, length // plan.usual_steps)
    greatest = ends + length * max(1, plan.usual_steps // length) - 1

    def next_op(state: Any) -> Any:
        at = draw(0, greatest)
        return None if at < ends else plan.make(plan.menu[(at - ends) % length], state)

    return next_op


def _endless_choice(draw: Draw, plan: CasePlan) -> Callable[[Any], Any]:
    greatest = len(plan.menu) - 1
    return lambda state: plan.make(plan.menu[draw(0, greatest)], state)


def _step_reference(system: AnySystem, config: Any, state: Any, op: Any, coverage: Coverage | None) -> Any:
    if coverage is None:
        return system.model.step(state, op, config)
    return step_with_laws(system, config, state, op, coverage)
