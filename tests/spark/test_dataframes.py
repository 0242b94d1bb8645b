"""An audit of a DataFrame gives the verdicts of a folder's audit, in any order of rows; the session stays as it is."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from entrycache_protocol.errors import UsageError
from entrycache_spark import audit
from entrycache_spark.common.results import Findings
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from entrycache_spark.systems.pulsar_pip430 import COLUMNS
from entrycache_spark.tasks import (
    RESULT_SCHEMA,
    AuditRequest,
    TaskGroup,
    collect_rows,
    evaluate_group,
    frame_task,
    read_findings,
)
from entrycache_trace.files import Metadata, Part, list_parts, read_part
from tests.support.traces import plant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUESTION = AuditRequest(Metadata(), all_rules(), True)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Part, ...]:
    folder = tmp_path_factory.mktemp("frames")
    base = plant.honest(folder / "honest", 600, 4)["broker-0"]
    rows = plant.renamed(base, "a clean/one")
    for change in (plant.wrong_order, plant.wrong_sum):
        own = plant.renamed(base, change.__name__)
        change(own, random.Random(1))
        rows += own
    return list_parts(plant.write(folder / "trace", rows))


@pytest.fixture(scope="module")
def table(parts: tuple[Part, ...]) -> pa.Table:
    """Return the rows of all brokers in one unordered table."""
    tables = []
    for part in parts:
        own = read_part(part, COLUMNS)
        tables.append(own.append_column("broker", pa.array([part.broker] * own.num_rows)).select(COLUMNS))
    whole = pa.concat_tables(tables)
    order = list(range(whole.num_rows))
    random.Random(1).shuffle(order)
    return whole.take(order)


@pytest.fixture(scope="module")
def wanted(parts: tuple[Part, ...]) -> Findings:
    return read_findings(
        pa.Table.from_pylist(evaluate_group(TaskGroup(parts, 1, 512), QUESTION), RESULT_SCHEMA).to_pylist()
    )


def evaluated(table: pa.Table) -> Findings:
    run = frame_task(QUESTION, COLUMNS, 1, 512)
    return read_findings(pa.Table.from_batches(run(iter(table.to_batches(max_chunksize=500)))).to_pylist())


def test_rows_in_a_task_are_judged_like_files(table: pa.Table, wanted: Findings) -> None:
    assert any(finding.violations for own in wanted.values() for finding in own.values())
    assert evaluated(table) == wanted


def test_a_task_without_rows_answers_nothing(table: pa.Table) -> None:
    assert evaluated(table.slice(0, 0)) == {}


def test_rows_that_no_trace_has_are_refused(table: pa.Table) -> None:
    for name, value, said in (
        ("op", None, "column op is null in row"),
        ("size_bytes", 1 << 60, "column size_bytes holds 1152921504606846976, not int64 from"),
        ("broker", None, "column broker is null in some row"),
        ("broker", "", "'' names no broker"),
    ):
        values = table[name].to_pylist()
        values[7] = value
        at = table.column_names.index(name)
        broken = table.set_column(at, name, pa.array(values, table.schema.field(name).type))
        with pytest.raises(UsageError, match=said) as refused:
            evaluated(broken)
        assert "scratch" not in str(refused.value)


@pytest.mark.long
def test_a_frame_is_judged_like_its_folder_and_its_session_stays(
    spark_session: SparkSession, parts: tuple[Part, ...], wanted: Findings
) -> None:
    folder = parts[0].path.parent.parent
    spark_session.range(3).createOrReplaceTempView("trace")
    spark_session.conf.set("spark.sql.ansi.enabled", "true")
    before = settings(spark_session)
    frame = spark_session.read.option("basePath", str(folder)).parquet(f"{folder}/broker=*")
    for shuffled in (frame, frame.repartition(7).withColumnRenamed("seq", "SEQ").withColumnRenamed("SEQ", "seq")):
        assert read_findings(collect_rows(audit(shuffled, Metadata()))) == wanted
    assert audit_folder(folder, "sql", rules=["R-STATE-1"]).violations
    assert settings(spark_session) == before
    assert spark_session.table("trace").count() == 3
    assert [view.name for view in spark_session.catalog.listTables()] == ["trace"]
    spark_session.catalog.dropTempView("trace")
    spark_session.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(UsageError, match="column seq is missing"):
        audit(frame.drop("seq"), Metadata())
    with pytest.raises(UsageError, match="column seq is string, not bigint"):
        audit(frame.selectExpr("* except (seq)", "cast(seq as string) as seq"), Metadata())
    with pytest.raises(UsageError, match="no trace check for system 'x'"):
        audit(frame, Metadata(system="x"))


def settings(spark: SparkSession) -> dict[str, str]:
    return {row[0]: row[1] for row in spark.sql("set").collect()}
