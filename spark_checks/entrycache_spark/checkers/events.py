"""The events of one broker as every checker reads them, and the result that does not depend on the system.

`check_batches` feeds batches to a `BrokerChecker` and returns its result. A `BrokerChecker` reads each batch through
`Events`, which tracks the span, the effective settings and the kinds of events. `EventKinds` counts how many events of
each kind there are, and which columns they record. From these counts an audit computes, without reading the events
again, how many events each rule applies to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Generic, Protocol

import numpy as np
import pyarrow as pa

from entrycache_protocol import errors, strict_json
from entrycache_spark.checkers.batches import (
    FLAGS,
    TEXTS,
    Completeness,
    EffectiveSettings,
    R,
    Span,
    TextNumbers,
    read_arrays,
)
from entrycache_spark.checkers.primitives import FREE, NULL, find, new_table, put
from entrycache_spark.common.system import CheckerGaveUp, CheckerResult, EventKind
from entrycache_trace.jit import Array, jit


class Events(Generic[R]):
    """The text numbers, the effective settings, the event kinds and the span of a broker; `rows` are its columns."""

    def __init__(
        self, rows: type[R], names: Mapping[str, TextNumbers], effective: EffectiveSettings, kinds: EventKinds
    ) -> None:
        self.names, self.effective, self.kinds, self.span = names, effective, kinds, Span()
        self._rows = rows

    def read(self, batch: pa.RecordBatch) -> tuple[R, Array]:
        """Return the arrays of a batch, and the table of the settings that are effective in it.

        Raises:
            CheckerGaveUp, UsageError: the checker cannot decide these events.
        """
        c = read_arrays(batch, self.names, self._rows)
        _check_positions(c)
        settings, numbers = self.effective.follow(c, batch)
        c = c._replace(settings=numbers)
        self.span.follow(c)
        self.kinds.follow(c, settings)
        return c, settings

    def result(
        self,
        whole: Completeness,
        clean: frozenset[str],
        *,
        opened: bool,
        open_bytes: int = 0,
        numbered: bool = False,
        unlinked: bool = False,
    ) -> CheckerResult:
        """Return the checker's result after the last event."""
        return CheckerResult(
            row_count=self.span.rows,
            first_seq=self.span.first_seq,
            last_seq=self.span.last_seq,
            starts=whole.starts,
            ended=whole.ended,
            numbered=numbered,
            unlinked=unlinked,
            open_bytes=open_bytes,
            opened=opened,
            unread=self.effective.unread,
            kinds=tuple(self.kinds.of(self.effective)),
            clean=clean,
        )


def _check_positions(c: Any) -> None:
    """Check that each position has a ledger, if the rows of the system have positions.

    Raises:
        CheckerGaveUp: one has none.
    """
    if "ledger_id" in c._fields and np.any((c.ledger_id == NULL) & (c.entry_id != NULL)):
        raise CheckerGaveUp("a position has no ledger")


# ---------- kinds of events

MAX_KINDS: Final = 1 << 13
MAX_NAMES: Final = 1 << 10
COLUMN_BITS: Final = 23

_NAMES: Final = ("op", "cause", "origin")


class EventKinds:
    """The number of events for each op, cause, origin, class of settings, and set of recorded columns.

    Rules ask whether `columns` are null; a key has a bit for each one that is not. They also ask for the value of
    the flags `truths`. `metered` are METRICS and END, which are few and are counted with their counters.
    """

    def __init__(
        self,
        names: Mapping[str, TextNumbers],
        columns: Sequence[str],
        metered: tuple[int, int],
        truths: Sequence[str] = (),
    ) -> None:
        assert len(columns) + len(truths) <= COLUMN_BITS
        self._numbered, self._columns, self._truths, self._metered = names, columns, truths, metered
        self._keys, self._values = new_table(MAX_KINDS)
        self._counts = np.zeros(MAX_KINDS, np.int64)
        self._kind_keys = np.zeros(MAX_KINDS, np.int64)
        self._state = np.zeros(1, np.int64)
        self._metered_kinds: Counter[tuple[int, tuple[str, ...]]] = Counter()

    def follow(self, c: Any, settings: Array) -> None:
        """Count the events of a batch except METRICS and END.

        Raises:
            CheckerGaveUp: there are too many kinds.
        """
        most = max(int(settings[:, -1].max()) + 1, *(len(self._numbered[name]) for name in _NAMES if name in c._fields))
        if most > MAX_NAMES or not self._count(c, settings):
            raise CheckerGaveUp("the kinds of events are too many")

    def _count(self, c: Any, settings: Array) -> bool:
        keys = self._keys_of(c, settings)
        return bool(
            _count_kinds(
                c.op, keys, *self._metered, self._keys, self._values, self._counts, self._kind_keys, self._state
            )
        )

    def _keys_of(self, c: Any, settings: Array) -> Array:
        """Return the key of each event's kind: settings, origin, cause and op with ten bits each, and the columns."""
        columns_known = np.zeros(len(c.seq), np.int64)
        for bit, name in enumerate(self._columns):
            _mark_known(columns_known, getattr(c, name), _null_number(name), bit)
        for bit, name in enumerate(self._truths, len(self._columns)):
            _mark_true(columns_known, getattr(c, name), bit)
        origin = getattr(c, "origin", np.zeros(len(c.seq), np.int32))
        _complete_keys(columns_known, c.op, c.cause, origin, c.settings, settings)
        return columns_known

    def count_metered(self, c: Any, i: int, settings: Array, counters: Mapping[str, int]) -> None:
        """Count a METRICS or END event with its counters, and whether END reports no entries."""
        one = type(c)(*(column[i : i + 1] for column in c))
        is_empty = c.op[i] == self._metered[1] and counters.get("entries") == 0
        names = (*sorted(counters), *(("entries=0",) if is_empty else ()))
        self._metered_kinds[int(self._keys_of(one, settings)[0]), names] += 1

    def of(self, effective: EffectiveSettings) -> Iterator[EventKind]:
        """Yield each kind with its number of events."""
        for number in range(int(self._state[0])):
            row, settings = self._row(int(self._kind_keys[number]))
            yield effective.kind(row, settings, int(self._counts[number]))
        for (key, counter_names), events in self._metered_kinds.items():
            row, settings = self._row(key)
            yield effective.kind({**row, "value": dict.fromkeys(counter_names, 1)}, settings, events)

    def _row(self, key: int) -> tuple[dict[str, Any], int]:
        row: dict[str, Any] = {name: 1 if key >> bit & 1 else None for bit, name in enumerate(self._columns)}
        for bit, name in enumerate(self._truths, len(self._columns)):
            row[name] = None if row[name] is None else key >> bit & 1
        key >>= COLUMN_BITS
        for name in _NAMES:
            row[name] = self._numbered[name].all_texts()[key & MAX_NAMES - 1] if name in self._numbered else None
            key >>= 10
        return row, key


