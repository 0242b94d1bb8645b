"""Bad input gives one clear line; missing evidence is never called conforming, nor a violation."""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from entrycache_cli.commands import audit as cli
from entrycache_protocol.errors import UsageError
from entrycache_spark.check import check_trace
from entrycache_spark.common.results import Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.common.system import AUDITED
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.folders import audit_folder
from entrycache_spark.plan import NULL_TEXT, WindowFindings
from entrycache_spark.survey import survey_brokers
from entrycache_trace.convert import convert
from entrycache_trace.files import Metadata, iterate_rows, list_parts
from entrycache_trace.generators.generate import generate
from entrycache_trace.inspect import summarize, summary_json
from entrycache_trace.schema import ADDED_COLUMNS, ROW_SCHEMA
from tests.support.command import run
from tests.support.traces import plant

ENGINES = ["local", "replay"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[plant.Row]:
    return plant.honest(tmp_path_factory.mktemp("honest") / "trace", 3_000, 11)["broker-0"]


@pytest.mark.long
@pytest.mark.parametrize("backend", ENGINES)
@pytest.mark.parametrize("cut", ["gap", "no end", "no begin", "sampled"])
def test_missing_evidence_is_inconclusive(tmp_path: Path, honest: list[plant.Row], backend: str, cut: str) -> None:
    rows = plant.renamed(honest, "b")
    if cut == "gap":
        del rows[500:505]
    elif cut == "no end":
        rows = rows[:-1]
    elif cut == "no begin":
        rows = rows[700:]
    trace = plant.write(tmp_path / "trace", rows, sampling=0.5 if cut == "sampled" else 1)
    result = audit_folder(trace, backend)
    assert set(result.rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}
    assert result.violations == ()
    assert result.exit_code == 0


@pytest.mark.long
def test_a_broker_with_gaps_does_not_hide_that_others_conform(tmp_path: Path, honest: list[plant.Row]) -> None:
    rows = [row for name in "abc" for row in plant.renamed(honest, name)[: -1 if name == "b" else None]]
    trace, out = plant.write(tmp_path / "trace", rows), ("--out", str(tmp_path / "out"))
    done = CliRunner().invoke(cli.audit, [str(trace), "--backend", "local", *out])
    lone = audit_folder(plant.write(tmp_path / "lone", plant.renamed(honest, "a")), "local", out=tmp_path / "out")
    keep = sum(verdict is Verdict.CONFORMS for verdict in lone.rules.values())
    assert keep > 20
    assert f"2 of 3 brokers leave no rule open (a, c): {keep} rules conform there, 0 are violated" in done.stdout
    assert (
        "leave no rule open"
        not in CliRunner().invoke(cli.audit, [str(tmp_path / "lone"), "--backend", "local", *out]).stdout
    )


@pytest.mark.long
def test_strict_fails_if_a_broker_is_undecided(
    tmp_path: Path, honest: list[plant.Row], capsys: pytest.CaptureFixture[str]
) -> None:
    whole, cut = plant.renamed(honest, "a"), plant.renamed(honest, "b")[:-1]

    def strict(name: str, rows: list[plant.Row], *more: str) -> tuple[int, str]:
        trace = str(plant.write(tmp_path / name, rows))
        argv = [trace, "--backend", "local", "--out", str(tmp_path / "out" / name), *more]
        code, _, said = run(capsys, "audit", *argv)
        return code, said

    assert strict("whole", whole, "--strict") == (0, "")
    code, said = strict("cut", whole + cut, "--strict", "--json")
    assert code == 2 and len(said.splitlines()) == 1
    assert "no rule was decided of 1 of 2 brokers (b): broker 'b': the last event is not END" in said
    assert strict("cut too", whole + cut) == (0, "")
    broken = plant.renamed(honest, "b")
    plant.untouched_requeue(broken[1000:], random.Random(1))
    assert strict("broken", whole + broken[:-1], "--strict")[0] == 1


@pytest.mark.parametrize("backend", ENGINES)
def test_a_row_that_proves_a_violation_does_so_beside_a_gap(
    tmp_path: Path, honest: list[plant.Row], backend: str
) -> None:
    rows = plant.renamed(honest, "b")
    rule, seq = plant.untouched_requeue(rows[1000:], random.Random(1))
    trace = plant.write(tmp_path / "trace", rows[:500] + rows[505:])
    result = audit_folder(trace, backend)
    assert [(row.rule, row.seq) for row in result.violations] == [(rule, seq)]
    assert result.rules["R-STATE-1"] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("system", AUDITED)
def test_an_event_without_a_cause_proves_nothing(tmp_path: Path, honest: list[plant.Row], system: str) -> None:
    """DuckDB counts null where no row has a value; Spark counts 0."""
    op = next(op for op, event in AUDITED[system].format.by_op.items() if event.causes)
    row = {**honest[0], "op": op, "cause": None, "cache": "a", "value": None}
    trace = plant.write(tmp_path / "trace", [row], system=system)
    for backend in ENGINES:
        assert set(audit_folder(trace, backend).rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}


def test_violations_with_null_texts_are_reported(tmp_path: Path, honest: list[plant.Row]) -> None:
    parts, rules = list_parts(plant.write(tmp_path / "trace", honest)), all_rules()
    backend, metadata = DuckDbBackend(parts), Metadata()
    brokers = survey_brokers(backend, metadata, rules)
    backend.close()
    (name,) = (broker.name for broker in brokers)
    findings = WindowFindings(rules, brokers, {rule.id: brokers for rule in rules}, metadata)
    rows = [("R-STATE-1", (name, 7, None, expected, None, [7], True)) for expected in (None, "bytes_after 5")]
    findings.add([], rows, whole=True)
    reported = findings.findings_for(rules)[name]["R-STATE-1"].violations
    assert [(row.seq, row.expected, row.observed) for row in reported] == [(7, "bytes_after 5", NULL_TEXT)]


def test_an_empty_folder_checks_nothing(tmp_path: Path) -> None:
    result = audit_folder(tmp_path, "local", out=tmp_path.parent / "out")
    assert set(result.rules.values()) == {Verdict.NOTHING_CHECKED}
    assert result.exit_code == 2


def test_a_trace_without_passes_checks_no_pass_rule(tmp_path: Path, honest: list[plant.Row]) -> None:
    rows = plant.renamed(honest, "b")[:5]
    result = audit_folder(plant.write(tmp_path / "trace", rows), "local")
    assert result.rules["R-EVICT-8"] is Verdict.NOTHING_CHECKED


@pytest.mark.parametrize("backend", ENGINES)
def test_a_seq_recorded_twice_is_refused(tmp_path: Path, honest: list[plant.Row], backend: str) -> None:
    rows = plant.renamed(honest, "it's \\ b")
    trace = plant.write(tmp_path / "trace", [*rows[:50], rows[49], *rows[51:]])
    with pytest.raises(UsageError, match="seq 49: recorded twice"):
        audit_folder(trace, backend)


def test_unreadable_files_are_refused(tmp_path: Path, honest: list[plant.Row]) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        audit_folder(tmp_path / "nowhere", "local")
    trace = plant.write(tmp_path / "trace", plant.renamed(honest, "b"))
    part = next(trace.glob("*/*.parquet"))
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match="cannot be read as Parquet"):
        audit_folder(trace, "local")
    part.write_bytes(whole)
    pq.write_table(pq.ParquetFile(part).read().drop_columns(["head_no"]), part)
    with pytest.raises(UsageError, match="column head_no is missing"):
        audit_folder(trace, "local")
    table = pq.ParquetFile(part).read()
    pq.write_table(table.append_column("head_no", pa.array(["x"] * len(table))), part)
    with pytest.raises(UsageError, match="column head_no is string"):
        audit_folder(trace, "local")
    (trace / "_entrycache.json").unlink()
    part.write_bytes(whole)
    with pytest.raises(UsageError, match=r"_entrycache\.json: missing"):
        audit_folder(trace, "local")
    with pytest.raises(UsageError, match="R-NONE-1"):
        audit_folder(trace, "local", rules=["R-NONE-1"])


