"""The columns of a recorded trace, schema version 1: one row is one event of one broker's cache."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from entrycache_reference.vocabulary import INTEGER_MAX

SCHEMA_VERSION: Final = 1

ROW_SCHEMA: Final = pa.schema(
    [
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("ts_ns", pa.int64(), nullable=False),
        pa.field("op", pa.string(), nullable=False),
        pa.field("cause", pa.string()),
        pa.field("origin", pa.string()),
        pa.field("cache", pa.string()),
        pa.field("ledger_id", pa.int64()),
        pa.field("entry_id", pa.int64()),
        pa.field("key_hash", pa.int64()),
        pa.field("life", pa.int64()),
        pa.field("size_bytes", pa.int64()),
        pa.field("expected_reads", pa.int32()),
        pa.field("requeues", pa.int32()),
        pa.field("accessed", pa.bool_()),
        pa.field("dirty", pa.bool_()),
        pa.field("stamp_ns", pa.int64()),
        pa.field("new_stamp_ns", pa.int64()),
        pa.field("pass_id", pa.int64()),
        pa.field("call_id", pa.int64()),
        pa.field("bound", pa.int64()),
        pa.field("max_requeues", pa.int32()),
        pa.field("extend_accessed", pa.bool_()),
        pa.field("trigger_bytes", pa.int64()),
        pa.field("target_bytes", pa.int64()),
        pa.field("bytes_after", pa.int64(), nullable=False),
        pa.field("manager_bytes", pa.int64()),
        pa.field("tail_no", pa.int64()),
        pa.field("head_no", pa.int64()),
        pa.field("ticket", pa.int64()),
        pa.field("cursor", pa.string()),
        pa.field("value", pa.string()),
    ]
)
"""The columns inside a Parquet part. `broker`, the first column of a row, is the name of the part's folder."""

BROKER: Final = pa.field("broker", pa.string(), nullable=False)

ROW_COLUMNS: Final = tuple(ROW_SCHEMA.names)
COLUMNS: Final = ("broker", *ROW_COLUMNS)

VIOLATION_SCHEMA: Final = pa.schema(
    [
        pa.field("rule", pa.string(), nullable=False),
        pa.field("broker", pa.string(), nullable=False),
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("life", pa.int64()),
        pa.field("expected", pa.string()),
        pa.field("observed", pa.string()),
        pa.field("seqs", pa.list_(pa.int64())),
    ]
)
"""One row of `violations.parquet`: the offending event, and the events that show it."""

TIMES: Final = frozenset({"ts_ns", "stamp_ns", "new_stamp_ns", "bound"})
"""Columns in nanoseconds; `bound` is bytes in a size pass."""


def span_of(name: str) -> range:
    """The integers that a column may hold.

    Ordinals, counts and bytes are numbers of a case. Of times the difference of any two must have 64 bits; a hash may
    be anything.
    """
    width = ROW_SCHEMA.field(name).type.bit_width
    if name in TIMES:
        return range(-(1 << 62), (1 << 62) + 1)
    if width < 64 or name == "key_hash":
        return range(-(1 << (width - 1)), 1 << (width - 1))
    return range(-INTEGER_MAX, INTEGER_MAX + 1)


def sql_kind(name: str) -> str:
    """The type of a column in SQL; integers are read as 64 bits."""
    kind = "string" if name == "broker" else str(ROW_SCHEMA.field(name).type)
    return "bigint" if kind.startswith("int") else "boolean" if kind == "bool" else "string"


def kind_of(column: pa.Field) -> str:
    """What a column holds, in words."""
    if not pa.types.is_integer(column.type):
        return str(column.type)
    span = span_of(column.name)
    return f"{column.type} from {span[0]} to {span[-1]}"
