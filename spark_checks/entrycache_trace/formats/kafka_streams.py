"""The rows of `kafka-streams`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import xxhash

from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.vocabulary import ABSENT
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.recording import ONLY_BROKER, CaseStep
from entrycache_trace.schema import ROW_COLUMNS, EventFormat, TraceFormat

ENTRY_COLUMNS: Final = ("cache", "key_hash", "life", "size_bytes", "dirty")

EVENTS: Final = (
    EventFormat("CONFIG", (), "first, and at each resize", ("value",)),
    EventFormat("CACHE_OPEN", (), "a namespace is used for the first time", ("cache",)),
    EventFormat("CACHE_CLOSE", (), "it is closed; behind the rows of its entries", ("cache",)),
    EventFormat(
        "PUT", (), "a write: it begins a life and ends the key's former one; `dirty` as it was written", ENTRY_COLUMNS
    ),
    EventFormat("HIT", ("GET",), "a lookup that finds the key, also of an iteration", ENTRY_COLUMNS),
    EventFormat("MISS", ("GET",), "one that does not", ("cache", "key_hash")),
    EventFormat("EVICT", (), "the eldest entry leaves; `dirty`: it was not handed over yet", ENTRY_COLUMNS),
    EventFormat(
        "FLUSH",
        ("CALL", "EVICT", "FAILED"),
        "an entry is handed to a listener: EVICT the evicted one, CALL another, FAILED it could not be",
        ENTRY_COLUMNS,
    ),
    EventFormat(
        "DELETE", ("CALL", "FLUSH"), "a key is deleted, or a tombstone that was handed over is dropped", ENTRY_COLUMNS
    ),
    EventFormat("REMOVE", ("CLEAR", "CLOSE"), "an entry leaves with its namespace", ENTRY_COLUMNS),
    EventFormat("METRICS", (), "the counters of the thread, or with `cache` of a namespace", ("value",), ("cache",)),
    EventFormat("END", (), "last: entries and bytes", (), ("value",)),
)

COLUMN_MEANINGS: Final = {
    "broker": "the cache of one stream thread; the name of the part's folder, read as a text",
    "seq": "the order of its events; a trace that misses nothing has no gap",
    "ts_ns": "monotonic nanoseconds, never falling with `seq`",
    "op": "what happened; below",
    "cause": "why or how; below",
    "call_id": "the `seq` of the first event of the same call",
    "bytes_after": "the recorder's own sum of the sizes of all entries, after the event",
    "cache": "the namespace",
    "key_hash": "XXH64 of the key in UTF-8 with the seed 42, signed",
    "life": "the `seq` of the PUT that began it",
    "size_bytes": "what the entry counts",
    "dirty": "the flag before the event; of PUT as it was written",
    "manager_bytes": "the cache's own total",
    "value": "JSON: of CONFIG the settings, of METRICS the counters, of END `entries` and `bytes`",
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "K-FLUSH-4")


# --- recorder
# Turns the rows that the cache of a stream thread reports, call by call, into a recorded trace.

HASH_SEED: Final = 42
"""The seed of Spark's `xxhash64`, so that a key can be looked up in a trace by its name."""

_NULLS: Final = dict.fromkeys(ROW_COLUMNS)
_REMOVAL_OPS: Final = ("EVICT", "DELETE", "REMOVE")


class ReportedRow(Protocol):
    """What a cache reports of one event; `value` tells the changed settings of a CONFIG row."""

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
    """What names a cached entry from outside."""

    ns: str | None
    key: str | bytes | None


def key_hash(key: str | bytes) -> int:
    """The hash of a key: XXH64 of its UTF-8 bytes with seed 42, as a signed number."""
    data = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
    unsigned: int = xxhash.xxh64_intdigest(data, HASH_SEED)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


class EntryLife(NamedTuple):
    """One life of an entry."""

    life: int
    size_bytes: int


class Recorder:
    """Records the run of one thread's cache: adds seq, life, call and hash to what the cache reports.

    `bytes_after` is the recorder's own sum; what the cache says of its total stands in `manager_bytes`.
    """

    def __init__(self, writer: PartWriter, config: Mapping[str, object], ts_ns: int = 0) -> None:
        self.seq = 0
        self._writer = writer
        self._config = dict(config)
        self._bytes = 0
        self._total_bytes: int | None = None
        self._cached: dict[EntryKey, EntryLife] = {}
        self._left: dict[EntryKey, int] = {}
        self._open: set[str] = set()
        self._hashes: dict[str | bytes, int] = {}
        self._write(ts_ns, "CONFIG", 0, value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], ts_ns: int = 0) -> None:
        """Record the rows of one call, in their order."""
        call_id = self.seq
        self._left.clear()
        for row in rows:
            if row.ns is not None and row.ns not in self._open and row.op != "CACHE_CLOSE":
                self._open.add(row.ns)
                self._write(ts_ns, "CACHE_OPEN", call_id, cache=row.ns)
            self._record(row, call_id, ts_ns)

    def metrics(self, counters: Mapping[str, object], ns: str | None = None, ts_ns: int = 0) -> None:
        """Record a call that asked for the counters of the thread, or of a namespace."""
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
        found = self._hashes.get(key)
        if found is None:
            found = self._hashes[key] = key_hash(key)
        return found

    def _life(self, row: ReportedRow, place: EntryKey) -> int | None:
        """The life that the row is about; one that has left is still handed over."""
        found = self._cached.get(place)
        if row.op == "PUT":
            self._cached[place] = EntryLife(self.seq, row.size_bytes or 0)
            self._bytes += (row.size_bytes or 0) - (0 if found is None else found.size_bytes)
            return self.seq
        if row.op == "FLUSH" and row.cause == "EVICT":
            return self._left.get(place)
        if found is None:
            return None
        if row.op in _REMOVAL_OPS:
            del self._cached[place]
            self._left[place] = found.life
            self._bytes -= found.size_bytes
        return found.life

    def _write(self, ts_ns: int, op: str, call_id: int, **columns: Any) -> None:
        known = {"seq": self.seq, "ts_ns": ts_ns, "op": op, "call_id": call_id, "bytes_after": self._bytes}
        known["manager_bytes"] = self._total_bytes
        self._writer.write(tuple({**_NULLS, **known, **columns}.values()))
        self.seq += 1


def write_case_trace(out: Path, metadata: Metadata, config: Mapping[str, object], calls: Sequence[CaseStep]) -> int:
    """Write the trace of a case; the number of its events.

    A step that asks for counters is its own event; its outcome is what it tells.
    """
    recorder = Recorder(PartWriter(out, ONLY_BROKER), config)
    for call in calls:
        recorder.call(call.rows)
        if isinstance(call.op, Metrics):
            recorder.metrics(call.told(), None if call.op.ns is ABSENT else call.op.ns)
    recorder.close()
    write_metadata(out, metadata)
    return recorder.seq
