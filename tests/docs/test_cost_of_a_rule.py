"""The cost of a new rule: CONTRIBUTING's diff is applied to a copy, which passes the check of the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support import ROOT
from tests.support.copies import Checkout, diffs, existing, parts

DIFF: Final = diffs()["A rule"][0]
RULE: Final = "R-INSERT-9"
EXISTING_MAX: Final = 6
"""The largest number of existing files that a rule without an audit changes."""

SPEC: Final = "spec/pulsar-pip430/insert.md"
EXAMPLE: Final = f"spec/examples/{RULE}.json"
LAW: Final = "reference/entrycache_reference/pulsar_pip430/laws/entries.py"
FAULT: Final = "conformance/entrycache_faults/reference/pulsar_pip430/entries.py"

ABOUT_ALL_RULES: Final = (
    "tests/reference/pulsar_pip430/test_insert.py",
    "tests/evidence/test_evidence.py",
    "tests/evidence/test_numbers.py",
    "tests/conformance/test_vectors.py",
)
"""Tests that a new rule could fail because they are about all rules."""


@pytest.fixture
def copy(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


def test_it_touches_six_files_and_brings_its_example() -> None:
    assert len(existing(DIFF)) <= EXISTING_MAX
    assert parts(DIFF).keys() - existing(DIFF) == {EXAMPLE}


def test_the_check_finds_nothing_missing(copy: Checkout) -> None:
    copy.apply(DIFF)
    assert copy.entrycache("rules", RULE, "--check") == "0 problems\n"
    done = copy.run("ruff", "check", "--no-cache", *(name for name in parts(DIFF) if name.endswith(".py")))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("left_out", "code", "message"),
    [
        (FAULT, 1, f"{RULE}: has no seeded fault"),
        pytest.param(EXAMPLE, 1, f"{RULE}: has no example: {EXAMPLE}", marks=pytest.mark.long),
        pytest.param(LAW, 1, f"{RULE}: its example never fires the rule", marks=pytest.mark.long),
        pytest.param(SPEC, 2, f"names {RULE}, which no file of `spec` has", marks=pytest.mark.long),
    ],
    ids=["fault", "example", "law", "spec"],
)
def test_the_check_finds_what_is_left_out(copy: Checkout, left_out: str, code: int, message: str) -> None:
    copy.apply("".join(part for name, part in parts(DIFF).items() if name != left_out))
    assert message in copy.entrycache("rules", RULE, "--check", code=code)


@pytest.mark.long
def test_the_whole_check_finds_nothing_either(copy: Checkout) -> None:
    copy.apply(DIFF)
    copy.entrycache("rules", "--write")
    assert copy.entrycache("rules", "--check") == "0 problems\n"
    done = copy.run("pytest", "-q", "-p", "no:cacheprovider", "-m", "not long", *ABOUT_ALL_RULES)
    assert done.returncode == 0, done.stdout


def test_every_file_that_a_diff_names_is_there() -> None:
    named = [name for blocks in diffs().values() for block in blocks for name in block.split("\n")]
    there = [line.removeprefix("--- a/") for line in named if line.startswith("--- a/")]
    assert [name for name in there if not (ROOT / name).is_file()] == []
    assert diffs().keys() == {"A rule", "A system", "A level", "A released jar"}
