"""Show that a fast cache refines the reference along the graph of a bounded model.

An abstraction function maps an instance of the fast cache to a state of the reference. `walk` takes every step of the
model with both: the answers must be equal, and so must the states. Each task (`RefinementTask`) has a fast cache with a
seeded fault too, and counts only if the walk detects that fault.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.results import Refinement
from entrycache_evidence.core.scheduler import Batch, Work
from entrycache_evidence.model_checker.checker import AnyBoundedModel, state_after, without_cycle_search
from entrycache_faults.model import Fault
from entrycache_protocol.case import Case


class FastCache(NamedTuple):
    """A fast cache, with functions that open, play and read it.

    `open` returns an empty instance for a configuration, and `play` the outcome of one operation. `abstraction` returns
    the state of the reference that an instance stands for, and asserts its own invariants. `known` removes from a state
    of the reference what the fast cache does not keep.
    """

    open: Callable[[Any], Any]
    play: Callable[[Any, Any], Any]
    abstraction: Callable[[Any], Any]
    known: Callable[[Any], Any]


def walk_faulty_reference(fault: Fault) -> FastCache:
    """Return a reference with a seeded fault as an implementation: it keeps the configuration and its state."""

    def play(instance: list[Any], op: Any) -> Any:
        done = fault.model.step(instance[1], op, instance[0])
        instance[1] = done.state
        return done.outcome

    return FastCache(
        lambda config: [config, fault.model.initial(config)], play, lambda instance: instance[1], lambda state: state
    )


class Walk(NamedTuple):
    """The result of a walk: all states and steps of a model, or those up to the first difference."""

    states: int
    steps: int
    closed: bool
    difference: Difference | None


class Difference(NamedTuple):
    """A shortest case after whose last step the fast cache differs from the reference."""

    case: Case
    what: str


def walk(scope: AnyBoundedModel, fast: FastCache, depth: int | None = None) -> Walk:
    """Walk the graph of a bounded model, each state by its shortest path, at most this many steps deep.

    A fast cache cannot be put into a state, so it takes the path again for each step.
    """
    system, events_of, canon, start = scope.parts()
    config, model = scope.config, system.model
    deepest = scope.depth if depth is None else depth
    first_state = state_after(model, config, start)
    visited: set[Hashable] = {canon.key(canon.representative(first_state))}
    frontier: list[tuple[Any, tuple[Any, ...]]] = [(first_state, tuple(start))]
    steps = taken = 0
    while frontier and taken != deepest:
        taken += 1
        following: list[tuple[Any, tuple[Any, ...]]] = []
        for state, way in frontier:
            for event in events_of(canon.representative(state)):
                done = model.step(state, event, config)
                steps += 1
                what = describe_difference(fast, config, way, event, done)
                if what:
                    case = Case(system, config, (*way, event))
                    return Walk(len(visited), steps, False, Difference(case, what))
                if done.state is state or not canon.follows(done):
                    continue
                key = canon.key(canon.representative(done.state))
                if key not in visited:
                    visited.add(key)
                    following.append((done.state, (*way, event)))
        frontier = following
    return Walk(len(visited), steps, not frontier, None)


def describe_difference(fast: FastCache, config: Any, way: Iterable[Any], event: Any, done: Any) -> str:
    """Describe the difference after a step: the answer, or a part of the state; empty if there is none."""
    instance = fast.open(config)
    for op in way:
        fast.play(instance, op)
    outcome = fast.play(instance, event)
    if outcome != done.outcome:
        return f"the answer: {outcome}, expected {done.outcome}"
    try:
        holds = fast.abstraction(instance)
    except AssertionError as error:
        return f"an invariant of its own: {error}"
    expected = fast.known(done.state)
    if holds == expected:
        return ""
    name = next(name for name in expected._fields if getattr(holds, name) != getattr(expected, name))
    return f"{name}: {getattr(holds, name)}, expected {getattr(expected, name)}"


# --- Evidence

DEPTH_OF_FAULTS: Final = 4
"""The greatest number of steps after which a seeded fault must be detected."""


class RefinementTask(NamedTuple):
    """A task of refinement: a bounded model, the fast cache, and one with a seeded fault that must be detected.

    `is_quick` marks a task of a pull request.
    """

    scope: AnyBoundedModel
    fast: FastCache
    faulty: FastCache
    note: str
    is_quick: bool = False


Refinements = tuple[list[Refinement], list[str]]
"""The refinements that hold, and the failures."""


def refine_all(tasks: Sequence[RefinementTask]) -> Work[Refinements]:
    """Walk all of these models."""
    results = (yield Batch("refinement", _walk_task, tasks[::-1]))[::-1]
    failures = [failure for _, failure in results if failure]
    return [refinement for refinement, failure in results if not failure], failures


def _walk_task(task: RefinementTask) -> tuple[Refinement, str]:
    """Walk one model with the fast cache and with the faulty one; the failure is empty if both end as expected."""
    scope, name = task.scope, task.scope.parts().system.name
    with without_cycle_search():
        right, wrong = walk(scope, task.fast), walk(scope, task.faulty, DEPTH_OF_FAULTS)
    refinement = Refinement(name, f"{scope.describe()}; {_describe_reach(right, scope)}", task.note)
    if right.difference is not None:
        steps = len(right.difference.case.steps)
        what = _describe_walk(right)
        place = f"after {steps} steps of {scope.name!r}"
        return refinement, f"{name}: the fast cache differs from the reference {place}: {what}"
    if wrong.difference is None:
        return refinement, f"{name}: the seeded fault is not detected in {scope.name!r}: {task.note}"
    steps = len(wrong.difference.case.steps)
    unit = "step" if steps == 1 else "steps"
    return refinement._replace(refuted_mutant=f"{task.note} Detected in {steps} {unit}."), ""


def _describe_reach(result: Walk, scope: AnyBoundedModel) -> str:
    reach = "closed" if result.closed else f"up to {scope.depth} steps"
    return f"{reach}, {result.states} states, {result.steps} transitions"


def _describe_walk(result: Walk) -> str:
    assert result.difference is not None
    steps = ", ".join(map(str, result.difference.case.steps))
    return f"{result.difference.what}; the steps: {steps}"
