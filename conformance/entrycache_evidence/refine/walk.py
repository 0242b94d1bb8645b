"""Every step of a small world, taken by a fast cache too: the same answer, and what it holds is the same state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.search import after
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


def walk(world: AnyWorld, fast: Fast, depth: int | None = None) -> Refined:
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
