"""Every step of a small world, taken by a fast cache too: the same answer, and what it holds is the same state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.results import Refinement
from entrycache_evidence.core.scheduler import Batch, Work
from entrycache_evidence.model_checker.checker import AnyBoundedModel, after, unhindered
from entrycache_faults.seeded import Fault
from entrycache_protocol.case import Case


class Fast(NamedTuple):
    """A fast cache, and how it is read.

    `open`: an empty instance for a configuration. `play`: the outcome of one operation. `abstraction`: the state of
    the reference that an instance stands for; it asserts the instance's own invariants on the way. `known` takes out of
    a state of the reference what the fast cache does not keep, because no step depends on it.
    """

    open: Callable[[Any], Any]
    play: Callable[[Any, Any], Any]
    abstraction: Callable[[Any], Any]
    known: Callable[[Any], Any]


def walk_faulty_reference(fault: Fault) -> Fast:
    """Return a reference with a seeded fault as an implementation: it keeps the configuration and its state."""

    def play(instance: list[Any], op: Any) -> Any:
        done = fault.model.step(instance[1], op, instance[0])
        instance[1] = done.state
        return done.outcome

    return Fast(
        lambda config: [config, fault.model.initial(config)], play, lambda instance: instance[1], lambda state: state
    )


class Refined(NamedTuple):
    """How far a walk came: all states of a world and all steps from them, or up to the first that is not the same."""

    states: int
    steps: int
    closed: bool
    difference: Difference | None


class Difference(NamedTuple):
    """A shortest case after whose last step the fast cache is not where the reference is."""

    case: Case
    what: str


def walk(world: AnyBoundedModel, fast: Fast, depth: int | None = None) -> Refined:
    """Walk the graph of a world, its states by the shortest way to each, at most so many steps deep.

    A fast cache cannot be put into a state, so it takes that way again for each step that is tried.
    """
    system, events_of, canon, start = world.parts()
    config, model = world.config, system.model
    deepest = world.depth if depth is None else depth
    begun = after(model, config, start)
    seen: set[Hashable] = {canon.key(canon.settled(begun))}
    frontier: list[tuple[Any, tuple[Any, ...]]] = [(begun, tuple(start))]
    steps = taken = 0
    while frontier and taken != deepest:
        taken += 1
        following: list[tuple[Any, tuple[Any, ...]]] = []
        for state, way in frontier:
            for event in events_of(canon.settled(state)):
                done = model.step(state, event, config)
                steps += 1
                what = differs(fast, config, way, event, done)
                if what:
                    case = Case(system, config, (*way, event))
                    return Refined(len(seen), steps, False, Difference(case, what))
                if done.state is state or not canon.follows(done):
                    continue
                key = canon.key(canon.settled(done.state))
                if key not in seen:
                    seen.add(key)
                    following.append((done.state, (*way, event)))
        frontier = following
    return Refined(len(seen), steps, not frontier, None)


def differs(fast: Fast, config: Any, way: Iterable[Any], event: Any, done: Any) -> str:
    """What is not the same after a step: the answer, or a part of the state; empty: nothing."""
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


# --- evidence
# What is shown of the fast caches: the worlds along which they refine the reference, each with a fault told apart.

DEEPEST: Final = 4
"""Within so many steps a planted fault has to be told apart."""


class Refines(NamedTuple):
    """What is to be shown: a world, the fast cache, and one with a planted fault that the walk has to tell apart.

    `is_quick`: it is part of a pull request.
    """

    world: AnyBoundedModel
    fast: Fast
    planted: Fast
    note: str
    is_quick: bool = False


Shown = tuple[list[Refinement], list[str]]
"""What was shown, and what failed."""


def refined(asked: Sequence[Refines]) -> Work[Shown]:
    """Walk all of these worlds."""
    found = (yield Batch("refinement", _one, asked[::-1]))[::-1]
    return [shown for shown, failure in found if not failure], [failure for _, failure in found if failure]


def _one(asked: Refines) -> tuple[Refinement, str]:
    """One world; the failure is empty where both walks end as they should."""
    world, name = asked.world, asked.world.parts().system.name
    with unhindered():
        right, wrong = walk(world, asked.fast), walk(world, asked.planted, DEEPEST)
    shown = Refinement(name, f"{world.told()}; {_reach(right, world)}", asked.note)
    if right.difference is not None:
        steps = len(right.difference.case.steps)
        return shown, f"{name}: the fast cache leaves the reference in {steps} steps of {world.name!r}: {_told(right)}"
    if wrong.difference is None:
        return shown, f"{name}: the planted fault is not told apart in {world.name!r}: {asked.note}"
    steps = len(wrong.difference.case.steps)
    return shown._replace(refuted_mutant=f"{asked.note} Told apart in {steps} {'step' if steps == 1 else 'steps'}."), ""


def _reach(found: Refined, world: AnyBoundedModel) -> str:
    reach = "closed" if found.closed else f"up to {world.depth} steps"
    return f"{reach}, {found.states} states, {found.steps} transitions"


def _told(found: Refined) -> str:
    assert found.difference is not None
    steps = ", ".join(map(str, found.difference.case.steps))
    return f"{found.difference.what}; the steps: {steps}"
