"""Packages know only what lies below them, for the types too; and what is planted against that is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import house_numbers
from tests.support.layers import ALLOWED, EXCEPTED, Import, circles, imports, modules, upward

KNOWS_TOO_MUCH = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from entrycache_cli.main import main
def late():
    import entrycache_spark.folder
from entrycache_protocol.case import Case
"""


OURS = modules()


@pytest.fixture(scope="module")
def told() -> list[Import]:
    return imports(OURS)


def test_every_package_has_a_place() -> None:
    assert {module.partition(".")[0] for module in OURS} == ALLOWED.keys()


def test_no_import_runs_up(told: list[Import]) -> None:
    assert [str(each) for each in upward(told)] == []


def test_what_is_excepted_is_there(told: list[Import]) -> None:
    assert {each[:2] for each in told} >= EXCEPTED


def test_no_modules_import_each_other_in_a_circle(told: list[Import]) -> None:
    assert circles(told, OURS) == []


def test_a_planted_import_that_runs_up_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_conformance"
    package.mkdir()
    (package / "judge.py").write_text(KNOWS_TOO_MUCH)
    told = imports(modules((tmp_path,)))
    assert [(each.name, each.typing) for each in upward(told)] == [
        ("entrycache_cli.main.main", True),
        ("entrycache_spark.folder", False),
    ]


def test_a_planted_circle_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_trace"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("if TYPE_CHECKING:\n    from entrycache_trace.two import Two\n")
    (package / "two.py").write_text("from entrycache_trace import three\n")
    (package / "three.py").write_text("def late():\n    from entrycache_trace import one\n")
    (package / "four.py").write_text("from entrycache_trace.one import One\n")
    found = modules((tmp_path,))
    assert circles(imports(found), found) == [[f"entrycache_trace.{name}" for name in ("one", "three", "two")]]
    assert circles([each for each in imports(found) if not each.typing], found) == []


def test_the_numbers_of_the_house_are_told() -> None:
    told = "\n".join(house_numbers.report())
    for line in ("in all: ", "imports that run up: ", "circles of modules, for types too: ", "questions for a system "):
        assert line in told


def test_a_copy_is_counted(tmp_path: Path) -> None:
    lines = "".join(f"call({number})\n" for number in range(house_numbers.COPY_LINES))
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(f"first()\n{lines}")
    two.write_text(f"import this\n{lines}other()\n")
    assert house_numbers.copies([one, two]) == house_numbers.COPY_LINES
    assert house_numbers.copies([one]) == 0


def test_nobody_asks_which_system_it_is() -> None:
    """Outside the folders of a system, the ids of rules and the lists no string is a system's name or prefix."""
    assert house_numbers.questions(OURS) == {}


def test_a_planted_question_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_conformance"
    package.mkdir()
    (package / "judge.py").write_text('def own(name):\n    return name == "kafka-streams" or name.startswith("K-")\n')
    assert house_numbers.questions(modules((tmp_path,))) == {"entrycache_conformance.judge": 2}
