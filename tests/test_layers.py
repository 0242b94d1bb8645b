"""Packages import only lower layers; files have a natural size; and each check fails on a seeded mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import house_numbers
from tests.support.layers import ALLOWED, EXCEPTED, Import, cycles, folder_pairs, imports, modules, upward

KNOWS_TOO_MUCH = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from entrycache_cli.main import main
def late():
    import entrycache_spark.folders
from entrycache_protocol.case import Case
"""


OURS = modules()


@pytest.fixture(scope="module")
def edges() -> list[Import]:
    return imports(OURS)


def test_every_package_has_a_place() -> None:
    assert {module.partition(".")[0] for module in OURS} == ALLOWED.keys()


def test_no_import_runs_up(edges: list[Import]) -> None:
    assert [str(each) for each in upward(edges)] == []


def test_every_exception_is_needed(edges: list[Import]) -> None:
    assert {each[:2] for each in edges} >= EXCEPTED


def test_no_modules_import_each_other(edges: list[Import]) -> None:
    assert cycles(edges, OURS) == []


def test_no_folders_of_a_package_import_each_other(edges: list[Import]) -> None:
    assert folder_pairs(edges, OURS) == []


def test_the_house_keeps_its_sizes() -> None:
    missed = {number.name: number.value for number in house_numbers.size_numbers(OURS) if not number.is_met}
    assert missed == {}


def test_a_failing_run_executes_few_files() -> None:
    number = next(house_numbers.run_numbers())
    assert number.value > 20
    assert number.is_met, number


def test_a_seeded_import_of_a_higher_layer_is_detected(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_conformance"
    package.mkdir()
    (package / "judge.py").write_text(KNOWS_TOO_MUCH)
    edges = imports(modules((tmp_path,)))
    assert [(each.name, each.typing) for each in upward(edges)] == [
        ("entrycache_cli.main.main", True),
        ("entrycache_spark.folders", False),
    ]


def test_a_seeded_cycle_is_detected(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_trace"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("if TYPE_CHECKING:\n    from entrycache_trace.two import Two\n")
    (package / "two.py").write_text("from entrycache_trace import three\n")
    (package / "three.py").write_text("def late():\n    from entrycache_trace import one\n")
    (package / "four.py").write_text("from entrycache_trace.one import One\n")
    paths = modules((tmp_path,))
    assert cycles(imports(paths), paths) == [[f"entrycache_trace.{name}" for name in ("one", "three", "two")]]
    assert cycles([each for each in imports(paths) if not each.typing], paths) == []


def test_seeded_folders_that_import_each_other_are_detected(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_cli"
    for folder in ("commands", "report"):
        (package / folder).mkdir(parents=True)
    (package / "main.py").write_text("from entrycache_cli.commands.audit import command\n")
    (package / "commands" / "audit.py").write_text("from entrycache_cli.report.html import page\n")
    (package / "report" / "html.py").write_text("VALUE = 1\n")
    paths = modules((tmp_path,))
    assert folder_pairs(imports(paths), paths) == []
    (package / "report" / "html.py").write_text("from entrycache_cli.commands.audit import command\n")
    assert folder_pairs(imports(paths), paths) == ["entrycache_cli: commands and report"]


@pytest.mark.long
def test_the_numbers_of_the_house_are_printed() -> None:
    names = [number.name for number in house_numbers.size_numbers(OURS)]
    assert {"lines in all", "files of product Python", "imports that run up", "cycles of modules"} <= set(names)


def test_a_missed_goal_is_marked() -> None:
    number = house_numbers.Number("files", 501, 500)
    assert not number.is_met
    assert str(number) == "files: 501 (goal: at most 500), MISSED"
    assert house_numbers.Number("median", 140, 140, least=True).is_met
    assert not house_numbers.Number("median", 139, 140, least=True).is_met


def test_a_copy_is_counted(tmp_path: Path) -> None:
    lines = "".join(f"call({number})\n" for number in range(house_numbers.COPY_LINES))
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(f"first()\n{lines}")
    two.write_text(f"import this\n{lines}other()\n")
    assert house_numbers.copied_lines([one, two]) == house_numbers.COPY_LINES
    assert house_numbers.copied_lines([one]) == 0


def test_shared_code_names_no_system() -> None:
    """Check that outside a system's folders no string is a system's name or the prefix of its rule ids."""
    assert house_numbers.system_questions(OURS) == {}


def test_a_seeded_question_is_detected(tmp_path: Path) -> None:
    package = tmp_path / "entrycache_conformance"
    package.mkdir()
    (package / "judge.py").write_text('def own(name):\n    return name == "kafka-streams" or name.startswith("K-")\n')
    assert house_numbers.system_questions(modules((tmp_path,))) == {"entrycache_conformance.judge": 2}
