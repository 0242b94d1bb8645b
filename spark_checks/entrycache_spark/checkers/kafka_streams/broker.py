"""The checker of one broker of `kafka-streams`, which is the cache of one stream thread.

`check_broker` is the entry point. `StreamThreadChecker` keeps the state between batches, runs the loop of `events`
over each batch, and compares the counters of METRICS and END. Its result names the rules whose conditions hold.

`StoreChecker` reads the rows of caching stores and of their namespaces: what a store writes below, forwards and
answers. It knows fewer excuses than the windows: a forward that throws leaves a rule to them. A trace without stores
costs it nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from entrycache_protocol.strict_json import parse_json
from entrycache_spark.checkers import events, primitives
from entrycache_spark.checkers.batches import EffectiveSettings, SettingsSource, SettingValues
from entrycache_spark.checkers.kafka_streams import rows, state
from entrycache_spark.checkers.kafka_streams import rows as w
from entrycache_spark.checkers.kafka_streams import state as k
from entrycache_spark.checkers.kafka_streams.events import check_events
from entrycache_spark.checkers.kafka_streams.state import KEY_USED_SEQ, Keys
from entrycache_spark.checkers.primitives import NULL, flag
from entrycache_spark.common.system import CheckerGaveUp, CheckerResult
from entrycache_spark.systems.kafka_streams import KINDS
from entrycache_trace import files, jit

COLUMNS: Final = (
    *("cache", "key_hash", "life", "call_id", "size_bytes", "dirty", "window_start", "value_hash", "old_hash"),
    "pass_id",
)
"""The columns for which rules ask whether they are null."""

ALONE: Final = frozenset({"K-PUT-1"})
"""The rules that can be clean where events are missing."""

SETTINGS: Final = SettingsSource(KINDS, (), lambda configs: [() for _ in configs])


def check_broker(batches: Iterator[pa.RecordBatch], metadata: files.Metadata) -> CheckerResult:
    """Check the events of one broker.

    Raises:
        CheckerGaveUp: the events are too many, too varied, or not what a trace holds.
    """
    return events.check_batches(StreamThreadChecker(metadata), batches)


class StreamThreadChecker:
    """The state of the checker for one broker between two batches."""

    def __init__(self, metadata: files.Metadata) -> None:
        self.flags = primitives.new_flags(len(w.SUFFICIENT_CONDITIONS))
        self._sampled = metadata.sampled
        names = rows.vocabulary()
        effective, kinds = (
            EffectiveSettings(SETTINGS, w.CONFIG, _select_values),
            events.EventKinds(names, COLUMNS, (w.METRICS, w.END), ("dirty",)),
        )
        self._events = events.Events(rows.Rows, names, effective, kinds)
        self._stores = StoreChecker()
        self._keys, self._spaces, self._counters = Keys(), state.new_spaces(), rows.Counters()
        self._suspects = np.zeros((k.MAX_SUSPECTS, 2), np.int64)
        self._state = np.zeros(k.STATE_FIELDS, np.int64)
        self._state[k.LAST_SEQ] = primitives.NULL

    def follow(self, batch: pa.RecordBatch) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp, UsageError: see `check_broker`.
        """
        c, settings = self._events.read(batch)
        self._keys.make_room(len(c.seq), int(self._state[k.LAST_CALL]))
        self._spaces = state.with_spaces(self._spaces, len(self._events.names["cache"]))
        at = np.flatnonzero((c.op == w.METRICS) | (c.op == w.END))
        sums = np.zeros((len(at), len(rows.Sums._fields)), np.int64)
        kept = (self._keys.table, self._keys.used, self._spaces, self._suspects, self._state)
        check_events(c, settings, *kept, sums, self.flags)
        if self._state[k.HOMELESS]:
            raise CheckerGaveUp("an event of a key is of no namespace")
        self._check_counters(c, settings, batch, at, sums)
        self._stores.follow(c, batch, self.flags)

    def _check_counters(
        self, c: rows.Rows, settings: jit.Array, batch: pa.RecordBatch, at: jit.Array, sums: jit.Array
    ) -> None:
        for (i, counters), counted in zip(events.counters_at(batch, at), sums.tolist(), strict=True):
            seq, own = int(c.seq[i]), rows.Sums(*counted)
            if c.op[i] == w.END:
                self._counters.check_end(seq, counters, own, int(c.bytes_after[i]), self.flags)
            elif c.cache[i] == 0:
                self._counters.check_thread(seq, counters, own, self.flags)
            else:
                self._counters.check_space(seq, counters, own, self.flags)
            self._events.kinds.count_metered(c, i, settings, counters)

    def end(self) -> CheckerResult:
        """Return the result after the last event."""
        whole = self._events.span.end(w.CONFIG, w.END, self._sampled)
        opened = bool(self._state[k.OPENED])
        k.end_run(self._state, self._spaces, self.flags)
        k.end_call(self._state, self.flags)
        self._stores.end_call(self.flags)
        live = self._keys.live()
        if np.any(live[:, KEY_USED_SEQ] < self._spaces[live[:, primitives.CACHE], state.SPACE_EVICTED]):
            primitives.flag(self.flags, w.ELDEST_FIRST, int(self._state[k.LAST_SEQ]))
        clean = frozenset(
            rule for rule, conditions in w.CONDITIONS_BY_RULE.items() if not any(self.flags[at, 0] for at in conditions)
        )
        decided = clean if whole.all and not opened else clean & ALONE
        return self._events.result(whole, decided, opened=opened)


