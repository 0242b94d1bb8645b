"""One Parquet file of a trace: check it against the schema, and read its columns within limits.

`check_part` compares columns, types and values with the schema before a backend reads the file. The statistics in the
footer are enough for that in files of every common writer; otherwise it reads the column. `read_columns` and
`read_batches` read texts as dictionaries first, so that a small file cannot expand to a huge table. Every error is a
`UsageError` of one line that names the file.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from entrycache_protocol.errors import UsageError, escape_unprintable, shorten
from entrycache_protocol.files import check_regular_file
from entrycache_trace.schema import ADDED_COLUMNS, ROW_SCHEMA, column_range, describe_column

MAX_ROW_GROUP_BYTES: Final = 1 << 30
"""The most uncompressed bytes of a row group, which a backend holds in memory. Ours have 131,072 rows, about 20 MB."""

MAX_ROW_BYTES: Final = 4_096
"""The most uncompressed bytes of an average row beyond `SMALL_FILE_BYTES`; rows of a trace have about 200."""

SMALL_FILE_BYTES: Final = 64 << 20

MAX_TEXT_BYTES: Final = 1 << 30
"""The most bytes of all texts of one column that is read at once."""

BATCH_ROWS: Final = 65_536
MAX_BATCH_TEXT_BYTES: Final = 64 << 20
"""The most bytes of the texts of one column in a batch."""


@contextmanager
def report_unreadable(path: Path) -> Iterator[None]:
    """Report a file that cannot be read as Parquet in one line."""
    try:
        yield
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        raise UsageError(f"{path}: cannot be read as Parquet ({first_line(error)})") from None


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, shortened."""
    return shorten(escape_unprintable((str(error).strip() or type(error).__name__).splitlines()[0]), 300)


def check_part(path: Path, needed: Sequence[str]) -> tuple[int, int]:
    """Check a part, and return the number of its rows and the uncompressed bytes of its columns.

    Raises:
        UsageError: the part cannot be read, lacks a column or has it twice, or has values that no trace has.
    """
    check_regular_file(path, "the part")
    with report_unreadable(path):
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        data_bytes = _check_size(path, metadata)
        for name in needed:
            if name != "broker":
                _check_column(path, metadata, schema, name)
    return int(metadata.num_rows), data_bytes


def _check_size(path: Path, metadata: pq.FileMetaData) -> int:
    groups = [int(metadata.row_group(number).total_byte_size) for number in range(metadata.num_row_groups)]
    if max(groups, default=0) > MAX_ROW_GROUP_BYTES:
        raise UsageError(
            f"{path}: a row group takes {max(groups)} bytes uncompressed; expected {MAX_ROW_GROUP_BYTES} at most"
        )
    if sum(groups) > SMALL_FILE_BYTES + MAX_ROW_BYTES * metadata.num_rows:
        size = f"{metadata.num_rows} rows take {sum(groups)} bytes uncompressed"
        raise UsageError(f"{path}: {size}; expected {MAX_ROW_BYTES} bytes a row at most")
    return sum(groups)


def _check_column(path: Path, metadata: pq.FileMetaData, schema: pa.Schema, name: str) -> None:
    """Check the type of a column, the range of its values, and that required values are there."""
    same_name = [each for each in schema.names if each.lower() == name]
    if not same_name and name in ADDED_COLUMNS:
        return
    if name not in same_name:
        raise UsageError(f"{path}: column {name} is missing")
    if len(same_name) > 1:
        raise UsageError(f"{path}: column {name} is there {len(same_name)} times")
    column = ROW_SCHEMA.field(name)
    if not _is_readable_as(schema.field(name).type, column.type):
        raise UsageError(f"{path}: column {name} is {type_name(schema.field(name).type)}, not {column.type}")
    bounded = pa.types.is_integer(column.type)
    required = schema.field(name).nullable and not column.nullable
    if (bounded or required) and not _footer_proves(metadata, column, bounded, required):
        _check_values(path, column)


def type_name(kind: pa.DataType) -> str:
    """Return the name of a type for an error message."""
    return shorten(escape_unprintable(str(kind)), 80)