@pytest.mark.parametrize("backend", ENGINES)
def test_an_older_file_may_lack_the_columns_that_came_later(
    backend: str, tmp_path: Path, honest: list[plant.Row]
) -> None:
    rows = plant.renamed(honest[:200], "a") + plant.renamed(honest[:200], "b")
    trace = plant.write(tmp_path / "trace", rows)
    expected = audit_folder(trace, backend).rules
    assert Verdict.INCONCLUSIVE in expected.values()
    part = next(trace.glob("broker=a/*.parquet"))
    pq.write_table(pq.ParquetFile(part).read().drop_columns(sorted(ADDED_COLUMNS)), part)
    assert audit_folder(trace, backend).rules == expected
    assert check_trace(trace).problems == ()
    pq.write_table(pq.ParquetFile(part).read().append_column("ask_id", pa.array(["x"] * 200)), part)
    with pytest.raises(UsageError, match="column ask_id is string"):
        audit_folder(trace, backend)


@pytest.mark.parametrize("name", [field.name for field in ROW_SCHEMA if not field.nullable])
@pytest.mark.parametrize("statistics", [True, False])
def test_a_null_in_a_required_column_is_a_broken_trace(
    name: str, statistics: bool, tmp_path: Path, honest: list[plant.Row]
) -> None:
    trace = plant.write(tmp_path / "trace", plant.renamed(honest[:60], "b"))
    part = next(trace.glob("*/*.parquet"))
    whole = pq.ParquetFile(part).read().cast(pa.schema([field.with_nullable(True) for field in ROW_SCHEMA]))
    pq.write_table(whole, part, write_statistics=statistics)
    assert len(list_parts(trace)) == 1, "that it could hold a null is no fault"
    values = whole[name].to_pylist()
    values[7] = None
    at = whole.schema.names.index(name)
    broken = whole.set_column(at, whole.schema.field(name), pa.array(values, whole.schema.field(name).type))
    pq.write_table(broken, part, write_statistics=statistics)
    for backend in (*ENGINES, "spark"):
        with pytest.raises(UsageError, match=rf"\.parquet: column {name} is null in row 7; it has a value"):
            audit_folder(trace, backend)