def _select_values(settings: SettingValues) -> SettingValues:
    """Return the values that rules ask for: K-RESIZE-2 asks whether the limit has become lower."""
    limit, before = settings["limit_now"], settings["limit_before"]
    falls = limit is not None and before is not None and limit < before
    return {"limit_now": 0 if falls else None, "limit_before": 1 if falls else None}


# ---------- stores

READ_OPS: Final = np.array([w.PUT, w.FLUSH, w.DELETE, w.REMOVE, *range(w.STORE_OPEN, w.VIEW_ENTRY + 1)], np.int32)
"""The ops that a store's rules read."""

HANDED: Final = (w.BELOW, w.FORWARD)
VALUES: Final = (w.BY_PUT, w.BY_VALUE)
"""The causes of an entry that has a value."""

OF_VALUES: Final = (
    *(w.WRITTEN_BELOW, w.FORWARDED, w.CHAINED, w.NONE_EXPIRED, w.KEYS_SHOWN, w.ORDER_SHOWN, w.WINDOWS_SHOWN),
)
"""The conditions that an event may leave open if it does not record a value."""

MAX_STORED_KEYS: Final = 1_000_000
"""The number of keys of all stores above which the checker gives up."""


class StoreEvent(NamedTuple):
    """One row, its columns as Python values; a null is `NULL`, and 0 in `cause`. `text` and `kind` are
    the columns `value` and `store_kind`."""

    seq: int
    op: int
    cause: int
    cache: int
    key: int
    life: int
    dirty: bool
    call: int
    view: int
    start: int
    end: int
    value: int
    old: int
    text: str | None
    kind: str | None

    @property
    def time(self) -> int:
        """The time of a window or session."""
        return self.start if self.end == NULL else self.end


@dataclass(slots=True)
class KeyRecord:
    """The last PUT and FORWARD of a key, its name in views, and whether the underlying store has it."""

    put_seq: int = -1
    put_cause: int = 0
    put_life: int = NULL
    start: int = NULL
    end: int = NULL
    name: str | None = None
    below: int = 0
    forward_seq: int = -1
    forward_cause: int = 0
    forward_value: int = NULL


@dataclass(slots=True)
class StoreRecord:
    """One store since it opened. `kind` is empty if it is not known; settings that are not known are `NULL`."""

    kind: str
    retention: int
    interval: int
    listens: int
    old_values: int
    closed_call: int | None = None
    stream_time: int = NULL
    dropped_seq: int = -1
    keys: dict[int, KeyRecord] = field(default_factory=dict)
    names: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def is_of_another_kind(self, event: StoreEvent) -> bool:
        """Return whether a row is about a window or session that the store cannot hold."""
        return (self.kind == "kv" and event.start != NULL) or (self.kind in ("kv", "window") and event.end != NULL)

    def lacks_values(self, event: StoreEvent) -> bool:
        """Return whether a row does not record a value that decides some rule; the windows say which rule."""
        if event.op == w.STORE_OPEN:
            settings = (self.listens, self.old_values, *(() if self.kind == "kv" else (self.retention, self.interval)))
            return self.kind == "" or NULL in settings
        if event.op in (w.VIEW, w.VIEW_ENTRY) and (event.view == NULL or event.text is None):
            return True
        if event.op in HANDED and (event.life == NULL or (event.cause in VALUES and event.value == NULL)):
            return True
        if event.op in (w.PUT, *HANDED, w.VIEW, w.VIEW_ENTRY) and event.cause == 0:
            return True
        if event.op not in (w.PUT, *HANDED, w.VIEW_ENTRY):
            return False
        is_timeless = event.start == NULL or (self.kind == "session" and event.end == NULL)
        is_of_window = self.kind not in ("", "kv") and self.closed_call is None
        return NULL in (event.key, event.life if event.op == w.PUT else 0) or (is_of_window and is_timeless)

    def is_expired(self, event: StoreEvent) -> bool:
        """Return whether a row is about a window that has expired by now."""
        known = NULL not in (event.time, self.retention, self.stream_time)
        return self.kind != "kv" and known and event.time <= self.stream_time - self.retention


