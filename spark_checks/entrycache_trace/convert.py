"""Convert traces from Parquet to JSON Lines and back without loss, and from what a broker's recorder wrote to Parquet.

A recorder in a broker writes a folder of JSON Lines parts. Arrow reads them in C++, some megabytes at a time, because a
part of a busy broker has millions of rows. Columns outside the schema are ignored, and so is a last line that was cut
because the broker was killed. `convert` picks the direction by what it is given. A file of JSON Lines may be compressed
with zstd (`.zst`). `is_oracle_general` recognises the files of requests that `entrycache policies` reads.
"""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from entrycache_protocol import errors, files
from entrycache_trace import parquet, schema
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


def metadata_path(jsonl: Path) -> Path:
    """Return the path of the metadata of a JSON Lines trace, which is beside it and named after it."""
    plain = jsonl.with_suffix("") if jsonl.suffix == ZSTD_SUFFIX else jsonl
    return plain.with_name(plain.stem + METADATA_NAME)


ZSTD_SUFFIX: Final = ".zst"
CHUNK_BYTES: Final = 1 << 20
ORACLE_GENERAL: Final = re.compile(r".+\.oracleGeneral(Bin)?(\.[\w-]+)*", re.IGNORECASE)
"""Names of libCacheSim's files of requests, such as `w1.oracleGeneral.bin.zst` or `c.oracleGeneral.sample10`."""


def is_oracle_general(path: Path) -> bool:
    """Return whether a path has the name of a file of requests in the oracleGeneral format."""
    return ORACLE_GENERAL.fullmatch(path.name) is not None and not path.is_dir()


def decompress(path: Path) -> Iterator[bytes]:
    """Yield the content of a file that zstd compressed, some bytes at a time.

    Raises:
        UsageError: the file cannot be read or is not what zstd writes.
    """
    files.check_regular_file(path, "the compressed file")
    try:
        with pa.input_stream(str(path), compression="zstd") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except (pa.ArrowException, OSError) as error:
        raise errors.UsageError(f"{path}: cannot be read as zstd ({parquet.first_line(error)})") from None


def to_jsonl(directory: Path, jsonl: Path) -> int:
    """Write a Parquet trace as JSON Lines with its metadata beside it, and return the number of events."""
    parts = list_parts(directory, needed=schema.COLUMNS)
    metadata = read_metadata(directory)
    count = write_jsonl(jsonl, iterate_rows(parts))
    text = json.dumps(asdict(metadata), indent=1, sort_keys=True)
    files.write_text(metadata_path(jsonl), text + "\n")
    return count


def to_parquet(jsonl: Path, directory: Path) -> int:
    """Write a JSON Lines trace as Parquet, by default metadata if it has none, and return the number of events."""
    files.check_regular_file(jsonl, "the events")
    files.check_empty_folder(directory, "the trace")
    metadata_file = metadata_path(jsonl)
    metadata = Metadata(source=jsonl.name)
    if metadata_file.exists():
        metadata = read_metadata_file(metadata_file)
    if jsonl.suffix != ZSTD_SUFFIX:
        return write_rows(directory, metadata, read_jsonl(jsonl))
    with TemporaryDirectory() as temporary:
        plain = Path(temporary, jsonl.stem)
        with plain.open("wb") as lines:
            lines.writelines(decompress(jsonl))
        return write_rows(directory, metadata, read_jsonl(plain))


def convert(source: Path, target: Path) -> int:
    """Write a trace folder as JSON Lines, or a file or a recorder's folder as Parquet; return the number of events.

    Raises:
        UsageError: the source is no trace, or the target cannot be written.
    """
    if source.is_dir():
        if is_recorder_folder(source):
            return convert_recording(source, target)
        if target.suffix == ZSTD_SUFFIX:
            raise errors.UsageError(f"{target}: JSON Lines are written plain; expected a name without {ZSTD_SUFFIX}")
        return to_jsonl(source, target)
    if is_oracle_general(source):
        raise errors.UsageError(
            f"{source}: oracleGeneral has requests and no events of a cache; expected JSON Lines (.jsonl, .jsonl.zst) "
            f"or the folder of a trace. To replay the requests: entrycache policies {shlex.quote(str(source))}"
        )
    return to_parquet(source, target)


BLOCK_BYTES: Final = 8 << 20

