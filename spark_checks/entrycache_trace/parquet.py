"""One Parquet file of a trace: its columns, kinds and values are held to the schema before an engine reads it.

What the footer says is enough for that in files that say it, as every common writer does; else the column is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import check_regular_file
from entrycache_protocol.messages import escape_unprintable, shorten
from entrycache_trace.schema import ROW_SCHEMA, column_range, describe_column

MAX_ROW_GROUP_BYTES: Final = 1 << 30
"""Uncompressed; a row group is what an engine holds in memory. Our own have 131,072 rows, some 20 MB."""

MAX_ROW_BYTES: Final = 4_096
"""Of a row on the average, uncompressed, beyond the first `FIRST_BYTES`; rows of a trace have some 200."""

SMALL_FILE_BYTES: Final = 64 << 20

MAX_TEXT_BYTES: Final = 1 << 30
"""Of all texts of one column of a part, where they are read at once."""

BATCH_ROWS: Final = 65_536
MAX_BATCH_TEXT_BYTES: Final = 64 << 20
"""The same where so many rows are read at a time."""


@contextmanager
def report_unreadable(path: Path) -> Iterator[None]:
    """Say in one line that a file is no Parquet that can be read."""
    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        raise UsageError(f"{path}: cannot be read as Parquet ({first_line(error)})") from None


def first_line(error: BaseException) -> str:
    """What an error says, as short as it can be."""
    return shorten(escape_unprintable((str(error).strip() or type(error).__name__).splitlines()[0]), 300)


def check_part(path: Path, needed: Sequence[str]) -> tuple[int, int]:
    """The rows of a part, and the bytes of its columns uncompressed.

    Raises:
        UsageError: it cannot be read, lacks a column or has it twice, or holds what a trace does not.
    """
    check_regular_file(path, "the part")
    with report_unreadable(path):
        metadata = pq.read_metadata(path)
        found = metadata.schema.to_arrow_schema()
        data_bytes = _check_size(path, metadata)
        for name in needed:
            if name != "broker":
                _check_column(path, metadata, found, name)
    return int(metadata.num_rows), data_bytes


def _check_size(path: Path, metadata: pq.FileMetaData) -> int:
    groups = [int(metadata.row_group(number).total_byte_size) for number in range(metadata.num_row_groups)]
    if max(groups, default=0) > MAX_ROW_GROUP_BYTES:
        raise UsageError(
            f"{path}: a row group takes {max(groups)} bytes uncompressed; expected {MAX_ROW_GROUP_BYTES} at most"
        )
    if sum(groups) > SMALL_FILE_BYTES + MAX_ROW_BYTES * metadata.num_rows:
        said = f"{metadata.num_rows} rows take {sum(groups)} bytes uncompressed"
        raise UsageError(f"{path}: {said}; expected {MAX_ROW_BYTES} bytes a row at most")
    return sum(groups)


def _check_column(path: Path, metadata: pq.FileMetaData, found: pa.Schema, name: str) -> None:
    """Hold a column to its kind, its range, and to a value in every row where it must have one."""
    alike = [each for each in found.names if each.lower() == name]
    if name not in alike:
        raise UsageError(f"{path}: column {name} is missing")
    if len(alike) > 1:
        raise UsageError(f"{path}: column {name} is there {len(alike)} times")
    column = ROW_SCHEMA.field(name)
    if not _is_readable_as(found.field(name).type, column.type):
        raise UsageError(f"{path}: column {name} is {type_name(found.field(name).type)}, not {column.type}")
    bounded = pa.types.is_integer(column.type)
    required = found.field(name).nullable and not column.nullable
    if (bounded or required) and not _footer_proves(metadata, column, bounded, required):
        _check_values(path, column)


def type_name(kind: pa.DataType) -> str:
    """A type as an error names it."""
    return shorten(escape_unprintable(str(kind)), 80)


def _footer_proves(metadata: pq.FileMetaData, column: pa.Field, bounded: bool, required: bool) -> bool:
    """Whether the statistics of a column show that its values are right."""
    span = column_range(column.name) if bounded else range(0)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = (group.column(at) for at in range(group.num_columns))
        told = next((one.statistics for one in chunks if one.path_in_schema == column.name), None)
        if told is None or (required and not (told.has_null_count and told.null_count == 0)):
            return False
        empty = told.has_null_count and told.num_values == 0
        if bounded and not empty and not (told.has_min_max and told.min in span and told.max in span):
            return False
    return True


def _check_values(path: Path, column: pa.Field) -> None:
    """The same by the values themselves."""
    values = pq.ParquetFile(path).read(columns=[column.name])[column.name]
    first = -1 if column.nullable else values.is_null().index(True).as_py()
    if first >= 0:
        raise UsageError(f"{path}: column {column.name} is null in row {first}; it has a value in every row of a trace")
    if pa.types.is_integer(column.type):
        ends: Any = pc.min_max(values).as_py()
        wrong = [end for end in ends.values() if end is not None and end not in column_range(column.name)]
        if wrong:
            raise UsageError(f"{path}: column {column.name} holds {wrong[0]}, not {describe_column(column)}")


def _is_readable_as(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_integer(wanted):
        return bool(found in (pa.int32(), wanted) or (pa.types.is_int64(found) and pa.types.is_int32(wanted)))
    if pa.types.is_string(wanted):
        return bool(
            pa.types.is_string(found)
            or pa.types.is_large_string(found)
            or (pa.types.is_dictionary(found) and pa.types.is_string(found.value_type))
        )
    return bool(found == wanted)


def read_columns(path: Path, names: Sequence[str]) -> pa.Table:
    """Some columns of a part; a text that stands in many rows was read once, so that few bytes do not become many.

    Raises:
        UsageError: texts are too long, or none in UTF-8.
    """
    texts = _text_columns(names)
    with report_unreadable(path):
        table = pq.ParquetFile(path, read_dictionary=texts).read(columns=list(names))
        return _with_plain_texts(path, table.select(list(names)), texts, MAX_TEXT_BYTES)


def read_batches(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    """The same, some rows at a time.

    Raises:
        UsageError: see `read_columns`.
    """
    texts = _text_columns(names)
    with report_unreadable(path), pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=list(names)):
            yield _with_plain_texts(
                path, pa.Table.from_batches([batch]).select(list(names)), texts, MAX_BATCH_TEXT_BYTES
            )


def _text_columns(names: Sequence[str]) -> list[str]:
    return [name for name in names if name != "broker" and pa.types.is_string(ROW_SCHEMA.field(name).type)]


def _with_plain_texts(path: Path, table: pa.Table, texts: Sequence[str], most: int) -> pa.Table:
    """The table with its texts written out, once that is known to fit."""
    table.validate(full=True)
    for name in texts:
        _check_text(path, table, name, most)
        plain = table[name].cast(_plain_type(table[name].type))
        table = table.set_column(table.column_names.index(name), name, plain)
    return table


def check_texts(path: Path, names: Sequence[str]) -> None:
    """Hold the texts of a part to what every engine can read.

    Raises:
        UsageError: see `read_columns`.
    """
    read_columns(path, _text_columns(names))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _check_text(path: Path, table: pa.Table, name: str, most: int) -> None:
    total = 0
    for chunk in table[name].chunks:
        if pa.types.is_dictionary(chunk.type):
            chunk.dictionary.validate(full=True)
            lengths = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
        else:
            lengths = pc.binary_length(chunk)
        total += pc.sum(pc.cast(lengths, pa.int64())).as_py() or 0
    if total > most:
        raise UsageError(f"{path}: the texts of column {name} take {total} bytes; expected {most} at most")
