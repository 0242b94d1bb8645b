"""The rows of `pulsar-segmented`, and the recorder of a ring of segments.

A trace of this system has one broker for each ring. The cache reports an event with the index of its segment, and
`Recorder.call` records the events of one call. The recorder numbers the turns of the ring and keeps a mirror of the
segments. It records what happened and not what should have happened: an entry that leaves out of turn is recorded with
the turn by which its own segment had become current. `write_case_trace` records the steps of a case.
"""

# ruff: noqa: D102 -- the properties of ReportedRow are trace columns

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from entrycache_reference.pulsar_segmented.ops import Usage
from entrycache_trace import files, recording
from entrycache_trace.schema import ROW_COLUMNS, EventFormat, TraceFormat

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")

EVENTS: Final = (
    EventFormat("CONFIG", (), "the first row: the settings", ("value",)),
    EventFormat(
        "INSERT",
        ("ADD",),
        "the current segment takes an entry",
        (*ENTRY_COLUMNS, "bound"),
        ("tail_no", "key_hash"),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "the position was cached already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "SKIP",
        ("DISABLED", "FULL"),
        "the entry is not taken: caching is off, or no segment has room for it",
        (*POSITION_COLUMNS, "size_bytes"),
    ),
    EventFormat(
        "PASS_BEGIN",
        ("TURN",),
        "the current segment has no room for an entry of `size_bytes`, so the ring turns; a turn that drops "
        "nothing is recorded too",
        ("pass_id", "size_bytes", "bound"),
        ("tail_no", "ticket", "trigger_bytes"),
    ),
    EventFormat(
        "EVICT",
        ("TURN",),
        "the segment that becomes current drops an entry; one row for each entry. No entry leaves in another way, so "
        "there is no REMOVE",
        (*ENTRY_COLUMNS, "pass_id"),
        ("bound", "ticket"),
    ),
    EventFormat(
        "PASS_END",
        ("TURN",),
        "the segment is cleared and current; the INSERT for which the ring turned follows in the same call",
        ("pass_id",),
        ("tail_no", "ticket", "trigger_bytes"),
    ),
    EventFormat(
        "HIT",
        ("GET", "READ"),
        "a lookup finds the entry; READ: one row for each entry of an answered range",
        (*POSITION_COLUMNS, "life"),
        ("size_bytes", "key_hash"),
    ),
    EventFormat(
        "MISS",
        ("GET",),
        "a lookup does not find the entry; a range that is not answered has its ASK rows only",
        POSITION_COLUMNS,
    ),
    EventFormat(
        "ASK",
        ("FIRST", "LAST"),
        "a range is requested: one row for its first position and one for its last",
        POSITION_COLUMNS,
    ),
    EventFormat("METRICS", (), "the answer of `usage`: entries and bytes", ("value",)),
    EventFormat(
        "SNAPSHOT",
        ("END",),
        "before END, one row for each entry, the oldest first",
        ENTRY_COLUMNS,
        ("bound", "tail_no"),
    ),
    EventFormat("END", (), "the last row: entries, bytes, and as slots the segments that were used", (), ("value",)),
)

COLUMN_MEANINGS: Final = {
    "broker": "the run of one broker: one ring; the name of the part's folder, read as a text",
    "seq": "the number of the event; a complete trace has no gap",
    "ts_ns": "monotonic nanoseconds, which never fall with `seq`",
    "op": "the event",
    "cause": "the cause of the event",
    "cache": "the name of the managed ledger",
    "ledger_id": "the position: its ledger",
    "entry_id": "the position: its entry; -1 in an ASK row is a position that is never cached",
    "key_hash": "a number that stands for the payload: for INSERT the inserted one, for HIT the one handed over",
    "life": "the `seq` of the INSERT that began this life",
    "size_bytes": "the length of the entry, not rounded up",
    "pass_id": "the `seq` of the PASS_BEGIN of the turn that the row belongs to, its own there",
    "call_id": "the `seq` of the first event of the same call",
    "bound": "the byte of its segment at which the entry starts; for PASS_BEGIN the offset of the segment without room",
    "trigger_bytes": "the bytes of a segment: an entry that would end beyond them turns the ring",
    "bytes_after": "the recorder's own sum of the sizes of all entries, after the event",
    "manager_bytes": "the sum of the offsets of all segments, after the event",
    "tail_no": "the number of the turn by which the segment that takes the entry became current, 0 before the first",
    "ticket": "the number of the turn by which the segment that is cleared had become current; null: it was never used",
    "value": "JSON: for CONFIG the settings, for METRICS and END `entries` and `bytes`, for END also `slots`",
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "S-RING-2")


_NULLS: Final = dict.fromkeys(ROW_COLUMNS)


class ReportedRow(Protocol):
    """The report of a cache about one event; `segment` is the index of the segment of the row."""

    @property
    def op(self) -> str: ...
    @property
    def cause(self) -> str | None: ...
    @property
    def cache(self) -> str | None: ...
    @property
    def ledger_id(self) -> int | None: ...
    @property
    def entry_id(self) -> int | None: ...
    @property
    def size_bytes(self) -> int | None: ...
    @property
    def token(self) -> Any: ...
    @property
    def segment(self) -> int | None: ...
    @property
    def bound(self) -> int | None: ...
    @property
    def trigger_bytes(self) -> int | None: ...
    @property
    def manager_bytes(self) -> int | None: ...