def test_an_unreadable_broker_folder_is_not_skipped(honest: list[plant.Row]) -> None:
    """Root can read everything, so another user reads the trace, in a folder open to all."""
    with tempfile.TemporaryDirectory() as name:
        trace = plant.write(Path(name, "trace"), [*plant.renamed(honest[:60], "a"), *plant.renamed(honest[:60], "b")])
        Path(name).chmod(0o755)
        assert len(list_parts(trace)) == 2
        (trace / "broker=b").chmod(0)
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(UsageError, match=r"broker=b: cannot be read \(Permission denied\)"):
                list_parts(trace)
        finally:
            os.seteuid(before)
            (trace / "broker=b").chmod(0o755)


def test_a_broker_behind_a_link_is_read(tmp_path: Path, honest: list[plant.Row]) -> None:
    trace = plant.write(tmp_path / "trace", [*plant.renamed(honest[:60], "a"), *plant.renamed(honest[:60], "b")])
    (trace / "broker=b").rename(tmp_path / "elsewhere")
    (trace / "broker=b").symlink_to(tmp_path / "elsewhere")
    assert [part.broker for part in list_parts(trace)] == ["a", "b"]
    (trace / "broker=a" / "loop").symlink_to(trace)
    with pytest.raises(UsageError):
        list_parts(trace)


