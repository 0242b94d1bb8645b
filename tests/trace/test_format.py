"""The format of traces: its page, the rows of our recorders, and rows that break the format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from entrycache_dev.pages import trace_format
from entrycache_protocol.errors import UsageError
from entrycache_spark.check import check_trace
from entrycache_spark.common.results import Verdict
from entrycache_spark.common.system import AUDITED
from entrycache_spark.folders import audit_folder
from entrycache_trace.convert import convert, metadata_path
from entrycache_trace.files import Metadata, read_metadata, write_rows

EXAMPLES = dict(
    zip(AUDITED, re.findall(r"```json\n(\{\"broker.*?)\n```", trace_format.render_page(), re.DOTALL), strict=True)
)


def rows_of(system: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in EXAMPLES[system].splitlines()]


def write_trace(folder: Path, system: str, rows: list[dict[str, Any]]) -> Path:
    write_rows(folder, Metadata(system=system), rows)
    return folder


def test_the_page_is_current() -> None:
    assert trace_format.PAGE.read_text(encoding="utf-8") == trace_format.render_page()


@pytest.mark.parametrize("system", AUDITED)
def test_the_example_of_the_page_is_checked_and_audited_clean(system: str, tmp_path: Path) -> None:
    lines = tmp_path / "trace.jsonl"
    lines.write_text(EXAMPLES[system] + "\n", encoding="utf-8")
    metadata_path(lines).write_text(json.dumps({"schema": 1, "system": system, "threads": "one"}), encoding="utf-8")
    report = check_trace(lines)
    assert (report.system, report.problems, report.notes) == (system, (), ())
    convert(lines, tmp_path / "trace")
    verdicts = set(audit_folder(tmp_path / "trace", "local").rules.values())
    assert Verdict.CONFORMS in verdicts
    assert Verdict.VIOLATES not in verdicts


def change_row(rows: list[dict[str, Any]], at: int, **values: Any) -> list[dict[str, Any]]:
    return [{**row, **values} if number == at else row for number, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"op": "TAKE"}, "op TAKE; expected one of CONFIG, "),
        ({"cause": "ASKED"}, "INSERT with cause ASKED; expected one of ADD, FILL"),
        ({"cause": None}, "INSERT with cause None; expected one of ADD, FILL"),
        ({"size_bytes": None}, "INSERT without size_bytes; expected the accounted length"),
        ({"life": 7}, "INSERT whose life is another seq than its own"),
        ({"ts_ns": -1}, "ts_ns falls"),
        ({"seq": 1}, "the seq of the row before once more"),
    ],
)
def test_a_row_that_breaks_the_format_is_reported(values: dict[str, Any], expected: str, tmp_path: Path) -> None:
    rows = change_row(rows_of("pulsar-pip430"), 2, **values)
    report = check_trace(write_trace(tmp_path / "trace", "pulsar-pip430", rows))
    assert [problem for problem in report.problems if problem.text.startswith(expected)]


def test_missing_settings_events_and_end_are_reported(tmp_path: Path) -> None:
    rows = rows_of("kafka-streams")
    report = check_trace(write_trace(tmp_path / "trace", "kafka-streams", [*rows[1:4], *rows[5:-1]]))
    assert [problem.text for problem in report.problems] == [
        "a row before the first CONFIG; expected the settings first"
    ]
    assert any("1 events are missing" in note for note in report.notes)
    assert any("not END" in note for note in report.notes)


def test_a_column_without_values_is_named_with_its_rules(tmp_path: Path) -> None:
    rows = [{**row, "accessed": None} for row in rows_of("pulsar-pip430")]
    report = check_trace(write_trace(tmp_path / "trace", "pulsar-pip430", rows))
    assert "R-REQUEUE-1" in report.untold["accessed"]


def test_compressed_json_lines_are_converted_and_requests_are_refused(tmp_path: Path) -> None:
    text = EXAMPLES["kafka-streams"].encode()
    (tmp_path / "trace.jsonl.zst").write_bytes(pa.compress(text, "zstd", asbytes=True))
    (tmp_path / "trace_entrycache.json").write_text('{"schema": 1, "system": "kafka-streams"}')
    assert convert(tmp_path / "trace.jsonl.zst", tmp_path / "out") == len(text.splitlines())
    assert read_metadata(tmp_path / "out").system == "kafka-streams"
    (tmp_path / "x.oracleGeneral.bin").write_bytes(b"")
    with pytest.raises(UsageError, match=r"expected JSON Lines .* entrycache policies"):
        convert(tmp_path / "x.oracleGeneral.bin", tmp_path / "other")
    with pytest.raises(UsageError, match="expected a name without"):
        convert(tmp_path / "out", tmp_path / "x.jsonl.zst")
