"""The checker of one broker of `pulsar-segmented`: each batch goes through every family of rules in turn.

`check_broker` is the entry point, and `RingChecker` keeps the state of all families between two batches. A rule is
clean if no family has flagged it; where events are missing only the rules of `ALONE` can be clean.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from entrycache_spark.checkers import events, primitives
from entrycache_spark.checkers.batches import EffectiveSettings, SettingsSource, SettingValues
from entrycache_spark.checkers.pulsar_segmented import entries, rows, segments
from entrycache_spark.checkers.pulsar_segmented import rows as w
from entrycache_spark.common.system import CheckerResult
from entrycache_spark.systems.pulsar_segmented import KINDS, SETTING_COLUMNS, setting_values
from entrycache_trace.files import Metadata

ALONE: Final = frozenset("S-CONFIG-1 S-CONFIG-2 S-INSERT-3 S-INSERT-4 S-INSERT-5 S-LIVENESS-1 S-SEGMENT-1".split())
"""Rules that need no earlier event, or only the one before; they hold even if events are missing."""

COLUMNS: Final = (
    *("size_bytes", "entry_id", "life", "key_hash", "pass_id", "bound", "trigger_bytes", "manager_bytes", "cache"),
)
"""The columns for which rules ask whether they are null."""

SETTINGS: Final = SettingsSource(KINDS, SETTING_COLUMNS, setting_values)

METERED: Final = (w.METRICS, w.END)
"""Both are counted with their counters: rules ask which of them have totals, and whether anything is cached at END."""


def check_broker(batches: Iterator[pa.RecordBatch], metadata: Metadata, kept: int = entries.MIN_LIVES) -> CheckerResult:
    """Check the events of one broker; at least `kept` lives, a power of 2, are kept.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    return events.check_batches(RingChecker(metadata, kept), batches)


class RingChecker:
    """The state of the checker for one broker between two batches."""

    def __init__(self, metadata: Metadata, kept: int = entries.MIN_LIVES) -> None:
        self.flags = primitives.new_flags(len(rows.RULES))
        self._many, self._sampled = metadata.many_threads, metadata.sampled
        names = rows.vocabulary()
        effective, kinds = (
            EffectiveSettings(SETTINGS, w.CONFIG, _select_values),
            events.EventKinds(names, COLUMNS, METERED),
        )
        self._events = events.Events(rows.Rows, names, effective, kinds)
        self._order, self._ranges = (
            np.full(rows.ORDER_FIELDS, primitives.NULL),
            np.full(entries.RANGE_FIELDS, primitives.NULL),
        )
        self._turns, self._entries, self._offsets = segments.Turns(), entries.Entries(kept), segments.Offsets()
        self._places, self._totals = entries.Places(), entries.Totals()
        self._open_bytes, self._opened = 0, False

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp, UsageError: see `check_broker`.
        """
        c, settings = self._events.read(batch)
        rows.check_single_rows(c, settings, self.flags)
        rows.check_order(c, self._many, self._order, self.flags)
        entries.check_ranges(c, self._ranges, self.flags)
        turned = self._turns.follow(c, settings, self.flags)
        left = self._entries.follow(c, settings, turned, self.flags)
        self._offsets.follow(c, settings, turned, left, self.flags)
        self._places.follow(c, self.flags)
        self._totals.follow(c, settings, turned, left, batch, self.flags)
        self._note_opening(c)
        for i, counters in events.counters_at(batch, np.flatnonzero(np.isin(c.op, METERED))):
            self._events.kinds.count_metered(c, i, settings, counters)

    def _note_opening(self, c: rows.Rows) -> None:
        sizes = c.size_bytes[(c.op == w.SNAPSHOT) & (c.cause == w.BY_OPEN)]
        self._opened |= len(sizes) > 0
        self._open_bytes += sum(sizes[sizes != primitives.NULL].tolist())

    def end(self) -> CheckerResult:
        """Return the result after the last event."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        clean = frozenset(rule for rule, own in zip(rows.RULES, self.flags, strict=True) if not own[0])
        decided = clean if whole.all and not self._opened else clean & ALONE
        return self._events.result(whole, decided, opened=self._opened, open_bytes=self._open_bytes)


def _select_values(settings: SettingValues) -> SettingValues:
    return {"named": settings["named"], "copies": settings["copies"]}
