"""The rows of `kafka-streams`, and the recorder of a stream thread's cache.

A trace of this system has one broker for each stream thread. The cache reports an event, `Recorder.call` records the
events of one call. It adds `seq`, the life of each entry, the call, and the hash of the key; `bytes_after` is its own
sum, and `manager_bytes` is the total that the cache reports. `write_case_trace` records the steps of a case.

A caching store in front of the cache reports rows of its own (`StoreRow`): when it opens and closes, each entry that it
writes to the underlying store and forwards downstream, and its views with their entries. In the namespace of a store of
windows or sessions a key is the name of the window or session, from which the recorder takes the times.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import xxhash

from entrycache_reference.kafka_streams.change import parse_window
from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.vocabulary import ABSENT
from entrycache_trace import files, recording
from entrycache_trace.schema import ROW_COLUMNS, EventFormat, TraceFormat

ENTRY_COLUMNS: Final = ("cache", "key_hash", "life", "size_bytes", "dirty")
TIMES: Final = ("window_start", "window_end")
HANDED_COLUMNS: Final = ("cache", "key_hash", "life")

EVENTS: Final = (
    EventFormat("CONFIG", (), "the first row, and each resize", ("value",)),
    EventFormat("CACHE_OPEN", (), "a namespace is used for the first time", ("cache",)),
    EventFormat("CACHE_CLOSE", (), "the namespace is closed; the rows of its entries come before", ("cache",)),
    EventFormat(
        "PUT",
        ("VALUE", "DELETE"),
        "a write begins a life and ends the key's former life; `dirty` is that of the write, DELETE a tombstone",
        ENTRY_COLUMNS,
        ("cause", *TIMES),
    ),
    EventFormat("HIT", ("GET",), "a lookup finds the key, also during an iteration", ENTRY_COLUMNS),
    EventFormat("MISS", ("GET",), "a lookup does not find the key", ("cache", "key_hash")),
    EventFormat("EVICT", (), "the eldest entry leaves; `dirty` says that it was not handed over yet", ENTRY_COLUMNS),
    EventFormat(
        "FLUSH",
        ("CALL", "EVICT", "FAILED"),
        "an entry is handed to a listener: EVICT the evicted entry, CALL another one, FAILED without success",
        ENTRY_COLUMNS,
        TIMES,
    ),
    EventFormat(
        "DELETE", ("CALL", "FLUSH"), "a key is deleted, or a tombstone that was handed over is dropped", ENTRY_COLUMNS
    ),
    EventFormat("REMOVE", ("CLEAR", "CLOSE"), "an entry leaves with its namespace", ENTRY_COLUMNS),
    EventFormat(
        "STORE_OPEN", (), "a caching store opens, and listens to its namespace", ("cache", "store_kind", "value")
    ),
    EventFormat("STORE_CLOSE", (), "the store has closed; the rows of its last flush come before", ("cache",)),
    EventFormat(
        "BELOW",
        ("PUT", "DELETE"),
        "the store writes an entry that was handed over to the underlying store",
        HANDED_COLUMNS,
        (*TIMES, "value_hash"),
    ),
    EventFormat(
        "FORWARD",
        ("VALUE", "DELETE"),
        "the store forwards an entry that was handed over; the rows of what is done downstream follow",
        HANDED_COLUMNS,
        (*TIMES, "value_hash", "old_hash"),
    ),
    EventFormat(
        "VIEW",
        ("FORWARD", "BACKWARD"),
        "a view of the store begins, of the range in `value`",
        ("cache", "pass_id", "value"),
    ),
    EventFormat(
        "VIEW_ENTRY",
        ("FORWARD", "BACKWARD"),
        "the view answers an entry; an open view may do so in a later call",
        ("cache", "key_hash", "pass_id"),
        (*TIMES, "value"),
    ),
    EventFormat("METRICS", (), "the counters of the thread, or of the namespace `cache`", ("value",), ("cache",)),
    EventFormat("END", (), "the last row: entries and bytes", (), ("value",)),
)

COLUMN_MEANINGS: Final = {
    "broker": "the cache of one stream thread; the name of the part's folder, read as a text",
    "seq": "the number of the event; a complete trace has no gap",
    "ts_ns": "monotonic nanoseconds, which never fall with `seq`",
    "op": "the event",
    "cause": "the cause of the event",
    "call_id": "the `seq` of the first event of the same call",
    "bytes_after": "the recorder's own sum of the sizes of all entries, after the event",
    "cache": "the namespace",
    "key_hash": (
        "XXH64 of the key in UTF-8 with the seed 42, signed; of a window `KEY@START`, of a session `KEY@START-END`, or "
        "of other bytes that have key and times"
    ),
    "life": "the `seq` of the PUT that began the life",
    "size_bytes": "the accounted size of the entry",
    "dirty": "the flag before the event; for PUT that of the write",
    "manager_bytes": "the cache's own total",
    "pass_id": "the `seq` of the VIEW that the row belongs to, its own there",
    "window_start": "the start of the window or session, in milliseconds",
    "window_end": "the end of the session; null for a window, whose time is its start",
    "store_kind": "`kv`, `window` or `session`",
    "value_hash": "the hash of the value that is written or forwarded, as `key_hash`; null for a deletion",
    "old_hash": "the hash of the value before that is forwarded too; null if there was none",
    "value": (
        "JSON: for CONFIG the settings, for METRICS the counters, for END `entries` and `bytes`; for STORE_OPEN "
        "`listens` and `old_values`, 0 or 1, and for windows and sessions `retention` and `segment_interval` in "
        "milliseconds; for VIEW its range: the keys `from` and `to`, or `key`, or a `prefix`, and `time_from` and "
        "`time_to`; for VIEW_ENTRY a text: its key; keys are their bytes, without times, in lower-case hexadecimal "
        "digits"
    ),
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "K-FLUSH-4")


HASH_SEED: Final = 42
"""The seed of Spark's `xxhash64`, with which a query can find a key in a trace by its name."""

