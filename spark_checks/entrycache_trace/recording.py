"""Recording: turn what a cache reports, call by call, into the rows of a trace.

A cache reports one row for each event (`ReportedRow`). The `Recorder` of a broker adds the broker, `seq`, `life`, pass,
call and the ordinals of queue slots; for that it keeps a mirror of the removal queue. It records what happened and
not what should have happened: an entry that leaves out of turn is recorded with the ticket of the slot that it really
had. A cache without a removal queue has no ordinals; its last snapshot lists the cached entries in the order of their
inserts. `Recorder` is for the caches of managed ledgers; other systems have their own in `entrycache_trace.formats`.

Rows come from two sources. `write_case_trace` records the steps of a case (`CaseStep`). A `Workload` begins a
`BrokerRun`, which drives a cache and records it until a trace is long enough.
"""

# ruff: noqa: D102 -- the properties of ReportedRow are trace columns

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from entrycache_trace import files, schema

ONLY_BROKER: Final = "one"
"""The name of the broker in the trace of a case."""


class CaseStep(NamedTuple):
    """One step of a case, its outcome as JSON, the rows that the cache reported, the state after it, and its parts.

    The state is that of the reference; None: another cache played the case. Each part has the states before and after
    it, and the rows that it reported.
    """

    op: Any
    outcome_json: Callable[[], dict[str, Any]]
    rows: Sequence[Any]
    state: Any = None
    parts: Sequence[Any] = ()


WriteCaseTrace = Callable[[Path, files.Metadata, Mapping[str, object], Sequence[CaseStep]], int]
"""A function that writes a new trace folder from metadata, a configuration and steps, and returns its events."""


