"""The detectors of the mutation matrix: each returns what detects a change of the reference, or an empty text.

A detector runs in a process whose reference is changed. Those about laws, bounded models, the fast cache and the
examples need only a system. Lemmas and contracts are asked only about changes of functions that they call, so
`record_calls` records these functions beforehand. All detectors are seeded: the same change is detected by the same
law.
"""

import importlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from itertools import islice
from types import FrameType
from typing import Any, Final, NamedTuple

from entrycache_conformance.judge import Coverage, LawBroken, judge, step_with_laws
from entrycache_evidence.core import checkout, models, stress
from entrycache_evidence.induction import lemma as lemmas
from entrycache_evidence.induction.lemma import is_unsatisfiable
from entrycache_evidence.model_checker.checker import AnyBoundedModel, explore
from entrycache_evidence.rulebook.examples import load_example
from entrycache_evidence.run import list_lemmas
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_faults.model import Model
from entrycache_protocol import errors, subject
from entrycache_protocol.case import Case
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

FORMAL: Final = ("laws", "worlds", "contracts", "z3")
"""The detectors that count as formal evidence.

They know the rules, but neither a second implementation nor committed answers. `contracts` are those of CrossHair on
plain inputs; `z3` are the lemmas.
"""


def is_formal(names: Collection[str]) -> bool:
    """Return whether one of these detectors is formal."""
    return any(name in names for name in FORMAL)


BLOCK: Final = 40
"""The number of scaled cases that one detector run checks within its time."""

Counts = tuple[int, int, int]
"""The states, transitions and steps of a bounded model."""


class CostBound(NamedTuple):
    """The cost bound of the detectors: cases under laws, cases of the fast cache, and steps of models."""

    cases: int
    fast_cases: int
    runs: int
    depth: int
    inputs: int


QUICK: Final = CostBound(cases=stress.PLAIN_CASES, fast_cases=60, runs=60, depth=2, inputs=400)
FAR: Final = CostBound(cases=3_000, fast_cases=600, runs=10_000, depth=99, inputs=20_000)


def laws(system: AnySystem, bound: CostBound) -> str:
    """Check the vocabulary, and seeded cases of all profiles, levels and variants under every law."""
    stray = _find_misplaced(system) or checkout.find_vocabulary_difference(system)
    if stray:
        return stray
    try:
        for _ in stress.generate_cases(system, bound.cases, Coverage(definition=models.find_definition(system))):
            pass
        for number, (config, steps) in enumerate(SYSTEM_EVIDENCE[system.name].runs()):
            if number >= bound.runs:
                break
            state = system.model.initial(config)
            for op in steps:
                state = step_with_laws(
                    system, config, state, op, Coverage(definition=models.find_definition(system))
                ).state
    except LawBroken as broken:
        return str(broken).removeprefix("the reference breaks ").partition(" at ")[0]
    return ""


def large_runs(system: AnySystem) -> str:
    """Check the large runs of `prove` under every law."""
    return stress.find_broken_law(system, SYSTEM_EVIDENCE[system.name].large_runs()).partition(" at ")[0]


def crowded_runs(system: AnySystem) -> str:
    """Check the crowded runs of `prove` under every law."""
    return stress.find_broken_law(system, SYSTEM_EVIDENCE[system.name].crowded_runs()).partition(" at ")[0]


def scaled_cases(system: AnySystem, first: int) -> str:
    """Check a block of the scaled cases of `prove` under every law."""
    return stress.find_broken_law(system, islice(stress.generate_scaled_cases(system), first, first + BLOCK)).partition(
        " at "
    )[0]


def count_large_states(system: AnySystem) -> int:
    """Return the number of the runs of `prove` that begin in a large state."""
    return sum(1 for _ in SYSTEM_EVIDENCE[system.name].large_states(1_010))


def large_states(system: AnySystem, number: int) -> str:
    """Check one of the runs of `prove` that begin in a large state."""
    runs = islice(SYSTEM_EVIDENCE[system.name].large_states(stress.ITEM_COUNT), number, number + 1)
    return stress.find_broken_law(system, runs).partition(" at ")[0]


INDIRECT_OPERATIONS: Final = frozenset({"store_inner", "fail_forward", "read_begin", "replay_begin"})
"""Operations that observe or prepare the subject of a rule whose law is checked at other operations."""


def _find_misplaced(system: AnySystem) -> str:
    """Return the first operation without a place, or the first variant whose default is not its first member."""
    default = system.model.variants()
    variants = {field.name: getattr(default, field.name) for field in fields(default)}
    first = {name: next(iter(type(value).__members__.values())) for name, value in variants.items()}
    problems = [f"the level or the rule of {op.name}" for op in system.ops.values() if not _is_placed(system, op)]
    problems += [f"the default of {name}" for name, value in variants.items() if value is not first[name]]
    return next(iter(problems), "")


def _is_placed(system: AnySystem, op: type[Any]) -> bool:
    """Return whether an operation has a level, and a rule whose law is checked at it."""
    operations = [law.on for law in system.laws.table if law.rule is op.rule]
    return op.level in system.levels and (
        op.name in INDIRECT_OPERATIONS or any(not on or op in on for on in operations)
    )


