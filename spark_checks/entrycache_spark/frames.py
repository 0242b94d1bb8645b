"""An audit of a DataFrame, in whatever session it is of: the rows go to the tasks, each with whole brokers.

Nothing of the session is asked for or changed, so it works in a notebook, under `spark-submit` and over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_protocol.errors import UsageError
from entrycache_protocol.leftovers import scratch
from entrycache_spark.engines.tasks import FOUND, FOUND_SQL, MEMORY_MIB, Group, Question, answer
from entrycache_spark.parts import AuditParts
from entrycache_spark.rulefiles import select_rules
from entrycache_spark.systems import AUDITED
from entrycache_trace.files import Metadata, broker_folder, list_parts
from entrycache_trace.schema import sql_kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

INTEGERS: Final = ("tinyint", "smallint", "int")
"""What may stand for 64 bits."""

Batches = Iterator[pa.RecordBatch]


def audit(
    trace: DataFrame,
    metadata: Metadata,
    rules: Sequence[str] = (),
    *,
    threads: int = 1,
    memory_mib: int = MEMORY_MIB,
    witnesses: bool = True,
) -> DataFrame:
    """The verdict of each broker and rule (none named: all of the system), a row each, evaluated when it is asked for.

    The rows of `trace` are those of the schema, `broker` among them, in any order and any partitions; one shuffle
    brings those of a broker together. Executors need this package, pyarrow, duckdb and sqlglot, and numba to be fast.
    `threads` and `memory_mib` are those of one task, which spills to its disk.

    Columns: `broker`, `rule`, `verdict`, `checked` (events), `violations` (array of seq, life, expected, observed,
    seqs), `undecided` and `unchecked` (why), `refused`: why the rows of a task cannot be evaluated; then only that and
    the first broker of the task are told. `kernel`: what has evaluated them, `fold` or `duckdb`.

    Raises:
        UsageError: a column is missing, or no traces of this system are audited.
    """
    if metadata.system not in AUDITED:
        raise UsageError(f"no trace check for system {metadata.system!r} yet")
    parts = AUDITED[metadata.system]
    chosen = select_rules(tuple(rules), metadata.system)
    run = task(Question(metadata, chosen, witnesses), parts.columns, threads, memory_mib)
    return _needed(trace, parts).repartition("broker").mapInArrow(run, FOUND_SQL)


def _needed(trace: DataFrame, parts: AuditParts) -> DataFrame:
    """The columns that are read, in the schema's types; values that they may not hold are refused in the task."""
    kinds = dict(trace.dtypes)
    for name in parts.columns:
        if name not in kinds:
            raise UsageError(f"column {name} is missing")
        wanted = sql_kind(name)
        if kinds[name] != wanted and not (wanted == "bigint" and kinds[name] in INTEGERS):
            raise UsageError(f"column {name} is {kinds[name]}, not {wanted}")
    return trace.selectExpr(*(f"cast({name} as {sql_kind(name)}) as {name}" for name in parts.columns))


def task(question: Question, columns: Sequence[str], threads: int, memory_mib: int) -> Callable[[Batches], Batches]:
    """What Spark runs over the rows of whole brokers."""

    def run(batches: Batches) -> Batches:
        with scratch() as folder:
            try:
                write(folder, batches)
                group = Group(list_parts(folder, columns), threads, memory_mib)
                found = answer(group, question) if group.parts else []
            except UsageError as error:
                found = [{"broker": "", "refused": str(error)}]
            yield pa.RecordBatch.from_pylist([_told(row, folder) for row in found], FOUND)

    return run


def write(folder: Path, batches: Batches) -> None:
    """Write rows as the folder of a trace, so that they are read and refused as any other's."""
    writers: dict[str, pq.ParquetWriter] = {}
    try:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            for broker in pc.unique(table["broker"]).to_pylist():
                own = table.filter(pc.equal(table["broker"], broker)) if broker is not None else table
                if broker not in writers:
                    writers[broker] = _opened(folder, broker, table.schema)
                writers[broker].write_table(own.drop_columns("broker"))
    finally:
        for writer in writers.values():
            writer.close()


def _opened(folder: Path, broker: str | None, schema: pa.Schema) -> pq.ParquetWriter:
    if broker is None:
        raise UsageError("column broker is null in some row; it has a value in every row of a trace")
    own = broker_folder(folder, broker)
    own.mkdir()
    kinds = pa.schema([kind for kind in schema if kind.name != "broker"])
    return pq.ParquetWriter(own / "part-00000.parquet", kinds, compression="lz4")


def _told(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What is said of the rows names no file of ours."""
    if row.get("refused") is None:
        return row
    return {**row, "refused": row["refused"].replace(f"{folder}/", "").replace(f"{folder}", "the trace")}