_NULLS: Final = dict.fromkeys(ROW_COLUMNS)
_REMOVAL_OPS: Final = ("EVICT", "DELETE", "REMOVE")


class ReportedRow(Protocol):
    """The report of a cache about one event; `value` has the changed settings of a CONFIG row."""

    @property
    def op(self) -> str: ...  # noqa: D102
    @property
    def cause(self) -> str | None: ...  # noqa: D102
    @property
    def bytes_after(self) -> int: ...  # noqa: D102
    @property
    def ns(self) -> str | None: ...  # noqa: D102
    @property
    def key(self) -> str | bytes | None: ...  # noqa: D102
    @property
    def size_bytes(self) -> int | None: ...  # noqa: D102
    @property
    def dirty(self) -> bool | None: ...  # noqa: D102
    @property
    def value(self) -> str | None: ...  # noqa: D102


class StoreRow(NamedTuple):
    """The report of a caching store about one event, or of its namespace about a write.

    `key` is the key, or the name of the window or session. `text` is the value, `old` the value before. `write` is the
    number of the write that made the entry, `view` the name of an open view; a view that is read at once has none.
    """

    op: str
    cause: str | None
    bytes_after: int
    ns: str | None
    key: str | bytes | None = None
    size_bytes: int | None = None
    dirty: bool | None = None
    value: str | None = None
    kind: StoreKind | None = None
    text: str | bytes | None = None
    old: str | bytes | None = None
    write: int | None = None
    view: str | None = None


STORE_OPS: Final = ("STORE_OPEN", "STORE_CLOSE", "BELOW", "FORWARD", "VIEW", "VIEW_ENTRY")
"""The ops of caching stores, whose rows are about no change of the cache."""


class EntryKey(NamedTuple):
    """The name of a cached entry: its namespace and its key."""

    ns: str | None
    key: str | bytes | None


def key_hash(key: str | bytes) -> int:
    """Return the hash of a key: XXH64 of its UTF-8 bytes with seed 42, as a signed number."""
    data = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
    unsigned: int = xxhash.xxh64_intdigest(data, HASH_SEED)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


class EntryLife(NamedTuple):
    """One life of an entry."""

    life: int
    size_bytes: int


