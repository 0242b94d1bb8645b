"""Traces that Spark reads and writes itself, instead of this process.

`audit_location` audits a trace at an address that only Spark may know: `s3a:`, `hdfs:` and `file:` paths, patterns,
dated folders, and tables of a catalog. Hadoop's file systems list the folders, so anything that Spark reads can be
audited. Rows never pass through this process, and the number of reported violations is bounded.

`generate_in_tasks` writes a generated trace: each Spark task writes one broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from entrycache_protocol.errors import MissingPrerequisite, UsageError, WriteError
from entrycache_protocol.strict_json import parse_json
from entrycache_spark import folders, spark_backend, tasks
from entrycache_spark.common import results, rule_files, system
from entrycache_trace.files import METADATA_NAME, TABLE_PREFIX, Metadata, list_parts, parse_metadata, read_metadata_file
from entrycache_trace.generators.generate import Progress, TracePlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


MAX_FOLDERS_ABOVE: Final = 4
"""The number of parent folders that are searched for the metadata of the trace."""


class LocatedTrace(NamedTuple):
    """The rows of a trace and its metadata."""

    rows: DataFrame
    metadata: Metadata


def audit_location(
    where: str,
    master: str = "local[*]",
    rules: Sequence[str] = (),
    out: Path | None = None,
    *,
    metadata: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> results.AuditResult:
    """Audit a trace that Spark reads; write the violations into the folder `out` if given.

    `metadata` is the file that describes the trace; by default `_entrycache.json` in or above its folders.

    Raises:
        UsageError: there is no such trace, or it cannot be evaluated.
        MissingPrerequisite: Spark does not start, does not know the file system, or its tasks lack DuckDB.
    """
    progress("starting Spark")
    spark = spark_backend.get_session(master, spark_backend.QUICK_JVM if spark_backend.is_local_master(master) else {})
    if spark_backend.is_connected(spark):
        raise UsageError(f"{where}: Spark Connect lists no folders; unset {spark_backend.REMOTE} and give --master")
    own = spark.newSession()
    own.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    with folders.prefix_errors(where):
        progress("looking for the trace")
        trace = read_location(own, where, metadata)
        if trace.metadata.system not in system.AUDITED:
            raise UsageError(f"no trace check for system {trace.metadata.system!r} yet")
        progress("tasks of Spark")
        slots = tasks.task_slots(spark)
        result_frame = tasks.audit(trace.rows, trace.metadata, rules, threads=1, memory_mib=tasks.MEMORY_MIB // slots)
        try:
            result_rows = tasks.collect_rows(result_frame)
            findings = tasks.read_findings(result_rows)
            rows = trace.rows.count()
        except tasks.TaskPrerequisiteMissing as error:
            raise MissingPrerequisite(str(error)) from None
        except (PySparkException, Py4JError) as error:
            raise spark_backend.describe_task_failure(error) from None
    if findings:
        result = folders.build_result(findings, rows, tasks.backends_used(result_rows))
    else:
        result = folders.nothing_checked(
            rule_files.select_rules(tuple(rules), trace.metadata.system), trace.metadata.system, rows
        )
    if out is not None:
        folders.write_violations(out, result.violations)
    return result


def read_location(spark: SparkSession, where: str, metadata: Path | None) -> LocatedTrace:
    """Read the rows of a trace by a path or the name of a table.

    Raises:
        UsageError: there is no such trace, or its metadata files contradict each other.
    """
    given_metadata = None if metadata is None else read_metadata_file(metadata)
    try:
        if where.startswith(TABLE_PREFIX):
            if given_metadata is None:
                raise UsageError(f"a table does not say of which system it is; expected a file like {METADATA_NAME}")
            return LocatedTrace(spark.table(where.removeprefix(TABLE_PREFIX)), given_metadata)
        return _read_folders(spark, where, given_metadata)
    except (PySparkException, Py4JError) as error:
        raise UsageError(f"cannot be read ({_first_line(error)})") from None


def _read_folders(spark: SparkSession, where: str, given_metadata: Metadata | None) -> LocatedTrace:
    files = HadoopFiles(spark)
    paths_found = files.named(where)
    if not paths_found:
        raise UsageError("no such folder; expected one of a trace, or a pattern that folders match")
    bases: dict[str, list[str]] = {}
    metadata_by_base: dict[str, Metadata] = {}
    for path in paths_found:
        base = files.base(path)
        if base is None and given_metadata is None:
            raise UsageError(f"{path}: no {METADATA_NAME} in it or above; it says of which system the trace is")
        bases.setdefault(path if base is None else base, []).append(path)
        if base is not None and base not in metadata_by_base:
            metadata_by_base[base] = parse_metadata(
                parse_json(files.text(f"{base}/{METADATA_NAME}")), f"{base}/{METADATA_NAME}"
            )
    first, *others = [given_metadata] if given_metadata is not None else metadata_by_base.values()
    if any(other != first for other in others):
        raise UsageError(
            f"the {METADATA_NAME} of {', '.join(sorted(metadata_by_base))} say different things; audit each by itself"
        )
    frames = [
        spark.read.option("basePath", base)
        .option("mergeSchema", "true")
        .parquet(*map(spark_backend.escape_path, paths))
        for base, paths in bases.items()
    ]
    return LocatedTrace(reduce(lambda some, more: some.unionByName(more, allowMissingColumns=True), frames), first)


class HadoopFiles:
    """The file systems of Hadoop, configured as Spark is."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._jvm = context._jvm
        self._settings = context._jsc.hadoopConfiguration()

    def named(self, where: str) -> list[str]:
        """Return the paths that match a path or pattern, in order."""
        path = self._path(where)
        return sorted(str(status.getPath().toString()) for status in self._of(path).globStatus(path) or ())

    def base(self, path: str) -> str | None:
        """Return the nearest folder with the metadata file: this one or one above."""
        at = self._path(path)
        for _ in range(1 + MAX_FOLDERS_ABOVE):
            if at is None:
                break
            if self._of(at).exists(self._jvm.org.apache.hadoop.fs.Path(at, METADATA_NAME)):
                return str(at.toString())
            at = at.getParent()
        return None

    def text(self, path: str) -> str:
        """Read a small file as text."""
        at = self._path(path)
        stream = self._of(at).open(at)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"{path}: is not UTF-8 text") from None
        finally:
            stream.close()

    def _path(self, where: str) -> Any:
        try:
            return self._jvm.org.apache.hadoop.fs.Path(where)
        except Py4JError as error:
            raise UsageError(f"is no path ({_first_line(error)})") from None

    def _of(self, path: Any) -> Any:
        try:
            return path.getFileSystem(self._settings)
        except Py4JError as error:
            raise MissingPrerequisite(f"Spark does not read {path.toString()}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """Return the first line of an error from Java or Spark, without its stack trace."""
    cause = getattr(error, "java_exception", None)
    text = str(cause.toString()) if cause is not None else str(error)
    return (text.strip() or type(error).__name__).splitlines()[0][:300]


# ---------- generated traces

WRITTEN_SCHEMA: Final = pa.schema([pa.field("events", pa.int64()), pa.field("unwritten", pa.string())])
WRITTEN_SCHEMA_SQL: Final = "events bigint, unwritten string"
"""The answer of a task: the number of events of a broker, or why they were not written."""

BrokerTask = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def generate_in_tasks(plan: TracePlan, progress: Progress, master: str) -> int:
    """Write the brokers into a folder that the tasks and this process share, and return the number of events.

    Raises:
        UsageError: a task failed, or wrote to a place that this process does not see.
        WriteError: a task cannot write into the folder.
        MissingPrerequisite: Spark does not start.
    """
    spark = spark_backend.get_session(master, spark_backend.QUICK_JVM if spark_backend.is_local_master(master) else {})
    # Numbers of brokers, one a task.
    numbers = spark.range(0, plan.brokers, 1, plan.brokers)
    try:
        done = [tuple(row) for row in numbers.mapInArrow(_broker_task(plan), WRITTEN_SCHEMA_SQL).collect()]
    except (PySparkException, Py4JError) as error:
        raise UsageError(f"a task of Spark did not write its broker: {str(error).strip().splitlines()[0]}") from None
    unwritten = next((why for _, why in done if why is not None), None)
    if unwritten is not None:
        raise WriteError(unwritten)
    count = sum(int(events) for events, _ in done)
    read_back = sum(part.rows for part in list_parts(plan.directory))
    if read_back != count:
        raise UsageError(
            f"{plan.directory}: tasks wrote {count} events, {read_back} of them are here; expected a folder that this "
            f"process and the tasks of {master} share"
        )
    progress(count)
    return count


def _broker_task(plan: TracePlan) -> BrokerTask:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pylist([_write_broker(plan, number)], WRITTEN_SCHEMA)

    return work


def _write_broker(plan: TracePlan, number: int) -> dict[str, int | str]:
    try:
        return {"events": plan.write(number)}
    except WriteError as error:
        return {"unwritten": str(error)}
