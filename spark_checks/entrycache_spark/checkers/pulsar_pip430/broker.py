"""The checker of one broker of `pulsar-pip430`: each batch goes through every family of rules in turn.

`check_broker` is the entry point. `PulsarBrokerChecker` keeps the state of all families between two batches. A rule is
clean if no family has flagged it; where events are missing only the rules of `PLAIN` can be clean.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from entrycache_spark.checkers import events, primitives
from entrycache_spark.checkers.batches import EffectiveSettings, SettingsSource, SettingValues, widen
from entrycache_spark.checkers.pulsar_pip430 import in_flight, lives, order, reads, removals, rows
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_spark.common.system import CheckerResult
from entrycache_spark.systems.pulsar_pip430 import (
    KINDS,
    SETTING_COLUMNS,
    permit_variants,
    setting_values,
    split_budget,
)
from entrycache_trace import files, jit

PLAIN: Final = frozenset(
    "R-CONFIG-1 R-EXPIRE-2 R-METRICS-7 R-REQUEUE-1 R-REQUEUE-8 R-TRIGGER-1 R-TRIGGER-4 R-TRIGGER-8".split()
)
"""Rules of single rows, which hold even if events are missing."""

COLUMNS: Final = (
    *("size_bytes", "entry_id", "life", "call_id", "pass_id", "bound", "stamp_ns", "new_stamp_ns", "requeues"),
    *("max_requeues", "expected_reads", "trigger_bytes", "target_bytes", "accessed", "extend_accessed", "cursor"),
    *("tail_no", "head_no", "cache", "read_id", "ask_id", "last_entry_id", "permits"),
)
"""The columns for which rules ask whether they are null."""

SETTINGS: Final = SettingsSource(KINDS, SETTING_COLUMNS, setting_values)


def check_broker(
    batches: Iterator[pa.RecordBatch], metadata: files.Metadata, max_removed: int = lives.MAX_REMOVED
) -> CheckerResult:
    """Check the events of one broker; `max_removed` bounds the number of ended lives that are kept.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    return events.check_batches(PulsarBrokerChecker(metadata, max_removed), batches)


