"""The evidence of the explorer: the worlds exhausted, and for each rule a mutant with its shortest counterexample."""

from __future__ import annotations

import json
from collections.abc import Sequence

from entrycache_evidence.explore import soonest
from entrycache_evidence.explore.counts import committed, differences
from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.refute import Refutation, shallowest
from entrycache_evidence.explore.search import Counterexample, Exploration, explore
from entrycache_evidence.obtained import Evidence, Result
from entrycache_evidence.planted import FAULT_OF
from entrycache_evidence.together import Batch, Work
from entrycache_faults.model import Model
from entrycache_protocol.case import to_json
from entrycache_reference.rules import Rule


def shown(world: AnyWorld, seen: Exploration) -> str:
    """What was exhausted, in words."""
    reach = "closed" if seen.closed else f"up to {seen.depth} steps"
    return f"{world.told()}; {reach}, {seen.states} states, {seen.transitions} transitions"


def exhaust(worlds: Sequence[AnyWorld], model: Model | None = None, whole: bool = True) -> Work[Result]:
    """Exhaust these worlds; the evidence for each law that fired in them, and what failed.

    The steps are those of the reference, or of the model; with `whole` they are held to definitions and frames too. A
    law without a planted fault gives no evidence: nothing shows that it can fail.
    """

    def look(world: AnyWorld) -> tuple[Exploration, str]:
        found = explore(world, model=model, whole=whole)
        broken = found.counterexample
        return found._replace(counterexample=None), "" if broken is None else _failure(world, broken)

    # The large ones stand last, and go first: none of them is left for one core at the end.
    looked = (yield Batch("worlds", look, worlds[::-1]))[::-1]
    failures = [failure for _, failure in looked if failure]
    if failures:
        return [], failures
    seen = [(world, found) for world, (found, _) in zip(worlds, looked, strict=True)]
    failures = differences(seen, committed())
    fired = {rule: [(world, found) for world, found in seen if found.fired.get(rule)] for rule in Rule}
    rules = [rule for rule, inside in fired.items() if inside and rule in FAULT_OF]

    first = soonest.committed()

    def refutation(rule: Rule) -> str:
        found = refute(rule, [world for world, _ in fired[rule]], first.get(rule))
        return "" if found is None else _refuted(found)

    told = yield Batch("planted faults", refutation, rules)
    evidence = []
    for rule, shorter in zip(rules, told, strict=True):
        if shorter:
            evidence.append(Evidence(rule, "exhausted", _bounds(rule, fired[rule]), shorter))
        else:
            failures.append(f"{rule.value}: no world refutes its mutant, so nothing is shown about it")
    return evidence, failures


def refute(rule: Rule, inside: Sequence[AnyWorld], first: str | None = None) -> Refutation | None:
    """The shortest case that shows the planted fault of a rule in the world named `first`, else in any of these."""
    fault = FAULT_OF[rule]
    return shallowest(fault, [world for world in inside if world.name == first]) or shallowest(fault, inside)


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
