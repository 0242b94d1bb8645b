"""Small handwritten traces of the cache of Pulsar 4.0: a script keeps the sums of an honest one.

Arguments of a row, a change to it, or its absence describe a faulty cache.
"""

from __future__ import annotations

import json
from typing import Any

from entrycache_reference.pulsar_legacy.passes import choose_givers, compute_share
from entrycache_reference.pulsar_legacy.state import Cache, State
from entrycache_reference.vocabulary import CacheName
from entrycache_trace.schema import COLUMNS

Row = dict[str, Any]
Place = tuple[str, int, int]

ENTRY_COLUMNS = ("life", "size_bytes", "stamp_ns")


def at(entry: int, ledger: int = 1, cache: str = "a") -> Place:
    return (cache, ledger, entry)


class LegacyScript:
    """The rows of one broker. A pass takes the lowest positions of its cache, unless others are given."""

    def __init__(self, broker: str, now: int = 1_000, **config: Any) -> None:
        self.broker = broker
        self.rows: list[Row] = []
        self.now = now
        self.config = {"max_size_bytes": 1_000, "watermark": 0.5, "ttl_nanos": 100, "eviction": "inline", **config}
        self.bytes = 0
        self.cached: dict[Place, Row] = {}
        self.scheduled: int | None = None
        self._call: int | None = None
        self.row("CONFIG", value=json.dumps(self.config))

    @property
    def trigger(self) -> int:
        return int(self.config["max_size_bytes"] * 0.98)

    @property
    def target(self) -> int:
        return int(self.config["max_size_bytes"] * self.config["watermark"])

    def call(self, nanos: int = 10) -> LegacyScript:
        """Let the following rows be one call, until the next one."""
        self._call = len(self.rows)
        self.now += nanos
        return self

    def row(self, op: str, **columns: Any) -> Row:
        """Write any event."""
        seq = len(self.rows)
        call_id = seq if self._call is None else self._call
        recorded = {**dict.fromkeys(COLUMNS), "broker": self.broker, "seq": seq, "ts_ns": self.now, "op": op}
        recorded |= {"call_id": call_id, "bytes_after": self.bytes, "manager_bytes": self.bytes, **columns}
        self.rows.append(recorded)
        return recorded

    def at(self, op: str, place: Place, **columns: Any) -> Row:
        """Write an event at a position, about the cached entry."""
        entry = self.cached.get(place)
        entry_columns = {} if entry is None else {name: entry[name] for name in ENTRY_COLUMNS}
        cache, ledger_id, entry_id = place
        return self.row(op, cache=cache, ledger_id=ledger_id, entry_id=entry_id, **{**entry_columns, **columns})

    def insert(self, place: Place, size: int = 100, cause: str = "ADD") -> Row:
        """Write an INSERT, whatever is cached there."""
        self.bytes += size
        self.cached.pop(place, None)
        recorded = self.at("INSERT", place, cause=cause, size_bytes=size, new_stamp_ns=self.now)
        recorded["life"] = recorded["seq"]
        self.cached[place] = {"life": recorded["seq"], "size_bytes": size, "stamp_ns": self.now}
        return recorded

    def offer(
        self, place: Place, size: int = 100, cause: str = "ADD", inside: bool = False, relieve: bool = True
    ) -> Row:
        """Write an offer with the pass that it requires, and return its own row."""
        if not inside:
            self.call()
        before = self.bytes
        if before > self.trigger and relieve:
            self.ask(before - self.target)
        if before >= self.config["max_size_bytes"]:
            return self.absent("SKIP", place, cause="FULL", size_bytes=size)
        if place in self.cached:
            return self.absent("REJECT", place, cause="DUPLICATE", size_bytes=size)
        return self.insert(place, size, cause)

    def ask(self, need: int) -> None:
        """Request a size pass."""
        if self.config["eviction"] == "manual":
            self.scheduled = need if self.scheduled is None else self.scheduled
        elif need > 0:
            self.size_pass(need, "TRIGGER")

    def absent(self, op: str, place: Place, **columns: Any) -> Row:
        """Write an event about an entry that is not cached, or not taken."""
        return self.at(op, place, **{**dict.fromkeys(ENTRY_COLUMNS), **columns})

    def get(self, place: Place, op: str | None = None, cause: str = "GET", inside: bool = False) -> Row:
        """Write a lookup."""
        if not inside:
            self.call()
        op = op or ("HIT" if place in self.cached else "MISS")
        return self.at(op, place, cause=cause) if op == "HIT" else self.absent(op, place, cause=cause)

    def lookups(self, *places: Place) -> list[Row]:
        """Write a range lookup."""
        self.call()
        return [self.get(place, inside=True) for place in places]

    def gone(self, op: str, place: Place, **columns: Any) -> Row:
        """Remove an entry."""
        recorded = self.at(op, place, **columns)
        self.bytes -= self.cached.pop(place)["size_bytes"]
        recorded["bytes_after"] = recorded["manager_bytes"] = self.bytes
        return recorded

    def remove(self, cause: str, *places: Place) -> Row:
        """Remove entries by one call; return the last row."""
        self.call()
        return [self.gone("REMOVE", place, cause=cause) for place in places][-1]

    def lowest(self, cache: str) -> list[Place]:
        """Return the positions of a cache, ascending."""
        return sorted(place for place in self.cached if place[0] == cache)

    def passing(
        self, cause: str, bound: int, *places: Place, cache: str | None = None, origin: str = "CALL", **begin: Any
    ) -> list[Row]:
        """Write a pass that takes these entries; return its rows."""
        limits = {"trigger_bytes": self.trigger, "target_bytes": self.target} if cause == "SIZE" else {}
        same = {"cause": cause, "origin": origin, "bound": bound, "cache": cache, **limits}
        recorded = [self.row("PASS_BEGIN", **{**same, "pass_id": len(self.rows), **begin})]
        pass_id = recorded[0]["seq"]
        recorded += [self.gone("EVICT", place, cause=cause, pass_id=pass_id) for place in places]
        left = [] if cache is None else self.lowest(cache)
        stamp = self.cached[left[0]]["stamp_ns"] if left else None
        return [*recorded, self.row("PASS_END", **{**same, "pass_id": pass_id, "stamp_ns": stamp})]

    def need(self, cache: str, need: int) -> list[Place]:
        """Return the lowest entries of a cache that free this much."""
        taken: list[Place] = []
        for place in self.lowest(cache):
            if sum(self.cached[each]["size_bytes"] for each in taken) >= need:
                break
            taken.append(place)
        return taken

    def shares(self, need: int) -> dict[str, int]:
        """Return the share of each cache in an amount."""
        held: dict[CacheName, Cache] = {}
        for (name, _, _), entry in self.cached.items():
            known = held.get(CacheName(name), Cache({}, 0))
            held[CacheName(name)] = Cache({}, known.size_bytes + entry["size_bytes"])
        names = choose_givers(State(0, held, self.bytes))
        total = sum(held[name].size_bytes for name in names)
        return {name: compute_share(need, held[name].size_bytes, total) for name in names}

    def size_pass(self, need: int, origin: str = "CALL", **begin: Any) -> list[Row]:
        """Write a correct size pass over all caches; return its rows."""
        taken = [place for name, own in self.shares(need).items() for place in self.need(name, own)]
        return self.passing("SIZE", need, *taken, origin=origin, **begin)

    def finish(self) -> list[Row]:
        """Return the rows, with the snapshot and END; these are written once."""
        if self.rows[-1]["op"] == "END":
            return self.rows
        self._call = None
        for place in self.cached:
            self.at("SNAPSHOT", place, cause="END")
        self.row("END", value=json.dumps({"entries": len(self.cached), "bytes": self.bytes, "slots": 0}))
        return self.rows
