"""The fold over one broker: each batch goes through every family of rules in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from entrycache_protocol.errors import UsageError
from entrycache_protocol.strict_json import parse
from entrycache_spark.fold import Folded, GivenUp, Kind
from entrycache_spark.pulsar_pip430.fold import words as w
from entrycache_spark.pulsar_pip430.fold.calls import fold_calls, new_calls
from entrycache_spark.pulsar_pip430.fold.carried import CARRIED_FIELDS, fold_carried
from entrycache_spark.pulsar_pip430.fold.classes import COLUMNS, Classes, TooVaried
from entrycache_spark.pulsar_pip430.fold.counts import COUNT_FIELDS, close_counts, fold_counts
from entrycache_spark.pulsar_pip430.fold.cursors import Cursors
from entrycache_spark.pulsar_pip430.fold.in_force import InForce
from entrycache_spark.pulsar_pip430.fold.leavers import ENTRY_FIELDS, Leavers
from entrycache_spark.pulsar_pip430.fold.lives import REMOVED_MOST, Lives, TooMany
from entrycache_spark.pulsar_pip430.fold.meters import TOLD, Meters, fold_sums, new_sums
from entrycache_spark.pulsar_pip430.fold.numbers import end_numbers, fold_numbers, new_numbers
from entrycache_spark.pulsar_pip430.fold.order import (
    DOUBLE,
    OPEN_SO_FAR,
    OPENED,
    ORDER_FIELDS,
    end_order,
    fold_order,
)
from entrycache_spark.pulsar_pip430.fold.passes import PASS_FIELDS, end_passes, fold_passes
from entrycache_spark.pulsar_pip430.fold.places import Places
from entrycache_spark.pulsar_pip430.fold.plain import fold_plain
from entrycache_spark.pulsar_pip430.fold.rows import Rows, rows_of, vocabulary
from entrycache_spark.pulsar_pip430.fold.slots import UNLINKED, UNNUMBERED, end_slots, fold_slots, new_slots, with_room
from entrycache_spark.pulsar_pip430.fold.words import NULL, RULES, no_flags
from entrycache_spark.pulsar_pip430.settings import split_budget
from entrycache_trace.compiled import Array
from entrycache_trace.files import Metadata

PLAIN: Final = frozenset(
    "R-CONFIG-1 R-EXPIRE-2 R-METRICS-7 R-REQUEUE-1 R-REQUEUE-8 R-TRIGGER-1 R-TRIGGER-4 R-TRIGGER-8".split()
)
"""Rules of single rows, which hold where events are missing too."""


def fold(batches: Iterator[pa.RecordBatch], metadata: Metadata, removed_most: int = REMOVED_MOST) -> Folded:
    """Fold the events of one broker; `removed_most`: so many lives that have ended are kept.

    Raises:
        GivenUp: they are too many, too varied, or not what a trace holds.
    """
    broker = BrokerFold(metadata, removed_most)
    try:
        for batch in batches:
            if len(batch):
                broker.follow(batch)
    except (TooMany, TooVaried, UsageError, pa.ArrowException, UnicodeDecodeError) as error:
        raise GivenUp(str(error) or type(error).__name__) from None
    return broker.end()


class BrokerFold:
    """All that is kept of one broker between two batches."""

    def __init__(self, metadata: Metadata, removed_most: int = REMOVED_MOST) -> None:
        self.flags = no_flags()
        self._many, self._virtual = metadata.many_threads, metadata.clock == "virtual"
        self._split, self._sampled = split_budget(metadata), metadata.sampled
        self._names, self._in_force = vocabulary(), InForce()
        self._order, self._passes = np.full(ORDER_FIELDS, NULL), np.full(PASS_FIELDS, NULL)
        self._lives, self._places, self._cursors = Lives(removed_most), Places(), Cursors()
        self._leavers, self._calls, self._classes = Leavers(), new_calls(), Classes()
        self._counts, self._carried = np.zeros((0, COUNT_FIELDS), np.int64), np.zeros((0, CARRIED_FIELDS), np.int64)
        self._entries, self._slot_of = np.zeros((0, ENTRY_FIELDS), np.int64), np.zeros(0, np.int64)
        self._held, self._slots = new_slots()
        self._numbers = new_numbers()
        self._sums, self._meters = new_sums(), Meters()
        self._told: Counter[tuple[Any, ...]] = Counter()
        self._rows, self._first_seq, self._last_seq = 0, 0, 0
        self._first_op, self._last_op = 0, 0

    def follow(self, batch: pa.RecordBatch) -> None:
        """Take in a batch.

        Raises:
            GivenUp, TooMany, TooVaried, UsageError: see `fold`.
        """
        c = rows_of(batch, self._names)
        settings, numbers = self._in_force.follow(c, batch)
        c = c._replace(settings=numbers)
        self._note(c)
        fold_order(c, settings, self._many, self._virtual, self._order, self.flags)
        if self._order[DOUBLE] != NULL:
            raise GivenUp("an event is there twice, or is not in order")
        fold_plain(c, settings, self._many, self._virtual, self.flags)
        fold_passes(c, self._virtual, self._passes, self.flags)
        self._follow_lives(c)
        self._places.follow(c, self._many, self.flags)
        fold_calls(c, self._calls, self.flags)
        named = int(np.count_nonzero((c.op >= w.CURSOR_ADD) & (c.op <= w.CURSOR_REMOVE)))
        self._cursors.follow(c, settings, len(self._names.cache), named, self._many, self._virtual, self.flags)
        self._classes.follow(c, settings, self._names)
        self._meter(c, settings, batch)

    def _note(self, c: Rows) -> None:
        if not self._rows:
            self._first_seq, self._first_op = int(c.seq[0]), int(c.op[0])
        self._rows += len(c.seq)
        self._last_seq, self._last_op = int(c.seq[-1]), int(c.op[-1])

    def _follow_lives(self, c: Rows) -> None:
        numbers, how = self._lives.of(c, self.flags)
        room = self._lives.room
        if room > len(self._slot_of):
            self._counts, self._carried, self._entries, self._slot_of = (
                _wider(table, room) for table in (self._counts, self._carried, self._entries, self._slot_of)
            )
        fold_counts(c, numbers, how, self._many, self._counts, self.flags)
        fold_carried(c, numbers, how, self._virtual, self._split, self._carried, self.flags)
        self._held = with_room(self._held, self._slots, len(c.seq))
        fold_slots(c, numbers, how, self._held, self._slots, self._slot_of, self.flags)
        fold_numbers(c, self._numbers, self.flags)
        self._leavers.follow(c, numbers, how, self._entries, len(self._names.cache), self.flags)
        close_counts(self._counts, self._lives.freed(), self._many, self.flags)

    def _meter(self, c: Rows, settings: Array, batch: pa.RecordBatch) -> None:
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), TOLD), np.int64)
        fold_sums(c, settings, self._sums, sums)
        texts = batch.column("value").take(pa.array(at)).cast(pa.string()).to_pylist()
        metrics = iter(sums)
        for i, text in zip(at.tolist(), texts, strict=True):
            seq, after = int(c.seq[i]), int(c.bytes_after[i])
            told = counters_in(text)
            if c.op[i] == w.METRICS:
                held = after if c.manager_bytes[i] == NULL else int(c.manager_bytes[i])
                priced = settings[c.settings[i], w.STORAGE] != NULL
                self._meters.told(seq, told, next(metrics), held, bool(priced), self.flags)
            else:
                self._meters.told_end(seq, told, after, self.flags)
            self._told[self._kind_of(c, i, settings, told)] += 1

    def _kind_of(self, c: Rows, i: int, settings: Array, told: Mapping[str, int]) -> tuple[Any, ...]:
        columns = ((name, getattr(c, name)[i]) for name in COLUMNS)
        shown = frozenset(name for name, value in columns if value != (_NULLS.get(name, NULL)))
        numbers = (int(c.op[i]), int(c.cause[i]), int(c.origin[i]), int(settings[c.settings[i], w.CLASS]))
        return (*numbers, shown, tuple(sorted(told)))

    def end(self) -> Folded:
        """What the events tell, now that there are no more."""
        starts, ended = self._first_op == w.CONFIG, self._last_op == w.END
        gapped = self._sampled or self._rows != self._last_seq - self._first_seq + 1
        opened = self._order[OPENED] == 1
        numbered = not self._slots[UNNUMBERED]
        end_order(self._order, self._many, self.flags)
        end_passes(self._passes, self.flags)
        end_slots(self._slots, self.flags)
        end_numbers(self._numbers, bool(self._slots[UNLINKED]), self.flags)
        self._cursors.end(self.flags)
        self._leavers.end(self._entries, self.flags)
        close_counts(self._counts, np.arange(self._lives.used(), dtype=np.int32), self._many, self.flags)
        if self._lives.unborn != NULL and starts:
            w.flag(self.flags, w.STATE_8, self._lives.unborn)
        self._meters.end(self._sums, starts and not opened, starts and ended and not gapped, numbered, self.flags)
        clean = frozenset(rule for rule, own in zip(RULES, self.flags, strict=True) if not own[0])
        return Folded(
            self._rows,
            self._first_seq,
            self._last_seq,
            starts,
            ended,
            numbered,
            bool(self._slots[UNLINKED]),
            int(self._order[OPEN_SO_FAR]),
            bool(opened),
            self._in_force.unread,
            tuple(self._kinds()),
            clean & PLAIN if gapped else clean,
        )

    def _kinds(self) -> Iterator[Kind]:
        for told_so, number, events in self._classes.of(self._names):
            yield self._in_force.kind(told_so, number, events)
        ops, causes, origins = (each.listed() for each in (self._names.op, self._names.cause, self._names.origin))
        for (op, cause, origin, number, shown, told), events in self._told.items():
            row: dict[str, Any] = {name: 1 if name in shown else None for name in COLUMNS}
            row |= {"op": ops[op], "cause": causes[cause], "origin": origins[origin], "value": dict.fromkeys(told, 1)}
            yield self._in_force.kind(row, number, events)


_NULLS: Final = {"accessed": -1, "extend_accessed": -1, "cursor": 0}


def _wider(table: Array, room: int) -> Array:
    return np.concatenate((table, np.zeros((room - len(table), *table.shape[1:]), table.dtype)))


def counters_in(text: str | None) -> dict[str, int]:
    """The counters in the value of METRICS or END.

    Raises:
        GivenUp: evaluators may read it in different ways.
    """
    if not text:
        return {}
    try:
        told = parse(text)
    except ValueError:
        raise GivenUp("a value is not JSON") from None
    if not isinstance(told, dict):
        return {}
    if any(type(value) is not int for value in told.values()):
        raise GivenUp("a counter is no integer")
    return told
