"""The evidence of the explorer: the worlds exhausted, and for each rule a mutant with its shortest counterexample."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from entrycache_evidence.evidence import Evidence
from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.refute import Refutation
from entrycache_evidence.explore.search import Counterexample, Exploration, Progress, explore
from entrycache_evidence.planted import FAULT_OF
from entrycache_evidence.systems import SHOWN, Refute
from entrycache_faults.model import Model
from entrycache_protocol.case import to_json
from entrycache_reference.rules import Rule

Result = tuple[list[Evidence], list[str]]
"""What was shown, and what failed."""


def shown(world: AnyWorld, seen: Exploration) -> str:
    """What was exhausted, in words."""
    reach = "closed" if seen.closed else f"up to {seen.depth} steps"
    return f"{world.told()}; {reach}, {seen.states} states, {seen.transitions} transitions"


def exhaust(
    worlds: Sequence[AnyWorld], told: Callable[[str], Progress | None], refute: Refute, model: Model | None = None
) -> Result:
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


def exhaust_system(name: str, profile: str) -> Result:
    """The same for the worlds of a system; for a process of its own, which tells nobody how far it is."""
    return exhaust(SHOWN[name].of(profile), lambda _: None, SHOWN[name].refute)


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
