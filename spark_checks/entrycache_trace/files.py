"""Traces on disk: a folder of Parquet parts with its metadata, and JSON Lines.

`Metadata` is what `_entrycache.json` says about a trace, and `Part` is one Parquet file of a folder `broker=NAME`.
`list_parts` finds and checks all parts; `read_part`, `read_broker` and `iterate_rows` read their rows. `PartWriter`
writes one part in row groups and gives it its name only when it is complete; `write_rows` writes a whole trace from
mappings. A file that cannot be read or that is no trace is refused with a `UsageError`, one line that names it. Limits
bound how much is read into memory at once.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_protocol import codec, strict_json
from entrycache_protocol.errors import UsageError, WriteError, describe_value
from entrycache_protocol.files import PartialFile, atomic_path, describe_os_error, read_json, read_lines, write_text
from entrycache_trace.parquet import check_part, first_line, read_columns, report_unreadable
from entrycache_trace.schema import (
    BROKER_FIELD,
    COLUMNS,
    DEFAULT_SYSTEM,
    ROW_COLUMNS,
    ROW_SCHEMA,
    SCHEMA_VERSION,
    column_range,
    describe_column,
)

METADATA_NAME: Final = "_entrycache.json"
ROW_GROUP_ROWS: Final = 131_072

MAX_ROWS: Final = 1_000_000_000
"""The most events of a trace: ten times the largest trace that was tried."""

MAX_VALUES: Final = 200_000_000
"""The most values (rows times columns) of a broker that is read at once: six million rows, 3 GB."""

MAX_MAPPED_VALUES: Final = 50_000_000
"""The most values of a broker whose rows are read as mappings, which take ten times the memory."""

MAX_FOLDER_DEPTH: Final = 8
"""The most levels of folders in a trace, so that the walk ends even if links form a circle."""

MAX_NAME_BYTES: Final = 255 - len("broker=")
"""The most bytes of a broker's name in the name of its folder."""

GLOB_PATTERN: Final = re.compile(r"[*?[]")
NULL_NAMES: Final = frozenset({"", "__HIVE_DEFAULT_PARTITION__"})

Json = dict[str, Any]


@dataclass(frozen=True)
class Metadata:
    """The content of `_entrycache.json`: what a trace says about itself."""

    system: str = DEFAULT_SYSTEM
    variants: Mapping[str, object] = field(default_factory=dict)
    source: str = ""
    clock: str = "virtual"
    threads: str = "one"
    sampling: object = 1
    schema: int = SCHEMA_VERSION

    @property
    def many_threads(self) -> bool:
        """Return whether several threads caused the events of one broker."""
        return self.threads == "many"

    @property
    def sampled(self) -> bool:
        """Return whether the recorder left out events on purpose."""
        return self.sampling != 1


METADATA_SHAPE: Final = strict_json.object_shape(
    {
        "schema": {"type": "integer"},
        "system": strict_json.TEXT,
        "variants": strict_json.nullable_shape(strict_json.mapping_shape({})),
        "source": strict_json.nullable_shape(strict_json.TEXT),
        "clock": strict_json.nullable_shape(strict_json.TEXT),
        "threads": strict_json.nullable_shape(strict_json.TEXT),
        "sampling": {"type": ["number", "string", "null"]},
    },
    *("variants", "source", "clock", "threads", "sampling"),
)
"""The JSON Schema of the parts of `_entrycache.json` that are read; null stands for the default."""


def read_metadata(directory: Path) -> Metadata:
    """Read the metadata of a trace folder."""
    if directory.exists():
        require_folder(directory)
    path = directory / METADATA_NAME
    if not path.exists():
        raise UsageError(f"{path}: missing; it says which system and how many threads the trace has")
    return read_metadata_file(path)


def read_metadata_file(path: Path) -> Metadata:
    """Read metadata from a file of its own."""
    return parse_metadata(read_json(path, "the metadata"), str(path))


