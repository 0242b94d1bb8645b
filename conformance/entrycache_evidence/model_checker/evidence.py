"""Obtain the grade *exhausted*: exhaust bounded models, and refute a seeded fault of each rule.

`exhaust` explores the models of a profile in several processes and returns the evidence of each law that fired in them.
The numbers of states and transitions must equal the committed counts in `worlds.json`. `soonest.json` names
the model in which each seeded fault shows first. The search begins there, and tries all models if that one does not
show it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_evidence.core import checkout, models, scheduler
from entrycache_evidence.core.results import Evidence, Result
from entrycache_evidence.model_checker import checker
from entrycache_faults.model import Model
from entrycache_protocol.case import case_to_json
from entrycache_reference.rules import Rule

COUNTS_FILE: Final = "worlds.json"
ACCEPT: Final = "python -m entrycache_dev.pages.model_counts PROFILE"
"""The command that writes the counts of the models of a profile."""


class Key(NamedTuple):
    """The identity of a bounded model; `within` is None for a complete exploration."""

    system: str
    name: str
    within: int | None


class Counts(NamedTuple):
    """The counts of an exploration; `closed` means that no step leads out of these states."""

    states: int
    transitions: int
    depth: int
    closed: bool


def counts_key(scope: checker.AnyBoundedModel) -> Key:
    """Return the identity of a model."""
    return Key(scope.parts().system.name, scope.name, scope.depth)


def count_states(scope: checker.AnyBoundedModel, exploration: checker.Exploration) -> tuple[Key, Counts]:
    """Return the identity and the counts of an exploration."""
    return counts_key(scope), Counts(exploration.states, exploration.transitions, exploration.depth, exploration.closed)


def locate_counts() -> Path | None:
    """Return the path of the committed counts, or None outside of a checkout."""
    return checkout.locate_baseline(COUNTS_FILE)


def load_counts() -> dict[Key, Counts]:
    """Load the committed counts; empty outside of a checkout."""
    held = checkout.read_baseline(locate_counts())
    return {
        Key(line["system"], line["world"], line["within"]): Counts(*(line[name] for name in Counts._fields))
        for line in (() if held is None else held["worlds"])
    }


def compare_counts(
    results: Iterable[tuple[checker.AnyBoundedModel, checker.Exploration]], held: Mapping[Key, Counts]
) -> list[str]:
    """Return a line for each model whose counts differ from the committed ones, with the command that accepts them."""
    return [
        f"the bounded model {key.name!r} of {key.system}: {describe_counts(now)} now, {describe_counts(held[key])}, "
        "in worlds.json; "
        f"if the change is intended: {ACCEPT}"
        for key, now in (count_states(*one) for one in results)
        if key in held and held[key] != now
    ]


def describe_counts(counts: Counts) -> str:
    """Describe counts in words."""
    reach = "closed" if counts.closed else f"within {counts.depth} steps"
    return f"{counts.states} states and {counts.transitions} transitions, {reach}"


def dump_counts(held: Mapping[Key, Counts]) -> str:
    """Render the file of counts, one line for each model."""
    lines: list[dict[str, Any]] = [
        {"system": key.system, "world": key.name, "within": key.within, **counts._asdict()}
        for key, counts in held.items()
    ]
    return '{\n "schema": 1,\n "worlds": [\n  ' + ",\n  ".join(map(json.dumps, lines)) + "\n ]\n}\n"


def write_counts(held: Mapping[Key, Counts]) -> None:
    """Write `worlds.json` of this checkout.

    Raises:
        FileNotFoundError: this is not a source checkout.
    """
    checkout.write_baseline(COUNTS_FILE, locate_counts(), dump_counts(held))


# --- First sightings

FIRST_SIGHTINGS_FILE: Final = "soonest.json"


def locate_first_sightings() -> Path | None:
    """Return the path of the committed names, or None outside of a checkout."""
    return checkout.locate_baseline(FIRST_SIGHTINGS_FILE)


def load_first_sightings() -> dict[Rule, str]:
    """Load the name of a model for each rule whose fault was searched for; empty outside of a checkout."""
    held = checkout.read_baseline(locate_first_sightings())
    return {} if held is None else {Rule(rule): scope for rule, scope in held["worlds"].items()}


def write_first_sightings(held: Mapping[Rule, str]) -> None:
    """Write `soonest.json` of this checkout, in the order of rules.

    Raises:
        FileNotFoundError: this is not a source checkout.
    """
    lines = {rule.value: held[rule] for rule in Rule if rule in held}
    checkout.write_baseline(
        FIRST_SIGHTINGS_FILE, locate_first_sightings(), json.dumps({"schema": 1, "worlds": lines}, indent=1) + "\n"
    )


# --- Evidence


def describe_exploration(scope: checker.AnyBoundedModel, exploration: checker.Exploration) -> str:
    """Describe what was exhausted."""
    reach = "closed" if exploration.closed else f"up to {exploration.depth} steps"
    return f"{scope.describe()}; {reach}, {exploration.states} states, {exploration.transitions} transitions"


def exhaust(
    scopes: Sequence[checker.AnyBoundedModel], model: Model | None = None, whole: bool = True
) -> scheduler.Work[Result]:
    """Exhaust these models; return the evidence for each law that fired in them, and the failures.

    The steps are those of the reference, or of `model`; with `whole` they are held to definitions and frames too. A law
    without a seeded fault gives no evidence, because nothing shows that it can fail.
    """

    def explore_model(scope: checker.AnyBoundedModel) -> tuple[checker.Exploration, str]:
        exploration = checker.explore(scope, model=model, whole=whole)
        broken = exploration.counterexample
        return exploration._replace(counterexample=None), "" if broken is None else _describe_failure(scope, broken)

    # The large models stand last in the list and start first, so that no core has to finish one alone at the end.
    results = (yield scheduler.Batch("bounded models", explore_model, scopes[::-1]))[::-1]
    failures = [failure for _, failure in results if failure]
    if failures:
        return [], failures
    explorations = [(scope, exploration) for scope, (exploration, _) in zip(scopes, results, strict=True)]
    failures = compare_counts(explorations, load_counts())
    fired = {
        rule: [(scope, exploration) for scope, exploration in explorations if exploration.fired.get(rule)]
        for rule in Rule
    }
    rules = [rule for rule, inside in fired.items() if inside and rule in models.FAULT_OF]

    first = load_first_sightings()

    def refutation(rule: Rule) -> str:
        shortest = refute(rule, [scope for scope, _ in fired[rule]], first.get(rule))
        return "" if shortest is None else _describe_refutation(shortest)

    refutations = yield scheduler.Batch("seeded faults", refutation, rules)
    evidence = []
    for rule, shorter in zip(rules, refutations, strict=True):
        if shorter:
            evidence.append(Evidence(rule, "exhausted", _bounds(rule, fired[rule]), shorter))
        else:
            failures.append(f"{rule.value}: no bounded model detects its seeded fault, so nothing is shown about it")
    return evidence, failures


def refute(
    rule: Rule, inside: Sequence[checker.AnyBoundedModel], first: str | None = None
) -> checker.Refutation | None:
    """Find the shortest case that shows the fault of a rule, first in the model named `first`, then in all of them."""
    fault = models.FAULT_OF[rule]
    return checker.find_shortest(fault, [scope for scope in inside if scope.name == first]) or checker.find_shortest(
        fault, inside
    )


def _bounds(rule: Rule, inside: Sequence[tuple[checker.AnyBoundedModel, checker.Exploration]]) -> str:
    scope, exploration = max(inside, key=lambda pair: (_is_default(pair[0]), pair[1].states))
    checks = sum(exploration.fired[rule] for _, exploration in inside)
    others = [f"{other.name} ({_size(explored)})" for other, explored in inside if other is not scope]
    more = f"; also: {', '.join(others)}" if others else ""
    return f"{describe_exploration(scope, exploration)}{more}; checked {checks} times"


def _is_default(scope: checker.AnyBoundedModel) -> bool:
    """Return whether the model has every variant at its default."""
    return bool(scope.config.variants == type(scope.config)().variants)


def _size(exploration: checker.Exploration) -> str:
    states = f"{exploration.states} states"
    return states if exploration.closed else f"{states} within {exploration.depth} steps"


def _describe_refutation(refutation: checker.Refutation) -> str:
    steps = len(refutation.counterexample.case.steps)
    unit = "step" if steps == 1 else "steps"
    return f"{refutation.mutant.note} Shortest: {steps} {unit} ({refutation.scope.name})."


def _describe_failure(scope: checker.AnyBoundedModel, counterexample: checker.Counterexample) -> str:
    rules = ", ".join(rule.value for rule in counterexample.rules)
    case = counterexample.case
    return (
        f"{rules}: broken in {len(case.steps)} steps of the bounded model {scope.name!r}; "
        f"the case: {json.dumps(case_to_json(case))}"
    )