@dataclass(slots=True)
class ViewRecord:
    """The direction and range of a view, the entries that it has answered, and the place of the last one."""

    cause: int | None = None
    range: Mapping[str, Any] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    last: tuple[int, str, int] | None = None

    def leaves_out(self, event: StoreEvent, is_plain: bool) -> bool:
        """Return whether an entry lies outside the range of the view, as far as both are known."""
        only, first, last = self.range.get("key"), self.range.get("from"), self.range.get("to")
        first, last = only if first is None else first, only if last is None else last
        if event.text is not None and first is not None and f'"{first}"' > event.text:
            return True
        if event.text is not None and last is not None and f'"{last}"' < event.text:
            return True
        prefix = self.range.get("prefix")
        if event.text is not None and prefix is not None and not event.text.startswith(prefix, 1):
            return True
        if is_plain:
            return False
        begin, end = self.range.get("time_from"), self.range.get("time_to")
        is_before = begin is not None and event.time != NULL and begin > event.time
        return is_before or (end is not None and event.start != NULL and end < event.start)


def read_range(text: str | None) -> Mapping[str, Any]:
    """Return the bounds of a view.

    Raises:
        CheckerGaveUp: backends may read them differently.
    """
    try:
        bounds = parse_json(text or "{}")
    except ValueError:
        bounds = None
    kinds = {"key": str, "from": str, "to": str, "prefix": str, "time_from": int, "time_to": int}
    if not isinstance(bounds, dict) or any(
        type(bounds.get(name)) not in (kind, type(None)) for name, kind in kinds.items()
    ):
        raise CheckerGaveUp("backends may read the range of a view differently")
    return bounds


class TakenEntry(NamedTuple):
    """The PUT of an entry that was handed over in the current call."""

    key: int
    cause: int
    start: int
    end: int

    def is_entry_of(self, event: StoreEvent) -> bool:
        """Return whether a BELOW or FORWARD shows the entry; a value that is not recorded contradicts nothing."""
        causes = self.cause in (w.BY_VALUE, w.BY_DELETE) and event.cause in (w.BY_PUT, w.BY_VALUE, w.BY_DELETE)
        return (
            self.key == event.key
            and (NULL in (self.start, event.start) or self.start == event.start)
            and (NULL in (self.end, event.end) or self.end == event.end)
            and not (causes and (self.cause == w.BY_DELETE) != (event.cause == w.BY_DELETE))
        )


