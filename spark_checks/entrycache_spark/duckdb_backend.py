"""The DuckDB backend: it runs the rule files on one machine, translated from Spark's SQL by sqlglot.

`DuckDbBackend` is an in-memory connection over the Parquet files of a trace; it spills to a temporary folder.
`to_duckdb` translates a query, and repairs two differences between Spark and DuckDB:

- `last_value(.., true)`, the last value that is not null, makes DuckDB walk back from every row, which is quadratic
  in a long partition without such a value; so does `first_value`. Unless the window is narrowed to an entry, a life or
  a call, the value at the greatest or least `seq` is used instead, which is the same.
- `count_if` over no row is 0 in Spark and null in DuckDB.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from entrycache_protocol import errors, files
from entrycache_spark.common.rule_files import fits_in_memory
from entrycache_trace.files import Part
from entrycache_trace.schema import ADDED_COLUMNS, COLUMNS, ROW_SCHEMA

try:
    import duckdb
except ImportError as error:  # pragma: no cover
    raise errors.missing_extra("backend local", f"{error.name}", "trace") from None

_KINDS: Final = {"string": pa.string(), "bigint": pa.int64(), "boolean": pa.bool_()}


MAX_MEMORY: Final = "3GiB"
"""The memory that DuckDB uses before it spills to disk."""


class DuckDbBackend:
    """An in-memory DuckDB connection over the files of a trace."""

    def __init__(
        self,
        parts: Sequence[Part],
        threads: int | None = None,
        columns: Sequence[str] = COLUMNS,
        memory: str = MAX_MEMORY,
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
        self._connection.execute(
            "create macro text_of(v, k) as case when json_valid(v) then json_extract_string(v, '$.' || k) end"
        )
        self._connection.execute("set preserve_insertion_order = false")
        # A small trace is read once; of a large one each query reads the columns that it needs.
        kind = "temp table" if fits_in_memory(parts) else "view"
        self._run(f"create {kind} trace as {_scan(parts, columns)}")

    def _spilled(self) -> str:
        """Return the folder to spill to, or nothing on a full or read-only disk."""
        try:
            return str(self._scratch.enter_context(files.scratch_folder()))
        except OSError:
            return ""

    def define(self, name: str, query: str) -> None:
        """Define a view."""
        self._run(f"create or replace temp view {name} as {to_duckdb(query)}")

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Create a small table; `columns` maps names to SQL types."""
        arrays = [pa.array([row[number] for row in rows], _KINDS[kind]) for number, kind in enumerate(columns.values())]
        self._connection.register("given", pa.table(arrays, list(columns)))
        self._run(f"create or replace temp table {name} as select * from given")
        self._connection.unregister("given")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        result: list[tuple[Any, ...]] = self._run(to_duckdb(query)).fetchall()
        return result

    def in_order(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the trace ordered by broker and seq, in batches of `rows`; DuckDB sorts on disk if needed."""
        result = self._run("select * from trace order by broker, seq")
        reader = getattr(result, "to_arrow_reader", None) or result.fetch_record_batch  # before DuckDB 1.4
        yield from reader(rows)

    def explain(self, query: str) -> str:
        """Return the plan of a query."""
        plan: str = self._run(f"explain {to_duckdb(query)}").fetchall()[0][1]
        return plan

    def close(self) -> None:
        """Close the connection and remove the temporary folder."""
        self._connection.close()
        self._scratch.close()

    def _run(self, text: str) -> Any:
        try:
            return self._connection.execute(text)
        except (duckdb.DataError, duckdb.OperationalError, duckdb.InvalidInputException) as error:
            raise errors.UsageError(f"the trace cannot be evaluated: {str(error).splitlines()[0]}") from None


def _scan(parts: Sequence[Part], names: Sequence[str]) -> str:
    by_broker: dict[str, list[str]] = {}
    for part in parts:
        by_broker.setdefault(part.broker, []).append(_quoted(_literal(part.path)))
    columns = ", ".join(_column(name) for name in names if name != "broker")
    scans = [
        f"select {_quoted(broker)} as broker, {columns} from (select {_ADDED} where false union all by name select * "
        f"from read_parquet([{', '.join(paths)}], hive_partitioning = false, union_by_name = true))"
        for broker, paths in sorted(by_broker.items())
    ]
    return " union all ".join(scans)


def _kind(name: str) -> str:
    kind = str(ROW_SCHEMA.field(name).type)
    return "bigint" if kind.startswith("int") else "varchar" if kind == "string" else "boolean"


def _column(name: str) -> str:
    return f"{name}::{_kind(name)} as {name}"


_ADDED: Final = ", ".join(f"null::{_kind(name)} as {name}" for name in sorted(ADDED_COLUMNS))
"""The columns that an older file lacks."""


def _literal(path: Path) -> str:
    """Escape a path so that DuckDB reads that file alone."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in str(path))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# ---------- translation

try:
    import sqlglot
    from sqlglot import exp
except ImportError as error:  # pragma: no cover
    raise errors.missing_extra("backend local", f"{error.name}", "trace") from None

NARROW_COLUMNS: Final = frozenset({"entry_id", "key_hash", "life", "own_life", "call_id"})
"""Columns that narrow a window to few rows."""

EQUIVALENT_AGGREGATES: Final = {exp.LastValue: exp.ArgMax, exp.FirstValue: exp.ArgMin}
"""The functions that walk from row to row, and the aggregates that find the same value."""


@cache
def to_duckdb(query: str) -> str:
    """Translate a query from Spark's SQL to DuckDB's."""
    tree = sqlglot.parse_one(query, read="spark")
    for window, order in list(_walking_back(tree)):
        aggregate = window.this.this
        window.this.replace(EQUIVALENT_AGGREGATES[type(aggregate)](this=aggregate.this, expression=order.copy()))
    for count in list(tree.find_all(exp.CountIf)):
        count.replace(exp.Coalesce(this=count.copy(), expressions=[exp.Literal.number(0)]))
    return tree.sql("duckdb", unsupported_level=sqlglot.ErrorLevel.IGNORE)


def _walking_back(tree: Any) -> Iterator[tuple[exp.Window, Any]]:
    """Yield the window functions that walk through long partitions, each with its ordering column."""
    for window in tree.find_all(exp.Window):
        if not isinstance(window.this, exp.IgnoreNulls) or type(window.this.this) not in EQUIVALENT_AGGREGATES:
            continue
        spec = _named(window) if window.alias else window
        columns = {column.name for part in spec.args["partition_by"] for column in part.find_all(exp.Column)}
        order = [ordered.this for ordered in spec.args["order"].expressions]
        if not columns & NARROW_COLUMNS and len(order) == 1:
            yield window, order[0]


def _named(window: exp.Window) -> Any:
    """Return the named window of the same query."""
    select = window.parent_select
    assert isinstance(select, exp.Select)
    return next(each for each in select.args["windows"] if each.this.name == window.alias)