class Recorder:
    """The recorder of one thread's cache: it adds `seq`, life, call and hash to the reported rows."""

    def __init__(self, writer: files.PartWriter, config: Mapping[str, object], ts_ns: int = 0) -> None:
        self.seq = 0
        self._writer = writer
        self._config = dict(config)
        self._bytes = 0
        self._total_bytes: int | None = None
        self._cached: dict[EntryKey, EntryLife] = {}
        self._evicted: dict[EntryKey, int] = {}
        self._open: set[str] = set()
        self._hashes: dict[str | bytes, int] = {}
        self._kinds: dict[str | None, StoreKind] = {}
        self._lives: dict[int, int] = {}
        self._handed: dict[EntryKey, int | None] = {}
        self._views: dict[str | None, int] = {}
        self._write(ts_ns, "CONFIG", 0, value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], ts_ns: int = 0) -> None:
        """Record the rows of one call in their order."""
        call_id = self.seq
        self._evicted.clear()
        for row in rows:
            if row.op in STORE_OPS:
                self._total_bytes = row.bytes_after
                self._write(ts_ns, row.op, call_id, **self._store_columns(row))
                continue
            if row.ns is not None and row.ns not in self._open and row.op != "CACHE_CLOSE":
                self._open.add(row.ns)
                self._write(ts_ns, "CACHE_OPEN", call_id, cache=row.ns)
            self._record(row, call_id, ts_ns)

    def metrics(self, counters: Mapping[str, object], ns: str | None = None, ts_ns: int = 0) -> None:
        """Record a request for the counters of the thread or of a namespace."""
        self._write(ts_ns, "METRICS", self.seq, cache=ns, value=json.dumps(counters, sort_keys=True))

    def close(self, ts_ns: int = 0) -> None:
        """Write the last event."""
        end = {"entries": len(self._cached), "bytes": self._bytes, "slots": 0}
        self._write(ts_ns, "END", self.seq, value=json.dumps(end))
        self._writer.close()

    def _record(self, row: ReportedRow, call_id: int, ts_ns: int) -> None:
        op, key = row.op, row.key
        self._total_bytes = row.bytes_after
        columns: dict[str, Any] = {
            "cache": row.ns,
            "cause": row.cause,
            "size_bytes": row.size_bytes,
            "dirty": row.dirty,
        }
        if key is not None:
            columns |= {"key_hash": self._hash(key), "life": self._life(row, EntryKey(row.ns, key))}
            columns |= self._times(row.ns, key)
            if op == "FLUSH":
                self._handed[EntryKey(row.ns, key)] = columns["life"]
            elif isinstance(row, StoreRow) and row.write is not None:
                self._lives[row.write] = columns["life"]
        if op == "CONFIG":
            self._config |= json.loads(row.value or "{}")
            columns["value"] = json.dumps(self._config, sort_keys=True)
        self._write(ts_ns, op, call_id, **columns)
        if op == "CACHE_CLOSE" and row.ns is not None:
            self._open.discard(row.ns)

    def _store_columns(self, row: Any) -> dict[str, Any]:
        """Return the columns of a store's row."""
        columns: dict[str, Any] = {"cache": row.ns, "cause": row.cause, "value": row.value}
        if row.op == "STORE_OPEN":
            self._kinds[row.ns] = row.kind
            columns["store_kind"] = row.kind.value
        elif row.op == "STORE_CLOSE":
            self._kinds.pop(row.ns, None)
        elif row.op == "VIEW":
            self._views[row.view] = self.seq
        if row.op in ("VIEW", "VIEW_ENTRY"):
            columns["pass_id"] = self._views[row.view]
        if row.key is not None:
            columns |= {"key_hash": self._hash(row.key), **self._times(row.ns, row.key)}
        if row.op in ("BELOW", "FORWARD"):
            handed = self._handed.get(EntryKey(row.ns, row.key))
            columns["life"] = handed if row.write is None else self._lives.get(row.write, handed)
            columns["value_hash"] = None if row.text is None else key_hash(row.text)
        if row.op == "FORWARD":
            columns["old_hash"] = None if row.old is None else key_hash(row.old)
        if row.op == "VIEW_ENTRY":
            columns["value"] = json.dumps(self._record_key(row.ns, row.key).hex())
        return columns

    def _times(self, ns: str | None, key: str | bytes) -> dict[str, int]:
        """Return the times of a window or session that is cached under its name."""
        kind = self._kinds.get(ns, StoreKind.KEY_VALUE)
        if kind is StoreKind.KEY_VALUE or not isinstance(key, str) or "@" not in key:
            return {}  # a store that its own forward closed goes on under a name that is another store's by now
        window = parse_window(key)
        times = {"window_start": window.start}
        return {**times, "window_end": window.end} if kind is StoreKind.SESSION else times

    def _record_key(self, ns: str | None, key: str | bytes) -> bytes:
        """Return the bytes of a key without the times of its window or session."""
        if isinstance(key, bytes):
            return key
        is_plain = self._kinds.get(ns, StoreKind.KEY_VALUE) is StoreKind.KEY_VALUE
        return (key if is_plain else parse_window(key).key).encode("utf-8", "surrogatepass")

    def _hash(self, key: str | bytes) -> int:
        entry = self._hashes.get(key)
        if entry is None:
            entry = self._hashes[key] = key_hash(key)
        return entry

    def _life(self, row: ReportedRow, entry_key: EntryKey) -> int | None:
        """Return the life of the entry of a row. An evicted entry is handed over after it has left."""
        entry = self._cached.get(entry_key)
        if row.op == "PUT":
            self._cached[entry_key] = EntryLife(self.seq, row.size_bytes or 0)
            self._bytes += (row.size_bytes or 0) - (0 if entry is None else entry.size_bytes)
            return self.seq
        if row.op == "FLUSH" and row.cause == "EVICT":
            return self._evicted.get(entry_key)
        if entry is None:
            return None
        if row.op in _REMOVAL_OPS:
            del self._cached[entry_key]
            self._evicted[entry_key] = entry.life
            self._bytes -= entry.size_bytes
        return entry.life

    def _write(self, ts_ns: int, op: str, call_id: int, **columns: Any) -> None:
        known = {"seq": self.seq, "ts_ns": ts_ns, "op": op, "call_id": call_id, "bytes_after": self._bytes}
        known["manager_bytes"] = self._total_bytes
        self._writer.write(tuple({**_NULLS, **known, **columns}.values()))
        self.seq += 1


def write_case_trace(
    out: Path, metadata: files.Metadata, config: Mapping[str, object], calls: Sequence[recording.CaseStep]
) -> int:
    """Write the trace of a case and return the number of its events.

    A step that asks for counters is an event of its own, and its outcome is the value of the event.
    """
    recorder = Recorder(files.PartWriter(out, recording.ONLY_BROKER), config)
    for call in calls:
        recorder.call(call.rows)
        if isinstance(call.op, Metrics):
            recorder.metrics(call.outcome_json(), None if call.op.ns is ABSENT else call.op.ns)
    recorder.close()
    files.write_metadata(out, metadata)
    return recorder.seq
