"""The columns of a recorded trace, schema version 1: one row is one event of one broker's cache.

All systems share the columns. `ROW_SCHEMA` gives their types, and `column_range` the integers that each may hold. What
an event of one system looks like is a `TraceFormat`: for each op an `EventFormat` with the columns that its rows need
and those that they may have. The modules of `entrycache_trace.formats` fill it in; `trace check` and the page about the
format read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from entrycache_reference import rules, vocabulary

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
        pa.field("read_id", pa.int64()),
        pa.field("ask_id", pa.int64()),
        pa.field("last_entry_id", pa.int64()),
        pa.field("permits", pa.int64()),
        *(pa.field(name, pa.int64()) for name in ("window_start", "window_end")),
        pa.field("store_kind", pa.string()),
        *(pa.field(name, pa.int64()) for name in ("value_hash", "old_hash")),
    ]
)
"""The columns inside a Parquet part. `broker`, the first column of a row, is the name of the part's folder."""

ADDED_COLUMNS: Final = frozenset(
    {
        *("read_id", "ask_id", "last_entry_id", "permits"),
        *("window_start", "window_end", "store_kind", "value_hash", "old_hash"),
    }
)
"""The columns that older traces lack. A file without one is read as if all its values were null."""

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
"""The columns of `violations.parquet`: a row has the offending event and the events that show the violation."""

TIME_COLUMNS: Final = frozenset({"ts_ns", "stamp_ns", "new_stamp_ns", "bound"})
"""Columns in nanoseconds; `bound` is bytes in a size pass."""


def column_range(name: str) -> range:
    """Return the integers that a column may hold.

    Ordinals, counts and bytes have the range of numbers in a case. The difference of any two times must fit into 64
    bits. A hash may be any number of 64 bits.
    """
    width = ROW_SCHEMA.field(name).type.bit_width
    if name in TIME_COLUMNS:
        return range(-(1 << 62), (1 << 62) + 1)
    if width < 64 or name.endswith("_hash"):
        return range(-(1 << (width - 1)), 1 << (width - 1))
    return range(-vocabulary.INTEGER_MAX, vocabulary.INTEGER_MAX + 1)


def sql_type(name: str) -> str:
    """Return the SQL type of a column; SQL reads all integers as 64 bits."""
    kind = "string" if name == "broker" else str(ROW_SCHEMA.field(name).type)
    return "bigint" if kind.startswith("int") else "boolean" if kind == "bool" else "string"


def describe_column(column: pa.Field) -> str:
    """Describe the values of a column in words."""
    if not pa.types.is_integer(column.type):
        return str(column.type)
    span = column_range(column.name)
    return f"{column.type} from {span[0]} to {span[-1]}"


@dataclass(frozen=True)
class EventFormat:
    """The format of the rows of one op.

    Attributes:
        op: The name of the event.
        causes: The values that `cause` may have; with none of them, `cause` is null.
        when: The moment at which the recorder writes the row, in words.
        needs: The columns that the row must have besides `REQUIRED_COLUMNS`; with causes, `cause` is one of them.
        may: The columns that the row has if the recorder knows them.
    """

    op: str
    causes: tuple[str, ...]
    when: str
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


@dataclass(frozen=True)
class TraceFormat:
    """The format of one system's traces.

    Attributes:
        events: The format of each event.
        means: The meaning of each column that the rows use.
        example: The rule whose example is shown as a trace.
    """

    events: tuple[EventFormat, ...]
    means: Mapping[str, str]
    example: str

    @property
    def by_op(self) -> dict[str, EventFormat]:
        """The events by op."""
        return {event.op: event for event in self.events}


REQUIRED_COLUMNS = ("broker", "seq", "ts_ns", "op", "bytes_after")
"""The columns that every row has."""

OPTIONAL_COLUMNS = ("call_id", "manager_bytes")
"""The columns that every row may have."""

DEFAULT_SYSTEM: Final = rules.SYSTEM_NAMES[0]
"""The system of a trace whose metadata do not name one."""
