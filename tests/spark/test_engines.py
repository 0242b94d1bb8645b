"""All backends read a trace in the same way: names with special characters, extreme integers, and extra files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_protocol.errors import UsageError
from entrycache_spark.folders import audit_folder
from tests.spark.conftest import Evaluator
from tests.support.traces import plant

RULES: Final = ("R-STATE-1", "R-EXPIRE-1", "R-METRICS-3")

FOLDERS: Final = (
    "t*",
    "[tx]",
    "t?",
    "{t,x}",
    "a b",
    "a%20b",
    "it's",
    "ü",
    "a=b",
    "a,b",
    "$t",
    "a\\b",
    "#t",
    "t;x",
    "~t",
)
BROKERS: Final = (
    "*",
    "b*",
    "[b]",
    "?",
    "{b}",
    "a b",
    "a%2Ab",
    "ü",
    "null",
    "NULL",
    "007",
    "1e3",
    "2026-01-01",
    "true",
    "b=c",
)
NO_BROKERS: Final = ("__HIVE_DEFAULT_PARTITION__", "")
EXTREMES: Final = (2**31 - 1, -(2**31), 2**53 - 1, -(2**53) + 1, 2**53, 2**62, -(2**62), 2**62 + 1, 2**63 - 1, -(2**63))
COLUMNS: Final = (
    "seq",
    "ts_ns",
    "bytes_after",
    "size_bytes",
    "stamp_ns",
    "life",
    "tail_no",
    "bound",
    "requeues",
    "entry_id",
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[plant.Row]:
    return plant.honest(tmp_path_factory.mktemp("honest") / "trace", 200, 11)["broker-0"]


@pytest.fixture
def backends(request: pytest.FixtureRequest, engines: Mapping[str, Evaluator]) -> tuple[str, ...]:
    """Return the tested backends."""
    return ("local", "replay", "spark", "sql") if "spark" in engines else ("local", "replay")


def audit_with(trace: Path, backend: str) -> Any:
    """Return the answer of a backend: verdicts and places of violations, or the reason of a refusal."""
    try:
        result = audit_folder(trace, backend, rules=RULES)
    except UsageError as error:
        return str(error)
    verdicts = {rule: verdict.value for rule, verdict in result.rules.items()}
    return verdicts, sorted((row.rule, row.broker, row.seq) for row in result.violations)


def compare_with_windows(trace: Path, backends: tuple[str, ...]) -> Any:
    """Return the common answer of all backends."""
    said = {backend: audit_with(trace, backend) for backend in backends}
    first = said[backends[0]]
    assert all(one == first for one in said.values()), (trace, said)
    return first


@pytest.mark.long
def test_folder_names_are_not_patterns(tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]) -> None:
    """Broken traces whose names a pattern would match stand next to each folder."""
    for name in ("t", "x", "tx", "t1"):
        rows = plant.renamed(honest, "b")
        rows[50]["bytes_after"] += 1
        plant.write(tmp_path / name, rows)
    assert compare_with_windows(tmp_path / "t", backends)[0]["R-STATE-1"] == "violates"
    for name in FOLDERS:
        trace = plant.write(tmp_path / name, plant.renamed(honest, "b"))
        verdicts, violations = compare_with_windows(trace, backends)
        assert (verdicts["R-STATE-1"], violations) == ("conforms", []), name
        shutil.rmtree(trace)


def test_an_engine_that_reads_a_name_as_a_pattern_is_detected(
    tmp_path: Path, honest: list[plant.Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = plant.renamed(honest, "b")
    trace = plant.write(tmp_path / "t*", rows)
    rows[50]["bytes_after"] += 1
    plant.write(tmp_path / "tx", rows)
    assert compare_with_windows(trace, ("local", "replay"))[1] == []
    monkeypatch.setattr("entrycache_spark.duckdb_backend._literal", str)
    with pytest.raises(AssertionError):
        compare_with_windows(trace, ("local", "replay"))


def test_broker_names_are_not_patterns(tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]) -> None:
    rows = []
    for name in BROKERS:
        own = plant.renamed(honest, name)
        own[50]["bytes_after"] += 1
        rows += own
    _, violations = compare_with_windows(plant.write(tmp_path / "trace", rows), backends)
    assert {broker for _, broker, _ in violations} == set(BROKERS)


def test_null_names_no_broker(tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]) -> None:
    trace = plant.write(tmp_path / "trace", plant.renamed(honest, "b"))
    for name in NO_BROKERS:
        (trace / "broker=b").rename(trace / f"broker={name}")
        assert "names no broker" in compare_with_windows(trace, backends)
        (trace / f"broker={name}").rename(trace / "broker=b")
    assert compare_with_windows(trace, backends)[0]["R-STATE-1"] == "conforms"


def test_a_name_that_one_engine_cannot_read_is_refused_by_all(
    tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]
) -> None:
    trace = plant.write(tmp_path / "t\\*", plant.renamed(honest, "b"))
    assert "a backslash beside" in compare_with_windows(trace, backends)


def test_two_names_are_not_read_as_one(tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]) -> None:
    trace = plant.write(tmp_path / "trace", plant.renamed(honest, "b"))
    (trace / "broker=b").rename(trace / "broker=%FF")
    assert "the name is not UTF-8 text" in compare_with_windows(trace, backends)
    half = trace.rename(tmp_path / "half-\udcff")
    assert "is not UTF-8" in compare_with_windows(half, backends)


def test_other_files_are_not_part_of_a_trace(
    tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]
) -> None:
    trace = plant.write(tmp_path / "trace", plant.renamed(honest, "b"))
    for name in ("notes.txt", ".part.parquet.crc", "_SUCCESS", "part.parquet.tmp", ".x.parquet"):
        (trace / "broker=b" / name).write_text("PAR1")
        (trace / name).write_text("PAR1")
    (trace / ".x.parquet").unlink()
    (trace / "logs").mkdir()
    (trace / "logs" / "x.log").write_text("x")
    assert compare_with_windows(trace, backends)[0]["R-STATE-1"] == "conforms"


@pytest.mark.parametrize(
    "column", [pytest.param(name, marks=[] if name in COLUMNS[:3] else pytest.mark.long) for name in COLUMNS]
)
def test_integers_at_their_extremes(
    column: str, tmp_path: Path, honest: list[plant.Row], backends: tuple[str, ...]
) -> None:
    for number, value in enumerate(EXTREMES):
        if column == "requeues" and not -(2**31) <= value < 2**31:
            continue
        rows = plant.renamed(honest, "b")
        at = next(at for at, row in enumerate(rows) if at > 40 and row[column] is not None)
        rows[at][column] = value
        said = compare_with_windows(plant.write(tmp_path / str(number), rows), backends)
        beyond = (
            abs(value) > (2**62 if column in {"ts_ns", "stamp_ns", "bound"} else 2**53 - 1) and column != "requeues"
        )
        assert isinstance(said, str) is beyond, (value, said)
        assert not beyond or f"column {column} holds {value}, not int64 from" in said
