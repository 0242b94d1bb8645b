"""Small handwritten traces: a script keeps the sums, ordinals and counters that a recorder would.

It never requeues: a pass removes entries, oldest first, so its configuration extends nothing for access.
Arguments of a row, or its absence, describe a faulty cache.
"""

from __future__ import annotations

import json
from typing import Any

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_trace.schema import COLUMNS

Row = dict[str, Any]
Place = tuple[str, int, int]

DEFAULTS = Config()
MILLI = 1_000_000


class Script:
    """The rows of one broker."""

    def __init__(self, broker: str, now: int = 1_000 * MILLI, **config: Any) -> None:
        self.broker = broker
        self.rows: list[Row] = []
        self.now = now
        self.config: dict[str, Any] = {
            **DEFAULTS.settings._asdict(),
            "max_reads_in_flight_bytes": 0,
            "evict_by_expected_reads": True,
            "storage_entry_size": 100,
            "eviction": "inline",
            "extend_recently_accessed": False,
            **config,
        }
        self.config.setdefault("grace_millis", 2 * self.config["ttl_nanos"] // MILLI)
        self.bytes = self.tail_no = self.head_no = 0
        self.cached: dict[Place, Row] = {}
        self.queue: list[tuple[Place, Row]] = []
        self.opened: set[str] = set()
        self.counts = dict.fromkeys(
            (
                *("inserted_entries", "evicted_entries", "eviction_cycles"),
                *("hit_entries", "hit_bytes", "miss_entries", "miss_bytes"),
            ),
            0,
        )
        self._call: int | None = None
        self.row("CONFIG", value=json.dumps(self.config))

    @property
    def trigger(self) -> int:
        return int(self.config["max_size_bytes"] * 0.98)

    @property
    def target(self) -> int:
        return int(self.config["max_size_bytes"] * self.config["watermark"])

    def call(self) -> Script:
        """Let the following rows be one call, until the next `call`."""
        self._call = len(self.rows)
        return self

    def row(self, op: str, **columns: Any) -> Row:
        """Write any event."""
        seq = len(self.rows)
        call_id = seq if self._call is None else self._call
        recorded = {**dict.fromkeys(COLUMNS), "broker": self.broker, "seq": seq, "ts_ns": self.now, "op": op}
        recorded |= {"call_id": call_id, "bytes_after": self.bytes, "manager_bytes": self.bytes, **columns}
        self.rows.append(recorded)
        return recorded

    def open(self, cache: str) -> None:
        """Write CACHE_OPEN at the first use of a cache."""
        if cache not in self.opened:
            self.opened.add(cache)
            self.row("CACHE_OPEN", cache=cache)

    def at(self, op: str, place: Place, **columns: Any) -> Row:
        """Write an event at a position, about the cached entry."""
        cache, ledger_id, entry_id = place
        self.open(cache)
        entry = self.cached.get(place)
        entry_columns = {} if entry is None else {name: entry[name] for name in ENTRY_COLUMNS}
        return self.row(op, cache=cache, ledger_id=ledger_id, entry_id=entry_id, **{**entry_columns, **columns})

    def insert(self, place: Place, size: int = 10, count: int | None = None, **columns: Any) -> Row:
        """Write an INSERT that no pass follows."""
        self.open(place[0])
        self.cached.pop(place, None)
        self.bytes += size
        self.counts["inserted_entries"] += 1
        recorded = self.at("INSERT", place, **{"cause": "ADD", "size_bytes": size, "expected_reads": count, **columns})
        recorded |= {"life": recorded["seq"], "requeues": 0, "accessed": False, "new_stamp_ns": self.now}
        recorded["tail_no"] = self.tail_no
        self.tail_no += 1
        entry = {**recorded, "stamp_ns": self.now}
        self.cached[place] = entry
        self.queue.append((place, entry))
        return recorded

    def offer(self, place: Place, size: int = 10, count: int | None = None, **columns: Any) -> Row:
        """Write an INSERT in a call of its own, with the pass that it triggers."""
        self.call()
        recorded = self.insert(place, size, count, **columns)
        self.relieve()
        return recorded

    def relieve(self, origin: str = "TRIGGER") -> None:
        """Write the size pass that is due, if one is."""
        if self.bytes > max(self.trigger, self.target):
            self.size_pass(self.bytes - self.target, origin)

    def get(self, place: Place, cause: str = "GET", **columns: Any) -> Row:
        """Write a lookup; `columns` may set `op`."""
        op = "HIT" if place in self.cached else "MISS"
        if cause == "READ":
            kind = op.lower()
            self.counts[f"{kind}_entries"] += 1
            size = self.cached[place]["size_bytes"] if op == "HIT" else self.config["storage_entry_size"]
            self.counts[f"{kind}_bytes"] += size
        recorded = self.at(op, place, cause=cause) | {}
        self.rows[-1].update(columns)
        if place in self.cached:
            self.cached[place]["accessed"] = True
        return self.rows[recorded["seq"]]

    def read(self, places: list[Place], count: int, cursor: str | None = None) -> list[Row]:
        """Write a read in a call of its own; return its fills."""
        self.call()
        for place in places:
            self.get(place, "READ", cursor=cursor)
        fills = []
        for place in places:
            if place not in self.cached and count > 0:
                fills.append(self.insert(place, 100, count, cause="FILL", cursor=cursor))
                self.relieve()
        for place in places:
            self.done(place)
        return fills

    def done(self, place: Place, op: str = "READ_DONE", by: int = -1) -> Row | None:
        """Write READ_DONE or EXPECT."""
        entry = self.cached.get(place)
        if entry is None or entry["expected_reads"] is None:
            return None
        entry["expected_reads"] += by
        return self.at(op, place, cause="DELIVERED" if op == "READ_DONE" else None)

    def _gone(self, place: Place) -> None:
        entry = self.cached.pop(place)
        self.bytes -= entry["size_bytes"]
        self.counts["evicted_entries"] += 1

    def remove(self, cause: str, *places: Place) -> Row:
        """Remove entries by one call; return the last row."""
        for place in places:
            row = self.at("REMOVE", place, cause=cause)
            self._gone(place)
            row["bytes_after"] = row["manager_bytes"] = self.bytes
        return self.rows[-1]

    def begin(self, cause: str, origin: str, bound: int, **columns: Any) -> Row:
        """Write PASS_BEGIN."""
        if cause == "SIZE" and origin != "CALL" and bound > 0:
            self.counts["eviction_cycles"] += 1
        return self._pass_row("PASS_BEGIN", cause, origin, bound, len(self.rows), **columns)

    def _pass_row(self, op: str, cause: str, origin: str, bound: int, pass_id: int, **columns: Any) -> Row:
        limits = {"trigger_bytes": self.trigger, "target_bytes": self.target} if cause == "SIZE" else {}
        pass_columns = {
            "cause": cause,
            "origin": origin,
            "bound": bound,
            "pass_id": pass_id,
            **limits,
            **self._settings(),
        }
        return self.row(op, **{**pass_columns, **columns})

    def _settings(self) -> Row:
        return {
            "max_requeues": self.config["max_requeues"],
            "extend_accessed": self.config["extend_recently_accessed"],
        }

    def take(self, begin: Row, bound: int) -> int:
        """Take the oldest slot; return its bytes."""
        place, entry = self.queue.pop(0)
        same = {"cause": begin["cause"], "bound": bound, "pass_id": begin["pass_id"], "head_no": self.head_no}
        same |= {"ticket": entry["tail_no"], **self._settings()}
        self.head_no += 1
        if self.cached.get(place) is not entry:
            self.row("TOMBSTONE", life=entry["life"], **same)
            return 0
        row = self.at("EVICT", place, **same)
        self._gone(place)
        row["bytes_after"] = row["manager_bytes"] = self.bytes
        return int(entry["size_bytes"])

    def end_pass(self, begin: Row, bound: int, **columns: Any) -> Row:
        """Write PASS_END."""
        head = next((entry["stamp_ns"] for place, entry in self.queue if self.cached.get(place) is entry), None)
        end_columns = {"stamp_ns": head, "tail_no": self.tail_no, "head_no": self.head_no, **columns}
        return self._pass_row("PASS_END", begin["cause"], begin["origin"], bound, begin["pass_id"], **end_columns)

    def size_pass(self, need: int, origin: str = "CALL", **columns: Any) -> Row:
        """Write a size pass; return its PASS_BEGIN."""
        begin = self.begin("SIZE", origin, need, **columns)
        while self.queue and need > 0:
            need -= self.take(begin, need)
        self.end_pass(begin, need)
        return begin

    def time_pass(self, cutoff: int, origin: str = "CALL") -> Row:
        """Write a time pass; return its PASS_BEGIN."""
        begin = self.begin("TIME", origin, cutoff)
        while self.queue:
            place, entry = self.queue[0]
            if self.cached.get(place) is entry and entry["stamp_ns"] >= cutoff:
                break
            self.take(begin, cutoff)
        self.end_pass(begin, cutoff)
        return begin

    def cycle(self) -> Row:
        """Write the periodic task; return its first row."""
        self.call()
        first = self.time_pass(self.now - self.config["ttl_nanos"], "CYCLE")
        self.relieve("CYCLE")
        return first

    def cursor(self, op: str, cache: str, name: str, pos: tuple[int, int] | None = None) -> Row:
        """Write CURSOR_ADD, CURSOR_MOVE or CURSOR_REMOVE."""
        self.call()
        self.open(cache)
        ledger_id, entry_id = pos if pos is not None else (None, None)
        return self.row(f"CURSOR_{op}", cache=cache, cursor=name, ledger_id=ledger_id, entry_id=entry_id)

    def metrics(self, **wrong: int) -> Row:
        """Write METRICS, with wrong values if given."""
        return self.call().row("METRICS", value=json.dumps({**self.counts, "bytes": self.bytes, **wrong}))

    def configure(self, **changes: Any) -> Row:
        """Change the settings."""
        self.config |= changes
        return self.call().row("CONFIG", value=json.dumps(self.config))

    def finish(self) -> list[Row]:
        """Return the rows, with the snapshot and END; these are written once."""
        if self.rows[-1]["op"] == "END":
            return self.rows
        self._call = None
        for place, entry in self.queue:
            live = self.cached.get(place) is entry
            entry_columns = {name: entry[name] for name in ENTRY_COLUMNS} if live else {}
            where = dict(zip(("cache", "ledger_id", "entry_id"), place, strict=True)) if live else {}
            self.row("SNAPSHOT", cause="END", **where, **entry_columns, tail_no=entry["tail_no"])
        self.row("END", value=json.dumps({"entries": len(self.cached), "bytes": self.bytes, "slots": len(self.queue)}))
        return self.rows


ENTRY_COLUMNS = ("life", "size_bytes", "expected_reads", "requeues", "accessed", "stamp_ns")