class BrokerRun(Protocol):
    """A workload that drives the cache of one broker and records it."""

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until at least `events` events are recorded, close the part, and return their number."""


class Workload(NamedTuple):
    """A kind of workload.

    Attributes:
        system: The system of its traces.
        broker: The name of its brokers, to which each broker's number is added.
        takes_settings: Whether the settings of a caller can replace those of the workload.
        begin: The function that begins one broker: from its part, name, seed, number and the caller's settings.
    """

    system: str
    broker: str
    takes_settings: bool
    begin: Callable[[files.PartWriter, str, str, int, Mapping[str, Any]], BrokerRun]


class ReportedRow(Protocol):
    """The report of a cache about one event: the trace columns that the recorder does not add."""

    @property
    def op(self) -> str: ...
    @property
    def cause(self) -> str | None: ...
    @property
    def origin(self) -> str | None: ...
    @property
    def cache(self) -> str | None: ...
    @property
    def ledger_id(self) -> int | None: ...
    @property
    def entry_id(self) -> int | None: ...
    @property
    def size_bytes(self) -> int | None: ...
    @property
    def expected_reads(self) -> int | None: ...
    @property
    def requeues(self) -> int | None: ...
    @property
    def accessed(self) -> bool | None: ...
    @property
    def stamp_ns(self) -> int | None: ...
    @property
    def new_stamp_ns(self) -> int | None: ...
    @property
    def bound(self) -> int | None: ...
    @property
    def max_requeues(self) -> int | None: ...
    @property
    def extend_accessed(self) -> bool | None: ...
    @property
    def trigger_bytes(self) -> int | None: ...
    @property
    def target_bytes(self) -> int | None: ...
    @property
    def ts_ns(self) -> int: ...
    @property
    def bytes_after(self) -> int: ...
    @property
    def manager_bytes(self) -> int | None: ...
    @property
    def cursor(self) -> str | None: ...
    @property
    def key_hash(self) -> int | None: ...
    @property
    def dirty(self) -> bool | None: ...
    @property
    def value(self) -> str | None: ...


LEDGER_COLUMN_MEANINGS: Final = {
    "broker": "the run of one broker: one removal queue; the name of the part's folder, read as a text",
    "seq": "the number of the event; a complete trace has no gap",
    "ts_ns": "monotonic nanoseconds, which never fall with `seq`",
    "op": "the event",
    "cause": "the cause of the event",
    "origin": "who asked for a pass: TRIGGER, CYCLE or CALL",
    "cache": "the name of the managed ledger",
    "ledger_id": "the position: its ledger",
    "entry_id": "the position: its entry; for CURSOR rows, the cursor's new position",
    "life": "the `seq` of the INSERT that began this life; -1 - `tail_no` for a life that began before the trace",
    "size_bytes": "the accounted length",
    "expected_reads": "the count after the event; in an INSERT null says that the entry carries none, if another one "
    "has a count",
    "requeues": "the requeue count after the event",
    "accessed": "the flag before the event",
    "stamp_ns": "the entry's stamp before the event; for PASS_END that of the head, null if none is left",
    "new_stamp_ns": "its stamp after INSERT and REQUEUE; null: `ts_ns`",
    "pass_id": "the `seq` of the PASS_BEGIN that the row belongs to, its own there",
    "call_id": "the `seq` of the first event of the same call",
    "bound": "in a time pass the cutoff; in a size pass the bytes still to free before the event",
    "max_requeues": "the effective setting, on each row of a pass",
    "extend_accessed": "the effective setting, on each row of a pass",
    "trigger_bytes": "for a size pass: an insert asks for one above these bytes",
    "target_bytes": "for a size pass: it frees down to these bytes",
    "bytes_after": "the recorder's own sum of accounted bytes over all caches, after the event",
    "manager_bytes": "the manager's own counter at that moment",
    "tail_no": "the number of the slot that the event gave the entry, from 0, in the queue's own order",
    "head_no": "the number of this dequeue, from 0",
    "ticket": "the number of the slot that was taken",
    "cursor": "the cursor that reads, or that the row is about",
    "value": "JSON: for CONFIG the settings, for METRICS the counters, for END `entries`, `bytes`, `slots`",
}
"""The meanings of the columns in traces of caches of managed ledgers."""

ENTRY_ROWS: Final = ("HIT", "READ_DONE", "EXPECT", "REMOVE", "EVICT", "REQUEUE")
"""The events of a cached entry. A row of a cursor may name the same position without being about the entry."""

READ_ROWS: Final = ("HIT", "MISS", "INSERT")
"""The events of a read that name the reading cursor."""


AddedColumns = Mapping[str, int | None]
"""The columns of reads in flight that a row has."""


class EntryKey(NamedTuple):
    """The name of a cached entry: its cache and its position."""

    cache: str | None
    ledger_id: int | None
    entry_id: int | None


@dataclass(slots=True)
class EntryLife:
    """One life of an entry, as far as the cache has reported it."""

    life: int
    key: EntryKey
    size_bytes: int | None
    expected_reads: int | None
    requeues: int | None
    stamp_ns: int
    slot_no: int
    accessed: bool = False
    removed: bool = False


class Recorder:
    """The recorder of one broker run; `numbers_slots` says that its cache has a removal queue."""

    def __init__(
        self,
        writer: files.PartWriter,
        broker: str,
        config: Mapping[str, object],
        ts_ns: int = 0,
        numbers_slots: bool = True,
    ) -> None:
        self.broker = broker
        self._numbers_slots = numbers_slots
        self.seq = 0
        self._writer = writer
        self._ts_ns = ts_ns
        self._bytes = 0
        self._tail_no = 0
        self._head_no = 0
        self._pass_id: int | None = None
        self._cached: dict[EntryKey, EntryLife] = {}
        self._queue: OrderedDict[int, EntryLife] = OrderedDict()
        self._config = dict(config)
        self._write_own("CONFIG", value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], reader: str | None = None) -> None:
        """Record the rows of one call in their order; `reader` is the cursor that reads by this call, if there is one.

        A CONFIG row may report the changed settings only; the trace shows the whole configuration.
        """
        self.call_with(((row, {}) for row in rows), reader)

    def call_with(self, rows: Iterable[tuple[ReportedRow, AddedColumns]], reader: str | None = None) -> None:
        """Record the rows of one call with further columns; rows that are made one by one may read `seq`."""
        call_id = self.seq
        for row, added in rows:
            cursor = row.cursor
            reads = row.op in READ_ROWS and row.cause in ("READ", "REPLAY", "FILL")
            if reads and cursor is None:
                cursor = reader
            value = self._whole_config(row) if row.op == "CONFIG" else row.value
            self._record(row, call_id, cursor, value, added)

    def setting(self, name: str) -> Any:
        """Return a setting of the configuration so far; 0 if it has none."""
        return self._config.get(name) or 0

    def _whole_config(self, row: ReportedRow) -> str:
        self._config |= json.loads(row.value or "{}")
        return json.dumps(self._config, sort_keys=True)

    def close(self) -> None:
        """Write the snapshot of the queue and the last event."""
        for slot_no, entry in self._queue.items():
            if entry.removed:
                self._write_own("SNAPSHOT", cause="END", tail_no=self._ordinal(slot_no))
            else:
                cache, ledger_id, entry_id = entry.key
                self._write_own(
                    "SNAPSHOT",
                    cause="END",
                    cache=cache,
                    ledger_id=ledger_id,
                    entry_id=entry_id,
                    life=entry.life,
                    size_bytes=entry.size_bytes,
                    expected_reads=entry.expected_reads,
                    requeues=entry.requeues,
                    accessed=entry.accessed if self._numbers_slots else None,
                    stamp_ns=entry.stamp_ns,
                    tail_no=self._ordinal(slot_no),
                )
        slots = len(self._queue) if self._numbers_slots else 0
        end = {"entries": len(self._cached), "bytes": self._bytes, "slots": slots}
        self._write_own("END", value=json.dumps(end))
        self._writer.close()

    def _write_own(self, op: str, **columns: object) -> None:
        known = {"seq": self.seq, "ts_ns": self._ts_ns, "op": op, "bytes_after": self._bytes, "call_id": self.seq}
        self._writer.write(tuple(columns.get(name, known.get(name)) for name in schema.ROW_COLUMNS))
        self.seq += 1

    def _record(
        self, row: ReportedRow, call_id: int, cursor: str | None, value: str | None, added: AddedColumns
    ) -> None:
        op = row.op
        seq = self.seq
        if op == "PASS_BEGIN":
            self._pass_id = seq
        life, *ordinals = self._mirror(row)
        tail_no, head_no, ticket = (self._ordinal(ordinal) for ordinal in ordinals)
        if row.op == "PERMIT":
            tail_no, ticket = added.get("tail_no"), added.get("ticket")
        in_pass = op in ("PASS_BEGIN", "PASS_END", "EVICT", "REQUEUE", "TOMBSTONE")
        self._ts_ns = row.ts_ns
        self._bytes = row.bytes_after
        self._writer.write(
            (
                *(seq, row.ts_ns, op, row.cause, row.origin, row.cache, row.ledger_id, row.entry_id, row.key_hash),
                *(life, row.size_bytes, row.expected_reads, row.requeues, row.accessed, row.dirty),
                *(row.stamp_ns, row.new_stamp_ns, self._pass_id if in_pass else None, call_id, row.bound),
                *(row.max_requeues, row.extend_accessed, row.trigger_bytes, row.target_bytes),
                *(row.bytes_after, row.manager_bytes, tail_no, head_no, ticket, cursor, value),
                *(added.get(name) for name in schema.ROW_COLUMNS[-len(schema.ADDED_COLUMNS) :]),
            )
        )
        self.seq += 1
        if op == "PASS_END":
            self._pass_id = None

    def _mirror(self, row: ReportedRow) -> tuple[int | None, int | None, int | None, int | None]:
        """Apply the event to the mirror and return life, tail_no, head_no and ticket of its row."""
        op = row.op
        if op == "PASS_END":
            return None, self._tail_no, self._head_no, None
        if op == "TOMBSTONE":
            dead = self._pop_first_removed()
            return (dead.life if dead else None), None, self._dequeue(), (dead.slot_no if dead else None)
        key = EntryKey(row.cache, row.ledger_id, row.entry_id)
        if op == "INSERT":
            stamp_ns = row.ts_ns if row.new_stamp_ns is None else row.new_stamp_ns
            inserted = EntryLife(self.seq, key, row.size_bytes, row.expected_reads, row.requeues, stamp_ns, 0)
            self._cached[key] = inserted
            return inserted.life, self._enqueue(inserted), None, None
        entry = self._cached.get(key) if row.entry_id is not None else None
        if entry is None or op not in ENTRY_ROWS:
            return None, None, None, None
        if op == "HIT":
            entry.accessed = True
        elif op in ("READ_DONE", "EXPECT"):
            entry.expected_reads = row.expected_reads
        elif op == "REMOVE":
            entry.removed = True
            del self._cached[key]
            if not self._numbers_slots:
                del self._queue[entry.slot_no]
        elif op == "EVICT":
            del self._cached[key]
            self._queue.pop(entry.slot_no, None)
            return entry.life, None, self._dequeue(), entry.slot_no
        elif op == "REQUEUE":
            taken = entry.slot_no
            self._queue.pop(taken, None)
            entry.accessed = False
            entry.requeues = row.requeues
            entry.stamp_ns = row.ts_ns if row.new_stamp_ns is None else row.new_stamp_ns
            return entry.life, self._enqueue(entry), self._dequeue(), taken
        return entry.life, None, None, None

    def _ordinal(self, ordinal: int | None) -> int | None:
        return ordinal if self._numbers_slots else None

    def _enqueue(self, entry: EntryLife) -> int:
        entry.slot_no = self._tail_no
        self._queue[entry.slot_no] = entry
        self._tail_no += 1
        return entry.slot_no

    def _dequeue(self) -> int:
        self._head_no += 1
        return self._head_no - 1

    def _pop_first_removed(self) -> EntryLife | None:
        for slot_no, entry in self._queue.items():
            if entry.removed:
                del self._queue[slot_no]
                return entry
        return None


class TraceWriter:
    """A new trace folder; `recorder` opens the part of one broker."""

    def __init__(self, directory: Path, metadata: files.Metadata, numbers_slots: bool = True) -> None:
        self.directory = directory
        self._numbers_slots = numbers_slots
        files.write_metadata(directory, metadata)

    def recorder(self, broker: str, config: Mapping[str, object], ts_ns: int = 0) -> Recorder:
        """Open a recorder for one broker run and write its CONFIG row."""
        return Recorder(files.PartWriter(self.directory, broker), broker, config, ts_ns, self._numbers_slots)


def write_case_trace(
    out: Path,
    metadata: files.Metadata,
    config: Mapping[str, object],
    calls: Sequence[CaseStep],
    *,
    numbers_slots: bool = True,
) -> int:
    """Write the trace of a case and return the number of its events."""
    recorder = TraceWriter(out, metadata, numbers_slots).recorder(ONLY_BROKER, config)
    for call in calls:
        recorder.call(call.rows)
    recorder.close()
    return recorder.seq
