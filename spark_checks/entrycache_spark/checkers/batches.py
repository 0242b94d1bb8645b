"""The events of a batch as arrays, with the span of the trace and the effective settings.

Compiled loops read one array a column. `TextNumbers` replaces texts by numbers, and `read_arrays` converts a batch to
the `Rows` of a system. `Span` tracks the first and the last event, and detects gaps. `EffectiveSettings` reads the
CONFIG events and tells which settings are effective at each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from entrycache_spark.checkers.primitives import NULL
from entrycache_spark.common.system import CheckerGaveUp, ConfigObject, EventKind, parse_config, unnamed_settings
from entrycache_trace.jit import Array

TEXTS: Final = ("op", "cause", "origin", "cache", "cursor")
FLAGS: Final = ("accessed", "extend_accessed", "dirty")
SETTINGS: Final = "settings"

R = TypeVar("R", bound=NamedTuple)


class TextNumbers:
    """The numbers of texts: texts that rules mention come first, from 1; 0 is null."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(known, 1)}

    def __len__(self) -> int:
        return len(self.numbers) + 1

    def of(self, column: pa.Array) -> Array:
        """Return the numbers of a column's texts."""
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        table = [self.numbers.setdefault(text, len(self.numbers) + 1) for text in column.dictionary.to_pylist()]
        indices = column.indices
        if indices.null_count:
            indices = pc.fill_null(indices, len(table))
        return np.array([*table, 0], np.int32)[indices.to_numpy()]

    def all_texts(self) -> list[str | None]:
        """Return the texts by number."""
        return [None, *self.numbers]


def read_arrays(batch: pa.RecordBatch, names: Mapping[str, TextNumbers], kind: type[R]) -> R:
    """Return the arrays of a batch, one for each field of `kind`; the caller fills in the settings.

    Integers have 64 bits and are `NULL` where null. Flags are 1, 0, and -1 where null. Texts are numbers of `names`.

    Raises:
        CheckerGaveUp: a value equals the number that stands for null.
    """
    arrays: dict[str, Any] = {}
    for name in kind._fields:
        if name == SETTINGS:
            arrays[name] = np.zeros(len(batch), np.int32)
        elif name in TEXTS:
            arrays[name] = names[name].of(batch.column(name))
        elif name in FLAGS:
            arrays[name] = pc.fill_null(batch.column(name).cast(pa.int8()), -1).to_numpy()
        else:
            arrays[name] = _integers(batch.column(name))
            if name == "key_hash" and np.count_nonzero(arrays[name] == NULL) != batch.column(name).null_count:
                raise CheckerGaveUp(f"a {name} is the number that stands for null")
    row_type: Any = kind  # the fields of a NamedTuple that is not known here
    return row_type(**arrays)


def _integers(column: pa.Array) -> Array:
    if column.type.bit_width != 64:
        column = column.cast(pa.int64())
    if column.null_count == len(column):
        nulls = np.full(len(column), NULL, np.int64)
        nulls.setflags(write=False)  # as those of Arrow: arrays of another kind would be compiled for once more
        return nulls
    return (pc.fill_null(column, NULL) if column.null_count else column).to_numpy()


def widen(table: Array, room: int) -> Array:
    """Return a table with room for so many rows; the new rows are 0."""
    return np.concatenate((table, np.zeros((room - len(table), *table.shape[1:]), table.dtype)))


# ---------- the first and the last event