class EntryKey(NamedTuple):
    """The name of a cached entry: its cache and its position."""

    cache: str | None
    ledger_id: int | None
    entry_id: int | None


class EntryLife(NamedTuple):
    """One life of an entry; `tail_no` is the turn by which its segment had become current."""

    life: int
    size_bytes: int
    bound: int | None
    tail_no: int


class Recorder:
    """The recorder of one ring: it adds `seq`, life, pass, call and the numbers of turns to the reported rows."""

    def __init__(self, writer: files.PartWriter, config: Mapping[str, object], ts_ns: int = 0) -> None:
        self.seq = 0
        self._writer = writer
        self._bytes = 0
        self._written_bytes: int | None = None
        self._turn = 0
        self._pass: dict[str, int | None] = {}
        self._turns: dict[int | None, int] = {0: 0}
        self._segments: dict[int | None, dict[EntryKey, EntryLife]] = {0: {}}
        self._write(ts_ns, "CONFIG", 0, value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], ts_ns: int = 0) -> None:
        """Record the rows of one call in their order."""
        call_id = self.seq
        for row in rows:
            self._written_bytes = row.manager_bytes
            self._write(ts_ns, row.op, call_id, **self._columns(row))
            if row.op == "PASS_END":
                self._pass = {}

    def metrics(self, counters: Mapping[str, object], ts_ns: int = 0) -> None:
        """Record a request for the entries and bytes in use."""
        self._write(ts_ns, "METRICS", self.seq, value=json.dumps(counters, sort_keys=True))

    def close(self, ts_ns: int = 0) -> None:
        """Write the snapshot of the ring and the last event."""
        entries = [(entry, key) for segment in self._segments.values() for key, entry in segment.items()]
        for entry, key in sorted(entries):
            self._write(ts_ns, "SNAPSHOT", self.seq, cause="END", **key._asdict(), **entry._asdict())
        end = {"entries": len(entries), "bytes": self._bytes, "slots": len(self._turns)}
        self._write(ts_ns, "END", self.seq, value=json.dumps(end))
        self._writer.close()

    def _columns(self, row: ReportedRow) -> dict[str, Any]:
        """Apply a row to the mirror and return its columns beyond those of every row."""
        key = EntryKey(row.cache, row.ledger_id, row.entry_id)
        columns: dict[str, Any] = {
            **key._asdict(),
            "cause": row.cause,
            "size_bytes": row.size_bytes,
            "key_hash": row.token if type(row.token) is int else None,
            "bound": row.bound,
            "trigger_bytes": row.trigger_bytes,
        }
        if row.op == "PASS_BEGIN":
            self._turn += 1
            self._pass = {"pass_id": self.seq, "tail_no": self._turn, "ticket": self._turns.get(row.segment)}
            self._turns[row.segment] = self._turn
        elif row.op == "INSERT":
            return columns | self._enter(row, key)
        elif row.op == "EVICT":
            return columns | {"pass_id": self._pass.get("pass_id")} | self._leave(row, key)
        elif row.op == "HIT":
            entry = self._find(key)
            return columns | ({} if entry is None else {"life": entry.life})
        return columns | (self._pass if row.op in ("PASS_BEGIN", "PASS_END") else {})

    def _enter(self, row: ReportedRow, key: EntryKey) -> dict[str, int | None]:
        segment = self._segments.setdefault(row.segment, {})
        former = segment.pop(key, None)
        segment[key] = EntryLife(self.seq, row.size_bytes or 0, row.bound, self._turns.get(row.segment, 0))
        self._bytes += segment[key].size_bytes - (0 if former is None else former.size_bytes)
        return {"life": self.seq, "tail_no": segment[key].tail_no}

    def _leave(self, row: ReportedRow, key: EntryKey) -> dict[str, int | None]:
        entry = self._segments.get(row.segment, {}).pop(key, None)
        if entry is None:
            return {}
        self._bytes -= entry.size_bytes
        return {"life": entry.life, "ticket": entry.tail_no}

    def _find(self, key: EntryKey) -> EntryLife | None:
        """Return the cached entry of a key, that of the newest segment if there are several."""
        entries = (entry for segment in self._segments.values() if (entry := segment.get(key)) is not None)
        return max(entries, key=lambda entry: entry.life, default=None)

    def _write(self, ts_ns: int, op: str, call_id: int, **columns: Any) -> None:
        known = {"seq": self.seq, "ts_ns": ts_ns, "op": op, "call_id": call_id, "bytes_after": self._bytes}
        known["manager_bytes"] = self._written_bytes
        self._writer.write(tuple({**_NULLS, **known, **columns}.values()))
        self.seq += 1


def write_case_trace(
    out: Path, metadata: files.Metadata, config: Mapping[str, object], calls: Sequence[recording.CaseStep]
) -> int:
    """Write the trace of a case and return the number of its events.

    A step that asks for the use is an event of its own, and its outcome is the value of the event.
    """
    recorder = Recorder(files.PartWriter(out, recording.ONLY_BROKER), config)
    for call in calls:
        recorder.call(call.rows)
        if isinstance(call.op, Usage):
            recorder.metrics(call.outcome_json())
    recorder.close()
    files.write_metadata(out, metadata)
    return recorder.seq
