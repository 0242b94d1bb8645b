"""The settings that are in force at each event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from entrycache_spark.fold import GivenUp, Kind
from entrycache_spark.loops.words import NULL
from entrycache_spark.parts import ConfigObject
from entrycache_spark.settings import config_of, untold_of
from entrycache_trace.compiled import Array

CHANGES_MOST: Final = 10_000

Settings = Mapping[str, Any]
"""By their columns: those of the system, `limit_now` and `limit_before`; None for what is not told."""


class Told(NamedTuple):
    """The settings of a system, the columns made of them, and their values, as its `AuditParts` have them."""

    kinds: Mapping[str, type]
    columns: Iterable[str]
    values: Callable[[Sequence[ConfigObject | None]], Sequence[tuple[Any, ...]]]


class InForce:
    """The settings at the end of the last batch, and the classes of settings that were met.

    A row of their table has the columns of the system in their order, `limit_now`, `limit_before`, and the number of
    the class. A class is what rules are asked about by: what `asked` makes of the settings, and what is not named.
    `config`: the number of the op.
    """

    def __init__(self, told: Told, config: int, asked: Callable[[Settings], Settings]) -> None:
        self.unread = False
        self._told, self._config, self._asked = told, config, asked
        self._columns = (*told.columns, "limit_now", "limit_before")
        self._now = [NULL] * len(self._columns) + [0]
        self._first: ConfigObject | None = None
        self._limit: int | None = None
        self._changes = 0
        self._classes: dict[tuple[Any, ...], int] = {}
        self._class_of(dict.fromkeys(self._columns), frozenset())

    def follow(self, c: Any, batch: pa.RecordBatch) -> tuple[Array, Array]:
        """The settings that are in force in a batch, a row each, and which of them is at each event.

        Raises:
            GivenUp: they change too often.
            UsageError: a CONFIG is none.
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
        if self._changes > CHANGES_MOST:
            raise GivenUp("settings change too often")
        config = config_of(text, self._told.kinds, where)
        if self._changes == 1:
            self._first = config
        self.unread |= config is None
        limit = None if config is None else config["max_size_bytes"]
        values = (*self._told.values([self._first, config])[-1], limit, self._limit)
        self._limit = limit
        untold = frozenset() if config is None else frozenset(untold_of(config, self._told.kinds))
        number = self._class_of(dict(zip(self._columns, values, strict=True)), untold)
        return [*(NULL if value is None else int(value) for value in values), number]

    def _class_of(self, settings: Settings, untold: frozenset[str]) -> int:
        key = (tuple(self._asked(settings).items()), untold)
        return self._classes.setdefault(key, len(self._classes))

    def kind(self, row: Mapping[str, Any], number: int, events: int) -> Kind:
        """Events of a class of settings."""
        asked, untold = list(self._classes)[number]
        return Kind({**row, **dict(asked)}, untold, events)
