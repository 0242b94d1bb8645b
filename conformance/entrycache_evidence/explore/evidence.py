"""The evidence of the explorer: the worlds exhausted, and for each rule a mutant with its shortest counterexample."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from entrycache_evidence.evidence import Evidence
from entrycache_evidence.explore import kafka_worlds as stream_worlds
from entrycache_evidence.explore.bounded import bounds_of_events
from entrycache_evidence.explore.kafka import Streams, bounds_of_streams
from entrycache_evidence.explore.later_worlds import LATER
from entrycache_evidence.explore.search import AnyWorld, Counterexample, Exploration, Progress, breaks, explore
from entrycache_evidence.explore.world import World, bounds
from entrycache_evidence.explore.worlds import FAULTS, WIDE
from entrycache_faults.model import Model
from entrycache_faults.planted import Fault
from entrycache_faults.reference import FAULT_OF
from entrycache_protocol.case import to_json
from entrycache_reference.rules import Rule

EARLIER: Final = frozenset({"state", "entries", "passes"})
"""Themes of levels `range` and `queue`; what is about others is looked for in the worlds of the later levels."""


DEEPEST: Final = 6
"""How deep mutants of `kafka-streams` are looked for."""


class Refutation(NamedTuple):
    """A mutant, the world in which it was caught, and the shortest sequence there that breaks its rule's law."""

    mutant: Fault
    world: AnyWorld
    counterexample: Counterexample


def refute(mutant: Fault, inside: Sequence[AnyWorld]) -> Refutation | None:
    """The shortest counterexample to a mutant in those small worlds where its law is asked, else in the large one.

    It counts only if it breaks the law from the empty state too, as a case.
    """
    if mutant.rule.value.startswith("K-"):
        return _shallowest(mutant, [world for world in stream_worlds.FAULTS if world in inside])
    if mutant.theme not in EARLIER:
        return _shorter(mutant, [world for world in LATER if world in inside], None)
    best = _shorter(mutant, FAULTS, None)
    return best if best is not None else _shorter(mutant, (WIDE,), None)


def _shorter(mutant: Fault, worlds: Sequence[AnyWorld], best: Refutation | None) -> Refutation | None:
    for world in worlds:
        most = world.depth
        if best is not None:
            below = len(best.counterexample.case.steps) - 1
            most = below if most is None else min(most, below)
        found = explore(replace(world, depth=most), only=mutant.rule, model=mutant.model).counterexample
        if found is not None and mutant.rule in breaks(found.case, mutant.model):
            best = Refutation(mutant, world, found)
    return best


def _shallowest(mutant: Fault, worlds: Sequence[Streams]) -> Refutation | None:
    """One step deeper at a time in all of them: these worlds are too large to exhaust each with each mutant."""
    for depth in range(1, DEEPEST + 1):
        for world in worlds:
            best = _shorter(mutant, [replace(world, depth=depth)], None)
            if best is not None:
                return best._replace(world=world)
    return None


def shown(world: AnyWorld, seen: Exploration) -> str:
    """What was exhausted, in words."""
    reach = "closed" if seen.closed else f"up to {seen.depth} steps"
    return f"{_told(world)}; {reach}, {seen.states} states, {seen.transitions} transitions"


def _told(world: AnyWorld) -> str:
    if isinstance(world, Streams):
        return bounds_of_streams(world)
    return bounds(world) if isinstance(world, World) else bounds_of_events(world)


def exhaust(
    worlds: Sequence[AnyWorld], told: Callable[[str], Progress | None], model: Model | None = None
) -> tuple[list[Evidence], list[str]]:
    """Exhaust these worlds; the evidence for each law that fired in them, and what failed.

    The steps are those of the reference, or of the model. A law without a planted fault gives no evidence: nothing
    shows that it can fail.
    """
    seen: list[tuple[AnyWorld, Exploration]] = []
    for world in worlds:
        found = explore(world, told(world.name), model=model)
        if found.counterexample is not None:
            return [], [_failure(world, found.counterexample)]
        seen.append((world, found))
    evidence: list[Evidence] = []
    failures: list[str] = []
    for rule in Rule:
        inside = [(world, found) for world, found in seen if found.fired.get(rule)]
        if not inside or rule not in FAULT_OF:
            continue
        told(f"mutant of {rule.value}")
        refuted = refute(FAULT_OF[rule], [world for world, _ in inside])
        if refuted is None:
            failures.append(f"{rule.value}: no world refutes its mutant, so nothing is shown about it")
            continue
        evidence.append(Evidence(rule, "exhausted", _bounds(rule, inside), _refuted(refuted)))
    return evidence, failures


def exhaust_streams(profile: str) -> tuple[list[Evidence], list[str]]:
    """The same for the worlds of `kafka-streams`; for a process of its own, which tells nobody how far it is."""
    return exhaust(stream_worlds.CI if profile == "ci" else stream_worlds.NIGHTLY, lambda _: None)


def _bounds(rule: Rule, inside: Sequence[tuple[AnyWorld, Exploration]]) -> str:
    world, found = max(inside, key=lambda pair: (_is_norm(pair[0]), pair[1].states))
    asked = sum(found.fired[rule] for _, found in inside)
    others = [f"{other.name} ({_size(seen)})" for other, seen in inside if other is not world]
    more = f"; also: {', '.join(others)}" if others else ""
    return f"{shown(world, found)}{more}; asked {asked} times"


def _is_norm(world: AnyWorld) -> bool:
    """Whether the world has no other reading than the norm."""
    return bool(world.config.variants == type(world.config)().variants)


def _size(seen: Exploration) -> str:
    return f"{seen.states} states" if seen.closed else f"{seen.states} states within {seen.depth} steps"


def _refuted(found: Refutation) -> str:
    steps = len(found.counterexample.case.steps)
    unit = "step" if steps == 1 else "steps"
    return f"{found.mutant.note} Shortest: {steps} {unit} ({found.world.name})."


def _failure(world: AnyWorld, found: Counterexample) -> str:
    rules = ", ".join(rule.value for rule in found.rules)
    case = json.dumps(to_json(found.case))
    return f"{rules}: broken in {len(found.case.steps)} steps of the world {world.name!r}; the case: {case}"