class PulsarBrokerChecker:
    """The state of the checker for one broker between two batches."""

    def __init__(self, metadata: files.Metadata, max_removed: int = lives.MAX_REMOVED) -> None:
        self.flags = primitives.new_flags(len(rows.RULES))
        self._many, self._virtual = metadata.many_threads, metadata.clock == "virtual"
        self._split, self._sampled = split_budget(metadata), metadata.sampled
        names = rows.vocabulary()
        effective, kinds = (
            EffectiveSettings(SETTINGS, w.CONFIG, _select_values),
            events.EventKinds(names, COLUMNS, (w.METRICS, w.END)),
        )
        self._events = events.Events(rows.Rows, names, effective, kinds)
        self._order, self._passes = (
            np.full(order.ORDER_FIELDS, primitives.NULL),
            np.full(order.PASS_FIELDS, primitives.NULL),
        )
        self._lives, self._places, self._cursors = lives.Lives(max_removed), reads.Places(), reads.Cursors()
        self._in_flight = in_flight.ReadsInFlight(permit_variants(metadata))
        self._removals, self._calls = removals.Removals(), reads.new_calls()
        self._counts, self._carried = (
            np.zeros((0, lives.COUNT_FIELDS), np.int64),
            np.zeros((0, lives.CARRIED_FIELDS), np.int64),
        )
        self._entries, self._slot_of = np.zeros((0, removals.ENTRY_FIELDS), np.int64), np.zeros(0, np.int64)
        self._held, self._slots = removals.new_slots()
        self._numbers = removals.new_numbers()
        self._sums, self._totals = order.new_sums(), order.Totals()

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp, UsageError: see `check_broker`.
        """
        c, settings = self._events.read(batch)
        order.check_order(c, settings, self._many, self._virtual, self._order, self.flags)
        rows.check_single_rows(c, settings, self._many, self._virtual, self.flags)
        order.check_passes(c, self._virtual, self._passes, self.flags)
        self._follow_lives(c)
        self._places.follow(c, self._many, self.flags)
        reads.check_read_order(c, self._calls, self.flags)
        named = int(np.count_nonzero((c.op >= w.CURSOR_ADD) & (c.op <= w.CURSOR_REMOVE)))
        self._cursors.follow(
            c, settings, len(self._events.names["cache"]), named, self._many, self._virtual, self.flags
        )
        self._in_flight.follow(c, settings, self.flags)
        self._check_counters(c, settings, batch)

    def _follow_lives(self, c: rows.Rows) -> None:
        numbers, how = self._lives.number(c, self.flags)
        room = self._lives.room
        if room > len(self._slot_of):
            self._counts, self._carried, self._entries, self._slot_of = (
                widen(table, room) for table in (self._counts, self._carried, self._entries, self._slot_of)
            )
        lives.check_read_counts(c, numbers, how, self._many, self._counts, self.flags)
        lives.check_carried(c, numbers, how, self._virtual, self._split, self._carried, self.flags)
        self._held = removals.with_room(self._held, self._slots, len(c.seq))
        removals.check_slots(c, numbers, how, self._held, self._slots, self._slot_of, self.flags)
        removals.check_slot_numbers(c, self._numbers, self.flags)
        self._removals.follow(c, numbers, how, self._entries, len(self._events.names["cache"]), self.flags)
        lives.close_counts(self._counts, self._lives.freed(), self._many, self.flags)

    def _check_counters(self, c: rows.Rows, settings: jit.Array, batch: pa.RecordBatch) -> None:
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), order.METRIC_FIELDS), np.int64)
        order.add_totals(c, settings, self._sums, sums)
        metrics = iter(sums)
        for i, counters in events.counters_at(batch, at):
            seq, after = int(c.seq[i]), int(c.bytes_after[i])
            if c.op[i] == w.METRICS:
                held = after if c.manager_bytes[i] == primitives.NULL else int(c.manager_bytes[i])
                priced = settings[c.settings[i], w.STORAGE] != primitives.NULL
                self._totals.check_metrics(seq, counters, next(metrics), held, bool(priced), self.flags)
            else:
                self._totals.check_end(seq, counters, after, self.flags)
            self._events.kinds.count_metered(c, i, settings, counters)

    def end(self) -> CheckerResult:
        """Return the result after the last event."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        opened = self._order[order.OPENED] == 1
        numbered = not self._slots[removals.UNNUMBERED]
        order.end_order(self._order, self._many, self.flags)
        order.end_passes(self._passes, self.flags)
        removals.end_slots(self._slots, self.flags)
        removals.end_numbers(self._numbers, bool(self._slots[removals.UNLINKED]), self.flags)
        self._cursors.end(self.flags)
        self._in_flight.end(self.flags)
        self._removals.end(self._entries, self.flags)
        lives.close_counts(self._counts, np.arange(self._lives.used(), dtype=np.int32), self._many, self.flags)
        if self._lives.unborn != primitives.NULL and whole.starts:
            primitives.flag(self.flags, w.STATE_8, self._lives.unborn)
        self._totals.end(self._sums, whole.starts and not opened, whole.all and whole.ended, numbered, self.flags)
        clean = frozenset(rule for rule, own in zip(rows.RULES, self.flags, strict=True) if not own[0])
        return self._events.result(
            whole,
            clean & PLAIN if whole.gapped else clean,
            opened=bool(opened),
            open_bytes=int(self._order[order.OPEN_SO_FAR]),
            numbered=numbered,
            unlinked=bool(self._slots[removals.UNLINKED]),
        )


def _select_values(settings: SettingValues) -> SettingValues:
    return {name: settings[name] for name in ("manual", "ranks", "drops_late")}
