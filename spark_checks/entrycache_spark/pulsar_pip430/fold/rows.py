"""A batch of a broker's events as the loops read it: one array a column, texts as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from entrycache_spark.pulsar_pip430.fold.words import CAUSES, NULL, OPS, ORIGINS
from entrycache_trace.compiled import Array

TEXTS: Final = ("op", "cause", "origin", "cache", "cursor")
FLAGS: Final = ("accessed", "extend_accessed")


class Rows(NamedTuple):
    """Integers have 64 bits, and are `NULL` where null; flags are 1, 0, and -1 where null; texts are numbers of names.

    `settings`: which row of the batch's table of settings is in force.
    """

    seq: Array
    ts_ns: Array
    op: Array
    cause: Array
    origin: Array
    cache: Array
    ledger_id: Array
    entry_id: Array
    life: Array
    size_bytes: Array
    expected_reads: Array
    requeues: Array
    accessed: Array
    stamp_ns: Array
    new_stamp_ns: Array
    pass_id: Array
    call_id: Array
    bound: Array
    max_requeues: Array
    extend_accessed: Array
    trigger_bytes: Array
    target_bytes: Array
    bytes_after: Array
    manager_bytes: Array
    tail_no: Array
    head_no: Array
    ticket: Array
    cursor: Array
    settings: Array


class Names:
    """Texts and their numbers: those that rules speak of come first, from 1; 0 is null."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(known, 1)}

    def __len__(self) -> int:
        return len(self.numbers) + 1

    def of(self, column: pa.Array) -> Array:
        """The numbers of a column's texts."""
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        table = [self.numbers.setdefault(text, len(self.numbers) + 1) for text in column.dictionary.to_pylist()]
        indices = column.indices
        if indices.null_count:
            indices = pc.fill_null(indices, len(table))
        return np.array([*table, 0], np.int32)[indices.to_numpy()]

    def listed(self) -> list[str | None]:
        """The texts by number."""
        return [None, *self.numbers]


class Vocabulary(NamedTuple):
    """The names of one broker's texts."""

    op: Names
    cause: Names
    origin: Names
    cache: Names
    cursor: Names


def vocabulary() -> Vocabulary:
    """Names as a broker begins with them."""
    return Vocabulary(Names(OPS), Names(CAUSES), Names(ORIGINS), Names(), Names())


def rows_of(batch: pa.RecordBatch, names: Vocabulary) -> Rows:
    """The arrays of a batch; the settings are filled in by whoever reads them."""
    found: dict[str, Any] = {}
    for name in Rows._fields[:-1]:
        column = batch.column(name)
        if name in TEXTS:
            found[name] = getattr(names, name).of(column)
        elif name in FLAGS:
            found[name] = _flags(column)
        else:
            found[name] = _integers(column)
    return Rows(**found, settings=np.zeros(len(batch), np.int32))


def _integers(column: pa.Array) -> Array:
    if column.type.bit_width != 64:
        column = column.cast(pa.int64())
    if column.null_count == len(column):
        found = np.full(len(column), NULL, np.int64)
        found.setflags(write=False)  # as those of Arrow: arrays of another kind would be compiled for once more
        return found
    return (pc.fill_null(column, NULL) if column.null_count else column).to_numpy()


def _flags(column: pa.Array) -> Array:
    return pc.fill_null(column.cast(pa.int8()), -1).to_numpy()
