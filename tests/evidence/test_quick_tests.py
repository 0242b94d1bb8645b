"""No rule loses all of its tests in `make test`.

Each keeps a test that is not `long`, or has a law, which is checked in every run; and each has a seeded fault.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.marked_tests import find_marked_tests
from entrycache_evidence.core.models import RULE_FAULTS
from entrycache_evidence.core.rule_registry import load_links, load_texts
from entrycache_faults.model import load_catalogue
from entrycache_reference.rules import Rule
from tests.support import ROOT

LONG = "pytest.mark.long"
RULE = "pytest.mark.rule("


def decorators_of(node: ast.AST) -> list[str]:
    return [ast.unparse(each) for each in getattr(node, "decorator_list", [])]


def is_long(decorator: str) -> bool:
    """Return whether a decorator leaves a test to the long run: a mark, or parameters that are all marked."""
    if not decorator.startswith("pytest.mark.parametrize"):
        return decorator == LONG
    call = ast.parse(decorator, mode="eval").body
    values = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    return isinstance(values, ast.List) and all(f"marks={LONG}" in ast.unparse(value) for value in values.elts)


def quick_rules(path: Path) -> Iterator[str]:
    """Yield the rules of the tests of a file that `make test` runs."""
    module = ast.parse(path.read_text("utf-8"))
    if any(ast.unparse(line).startswith(f"pytestmark = {LONG}") for line in module.body):
        return
    for node in ast.walk(module):
        decorators = decorators_of(node)
        if isinstance(node, ast.FunctionDef) and not any(map(is_long, decorators)):
            marks = [decorator for decorator in decorators if decorator.startswith(RULE)]
            yield from (ast.literal_eval(each) for mark in marks for each in ast.parse(mark, mode="eval").body.args)


MUSTS = {text.id for text in load_texts() if text.level == "MUST"}


def rules_without(tests: Path) -> set[str]:
    """Return the MUST rules that no quick test below a folder is marked with."""
    return MUSTS - {rule for path in tests.rglob("test_*.py") for rule in quick_rules(path)}


def test_each_rule_keeps_a_test_that_is_not_long_or_has_a_law() -> None:
    laws = {rule for rule, links in load_links().items() if links.laws}
    without = rules_without(ROOT / "tests")
    assert without - laws == set()
    assert {rule for rule, _ in find_marked_tests(ROOT)} & without == set()


def test_each_rule_has_a_seeded_fault_that_every_run_catches() -> None:
    """`rules --check` holds the faults to their laws; tests/faults/test_subjects.py plays the others."""
    played = {rule for case in load_catalogue(SYSTEMS).values() for rule in case.rules}
    checked = {fault.rule.value for fault in RULE_FAULTS}
    assert played | checked >= MUSTS
    assert checked <= {rule.value for rule in Rule}


def test_a_rule_whose_only_test_is_long_is_found(tmp_path: Path) -> None:
    param = f"@pytest.mark.parametrize('at', [pytest.param(1, marks={LONG})])"
    for number, line in enumerate((f"@{LONG}", param, "")):
        text = f"import pytest\n@{RULE}'R-READ-1')\n{line}\ndef test_it(): pass\n"
        (tmp_path / "test_it.py").write_text(text)
        assert ("R-READ-1" in rules_without(tmp_path)) is (number < 2)
