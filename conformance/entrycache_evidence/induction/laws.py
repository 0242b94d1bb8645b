"""Laws as they stand in a reference, asked of steps whose numbers are z3 terms: one lemma a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.on_terms import held_to
from entrycache_evidence.induction.symbolic import paths
from entrycache_evidence.planted import FAULT_OF
from entrycache_faults.model import Model


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
