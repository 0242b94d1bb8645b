"""Prove laws of a reference with z3: lemmas, their obligations, and a model that runs on z3 terms.

A `Lemma` claims a rule by a list of `Obligation`s, each an implication that z3 has to prove. Every lemma names a seeded
fault (`Planted`), and counts only if z3 finds a counterexample with that fault. `on_terms` replaces the functions of a
model that cannot take terms; `held_to` and `Asked` build the obligations of a law from all paths of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.symbolic import Assumed, all_of, any_of, negated, paths
from entrycache_evidence.model_checker.checker import unhindered
from entrycache_faults.model import Model, Place
from entrycache_reference.rules import Rule


class Obligation(NamedTuple):
    """A claim that z3 has to prove: `given` implies `goal`.

    `given` must be satisfiable, since otherwise nothing is said.
    """

    name: str
    given: Any
    goal: Any


class Planted(NamedTuple):
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
    fault: Planted
    table: Any = None

    def of_norm(self) -> list[Obligation]:
        """Return the obligations about the reference itself."""
        return list(self.obligations(self.table, norm(self.fault.model.package)))


@cache
def norm(package: str) -> Model:
    """Return the reference of a system as a model without an error."""
    return Model(package)


EFFORT: Final = 10**9
"""The cost bound of one question to z3, in units of its own work; a time limit would depend on the machine."""


def unsatisfiable(term: Any) -> bool | None:
    """Return whether z3 refutes the term, or None if it does not know."""
    solver = z3.SimpleSolver()  # z3.Solver first looks for a tactic, which costs more than most questions
    solver.set("rlimit", EFFORT)
    solver.set("ctrl_c", False)  # z3 would take the signal for itself, and go on with "unknown"
    solver.add(term)
    answer = solver.check()
    return None if answer == z3.unknown else bool(answer == z3.unsat)


def problems(lemma: Lemma) -> list[str]:
    """Return the reasons why the lemma is not proved."""
    return asked(lemma)[1]


def asked(lemma: Lemma) -> tuple[int, list[str]]:
    """Prove the lemma; return the number of obligations, and the first reason why it is not proved."""
    with unhindered():
        return _asked(lemma)


def _asked(lemma: Lemma) -> tuple[int, list[str]]:
    count, found = 0, []
    # Many obligations have one assumption. Terms are kept with what is told of them: else their ids are given again.
    told: dict[int, tuple[Any, bool | None]] = {}
    for name, given, goal in lemma.obligations(lemma.table, norm(lemma.fault.model.package)):
        count += 1
        if given.get_id() not in told:
            told[given.get_id()] = given, unsatisfiable(given)
        is_void, is_refuted = told[given.get_id()][1], unsatisfiable(all_of((given, negated(goal))))
        if None in {is_void, is_refuted}:
            found.append(f"{lemma.rule.value}: {name}: not finished: z3 has given up after {EFFORT} units of work")
        elif is_void:
            found.append(f"{lemma.rule.value}: {name}: its assumptions cannot be met")
        elif not is_refuted:
            found.append(f"{lemma.rule.value}: {name}: not proved")
        if found:
            break
    if not count:
        found.append(f"{lemma.rule.value}: no obligation, so nothing is proved")
    if not refuted(lemma):
        found.append(f"{lemma.rule.value}: the planted error is not refuted: {lemma.fault.note}")
    return count, found


def refuted(lemma: Lemma) -> bool:
    """Return whether z3 finds a counterexample to some obligation once the seeded fault is there."""
    table = lemma.table if lemma.fault.table is None else lemma.fault.table
    obligations = lemma.obligations(table, lemma.fault.model)
    return any(unsatisfiable(all_of((given, negated(goal)))) is False for _, given, goal in obligations)


# --- A model that runs on terms

Ways = Iterable[tuple[Any, Any]]
"""All paths through a function, each with its condition."""


def on_terms(model: Model, replaced: Mapping[Place, object]) -> Model:
    """Return the model with these places replaced, also inside its seeded fault."""
    norm = Model(model.package, replaced)
    own = {place: _moved(made, norm) for place, made in model.replaced.items()}
    return Model(model.package, {**replaced, **own})


def _moved(made: object, norm: Model) -> object:
    """Rebind a function of a seeded fault so that it calls this model instead of the reference."""
    if not isinstance(made, FunctionType):
        return made
    names: dict[str, Any] = {}
    names.update({name: _own(value, made, names, norm) for name, value in made.__globals__.items()})
    return _with(made, names)


def _own(value: Any, made: FunctionType, names: dict[str, Any], norm: Model) -> Any:
    """Rebind a value that a seeded fault uses: a function of the reference, or a helper of the fault."""
    is_helper = isinstance(value, FunctionType) and value.__module__ == made.__module__
    return _with(value, names) if is_helper else norm.own(value)


def _with(made: FunctionType, names: dict[str, Any]) -> FunctionType:
    """Copy a function with other globals."""
    moved = FunctionType(made.__code__, names, made.__name__, made.__defaults__, made.__closure__)
    moved.__kwdefaults__ = made.__kwdefaults__
    return moved


def held_to(name: str, given: Any, ways: Ways, asked: Callable[[Any], tuple[bool, bool]]) -> Iterator[Obligation]:
    """Yield the obligation that a law holds on every path, if it applies to any.

    `asked` returns whether the law applies to a path, and whether it holds there.
    """
    about, wrong = [], []
    assumed = Assumed(given)
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
class Asked:
    """The cases of a system, the function that prepares its model for terms, and a description of the states."""

    cases: Sequence[Case]
    fit: Callable[[Model], Model]
    said: str

    def lemma(self, law: Any) -> Lemma:
        """Build the lemma of a law: it holds after each of its operations."""
        fault = FAULT_OF[law.rule]
        named = ", ".join(op.name for op in law.on) or "every operation"
        return Lemma(
            law.rule,
            f"the law itself, after {named}; {self.said}",
            lambda table, model: self.obligations(law, model),
            Planted(fault.note, fault.model),
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

            yield from held_to(case.name, case.given, _played(self, model, case), judged)


@cache
def _fit(asked: Asked, model: Model) -> Model:
    return asked.fit(model)


@cache
def _played(asked: Asked, model: Model, case: Case) -> tuple[tuple[Any, Any], ...]:
    """Return the steps that the model makes of a case, each with its condition."""
    step = _fit(asked, model).step
    return tuple(paths(lambda: step(case.state, case.op, case.config), case.given))