def read_system(directory: Path) -> str:
    """Return the system that the metadata name, or the default if they cannot be read."""
    try:
        return read_metadata(directory).system
    except UsageError:
        return Metadata().system


def parse_metadata(values: object, where: str) -> Metadata:
    """Check a JSON object and return the metadata in it."""
    if not isinstance(values, dict):
        raise UsageError(f"{where}: must be a JSON object")
    if values.get("schema") != SCHEMA_VERSION:
        raise UsageError(
            f"{where}: schema {describe_value(values.get('schema'))} is not known; this version reads {SCHEMA_VERSION}"
        )
    if not isinstance(values.get("system"), str):
        raise UsageError(f"{where}: names no system")
    if values.get("threads") not in (None, "one", "many"):
        raise UsageError(f'{where}: threads is {describe_value(values["threads"])}, not "one" or "many"')
    strict_json.check_shape(values, METADATA_SHAPE, where)
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
    data_bytes: int = 0
    """The uncompressed bytes of its columns, as the footer says."""


def list_parts(directory: Path, needed: Sequence[str] = COLUMNS) -> tuple[Part, ...]:
    """List the parts of a trace after checking that each has the needed columns in readable types."""
    require_folder(directory)
    parts = []
    for path in _list_files(directory):
        if path.suffix != ".parquet":
            continue
        if path.parent.parent != directory or not path.parent.name.startswith("broker="):
            raise UsageError(f"{path}: parts belong into folders named broker=<name>")
        if not path.name.startswith((".", "_")):
            broker = _broker_name(path.parent)
            check_broker(broker, str(path.parent))
            parts.append(Part(broker, path, *check_part(path, needed)))
    rows = sum(part.rows for part in parts)
    if rows > MAX_ROWS:
        raise UsageError(f"{directory}: the trace has {rows} events; expected {MAX_ROWS} at most")
    return tuple(parts)


def require_folder(directory: Path) -> None:
    """Refuse a path that is no folder; say what to do with a file that may be a trace.

    Raises:
        UsageError: the path is no folder.
    """
    if directory.is_dir():
        return
    if not directory.exists():
        raise UsageError(f"{directory}: no such folder")
    if directory.suffix == ".parquet":
        raise UsageError(
            f"{directory}: a file; expected the folder of the trace, which holds broker=NAME/part-*.parquet"
        )
    if ".jsonl" not in directory.suffixes and directory.suffix not in {"", ".json"}:
        raise UsageError(f"{directory}: a file; expected the folder of a trace, or JSON Lines (.jsonl, .jsonl.zst)")
    folder = str(directory.with_suffix("")) if directory.suffix else "FOLDER"
    convert = f"entrycache trace convert {shlex.quote(str(directory))} {shlex.quote(folder)}"
    raise UsageError(f"{directory}: a file; expected the folder of a trace. Convert JSON Lines first: {convert}")


def list_brokers(directory: Path) -> tuple[str, ...]:
    """List the brokers that have a folder in a trace, in order, even if it holds no part."""
    return tuple(sorted(_broker_name(folder) for folder in directory.glob("broker=?*") if folder.is_dir()))


def _broker_name(folder: Path) -> str:
    try:
        return unquote(folder.name.removeprefix("broker="), errors="strict")
    except UnicodeDecodeError:
        raise UsageError(f"{folder}: the name is not UTF-8 text") from None


def check_broker(name: str, where: str) -> None:
    """Refuse a broker's name that some backend cannot read.

    Raises:
        UsageError: the name cannot be used.
    """
    if codec.LONE_SURROGATES.search(name) or codec.LONE_SURROGATES.search(where):
        raise UsageError(f"{where}: the name is not UTF-8 text")
    if "\\" in where and GLOB_PATTERN.search(where):
        raise UsageError(f"{where}: a backslash beside *, ? or [ means something else to some backend; rename it")
    if len(_escape_broker(name).encode()) > MAX_NAME_BYTES:
        raise UsageError(
            f"{where}: the broker's name is too long for a folder; expected {MAX_NAME_BYTES} bytes at most"
        )
    if name in NULL_NAMES:
        raise UsageError(f"{where}: {name!r} names no broker; Spark and Hive read it as null")


