"""Exhaust a bounded model breadth first, and find the shortest sequence that breaks a law.

A bounded model (`AnyBoundedModel`) names its scope: a configuration, the events of each state, and the equality of
states (`Canon`). `explore` runs every event in every state, of the reference or of a model with a seeded fault, and
checks every law after each step. It returns an `Exploration` with counts, or with a `Counterexample`. `find_shortest`
searches several models for a seeded fault, one step deeper at a time.
"""

from __future__ import annotations

import gc
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar

from entrycache_evidence.core.models import build_check
from entrycache_faults.model import Fault, Model
from entrycache_protocol.case import Case
from entrycache_protocol.system import AnyModel, AnySystem
from entrycache_reference.rules import Rule


class Canon(Protocol):
    """The equality of states of a bounded model, and the steps that are followed."""

    def key(self, state: Any) -> Hashable:
        """Return a key that is equal for equal states."""

    def representative(self, state: Any) -> Any:
        """Return the representative of a state."""

    def follows(self, step: Any) -> bool:
        """Return whether the state is within the bounds."""


class Parts(NamedTuple):
    """The system of a bounded model, its events in a state, the equality of states, and the first steps."""

    system: AnySystem
    events: Callable[[Any], Iterable[Any]]
    canon: Canon
    start: tuple[Any, ...] = ()


class AnyBoundedModel(Protocol):
    """The scope of an exploration; `depth` None explores it completely."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name."""

    @property
    def config(self) -> Any:
        """The configuration."""

    @property
    def depth(self) -> int | None:
        """The greatest number of steps."""

    def parts(self) -> Parts:
        """Return the parts of the exploration."""

    def describe(self) -> str:
        """Describe the bounds."""


Scope = TypeVar("Scope", bound=AnyBoundedModel)


def limit_depth(scope: Scope, steps: int | None) -> Scope:
    """Limit the model to this many steps; None leaves it as it is."""
    if steps is None:
        return scope
    return replace(scope, depth=steps if scope.depth is None else min(scope.depth, steps))


def limit_depths(scopes: Iterable[AnyBoundedModel], most: Mapping[str, int]) -> tuple[AnyBoundedModel, ...]:
    """Limit the models that are named in `most` to their number of steps."""
    return tuple(limit_depth(scope, most.get(scope.name)) for scope in scopes)


# --- The search

Progress = Callable[[int, int], None]
"""A callback that receives the numbers of states and of transitions from time to time."""


class Counterexample(NamedTuple):
    """A shortest sequence whose last step breaks laws."""

    rules: tuple[Rule, ...]
    case: Case


class Exploration(NamedTuple):
    """The result of an exploration: the whole model (`closed`), all states up to `depth` steps, or a counterexample."""

    states: int
    transitions: int
    depth: int
    closed: bool
    fired: dict[Rule, int]
    counterexample: Counterexample | None


@contextmanager
def without_cycle_search() -> Iterator[None]:
    """Disable the search for reference cycles: states have none, and the search takes a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def explore(
    scope: AnyBoundedModel,
    progress: Progress | None = None,
    only: Rule | None = None,
    model: Model | None = None,
    whole: bool = True,
) -> Exploration:
    """Run every event in every state, of the reference or of a model, and check every law after it.

    The first step that breaks a law ends the exploration; with `whole`, so does one that differs from its definition or
    leaves its frame. With `only`, the first step that breaks the law of that rule ends it; steps that break other laws
    are not followed.
    """
    with without_cycle_search():
        *_, last = explore_by_depth(scope, progress, only, model, whole)
    return last


def explore_by_depth(
    scope: AnyBoundedModel,
    progress: Progress | None = None,
    only: Rule | None = None,
    model: Model | None = None,
    whole: bool = True,
) -> Iterator[Exploration]:
    """Explore and yield the result after each depth, so that a caller can ask for one more step.

    Call it inside `without_cycle_search`.
    """
    config = scope.config
    system, events_of, canon, start = scope.parts()
    played = model or system.model
    step, check = played.step, build_check(system) if whole and only is None else system.laws.broken
    follows, key_of, representative = canon.follows, canon.key, canon.representative
    first: Any = representative(state_after(played, config, start))
    visited: set[Hashable] = {key_of(first)}
    fired: dict[Rule, int] = Counter()
    parents, via = array("L", [0]), array("H", [0])
    event_numbers: dict[Any, int] = {}
    frontier, number, transitions, depth = [first], 0, 0, 0
    if scope.depth == 0:
        yield Exploration(len(visited), transitions, depth, False, fired, None)
    while frontier and depth != scope.depth:
        depth += 1
        following: list[Any] = []
        for state in frontier:
            for event in events_of(state):
                done = step(state, event, config)
                transitions += 1
                wrong = check(config, state, event, done, fired)
                if wrong:
                    if only is None or only in wrong:
                        path = [*start, *_path(number, parents, via, list(event_numbers)), event]
                        case = Case(system, config, tuple(path))
                        yield Exploration(len(visited), transitions, depth, False, fired, Counterexample(wrong, case))
                        return
                    continue
                if done.state is state or not follows(done):
                    continue
                key = key_of(done.state)
                if key not in visited:
                    visited.add(key)
                    following.append(representative(done.state))
                    parents.append(number)
                    via.append(event_numbers.setdefault(event, len(event_numbers)))
            number += 1
            if progress is not None and not number & 1023:
                progress(len(visited), transitions)
        frontier = following
        yield Exploration(len(visited), transitions, depth, not frontier, fired, None)


def _path(number: int, parents: array[int], via: array[int], events: list[Any]) -> list[Any]:
    path: list[Any] = []
    while number:
        path.append(events[via[number]])
        number = parents[number]
    return path[::-1]


def state_after(played: AnyModel, config: Any, steps: Iterable[Any]) -> Any:
    """Return the state that these steps reach from the empty one."""
    state = played.initial(config)
    for event in steps:
        state = played.step(state, event, config).state
    return state


def broken_rules(case: Case, model: Model | None = None) -> tuple[Rule, ...]:
    """Return the rules that the last step of a case breaks, from the empty state, by the reference or by a model."""
    config, last, played = case.config, case.steps[-1], model or case.system.model
    state = state_after(played, config, case.steps[:-1])
    return case.system.laws.broken(config, state, last, played.step(state, last, config))


# --- Counterexamples of seeded faults

DEPTH_OF_FAULTS: Final = 6
"""The depth of the search for a fault, since it is too expensive to exhaust each model with each fault."""


class Refutation(NamedTuple):
    """A seeded fault, the bounded model that detects it, and the shortest sequence that breaks its law."""

    mutant: Fault
    scope: AnyBoundedModel
    counterexample: Counterexample


def find_shortest(mutant: Fault, scopes: Sequence[AnyBoundedModel]) -> Refutation | None:
    """Find the shortest counterexample in any of these models, one step deeper at a time in all of them.

    It counts only if it breaks the law from the empty state too.
    """
    with without_cycle_search():
        going = [
            (scope, explore_by_depth(limit_depth(scope, DEPTH_OF_FAULTS), only=mutant.rule, model=mutant.model))
            for scope in scopes
        ]
        for _ in range(DEPTH_OF_FAULTS):
            for scope, exploration in going:
                layer = next(exploration, None)
                counterexample = None if layer is None else layer.counterexample
                if counterexample is not None and mutant.rule in broken_rules(counterexample.case, mutant.model):
                    return Refutation(mutant, scope, counterexample)
    return None