def fast_cache(system: AnySystem, bound: CostBound) -> str:
    """Play the same cases on our fast cache and compare answers and rows."""
    assert system.fast is not None
    assert system.fast.open_with_rows is not None
    for declaration, generated in stress.generate_cases(system, bound.fast_cases, None, fast=True):
        emitted: list[Any] = []
        instance = system.fast.open_with_rows(generated.case.config, emitted.append)
        outcomes, rows = [], []
        for op in generated.case.steps:
            emitted.clear()
            outcomes.append(instance(op))
            rows.append([_plain(row) for row in emitted])
        difference = judge(generated.case, generated.steps, subject.RunResult(tuple(outcomes)), declaration)
        if difference is not None:
            return f"answer of {generated.case.steps[difference.at].name}"
        for op, done, own in zip(generated.case.steps, generated.steps, rows, strict=True):
            if [tuple(row)[1:] for row in done.rows] != own:
                return f"rows of {op.name}"
    return ""


def _plain(row: Any) -> tuple[Any, ...]:
    """Convert a row of a fast cache to the form of the reference, with keys as text."""
    return tuple(value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value for value in row)


def examples(system: AnySystem, bound: CostBound) -> str:
    """Check that the examples of the rules can be read and have their committed answers."""
    for rule in Rule:
        try:
            example = load_example(rule)
        except errors.UsageError:
            return f"{rule.value} cannot be read"
        example_case = example.content
        if not isinstance(example_case, Case) or example_case.system.name != system.name:
            continue
        if _answers(system, example_case) != example.value["outcomes"]:
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


def list_models(system: AnySystem, bound: CostBound) -> Iterator[AnyBoundedModel]:
    """Yield the bounded models of a pull request, within a few steps."""
    for scope in SYSTEM_EVIDENCE[system.name].models_of("ci"):
        depth = bound.depth if scope.depth is None else min(scope.depth, bound.depth)
        yield replace(scope, depth=None if depth == FAR.depth else depth)


def count_models(system: AnySystem, bound: CostBound) -> dict[str, Counts]:
    """Return the counts of these models."""
    counts = {}
    for scope in list_models(system, bound):
        exploration = explore(scope)
        assert exploration.counterexample is None, scope.name
        counts[scope.name] = (exploration.states, exploration.transitions, exploration.depth)
    return counts


def bounded_models(system: AnySystem, bound: CostBound, counts: Mapping[str, Counts]) -> tuple[str, str]:
    """Explore the models; return the laws that are broken in one, and the first model with other counts."""
    differing = ""
    for scope in list_models(system, bound):
        exploration = explore(scope)
        if exploration.counterexample is not None:
            return ", ".join(rule.value for rule in exploration.counterexample.rules), differing
        if (exploration.states, exploration.transitions, exploration.depth) != counts[scope.name]:
            differing = differing or scope.name
    return "", differing


SIMPLE_DETECTORS: Final[Mapping[str, Callable[[AnySystem, CostBound], str]]] = {
    "laws": laws,
    "twin": fast_cache,
    "examples": examples,
}
"""The detectors that need nothing but a system."""


# --- Lemmas and contracts

REFERENCE: Final = "/entrycache_reference/"


def record_calls(work: Callable[[], Any]) -> frozenset[str]:
    """Return the functions of the reference that this work calls, as `module:name`."""
    names: set[str] = set()

    def record_call(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and REFERENCE in file:
            names.add(f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname.replace('.<locals>', '')}")

    sys.setprofile(record_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    return frozenset(names)


def z3_lemma(number: int) -> str:
    """Return the first obligation of this lemma that is not proved any more; empty if there is none."""
    lemmas.reference_model.cache_clear()
    lemma = _lemmas()[number]
    default_model = lemmas.reference_model(lemma.fault.model.package)
    for name, given, goal in lemma.obligations(lemma.table, default_model):
        if _unproved(given, goal):
            return f"{lemma.rule.value}: {name}"
    return ""


def _unproved(given: Any, goal: Any) -> bool:
    z3 = importlib.import_module("z3")
    return is_unsatisfiable(z3.And(given, z3.Not(goal))) is not True


_lemmas: Final = cache(list_lemmas)


def reach_of_lemmas(package: str) -> dict[int, frozenset[str]]:
    """Return the functions of the reference that the lemmas about a system call."""
    return {
        number: record_calls(lemma.of_reference)
        for number, lemma in enumerate(_lemmas())
        if lemma.fault.model.package == package
    }


def _contracts(system: AnySystem) -> tuple[Any, ...]:
    module = SYSTEM_EVIDENCE[system.name].contracts
    return () if module is None else tuple(importlib.import_module(module).NIGHTLY)


def contracts(system: AnySystem, package: str, inputs: int) -> str:
    """Return the first rule that a contract names on one of its plain inputs."""
    with models.use_model(Model(package)):
        for contract in _contracts(system):
            check = contract.check
            total = sum(1 for _ in contract.grid())
            for values in islice(contract.grid(), 0, None, max(1, total // inputs)):
                broken = check(*values)
                if broken:
                    return f"{broken[0]} ({contract.name})"
    return ""


FEW: Final = 60
"""The number of inputs that show which functions contracts call."""


def reach_of_contracts(system: AnySystem, package: str) -> frozenset[str]:
    """Return the functions of the reference that the contracts call."""
    return record_calls(lambda: contracts(system, package, FEW))
