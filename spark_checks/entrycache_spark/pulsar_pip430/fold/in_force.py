"""The settings that are in force at each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from entrycache_spark.fold import GivenUp, Kind
from entrycache_spark.parts import ConfigObject
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.rows import Rows
from entrycache_spark.pulsar_pip430.fold.words import NULL
from entrycache_spark.pulsar_pip430.settings import KINDS, SETTING_COLUMNS, setting_values
from entrycache_spark.settings import config_of, untold_of
from entrycache_trace.compiled import Array

CHANGES_MOST: Final = 10_000


class InForce:
    """The settings at the end of the last batch, and the classes of settings that were met.

    A class is what rules are asked about by: whether passes are manual, whether fills have ranks, what is not named.
    """

    def __init__(self) -> None:
        self.unread = False
        self._now = [NULL] * len(SETTING_COLUMNS) + [0]
        self._first: ConfigObject | None = None
        self._changes = 0
        self._classes: dict[tuple[Any, ...], int] = {(None, None, frozenset()): 0}

    def follow(self, c: Rows, batch: pa.RecordBatch) -> tuple[Array, Array]:
        """The settings that are in force in a batch, a row each, and which of them is at each event.

        Raises:
            GivenUp: they change too often.
            UsageError: a CONFIG is none.
        """
        changes = c.op == w.CONFIG
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
        config = config_of(text, KINDS, where)
        if self._changes == 1:
            self._first = config
        self.unread |= config is None
        values = setting_values([self._first, config])[-1]
        told = dict(zip(SETTING_COLUMNS, values, strict=True))
        untold = frozenset() if config is None else frozenset(untold_of(config, KINDS))
        number = self._classes.setdefault((told["manual"], told["ranks"], untold), len(self._classes))
        return [*(NULL if value is None else int(value) for value in values), number]

    def kind(self, row: Mapping[str, Any], number: int, events: int) -> Kind:
        """Events of a class of settings."""
        manual, ranks, untold = list(self._classes)[number]
        return Kind({**row, "manual": manual, "ranks": ranks}, untold, events)
