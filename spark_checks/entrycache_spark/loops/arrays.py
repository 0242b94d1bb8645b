"""A batch of a broker's events as the loops read it: one array a column, texts as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from entrycache_spark.fold import GivenUp
from entrycache_spark.loops.words import NULL
from entrycache_trace.compiled import Array

TEXTS: Final = ("op", "cause", "origin", "cache", "cursor")
FLAGS: Final = ("accessed", "extend_accessed", "dirty")
SETTINGS: Final = "settings"

R = TypeVar("R", bound=NamedTuple)


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


def rows_of(batch: pa.RecordBatch, names: Mapping[str, Names], kind: type[R]) -> R:
    """The arrays of a batch, a field of `kind` each; the settings are filled in by whoever reads them.

    Integers have 64 bits, and are `NULL` where null; flags are 1, 0, and -1 where null; texts are numbers of `names`.

    Raises:
        GivenUp: a value is what stands for null.
    """
    found: dict[str, Any] = {}
    for name in kind._fields:
        if name == SETTINGS:
            found[name] = np.zeros(len(batch), np.int32)
        elif name in TEXTS:
            found[name] = names[name].of(batch.column(name))
        elif name in FLAGS:
            found[name] = pc.fill_null(batch.column(name).cast(pa.int8()), -1).to_numpy()
        else:
            found[name] = _integers(batch.column(name))
            if name == "key_hash" and np.count_nonzero(found[name] == NULL) != batch.column(name).null_count:
                raise GivenUp(f"a {name} is the number that stands for null")
    made: Any = kind  # the fields of a NamedTuple that is not known here
    return made(**found)


def _integers(column: pa.Array) -> Array:
    if column.type.bit_width != 64:
        column = column.cast(pa.int64())
    if column.null_count == len(column):
        found = np.full(len(column), NULL, np.int64)
        found.setflags(write=False)  # as those of Arrow: arrays of another kind would be compiled for once more
        return found
    return (pc.fill_null(column, NULL) if column.null_count else column).to_numpy()


def widened(table: Array, room: int) -> Array:
    """A table with room for so many rows; the new ones are 0."""
    return np.concatenate((table, np.zeros((room - len(table), *table.shape[1:]), table.dtype)))
