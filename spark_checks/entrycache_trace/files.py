"""Traces on disk: a folder of Parquet parts with its metadata, and JSON Lines.

Whatever is wrong with a file is said in one line that names it (`UsageError`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_protocol.errors import Unwritten, UsageError
from entrycache_protocol.leftovers import Beside
from entrycache_protocol.output import reason, whole, write_text
from entrycache_trace.schema import COLUMNS, ROW_COLUMNS, ROW_SCHEMA, SCHEMA_VERSION
from entrycache_trace.systems import FIRST

METADATA_NAME: Final = "_entrycache.json"
ROW_GROUP_ROWS: Final = 131_072

Json = dict[str, Any]


@dataclass(frozen=True)
class Metadata:
    """What `_entrycache.json` says about a trace."""

    system: str = FIRST
    variants: Mapping[str, object] = field(default_factory=dict)
    source: str = ""
    clock: str = "virtual"
    threads: str = "one"
    sampling: object = 1
    schema: int = SCHEMA_VERSION

    @property
    def many_threads(self) -> bool:
        """Whether events of several threads meet in one broker."""
        return self.threads == "many"

    @property
    def sampled(self) -> bool:
        """Whether events were left out on purpose."""
        return self.sampling != 1


def read_metadata(directory: Path) -> Metadata:
    """The metadata of a trace folder."""
    path = directory / METADATA_NAME
    try:
        return metadata_of(json.loads(path.read_text(encoding="utf-8")), str(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: missing; it says which system and how many threads the trace has") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error})") from None


def system_of(directory: Path) -> str:
    """The system that the metadata name; that of a trace without readable ones is the default."""
    try:
        return read_metadata(directory).system
    except UsageError:
        return Metadata().system


def metadata_of(values: object, where: str) -> Metadata:
    """The metadata in a JSON object."""
    if not isinstance(values, dict):
        raise UsageError(f"{where}: must be a JSON object")
    if values.get("schema") != SCHEMA_VERSION:
        raise UsageError(f"{where}: schema {values.get('schema')!r} is not known; this version reads {SCHEMA_VERSION}")
    if not isinstance(values.get("system"), str):
        raise UsageError(f"{where}: names no system")
    if values.get("threads", "one") not in ("one", "many"):
        raise UsageError(f'{where}: threads is {values["threads"]!r}, not "one" or "many"')
    known = {name: values[name] for name in Metadata.__dataclass_fields__ if values.get(name) is not None}
    return Metadata(**known)


def write_metadata(directory: Path, metadata: Metadata) -> None:
    """Write the metadata beside the parts."""
    text = json.dumps(asdict(metadata), indent=1, sort_keys=True)
    write_text(directory / METADATA_NAME, text + "\n")


@dataclass(frozen=True)
class Part:
    """One Parquet file of a trace."""

    broker: str
    path: Path
    rows: int


def list_parts(directory: Path, needed: Sequence[str] = COLUMNS) -> tuple[Part, ...]:
    """All parts of a trace, each one opened and found to hold the needed columns in readable types."""
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such folder")
    parts = []
    for path in _files_below(directory):
        if path.suffix != ".parquet":
            continue
        if path.parent.parent != directory or not path.parent.name.startswith("broker="):
            raise UsageError(f"{path}: parts belong into folders named broker=<name>")
        if not path.name.startswith((".", "_")):
            broker = unquote(path.parent.name.removeprefix("broker="))
            parts.append(Part(broker, path, _check_part(path, needed)))
    return tuple(parts)


def _files_below(directory: Path) -> list[Path]:
    """Every file, in order, behind links too; a folder that cannot be read is an error: it may hold a broker."""

    def unread(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot be read ({error.strerror}); it may hold parts of the trace")

    walked = os.walk(directory, onerror=unread, followlinks=True)
    return sorted(Path(folder, name) for folder, _, names in walked for name in names)


def _check_part(path: Path, needed: Sequence[str]) -> int:
    try:
        metadata = pq.read_metadata(path)
        found = metadata.schema.to_arrow_schema()
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{path}: cannot be read as Parquet ({_first_line(error)})") from None
    for name in needed:
        if name == "broker":
            continue
        if name not in found.names:
            raise UsageError(f"{path}: column {name} is missing")
        if not _same_kind(found.field(name).type, ROW_SCHEMA.field(name).type):
            wanted = ROW_SCHEMA.field(name).type
            raise UsageError(f"{path}: column {name} is {found.field(name).type}, not {wanted}")
        if found.field(name).nullable and not ROW_SCHEMA.field(name).nullable:
            _check_no_null(path, metadata, name)
    return int(metadata.num_rows)


def _check_no_null(path: Path, metadata: pq.FileMetaData, name: str) -> None:
    """That a required column holds a value in every row: by the statistics in the file, else by its values."""
    at = metadata.schema.names.index(name)
    statistics = [metadata.row_group(number).column(at).statistics for number in range(metadata.num_row_groups)]
    if all(one is not None and one.has_null_count and one.null_count == 0 for one in statistics):
        return
    try:
        nulls = pq.ParquetFile(path).read(columns=[name])[name].is_null()
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{path}: cannot be read as Parquet ({_first_line(error)})") from None
    first = nulls.index(True).as_py()
    if first >= 0:
        raise UsageError(f"{path}: column {name} is null in row {first}; it has a value in every row of a trace")


def _same_kind(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_integer(wanted):
        return bool(found in (pa.int32(), wanted) or (pa.types.is_int64(found) and pa.types.is_int32(wanted)))
    if pa.types.is_string(wanted):
        return bool(
            pa.types.is_string(found)
            or pa.types.is_large_string(found)
            or (pa.types.is_dictionary(found) and pa.types.is_string(found.value_type))
        )
    return bool(found == wanted)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _escaped(broker: str) -> str:
    """The name of a broker in a path: only ASCII is escaped, as Spark and Hive do."""
    return "".join(mark if ord(mark) > 127 else quote(mark, safe=" ") for mark in broker)


class PartWriter:
    """Writes the rows of one broker, in schema order, to one part in row groups; it has its name once it is whole.

    Raises:
        Unwritten: the disk is full or read-only, or something else is in the way.
    """

    def __init__(self, directory: Path, broker: str, number: int = 0) -> None:
        folder = directory / f"broker={_escaped(broker)}"
        self.path = folder / f"part-{number:05}.parquet"
        self._rows: list[tuple[object, ...]] = []
        self._beside: Beside | None = None
        with self._writing():
            folder.mkdir(parents=True, exist_ok=True)
            self._beside = Beside(folder)
            self._writer = pq.ParquetWriter(self._beside.file, ROW_SCHEMA, compression="zstd")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._beside is not None:
                self._beside.end()
            raise Unwritten(f"cannot write {self.path}: {reason(error)}") from None

    def write(self, row: tuple[object, ...]) -> None:
        """Add one row."""
        self._rows.append(row)
        if len(self._rows) >= ROW_GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, ROW_SCHEMA, strict=True)]
        with self._writing():
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=ROW_SCHEMA))
        self._rows = []

    def close(self) -> None:
        """Write what is left and the footer."""
        if self._rows:
            self._flush()
        with self._writing():
            assert self._beside is not None
            self._writer.close()
            self._beside.file.flush()
            self._beside.path.replace(self.path)
            self._beside.end()


def write_rows(directory: Path, metadata: Metadata, rows: Iterable[Mapping[str, object]]) -> int:
    """Write rows that are mappings (absent is null) as a Parquet trace; the number of rows."""
    writers: dict[str, PartWriter] = {}
    count = 0
    try:
        for row in rows:
            broker = row.get("broker")
            if not isinstance(broker, str):
                raise UsageError(f"row {count + 1}: broker is {broker!r}, not a string")
            if broker not in writers:
                writers[broker] = PartWriter(directory, broker)
            writers[broker].write(tuple(row.get(name) for name in ROW_COLUMNS))
            count += 1
        for writer in writers.values():
            writer.close()
    except (pa.ArrowException, OverflowError) as error:
        raise UsageError(f"{directory}: a value does not fit its column ({_first_line(error)})") from None
    write_metadata(directory, metadata)
    return count


def read_part(part: Part, columns: Sequence[str] = ROW_COLUMNS) -> pa.Table:
    """The rows of one part in its own order, in the schema's types."""
    wanted = [name for name in columns if name != "broker"]
    try:
        table = pq.ParquetFile(part.path).read(columns=wanted)
        return table.select(wanted).cast(pa.schema([ROW_SCHEMA.field(name).with_nullable(True) for name in wanted]))
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{part.path}: cannot be read as Parquet ({_first_line(error)})") from None


