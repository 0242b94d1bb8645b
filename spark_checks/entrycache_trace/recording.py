"""The calls of a case, from which a recorder writes a trace of one broker."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.schema import ROW_COLUMNS

ONLY_BROKER: Final = "one"
"""What the broker of such a trace is called."""


class CaseStep(NamedTuple):
    """One step of a case, what was answered (as JSON tells it), and the events that it caused."""

    op: Any
    told: Callable[[], dict[str, Any]]
    rows: Sequence[Any]


WriteCaseTrace = Callable[[Path, Metadata, Mapping[str, object], Sequence[CaseStep]], int]
"""Writes a new trace folder, with its metadata and the configuration that the broker starts with; how many events."""


# --- making
# What a workload is that a trace can be made up of.


class BrokerRun(Protocol):
    """One broker at work."""

    def run(self, events: int, progress: Callable[[int], None]) -> int:
        """Work until so many events are recorded, and close the part; their number."""


class Workload(NamedTuple):
    """A kind of workload.

    `broker`: what its brokers are called, with a number each. `begin`: one broker's part, its name, seed and number,
    and settings that hold instead of the workload's own; they fit where `takes_settings`.
    """

    system: str
    broker: str
    takes_settings: bool
    begin: Callable[[PartWriter, str, str, int, Mapping[str, Any]], BrokerRun]


# --- reported
# What a cache reports of an event to the recorder.


class ReportedRow(Protocol):
    """What a cache reports of one event: the trace columns that are not the recorder's."""

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


# --- recorder
# Turns the rows that a cache reports, call by call, into a recorded trace.
#
# The recorder adds broker, seq, life, pass, call and the ordinals of queue slots, by keeping a mirror of the
# removal queue. It tells what happened, not what should have: an entry that leaves out of turn is recorded
# with the ticket of the slot that it really held. A cache without a removal queue has no ordinals; its last
# snapshot shows what is cached, in the order in which it came.

ENTRY_ROWS: Final = ("HIT", "READ_DONE", "EXPECT", "REMOVE", "EVICT", "REQUEUE")
"""What is told of an entry that is cached; a cursor may stand at its position without being about it."""

READ_ROWS: Final = ("HIT", "MISS", "INSERT")
"""The rows of a read that name the cursor that reads."""


class EntryKey(NamedTuple):
    """What names a cached entry from outside."""

    cache: str | None
    ledger_id: int | None
    entry_id: int | None


@dataclass(slots=True)
class EntryLife:
    """One life of an entry, as far as it has been reported."""

    life: int
    place: EntryKey
    size_bytes: int | None
    expected_reads: int | None
    requeues: int | None
    stamp_ns: int
    slot_no: int
    accessed: bool = False
    removed: bool = False


