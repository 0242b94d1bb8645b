"""Traces from Parquet to JSON Lines and back, without loss."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import check_empty_folder, check_regular_file, read_json, write_text
from entrycache_trace.files import (
    METADATA_NAME,
    ROW_GROUP_ROWS,
    Metadata,
    PartWriter,
    check_broker,
    iterate_rows,
    list_parts,
    read_jsonl,
    read_metadata,
    read_metadata_file,
    write_jsonl,
    write_rows,
)
from entrycache_trace.parquet import first_line
from entrycache_trace.schema import BROKER_FIELD, COLUMNS, ROW_SCHEMA, column_range


def metadata_path(jsonl: Path) -> Path:
    """Where the metadata of a JSON Lines trace stands: beside it, named after it."""
    return jsonl.with_name(jsonl.stem + METADATA_NAME)


def to_jsonl(directory: Path, jsonl: Path) -> int:
    """Write a Parquet trace as JSON Lines, its metadata beside it; the number of events."""
    parts = list_parts(directory, needed=COLUMNS)
    metadata = read_metadata(directory)
    count = write_jsonl(jsonl, iterate_rows(parts))
    text = json.dumps(asdict(metadata), indent=1, sort_keys=True)
    write_text(metadata_path(jsonl), text + "\n")
    return count


def to_parquet(jsonl: Path, directory: Path) -> int:
    """Write a JSON Lines trace as Parquet; the number of events. Without metadata the defaults hold."""
    check_regular_file(jsonl, "the events")
    check_empty_folder(directory, "the trace")
    beside = metadata_path(jsonl)
    metadata = Metadata(source=jsonl.name)
    if beside.exists():
        metadata = read_metadata_file(beside)
    return write_rows(directory, metadata, read_jsonl(jsonl))


def convert(source: Path, target: Path) -> int:
    """From a folder to JSON Lines, from a file or from what a recorder wrote to Parquet; the number of events."""
    if source.is_dir():
        return convert_recording(source, target) if is_recorder_folder(source) else to_jsonl(source, target)
    return to_parquet(source, target)


# --- recorded
# What a recorder in a broker wrote, a folder of JSON Lines parts, as a Parquet trace.
#
# Parts are read in C++, some megabytes at a time: a part of a busy broker has millions of rows. Columns that are not of
# the schema are ignored. A last line that was cut, because the broker was killed, is left out.

BLOCK_BYTES: Final = 8 << 20

LINE_SCHEMA: Final = pa.schema([field.with_nullable(True) for field in (BROKER_FIELD, *ROW_SCHEMA)])


def is_recorder_folder(folder: Path) -> bool:
    """Whether a folder holds what a recorder writes, or says that it wrote nothing."""
    if any(folder.glob("broker=*/part-*.jsonl")):
        return True
    return (
        (folder / METADATA_NAME).is_file()
        and not any(folder.glob("broker=*/*.parquet"))
        and bool(_recorder_state(folder))
    )


def _recorder_state(folder: Path) -> dict[str, Any]:
    """What the recorder says of itself."""
    told = read_json(folder / METADATA_NAME, "the metadata")
    said = told.get("recorder") if isinstance(told, dict) else None
    return said if isinstance(said, dict) else {}


def convert_recording(folder: Path, out: Path) -> int:
    """Write a recorder's folder as a Parquet trace, the metadata as they are; the number of events.

    Raises:
        UsageError: nothing was recorded, a part is none, or `out` is not empty.
    """
    check_empty_folder(out, "the trace")
    read_metadata(folder)
    state = _recorder_state(folder)
    parts = sorted(folder.glob("broker=*/part-*.jsonl"))
    if not parts:
        raise UsageError(f"{folder}: nothing was recorded: {state.get('why') or 'the broker wrote no event'}")
    count = sum(_convert_part(part, number, out) for number, part in enumerate(parts))
    write_text(out / METADATA_NAME, (folder / METADATA_NAME).read_text("utf-8"))
    return count


def _convert_part(part: Path, number: int, out: Path) -> int:
    """One part as one Parquet part, in row groups."""
    writer: PartWriter | None = None
    count = 0
    try:
        for table in _read_tables(part):
            if writer is None:
                writer = PartWriter(out, _broker_name(table, part), number)
            writer.write_table(_checked_rows(table, part))
            count += table.num_rows
        if writer is not None:
            writer.close()
    finally:
        if writer is not None:
            writer.sweep()
    return count


def _read_tables(part: Path) -> Iterator[pa.Table]:
    """The rows of a part, a row group or so at a time."""
    options = pj.ParseOptions(explicit_schema=LINE_SCHEMA, unexpected_field_behavior="ignore")
    waiting: list[pa.RecordBatch] = []
    try:
        with pa.memory_map(str(part)) as file:
            whole = file.read_buffer(_complete_bytes(part))
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


def _complete_bytes(part: Path) -> int:
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


def _broker_name(table: pa.Table, part: Path) -> str:
    name = table["broker"][0].as_py()
    if not isinstance(name, str):
        raise UsageError(f"{part}: broker is missing or not a string")
    check_broker(name, str(part))
    return name


def _checked_rows(table: pa.Table, part: Path) -> pa.Table:
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
            if least is not None and not (least in column_range(column.name) and most in column_range(column.name)):
                raise UsageError(f"{part}: {column.name} has values from {least} to {most}")
    return rows.cast(ROW_SCHEMA)
