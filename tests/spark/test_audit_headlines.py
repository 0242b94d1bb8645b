"""The output of an audit names what it does not cover: brokers without rows, and rules that were not decided."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from entrycache_cli.main import main
from entrycache_spark.folders import audit_folder
from entrycache_trace.convert import to_jsonl
from tests.support.traces import plant


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[plant.Row]:
    return plant.honest(tmp_path_factory.mktemp("honest") / "trace", 1_000, 4)["broker-0"]


@pytest.fixture
def with_empty_brokers(tmp_path: Path, honest: list[plant.Row]) -> Path:
    """Return a conforming broker `a`, a broker `b.é` with a part without rows, and a broker `c` without a part."""
    trace = plant.write(tmp_path / "trace", [*plant.renamed(honest, "a"), *plant.renamed(honest, "b.é")])
    (part,) = (trace / "broker=b.é").glob("*.parquet")
    pq.write_table(pq.ParquetFile(part).read().slice(0, 0), part)
    (trace / "broker=c").mkdir()
    return trace


def audit(trace: Path, *more: str) -> Result:
    out = ("--out", str(trace.parent / "out"))
    return CliRunner().invoke(main, ["audit", str(trace), "--backend", "local", *out, *more])


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_brokers_without_rows_are_in_the_result(with_empty_brokers: Path, backend: str) -> None:
    result = audit_folder(with_empty_brokers, backend)
    assert (result.without_rows, [*result.brokers][:1], result.exit_code) == (("b.é", "c"), ["a"], 0)


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("--new-only",)])
def test_brokers_without_rows_are_named_and_fail_strict(with_empty_brokers: Path, more: tuple[str, ...]) -> None:
    done = audit(with_empty_brokers, *more)
    assert done.exit_code == 0
    assert "no rows of 2 of 3 brokers (b.é, c); nothing of them was checked" in done.stdout
    answer = json.loads(audit(with_empty_brokers, "--json", *more).stdout)
    assert answer["brokers_without_rows"] == ["b.é", "c"]
    strict = audit(with_empty_brokers, "--strict", *more)
    assert (strict.exit_code, len(strict.stderr.splitlines())) == (2, 1)
    assert "--strict: no rows of 2 of 3 brokers (b.é, c)" in strict.stderr


def test_reports_name_brokers_without_rows(with_empty_brokers: Path) -> None:
    junit = with_empty_brokers.parent / "junit.xml"
    audit(with_empty_brokers, "--junit", str(junit))
    assert "broker b.é" in junit.read_text("utf-8")


def test_a_trace_without_rows_names_its_brokers(tmp_path: Path, honest: list[plant.Row]) -> None:
    trace = plant.write(tmp_path / "trace", [])
    (trace / "broker=a").mkdir()
    done = audit(trace)
    assert done.exit_code == 2 and "no rows of 1 of 1 brokers (a)" in done.stdout


@pytest.mark.long
def test_a_trace_with_rows_of_every_broker_names_none(tmp_path: Path, honest: list[plant.Row]) -> None:
    trace = plant.write(tmp_path / "trace", plant.renamed(honest, "a"))
    assert audit(trace, "--strict").exit_code == 0
    assert "no rows" not in audit(trace).stdout
    assert json.loads(audit(trace, "--json").stdout)["brokers_without_rows"] == []


def test_the_headline_says_that_no_rule_was_decided(tmp_path: Path, honest: list[plant.Row]) -> None:
    cut = plant.write(tmp_path / "cut", plant.renamed(honest, "a")[:-1])
    said = audit(cut).stdout.replace("\n", " ")
    assert "events; inconclusive: none of " in said and "was decided; table of violations in " in said
    assert "0 violations" not in said
    both = plant.write(tmp_path / "both", [*plant.renamed(honest, "a"), *plant.renamed(honest, "b")])
    assert "; 0 violations, in " in audit(both).stdout.replace("\n", " ")


@pytest.mark.parametrize("more", [(), ("--new-only",), ("--backend", "replay"), ("--backend", "spark")])
def test_a_file_of_json_lines_is_refused_with_the_way_to_convert_it(
    tmp_path: Path, honest: list[plant.Row], more: tuple[str, ...]
) -> None:
    lines = tmp_path / "its trace.jsonl"
    to_jsonl(plant.write(tmp_path / "trace", plant.renamed(honest, "a")), lines)
    done = audit(lines, *more)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    command = f"entrycache trace convert '{lines}' '{tmp_path / 'its trace'}'"
    assert done.stderr.strip().endswith(f"Convert JSON Lines first: {command}")
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0
    assert audit(tmp_path / "its trace").exit_code == 0


def test_another_path_that_is_no_folder_is_refused(tmp_path: Path, honest: list[plant.Row]) -> None:
    (part,) = plant.write(tmp_path / "trace", plant.renamed(honest, "a")).glob("*/*.parquet")
    assert "a file; expected the folder of the trace, which holds broker=NAME/part-*.parquet" in audit(part).stderr
    assert "no such folder" in audit(tmp_path / "nowhere.jsonl").stderr


@pytest.mark.parametrize("rules", ["", " ,, "])
def test_rules_without_an_id_are_refused_and_not_taken_for_all(
    tmp_path: Path, honest: list[plant.Row], rules: str
) -> None:
    done = audit(plant.write(tmp_path / "trace", plant.renamed(honest, "a")), "--rules", rules)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--rules is empty" in done.stderr


def test_a_rule_that_no_row_decides_is_no_clean_audit(tmp_path: Path, honest: list[plant.Row]) -> None:
    done = audit(plant.write(tmp_path / "trace", plant.renamed(honest, "a")), "--rules", "R-CURSOR-11")
    assert done.exit_code == 2
    assert "nothing was checked: no row of the trace decided a rule" in done.stderr