class Span:
    """The first and the last event so far, and the number of events."""

    def __init__(self) -> None:
        self.rows, self.first_seq, self.last_seq = 0, 0, 0
        self._first_op, self._last_op = 0, 0

    def follow(self, c: Any) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp: an event is there twice, or out of order.
        """
        if (c.seq[1:] <= c.seq[:-1]).any() or (self.rows and c.seq[0] <= self.last_seq):
            raise CheckerGaveUp("an event is there twice, or is not in order")
        if not self.rows:
            self.first_seq, self._first_op = int(c.seq[0]), int(c.op[0])
        self.rows += len(c.seq)
        self.last_seq, self._last_op = int(c.seq[-1]), int(c.op[-1])

    def end(self, config: int, end: int, sampled: bool) -> Completeness:
        """Return what the span says about the whole trace; `config` and `end` are the numbers of these ops."""
        gapped = sampled or self.rows != self.last_seq - self.first_seq + 1
        return Completeness(self._first_op == config, self._last_op == end, gapped)


class Completeness(NamedTuple):
    """The completeness of a trace: it starts with CONFIG, ends with END, and has a gap."""

    starts: bool
    ended: bool
    gapped: bool

    @property
    def all(self) -> bool:
        """True if no event is missing since the start."""
        return self.starts and not self.gapped


# ---------- effective settings

MAX_CHANGES: Final = 10_000

SettingValues = Mapping[str, Any]
"""Setting values by column: those of the system, `limit_now` and `limit_before`; None for an unknown value."""


class SettingsSource(NamedTuple):
    """The settings of a system, their columns and the function that computes their values."""

    kinds: Mapping[str, type]
    columns: Iterable[str]
    values: Callable[[Sequence[ConfigObject | None]], Sequence[tuple[Any, ...]]]


class EffectiveSettings:
    """The settings at the end of the last batch, and the classes of settings so far.

    A row of the settings table holds the columns of the system, `limit_now`, `limit_before`, and the number of the
    class. A class combines the values that rules ask for, which `select_values` selects, and the settings that the
    CONFIG lacks. `config` is the number of the op CONFIG.
    """

    def __init__(
        self, source: SettingsSource, config: int, select_values: Callable[[SettingValues], SettingValues]
    ) -> None:
        self.unread = False
        self._source, self._config, self._select_values = source, config, select_values
        self._columns = (*source.columns, "limit_now", "limit_before")
        self._now = [NULL] * len(self._columns) + [0]
        self._first: ConfigObject | None = None
        self._limit: int | None = None
        self._changes = 0
        self._classes: dict[tuple[Any, ...], int] = {}
        self._class_of(dict.fromkeys(self._columns), frozenset())

    def follow(self, c: Any, batch: pa.RecordBatch) -> tuple[Array, Array]:
        """Return the table of settings that are effective in a batch, and the row of this table for each event.

        Raises:
            CheckerGaveUp: the settings change too often.
            UsageError: a CONFIG is no config object.
        """
        changes = c.op == self._config
        at = np.flatnonzero(changes)
        table = [self._now]
        texts = batch.column("value").take(pa.array(at)).cast(pa.string()).to_pylist() if len(at) else []
        for i, text in zip(at, texts, strict=True):
            table.append(self._change(text, f"seq {c.seq[i]}"))
        self._now = table[-1]
        numbers = np.cumsum(changes, dtype=np.int32) if len(at) else np.zeros(len(changes), np.int32)
        return np.array(table, np.int64), numbers

    def _change(self, text: str | None, where: str) -> list[int]:
        self._changes += 1
        if self._changes > MAX_CHANGES:
            raise CheckerGaveUp("settings change too often")
        config = parse_config(text, self._source.kinds, where)
        if self._changes == 1:
            self._first = config
        self.unread |= config is None
        limit = None if config is None else config["max_size_bytes"]
        values = (*self._source.values([self._first, config])[-1], limit, self._limit)
        self._limit = limit
        untold = frozenset() if config is None else frozenset(unnamed_settings(config, self._source.kinds))
        number = self._class_of(dict(zip(self._columns, values, strict=True)), untold)
        return [*(NULL if value is None else int(value) for value in values), number]

    def _class_of(self, settings: SettingValues, untold: frozenset[str]) -> int:
        key = (tuple(self._select_values(settings).items()), untold)
        return self._classes.setdefault(key, len(self._classes))

    def kind(self, row: Mapping[str, Any], number: int, events: int) -> EventKind:
        """Return the kind for events of a class of settings."""
        values, untold = list(self._classes)[number]
        return EventKind({**row, **dict(values)}, untold, events)