def _list_files(directory: Path) -> list[Path]:
    """List every file in order, following links. A folder that cannot be read may hold a broker and is an error."""

    def unread(error: OSError) -> None:
        raise UsageError(f"{error.filename}: cannot be read ({error.strerror}); it may hold parts of the trace")

    files = []
    for folder, inner, names in os.walk(directory, onerror=unread, followlinks=True):
        if inner and len(Path(folder).relative_to(directory).parts) >= MAX_FOLDER_DEPTH:
            raise UsageError(f"{folder}: folders, or a link, stand too deep; parts belong into folders broker=<name>")
        files += [Path(folder, name) for name in names]
    return sorted(files)


def broker_folder(directory: Path, broker: str) -> Path:
    """Return the folder of a broker's parts."""
    return directory / f"broker={_escape_broker(broker)}"


def _escape_broker(broker: str) -> str:
    """Escape the name of a broker for a path: only ASCII is escaped, as Spark and Hive do."""
    return "".join(mark if ord(mark) > 127 else quote(mark, safe=" ") for mark in broker)


class PartWriter:
    """The writer of one part: rows of one broker in schema order, in row groups. A complete part gets its name.

    Raises:
        Unwritten: the disk is full or read-only, or another error prevents writing.
    """

    def __init__(self, directory: Path, broker: str, number: int = 0) -> None:
        folder = broker_folder(directory, broker)
        self.path = folder / f"part-{number:05}.parquet"
        self._rows: list[tuple[object, ...]] = []
        self._temporary: PartialFile | None = None
        with self._writing():
            folder.mkdir(parents=True, exist_ok=True)
            self._temporary = PartialFile(folder)
            self._writer = pq.ParquetWriter(self._temporary.file, ROW_SCHEMA, compression="zstd")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._temporary is not None:
                self._temporary.end()
            with suppress(OSError):
                self.path.parent.rmdir()
            raise WriteError(f"cannot write {self.path}: {describe_os_error(error)}") from None

    def write(self, row: tuple[object, ...]) -> None:
        """Add one row."""
        self._rows.append(row)
        if len(self._rows) >= ROW_GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, ROW_SCHEMA, strict=True)]
        self.write_table(pa.Table.from_arrays(arrays, schema=ROW_SCHEMA))
        self._rows = []

    def write_table(self, rows: pa.Table) -> None:
        """Add many rows of the schema as row groups of their own."""
        with self._writing():
            self._writer.write_table(rows)

    def sweep(self) -> None:
        """Delete an unfinished part, and its folder if it is empty."""
        if self._temporary is not None and self._temporary.path.exists():
            with suppress(OSError, pa.ArrowException):
                self._writer.close()
            self._temporary.end()
            with suppress(OSError):
                self.path.parent.rmdir()

    def close(self) -> None:
        """Write the remaining rows and the footer, and give the part its name."""
        if self._rows:
            self._flush()
        with self._writing():
            assert self._temporary is not None
            self._writer.close()
            self._temporary.file.flush()
            self._temporary.path.replace(self.path)
            self._temporary.end()


def write_rows(directory: Path, metadata: Metadata, rows: Iterable[Mapping[str, object]]) -> int:
    """Write rows that are mappings (absent means null) as a Parquet trace, and return their number."""
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
        raise UsageError(f"{directory}: a value does not fit its column ({first_line(error)})") from None
    finally:
        for writer in writers.values():
            writer.sweep()
    write_metadata(directory, metadata)
    return count


def read_part(part: Part, columns: Sequence[str] = ROW_COLUMNS) -> pa.Table:
    """Read the rows of one part in its own order and in the types of the schema."""
    wanted = [name for name in columns if name != "broker"]
    with report_unreadable(part.path):
        table = read_columns(part.path, wanted)
        return table.cast(pa.schema([ROW_SCHEMA.field(name).with_nullable(True) for name in wanted]))