def _null_number(name: str) -> int:
    return 0 if name in TEXTS else -1 if name in FLAGS else NULL


@jit
def _mark_known(columns_known: Any, column: Any, null: int, bit: int) -> None:
    flag_bit = np.int64(1) << bit
    for i in range(len(column)):
        if column[i] != null:
            columns_known[i] |= flag_bit


@jit
def _mark_true(columns_known: Any, column: Any, bit: int) -> None:
    flag_bit = np.int64(1) << bit
    for i in range(len(column)):
        if column[i] == 1:
            columns_known[i] |= flag_bit


@jit
def _complete_keys(columns_known: Any, op: Any, cause: Any, origin: Any, numbers: Any, settings: Any) -> None:
    for i in range(len(columns_known)):
        key = np.int64(settings[numbers[i], -1])
        key = key << 10 | origin[i]
        key = key << 10 | cause[i]
        key = key << 10 | op[i]
        columns_known[i] |= key << COLUMN_BITS


@jit
def _count_kinds(
    op: Any, wanted: Any, metrics: int, end: int, keys: Any, values: Any, counts: Any, kind_keys: Any, state: Any
) -> bool:
    last_key, last = np.int64(-1), 0
    for i in range(len(op)):
        if op[i] == metrics or op[i] == end:
            continue
        key = wanted[i]
        if key != last_key:
            last_key, last = key, find(keys, values, key)
            if last == FREE:
                if state[0] == len(counts):
                    return False
                last = state[0]
                state[0] += 1
                kind_keys[last] = key
                put(keys, values, key, last)
        counts[last] += 1
    return True


def counters_at(batch: pa.RecordBatch, at: Array) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield the counters of METRICS and END events, each with its index in the batch.

    Raises:
        CheckerGaveUp: backends may read a counter differently.
    """
    texts = batch.column("value").take(pa.array(at)).cast(pa.string()).to_pylist()
    return ((i, parse_counters(text)) for i, text in zip(at.tolist(), texts, strict=True))


def parse_counters(text: str | None) -> dict[str, int]:
    """Parse the counters in the value of METRICS or END.

    Raises:
        CheckerGaveUp: backends may read it differently.
    """
    if not text:
        return {}
    try:
        counters = strict_json.parse_json(text)
    except ValueError:
        raise CheckerGaveUp("a value is not JSON") from None
    if not isinstance(counters, dict):
        return {}
    if any(type(value) is not int for value in counters.values()):
        raise CheckerGaveUp("a counter is no integer")
    return counters


# ---------- the loop over the batches


class BrokerChecker(Protocol):
    """The state of a checker for one broker between two batches."""

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch."""

    def end(self) -> CheckerResult:
        """Return the result after the last event."""


def check_batches(broker: BrokerChecker, batches: Iterator[pa.RecordBatch]) -> CheckerResult:
    """Feed all batches to the checker of a broker, and return its result.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    try:
        for batch in batches:
            if len(batch):
                broker.follow(batch)
    except (errors.UsageError, pa.ArrowException, UnicodeDecodeError) as error:
        raise CheckerGaveUp(str(error) or type(error).__name__) from None
    return broker.end()
