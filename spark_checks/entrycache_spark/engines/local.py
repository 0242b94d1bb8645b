"""DuckDB: the rule files on a single machine, translated from Spark's SQL by sqlglot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from entrycache_protocol.errors import UsageError
from entrycache_protocol.extras import missing
from entrycache_protocol.leftovers import scratch
from entrycache_spark.engines.base import is_small
from entrycache_spark.engines.translated import to_duckdb
from entrycache_trace.files import Part
from entrycache_trace.schema import COLUMNS, ROW_SCHEMA

try:
    import duckdb
except ImportError as error:  # pragma: no cover
    raise missing("engine local", f"{error.name}", "trace") from None

_KINDS: Final = {"string": pa.string(), "bigint": pa.int64(), "boolean": pa.bool_()}


MEMORY_MOST: Final = "3GiB"
"""What DuckDB takes before it spills to disk."""


class LocalEngine:
    """One in-memory DuckDB connection over the parts of a trace."""

    def __init__(
        self,
        parts: Sequence[Part],
        threads: int | None = None,
        columns: Sequence[str] = COLUMNS,
        memory: str = MEMORY_MOST,
    ) -> None:
        # By itself it would take most of the memory, and spill into the folder that the command runs in.
        self._scratch = ExitStack()
        self._connection = duckdb.connect(config={"memory_limit": memory, "temp_directory": self._spilled()})
        if threads is not None:
            self._connection.execute(f"set threads = {threads}")
        self._connection.execute("create macro token(a, b) as (hash(a::bigint, b::bigint) & 4294967295)::bigint")
        self._connection.execute(
            "create macro counter(v, k) as case when json_valid(v) then try_cast(json_extract_string(v, '$.' || k) "
            "as bigint) end"
        )
        self._connection.execute("set preserve_insertion_order = false")
        # A small trace is read once; of a large one each query reads the columns that it needs.
        kind = "temp table" if is_small(parts) else "view"
        self._run(f"create {kind} trace as {_scan(parts, columns)}")

    def _spilled(self) -> str:
        """The folder to spill into; on a full or read-only disk none."""
        try:
            return str(self._scratch.enter_context(scratch()))
        except OSError:
            return ""

    def define(self, name: str, query: str) -> None:
        """Give a query a name."""
        self._run(f"create or replace temp view {name} as {to_duckdb(query)}")

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Give a few rows a name; columns map to SQL types."""
        arrays = [pa.array([row[number] for row in rows], _KINDS[kind]) for number, kind in enumerate(columns.values())]
        self._connection.register("given", pa.table(arrays, list(columns)))
        self._run(f"create or replace temp table {name} as select * from given")
        self._connection.unregister("given")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        found: list[tuple[Any, ...]] = self._run(to_duckdb(query)).fetchall()
        return found

    def in_order(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The trace in the order of brokers and seq, so many rows at a time; it sorts on disk what is too large."""
        found = self._run("select * from trace order by broker, seq")
        reader = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch  # before DuckDB 1.4
        yield from reader(rows)

    def explain(self, query: str) -> str:
        """The plan of a query."""
        found: str = self._run(f"explain {to_duckdb(query)}").fetchall()[0][1]
        return found

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        self._scratch.close()

    def _run(self, text: str) -> Any:
        try:
            return self._connection.execute(text)
        except (duckdb.DataError, duckdb.OperationalError, duckdb.InvalidInputException) as error:
            raise UsageError(f"the trace cannot be evaluated: {str(error).splitlines()[0]}") from None


def _scan(parts: Sequence[Part], names: Sequence[str]) -> str:
    by_broker: dict[str, list[str]] = {}
    for part in parts:
        by_broker.setdefault(part.broker, []).append(_quoted(_literal(part.path)))
    columns = ", ".join(_column(name) for name in names if name != "broker")
    scans = [
        f"select {_quoted(broker)} as broker, {columns} "
        f"from read_parquet([{', '.join(paths)}], hive_partitioning = false, union_by_name = true)"
        for broker, paths in sorted(by_broker.items())
    ]
    return " union all ".join(scans)


def _column(name: str) -> str:
    kind = str(ROW_SCHEMA.field(name).type)
    return f"{name}::{'bigint' if kind.startswith('int') else 'varchar' if kind == 'string' else 'boolean'} as {name}"


def _literal(path: Path) -> str:
    """A path as DuckDB takes it for that file alone."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in str(path))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
