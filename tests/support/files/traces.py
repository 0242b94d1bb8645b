"""Broken traces: Parquet with impossible columns, types and values, and folders with other things in them."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_trace.files import METADATA_NAME
from entrycache_trace.generators.generate import generate
from tests.support.files.changes import change_bytes, change_json, encoded, text_of
from tests.support.files.disputed import no_json_lines
from tests.support.files.kinds import Kind, changed_json_lines
from tests.support.files.runs import Ended, ended

EVENTS: Final = 300
PRESETS: Final = ("tail-fanout", "catch-up-fanout", "windowed-aggregation")
INTEGERS: Final = (0, -1, 2**31 - 1, 2**31, 2**53 - 1, 2**53, 2**62, 2**62 + 1, 2**63 - 1, -(2**63), -(2**53))
TEXTS: Final = ("", "x", "\x00", "\x1b[31m", "é" * 40, "END", "CONFIG", "x" * 100_000, "NULL", "\u2028")
CONFIGS: Final = ("", "{", "[]", "null", '{"max_size_bytes": null}', '{"a": 1, "a": 2}')


@functools.cache
def honest(preset: str) -> tuple[pa.Table, bytes]:
    """Return the rows of a small conforming trace, and its metadata."""
    with tempfile.TemporaryDirectory() as name:
        generate(preset, EVENTS, 1, Path(name, "trace"))
        (part,) = Path(name, "trace").glob("*/*.parquet")
        return pq.ParquetFile(part).read(), Path(name, "trace", METADATA_NAME).read_bytes()


def _named(table: pa.Table, chance: Random, test: Callable[[pa.DataType], bool] = lambda kind: True) -> str:
    return str(chance.choice([field.name for field in table.schema if test(field.type)]))


def _with(table: pa.Table, name: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def _change_one_value(table: pa.Table, chance: Random) -> pa.Table:
    """Put a value into one row that has the right type and that no recorder would write."""
    name = _named(table, chance)
    kind = table.schema.field(name).type
    values = table[name].to_pylist()
    replacement: Any = chance.choice((True, False, None))
    if pa.types.is_integer(kind):
        replacement = chance.choice(
            [None, *(each for each in INTEGERS if -(2 ** (kind.bit_width - 1)) <= each < 2 ** (kind.bit_width - 1))]
        )
    elif pa.types.is_string(kind):
        replacement = chance.choice([None, *TEXTS])
    values[chance.randrange(len(values))] = replacement
    return _with(table, name, pa.array(values, kind))


def _change_settings(table: pa.Table, chance: Random) -> pa.Table:
    """Put something else in place of settings or counters."""
    rows_with_value = [at for at, value in enumerate(table["value"].to_pylist()) if value]
    values = table["value"].to_pylist()
    at = chance.choice(rows_with_value)
    replacement = (
        text_of(change_json(json.loads(values[at]), chance), chance).encode("utf-8", "replace").decode("utf-8")
    )
    values[at] = chance.choice((replacement, replacement, replacement, chance.choice(CONFIGS)))
    return _with(table, "value", pa.array(values, pa.string()))


def _change_type(table: pa.Table, chance: Random) -> pa.Table:
    """Change the type of a column, as another writer may."""
    name = _named(table, chance)
    rows = len(table)
    return _with(
        table,
        name,
        chance.choice(
            (
                lambda: pa.array([1.5] * rows),
                lambda: pa.array([b"\xff\xfe"] * rows),
                lambda: pa.array([{"x": 1}] * rows),
                lambda: pa.array([[1]] * rows),
                lambda: pa.nulls(rows),
                lambda: pa.array(range(rows), pa.uint64()),
                lambda: pa.array(range(rows), pa.timestamp("ns")),
                lambda: pa.array([str(row) for row in range(rows)], pa.large_string()),
                table[name].dictionary_encode,
                lambda: _halves(rows),
            )
        )(),
    )


def _halves(rows: int) -> pa.Array:
    """Put texts that are not UTF-8."""
    ends = pa.py_buffer(b"".join((2 * row).to_bytes(4, "little") for row in range(rows + 1)))
    return pa.Array.from_buffers(pa.string(), rows, [None, ends, pa.py_buffer(b"\xff\xfe" * rows)])


def _columns(table: pa.Table, chance: Random) -> pa.Table:
    """Remove, repeat, rename or move a column."""
    name = _named(table, chance)
    at = table.column_names.index(name)
    return chance.choice(
        (
            lambda: table.drop_columns([name]),
            lambda: table.append_column(name, table[name]),
            lambda: table.append_column(name.upper(), pa.nulls(len(table), pa.int64())),
            lambda: table.rename_columns([f"{each}_" if each == name else each for each in table.column_names]),
            lambda: table.append_column("broker", pa.array(["other"] * len(table))),
            lambda: table.append_column("x" * 70_000, table[name]),
            lambda: table.select([*table.column_names[at:], *table.column_names[:at]]),
            lambda: table.rename_columns(chance.sample(table.column_names, len(table.column_names))),
        )
    )()


def _rows(table: pa.Table, chance: Random) -> pa.Table:
    """Remove, repeat or reorder rows."""
    at, end = sorted(chance.randrange(len(table) + 1) for _ in range(2))
    return chance.choice(
        (
            lambda: table.slice(at, end - at),
            lambda: pa.concat_tables([table, table.slice(at, 1)]),
            lambda: table.slice(0, 0),
            lambda: table.take(pa.array(chance.sample(range(len(table)), len(table)))),
        )
    )()


CHANGES: Final = (
    _change_one_value,
    _change_one_value,
    _change_one_value,
    _change_settings,
    _change_settings,
    _change_type,
    _columns,
    _rows,
)


def write_broken(folder: Path, chance: Random) -> tuple[str, bool]:
    """Write a broken trace; what it was made from, and whether every reader must refuse it."""
    preset = chance.choice(PRESETS)
    table, about = honest(preset)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        # After one change another may have nothing to change any more.
        with suppress(pa.ArrowException, LookupError, ValueError, TypeError):
            table = chance.choice(CHANGES)(table, chance)
    broker = folder / f"broker={chance.choice(('b', 'b', 'b', 'a%20b', '%FF', '[x]', 'NULL', '1e3'))}"
    broker.mkdir(parents=True)
    part = broker / "part-00000.parquet"
    options: dict[str, Any] = {
        "compression": chance.choice(("zstd", "snappy", "none", "gzip")),
        "write_statistics": chance.random() < 0.7,
        "row_group_size": chance.choice((None, 7, 100)),
        "store_schema": chance.random() < 0.7,
    }
    pq.write_table(table, part, **options)
    if chance.random() < 0.25:
        part.write_bytes(change_bytes(part.read_bytes(), chance))
    if chance.random() < 0.15:
        about = encoded(text_of(change_json(json.loads(about), chance), chance))
    (folder / METADATA_NAME).write_bytes(about)
    if chance.random() < 0.1:
        chance.choice(FURTHER_FILES)(folder, broker)
    if chance.random() < 0.2:
        return preset, _move_part(folder, part, chance.choice(OTHER_FOLDERS))
    return preset, False


OTHER_FOLDERS: Final = (
    *("date=2024-01-01/broker=b", "broker=b/date=2024-01-01", "broker=b/broker=c", "date=2024-01-01", "Broker=b", "b"),
    *("broker=b/seq=3", "seq=3", "broker", "broker=", "broker=__HIVE_DEFAULT_PARTITION__", "broker=%5F_HIVE_DEFAULT_"),
    *("broker=%", "broker=%00", "broker=%ED%A0%80", "broker=a\\[b]", "broker=" + "é" * 100, "broker=b ", "broker=.."),
)
"""Folders for parts; Spark and DuckDB take those with an equals sign for columns."""

TAKEN_NAMES: Final = ("broker=%5F", "broker=%", "broker=é", "broker=b ", "broker=..")
"""Beginnings of names that are names like any other."""


def _move_part(folder: Path, part: Path, name: str) -> bool:
    """Move a part into another folder; whether it can be no part of a trace there."""
    other = folder / name
    other.mkdir(parents=True, exist_ok=True)
    if part.exists():
        part.rename(other / "part-00002.parquet")
    return not name.startswith(TAKEN_NAMES)


FURTHER_FILES: Final[tuple[Callable[[Path, Path], object], ...]] = (
    lambda folder, broker: os.mkfifo(broker / "part-00001.parquet"),
    lambda folder, broker: (broker / "part-00001.parquet").mkdir(),
    lambda folder, broker: (broker / "part-00001.parquet").symlink_to("/dev/zero"),
    lambda folder, broker: (broker / "part-00001.parquet").symlink_to("nowhere"),
    lambda folder, broker: (broker / "notes.txt").write_text("x"),
    lambda folder, broker: (folder / "loop").symlink_to(folder),
    lambda folder, broker: (folder / "part.parquet").write_bytes(b"PAR1"),
    lambda folder, broker: (folder / METADATA_NAME).unlink(),
    lambda folder, broker: broker.rename(folder / "broker=__HIVE_DEFAULT_PARTITION__"),
    lambda folder, broker: broker.rename(folder / "broker="),
)


def looked_at(folder: Path, preset: str, chance: Random) -> Ended:
    """Read a trace with one of the commands."""
    trace, new = str(folder), str(folder.with_name(f"{folder.name}-new"))
    rules = ("K-EVICT-4", "K-METRICS-2") if preset == PRESETS[-1] else ("R-STATE-1", "R-CURSOR-11", "R-TRIGGER-2")
    rule_options = ["--rules", chance.choice(rules)] if chance.random() < 0.9 else []
    return ended(
        chance.choice(
            (
                ["trace", "inspect", trace],
                ["trace", "inspect", trace, "--json"],
                ["trace", "convert", trace, f"{new}.jsonl"],
                ["trace", "simulate", trace, "--no-retained"],
                ["audit", trace, "--backend", "replay", "--out", new],
                ["audit", trace, "--backend", "local", "--out", new, *rule_options],
            )
        )
    )


def tried_trace(seed: str, folder: Path) -> tuple[Path, Ended]:
    """Make the broken trace of a seed, and look at it; how that ended."""
    chance = Random(f"trace/{seed}")
    path = folder / f"trace-{seed.replace('/', '-')}"
    preset, refused = write_broken(path, chance)
    end = looked_at(path, preset, chance)
    return path, end._replace(taken=refused and end.code != 2)


@functools.cache
def events() -> tuple[str, ...]:
    """Write the first lines of traces as JSON Lines."""
    lines = []
    for preset in PRESETS:
        rows = honest(preset)[0].slice(0, 20).to_pylist()
        present = ({"broker": "b", **{name: value for name, value in row.items() if value is not None}} for row in rows)
        lines.append("".join(json.dumps(row) + "\n" for row in present))
    return tuple(lines)


EVENT_LINES: Final = Kind(
    "events.jsonl",
    events,
    changed_json_lines,
    (lambda path: ended(["trace", "convert", str(path), str(path.with_name("converted"))]),),
    no_json_lines,
)

__all__ = ["EVENT_LINES", "honest", "tried_trace", "write_broken"]
