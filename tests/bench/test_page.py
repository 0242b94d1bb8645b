"""The page of numbers is made from the file of numbers; a wrong file or a missing library gives one line."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from entrycache_dev.audit_bench import read_numbers
from entrycache_dev.audit_bench_page import draw_audit_costs, render_audit_page
from entrycache_dev.bench.measurement import Measurement
from entrycache_dev.bench.page import draw_picture, render_page
from entrycache_dev.bench.pulsar_cursors import MOVE_RANK, MOVES, CursorCost
from entrycache_dev.bench.result import BenchResult, read_result
from entrycache_dev.commands import main
from entrycache_protocol.errors import missing_extra
from tests.support import ROOT

FOLDER = ROOT / "conformance/entrycache_dev"


@pytest.fixture
def result() -> BenchResult:
    measurements = [
        Measurement("fast cache, times another", 1.5, "", at_least=1.4, note="a and b"),
        Measurement("fast cache, times a third", 1.0, "", at_least=1.4),
        Measurement("steps", 12_345.0, "op/s"),
    ]
    costs = [
        CursorCost(mix, pattern, cursors, 10.0 * cursors, 1000.0)
        for mix in ("tailing", "uniform")
        for pattern in (MOVE_RANK, MOVES)
        for cursors in (1, 10)
    ]
    return BenchResult(3, 1_000, "CPython 3.11", 2, measurements, costs)


@pytest.fixture
def file(result: BenchResult, tmp_path: Path) -> Path:
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps(result.to_json()), encoding="utf-8")
    return path


def test_a_result_comes_back_from_its_file(result: BenchResult, file: Path) -> None:
    assert read_result(file) == result


def test_the_page_says_what_was_missed(result: BenchResult) -> None:
    text = render_page(result, "numbers.svg")
    assert "| fast cache, times another | 1.50 | at least 1.4 | a and b |" in text
    assert "| fast cache, times a third | **1.00** (missed) | at least 1.4 |  |" in text
    assert "| 10 | 100 / 1,000 | 100 / 1,000 |" in text


def test_the_released_container_stands_third(result: BenchResult) -> None:
    costs = [item._replace(released_nanos=7.0) for item in result.cursors]
    text = render_page(dataclasses.replace(result, cursors=costs, released="4.2.4"), "numbers.svg")
    assert "| 10 | 100 / 1,000 / 7 | 100 / 1,000 / 7 |" in text
    assert "of Pulsar 4.2.4" in text


def test_what_was_not_measured_of_cursors_is_left_empty(result: BenchResult) -> None:
    assert "|  |" in render_page(dataclasses.replace(result, cursors=result.cursors[1:]), "numbers.svg")


def test_the_pages_show_the_committed_numbers(tmp_path: Path) -> None:
    numbers = read_result(FOLDER / "bench/numbers.json")
    page = render_page(numbers, "numbers.svg")
    assert all(f"| {item.what} | " in page for item in numbers.measurements)
    audits = read_numbers(FOLDER / "audit-numbers.json")
    (tmp_path / "again.json").write_text(json.dumps(audits.to_json()), encoding="utf-8")
    assert read_numbers(tmp_path / "again.json") == audits
    page = render_audit_page(audits, "audit-speed.svg")
    assert all(f"| {item.what} | " in page for item in audits.measurements)
    assert page.count("| audit | ") == sum(run.way == "audit" for run in audits.runs) > 5


@pytest.mark.parametrize("draw", ["numbers", "audits"])
def test_a_picture_has_at_most_eight_lines_on_white(draw: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.svg"
    if draw == "numbers":
        draw_picture(read_result(FOLDER / "bench/numbers.json"), path)
    else:
        draw_audit_costs(read_numbers(FOLDER / "audit-numbers.json"), path)
    text = path.read_text("utf-8")
    legend = re.findall(r'"font-size: (\d+)px[^>]*>[^<]+(?:: [^<]+|brokers?)</text>', text)
    assert 6 <= len(legend) <= 8
    assert min(map(int, legend)) >= 9
    assert re.search(r'id="patch_1">\s*<path d="[^"]*"\s*style="fill: #ffffff"', text)
    (width,) = re.findall(r'<svg [^>]*width="([\d.]+)pt"', text)
    assert float(width) <= 600, "a page shrinks it, and the legend with it"


@pytest.mark.long
def test_the_command_writes_page_and_picture_the_same_each_time(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["--from", str(file), "--page", str(tmp_path / "numbers.md"), "--json"]
    done = CliRunner().invoke(main, ["bench", *arguments])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verdict"] == "violates"
    first = (tmp_path / "numbers.svg").read_bytes()
    assert b"<svg" in first
    CliRunner().invoke(main, ["bench", *arguments])
    assert (tmp_path / "numbers.svg").read_bytes() == first


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1}', '{"measurements": [1], "cursors": []}'])
def test_a_wrong_file_is_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["bench", "--from", str(path)])
    assert done.exit_code == 2
    assert len(done.output.strip().splitlines()) == 1
    assert "wrong.json" in done.output


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["bench", "--from", str(tmp_path / "absent.json")])
    assert done.exit_code == 2
    assert "absent.json" in done.output


def test_without_matplotlib_a_page_is_refused_before_anything_is_measured(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = CliRunner().invoke(main, ["bench", "--from", str(file), "--page", str(tmp_path / "numbers.md")])
    assert done.exit_code == 4
    assert done.output == f"entrycache: {missing_extra('the picture', 'matplotlib', 'bench')}\n"
    assert not (tmp_path / "numbers.md").exists()
