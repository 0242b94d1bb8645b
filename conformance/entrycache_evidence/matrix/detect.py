"""The detectors, each a function of a system: what of it sees a change of the reference, empty where nothing does.

They run in a process whose reference is changed; which lemmas, contracts and counts there are to compare with is told
from outside. All of them are seeded: the same change is seen by the same law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import islice
from typing import Any, Final, NamedTuple

from entrycache_conformance.judge import Coverage, LawBroken, checked_step, judge
from entrycache_evidence import vocabulary
from entrycache_evidence.core.definitions import find_definition
from entrycache_evidence.drawn import DRAWN, drawn, far
from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.search import explore
from entrycache_evidence.large import broken_in
from entrycache_evidence.rulebook.example import read_example
from entrycache_evidence.systems import SHOWN
from entrycache_protocol.case import Case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import Played
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

BLOCK: Final = 40
"""Stretched cases that are asked together, within the time of one detector."""

Counts = tuple[int, int, int]
"""States, transitions and steps of a world."""


class Effort(NamedTuple):
    """How far to go: cases under the laws, cases beside the fast cache, steps and states of worlds."""

    cases: int
    twins: int
    runs: int
    depth: int
    inputs: int


QUICK: Final = Effort(cases=DRAWN, twins=60, runs=60, depth=2, inputs=400)
FAR: Final = Effort(cases=3_000, twins=600, runs=10_000, depth=99, inputs=20_000)


def laws(system: AnySystem, effort: Effort) -> str:
    """The vocabulary, seeded cases of all themes, levels and variants under every law."""
    stray = _stray(system) or vocabulary.differs(system)
    if stray:
        return stray
    try:
        for _ in drawn(system, effort.cases, Coverage(definition=find_definition(system))):
            pass
        for number, (config, steps) in enumerate(SHOWN[system.name].runs()):
            if number >= effort.runs:
                break
            state = system.model.initial(config)
            for op in steps:
                state = checked_step(system, config, state, op, Coverage(definition=find_definition(system))).state
    except LawBroken as broken:
        return str(broken).removeprefix("the reference breaks ").partition(" at ")[0]
    return ""


def large(system: AnySystem) -> str:
    """The large runs of `prove`, under every law."""
    return broken_in(system, SHOWN[system.name].large()).partition(" at ")[0]


def crowds(system: AnySystem) -> str:
    """The runs of `prove` with hundreds of whatever can be counted, under every law."""
    return broken_in(system, SHOWN[system.name].crowds()).partition(" at ")[0]


def far_from(system: AnySystem, first: int) -> str:
    """A block of the stretched cases of `prove`, under every law."""
    return broken_in(system, islice(far(system), first, first + BLOCK)).partition(" at ")[0]


ASIDE: Final = frozenset({"store_inner"})
"""Operations that look at what a rule is about, while its law is asked of others."""


def _stray(system: AnySystem) -> str:
    """The first operation that has no place, or the first reading that is not the norm where nothing is said."""
    norm = system.model.variants()
    readings = {field.name: getattr(norm, field.name) for field in fields(norm)}
    first = {name: next(iter(type(value).__members__.values())) for name, value in readings.items()}
    told = [f"the level or the rule of {op.name}" for op in system.ops.values() if not _is_placed(system, op)]
    told += [f"the norm of {name}" for name, value in readings.items() if value is not first[name]]
    return next(iter(told), "")


def _is_placed(system: AnySystem, op: type[Any]) -> bool:
    """Whether an operation belongs to a level that there is, and names a rule whose law is asked of it."""
    asked = [law.on for law in system.laws.table if law.rule is op.rule]
    return op.level in system.levels and (op.name in ASIDE or any(not on or op in on for on in asked))


def twin(system: AnySystem, effort: Effort) -> str:
    """The same cases beside our fast cache: answers, and the rows that it tells."""
    assert system.fast is not None
    assert system.fast.open_told is not None
    for declaration, made in drawn(system, effort.twins, None, fast=True):
        told: list[Any] = []
        instance = system.fast.open_told(made.case.config, told.append)
        outcomes, rows = [], []
        for op in made.case.steps:
            told.clear()
            outcomes.append(instance(op))
            rows.append([_plain(row) for row in told])
        difference = judge(made.case, made.steps, Played(tuple(outcomes)), declaration)
        if difference is not None:
            return f"answer of {made.case.steps[difference.at].name}"
        for op, done, own in zip(made.case.steps, made.steps, rows, strict=True):
            if [tuple(row)[1:] for row in done.rows] != own:
                return f"rows of {op.name}"
    return ""


def _plain(row: Any) -> tuple[Any, ...]:
    """A row of a fast cache in the form of the reference's: keys are text."""
    return tuple(value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value for value in row)


def shown(system: AnySystem, effort: Effort) -> str:
    """The examples of the rules: they can be read, and their committed answers are given."""
    for rule in Rule:
        try:
            example = read_example(rule)
        except UsageError:
            return f"{rule.value} cannot be read"
        asked = example.asked
        if not isinstance(asked, Case) or asked.system.name != system.name:
            continue
        if _answers(system, asked) != example.value["outcomes"]:
            return rule.value
    return ""


def _answers(system: AnySystem, case: Case) -> list[dict[str, Any]]:
    state = system.model.initial(case.config)
    outcomes = []
    for op in case.steps:
        done = system.model.step(state, op, case.config)
        state = done.state
        outcomes.append(system.wire.write_outcome(done.outcome))
    return outcomes


def small_worlds(system: AnySystem, effort: Effort) -> Iterator[AnyWorld]:
    """The worlds of a pull request, within so many steps."""
    for world in SHOWN[system.name].of("ci"):
        depth = effort.depth if world.depth is None else min(world.depth, effort.depth)
        yield replace(world, depth=None if depth == FAR.depth else depth)


def counted(system: AnySystem, effort: Effort) -> dict[str, Counts]:
    """The counts of these worlds."""
    found = {}
    for world in small_worlds(system, effort):
        seen = explore(world)
        assert seen.counterexample is None, world.name
        found[world.name] = (seen.states, seen.transitions, seen.depth)
    return found


def worlds(system: AnySystem, effort: Effort, counts: Mapping[str, Counts]) -> tuple[str, str]:
    """The small worlds: the laws that are broken in one, and the first whose counts differ."""
    differing = ""
    for world in small_worlds(system, effort):
        seen = explore(world)
        if seen.counterexample is not None:
            return ", ".join(rule.value for rule in seen.counterexample.rules), differing
        if (seen.states, seen.transitions, seen.depth) != counts[world.name]:
            differing = differing or world.name
    return "", differing


LOOKS: Final[Mapping[str, Callable[[AnySystem, Effort], str]]] = {"laws": laws, "twin": twin, "examples": shown}
"""Those that need nothing but a system."""