LINE_SCHEMA: Final = pa.schema([field.with_nullable(True) for field in (schema.BROKER_FIELD, *schema.ROW_SCHEMA)])


def is_recorder_folder(folder: Path) -> bool:
    """Return whether a recorder wrote the folder, even if it recorded nothing."""
    if any(folder.glob("broker=*/part-*.jsonl")):
        return True
    return (
        (folder / METADATA_NAME).is_file()
        and not any(folder.glob("broker=*/*.parquet"))
        and bool(_recorder_state(folder))
    )


def _recorder_state(folder: Path) -> dict[str, Any]:
    """Return the state of the recorder from its metadata."""
    metadata = files.read_json(folder / METADATA_NAME, "the metadata")
    state = metadata.get("recorder") if isinstance(metadata, dict) else None
    return state if isinstance(state, dict) else {}


def convert_recording(folder: Path, out: Path) -> int:
    """Write a recorder's folder as a Parquet trace with the same metadata, and return the number of events.

    Raises:
        UsageError: nothing was recorded, a part cannot be read, or `out` is not empty.
    """
    files.check_empty_folder(out, "the trace")
    read_metadata(folder)
    state = _recorder_state(folder)
    parts = sorted(folder.glob("broker=*/part-*.jsonl"))
    if not parts:
        raise errors.UsageError(f"{folder}: nothing was recorded: {state.get('why') or 'the broker wrote no event'}")
    count = sum(_convert_part(part, number, out) for number, part in enumerate(parts))
    files.write_text(out / METADATA_NAME, (folder / METADATA_NAME).read_text("utf-8"))
    return count


def _convert_part(part: Path, number: int, out: Path) -> int:
    """Convert one part to one Parquet part in row groups, and return the number of its rows."""
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
    """Yield the rows of a part, about a row group at a time."""
    options = pj.ParseOptions(explicit_schema=LINE_SCHEMA, unexpected_field_behavior="ignore")
    batches: list[pa.RecordBatch] = []
    try:
        with pa.memory_map(str(part)) as file:
            whole = file.read_buffer(_complete_bytes(part))
            if whole.size == 0:
                return
            for batch in pj.open_json(pa.BufferReader(whole), pj.ReadOptions(block_size=BLOCK_BYTES), options):
                batches.append(batch)
                if sum(each.num_rows for each in batches) >= ROW_GROUP_ROWS:
                    yield pa.Table.from_batches(batches)
                    batches = []
            if batches:
                yield pa.Table.from_batches(batches)
    except (pa.ArrowException, OSError) as error:
        raise errors.UsageError(f"{part}: cannot be read as JSON Lines ({parquet.first_line(error)})") from None


def _complete_bytes(part: Path) -> int:
    """Return the number of bytes up to the end of the last complete line."""
    with part.open("rb") as file:
        end = file.seek(0, 2)
        while end > 0:
            begin = max(0, end - BLOCK_BYTES)
            file.seek(begin)
            newline = file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            end = begin
    return 0


def _broker_name(table: pa.Table, part: Path) -> str:
    name = table["broker"][0].as_py()
    if not isinstance(name, str):
        raise errors.UsageError(f"{part}: broker is missing or not a string")
    check_broker(name, str(part))
    return name


def _checked_rows(table: pa.Table, part: Path) -> pa.Table:
    """Return the columns of the schema after checking ranges and required values.

    Raises:
        UsageError: a value is missing or out of range, or the part has rows of several brokers.
    """
    if not pc.all(pc.equal(table["broker"], table["broker"][0])).as_py():
        raise errors.UsageError(f"{part}: rows of several brokers; a part has those of one")
    rows = table.select(schema.ROW_SCHEMA.names)
    for column in schema.ROW_SCHEMA:
        if not column.nullable and rows[column.name].null_count:
            raise errors.UsageError(f"{part}: {column.name} is missing in {rows[column.name].null_count} rows")
        if pa.types.is_integer(column.type):
            least, most = (pc.min_max(rows[column.name]).as_py()[name] for name in ("min", "max"))
            if least is not None and not (
                least in schema.column_range(column.name) and most in schema.column_range(column.name)
            ):
                raise errors.UsageError(f"{part}: {column.name} has values from {least} to {most}")
    return rows.cast(schema.ROW_SCHEMA)
