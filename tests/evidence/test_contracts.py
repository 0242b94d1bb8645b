"""Test the contracts: CrossHair confirms them, and reports a wrong one and a seeded fault."""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import ROOT

pytest.importorskip("crosshair", reason="needs the Python package crosshair-tool")

from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.pulsar_pip430.contracts import decide, evidence
from entrycache_evidence.pulsar_pip430.contracts.evidence import CI, NIGHTLY, Contract, ask_crosshair, confirm, plan
from entrycache_faults.reference import pulsar_pip430 as faults
from entrycache_reference import pulsar_pip430 as reference

DECIDE = CI[0]


@pytest.mark.parametrize("contract", NIGHTLY, ids=lambda contract: contract.name)
def test_no_plain_input_breaks_the_reference(contract: Contract) -> None:
    assert all(contract.check(*values) == () for values in contract.grid())


def test_crosshair_confirms_the_decision_and_refutes_an_error_in_it() -> None:
    evidence, failures = run_alone(confirm(plan([DECIDE])))
    assert failures == []
    assert {item.rule.value for item in evidence} == set(decide.RULES)
    assert {item.grade for item in evidence} == {"confirmed"}


def test_a_wrong_contract_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(Contract, "module", SimpleNamespace(__name__="tests.support.evidence.untrue_contract"))
    state, text = ask_crosshair(DECIDE)
    assert state == "POST_FAIL"
    assert "REMOVE" in text


def test_a_contract_that_sees_nothing_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> Iterator[tuple[object, ...]]:
        return iter(())

    blind = DECIDE._replace(grid=nothing)
    planned = plan([blind])
    assert set(planned[0].numbers.values()) == {None}
    monkeypatch.setattr(evidence, "ask_crosshair", lambda *_: ("CONFIRMED", ""))
    confirmed, failures = run_alone(confirm(planned))
    assert confirmed == []
    assert f"{decide.RULES[0]}: contract decide detects no seeded fault" in failures


@pytest.mark.long
def test_paths_that_are_left_are_reported_as_that() -> None:
    state, text = ask_crosshair(DECIDE._replace(paths=3))
    assert (state, text) == ("NOT FINISHED", "3 paths were followed, none breaks it, and more are left")


@pytest.mark.parametrize("state", ["CANNOT_CONFIRM", "NOT FINISHED", "POST_FAIL"])
def test_only_confirmed_over_all_paths_counts(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setattr(evidence, "ask_crosshair", lambda *_: (state, "why"))
    confirmed, failures = run_alone(confirm(plan([DECIDE])))
    assert (confirmed, failures) == ([], [f"contract decide: {state}: why"])


def test_the_grid_of_decisions_is_complete_in_flags() -> None:
    assert len(list(evidence.decisions())) == 2**4 * 4 * 3 * 2


BOUNDED = {"decide": set(), "size_pass": {"held", "most", "stamp"}}
"""The numbers that a contract bounds, as its line of evidence says; all others may be of any size."""


def enlarged(contract: Contract, values: tuple[object, ...]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the arguments with one number far larger, and its name."""
    named = dict(zip(inspect.signature(contract.check).parameters, values, strict=True))
    for name, value in named.items():
        if type(value) is int:
            yield name, {**named, name: 10**15}
        for field in getattr(value, "_fields", ()):
            if type(getattr(value, field)) is int:
                yield field, {**named, name: value._replace(**{field: 10**15})}  # type: ignore[attr-defined]


@pytest.mark.parametrize("contract", NIGHTLY, ids=lambda contract: contract.name)
def test_a_contract_takes_numbers_of_any_size(contract: Contract) -> None:
    """A precondition that is too narrow would be confirmed as well."""
    bounded = BOUNDED[contract.name.partition(".")[0]]
    conditions = re.findall(r"^ *pre: (.*)$", contract.check.__doc__ or "", re.MULTILINE)
    assert conditions
    for values in itertools.islice(contract.grid(), 0, None, 7):
        for name, arguments in enlarged(contract, values):
            if name not in bounded:
                assert all(eval(condition, {**arguments}) for condition in conditions), (name, arguments)


def called() -> Iterator[tuple[str, str]]:
    """Return the docstrings of the functions and classes in modules that contracts call."""
    contracts = {contract.function for contract in (*CI, *NIGHTLY)}
    for package in (reference, evidence, faults):
        for path in Path(str(package.__file__)).parent.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name not in contracts:
                    yield f"{path.name}: {node.name}", ast.get_docstring(node) or ""


def test_nothing_that_a_contract_calls_has_one_of_its_own() -> None:
    """CrossHair therefore does not search for nested contracts."""
    condition = re.compile(r"^\s*(pre|post|inv)\b.*:", re.MULTILINE)
    assert len(dict(called())) > 100
    assert [name for name, text in called() if condition.search(text)] == []
    assert condition.search(decide.contract.__doc__ or "")
