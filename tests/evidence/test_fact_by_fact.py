"""Test the decision table that asks fact by fact: it decides as the table and evaluates no other fact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from entrycache_evidence.pulsar_pip430.contracts.fixtures import FactByFact, ask_fact_by_fact
from entrycache_faults.model import Model
from entrycache_faults.reference.pulsar_pip430.registry import decision_flips
from entrycache_reference.pulsar_pip430.decision import LOOKUP, Action, Facts, Line

PLACE = "decision.LOOKUP"
TABLES = (LOOKUP, *(flip.model[PLACE] for flip in decision_flips()))


def each() -> Iterator[Facts]:
    yield from (Facts(*values) for values in product((False, True), repeat=5))


@pytest.mark.parametrize("table", TABLES)
def test_it_decides_as_the_table(table: dict[Facts, Line]) -> None:
    decisions = FactByFact(table)
    assert {facts: decisions[facts] for facts in each()} == table


def test_a_table_that_differs_in_one_entry_decides_differently() -> None:
    for facts in each():
        line = LOOKUP[facts]._replace(action=next(action for action in Action if action is not LOOKUP[facts].action))
        decisions = FactByFact({**LOOKUP, facts: line})
        assert [other for other in each() if decisions[other] != LOOKUP[other]] == [facts]


class Fact:
    """A fact that records each evaluation."""

    def __init__(self, name: str, fact: bool, evaluated: list[str]) -> None:
        self.name, self.fact, self.evaluated = name, fact, evaluated

    def __bool__(self) -> bool:
        self.evaluated.append(self.name)
        return self.fact


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (Facts(True, False, False, False, False), ["gone"]),
        (Facts(False, True, True, True, True), ["gone", "halt"]),
        (Facts(False, False, True, True, True), ["gone", "halt", "touched"]),
        (Facts(False, False, False, False, True), ["gone", "halt", "touched", "expected"]),
        (Facts(False, False, False, True, False), ["gone", "halt", "touched", "expected", "spare"]),
    ],
)
def test_only_deciding_facts_are_evaluated(facts: Facts, names: list[str]) -> None:
    evaluated: list[str] = []
    observed_facts = Facts(*(Fact(name, fact, evaluated) for name, fact in zip(Facts._fields, facts, strict=True)))  # type: ignore[arg-type]
    assert FactByFact(LOOKUP)[observed_facts] is LOOKUP[facts]
    assert evaluated == names


def test_a_model_with_a_fault_keeps_it() -> None:
    fault = decision_flips()[0]
    model = ask_fact_by_fact(fault.model)
    assert all(model[PLACE][facts] == fault.model[PLACE][facts] for facts in each())
    assert set(fault.model.replaced) <= set(model.replaced)
    assert ask_fact_by_fact(Model(fault.model.package)).replaced.keys() == {PLACE}
