"""Small handwritten traces of a stream thread's cache: a script keeps the sums and counters of an honest one.

Arguments of a row, a change to it, or its absence describe a faulty cache.
"""

from __future__ import annotations

import json
from typing import Any

from entrycache_trace.formats.kafka_streams import key_hash
from entrycache_trace.schema import COLUMNS

Row = dict[str, Any]


class StreamScript:
    """The rows of one thread. A method without `inside` is a call of its own."""

    def __init__(self, broker: str, max_size_bytes: int = 1_000) -> None:
        self.broker = broker
        self.rows: list[Row] = []
        self.now = 1_000
        self.bytes = 0
        self.limit = max_size_bytes
        self.spaces: dict[str, dict[str, Row]] = {}
        self.counts = dict.fromkeys(("puts", "gets", "evicts", "flushes"), 0)
        self.own: dict[str, dict[str, int]] = {}
        self.lost = 0
        self._call: int | None = None
        self.row("CONFIG", value=json.dumps({"max_size_bytes": max_size_bytes}))

    def call(self) -> StreamScript:
        """Let the following rows be one call, until the next one."""
        self._call = len(self.rows)
        self.now += 10
        return self

    def row(self, op: str, **columns: Any) -> Row:
        """Write any event."""
        seq = len(self.rows)
        call_id = seq if self._call is None else self._call
        recorded = {**dict.fromkeys(COLUMNS), "broker": self.broker, "seq": seq, "ts_ns": self.now, "op": op}
        recorded |= {"call_id": call_id, "bytes_after": self.bytes, "manager_bytes": self.bytes, **columns}
        self.rows.append(recorded)
        return recorded

    def open(self, ns: str) -> None:
        """Write CACHE_OPEN at the first use."""
        if ns not in self.spaces:
            self.spaces[ns] = {}
            self.own[ns] = dict.fromkeys(("hits", "misses", "overwrites", "flushes"), 0)
            self.row("CACHE_OPEN", cache=ns)

    def at(self, op: str, ns: str, key: str, **columns: Any) -> Row:
        """Write an event about a key and its cached entry."""
        self.open(ns)
        entry = self.spaces[ns].get(key)
        columns_shown = {} if entry is None else {name: entry[name] for name in ("life", "size_bytes", "dirty")}
        return self.row(op, cache=ns, key_hash=key_hash(key), **{**columns_shown, **columns})

    def _begin(self, inside: bool) -> None:
        if not inside:
            self.call()

    def put(
        self, ns: str, key: str, size: int = 100, dirty: bool = True, inside: bool = False, relieve: bool = True
    ) -> Row:
        """Write a PUT, and the evictions that it causes."""
        self._begin(inside)
        self.open(ns)
        old = self.spaces[ns].pop(key, None)
        self.bytes += size - (0 if old is None else old["size_bytes"])
        recorded = self.at("PUT", ns, key, size_bytes=size, dirty=dirty)
        recorded["life"] = recorded["seq"]
        self.counts["puts"] += 1
        self.own[ns]["overwrites"] += old is not None
        self.spaces[ns][key] = {"life": recorded["seq"], "size_bytes": size, "dirty": dirty}
        if relieve:
            self.relieve(ns)
        return recorded

    def relieve(self, ns: str) -> None:
        """Evict while the total is above the limit and the namespace holds an entry."""
        while self.bytes > self.limit and self.spaces[ns]:
            self.evict(ns)
            self.counts["evicts"] += 1

    def get(self, ns: str, key: str, inside: bool = False, **columns: Any) -> Row:
        """Write a lookup; `columns` may set `op`."""
        self._begin(inside)
        self.counts["gets"] += 1
        is_cached = key in self.spaces.get(ns, {})
        recorded = self.at("HIT" if is_cached else "MISS", ns, key, cause="GET")
        recorded |= columns
        self.own[ns]["hits" if is_cached else "misses"] += 1
        if is_cached:
            self.spaces[ns][key] = self.spaces[ns].pop(key)
        return recorded

    def _gone(self, op: str, ns: str, key: str, cause: str | None = None) -> Row:
        entry = self.spaces[ns][key]
        self.bytes -= entry["size_bytes"]
        recorded = self.at(op, ns, key, cause=cause)
        del self.spaces[ns][key]
        return recorded

    def dirty(self, ns: str) -> list[str]:
        """Return the dirty keys, in the order of their writes."""
        entries = self.spaces[ns]
        return sorted((key for key in entries if entries[key]["dirty"]), key=lambda key: entries[key]["life"])

    def evict(self, ns: str, key: str | None = None, handed: bool = True, late: bool = False) -> Row:
        """Evict the eldest entry and flush the dirty ones, it first; with `late` its EVICT comes last."""
        key = next(iter(self.spaces[ns])) if key is None else key
        entry = self.spaces[ns][key]
        others = [other for other in self.dirty(ns) if other != key]
        if not entry["dirty"]:
            return self._gone("EVICT", ns, key)
        recorded = None if late else self._gone("EVICT", ns, key)
        if handed:
            self.at("FLUSH", ns, key, cause="EVICT", **entry)
            self.hand(ns, others)
        return self._gone("EVICT", ns, key) if recorded is None else recorded

    def hand(self, ns: str, keys: list[str], cause: str | None = "CALL") -> list[Row]:
        """Flush these keys, which are clean afterwards."""
        flushes = [self.at("FLUSH", ns, key, cause=cause) for key in keys]
        for key in keys:
            self.spaces[ns][key]["dirty"] = False
        self.own[ns]["hits"] += len(keys)
        return flushes

    def fail(self, ns: str, keys: list[str]) -> list[Row]:
        """Write a failed flush of these keys."""
        return [self.at("FLUSH", ns, key, cause="FAILED") for key in keys]

    def flush(self, ns: str, keys: list[str] | None = None, inside: bool = False) -> list[Row]:
        """Flush all dirty keys."""
        self._begin(inside)
        self.counts["flushes"] += 1
        self.own[ns]["flushes"] += 1
        return self.hand(ns, self.dirty(ns) if keys is None else keys)

    def delete(self, ns: str, key: str, cause: str = "CALL", inside: bool = False) -> Row:
        """Delete a key."""
        self._begin(inside)
        return self._gone("DELETE", ns, key, cause)

    def clear(self, ns: str, keys: list[str] | None = None, cause: str = "CLEAR") -> list[Row]:
        """Remove entries by a call, the most recent first; all of them if no keys are named."""
        self.call()
        return [self._gone("REMOVE", ns, key, cause) for key in (keys or list(reversed(self.spaces[ns])))]

    def close(self, ns: str, keys: list[str] | None = None) -> Row:
        """Close a namespace; return its CACHE_CLOSE."""
        self.clear(ns, keys, "CLOSE")
        self.lost += len(self.spaces.pop(ns))
        del self.own[ns]
        return self.row("CACHE_CLOSE", cache=ns)

    def resize(self, limit: int) -> Row:
        """Change the limit."""
        self.call()
        self.limit = limit
        return self.row("CONFIG", value=json.dumps({"max_size_bytes": limit}))

    def metrics(self, ns: str | None = None, **wrong: int) -> Row:
        """Write METRICS, with wrong values if given."""
        counts = self.counts if ns is None else self.own[ns]
        return self.call().row("METRICS", cache=ns, value=json.dumps({**counts, **wrong}))

    def finish(self) -> list[Row]:
        """Write END, and return the rows."""
        self.call()
        entries = self.lost + sum(len(space) for space in self.spaces.values())
        self.row("END", value=json.dumps({"entries": entries, "bytes": self.bytes, "slots": 0}))
        return self.rows
