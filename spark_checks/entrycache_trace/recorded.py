"""What a recorder in a broker wrote, a folder of JSON Lines parts, as a Parquet trace.

Parts are read in C++, some megabytes at a time: a part of a busy broker has millions of rows. Columns that are not of
the schema are ignored. A last line that was cut, because the broker was killed, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_json
from entrycache_protocol.output import check_empty, write_text
from entrycache_trace.files import METADATA_NAME, ROW_GROUP_ROWS, PartWriter, check_broker, read_metadata
from entrycache_trace.parquet import first_line
from entrycache_trace.schema import BROKER, ROW_SCHEMA, span_of

BLOCK_BYTES: Final = 8 << 20

LINE_SCHEMA: Final = pa.schema([field.with_nullable(True) for field in (BROKER, *ROW_SCHEMA)])


def is_recorded(folder: Path) -> bool:
    """Whether a folder holds what a recorder writes, or says that it wrote nothing."""
    if any(folder.glob("broker=*/part-*.jsonl")):
        return True
    return (folder / METADATA_NAME).is_file() and not any(folder.glob("broker=*/*.parquet")) and bool(_state(folder))


def _state(folder: Path) -> dict[str, Any]:
    """What the recorder says of itself."""
    told = read_json(folder / METADATA_NAME, "the metadata")
    said = told.get("recorder") if isinstance(told, dict) else None
    return said if isinstance(said, dict) else {}


def recorded_to_parquet(folder: Path, out: Path) -> int:
    """Write a recorder's folder as a Parquet trace, the metadata as they are; the number of events.

    Raises:
        UsageError: nothing was recorded, a part is none, or `out` is not empty.
    """
    check_empty(out, "the trace")
    read_metadata(folder)
    state = _state(folder)
    parts = sorted(folder.glob("broker=*/part-*.jsonl"))
    if not parts:
        raise UsageError(f"{folder}: nothing was recorded: {state.get('why') or 'the broker wrote no event'}")
    count = sum(_convert(part, number, out) for number, part in enumerate(parts))
    write_text(out / METADATA_NAME, (folder / METADATA_NAME).read_text("utf-8"))
    return count


def _convert(part: Path, number: int, out: Path) -> int:
    """One part as one Parquet part, in row groups."""
    writer: PartWriter | None = None
    count = 0
    try:
        for table in _tables(part):
            if writer is None:
                writer = PartWriter(out, _broker(table, part), number)
            writer.write_table(_rows(table, part))
            count += table.num_rows
        if writer is not None:
            writer.close()
    finally:
        if writer is not None:
            writer.sweep()
    return count


def _tables(part: Path) -> Iterator[pa.Table]:
    """The rows of a part, a row group or so at a time."""
    options = pj.ParseOptions(explicit_schema=LINE_SCHEMA, unexpected_field_behavior="ignore")
    waiting: list[pa.RecordBatch] = []
    try:
        with pa.memory_map(str(part)) as file:
            whole = file.read_buffer(_whole_bytes(part))
            if whole.size == 0:
                return
            for batch in pj.open_json(pa.BufferReader(whole), pj.ReadOptions(block_size=BLOCK_BYTES), options):
                waiting.append(batch)
                if sum(each.num_rows for each in waiting) >= ROW_GROUP_ROWS:
                    yield pa.Table.from_batches(waiting)
                    waiting = []
            if waiting:
                yield pa.Table.from_batches(waiting)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{part}: cannot be read as JSON Lines ({first_line(error)})") from None


def _whole_bytes(part: Path) -> int:
    """The bytes up to the end of the last whole line."""
    with part.open("rb") as file:
        end = file.seek(0, 2)
        while end > 0:
            begin = max(0, end - BLOCK_BYTES)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
    return 0


def _broker(table: pa.Table, part: Path) -> str:
    name = table["broker"][0].as_py()
    if not isinstance(name, str):
        raise UsageError(f"{part}: broker is missing or not a string")
    check_broker(name, str(part))
    return name


def _rows(table: pa.Table, part: Path) -> pa.Table:
    """The columns of the schema, each value in its range, none missing that must be there.

    Raises:
        UsageError: which is not.
    """
    if not pc.all(pc.equal(table["broker"], table["broker"][0])).as_py():
        raise UsageError(f"{part}: rows of several brokers; a part has those of one")
    rows = table.select(ROW_SCHEMA.names)
    for column in ROW_SCHEMA:
        if not column.nullable and rows[column.name].null_count:
            raise UsageError(f"{part}: {column.name} is missing in {rows[column.name].null_count} rows")
        if pa.types.is_integer(column.type):
            least, most = (pc.min_max(rows[column.name]).as_py()[name] for name in ("min", "max"))
            if least is not None and not (least in span_of(column.name) and most in span_of(column.name)):
                raise UsageError(f"{part}: {column.name} has values from {least} to {most}")
    return rows.cast(ROW_SCHEMA)
