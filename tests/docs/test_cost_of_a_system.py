"""The cost of a new system: its own folders and three existing files, shown by a toy of two operations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support import ROOT
from tests.support.copies import Checkout, diffs, existing

FILES: Final = ROOT / "tests/support/toy/files"
DIFF: Final = diffs()["A system"][0]
TOUCHED: Final = [
    "reference/entrycache_reference/rules.py",
    "conformance/entrycache_conformance/systems/__init__.py",
    "conformance/entrycache_evidence/core/numbers.toml",
]
"""The existing files that change: the ids of rules, the list of systems, and the numbers of the references."""

RULES_OF_IT: Final = "tests/reference/toy/rules_of_the_set.py"
"""The tests of its rules, renamed so that pytest does not collect them here."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    there = Checkout(tmp_path_factory.mktemp("toy") / "checkout")
    there.lay(FILES)
    (there.folder / RULES_OF_IT).rename(there.folder / "tests/reference/toy/test_rules.py")
    there.apply(DIFF)
    return there


def test_three_files_are_touched() -> None:
    assert existing(DIFF) == TOUCHED


@pytest.mark.parametrize("subject", ["reference", "fast"])
def test_what_is_right_conforms(copy: Checkout, subject: str) -> None:
    report = json.loads(copy.entrycache("conform", subject, "--system", "toy", "--json"))
    assert (report["verdict"], report["levels"]["set"]["examples"]) == ("conforms", 450)
    assert {rule for rule, counted in report["rules"].items() if counted["fired"]} == {
        "T-PUT-1",
        "T-PUT-2",
        "T-HAS-1",
        "T-LIVENESS-1",
    }


@pytest.mark.long
def test_a_seeded_fault_is_registered_caught_and_named(copy: Checkout) -> None:
    seeded_faults = json.loads(copy.entrycache("faults", "--json"))["exhibits"]
    assert seeded_faults["toy-one-too-many"]["rules"] == ["T-PUT-2"]
    report = json.loads(copy.entrycache("conform", "toy-one-too-many", "--system", "toy", "--json", code=1))
    assert [(failure["rule"], failure["steps"]) for failure in report["failures"]] == [("T-PUT-2", 1)]


@pytest.mark.long
def test_its_example_is_played_and_its_rule_checked(copy: Checkout) -> None:
    copy.entrycache("replay", "spec/examples/T-PUT-2.json", "fast")
    assert "Seeded fault: The limit is not looked at." in copy.entrycache("rules", "T-PUT-2")
    assert copy.entrycache("rules", "T-PUT-2", "--check") == "0 problems\n"


def test_its_files_are_in_our_style(copy: Checkout) -> None:
    laid = [str(path.relative_to(FILES)) for path in FILES.rglob("*.py")]
    places = [name for name in laid if name != RULES_OF_IT]
    for command in (("check",), ("format", "--check")):
        done = copy.run("ruff", *command, "--no-cache", *places)
        assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_the_whole_check_of_the_rules_finds_nothing(copy: Checkout) -> None:
    copy.entrycache("rules", "--write")
    assert copy.entrycache("rules", "--check") == "0 problems\n"


@pytest.mark.long
def test_a_law_that_sees_nothing_is_found(copy: Checkout, tmp_path: Path) -> None:
    laws = copy.folder / "reference/entrycache_reference/toy/laws.py"
    right = laws.read_text(encoding="utf-8")
    wrong = right.replace("step.outcome == Kept(False) and step.state == pre", "True")
    tests = copy.folder / "tests/reference/toy/test_rules.py"
    try:
        laws.write_text(wrong, encoding="utf-8")
        moved = tests.rename(tmp_path / "test_rules.py")
        said = copy.entrycache("rules", "T-PUT-2", "--check", code=1)
    finally:
        laws.write_text(right, encoding="utf-8")
        moved.rename(tests)
    assert "T-PUT-2: neither its law nor a test of it detects its seeded fault: The limit is not looked at." in said
