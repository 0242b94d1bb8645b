"""The rows of `pulsar-segmented`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from entrycache_reference.pulsar_segmented.ops import Usage
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.recording import ONLY_BROKER, CaseStep
from entrycache_trace.schema import ROW_COLUMNS, EventFormat, TraceFormat

POSITION_COLUMNS: Final = ("cache", "ledger_id", "entry_id")
ENTRY_COLUMNS: Final = (*POSITION_COLUMNS, "life", "size_bytes")

EVENTS: Final = (
    EventFormat("CONFIG", (), "first: the settings", ("value",)),
    EventFormat(
        "INSERT",
        ("ADD",),
        "the current segment takes an entry",
        (*ENTRY_COLUMNS, "bound"),
        ("tail_no", "key_hash"),
    ),
    EventFormat("REJECT", ("DUPLICATE",), "it was there already", POSITION_COLUMNS, ("size_bytes",)),
    EventFormat(
        "SKIP",
        ("DISABLED", "FULL"),
        "it is not taken: caching is off, or no segment has room for it",
        (*POSITION_COLUMNS, "size_bytes"),
    ),
    EventFormat(
        "PASS_BEGIN",
        ("TURN",),
        "the current segment has no room for an entry of `size_bytes`: the ring turns; a turn that drops nothing is "
        "told too",
        ("pass_id", "size_bytes", "bound"),
        ("tail_no", "ticket", "trigger_bytes"),
    ),
    EventFormat(
        "EVICT",
        ("TURN",),
        "the segment that becomes current drops an entry, one row each",
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
    EventFormat("HIT", ("GET", "READ"), "a lookup finds the entry; READ: one row an entry of a range that is answered",
          (*POSITION_COLUMNS, "life"), ("size_bytes", "key_hash")),
    EventFormat("MISS", ("GET",), "a lookup does not; a range that is not answered has its ASK rows only", POSITION_COLUMNS),
    EventFormat("ASK", ("FIRST", "LAST"), "a range is asked for: its first position and its last one, one row each", POSITION_COLUMNS),
    EventFormat("METRICS", (), "what `usage` answered: entries and bytes", ("value",)),
    EventFormat(
        "SNAPSHOT",
        ("END",),
        "before END, one row an entry, the oldest first",
        ENTRY_COLUMNS,
        ("bound", "tail_no"),
    ),
    EventFormat("END", (), "last: entries, bytes, and segments that were used as slots", (), ("value",)),
)  # fmt: skip

COLUMN_MEANINGS: Final = {
    "broker": "the run of one broker: one ring; the name of the part's folder, read as a text",
    "seq": "the order of its events; a trace that misses nothing has no gap",
    "ts_ns": "monotonic nanoseconds, never falling with `seq`",
    "op": "what happened; below",
    "cause": "why or how; below",
    "cache": "the name of the managed ledger",
    "ledger_id": "the position: its ledger",
    "entry_id": "the position: its entry; -1 in an ASK row is a position that never is",
    "key_hash": "a number that stands for the payload: of INSERT what came with it, of HIT what is handed over",
    "life": "the `seq` of the INSERT that began this stay",
    "size_bytes": "the length of the entry, not rounded up",
    "pass_id": "the `seq` of the PASS_BEGIN of the turn that the row belongs to, its own there",
    "call_id": "the `seq` of the first event of the same call",
    "bound": "the byte of its segment at which the entry starts; of PASS_BEGIN the offset of the segment without room",
    "trigger_bytes": "what a segment has room for: an entry that would end beyond it turns the ring",
    "bytes_after": "the recorder's own sum of the sizes of all entries, after the event",
    "manager_bytes": "the sum of the offsets of all segments, after the event",
    "tail_no": "the number of the turn by which the segment that takes the entry became current, 0 before the first",
    "ticket": "the number of the turn by which the segment that is cleared had become current; null: it was never used",
    "value": "JSON: of CONFIG the settings, of METRICS and END `entries` and `bytes`, of END `slots` too",
}

FORMAT: Final = TraceFormat(EVENTS, COLUMN_MEANINGS, "S-RING-2")


# --- recorder
# Turns the rows that a ring of segments reports, call by call, into a recorded trace.
#
# The recorder numbers the turns of the ring, and keeps a mirror of the segments. It tells what happened, not what should
# have: an entry that leaves out of turn is recorded with the turn by which its own segment had become current.

_NULLS: Final = dict.fromkeys(ROW_COLUMNS)


class ReportedRow(Protocol):
    """What a cache reports of one event; `segment` is the index of the one that the row is about."""

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
    """What names a cached entry from outside."""

    cache: str | None
    ledger_id: int | None
    entry_id: int | None


class EntryLife(NamedTuple):
    """One life of an entry; `tail_no`: the turn by which its segment had become current."""

    life: int
    size_bytes: int
    bound: int | None
    tail_no: int


class Recorder:
    """Records the run of one ring: adds seq, life, pass, call and the numbers of turns to what the cache reports."""

    def __init__(self, writer: PartWriter, config: Mapping[str, object], ts_ns: int = 0) -> None:
        self.seq = 0
        self._writer = writer
        self._bytes = 0
        self._written_bytes: int | None = None
        self._turn = 0
        self._pass: dict[str, int | None] = {}
        self._turns: dict[int | None, int] = {0: 0}
        self._held: dict[int | None, dict[EntryKey, EntryLife]] = {0: {}}
        self._write(ts_ns, "CONFIG", 0, value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], ts_ns: int = 0) -> None:
        """Record the rows of one call, in their order."""
        call_id = self.seq
        for row in rows:
            self._written_bytes = row.manager_bytes
            self._write(ts_ns, row.op, call_id, **self._columns(row))
            if row.op == "PASS_END":
                self._pass = {}

    def metrics(self, counters: Mapping[str, object], ts_ns: int = 0) -> None:
        """Record a call that asked for what is in use."""
        self._write(ts_ns, "METRICS", self.seq, value=json.dumps(counters, sort_keys=True))

    def close(self, ts_ns: int = 0) -> None:
        """Write the snapshot of the ring and the last event."""
        stays = [(stay, place) for held in self._held.values() for place, stay in held.items()]
        for stay, place in sorted(stays):
            self._write(ts_ns, "SNAPSHOT", self.seq, cause="END", **place._asdict(), **stay._asdict())
        end = {"entries": len(stays), "bytes": self._bytes, "slots": len(self._turns)}
        self._write(ts_ns, "END", self.seq, value=json.dumps(end))
        self._writer.close()

    def _columns(self, row: ReportedRow) -> dict[str, Any]:
        """What a row says, beside what every row does; the mirror follows it."""
        place = EntryKey(row.cache, row.ledger_id, row.entry_id)
        columns: dict[str, Any] = {
            **place._asdict(),
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
            return columns | self._enter(row, place)
        elif row.op == "EVICT":
            return columns | {"pass_id": self._pass.get("pass_id")} | self._leave(row, place)
        elif row.op == "HIT":
            found = self._found(place)
            return columns | ({} if found is None else {"life": found.life})
        return columns | (self._pass if row.op in ("PASS_BEGIN", "PASS_END") else {})

    def _enter(self, row: ReportedRow, place: EntryKey) -> dict[str, int | None]:
        held = self._held.setdefault(row.segment, {})
        former = held.pop(place, None)
        held[place] = EntryLife(self.seq, row.size_bytes or 0, row.bound, self._turns.get(row.segment, 0))
        self._bytes += held[place].size_bytes - (0 if former is None else former.size_bytes)
        return {"life": self.seq, "tail_no": held[place].tail_no}

    def _leave(self, row: ReportedRow, place: EntryKey) -> dict[str, int | None]:
        stay = self._held.get(row.segment, {}).pop(place, None)
        if stay is None:
            return {}
        self._bytes -= stay.size_bytes
        return {"life": stay.life, "ticket": stay.tail_no}

    def _found(self, place: EntryKey) -> EntryLife | None:
        """The entry of that place; of several that of the newest segment."""
        found = (stay for held in self._held.values() if (stay := held.get(place)) is not None)
        return max(found, key=lambda stay: stay.life, default=None)

    def _write(self, ts_ns: int, op: str, call_id: int, **columns: Any) -> None:
        known = {"seq": self.seq, "ts_ns": ts_ns, "op": op, "call_id": call_id, "bytes_after": self._bytes}
        known["manager_bytes"] = self._written_bytes
        self._writer.write(tuple({**_NULLS, **known, **columns}.values()))
        self.seq += 1


def write_case_trace(out: Path, metadata: Metadata, config: Mapping[str, object], calls: Sequence[CaseStep]) -> int:
    """Write the trace of a case; the number of its events.

    A step that asks for what is in use is its own event; its outcome is what it tells.
    """
    recorder = Recorder(PartWriter(out, ONLY_BROKER), config)
    for call in calls:
        recorder.call(call.rows)
        if isinstance(call.op, Usage):
            recorder.metrics(call.told())
    recorder.close()
    write_metadata(out, metadata)
    return recorder.seq
