"""Cases made of traces: the same calls give the same events, and show the fault of a subject."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entrycache_cli.commands.record import record
from entrycache_cli.main import main
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import case_from_json, read_case
from entrycache_simulate.explain import explain_event
from entrycache_simulate.run import OBSERVABLE_OPS, read_brokers
from entrycache_trace.files import iterate_rows, list_parts
from tests.support.simulate.workload import record_random_calls

SMALL: dict[str, Any] = {"max_size_bytes": 120, "watermark": 0.7, "ttl_nanos": 12, "max_requeues": 2}


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Run a command and return its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as exit_info:
        main(argv)
    message = capsys.readouterr()
    return int(exit_info.value.code or 0), message.out, message.err


def events(trace: Path) -> list[tuple[int, Any]]:
    """Return the observable events of a trace."""
    return list(read_brokers(trace)[1][0].observable)


def last_seq(trace: Path) -> int:
    """Return the number of the last observable event."""
    return events(trace)[-1][0]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of all kinds of calls."""
    out = tmp_path_factory.mktemp("traces") / "trace"
    record_random_calls(3, out, SMALL)
    return out


def alter(trace: Path, out: Path, column: str, seq: int) -> Path:
    """Copy the trace with one number raised by one."""
    out.mkdir()
    for path in trace.rglob("*"):
        if path.is_file():
            (out / path.relative_to(trace)).parent.mkdir(parents=True, exist_ok=True)
            (out / path.relative_to(trace)).write_bytes(path.read_bytes())
    for part in list_parts(out):
        table = pq.read_table(part.path, partitioning=None)
        rows = table.to_pylist()
        for row in rows:
            row[column] += row["seq"] == seq if row[column] is not None else 0
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), part.path)
    return out


@pytest.mark.parametrize("seed", range(4))
def test_the_case_gives_the_events_of_the_trace(seed: int, tmp_path: Path) -> None:
    record_random_calls(seed, tmp_path / "trace", SMALL)
    explained = explain_event(tmp_path / "trace", None, last_seq(tmp_path / "trace"))
    assert explained.difference == ""
    again = tmp_path / "again"
    assert (
        record(resolve_subject(SubjectChoice("fast")), case_from_json(explained.case, SYSTEMS), again).failure is None
    )
    output = [event for _, event in events(tmp_path / "trace")]
    assert [event for _, event in events(again)] == output
    assert {event.op for event in output} == OBSERVABLE_OPS


def test_a_case_ends_with_the_call_of_its_event(trace: Path, tmp_path: Path) -> None:
    for seq, _ in events(trace)[5:400:60]:
        case = case_from_json(explain_event(trace, None, seq).case, SYSTEMS)
        out = tmp_path / str(seq)
        record(resolve_subject(SubjectChoice("fast")), case, out)
        assert [event for at, event in events(trace) if at <= seq] == [event for _, event in events(out)][
            : len([at for at, _ in events(trace) if at <= seq])
        ]


def test_an_event_that_an_audit_names_is_explained(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    seq = next(row["seq"] for row in iterate_rows(list_parts(trace)) if row["op"] == "EVICT" and row["seq"] > 300)
    alter(trace, tmp_path / "lies", "bytes_after", seq)
    code, out, _ = run(capsys, "audit", "lies", "--backend", "replay", "--json")
    assert code == 1
    rows = pq.read_table("entrycache-audit/violations.parquet").to_pylist()
    violation = min(rows, key=lambda row: row["seq"])
    assert seq <= violation["seq"] <= seq + 1
    code, out, _ = run(
        capsys, "trace", "explain", "lies", "--seq", str(violation["seq"]), "--rule", violation["rule"], "--json"
    )
    output = json.loads(out)
    assert code == 0
    assert f"seq {seq}: recorded EVICT of " in output["unlike"]
    case = read_case(Path(output["case"]), SYSTEMS)
    assert case.rules == (violation["rule"],)
    assert run(capsys, "replay", output["case"], "fast")[0] == 0


@pytest.mark.long
def test_the_case_shows_the_fault_of_a_subject(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "trace", "explain", str(trace), "--seq", str(last_seq(trace)))
    assert code == 0
    steps, calls, replay = out.splitlines()
    assert calls == "the calls give every event up to there again"
    path = next(tmp_path.glob("event-*.json"))
    assert steps.endswith(f"in {path.name}")
    assert replay == f"replay it: entrycache replay {path.name} SUBJECT"
    assert run(capsys, "replay", path.name, "fast")[0] == 0
    code, out, _ = run(capsys, "replay", path.name, "requeue-keeps-stamp")
    assert code == 1
    assert "R-REQUEUE-4" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--seq", "5", "--broker", "x"), "there is no broker 'x'; there are one"),
        (("--seq", "99999999"), "broker 'one' has no event 99999999 that follows from a call"),
        (("--seq", "5", "--rule", "R-NOT-1"), "--rule R-NOT-1 is no rule"),
        (("--seq", "-1"), "'--seq'"),
    ],
)
def test_a_mistake_is_one_line(
    options: tuple[str, ...],
    message: str,
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "trace", "explain", str(trace), *options)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
