"""The recorder numbers lives, passes, calls and slots as the format says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entrycache_fast import BrokerCache, Row
from entrycache_spark.check import check_trace
from entrycache_spark.common.results import Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, iterate_rows, list_parts
from entrycache_trace.recording import TraceWriter
from tests.support.traces.levels import record_level

Call = tuple[object, ...]


def record(tmp_path: Path, calls: list[Call]) -> list[dict[str, object]]:
    recorder = TraceWriter(tmp_path / "trace", Metadata()).recorder("b", {"max_requeues": 1})
    rows: list[Row] = []
    cache = BrokerCache(max_requeues=1, clock=lambda: 0, on_row=rows.append)
    for name, *arguments in calls:
        getattr(cache, str(name))(*arguments)
        recorder.call(rows)
        rows.clear()
    recorder.close()
    return list(iterate_rows(list_parts(tmp_path / "trace")))


def test_a_call_a_pass_and_a_life(tmp_path: Path) -> None:
    rows = record(
        tmp_path,
        [
            ("insert", "a", 1, 0, 10),
            ("insert", "a", 1, 1, 20, None, 2),
            ("insert", "a", 1, 2, 30),
            ("remove_range", "a", (1, 0), (1, 0), True),
            ("get", "a", 1, 2),
            ("evict", 20),
        ],
    )
    numbers = [
        (row["op"], row["life"], row["tail_no"], row["head_no"], row["ticket"], row["bytes_after"]) for row in rows
    ]
    assert numbers == [
        ("CONFIG", None, None, None, None, 0),
        ("CACHE_OPEN", None, None, None, None, 0),
        ("INSERT", 2, 0, None, None, 10),
        ("INSERT", 3, 1, None, None, 30),
        ("INSERT", 4, 2, None, None, 60),
        ("REMOVE", 2, None, None, None, 50),
        ("HIT", 4, None, None, None, 50),
        ("PASS_BEGIN", None, None, None, None, 50),
        ("TOMBSTONE", 2, None, 0, 0, 50),
        ("REQUEUE", 3, 3, 1, 1, 50),
        ("REQUEUE", 4, 4, 2, 2, 50),
        ("EVICT", 3, None, 3, 3, 30),
        ("PASS_END", None, 5, 4, None, 30),
        ("SNAPSHOT", 4, 4, None, None, 30),
        ("END", None, None, None, None, 30),
    ]
    assert [row["pass_id"] for row in rows[6:14]] == [None, 7, 7, 7, 7, 7, 7, None]
    assert [row["call_id"] for row in rows[1:5]] == [1, 1, 3, 4]
    assert json.loads(str(rows[-1]["value"])) == {"entries": 1, "bytes": 30, "slots": 1}
    for backend in ("local", "replay"):
        assert not audit_folder(tmp_path / "trace", backend).violations


def test_dead_slots_at_the_end_have_no_life(tmp_path: Path) -> None:
    rows = record(tmp_path, [("insert", "a", 1, 0, 10), ("clear", "a")])
    assert [(row["op"], row["life"], row["size_bytes"]) for row in rows[-2:]] == [
        ("SNAPSHOT", None, None),
        ("END", None, None),
    ]
    assert rows[-2]["tail_no"] == 0
    assert not audit_folder(tmp_path / "trace", "local").violations


IN_FLIGHT = {f"R-INFLIGHT-{number}" for number in (1, 2, 3, 4, 9, 13)} | {"R-LEDGER-6"}
OF_PERMITS = {"R-LIMIT-2", "R-LIMIT-3", "R-LIMIT-4", "R-LIMIT-5", "R-LIMIT-7"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("level", "wanted"), [("ledger", {"R-LEDGER-1", "R-LEDGER-14"}), ("inflight", IN_FLIGHT), ("limits", OF_PERMITS)]
)
def test_runs_of_the_levels_of_managed_ledgers_audit_clean(tmp_path: Path, level: str, wanted: set[str]) -> None:
    record_level(tmp_path / "trace", level, 60)
    assert check_trace(tmp_path / "trace").problems == ()
    result = audit_folder(tmp_path / "trace", "local")
    assert result.violations == ()
    checked = {rule for rule, verdict in result.rules.items() if verdict is not Verdict.NOTHING_CHECKED}
    assert wanted <= checked