class StoreChecker:
    """The state of all stores of a thread between two batches."""

    def __init__(self) -> None:
        self._stores: dict[int, StoreRecord] = {}
        self._views: dict[tuple[int, int], ViewRecord] = {}
        self._call = NULL
        self._unwritten: dict[tuple[int, int], StoreEvent] = {}
        self._unforwarded: dict[tuple[int, int], StoreEvent] = {}
        self._taken: dict[tuple[int, int], TakenEntry] = {}
        self._written: dict[tuple[int, int], int] = {}
        self._keys = 0

    def follow(self, c: Any, batch: pa.RecordBatch, flags: jit.Array) -> None:
        """Read a batch.

        Raises:
            CheckerGaveUp: a value cannot be read, or there are too many keys.
        """
        if not self._stores and not (c.op == w.STORE_OPEN).any():
            return
        at = np.flatnonzero(np.isin(c.op, READ_OPS))
        texts = [
            batch.column(name).take(pa.array(at)).cast(pa.string()).to_pylist() for name in ("value", "store_kind")
        ]
        columns = (c.seq, c.op, c.cause, c.cache, c.key_hash, c.life, c.dirty == 1, c.call_id, c.pass_id)
        lists = (*columns, c.window_start, c.window_end, c.value_hash, c.old_hash)
        for values in zip(*(column[at].tolist() for column in lists), *texts, strict=True):
            self._read(StoreEvent(*values), flags)
        if self._keys > MAX_STORED_KEYS:
            raise CheckerGaveUp("the stores have more keys than the checker keeps in memory")

    def _read(self, event: StoreEvent, flags: jit.Array) -> None:
        if event.call != self._call:
            self.end_call(flags)
            self._call = event.call
        if event.op == w.STORE_OPEN:
            self._open(event)
        store = self._stores.get(event.cache)
        if store is None:
            return
        if store.lacks_values(event):
            for condition in OF_VALUES:
                flag(flags, condition, event.seq)
        if event.op == w.STORE_OPEN:
            return
        if event.op == w.STORE_CLOSE:
            store.closed_call = event.call
            return
        if event.op >= w.BELOW and store.closed_call is not None and store.closed_call != event.call:
            flag(flags, w.CLOSED_REST, event.seq)
        if event.op == w.VIEW:
            self._views[event.cache, event.view] = ViewRecord(event.cause, read_range(event.text))
        elif event.op == w.VIEW_ENTRY:
            self._show(event, store, flags)
        elif event.op in (w.DELETE, w.REMOVE):
            if event.cause in (w.BY_CALL, w.BY_CLEAR):
                store.dropped_seq = event.seq
        else:
            self._take(event, store, flags)

    def _open(self, event: StoreEvent) -> None:
        try:
            settings = parse_json(event.text or "{}")
        except ValueError:
            raise CheckerGaveUp("the settings of a store are not JSON") from None
        if event.kind is None:
            raise CheckerGaveUp("a store has no kind")
        numbers: list[Any] = [None]
        if isinstance(settings, dict):
            numbers = [settings.get(name, NULL) for name in STORE_SETTINGS]
        if any(type(number) is not int for number in numbers):
            raise CheckerGaveUp("backends may read the settings of a store differently")
        retention, interval, listens, old_values = numbers
        self._stores[event.cache] = StoreRecord(event.kind or "", retention, interval, listens, old_values)

    # What is handed over.

    def _take(self, event: StoreEvent, store: StoreRecord, flags: jit.Array) -> None:
        """Read an event of a cached entry that may be written below and forwarded."""
        key = self._key(store, event.key)
        handed = (event.cache, event.life)
        is_open = store.closed_call is None
        if event.op == w.PUT:
            if event.time != NULL:
                store.stream_time = max(store.stream_time, event.time)
            key.put_seq, key.put_cause, key.put_life = event.seq, event.cause, event.life
            key.start, key.end = event.start, event.end
            if event.dirty:
                self._unforwarded = {
                    taken: below
                    for taken, below in self._unforwarded.items()
                    if (below.cache, below.key) != (event.cache, event.key)
                }
        elif event.op == w.FLUSH:
            if event.cause == w.BY_FAILED:
                store.dropped_seq = event.seq
                return
            if key.put_life == event.life:
                self._taken[handed] = TakenEntry(event.key, key.put_cause, key.start, key.end)
            must = key.put_cause == w.BY_VALUE or (key.put_cause == w.BY_DELETE and key.below == w.BY_PUT)
            if is_open and must and key.put_life == event.life and not store.is_expired(event):
                self._unwritten[handed] = event
        elif event.op == w.BELOW:
            key.below = event.cause
            self._unwritten.pop(handed, None)
            is_doubled = event.life != NULL and handed in self._written
            self._written[handed] = event.value
            if is_doubled or store.is_of_another_kind(event) or not self._is_taken(event):
                flag(flags, w.WRITTEN_BELOW, event.seq)
            if store.is_expired(event):
                flag(flags, w.NONE_EXPIRED, event.seq)
            if is_open and store.listens == 1:
                self._unforwarded[handed] = event
        elif event.op == w.FORWARD:
            self._forward(event, store, key, flags)

    def _forward(self, event: StoreEvent, store: StoreRecord, key: KeyRecord, flags: jit.Array) -> None:
        handed = (event.cache, event.life)
        if handed not in self._written or event.life == NULL:
            flag(flags, w.WRITTEN_BELOW, event.seq)
        if store.is_expired(event):
            flag(flags, w.NONE_EXPIRED, event.seq)
        self._unforwarded.pop(handed, None)
        if (
            store.listens == 0
            or not self._is_taken(event)
            or self._written.get(handed, NULL) not in (NULL, event.value)
        ):
            flag(flags, w.FORWARDED, event.seq)
        if store.old_values == 0 and event.old != NULL:
            flag(flags, w.CHAINED, event.seq)
        if store.old_values == 1 and key.forward_seq > store.dropped_seq:
            expected = key.forward_value if key.forward_cause == w.BY_VALUE else NULL
            if event.old != expected:
                flag(flags, w.CHAINED, event.seq)
        key.forward_seq, key.forward_cause, key.forward_value = event.seq, event.cause, event.value

    def _is_taken(self, event: StoreEvent) -> bool:
        """Return whether a BELOW or FORWARD is about an entry that the call handed over, as its PUT shows it."""
        taken = self._taken.get((event.cache, event.life))
        is_value_of_deletion = event.cause == w.BY_DELETE and event.value != NULL
        return taken is not None and taken.is_entry_of(event) and not is_value_of_deletion

    def _key(self, store: StoreRecord, number: int) -> KeyRecord:
        key = store.keys.get(number)
        if key is None:
            key = store.keys[number] = KeyRecord()
            self._keys += 1
        return key

    def end_call(self, flags: jit.Array) -> None:
        """Flag what the last call handed over and left unfinished."""
        for event in self._unwritten.values():
            flag(flags, w.WRITTEN_BELOW, event.seq)
        for event in self._unforwarded.values():
            if not self._stores[event.cache].is_expired(event):
                flag(flags, w.FORWARDED, event.seq)
        self._unwritten, self._unforwarded, self._taken, self._written = {}, {}, {}, {}

    # Views.

    def _show(self, event: StoreEvent, store: StoreRecord, flags: jit.Array) -> None:
        """Read an entry of a view."""
        is_plain = store.kind == "kv"
        own = w.KEYS_SHOWN if is_plain else w.WINDOWS_SHOWN
        key = self._key(store, event.key)
        if key.put_cause == w.BY_DELETE and key.put_seq < event.view and key.put_seq > store.dropped_seq:
            flag(flags, own, event.seq)
        view = self._views.setdefault((event.cache, event.view), ViewRecord())
        if view.cause is None or view.cause not in (0, event.cause):
            flag(flags, own if is_plain else w.ORDER_SHOWN, event.seq)
        if view.leaves_out(event, is_plain) or self._is_misnamed(event, store, key):
            flag(flags, own, event.seq)
        if store.is_of_another_kind(event):
            flag(flags, w.WINDOWS_SHOWN, event.seq)
        if event.key in view.answered:
            flag(flags, own, event.seq)
        view.answered.add(event.key)
        self._keys += 1
        place = self._place(event, store)
        if place is None:
            return
        if view.last is not None and (view.last < place if event.cause == w.BY_BACKWARD else view.last > place):
            flag(flags, own if is_plain else w.ORDER_SHOWN, event.seq)
        view.last = place

    def _is_misnamed(self, event: StoreEvent, store: StoreRecord, key: KeyRecord) -> bool:
        """Return whether an earlier row gives a key another name or time, or its name to another key."""
        if NULL not in (key.start, event.start) and key.start != event.start:
            return True
        if NULL not in (key.end, event.end) and key.end != event.end:
            return True
        if event.text is None:
            return False
        name, key.name = key.name, event.text
        named = (event.text, event.start, event.end)
        namesake = store.names.get(named)
        if namesake is None:
            self._keys += 1
        store.names[named] = event.key
        return name not in (None, event.text) or namesake not in (None, event.key)

    @staticmethod
    def _place(event: StoreEvent, store: StoreRecord) -> tuple[int, str, int] | None:
        """Return the place of an entry in the order of its store, if it is known."""
        if store.kind == "kv":
            return (0, event.text or "", 0)
        if NULL in (event.time, store.interval) or store.interval == 0:
            return None
        return (event.time // store.interval, event.text or "", event.time)


STORE_SETTINGS: Final = ("retention", "segment_interval", "listens", "old_values")
"""The settings of a store that rules read."""