def read_broker(parts: Iterable[Part], columns: Sequence[str] = ROW_COLUMNS) -> pa.Table:
    """The rows of one broker's parts in the order of `seq`; the same (broker, seq) twice is an error."""
    named = list(parts)
    table = pa.concat_tables([read_part(part, columns) for part in named]).sort_by("seq")
    seqs = table["seq"].to_numpy()
    if len(seqs) > 1 and (seqs[1:] == seqs[:-1]).any():
        twice = int(seqs[1:][seqs[1:] == seqs[:-1]][0])
        raise UsageError(duplicate_message(named[0].broker, twice))
    return table


def duplicate_message(broker: str, seq: int) -> str:
    """What is said of two rows with one (broker, seq)."""
    return f"broker {broker!r}, seq {seq}: recorded twice; (broker, seq) must be unique"


def read_jsonl(path: Path) -> Iterator[Json]:
    """The events of a JSON Lines file, checked one by one: known types, nothing required missing."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _event(line, f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({_first_line(error)})") from None


def _event(line: str, where: str) -> Json:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where}: not JSON ({error})") from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: not a JSON object")
    if not isinstance(row.get("broker"), str):
        raise UsageError(f"{where}: broker is missing or not a string")
    for column in ROW_SCHEMA:
        value = row.get(column.name)
        if value is None:
            if not column.nullable:
                raise UsageError(f"{where}: {column.name} is missing")
        elif not _fits(value, column.type):
            raise UsageError(f"{where}: {column.name} is {value!r}, not {column.type}")
    return cast(Json, row)


def _fits(value: object, kind: pa.DataType) -> bool:
    if pa.types.is_boolean(kind):
        return isinstance(value, bool)
    if pa.types.is_integer(kind):
        limit = 1 << (kind.bit_width - 1)
        return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit
    return isinstance(value, str)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> int:
    """Write events as JSON Lines, nulls left out; the number of rows."""
    count = 0
    with whole(path) as beside, beside.open("w", encoding="utf-8") as lines:
        for row in rows:
            present = {name: value for name, value in row.items() if value is not None}
            lines.write(json.dumps(present, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def iterate_rows(parts: Iterable[Part]) -> Iterator[Json]:
    """All rows as mappings, broker first, broker by broker in the order of `seq`."""
    by_broker: dict[str, list[Part]] = {}
    for part in parts:
        by_broker.setdefault(part.broker, []).append(part)
    for broker, owned in sorted(by_broker.items()):
        for batch in read_broker(owned).to_batches(max_chunksize=16_384):
            for row in batch.to_pylist():
                yield {"broker": broker, **row}
