"""Audits inside Spark tasks: each task has all rows of its brokers and checks them without Spark's SQL.

`evaluate_in_tasks` groups the brokers of a trace folder, and one task evaluates each `TaskGroup` by the single-pass
checker if numba is installed there, else by DuckDB. Tasks answer with rows of `RESULT_SCHEMA`; `read_findings` turns
these into findings.

`audit` does the same for a DataFrame: one shuffle brings the rows of each broker to one task. It asks nothing of the
session and changes nothing in it, so it works in a notebook, under `spark-submit` and over Spark Connect.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_protocol import errors, files
from entrycache_spark.common import results, rule_files, system
from entrycache_spark.plan import evaluate_in_sql
from entrycache_trace.files import Metadata, Part, broker_folder, list_parts
from entrycache_trace.jit import has_numba, require_numba
from entrycache_trace.schema import ADDED_COLUMNS, sql_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


ROWS_PER_TASK: Final = 5_000_000
"""The approximate number of rows of one task, if there are more brokers than processors."""

MEMORY_MIB: Final = 3_072
"""The memory that the concurrent tasks of an executor use together before DuckDB spills to disk."""

MIN_MEMORY_MIB: Final = 256

RESULT_SCHEMA: Final = pa.schema(
    [
        pa.field("broker", pa.string()),
        pa.field("rule", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("checked", pa.int64()),
        pa.field(
            "violations",
            pa.list_(
                pa.struct(
                    [
                        pa.field("seq", pa.int64()),
                        pa.field("life", pa.int64()),
                        pa.field("expected", pa.string()),
                        pa.field("observed", pa.string()),
                        pa.field("seqs", pa.list_(pa.int64())),
                    ]
                )
            ),
        ),
        pa.field("undecided", pa.list_(pa.string())),
        pa.field("unchecked", pa.list_(pa.string())),
        pa.field("refused", pa.string()),
        pa.field("kernel", pa.string()),
    ]
)
"""The answer of a task: a row for each broker and rule, or one row with the reason of a refusal in `refused`.

A refusal names the first broker of the task, or none if the task itself lacks something.
"""

RESULT_SCHEMA_SQL: Final = (
    "broker string, rule string, verdict string, checked bigint, violations array<struct<seq: bigint, life: bigint, "
    "expected: string, observed: string, seqs: array<bigint>>>, undecided array<string>, unchecked array<string>, "
    "refused string, kernel string"
)
"""The same schema as SQL for Spark."""


CHECKER, DUCKDB = "fold", "duckdb"
BACKEND_TEXTS: Final = {CHECKER: "the single-pass checker in tasks of Spark", DUCKDB: "DuckDB in tasks of Spark"}
"""The texts that name what evaluated the rules in a task: the checker with DuckDB for the rest, or DuckDB alone."""


class TaskPrerequisiteMissing(Exception):
    """Raised if a task has no DuckDB, lacks the requested numba, or does not see the files of the trace."""


@dataclass(frozen=True)
class TaskGroup:
    """The brokers of one task, and its share of the processors and the memory."""

    parts: tuple[Part, ...]
    threads: int
    memory_mib: int


@dataclass(frozen=True)
class AuditRequest:
    """The request for the audit of every broker."""

    metadata: Metadata
    rules: tuple[rule_files.RuleFile, ...]
    backend: str | None = None
    """`CHECKER` or `DUCKDB`; None uses the checker if numba is installed where the task runs."""


def group_brokers(parts: Sequence[Part], slots: int) -> list[TaskGroup]:
    """Divide the brokers of a trace into groups of about equal rows; a larger broker gets more threads."""
    owned: dict[str, list[Part]] = {}
    for part in parts:
        if part.rows:
            owned.setdefault(part.broker, []).append(part)
    rows = sum(part.rows for part in parts)
    # A small trace is not worth the start of a second worker.
    number = 1 if rows <= rule_files.MAX_KEPT_ROWS else min(len(owned), max(slots, rows // ROWS_PER_TASK))
    groups: list[list[Part]] = [[] for _ in range(number)]
    for broker in sorted(owned, key=lambda name: (-_rows(owned[name]), name)):
        min(groups, key=_rows).extend(owned[broker])
    return [_group(group, rows, slots) for group in groups]


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


def _group(parts: Sequence[Part], rows: int, slots: int) -> TaskGroup:
    threads = max(1, min(slots, round(slots * _rows(parts) / rows)))
    return TaskGroup(tuple(parts), threads, max(MIN_MEMORY_MIB, MEMORY_MIB * threads // slots))


def evaluate_in_tasks(
    spark: SparkSession, parts: Sequence[Part], question: AuditRequest
) -> tuple[results.Findings, str]:
    """Return the findings by broker, and the text that names what evaluated the rules.

    Raises:
        TaskPrerequisiteMissing: the tasks lack something where they run.
        MissingPrerequisite: a worker lacks Python, Java or a package.
        UsageError: the trace cannot be evaluated.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped] # noqa: PLC0415 - of the driver alone
    from pyspark.errors import PySparkException  # noqa: PLC0415

    from entrycache_spark.spark_backend import describe_task_failure  # noqa: PLC0415

    # A worker has another current folder.
    absolute = [replace(part, path=part.path.resolve()) for part in parts]
    groups = group_brokers(absolute, task_slots(spark))
    run = group_task(groups, question)
    try:
        rows = collect_rows(spark.range(0, len(groups), 1, len(groups)).mapInArrow(run, RESULT_SCHEMA_SQL))
    except (PySparkException, Py4JError) as error:
        raise describe_task_failure(error) from None
    return read_findings(rows), backends_used(rows)


