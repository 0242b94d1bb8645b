"""Any content of a file gives a documented exit and one line that names it, in bounded time, without traceback.

A failing line shows the seed and the command that makes the file again. ENTRYCACHE_FILES_SEED starts all seeds;
ENTRYCACHE_FILES is the number of files of a kind in the long tests.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_cli.settings.properties import Kind
from tests.support.files.again import NAMES, faults
from tests.support.files.runs import ended, wrong

BASE: Final = os.environ.get("ENTRYCACHE_FILES_SEED", "1")
FEW: Final = 25
DEAR: Final = {"history.json": 3, "trace": 20, "numbers.json": 12}
"""The number of files of kinds that take longer."""

MANY: Final = int(os.environ.get("ENTRYCACHE_FILES", "600"))


@pytest.fixture(autouse=True)
def report_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the traceback of an internal error into a file of the test."""
    (tmp_path / "told").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "told"))


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_reported_in_one_line(name: str, tmp_path: Path) -> None:
    assert faults(name, (f"{BASE}/{number}" for number in range(DEAR.get(name, FEW))), tmp_path / "files") == []


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_thousands_of_broken_files_are_reported_in_one_line(name: str, tmp_path: Path) -> None:
    many = MANY if name not in DEAR else MANY // 2 if name != "history.json" else MANY // 20
    assert faults(name, (f"{BASE}/long/{number}" for number in range(many)), tmp_path / "files") == []


def _lets_through(*_: Any) -> Any:
    return int("no number")


def _says_more(*_: Any) -> Any:
    print("one line", file=sys.stderr)
    return None


def _takes_long(*_: Any) -> Any:
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass


def _escapes(*_: Any) -> Any:
    print("\x1b[2J")


SEEDED_FAULTS: Final = {
    "exit 70": _lets_through,
    "lines on stderr": _says_more,
    "CPU seconds": _takes_long,
    "not printable": _escapes,
}
"""Faults of a reader of settings, by the message that reports them."""


@pytest.mark.parametrize("said", SEEDED_FAULTS)
def test_a_reader_that_does_wrong_is_seen(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Kind.read
    fault: Callable[..., Any] = SEEDED_FAULTS[said]
    monkeypatch.setattr("tests.support.files.runs.CPU_SECONDS_MOST", 0.15)
    monkeypatch.setattr(Kind, "read", lambda kind, name, text, where: (fault(), right(kind, name, text, where))[1])
    lines = faults("client.properties", (f"{BASE}/{number}" for number in range(5)), tmp_path / "files")
    assert any(said in line for line in lines), lines
    assert f"python -m tests.support.files client.properties {BASE}/" in lines[0]


UNHELD: Final = {
    "record.json": "entrycache_protocol.strict_json.check_shape",
    "results.jsonl": "entrycache_protocol.strict_json.check_shape",
    "numbers.json": "entrycache_dev.bench.result.check_shape",
}
"""The place where each kind of file is checked against its schema."""


@pytest.mark.long
@pytest.mark.parametrize("name", UNHELD)
def test_a_reader_without_its_schema_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UNHELD[name], lambda *_: None)
    lines = faults(name, (f"{seed}/{number}" for seed in (1, 2) for number in range(10)), tmp_path / "files")
    assert any(line.startswith("exit 70: ") for line in lines), lines


UNREFUSED: Final[dict[str, tuple[str, Any]]] = {
    "known.toml": ("entrycache_protocol.strict_json.check_json_value", lambda value, where: value),
    "record.json": ("entrycache_protocol.strict_json._has_lone_surrogates", lambda value: False),
    "trace": ("entrycache_trace.files.check_broker", lambda name, where: None),
}
"""The functions that refuse values outside JSON, half surrogates, and folders that name no broker."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name == "trace")) for name in UNREFUSED]
)
def test_a_reader_that_takes_what_can_only_be_refused_is_seen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*UNREFUSED[name])
    lines = faults(name, (f"1/{number}" for number in range(40)), tmp_path / "files")
    assert any("could only be refused" in line for line in lines), lines


def test_a_line_that_does_not_name_the_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text("{")
    end = ended(["replay", str(path), "fast"])
    assert wrong(end, path) == ""
    assert wrong(end._replace(err="entrycache: it is wrong\n"), path) == "a line that does not name the file"
    assert wrong(end._replace(code=70), path) == "exit 70"
    assert wrong(end._replace(err=""), path) == "0 lines on stderr"
