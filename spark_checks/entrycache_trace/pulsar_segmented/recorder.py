"""Turns the rows that a ring of segments reports, call by call, into a recorded trace.

The recorder numbers the turns of the ring, and keeps a mirror of the segments. It tells what happened, not what should
have: an entry that leaves out of turn is recorded with the turn by which its own segment had become current.
"""

# ruff: noqa: D102 -- the properties of ReportedRow are trace columns

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from entrycache_reference.pulsar_segmented.ops import Usage
from entrycache_trace.calls import ONLY_BROKER, Call
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.schema import ROW_COLUMNS

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


class Place(NamedTuple):
    """What names a cached entry from outside."""

    cache: str | None
    ledger_id: int | None
    entry_id: int | None


class Stay(NamedTuple):
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
        self._held: dict[int | None, dict[Place, Stay]] = {0: {}}
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
        place = Place(row.cache, row.ledger_id, row.entry_id)
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

    def _enter(self, row: ReportedRow, place: Place) -> dict[str, int | None]:
        held = self._held.setdefault(row.segment, {})
        former = held.pop(place, None)
        held[place] = Stay(self.seq, row.size_bytes or 0, row.bound, self._turns.get(row.segment, 0))
        self._bytes += held[place].size_bytes - (0 if former is None else former.size_bytes)
        return {"life": self.seq, "tail_no": held[place].tail_no}

    def _leave(self, row: ReportedRow, place: Place) -> dict[str, int | None]:
        stay = self._held.get(row.segment, {}).pop(place, None)
        if stay is None:
            return {}
        self._bytes -= stay.size_bytes
        return {"life": stay.life, "ticket": stay.tail_no}

    def _found(self, place: Place) -> Stay | None:
        """The entry of that place; of several that of the newest segment."""
        found = (stay for held in self._held.values() if (stay := held.get(place)) is not None)
        return max(found, key=lambda stay: stay.life, default=None)

    def _write(self, ts_ns: int, op: str, call_id: int, **columns: Any) -> None:
        known = {"seq": self.seq, "ts_ns": ts_ns, "op": op, "call_id": call_id, "bytes_after": self._bytes}
        known["manager_bytes"] = self._written_bytes
        self._writer.write(tuple({**_NULLS, **known, **columns}.values()))
        self.seq += 1


def write_calls(out: Path, metadata: Metadata, config: Mapping[str, object], calls: Sequence[Call]) -> int:
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
