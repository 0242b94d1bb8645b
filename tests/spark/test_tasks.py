"""DuckDB in Spark's tasks: a broker's answer does not depend on its task, and a missing prerequisite is reported."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_spark import folders as audits
from entrycache_spark import spark_backend, tasks
from entrycache_spark.common.results import Findings
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.plan import evaluate_in_sql
from entrycache_spark.tasks import (
    RESULT_SCHEMA,
    AuditRequest,
    TaskGroup,
    TaskPrerequisiteMissing,
    evaluate_group,
    group_brokers,
    read_findings,
)
from entrycache_trace.files import Metadata, Part, list_parts
from tests.support.traces import mutate, plant

RULES = all_rules()


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Part, ...]:
    """Return broken brokers, a clean one, one with a gap, and one without settings."""
    folder = tmp_path_factory.mktemp("tasks")
    base = plant.honest(folder / "honest", 1_500, 4)["broker-0"]
    rows = plant.renamed(base, "clean")
    for change in (plant.wrong_order, plant.stale_head, plant.wrong_sum, plant.double_removal, mutate.gap):
        own = plant.renamed(base, change.__name__)
        change(own, random.Random(1))
        rows += own
    silent = plant.renamed(base, "silent")
    silent[0]["value"] = "{}"
    rows += silent
    return list_parts(plant.write(folder / "trace", rows))


def evaluate_groups(parts: tuple[Part, ...], groups: list[tuple[Part, ...]]) -> Findings:
    question = AuditRequest(Metadata(), RULES, True)
    rows = [row for own in groups for row in evaluate_group(TaskGroup(own, 1, 512), question)]
    return read_findings(pa.Table.from_pylist(rows, RESULT_SCHEMA).to_pylist())


@pytest.mark.long
def test_a_broker_gets_the_same_answer_alone_and_beside_others(parts: tuple[Part, ...]) -> None:
    backend = DuckDbBackend(parts)
    at_once = evaluate_in_sql(backend, Metadata(), RULES)
    backend.close()
    assert sum(len(finding.violations) for own in at_once.values() for finding in own.values()) > 3
    assert any(finding.unchecked for finding in at_once["silent"].values())
    assert evaluate_groups(parts, [parts]) == at_once
    assert evaluate_groups(parts, [(part,) for part in parts]) == at_once


def test_brokers_are_grouped_by_rows(tmp_path: Path) -> None:
    def trace(*rows: int) -> list[Part]:
        return [Part(f"b{number}", tmp_path, own) for number, own in enumerate(rows)]

    assert [len(group.parts) for group in group_brokers(trace(10, 20, 0), 4)] == [2], "small: one task"
    many = group_brokers(trace(*[1_000_000] * 8), 2)
    assert [(len(group.parts), group.threads) for group in many] == [(4, 1), (4, 1)]
    assert len(group_brokers(trace(*[1_000_000] * 40), 2)) == 8
    giant = group_brokers(trace(9_000_000, 500_000, 500_000), 2)
    assert [(len(group.parts), group.threads) for group in giant] == [(1, 2), (2, 1)]
    assert all(group.memory_mib <= tasks.MEMORY_MIB for group in (*many, *giant))


def test_a_refusal_names_the_first_broker(parts: tuple[Part, ...], tmp_path: Path) -> None:
    base = plant.honest(tmp_path / "honest", 100, 1)["broker-0"]
    twice = [*plant.renamed(base, "b"), *plant.renamed(base[-1:], "b"), *plant.renamed(base, "a")]
    twice.append(dict(twice[-1]))
    broken = list_parts(plant.write(tmp_path / "twice", twice))
    with pytest.raises(UsageError, match=r"broker 'a', seq \d+: recorded twice"):
        evaluate_groups(broken, [(part,) for part in reversed(broken)])


def test_a_missing_prerequisite_of_a_task_is_reported(parts: tuple[Part, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    gone = (replace(parts[0], path=parts[0].path / "gone"),)
    with pytest.raises(TaskPrerequisiteMissing, match="not there where a task runs"):
        evaluate_groups(parts, [parts[1:], gone])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.delitem(sys.modules, "entrycache_spark.duckdb_backend")
    with pytest.raises(TaskPrerequisiteMissing, match="needs the Python package duckdb"):
        evaluate_groups(parts, [parts])


@pytest.mark.long
def test_spark_sql_decides_where_tasks_lack_something(parts: tuple[Part, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*arguments: object) -> Findings:
        raise TaskPrerequisiteMissing("backend local needs duckdb")

    monkeypatch.setattr(tasks, "evaluate_in_tasks", lacking)
    monkeypatch.setattr(spark_backend, "get_session", lambda *arguments: None)
    monkeypatch.setattr("entrycache_spark.spark_backend.SparkSqlBackend", lambda *arguments: DuckDbBackend(parts))
    trace = parts[0].path.parent.parent
    result = audits.audit_folder(trace, "spark")
    assert result == audits.audit_folder(trace, "local")
    assert result.evaluator == "Spark SQL (backend local needs duckdb)"
    with pytest.raises(MissingPrerequisite, match="duckdb in tasks of Spark: backend local needs duckdb"):
        audits.audit_folder(trace, "spark-duckdb")
    with pytest.raises(UsageError, match="backend 'numba' is not known; there are spark, spark-checker, "):
        audits.audit_folder(trace, "numba")