def backends_used(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name what evaluated the rules."""
    by = {row["kernel"] for row in rows}
    return " and ".join(text for name, text in BACKEND_TEXTS.items() if name in by)


def task_slots(spark: SparkSession) -> int:
    """Return the number of tasks that one executor runs at once, according to the settings."""
    master = str(spark.conf.get("spark.master", "local[*]"))
    if not master.startswith("local["):
        return int(str(spark.conf.get("spark.executor.cores", "1")))
    threads = master.removeprefix("local[").partition("]")[0].partition(",")[0]
    return int(threads) if threads.isdigit() else os.cpu_count() or 1


def group_task(
    groups: Sequence[TaskGroup], question: AuditRequest
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that Spark runs: it maps numbers of groups to result rows."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pylist(evaluate_group(groups[number], question), RESULT_SCHEMA)

    return run


def evaluate_group(group: TaskGroup, question: AuditRequest) -> list[dict[str, Any]]:
    """Return the result rows of one task."""
    try:
        return list(_result_rows(*_evaluate_group(group, question)))
    except (errors.MissingPrerequisite, TaskPrerequisiteMissing) as error:
        return [{"refused": str(error)}]
    except errors.UsageError as error:
        return [{"broker": min(part.broker for part in group.parts), "refused": str(error)}]


def _evaluate_group(group: TaskGroup, question: AuditRequest) -> tuple[results.Findings, str]:
    """Return the findings and what evaluated them."""
    from entrycache_spark.duckdb_backend import DuckDbBackend  # noqa: PLC0415 - it may be missing where a task runs

    unseen = next((part.path for part in group.parts if not part.path.is_file()), None)
    if unseen is not None:
        raise TaskPrerequisiteMissing(f"{unseen}: not there where a task runs")
    audited = system.audited_system(question.metadata.system)
    memory = f"{group.memory_mib}MiB"
    if uses_checker(question):
        from entrycache_spark.checker_backend import Resources, evaluate_by_checker  # noqa: PLC0415 - as above

        means = Resources(group.threads, memory)
        return evaluate_by_checker(
            group.parts, question.metadata, question.rules, audited.load_checker(), means
        ), CHECKER
    backend = DuckDbBackend(group.parts, group.threads, audited.columns, memory)
    try:
        return evaluate_in_sql(backend, question.metadata, question.rules), DUCKDB
    finally:
        backend.close()


def uses_checker(question: AuditRequest) -> bool:
    """Return whether the single-pass checker evaluates the rules where this runs.

    Raises:
        MissingPrerequisite: the checker was requested, and numba is missing.
    """
    if question.backend == DUCKDB:
        return False
    if question.backend == CHECKER:
        require_numba("the single-pass checker", "spark")
    return has_numba()


def _result_rows(findings: results.Findings, evaluator: str) -> Iterator[dict[str, Any]]:
    for broker, own in findings.items():
        for rule, finding in own.items():
            violations = [violation._asdict() for violation in finding.violations]
            yield {
                "broker": broker,
                "rule": rule,
                "verdict": results.verdict_of(finding).value,
                "checked": finding.checked,
                "violations": violations,
                "undecided": finding.undecided,
                "unchecked": finding.unchecked,
                "kernel": evaluator,
            }


def collect_rows(frame: DataFrame) -> list[dict[str, Any]]:
    """Collect the rows of a result frame; `toArrow` exists only since Spark 4.0, and the result is small."""
    return [row.asDict(recursive=True) for row in frame.collect()]


def read_findings(rows: Sequence[Mapping[str, Any]]) -> results.Findings:
    """Convert the result rows of all tasks to findings.

    Raises:
        TaskPrerequisiteMissing: a task lacked something.
        UsageError: a task refused the trace; of several refusals, that of the first broker.
    """
    findings: dict[str, dict[str, results.RuleFinding]] = {}
    refused = [(row["broker"], row["refused"]) for row in rows if row["refused"] is not None]
    lacking = [line for broker, line in refused if broker is None]
    if lacking:
        raise TaskPrerequisiteMissing(min(lacking))
    if refused:
        raise errors.UsageError(min(refused)[1])
    for row in rows:
        findings.setdefault(row["broker"], {})[row["rule"]] = _finding(row)
    return {broker: findings[broker] for broker in sorted(findings)}


def _finding(row: Mapping[str, Any]) -> results.RuleFinding:
    violations = (
        results.Violation(row["rule"], row["broker"], *_violation_values(violation)) for violation in row["violations"]
    )
    return results.RuleFinding(row["checked"], tuple(violations), tuple(row["undecided"]), tuple(row["unchecked"]))


def _violation_values(violation: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*(violation[name] for name in ("seq", "life", "expected", "observed")), tuple(violation["seqs"]))


# ---------- audits of a DataFrame

NARROW_INTEGERS: Final = ("tinyint", "smallint", "int")
"""Integer types that are accepted for 64-bit columns."""

Batches = Iterator[pa.RecordBatch]


def audit(
    trace: DataFrame,
    metadata: Metadata,
    rules: Sequence[str] = (),
    *,
    threads: int = 1,
    memory_mib: int = MEMORY_MIB,
) -> DataFrame:
    """Return a DataFrame with the verdict of each broker and rule, evaluated lazily.

    `rules` selects rules of the system; the default is all. The rows of `trace` follow the trace schema with a column
    `broker`, in any order and partitioning; one shuffle brings those of a broker together. Executors need this
    package, pyarrow, duckdb and sqlglot; with numba they are fast. `threads` and `memory_mib` limit one task, which
    spills to disk.

    Columns: `broker`, `rule`, `verdict`, `checked` (events), `violations` (array of seq, life, expected, observed,
    seqs), `undecided` and `unchecked` (reasons), and `kernel` (`fold` or `duckdb`). `refused` says why a task cannot
    evaluate its rows; then only it and the first broker of the task are set.

    Raises:
        UsageError: a column is missing, or traces of this system are not audited.
    """
    if metadata.system not in system.AUDITED:
        raise errors.UsageError(f"no trace check for system {metadata.system!r} yet")
    parts = system.AUDITED[metadata.system]
    chosen = rule_files.select_rules(tuple(rules), metadata.system)
    run = frame_task(AuditRequest(metadata, chosen), parts.columns, threads, memory_mib)
    return _needed_columns(trace, parts).repartition("broker").mapInArrow(run, RESULT_SCHEMA_SQL)


def _needed_columns(trace: DataFrame, parts: system.AuditedSystem) -> DataFrame:
    """Select the columns that an audit reads, in the types of the schema; tasks refuse values that these exclude.

    Raises:
        UsageError: a column is missing or has another type.
    """
    kinds = dict(trace.dtypes)
    present = [name for name in parts.columns if name in kinds or name not in ADDED_COLUMNS]
    for name in present:
        if name not in kinds:
            raise errors.UsageError(f"column {name} is missing")
        wanted = sql_type(name)
        if kinds[name] != wanted and not (wanted == "bigint" and kinds[name] in NARROW_INTEGERS):
            raise errors.UsageError(f"column {name} is {kinds[name]}, not {wanted}")
    return trace.selectExpr(*(f"cast({name} as {sql_type(name)}) as {name}" for name in present))


def frame_task(
    question: AuditRequest, columns: Sequence[str], threads: int, memory_mib: int
) -> Callable[[Batches], Batches]:
    """Return the function that Spark runs over the rows of whole brokers."""

    def run(batches: Batches) -> Batches:
        with files.scratch_folder() as folder:
            try:
                write_rows_as_trace(folder, batches)
                group = TaskGroup(list_parts(folder, columns), threads, memory_mib)
                result_rows = evaluate_group(group, question) if group.parts else []
            except errors.UsageError as error:
                result_rows = [{"broker": "", "refused": str(error)}]
            yield pa.RecordBatch.from_pylist([_without_paths(row, folder) for row in result_rows], RESULT_SCHEMA)

    return run


def write_rows_as_trace(folder: Path, batches: Batches) -> None:
    """Write rows as a trace folder, so that they are read and refused like any other trace."""
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            for broker in pc.unique(table["broker"]).to_pylist():
                own = table.filter(pc.equal(table["broker"], broker)) if broker is not None else table
                if broker not in writers:
                    writers[broker] = _open_writer(folder, broker, table.schema)
                writers[broker].write_table(own.drop_columns("broker"))
    finally:
        for writer in writers.values():
            writer.close()


def _open_writer(folder: Path, broker: str | None, schema: pa.Schema) -> pq.ParquetWriter:
    if broker is None:
        raise errors.UsageError("column broker is null in some row; it has a value in every row of a trace")
    own = broker_folder(folder, broker)
    own.mkdir()
    kinds = pa.schema([kind for kind in schema if kind.name != "broker"])
    return pq.ParquetWriter(own / "part-00000.parquet", kinds, compression="lz4")


def _without_paths(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Remove the paths of temporary files from a refusal."""
    if row.get("refused") is None:
        return row
    return {**row, "refused": row["refused"].replace(f"{folder}/", "").replace(f"{folder}", "the trace")}
