"""docs/how-to/python-subject.md, its files and commands run as they stand, and fail when a character is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.pages import Command, blocks, play

PAGE = ROOT / "docs" / "how-to/python-subject.md"
FILES = {block.file: block.text for block in blocks(PAGE) if block.file is not None}
"""The last file of each name."""

CONFORM = Command('entrycache conform --command "python my_cache.py" --level range', 1, ("violates",))
CHECK = Command("python -m pytest -q test_my_cache.py", 1, ("AssertionError: MyCache breaks R-", "case file: "))


@pytest.mark.long
def test_the_page_is_true(tmp_path: Path) -> None:
    assert play(PAGE, tmp_path) >= 5


@pytest.mark.parametrize("command", [CONFORM, pytest.param(CHECK, marks=pytest.mark.long)], ids=["conform", "check"])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("first <= pos <= last", "first <= pos < last"),
        pytest.param("size < 0", "size > 0", marks=pytest.mark.long),
    ],
)
def test_one_wrong_character_is_caught(command: Command, right: str, wrong: str, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace(right, wrong) if name == "my_cache.py" else text, encoding="utf-8")
    assert wrong in (tmp_path / "my_cache.py").read_text(encoding="utf-8")
    command.check(tmp_path)


def test_the_subject_of_the_page_is_forty_lines() -> None:
    first = next(block.text for block in blocks(PAGE) if block.file == "my_cache.py")
    assert len([line for line in first.splitlines() if line.strip()]) <= 40
