"""The pages about state machines of Hypothesis, played as they stand from an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.pages import blocks, play

TUTORIAL = "tutorials/stateful-test.md"


@pytest.mark.parametrize(
    ("page", "number"),
    [
        pytest.param(TUTORIAL, 5, marks=pytest.mark.long),
        ("how-to/stateful-tests.md", 2),
        ("how-to/nightly-fuzzing.md", 1),
    ],
)
def test_the_page_is_true(page: str, number: int, tmp_path: Path) -> None:
    assert play(ROOT / "docs" / page, tmp_path) == number


def test_the_first_test_has_fifteen_lines() -> None:
    first = next(block.text for block in blocks(ROOT / "docs" / TUTORIAL) if block.file == "test_lru.py")
    lines = [line for line in first.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) <= 15
