"""The checker of one broker of `pulsar-legacy`: each batch goes through every family of rules in turn.

`check_broker` is the entry point. Rules that `pulsar-pip430` has too are decided by its loops, which set flags of their
own; `SAME` in `rows` maps them to the rules of this system.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from entrycache_spark.checkers.batches import EffectiveSettings, SettingsSource, SettingValues, widen
from entrycache_spark.checkers.events import EventKinds, Events, check_batches, counters_at
from entrycache_spark.checkers.primitives import NULL, flag, new_flags
from entrycache_spark.checkers.pulsar_legacy import rows as own
from entrycache_spark.checkers.pulsar_legacy.passes import Shares, check_passes, new_passes, no_taken
from entrycache_spark.checkers.pulsar_legacy.reads import check_reads, end_reads, new_reads
from entrycache_spark.checkers.pulsar_legacy.rows import check_offers, check_own_rows, new_offers
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.lives import CARRIED_FIELDS, MAX_REMOVED, Lives, check_carried
from entrycache_spark.checkers.pulsar_pip430.order import (
    METRIC_FIELDS,
    OPEN_SO_FAR,
    OPENED,
    ORDER_FIELDS,
    Totals,
    add_totals,
    check_order,
    end_order,
    new_sums,
)
from entrycache_spark.checkers.pulsar_pip430.reads import Places
from entrycache_spark.checkers.pulsar_pip430.removals import ENTRY_FIELDS, Removals
from entrycache_spark.checkers.pulsar_pip430.rows import Rows, check_single_rows, vocabulary
from entrycache_spark.common.system import CheckerResult
from entrycache_spark.systems.pulsar_legacy import KINDS, SETTING_COLUMNS, by_object, setting_values
from entrycache_trace.files import Metadata
from entrycache_trace.jit import Array

PLAIN: Final = frozenset("L-STATE-2 L-STATE-3 L-TRIGGER-1 L-TRIGGER-3 L-TRIGGER-6".split())
"""Rules of single rows and of time; they hold even if the beginning or other events are missing."""

COLUMNS: Final = (
    *("size_bytes", "entry_id", "life", "call_id", "pass_id", "bound", "stamp_ns", "trigger_bytes", "target_bytes"),
    *("tail_no", "head_no", "cache"),
)
"""The columns for which rules ask whether they are null."""

MISSES_KEPT: Final = 1
"""The number of misses kept: no rule asks for a miss of another call."""

SETTINGS: Final = SettingsSource(KINDS, SETTING_COLUMNS, setting_values)


def check_broker(
    batches: Iterator[pa.RecordBatch], metadata: Metadata, max_removed: int = MAX_REMOVED
) -> CheckerResult:
    """Check the events of one broker; `max_removed` bounds the number of ended lives that are kept.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    return check_batches(LegacyBrokerChecker(metadata, max_removed), batches)


class LegacyBrokerChecker:
    """The state of the checker for one broker; `_theirs` holds the flags of loops of `pulsar-pip430`."""

    def __init__(self, metadata: Metadata, max_removed: int) -> None:
        self._flags, self._theirs = new_flags(len(own.OWN)), new_flags(len(w.RULES))
        self._many, self._virtual = metadata.many_threads, metadata.clock == "virtual"
        self._sampled, self._by_object = metadata.sampled, by_object(metadata)
        names = vocabulary()
        effective, kinds = (
            EffectiveSettings(SETTINGS, w.CONFIG, _select_values),
            EventKinds(names, COLUMNS, (w.METRICS, w.END)),
        )
        self._events = Events(Rows, names, effective, kinds)
        self._order, self._sums, self._totals = np.full(ORDER_FIELDS, NULL), new_sums(), Totals()
        self._lives, self._places, self._removals = Lives(max_removed), Places(MISSES_KEPT), Removals()
        self._carried, self._entries = np.zeros((0, CARRIED_FIELDS), np.int64), np.zeros((0, ENTRY_FIELDS), np.int64)
        self._offers, self._reads, self._passes, self._taken = new_offers(), new_reads(), new_passes(), no_taken(16)
        self._shares = Shares()

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp, UsageError: see `check_broker`.
        """
        c, settings = self._events.read(batch)
        there = _there(settings)
        check_order(c, there, self._many, self._virtual, self._order, self._theirs)
        check_single_rows(c, there, self._many, self._virtual, self._theirs)
        check_own_rows(c, settings, self._flags)
        check_offers(c, settings, self._offers, self._flags)
        self._follow_entries(c)
        self._shares.follow(c, self._events.names["cache"], self._flags)
        self._check_counters(c, settings, there, batch)

    def _follow_entries(self, c: Rows) -> None:
        numbers, how = self._lives.number(c, self._theirs)
        room, caches = self._lives.room, len(self._events.names["cache"])
        if room > len(self._entries):
            self._carried, self._entries = (widen(table, room) for table in (self._carried, self._entries))
        check_carried(c, numbers, how, self._virtual, False, self._carried, self._theirs)
        present = self._places.follow(c, self._many, self._theirs)
        below = self._removals.follow(c, numbers, how, self._entries, caches, self._theirs)
        if caches > len(self._taken):
            self._taken = np.concatenate((self._taken, no_taken(caches)))
        check_passes(c, below, self._passes, self._taken, self._flags)
        check_reads(c, numbers, present, below, self._by_object, self._reads, self._flags)
        self._lives.freed()

    def _check_counters(self, c: Rows, settings: Array, there: Array, batch: pa.RecordBatch) -> None:
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        add_totals(c, there, self._sums, np.zeros((len(at), METRIC_FIELDS), np.int64))
        for i, counters in counters_at(batch, at):
            if c.op[i] == w.END:
                self._totals.check_end(int(c.seq[i]), counters, int(c.bytes_after[i]), self._theirs)
            self._events.kinds.count_metered(c, i, settings, counters)

    def end(self) -> CheckerResult:
        """Return the result after the last event."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        opened = self._order[OPENED] == 1
        end_order(self._order, self._many, self._theirs)
        end_reads(self._reads, self._by_object, self._flags)
        self._removals.end(self._entries, self._theirs)
        if self._lives.unborn != NULL and whole.starts:
            flag(self._theirs, w.STATE_8, self._lives.unborn)
        self._totals.end(self._sums, whole.starts and not opened, whole.all and whole.ended, False, self._theirs)
        clean = self._clean()
        decided = clean if whole.all and not opened else clean & PLAIN
        return self._events.result(whole, decided, opened=bool(opened), open_bytes=int(self._order[OPEN_SO_FAR]))

    def _clean(self) -> frozenset[str]:
        """Return the rules that no loop has flagged, neither of this system nor of the shared rules."""
        flagged = {rule for rule, flag_values in zip(own.OWN, self._flags, strict=True) if flag_values[0]}
        flagged |= {rule for rule, others in own.SAME.items() if any(self._theirs[other, 0] for other in others)}
        return frozenset(own.RULES) - flagged


def _there(settings: Array) -> Array:
    """Return the settings as the loops of `pulsar-pip430` expect them; settings of that system alone are null."""
    values = np.full((len(settings), w.STORAGE + 1), NULL)
    values[:, own.THERE] = settings[:, : len(own.THERE)]
    return values


def _select_values(settings: SettingValues) -> SettingValues:
    return {"manual": settings["manual"]}
