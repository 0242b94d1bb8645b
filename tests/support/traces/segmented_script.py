"""Small handwritten traces of a ring of segments: a script keeps the sums and turns of an honest one.

Arguments of a row, a change to it, or its absence describe a faulty cache.
"""

from __future__ import annotations

import json
from typing import Any

from entrycache_trace.schema import COLUMNS

Row = dict[str, Any]
Key = tuple[str, int, int]


class RingScript:
    """The rows of one broker. A method is a call of its own unless it gets `inside`."""

    def __init__(
        self,
        broker: str,
        max_size_bytes: int = 300,
        segments: int | None = 3,
        mode: str = "reference",
        names: bool = True,
    ) -> None:
        self.broker = broker
        self.rows: list[Row] = []
        self.now = 1_000
        self.bytes = 0
        self.limit, self.number, self.mode = max_size_bytes, segments or 2, mode
        self.room = max_size_bytes // self.number
        self.turns = 0
        self.offsets = {0: 0}
        self.held: dict[Key, Row] = {}
        self.payload = 100
        self._call: int | None = None
        config = {
            "max_size_bytes": max_size_bytes,
            "mode": mode,
            **({} if segments is None else {"segments": segments}),
        }
        self.row("CONFIG", value=json.dumps(config))

    def call(self) -> RingScript:
        """Let the following rows be one call, until the next one."""
        self._call = len(self.rows)
        self.now += 10
        return self

    def row(self, op: str, cause: str | None = None, key: Key | None = None, **columns: Any) -> Row:
        """Write any event; about a key if one is given."""
        seq = len(self.rows)
        recorded = {
            **dict.fromkeys(COLUMNS),
            "broker": self.broker,
            "seq": seq,
            "ts_ns": self.now,
            "op": op,
            "cause": cause,
        }
        recorded |= {"call_id": seq if self._call is None else self._call, "bytes_after": self.bytes}
        recorded |= {"manager_bytes": sum(self.offsets.values())}
        if key is not None:
            recorded |= dict(zip(("cache", "ledger_id", "entry_id"), key, strict=True))
        recorded |= columns
        self.rows.append(recorded)
        return recorded

    def advance(self, size: int) -> int:
        """Return the bytes that an entry takes."""
        return -(-size // 64) * 64 if self.mode == "copy" else size

    def insert(self, key: Key, size: int = 40, turn: bool | None = None, advance: int | None = None) -> Row:
        """Offer an entry that is not cached; turn the ring if it does not fit, or if `turn` says so."""
        self.call()
        fits = self.offsets[self.turns] + size <= self.room
        if not fits if turn is None else turn:
            self.turn(size)
        return self.take(key, size, advance)

    def take(self, key: Key, size: int, advance: int | None = None, bound: int | None = None) -> Row:
        """Add an entry to the current segment."""
        start = self.offsets[self.turns] if bound is None else bound
        self.offsets[self.turns] = start + (self.advance(size) if advance is None else advance)
        self.bytes += size
        self.payload += 1
        seq = len(self.rows)
        columns = {"life": seq, "size_bytes": size, "bound": start, "tail_no": self.turns, "key_hash": self.payload}
        self.held[key] = self.row("INSERT", "ADD", key, **columns)
        return self.held[key]

    def turn(self, size: int, spare: Key | None = None, end: bool = True) -> Row:
        """Write a turn without its INSERT; it leaves `spare` in place."""
        oldest = self.turns + 1 - self.number
        columns: Row = {
            "tail_no": self.turns + 1,
            "ticket": oldest if oldest >= 0 else None,
            "trigger_bytes": self.room,
        }
        begin = self.row("PASS_BEGIN", "TURN", size_bytes=size, bound=self.offsets[self.turns], **columns)
        begin["pass_id"] = begin["seq"]
        for key in [key for key, row in self.held.items() if row["tail_no"] == oldest and key != spare]:
            self.evict(key, begin["seq"])
        self.offsets.pop(oldest, None)
        self.turns += 1
        self.offsets[self.turns] = 0
        if end:
            self.row("PASS_END", "TURN", pass_id=begin["seq"], **columns)
        return begin

    def evict(self, key: Key, pass_id: int | None) -> Row:
        """Evict an entry."""
        entry = self.held.pop(key)
        self.bytes -= entry["size_bytes"]
        columns = {name: entry[name] for name in ("life", "size_bytes", "bound")}
        return self.row("EVICT", "TURN", key, pass_id=pass_id, ticket=entry["tail_no"], **columns)

    def left_out(self, op: str, cause: str, key: Key, size: int = 40) -> Row:
        """Write an offer that is not taken."""
        return self.call().row(op, cause, key, size_bytes=size)

    def hit(self, key: Key, cause: str = "GET", inside: bool = False, entry: Row | None = None) -> Row:
        """Write a HIT."""
        if not inside:
            self.call()
        cached = self.held[key] if entry is None else entry
        return self.row("HIT", cause, key, **{name: cached[name] for name in ("life", "size_bytes", "key_hash")})

    def miss(self, key: Key) -> Row:
        """Write a lookup that finds nothing."""
        return self.call().row("MISS", "GET", key)

    def ask(self, first: Key, last: Key, answer: tuple[Key, ...] = ()) -> Row:
        """Write a range read with its answer; return the row of its last bound."""
        self.call().row("ASK", "FIRST", first)
        question = self.row("ASK", "LAST", last)
        for key in answer:
            self.hit(key, "READ", inside=True)
        return question

    def usage(self, **wrong: int) -> Row:
        """Write METRICS, with wrong values if given."""
        return self.call().row("METRICS", value=json.dumps({"entries": len(self.held), "bytes": self.bytes, **wrong}))

    def finish(self, **wrong: int) -> list[Row]:
        """Return the rows, with SNAPSHOT and END, once."""
        if self.rows[-1]["op"] != "END":
            self._call = None
            for entry in sorted(self.held.values(), key=lambda entry: entry["life"]):
                self.row("SNAPSHOT", "END", **{name: entry[name] for name in SNAPSHOT_COLUMNS})
            slots = min(self.turns + 1, self.number)
            counters = {"entries": len(self.held), "bytes": self.bytes, "slots": slots, **wrong}
            self.row("END", value=json.dumps(counters))
        return self.rows


SNAPSHOT_COLUMNS = ("cache", "ledger_id", "entry_id", "life", "size_bytes", "bound", "tail_no")
"""The columns of an entry that a snapshot shows."""