def _footer_proves(metadata: pq.FileMetaData, column: pa.Field, bounded: bool, required: bool) -> bool:
    """Return whether the statistics of a column prove that its values are valid."""
    span = column_range(column.name) if bounded else range(0)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = (group.column(at) for at in range(group.num_columns))
        statistics = next((one.statistics for one in chunks if one.path_in_schema == column.name), None)
        if statistics is None or (required and not (statistics.has_null_count and statistics.null_count == 0)):
            return False
        empty = statistics.has_null_count and statistics.num_values == 0
        if bounded and not empty and not _is_within(statistics, span):
            return False
    return True


def _is_within(statistics: pq.Statistics, span: range) -> bool:
    return bool(statistics.has_min_max and statistics.min in span and statistics.max in span)


def _check_values(path: Path, column: pa.Field) -> None:
    """Check the values of a column by reading them."""
    values = pq.ParquetFile(path).read(columns=[column.name])[column.name]
    first = -1 if column.nullable else values.is_null().index(True).as_py()
    if first >= 0:
        raise UsageError(f"{path}: column {column.name} is null in row {first}; it has a value in every row of a trace")
    if pa.types.is_integer(column.type):
        ends: Any = pc.min_max(values).as_py()
        wrong = [end for end in ends.values() if end is not None and end not in column_range(column.name)]
        if wrong:
            raise UsageError(f"{path}: column {column.name} holds {wrong[0]}, not {describe_column(column)}")


def _is_readable_as(kind: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_integer(wanted):
        return bool(kind in (pa.int32(), wanted) or (pa.types.is_int64(kind) and pa.types.is_int32(wanted)))
    if pa.types.is_string(wanted):
        return bool(
            pa.types.is_string(kind)
            or pa.types.is_large_string(kind)
            or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))
        )
    return bool(kind == wanted)


def read_columns(path: Path, names: Sequence[str]) -> pa.Table:
    """Read some columns of a part. Texts are read as dictionaries first, so that few bytes do not become many.

    Raises:
        UsageError: the texts are too long or not in UTF-8.
    """
    texts = _text_columns(names)
    with report_unreadable(path):
        table = pq.ParquetFile(path, read_dictionary=present_columns(path, texts)).read(columns=list(names))
        return _with_plain_texts(path, _select_columns(table, names), texts, MAX_TEXT_BYTES)


def read_batches(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    """Read some columns of a part, some rows at a time.

    Raises:
        UsageError: see `read_columns`.
    """
    texts = _text_columns(names)
    with report_unreadable(path), pq.ParquetFile(path, read_dictionary=present_columns(path, texts)) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=list(names)):
            table = _select_columns(pa.Table.from_batches([batch]), names)
            yield _with_plain_texts(path, table, texts, MAX_BATCH_TEXT_BYTES)


def _select_columns(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the named columns of a table; those that an older file lacks are null."""
    return with_added_columns(table, names).select(list(names))


def with_added_columns(rows: Any, names: Iterable[str]) -> Any:
    """Return a table or a batch with the named columns of later versions, which are null where the file lacks them."""
    for name in ADDED_COLUMNS.intersection(names).difference(rows.schema.names):
        field = ROW_SCHEMA.field(name)
        rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows


def present_columns(path: Path, names: Iterable[str]) -> list[str]:
    """Return the named columns that a file has; an older one lacks some."""
    there = set(pq.read_schema(path).names)
    return [name for name in names if name in there]


def _text_columns(names: Sequence[str]) -> list[str]:
    return [name for name in names if name != "broker" and pa.types.is_string(ROW_SCHEMA.field(name).type)]


def _with_plain_texts(path: Path, table: pa.Table, texts: Sequence[str], most: int) -> pa.Table:
    """Return the table with plain texts, after checking that they fit."""
    table.validate(full=True)
    for name in texts:
        _check_text(path, table, name, most)
        plain = table[name].cast(_plain_type(table[name].type))
        table = table.set_column(table.column_names.index(name), name, plain)
    return table


def check_texts(path: Path, names: Sequence[str]) -> None:
    """Check that every backend can read the texts of a part.

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
