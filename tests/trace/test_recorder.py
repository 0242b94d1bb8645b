"""The recorder numbers lives, passes, calls and slots as the format says."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest

from entrycache_conformance import generate
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_fast import BrokerCache, Row
from entrycache_protocol.case import config_to_json
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_spark.check import check_trace
from entrycache_spark.common.results import Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, iterate_rows, list_parts
from entrycache_trace.formats.pulsar_pip430 import ReadRows
from entrycache_trace.recording import CaseStep, TraceWriter

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


IN_FLIGHT = {"R-INFLIGHT-1", "R-INFLIGHT-2", "R-INFLIGHT-3", "R-INFLIGHT-4", "R-INFLIGHT-13", "R-LEDGER-6"}
OF_PERMITS = {"R-LIMIT-2", "R-LIMIT-3", "R-LIMIT-4", "R-LIMIT-5", "R-LIMIT-7"}


def record_level(folder: Path, level: str, cases: int) -> None:
    """Record random cases of a level with the rows of the reference, a broker each."""
    subject, system = resolve_subject(SubjectChoice("reference", system="pulsar-pip430")), SYSTEMS["pulsar-pip430"]
    menu = system.cases.menu(list(subject.declaration.ops), level)
    source, writer = random.Random(7), TraceWriter(folder, Metadata())
    for number in range(cases):
        generated = generate.record_case(source, subject.declaration, menu, None, None).generated
        recorder = writer.recorder(f"b{number}", config_to_json(system, generated.case.config))
        rows, before = ReadRows(recorder), initial(generated.case.config)
        for op, step in zip(generated.case.steps, generated.steps, strict=True):
            rows.record(CaseStep(op, partial(system.wire.write_outcome, step.outcome), step.rows, step.state), before)
            before = step.state
        recorder.close()


@pytest.mark.parametrize(
    ("level", "wanted"), [("ledger", {"R-LEDGER-14"}), ("inflight", IN_FLIGHT), ("limits", OF_PERMITS)]
)
def test_runs_of_the_levels_of_managed_ledgers_audit_clean(tmp_path: Path, level: str, wanted: set[str]) -> None:
    record_level(tmp_path / "trace", level, 60)
    assert check_trace(tmp_path / "trace").problems == ()
    result = audit_folder(tmp_path / "trace", "local")
    assert result.violations == ()
    checked = {rule for rule, verdict in result.rules.items() if verdict is not Verdict.NOTHING_CHECKED}
    assert wanted <= checked
