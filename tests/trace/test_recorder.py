"""The recorder numbers lives, passes, calls and slots as the format says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.commands.record import record as record_case
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_fast import BrokerCache, Row
from entrycache_protocol.case import case_from_json
from entrycache_reference.pulsar_pip430 import NAME as PULSAR
from entrycache_spark.check import check_trace
from entrycache_spark.common.results import Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, iterate_rows, list_parts, read_metadata
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


def limited(
    tmp_path: Path, name: str, config: dict[str, object], steps: list[dict[str, object]]
) -> list[dict[str, Any]]:
    """Return the rows of a case on a subject, with a limit of 100 bytes for reads in flight and one place to wait."""
    limits = {"max_reads_in_flight_bytes": 100, "acquire_queue": 1, "max_size_bytes": 1_000_000}
    case = {"system": PULSAR, "config": {**limits, **config}, "steps": steps}
    subject = resolve_subject(SubjectChoice(name, system=PULSAR))
    record_case(subject, case_from_json(case, SYSTEMS), tmp_path / "trace")
    assert not audit_folder(tmp_path / "trace", "local").violations
    return list(iterate_rows(list_parts(tmp_path / "trace")))


def test_permits_precede_what_they_permit(tmp_path: Path) -> None:
    cache = {"cache": "a"}
    steps: list[dict[str, object]] = [{"op": "append", **cache, "pos": [1, 0], "size": 10}]
    steps += [{"op": "cursor_open", **cache, "cursor": cursor, "pos": [1, 0]} for cursor in "cde"]
    steps.append({"op": "append", **cache, "pos": [1, 1], "size": 10})
    for cursor in "cde":
        where = {"op": "cursor_seek", **cache, "cursor": cursor, "pos": [1, 1]}
        steps += [where, {"op": "read_begin", **cache, "cursor": cursor, "read": cursor, "max_entries": 1}]
    rows = limited(tmp_path, "reference", {"storage": "held"}, [*steps, {"op": "release", "hold": "c"}])
    readers = {row["read_id"]: row["cursor"] for row in rows if row["op"] == "READ_BEGIN"}
    ops = ("PERMIT", "HIT", "READ_DONE", "READ_END")
    assert [(row["op"], row["cause"], readers[row["read_id"]], row["cursor"]) for row in rows if row["op"] in ops] == [
        ("PERMIT", "TAKEN", "c", None),
        ("HIT", "READ", "c", "c"),
        ("READ_END", "DONE", "c", "c"),
        ("PERMIT", "QUEUED", "d", None),
        ("PERMIT", "REFUSED", "e", None),
        ("READ_END", "FAILED", "e", "e"),
        ("READ_DONE", "DELIVERED", "c", None),
        ("PERMIT", "GIVEN", "c", None),
        ("PERMIT", "TAKEN", "d", None),
        ("HIT", "READ", "d", "d"),
        ("READ_END", "DONE", "d", "d"),
    ]


def test_the_requests_of_a_fast_cache_have_rows(tmp_path: Path) -> None:
    steps: list[dict[str, object]] = [{"op": "acquire", "id": name, "permits": 70} for name in "abc"]
    rows = limited(tmp_path, "fast", {}, [*steps, {"op": "give_back", "id": "a"}])
    causes = [row["cause"] for row in rows if row["op"] == "PERMIT"]
    assert causes == ["TAKEN", "QUEUED", "REFUSED", "GIVEN", "TAKEN"]
    assert "no evidence" in read_metadata(tmp_path / "trace").source