class Recorder:
    """Records one broker run; see `TraceWriter`. `numbers_slots`: its cache has a removal queue."""

    def __init__(
        self,
        writer: PartWriter,
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
        self._own("CONFIG", value=json.dumps(config, sort_keys=True))

    def call(self, rows: Iterable[ReportedRow], reader: str | None = None) -> None:
        """Record the rows of one call, in their order; `reader` is the cursor that reads by this call, if one does.

        A CONFIG row may tell the changed settings only: the trace shows the whole configuration.
        """
        call_id = self.seq
        for row in rows:
            cursor = row.cursor
            if reader is not None and row.op in READ_ROWS and row.cause in ("READ", "REPLAY", "FILL"):
                cursor = reader
            self._record(row, call_id, cursor, self._whole_config(row) if row.op == "CONFIG" else row.value)

    def _whole_config(self, row: ReportedRow) -> str:
        self._config |= json.loads(row.value or "{}")
        return json.dumps(self._config, sort_keys=True)

    def close(self) -> None:
        """Write the snapshot of the queue and the last event."""
        for slot_no, stay in self._queue.items():
            if stay.removed:
                self._own("SNAPSHOT", cause="END", tail_no=self._told(slot_no))
            else:
                cache, ledger_id, entry_id = stay.place
                self._own(
                    "SNAPSHOT",
                    cause="END",
                    cache=cache,
                    ledger_id=ledger_id,
                    entry_id=entry_id,
                    life=stay.life,
                    size_bytes=stay.size_bytes,
                    expected_reads=stay.expected_reads,
                    requeues=stay.requeues,
                    accessed=stay.accessed if self._numbers_slots else None,
                    stamp_ns=stay.stamp_ns,
                    tail_no=self._told(slot_no),
                )
        slots = len(self._queue) if self._numbers_slots else 0
        end = {"entries": len(self._cached), "bytes": self._bytes, "slots": slots}
        self._own("END", value=json.dumps(end))
        self._writer.close()

    def _own(self, op: str, **columns: object) -> None:
        known = {"seq": self.seq, "ts_ns": self._ts_ns, "op": op, "bytes_after": self._bytes, "call_id": self.seq}
        self._writer.write(tuple(columns.get(name, known.get(name)) for name in ROW_COLUMNS))
        self.seq += 1

    def _record(self, row: ReportedRow, call_id: int, cursor: str | None, value: str | None) -> None:
        op = row.op
        seq = self.seq
        if op == "PASS_BEGIN":
            self._pass_id = seq
        life, *ordinals = self._mirror(row)
        tail_no, head_no, ticket = (self._told(ordinal) for ordinal in ordinals)
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
            )
        )
        self.seq += 1
        if op == "PASS_END":
            self._pass_id = None

    def _mirror(self, row: ReportedRow) -> tuple[int | None, int | None, int | None, int | None]:
        """Follow the event in the mirror; life, tail_no, head_no and ticket of its row."""
        op = row.op
        if op == "PASS_END":
            return None, self._tail_no, self._head_no, None
        if op == "TOMBSTONE":
            gone = self._first_removed()
            return (gone.life if gone else None), None, self._dequeued(), (gone.slot_no if gone else None)
        place = EntryKey(row.cache, row.ledger_id, row.entry_id)
        if op == "INSERT":
            stamp_ns = row.ts_ns if row.new_stamp_ns is None else row.new_stamp_ns
            stay = EntryLife(self.seq, place, row.size_bytes, row.expected_reads, row.requeues, stamp_ns, 0)
            self._cached[place] = stay
            return stay.life, self._enqueued(stay), None, None
        found = self._cached.get(place) if row.entry_id is not None else None
        if found is None or op not in ENTRY_ROWS:
            return None, None, None, None
        if op == "HIT":
            found.accessed = True
        elif op in ("READ_DONE", "EXPECT"):
            found.expected_reads = row.expected_reads
        elif op == "REMOVE":
            found.removed = True
            del self._cached[place]
            if not self._numbers_slots:
                del self._queue[found.slot_no]
        elif op == "EVICT":
            del self._cached[place]
            self._queue.pop(found.slot_no, None)
            return found.life, None, self._dequeued(), found.slot_no
        elif op == "REQUEUE":
            taken = found.slot_no
            self._queue.pop(taken, None)
            found.accessed = False
            found.requeues = row.requeues
            found.stamp_ns = row.ts_ns if row.new_stamp_ns is None else row.new_stamp_ns
            return found.life, self._enqueued(found), self._dequeued(), taken
        return found.life, None, None, None

    def _told(self, ordinal: int | None) -> int | None:
        return ordinal if self._numbers_slots else None

    def _enqueued(self, stay: EntryLife) -> int:
        stay.slot_no = self._tail_no
        self._queue[stay.slot_no] = stay
        self._tail_no += 1
        return stay.slot_no

    def _dequeued(self) -> int:
        self._head_no += 1
        return self._head_no - 1

    def _first_removed(self) -> EntryLife | None:
        for slot_no, stay in self._queue.items():
            if stay.removed:
                del self._queue[slot_no]
                return stay
        return None


class TraceWriter:
    """A new trace folder; `recorder` opens one broker's part of it."""

    def __init__(self, directory: Path, metadata: Metadata, numbers_slots: bool = True) -> None:
        self.directory = directory
        self._numbers_slots = numbers_slots
        write_metadata(directory, metadata)

    def recorder(self, broker: str, config: Mapping[str, object], ts_ns: int = 0) -> Recorder:
        """A recorder for one broker run, its CONFIG row written."""
        return Recorder(PartWriter(self.directory, broker), broker, config, ts_ns, self._numbers_slots)


def write_case_trace(
    out: Path,
    metadata: Metadata,
    config: Mapping[str, object],
    calls: Sequence[CaseStep],
    *,
    numbers_slots: bool = True,
) -> int:
    """Write the trace of a case; the number of its events."""
    recorder = TraceWriter(out, metadata, numbers_slots).recorder(ONLY_BROKER, config)
    for call in calls:
        recorder.call(call.rows)
    recorder.close()
    return recorder.seq