def read_mappings(parts: Iterable[Part], columns: Sequence[str]) -> list[Json]:
    """Read the rows of one broker's parts as mappings; see `read_broker`."""
    rows: list[Json] = read_broker(parts, columns, MAX_MAPPED_VALUES).to_pylist()
    return rows


def read_broker(parts: Iterable[Part], columns: Sequence[str] = ROW_COLUMNS, values_most: int = MAX_VALUES) -> pa.Table:
    """Read the rows of one broker's parts into memory, in the order of `seq`.

    Raises:
        UsageError: there are too many values, or a (broker, seq) occurs twice.
    """
    named = list(parts)
    where = named[0].path.parent.parent
    values = sum(part.rows for part in named) * len(columns)
    if values > values_most:
        line = f"{where}: broker {named[0].broker!r} has {values} values in {len(columns)} columns"
        raise UsageError(f"{line}; expected {values_most} at most where they are read at once")
    table = pa.concat_tables([read_part(part, columns) for part in named]).sort_by("seq")
    seqs = table["seq"].to_numpy()
    if len(seqs) > 1 and (seqs[1:] == seqs[:-1]).any():
        twice = int(seqs[1:][seqs[1:] == seqs[:-1]][0])
        raise UsageError(f"{where}: {duplicate_message(named[0].broker, twice)}")
    return table


def duplicate_message(broker: str, seq: int) -> str:
    """Return the message about two rows with the same (broker, seq)."""
    return f"broker {broker!r}, seq {seq}: recorded twice; (broker, seq) must be unique"


def read_jsonl(path: Path) -> Iterator[Json]:
    """Yield the events of a JSON Lines file after checking types and required values of each."""
    for number, line in read_lines(path, "the events"):
        yield _parse_event(line, f"{path}, line {number}")


def _parse_event(line: str, where: str) -> Json:
    try:
        row = strict_json.parse_json(line)
    except ValueError as error:
        raise UsageError(f"{where}: not JSON ({error})") from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: not a JSON object")
    if not isinstance(row.get("broker"), str):
        raise UsageError(f"{where}: broker is missing or not a string")
    for column in (BROKER_FIELD, *ROW_SCHEMA):
        value = row.get(column.name)
        if value is None:
            if not column.nullable:
                raise UsageError(f"{where}: {column.name} is missing")
        elif not _fits_column(value, column):
            raise UsageError(f"{where}: {column.name} is {describe_value(value)}, not {describe_column(column)}")
    check_broker(row["broker"], where)
    return cast(Json, row)


def _fits_column(value: object, column: pa.Field) -> bool:
    if pa.types.is_boolean(column.type):
        return isinstance(value, bool)
    if pa.types.is_integer(column.type):
        return type(value) is int and value in column_range(column.name)
    return isinstance(value, str)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> int:
    """Write events as JSON Lines without nulls, and return their number."""
    count = 0
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as lines:
        for row in rows:
            present = {name: value for name, value in row.items() if value is not None}
            lines.write(json.dumps(present, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def iterate_rows(parts: Iterable[Part]) -> Iterator[Json]:
    """Yield all rows as mappings with the broker first, broker by broker in the order of `seq`."""
    by_broker: dict[str, list[Part]] = {}
    for part in parts:
        by_broker.setdefault(part.broker, []).append(part)
    for broker, owned in sorted(by_broker.items()):
        for batch in read_broker(owned).to_batches(max_chunksize=16_384):
            for row in batch.to_pylist():
                yield {"broker": broker, **row}


SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")

TABLE_PREFIX: Final = "table:"
"""The prefix of the name of a table in Spark's catalog."""


def is_spark_location(where: str) -> bool:
    """Return whether Spark has to find a trace: its name has a scheme or is a pattern, and no such path exists."""
    return not Path(where).exists() and (SCHEME.match(where) is not None or GLOB_PATTERN.search(where) is not None)
