"""A lemma about takes or about the queue, and how z3 checks it."""

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
    """Whenever `given` is true, `goal` has to be; `given` must be satisfiable, or nothing is said."""

    name: str
    given: Any
    goal: Any


class Planted(NamedTuple):
    """A planted error: a model with an error in one of the reference's functions, or a changed decision table.

    `table` None: the system has none, or it is that of the reference.
    """

    note: str
    model: Model
    table: Any = None


class Lemma(NamedTuple):
    """The obligations of a rule as they follow from a decision table and the functions of a model: base and steps.

    `table` is that of the reference, None where the system has none. The obligations may be made one by one, as they
    are asked for.
    """

    rule: Rule
    claim: str
    obligations: Callable[[Any, Model], Iterable[Obligation]]
    fault: Planted
    table: Any = None

    def of_norm(self) -> list[Obligation]:
        """The obligations about the reference itself."""
        return list(self.obligations(self.table, norm(self.fault.model.package)))


@cache
def norm(package: str) -> Model:
    """The reference of a system, as the model without an error."""
    return Model(package)


EFFORT: Final = 10**9
"""After so many units of its own work, not after a time, z3 gives a term up: so it does not matter what else runs."""


def unsatisfiable(term: Any) -> bool | None:
    """Whether z3 refutes the term; None: it does not know."""
    solver = z3.SimpleSolver()  # z3.Solver first looks for a tactic, which costs more than most questions
    solver.set("rlimit", EFFORT)
    solver.set("ctrl_c", False)  # z3 would take the signal for itself, and go on with "unknown"
    solver.add(term)
    answer = solver.check()
    return None if answer == z3.unknown else bool(answer == z3.unsat)


def problems(lemma: Lemma) -> list[str]:
    """What keeps the lemma from being proved: an obligation that fails or is void, a fault that is not refuted."""
    return asked(lemma)[1]


def asked(lemma: Lemma) -> tuple[int, list[str]]:
    """The number of obligations, and what keeps the lemma from being proved: the first that fails or is void."""
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
    """Whether z3 finds a counterexample to some obligation once the planted error is there."""
    table = lemma.table if lemma.fault.table is None else lemma.fault.table
    obligations = lemma.obligations(table, lemma.fault.model)
    return any(unsatisfiable(all_of((given, negated(goal)))) is False for _, given, goal in obligations)


# --- on_terms
# A model of a reference that can be run on z3 terms, and laws that are asked of what it does.

Ways = Iterable[tuple[Any, Any]]
"""Every way through something, with its condition."""


def on_terms(model: Model, replaced: Mapping[Place, object]) -> Model:
    """The model with these places replaced. What its planted fault calls of the reference has them replaced too."""
    norm = Model(model.package, replaced)
    own = {place: _moved(made, norm) for place, made in model.replaced.items()}
    return Model(model.package, {**replaced, **own})


def _moved(made: object, norm: Model) -> object:
    """A function of a planted fault, calling this model where it calls the reference."""
    if not isinstance(made, FunctionType):
        return made
    names: dict[str, Any] = {}
    names.update({name: _own(value, made, names, norm) for name, value in made.__globals__.items()})
    return _with(made, names)


def _own(value: Any, made: FunctionType, names: dict[str, Any], norm: Model) -> Any:
    """What a planted fault calls: this model's functions, and its own helpers, which do so too."""
    is_helper = isinstance(value, FunctionType) and value.__module__ == made.__module__
    return _with(value, names) if is_helper else norm.own(value)


def _with(made: FunctionType, names: dict[str, Any]) -> FunctionType:
    """A function with other globals."""
    moved = FunctionType(made.__code__, names, made.__name__, made.__defaults__, made.__closure__)
    moved.__kwdefaults__ = made.__kwdefaults__
    return moved


def held_to(name: str, given: Any, ways: Ways, asked: Callable[[Any], tuple[bool, bool]]) -> Iterator[Obligation]:
    """That a law holds on every way, if it is about any: `asked` says whether it is about one, and whether it holds."""
    about, wrong = [], []
    assumed = Assumed(given)
    for condition, way in ways:
        for further, (is_about, holds) in paths(lambda: asked(way), condition, assumed):  # noqa: B023
            met = all_of((condition, further))
            about += [met] if is_about else []
            wrong += [] if holds else [met]
    if about:
        yield Obligation(name, all_of((given, any_of(about))), negated(any_of(wrong)))


# --- laws
# Laws as they stand in a reference, asked of steps whose numbers are z3 terms: one lemma a rule.


@dataclass(frozen=True, eq=False)
class Case:
    """One operation on one state, whose numbers are terms for which `given` holds."""

    name: str
    state: Any
    op: Any
    config: Any
    given: Any


@dataclass(frozen=True, eq=False)
class Asked:
    """The cases of a system, how its model is made fit for terms, and what a line says of the states."""

    cases: Sequence[Case]
    fit: Callable[[Model], Model]
    said: str

    def lemma(self, law: Any) -> Lemma:
        """The law, after each of its operations."""
        fault = FAULT_OF[law.rule]
        named = ", ".join(op.name for op in law.on) or "every operation"
        return Lemma(
            law.rule,
            f"the law itself, after {named}; {self.said}",
            lambda table, model: self.obligations(law, model),
            Planted(fault.note, fault.model),
        )

    def obligations(self, law: Any, model: Model) -> Iterator[Obligation]:
        """One a case that the law is about."""
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
    """The steps that the model makes of a case, each with its condition."""
    step = _fit(asked, model).step
    return tuple(paths(lambda: step(case.state, case.op, case.config), case.given))
