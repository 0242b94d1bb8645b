"""Spark: the rule files as they stand, over Parquet that never passes through Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_spark.engines.base import is_small
from entrycache_spark.engines.session import session
from entrycache_trace.files import Part
from entrycache_trace.schema import COLUMNS, sql_kind

try:
    from pyspark.errors import PySparkException
except ImportError as error:  # pragma: no cover
    raise MissingPrerequisite(f"engine spark needs {error.name}: pip install 'entrycache[spark]'") from None

ROWS_PER_TASK: Final = 1_000_000
"""Rows that one task of a shuffle gets, about; a small trace is not worth two hundred tasks."""


class SparkEngine:
    """A session with the trace as a view, beside the one of this process, which outlives the engine."""

    def __init__(
        self,
        directory: Path,
        parts: Sequence[Part],
        master: str = "local[*]",
        columns: Sequence[str] = COLUMNS,
        window_rows: int | None = None,
    ) -> None:
        # A session of our own beside the one that is there, which keeps its settings, views and functions.
        self._spark = session(master).newSession()
        self._spark.conf.set("spark.sql.ansi.enabled", "false")
        rows = sum(part.rows for part in parts)
        partitions = max(self._spark.sparkContext.defaultParallelism, min(rows // ROWS_PER_TASK, 4_096))
        self._spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        in_memory = 2**31 - 1 if window_rows is None else window_rows
        self._spark.conf.set("spark.sql.windowExec.buffer.spill.threshold", str(in_memory))
        kinds = ", ".join(f"{name} {sql_kind(name)}" for name in columns)
        # The parts by name: whatever else stands in the folders is no part of the trace.
        found = self._spark.read.schema(kinds).option("basePath", str(directory.resolve()))
        scan = found.parquet(*(literal(str(directory.resolve() / part.path.relative_to(directory))) for part in parts))
        renamed: dict[bool | float | int | str, bool | float | int | str | None] = {
            _as_spark_reads(part): part.broker for part in parts if _as_spark_reads(part) != part.broker
        }
        if renamed:
            scan = scan.replace(renamed, subset=["broker"])
        # A small trace is read once; of a large one each query reads the columns that it needs.
        self._kept = scan.cache() if is_small(parts) else None
        scan.createOrReplaceTempView("trace")
        self._spark.sql(
            "create or replace temporary function token(a bigint, b bigint) returns bigint "
            "return xxhash64(a, b) & 4294967295"
        )
        self._spark.sql(
            "create or replace temporary function counter(v string, k string) returns bigint "
            "return try_cast(get_json_object(v, concat('$.', k)) as bigint)"
        )

    def define(self, name: str, query: str) -> None:
        """Give a query a name."""
        self._spark.sql(query).createOrReplaceTempView(name)

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Give a few rows a name; columns map to SQL types."""
        schema = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        # Without the hint Spark takes it to be large, and sorts the whole trace by broker in one task to join it.
        self._spark.createDataFrame(list(rows), schema).hint("broadcast").createOrReplaceTempView(name)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        try:
            return [tuple(row) for row in self._spark.sql(query).collect()]
        except PySparkException as error:
            condition = error.getCondition() or ""
            if condition.startswith(("FAILED_READ_FILE", "CANNOT_READ", "PARQUET", "NUMERIC", "ARITHMETIC")):
                raise UsageError(f"the trace cannot be evaluated: {str(error).splitlines()[0]}") from None
            raise

    def explain(self, query: str, mode: str) -> str:
        """The plan of a query, by a mode of Spark's EXPLAIN (`simple`, `codegen`)."""
        word = "" if mode == "simple" else mode
        return str(self._spark.sql(f"explain {word} {query}").collect()[0][0])

    def compile_seconds(self) -> float:
        """What generated code has taken to compile so far in this JVM."""
        jvm: Any = self._spark.sparkContext._jvm
        return float(jvm.org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator.compileTime()) / 1e9

    def close(self) -> None:
        """Drop the views, and what was kept."""
        if self._kept is not None:
            self._kept.unpersist()
        for name in ("trace", "events", "brokers"):
            self._spark.catalog.dropTempView(name)


def literal(path: str) -> str:
    """A path as Spark takes it for that file alone."""
    return "".join("\\" + mark if mark in "[]{}*?\\" else mark for mark in path)


def _as_spark_reads(part: Part) -> str:
    """The broker of a folder by Spark's rule: each escaped byte is a character, whatever UTF-8 says."""
    return unquote(part.path.parent.name.removeprefix("broker="), encoding="latin-1")
