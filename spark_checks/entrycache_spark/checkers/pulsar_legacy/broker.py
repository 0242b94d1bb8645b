"""The checker of one broker of `pulsar-legacy`: each batch goes through every family of rules in turn.

`check_broker` is the entry point. Rules that `pulsar-pip430` has too are decided by its loops, which set flags of their
own; `SAME` in `rows` maps them to the rules of this system.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from entrycache_spark.checkers import events, primitives
from entrycache_spark.checkers.batches import EffectiveSettings, SettingsSource, SettingValues, widen
from entrycache_spark.checkers.pulsar_legacy import passes, reads, rows
from entrycache_spark.checkers.pulsar_legacy import rows as own
from entrycache_spark.checkers.pulsar_pip430 import lives, order, removals
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.checkers.pulsar_pip430.reads import Places
from entrycache_spark.checkers.pulsar_pip430.rows import Rows, check_single_rows, vocabulary
from entrycache_spark.common.system import CheckerResult
from entrycache_spark.systems.pulsar_legacy import KINDS, SETTING_COLUMNS, by_object, setting_values
from entrycache_trace import files, jit

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
    batches: Iterator[pa.RecordBatch], metadata: files.Metadata, max_removed: int = lives.MAX_REMOVED
) -> CheckerResult:
    """Check the events of one broker; `max_removed` bounds the number of ended lives that are kept.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    return events.check_batches(LegacyBrokerChecker(metadata, max_removed), batches)


class LegacyBrokerChecker:
    """The state of the checker for one broker; `_theirs` holds the flags of loops of `pulsar-pip430`."""

    def __init__(self, metadata: files.Metadata, max_removed: int) -> None:
        self._flags, self._theirs = primitives.new_flags(len(own.OWN)), primitives.new_flags(len(w.RULES))
        self._many, self._virtual = metadata.many_threads, metadata.clock == "virtual"
        self._sampled, self._by_object = metadata.sampled, by_object(metadata)
        names = vocabulary()
        effective, kinds = (
            EffectiveSettings(SETTINGS, w.CONFIG, _select_values),
            events.EventKinds(names, COLUMNS, (w.METRICS, w.END)),
        )
        self._events = events.Events(Rows, names, effective, kinds)
        self._order, self._sums, self._totals = (
            np.full(order.ORDER_FIELDS, primitives.NULL),
            order.new_sums(),
            order.Totals(),
        )
        self._lives, self._places, self._removals = lives.Lives(max_removed), Places(MISSES_KEPT), removals.Removals()
        self._carried, self._entries = (
            np.zeros((0, lives.CARRIED_FIELDS), np.int64),
            np.zeros((0, removals.ENTRY_FIELDS), np.int64),
        )
        self._offers, self._reads, self._passes, self._taken = (
            rows.new_offers(),
            reads.new_reads(),
            passes.new_passes(),
            passes.no_taken(16),
        )
        self._shares = passes.Shares()

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp, UsageError: see `check_broker`.
        """
        c, settings = self._events.read(batch)
        there = _there(settings)
        order.check_order(c, there, self._many, self._virtual, self._order, self._theirs)
        check_single_rows(c, there, self._many, self._virtual, self._theirs)
        rows.check_own_rows(c, settings, self._flags)
        rows.check_offers(c, settings, self._offers, self._flags)
        self._follow_entries(c)
        self._shares.follow(c, self._events.names["cache"], self._flags)
        self._check_counters(c, settings, there, batch)

    def _follow_entries(self, c: Rows) -> None:
        numbers, how = self._lives.number(c, self._theirs)
        room, caches = self._lives.room, len(self._events.names["cache"])
        if room > len(self._entries):
            self._carried, self._entries = (widen(table, room) for table in (self._carried, self._entries))
        lives.check_carried(c, numbers, how, self._virtual, False, self._carried, self._theirs)
        present = self._places.follow(c, self._many, self._theirs)
        below = self._removals.follow(c, numbers, how, self._entries, caches, self._theirs)
        if caches > len(self._taken):
            self._taken = np.concatenate((self._taken, passes.no_taken(caches)))
        passes.check_passes(c, below, self._passes, self._taken, self._flags)
        reads.check_reads(c, numbers, present, below, self._by_object, self._reads, self._flags)
        self._lives.freed()

    def _check_counters(self, c: Rows, settings: jit.Array, there: jit.Array, batch: pa.RecordBatch) -> None:
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        order.add_totals(c, there, self._sums, np.zeros((len(at), order.METRIC_FIELDS), np.int64))
        for i, counters in events.counters_at(batch, at):
            if c.op[i] == w.END:
                self._totals.check_end(int(c.seq[i]), counters, int(c.bytes_after[i]), self._theirs)
            self._events.kinds.count_metered(c, i, settings, counters)

    def end(self) -> CheckerResult:
        """Return the result after the last event."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        opened = self._order[order.OPENED] == 1
        order.end_order(self._order, self._many, self._theirs)
        reads.end_reads(self._reads, self._by_object, self._flags)
        self._removals.end(self._entries, self._theirs)
        if self._lives.unborn != primitives.NULL and whole.starts:
            primitives.flag(self._theirs, w.STATE_8, self._lives.unborn)
        self._totals.end(self._sums, whole.starts and not opened, whole.all and whole.ended, False, self._theirs)
        clean = self._clean()
        decided = clean if whole.all and not opened else clean & PLAIN
        return self._events.result(whole, decided, opened=bool(opened), open_bytes=int(self._order[order.OPEN_SO_FAR]))

    def _clean(self) -> frozenset[str]:
        """Return the rules that no loop has flagged, neither of this system nor of the shared rules."""
        flagged = {rule for rule, flag_values in zip(own.OWN, self._flags, strict=True) if flag_values[0]}
        flagged |= {rule for rule, others in own.SAME.items() if any(self._theirs[other, 0] for other in others)}
        return frozenset(own.RULES) - flagged


def _there(settings: jit.Array) -> jit.Array:
    """Return the settings as the loops of `pulsar-pip430` expect them; settings of that system alone are null."""
    values = np.full((len(settings), w.STORAGE + 1), primitives.NULL)
    values[:, own.THERE] = settings[:, : len(own.THERE)]
    return values


def _select_values(settings: SettingValues) -> SettingValues:
    return {"manual": settings["manual"]}
