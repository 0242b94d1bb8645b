"""Breadth-first exhaustion, and the shortest sequence that breaks a law."""

from __future__ import annotations

import gc
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from entrycache_conformance.case import Case
from entrycache_conformance.proofs.explore.bounded import Bounded, EveryEvent, WholeState
from entrycache_conformance.proofs.explore.world import Canon, Events, World
from entrycache_conformance.system import SYSTEMS
from entrycache_reference import pulsar_pip430
from entrycache_reference.pulsar_pip430 import laws, ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.rules import Rule

Progress = Callable[[int, int], None]
"""Told the number of states and of transitions, now and then."""


class Counterexample(NamedTuple):
    """A shortest sequence whose last step breaks laws."""

    rules: tuple[Rule, ...]
    case: Case


class Exploration(NamedTuple):
    """What an exploration saw: all of a world (`closed`), all up to `depth` steps, or a counterexample."""

    states: int
    transitions: int
    depth: int
    closed: bool
    fired: dict[Rule, int]
    counterexample: Counterexample | None


@contextmanager
def _no_collection() -> Iterator[None]:
    """States hold no cycles; looking for some would take a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def explore(world: World | Bounded, progress: Progress | None = None, only: Rule | None = None) -> Exploration:
    """Run every event of the world in every state, and every law after it.

    The first step that breaks a law ends the exploration; with `only`, the first that breaks the law of that rule
    (other laws may break on the way; their steps are not followed).
    """
    with _no_collection():
        return _explored(world, progress, only)


def _explored(world: World | Bounded, progress: Progress | None, only: Rule | None) -> Exploration:
    config = world.config
    events: Events | EveryEvent
    canon: Canon | WholeState
    if isinstance(world, World):
        events, canon = Events(world), Canon(world)
    else:
        events, canon = EveryEvent(world), WholeState(world)
    follows = canon.follows
    step, check, key_of, settled = pulsar_pip430.step, laws.check, canon.key, canon.settled
    first = settled(pulsar_pip430.initial(config))
    seen: set[Hashable] = {key_of(first)}
    fired: dict[Rule, int] = Counter()
    parents, via = array("L", [0]), array("H", [0])
    made: dict[ops.Op, int] = {}
    frontier, number, transitions, depth = [first], 0, 0, 0
    while frontier and depth != world.depth:
        depth += 1
        following: list[State] = []
        for state in frontier:
            for event in events.of(state):
                done = step(state, event, config)
                transitions += 1
                wrong = check(config, state, event, done, fired)
                if wrong:
                    if only is None or only in wrong:
                        path = [*_path(number, parents, via, list(made)), event]
                        case = Case(SYSTEMS[pulsar_pip430.NAME], config, tuple(path))
                        return Exploration(len(seen), transitions, depth, False, fired, Counterexample(wrong, case))
                    continue
                if done.state is state or not follows(done.state):
                    continue
                key = key_of(done.state)
                if key not in seen:
                    seen.add(key)
                    following.append(settled(done.state))
                    parents.append(number)
                    via.append(made.setdefault(event, len(made)))
            number += 1
            if progress is not None and not number & 1023:
                progress(len(seen), transitions)
        frontier = following
    return Exploration(len(seen), transitions, depth, not frontier, fired, None)


def _path(number: int, parents: array[int], via: array[int], made: list[ops.Op]) -> list[ops.Op]:
    path: list[ops.Op] = []
    while number:
        path.append(made[via[number]])
        number = parents[number]
    return path[::-1]


def breaks(case: Case) -> tuple[Rule, ...]:
    """The rules that the last step of a case breaks, run from the empty state."""
    state = pulsar_pip430.initial(case.config)
    wrong: tuple[Rule, ...] = ()
    for event in case.steps:
        done = pulsar_pip430.step(state, event, case.config)
        wrong = laws.broken(case.config, state, event, done)
        state = done.state
    return wrong
