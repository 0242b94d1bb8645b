"""What a kind of world is explored with."""

from __future__ import annotations

import gc
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar

from entrycache_evidence.core.definitions import build_check
from entrycache_faults.model import Model
from entrycache_faults.seeded import Fault
from entrycache_protocol.case import Case
from entrycache_protocol.system import AnyModel, AnySystem
from entrycache_reference.rules import Rule


class Canon(Protocol):
    """When two states of a world are the same, and whether a step is gone on from."""

    def key(self, state: Any) -> Hashable:
        """Equal for the same state."""

    def settled(self, state: Any) -> Any:
        """The representative of its kind."""

    def follows(self, step: Any) -> bool:
        """Whether the state keeps within the bounds."""


class Parts(NamedTuple):
    """The system of a world, what may happen in a state, when two states are the same, and the steps it begins with."""

    system: AnySystem
    events: Callable[[Any], Iterable[Any]]
    canon: Canon
    start: tuple[Any, ...] = ()


class AnyBoundedModel(Protocol):
    """The bounds of an exploration; `depth` None: to the end."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def config(self) -> Any:
        """The configuration."""

    @property
    def depth(self) -> int | None:
        """The most steps."""

    def parts(self) -> Parts:
        """What it is explored with."""

    def told(self) -> str:
        """Its bounds in words."""


World = TypeVar("World", bound=AnyBoundedModel)


def limit(world: World, steps: int | None) -> World:
    """The world, within at most so many steps; None: as far as it goes."""
    if steps is None:
        return world
    return replace(world, depth=steps if world.depth is None else min(world.depth, steps))


def limit_all(worlds: Iterable[AnyBoundedModel], most: Mapping[str, int]) -> tuple[AnyBoundedModel, ...]:
    """These worlds, those that are named in `most` within so many steps."""
    return tuple(limit(world, most.get(world.name)) for world in worlds)


# --- search
# Breadth-first exhaustion, and the shortest sequence that breaks a law.

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
def unhindered() -> Iterator[None]:
    """Without a search for cycles: states hold none, and looking for some would take a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def explore(
    world: AnyBoundedModel,
    progress: Progress | None = None,
    only: Rule | None = None,
    model: Model | None = None,
    whole: bool = True,
) -> Exploration:
    """Run every event of the world in every state, of the reference or of a model, and every law after it.

    The first step that breaks a law, and with `whole` one that is not what is defined or leaves the frame of its
    operation, ends the exploration; with `only`, the first that breaks the law of that rule (laws of other rules may
    break on the way; their steps are not followed).
    """
    with unhindered():
        *_, last = deeper(world, progress, only, model, whole)
    return last


def deeper(
    world: AnyBoundedModel,
    progress: Progress | None = None,
    only: Rule | None = None,
    model: Model | None = None,
    whole: bool = True,
) -> Iterator[Exploration]:
    """The same, told anew after each depth: whoever asks for one step more goes on from where this one stood.

    It is for whoever is `unhindered`.
    """
    config = world.config
    system, events_of, canon, start = world.parts()
    played = model or system.model
    step, check = played.step, build_check(system) if whole and only is None else system.laws.broken
    follows, key_of, settled = canon.follows, canon.key, canon.settled
    first: Any = settled(after(played, config, start))
    seen: set[Hashable] = {key_of(first)}
    fired: dict[Rule, int] = Counter()
    parents, via = array("L", [0]), array("H", [0])
    made: dict[Any, int] = {}
    frontier, number, transitions, depth = [first], 0, 0, 0
    if world.depth == 0:
        yield Exploration(len(seen), transitions, depth, False, fired, None)
    while frontier and depth != world.depth:
        depth += 1
        following: list[Any] = []
        for state in frontier:
            for event in events_of(state):
                done = step(state, event, config)
                transitions += 1
                wrong = check(config, state, event, done, fired)
                if wrong:
                    if only is None or only in wrong:
                        path = [*start, *_path(number, parents, via, list(made)), event]
                        case = Case(system, config, tuple(path))
                        yield Exploration(len(seen), transitions, depth, False, fired, Counterexample(wrong, case))
                        return
                    continue
                if done.state is state or not follows(done):
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
        yield Exploration(len(seen), transitions, depth, not frontier, fired, None)


def _path(number: int, parents: array[int], via: array[int], made: list[Any]) -> list[Any]:
    path: list[Any] = []
    while number:
        path.append(made[via[number]])
        number = parents[number]
    return path[::-1]


def after(played: AnyModel, config: Any, steps: Iterable[Any]) -> Any:
    """The state that these steps lead to from the empty one."""
    state = played.initial(config)
    for event in steps:
        state = played.step(state, event, config).state
    return state


def breaks(case: Case, model: Model | None = None) -> tuple[Rule, ...]:
    """The rules that the last step of a case breaks, run from the empty state, by the reference or by a model."""
    config, last, played = case.config, case.steps[-1], model or case.system.model
    state = after(played, config, case.steps[:-1])
    return case.system.laws.broken(config, state, last, played.step(state, last, config))


# --- refute
# Looking for a shortest counterexample to a planted fault.

DEEPEST: Final = 6
"""How deep a fault is looked for: worlds are too large to exhaust each with each fault."""


class Refutation(NamedTuple):
    """A mutant, the world in which it was caught, and the shortest sequence there that breaks its rule's law."""

    mutant: Fault
    world: AnyBoundedModel
    counterexample: Counterexample


def shallowest(mutant: Fault, worlds: Sequence[AnyBoundedModel]) -> Refutation | None:
    """The shortest counterexample in any of these worlds, looked for one step deeper at a time in all of them.

    It counts only if it breaks the law from the empty state too, as a case.
    """
    with unhindered():
        going = [(world, deeper(limit(world, DEEPEST), only=mutant.rule, model=mutant.model)) for world in worlds]
        for _ in range(DEEPEST):
            for world, exploration in going:
                seen = next(exploration, None)
                found = None if seen is None else seen.counterexample
                if found is not None and mutant.rule in breaks(found.case, mutant.model):
                    return Refutation(mutant, world, found)
    return None
