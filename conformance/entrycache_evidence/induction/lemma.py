"""Prove laws of a reference with z3: lemmas, their obligations, and a model that runs on z3 terms.

A `Lemma` claims a rule by a list of `Obligation`s, each an implication that z3 has to prove. Every lemma names a seeded
fault (`LemmaFault`), and counts only if z3 finds a counterexample with that fault. `build_term_model` replaces the
functions of a model that cannot take terms; `law_obligations` and `LawCases` build the obligations of a law from all
paths of a step.
"""

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


ALL_SIZES: Final = "all sizes"
FEW_SHAPES: Final = "any numbers, in states of these shapes"


class Lemma(NamedTuple):
    """The obligations of a rule, base and steps, as functions of a decision table and a model.

    `table` is that of the reference, or None if the system has none. The obligations may be made lazily. `loop` names
    the function whose loop the lemma is about, after any number of turns; a bound on the turns must refute it.
    `shapes` says of which states a lemma speaks that is about no loop.
    """

    rule: Rule
    claim: str
    obligations: Callable[[Any, Model], Iterable[Obligation]]
    fault: LemmaFault
    table: Any = None
    loop: str = ""
    shapes: str = FEW_SHAPES

    @property
    def covers(self) -> str:
        """The states that the lemma covers: all sizes only if it is about a loop, where tests refute each bound."""
        return ALL_SIZES if self.loop else self.shapes

    def of_reference(self) -> list[Obligation]:
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
    count, problems = 0, []
    # Many obligations share an assumption. The answers keep the terms alive, since z3 reuses the ids of freed terms.
    answers: dict[int, tuple[Any, bool | None]] = {}
    for name, given, goal in lemma.obligations(lemma.table, reference_model(lemma.fault.model.package)):
        count += 1
        if given.get_id() not in answers:
            answers[given.get_id()] = given, is_unsatisfiable(given)
        is_void, is_refuted = answers[given.get_id()][1], is_unsatisfiable(all_of((given, negated(goal))))
        if None in {is_void, is_refuted}:
            problems.append(f"{lemma.rule.value}: {name}: not finished: z3 gave up after {COST_BOUND} units of work")
        elif is_void:
            problems.append(f"{lemma.rule.value}: {name}: its assumptions cannot be satisfied")
        elif not is_refuted:
            problems.append(f"{lemma.rule.value}: {name}: not proved")
        if problems:
            break
    if not count:
        problems.append(f"{lemma.rule.value}: no obligation, so nothing is proved")
    if not is_fault_refuted(lemma):
        problems.append(f"{lemma.rule.value}: the seeded fault is not refuted: {lemma.fault.note}")
    return count, problems


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
    default_model = Model(model.package, replaced)
    own = {place: _rebind_function(function, default_model) for place, function in model.replaced.items()}
    return Model(model.package, {**replaced, **own})


def _rebind_function(function: object, default_model: Model) -> object:
    """Rebind a function of a seeded fault so that it calls this model instead of the reference."""
    if not isinstance(function, FunctionType):
        return function
    names: dict[str, Any] = {}
    names.update(
        {name: _rebind_value(value, function, names, default_model) for name, value in function.__globals__.items()}
    )
    return _with_globals(function, names)


def _rebind_value(value: Any, function: FunctionType, names: dict[str, Any], default_model: Model) -> Any:
    """Rebind a value that a seeded fault uses: a function of the reference, or a helper of the fault."""
    is_helper = isinstance(value, FunctionType) and value.__module__ == function.__module__
    return _with_globals(value, names) if is_helper else default_model.own(value)


def _with_globals(function: FunctionType, names: dict[str, Any]) -> FunctionType:
    """Copy a function with other globals."""
    moved = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    moved.__kwdefaults__ = function.__kwdefaults__
    return moved


def law_obligations(
    name: str, given: Any, ways: Paths, judge: Callable[[Any], tuple[bool, bool]]
) -> Iterator[Obligation]:
    """Yield the obligation that a law holds on every path, if it applies to any.

    `judge` returns whether the law applies to a path, and whether it holds there.
    """
    about, wrong = [], []
    assumed = Assumptions(given)
    for condition, way in ways:
        for further, (is_about, holds) in paths(lambda: judge(way), condition, assumed):  # noqa: B023
            branch = all_of((condition, further))
            about += [branch] if is_about else []
            wrong += [] if holds else [branch]
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
    """The cases of a system, the function that prepares its model for terms, and a description of the states.

    `shapes` says in a few words of which states the lemmas speak.
    """

    cases: Sequence[Case]
    prepare: Callable[[Model], Model]
    description: str
    shapes: str = FEW_SHAPES

    def lemma(self, law: Any) -> Lemma:
        """Build the lemma of a law: it holds after each of its operations."""
        fault = FAULT_OF[law.rule]
        named = ", ".join(op.name for op in law.on) or "every operation"
        return Lemma(
            law.rule,
            f"the law itself, after {named}; {self.description}",
            lambda table, model: self.obligations(law, model),
            LemmaFault(fault.note, fault.model),
            shapes=self.shapes,
        )

    def obligations(self, law: Any, model: Model) -> Iterator[Obligation]:
        """Yield one obligation for each case to which the law applies."""
        for case in self.cases:
            if law.on and type(case.op) not in law.on:
                continue

            def judged(step: Any, case: Case = case) -> tuple[bool, bool]:
                arguments = case.config, case.state, case.op, step
                is_about = bool(law.guard(*arguments))
                return is_about, not is_about or bool(law.holds(*arguments))

            yield from law_obligations(case.name, case.given, _steps_of_case(self, model, case), judged)


@cache
def _prepared_model(law_cases: LawCases, model: Model) -> Model:
    return law_cases.prepare(model)


@cache
def _steps_of_case(law_cases: LawCases, model: Model, case: Case) -> tuple[tuple[Any, Any], ...]:
    """Return the steps that the model makes of a case, each with its condition."""
    step = _prepared_model(law_cases, model).step
    return tuple(paths(lambda: step(case.state, case.op, case.config), case.given))
