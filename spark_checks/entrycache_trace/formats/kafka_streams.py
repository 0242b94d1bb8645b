"""The rows of `kafka-streams`, and the recorder of a stream thread's cache.

A trace of this system has one broker for each stream thread. The cache reports an event, `Recorder.call` records the
events of one call. It adds `seq`, the life of each entry, the call, and the hash of the key; `bytes_after` is its own
sum, and `manager_bytes` is the total that the cache reports. `write_case_trace` records the steps of a case.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import xxhash

from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.vocabulary import ABSENT
from entrycache_trace import files, recording
from entrycache_trace.schema import ROW_COLUMNS, EventFormat, TraceFormat

ENTRY_COLUMNS: Final = ("cache", "key_hash", "life", "size_bytes", "dirty")

EVENTS: Final = (
    EventFormat("CONFIG", (), "the first row, and each resize", ("value",)),
    EventFormat("CACHE_OPEN", (), "a namespace is used for the first time", ("cache",)),
    EventFormat("CACHE_CLOSE", (), "the namespace is closed; the rows of its entries come before", ("cache",)),
    EventFormat(
        "PUT", (), "a write begins a life and ends the key's former life; `dirty` is that of the write", ENTRY_COLUMNS
    ),
    EventFormat("HIT", ("GET",), "a lookup finds the key, also during an iteration", ENTRY_COLUMNS),
    EventFormat("MISS", ("GET",), "a lookup does not find the key", ("cache", "key_hash")),
    EventFormat("EVICT", (), "the eldest entry leaves; `dirty` says that it was not handed over yet", ENTRY_COLUMNS),
    EventFormat(
        "FLUSH",
        ("CALL", "EVICT", "FAILED"),
        "an entry is handed to a listener: EVICT the evicted entry, CALL another one, FAILED without success",
        ENTRY_COLUMNS,
    ),
    EventFormat(
        "DELETE", ("CALL", "FLUSH"), "a key is deleted, or a tombstone that was handed over is dropped", ENTRY_COLUMNS
    ),
    EventFormat("REMOVE", ("CLEAR", "CLOSE"), "an entry leaves with its namespace", ENTRY_COLUMNS),
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
    "key_hash": "XXH64 of the key in UTF-8 with the seed 42, signed",
    "life": "the `seq` of the PUT that began the life",
    "size_bytes": "the accounted size of the entry",
    "dirty": "the flag before the event; for PUT that of the write",
    "manager_bytes": "the cache's own total",
    "value": "JSON: for CONFIG the settings, for METRICS the counters, for END `entries` and `bytes`",
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
        self._write(ts_ns, "CONFIG", 0, value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], ts_ns: int = 0) -> None:
        """Record the rows of one call in their order."""
        call_id = self.seq
        self._evicted.clear()
        for row in rows:
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
        if op == "CONFIG":
            self._config |= json.loads(row.value or "{}")
            columns["value"] = json.dumps(self._config, sort_keys=True)
        self._write(ts_ns, op, call_id, **columns)
        if op == "CACHE_CLOSE" and row.ns is not None:
            self._open.discard(row.ns)

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
