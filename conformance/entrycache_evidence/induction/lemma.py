"""Prove laws of a reference with z3: lemmas, their obligations, and a model that runs on z3 terms.

A `Lemma` claims a rule by a list of `Obligation`s, each an implication that z3 has to prove. Every lemma names a seeded
fault (`LemmaFault`), and counts only if z3 finds a counterexample with that fault. `build_term_model` replaces the
functions of a model that cannot take terms; `law_obligations` and `LawCases` build the obligations of a law from all
paths of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.symbolic import Assumptions, all_of, any_of, negated, paths
from entrycache_evidence.model_checker.checker import without_cycle_search
from entrycache_faults.model import Model, Place
from entrycache_reference.rules import Rule


class Obligation(NamedTuple):
    """A claim that z3 has to prove: `given` implies `goal`.

    `given` must be satisfiable, since otherwise nothing is said.
    """

    name: str
    given: Any
    goal: Any


class LemmaFault(NamedTuple):
    """A seeded fault of a lemma: a model with an error in one function, or a changed decision table.

    `table` is None if the system has none, or if the fault leaves it as it is.
    """

    note: str
    model: Model
    table: Any = None


class Lemma(NamedTuple):
    """The obligations of a rule, base and steps, as functions of a decision table and a model.

    `table` is that of the reference, or None if the system has none. The obligations may be made lazily.
    """

    rule: Rule
    claim: str
    obligations: Callable[[Any, Model], Iterable[Obligation]]
    fault: LemmaFault
    table: Any = None

    def of_norm(self) -> list[Obligation]:
        """Return the obligations about the reference itself."""
        return list(self.obligations(self.table, reference_model(self.fault.model.package)))


@cache
def reference_model(package: str) -> Model:
    """Return the reference of a system as a model without an error."""
    return Model(package)


COST_BOUND: Final = 10**9
"""The cost bound of one question to z3, in units of its own work; a time limit would depend on the machine."""


def is_unsatisfiable(term: Any) -> bool | None:
    """Return whether z3 refutes the term, or None if it does not know."""
    solver = z3.SimpleSolver()  # z3.Solver first looks for a tactic, which costs more than most questions
    solver.set("rlimit", COST_BOUND)
    solver.set("ctrl_c", False)  # z3 would take the signal for itself, and go on with "unknown"
    solver.add(term)
    answer = solver.check()
    return None if answer == z3.unknown else bool(answer == z3.unsat)


def list_problems(lemma: Lemma) -> list[str]:
    """Return the reasons why the lemma is not proved."""
    return prove_lemma(lemma)[1]


def prove_lemma(lemma: Lemma) -> tuple[int, list[str]]:
    """Prove the lemma; return the number of obligations, and the first reason why it is not proved."""
    with without_cycle_search():
        return _prove_lemma(lemma)


def _prove_lemma(lemma: Lemma) -> tuple[int, list[str]]:
    count, found = 0, []
    # Many obligations have one assumption. Terms are kept with what is told of them: else their ids are given again.
    told: dict[int, tuple[Any, bool | None]] = {}
    for name, given, goal in lemma.obligations(lemma.table, reference_model(lemma.fault.model.package)):
        count += 1
        if given.get_id() not in told:
            told[given.get_id()] = given, is_unsatisfiable(given)
        is_void, is_refuted = told[given.get_id()][1], is_unsatisfiable(all_of((given, negated(goal))))
        if None in {is_void, is_refuted}:
            found.append(f"{lemma.rule.value}: {name}: not finished: z3 gave up after {COST_BOUND} units of work")
        elif is_void:
            found.append(f"{lemma.rule.value}: {name}: its assumptions cannot be satisfied")
        elif not is_refuted:
            found.append(f"{lemma.rule.value}: {name}: not proved")
        if found:
            break
    if not count:
        found.append(f"{lemma.rule.value}: no obligation, so nothing is proved")
    if not is_fault_refuted(lemma):
        found.append(f"{lemma.rule.value}: the seeded fault is not refuted: {lemma.fault.note}")
    return count, found


def is_fault_refuted(lemma: Lemma) -> bool:
    """Return whether z3 finds a counterexample to some obligation once the seeded fault is there."""
    table = lemma.table if lemma.fault.table is None else lemma.fault.table
    obligations = lemma.obligations(table, lemma.fault.model)
    return any(is_unsatisfiable(all_of((given, negated(goal)))) is False for _, given, goal in obligations)


# --- A model that runs on terms

Paths = Iterable[tuple[Any, Any]]
"""All paths through a function, each with its condition."""


def build_term_model(model: Model, replaced: Mapping[Place, object]) -> Model:
    """Return the model with these places replaced, also inside its seeded fault."""
    norm = Model(model.package, replaced)
    own = {place: _rebind_function(made, norm) for place, made in model.replaced.items()}
    return Model(model.package, {**replaced, **own})


def _rebind_function(made: object, norm: Model) -> object:
    """Rebind a function of a seeded fault so that it calls this model instead of the reference."""
    if not isinstance(made, FunctionType):
        return made
    names: dict[str, Any] = {}
    names.update({name: _rebind_value(value, made, names, norm) for name, value in made.__globals__.items()})
    return _with_globals(made, names)


def _rebind_value(value: Any, made: FunctionType, names: dict[str, Any], norm: Model) -> Any:
    """Rebind a value that a seeded fault uses: a function of the reference, or a helper of the fault."""
    is_helper = isinstance(value, FunctionType) and value.__module__ == made.__module__
    return _with_globals(value, names) if is_helper else norm.own(value)


def _with_globals(made: FunctionType, names: dict[str, Any]) -> FunctionType:
    """Copy a function with other globals."""
    moved = FunctionType(made.__code__, names, made.__name__, made.__defaults__, made.__closure__)
    moved.__kwdefaults__ = made.__kwdefaults__
    return moved


def law_obligations(
    name: str, given: Any, ways: Paths, asked: Callable[[Any], tuple[bool, bool]]
) -> Iterator[Obligation]:
    """Yield the obligation that a law holds on every path, if it applies to any.

    `prove_lemma` returns whether the law applies to a path, and whether it holds there.
    """
    about, wrong = [], []
    assumed = Assumptions(given)
    for condition, way in ways:
        for further, (is_about, holds) in paths(lambda: asked(way), condition, assumed):  # noqa: B023
            met = all_of((condition, further))
            about += [met] if is_about else []
            wrong += [] if holds else [met]
    if about:
        yield Obligation(name, all_of((given, any_of(about))), negated(any_of(wrong)))


# --- Laws on terms


@dataclass(frozen=True, eq=False)
class Case:
    """One operation on one state whose numbers are terms for which `given` holds."""

    name: str
    state: Any
    op: Any
    config: Any
    given: Any


@dataclass(frozen=True, eq=False)
class LawCases:
    """The cases of a system, the function that prepares its model for terms, and a description of the states."""

    cases: Sequence[Case]
    prepare: Callable[[Model], Model]
    description: str

    def lemma(self, law: Any) -> Lemma:
        """Build the lemma of a law: it holds after each of its operations."""
        fault = FAULT_OF[law.rule]
        named = ", ".join(op.name for op in law.on) or "every operation"
        return Lemma(
            law.rule,
            f"the law itself, after {named}; {self.description}",
            lambda table, model: self.obligations(law, model),
            LemmaFault(fault.note, fault.model),
        )

    def obligations(self, law: Any, model: Model) -> Iterator[Obligation]:
        """Yield one obligation for each case to which the law applies."""
        for case in self.cases:
            if law.on and type(case.op) not in law.on:
                continue

            def judged(step: Any, case: Case = case) -> tuple[bool, bool]:
                asked = case.config, case.state, case.op, step
                is_about = bool(law.guard(*asked))
                return is_about, not is_about or bool(law.holds(*asked))

            yield from law_obligations(case.name, case.given, _steps_of_case(self, model, case), judged)


@cache
def _prepared_model(asked: LawCases, model: Model) -> Model:
    return asked.prepare(model)


@cache
def _steps_of_case(asked: LawCases, model: Model, case: Case) -> tuple[tuple[Any, Any], ...]:
    """Return the steps that the model makes of a case, each with its condition."""
    step = _prepared_model(asked, model).step
    return tuple(paths(lambda: step(case.state, case.op, case.config), case.given))