@pytest.mark.long
def test_jsonl_and_back_loses_nothing(tmp_path: Path, honest: list[plant.Row]) -> None:
    rows = [*plant.renamed(honest, "Zürich %2F/1"), *plant.renamed(honest, "a b")]
    trace = plant.write(tmp_path / "trace", rows, threads="many")
    assert convert(trace, tmp_path / "t.jsonl") == len(rows)
    assert convert(tmp_path / "t.jsonl", tmp_path / "back") == len(rows)
    before, after = (list(iterate_rows(list_parts(path))) for path in (trace, tmp_path / "back"))
    assert before == after
    assert (trace / "_entrycache.json").read_text() == (tmp_path / "back" / "_entrycache.json").read_text()
    verdicts = audit_folder(tmp_path / "back", "local").rules
    assert set(verdicts.values()) == {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}
    assert verdicts["R-EVICT-8"] is Verdict.CONFORMS


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"broker":"b","seq":1}', "ts_ns is missing"),
        ('{"broker":"b","seq":"1","ts_ns":0,"op":"END","bytes_after":0}', "seq is '1', not int64"),
        ('{"broker":"b","seq":1,"ts_ns":0,"op":"END","bytes_after":9223372036854775808}', "not int64"),
    ],
)
def test_bad_json_lines_are_refused(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "t.jsonl").write_text(line + "\n")
    with pytest.raises(UsageError, match=message):
        convert(tmp_path / "t.jsonl", tmp_path / "out")


@pytest.mark.long
def test_names_of_brokers_are_the_same_everywhere(
    tmp_path: Path, honest: list[plant.Row], spark_session: object
) -> None:
    assert spark_session
    names = ("007", "Zürich %2F/1", "it's \\ b", "x=y:z?*[1]", "utf8")
    rows = [row for name in names for row in plant.renamed(honest[:300] + honest[301:], name)]
    trace = plant.write(tmp_path / "a [b]" / "trace", rows)
    (trace / "broker=utf8").rename(trace / "broker=%C3%BC")
    noted = [set(audit_folder(trace, backend, rules=["R-EXPIRE-2"]).notes) for backend in ("spark", "local")]
    assert noted[0] == noted[1]
    assert all(any(repr(name) in note for note in noted[0]) for name in (*names[:-1], "ü"))


def test_generation_is_deterministic(tmp_path: Path) -> None:
    for name in ("a", "b"):
        generate("tail-fanout", 2_000, 3, tmp_path / name, 2)
    first, second = (list(iterate_rows(list_parts(tmp_path / name))) for name in ("a", "b"))
    assert first == second
    with pytest.raises(UsageError, match="not empty"):
        generate("tail-fanout", 10, 3, tmp_path / "a")


def test_inspect_counts_gaps(tmp_path: Path, honest: list[plant.Row]) -> None:
    rows = plant.renamed(honest, "b")
    trace = plant.write(tmp_path / "trace", rows[:100] + rows[104:])
    summary = summarize(trace)
    assert summary.brokers[0].missing == 4
    assert summary.brokers[0].first_gap_seq == 100
    assert sum(summary.brokers[0].ops.values()) == len(rows) - 4
    json.dumps(summary_json(summary))


def test_replay_gives_up_above_its_limit(tmp_path: Path, honest: list[plant.Row]) -> None:
    trace = plant.write(tmp_path / "trace", plant.renamed(honest, "b"))
    result = audit_folder(trace, "replay", max_live_slots=10)
    assert set(result.rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}
    assert "more than 10 slots" in result.notes[0]


def test_the_command_answers_in_json(tmp_path: Path, honest: list[plant.Row]) -> None:
    rows = plant.renamed(honest, "b")
    rule, seq = plant.stale_head(rows, random.Random(1))
    trace = plant.write(tmp_path / "trace", rows)
    arguments = [str(trace), "--backend", "local", "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(cli.audit, arguments)
    assert done.exit_code == 1, done.output
    answer = json.loads(done.stdout)
    assert answer["schema"] == 1
    assert answer["rules"][rule] == "violates"
    stored = pq.read_table(tmp_path / "out" / "violations.parquet").to_pylist()
    assert answer["violations"] == len(stored)
    assert {row["rule"] for row in stored} == {name for name, said in answer["rules"].items() if said == "violates"}
    (row,) = (row for row in stored if row["rule"] == rule)
    assert (row["broker"], row["seq"], row["life"], row["seqs"][-1]) == ("b", seq, None, seq)
    inside = CliRunner().invoke(cli.audit, [str(trace), "--backend", "local", "--out", str(trace / "x")])
    assert isinstance(inside.exception, UsageError)
