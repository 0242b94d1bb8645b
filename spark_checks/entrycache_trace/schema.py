"""The columns of a recorded trace, schema version 1: one row is one event of one broker's cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from entrycache_reference import pulsar_pip430
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

BROKER_FIELD: Final = pa.field("broker", pa.string(), nullable=False)

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

TIME_COLUMNS: Final = frozenset({"ts_ns", "stamp_ns", "new_stamp_ns", "bound"})
"""Columns in nanoseconds; `bound` is bytes in a size pass."""


def column_range(name: str) -> range:
    """The integers that a column may hold.

    Ordinals, counts and bytes are numbers of a case. Of times the difference of any two must have 64 bits; a hash may
    be anything.
    """
    width = ROW_SCHEMA.field(name).type.bit_width
    if name in TIME_COLUMNS:
        return range(-(1 << 62), (1 << 62) + 1)
    if width < 64 or name == "key_hash":
        return range(-(1 << (width - 1)), 1 << (width - 1))
    return range(-INTEGER_MAX, INTEGER_MAX + 1)


def sql_type(name: str) -> str:
    """The type of a column in SQL; integers are read as 64 bits."""
    kind = "string" if name == "broker" else str(ROW_SCHEMA.field(name).type)
    return "bigint" if kind.startswith("int") else "boolean" if kind == "bool" else "string"


def describe_column(column: pa.Field) -> str:
    """What a column holds, in words."""
    if not pa.types.is_integer(column.type):
        return str(column.type)
    span = column_range(column.name)
    return f"{column.type} from {span[0]} to {span[-1]}"


# --- format
# What a row of a trace says: of each event which columns it needs, and which it may leave out.


@dataclass(frozen=True)
class EventFormat:
    """The rows of one op.

    `causes`: what `cause` may be; empty: it is null. `when` the row is written. `needs`: the columns without which the
    row says nothing, beside `broker`, `seq`, `ts_ns`, `op` and `bytes_after`, which every row has; with causes `cause`
    is one. `may`: those that it has where the recorder knows them.
    """

    op: str
    causes: tuple[str, ...]
    when: str
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


@dataclass(frozen=True)
class TraceFormat:
    """The rows of one system's traces.

    `means`: of each column that they use what it holds; `example`: the rule whose example shows a trace.
    """

    events: tuple[EventFormat, ...]
    means: Mapping[str, str]
    example: str

    @property
    def by_op(self) -> dict[str, EventFormat]:
        """The events by their op."""
        return {event.op: event for event in self.events}


REQUIRED_COLUMNS = ("broker", "seq", "ts_ns", "op", "bytes_after")
"""What every row has."""

OPTIONAL_COLUMNS = ("call_id", "manager_bytes")
"""What every row may have."""


# --- systems
# Which system a trace is of that does not say.

DEFAULT_SYSTEM: Final = pulsar_pip430.NAME
