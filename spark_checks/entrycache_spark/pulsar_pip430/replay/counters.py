"""Replay of what METRICS tells against the events (R-METRICS-3 to R-METRICS-7)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from entrycache_spark.asked import counters_of
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Tell, held_bytes

RULE_OF: Final = {
    "inserted_entries": "R-METRICS-3",
    "evicted_entries": "R-METRICS-4",
    "eviction_cycles": "R-METRICS-5",
    "hit_entries": "R-METRICS-6",
    "hit_bytes": "R-METRICS-6",
    "miss_entries": "R-METRICS-6",
    "miss_bytes": "R-METRICS-6",
}


class Counters:
    """The counters as the events move them."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._facts = facts
        self._tell = tell
        self._island = 0
        self._counts: Counter[str] = Counter()
        self._off: dict[str, int | None] = {}
        self._settings_known = True

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island = now.island
            self._counts.clear()
            self._off.clear()
        row, op, cause = now.row, now.row["op"], now.row["cause"]
        counts = self._counts
        counts["inserted_entries"] += op == "INSERT"
        counts["evicted_entries"] += op in ("EVICT", "REMOVE")
        if op == "PASS_BEGIN" and cause == "SIZE" and row["origin"] in ("TRIGGER", "CYCLE"):
            counts["eviction_cycles"] += (row["bound"] or 0) > 0
        if op in ("HIT", "MISS") and cause in ("READ", "REPLAY"):
            name = op.lower()
            storage_bytes = (None if now.settings is None else now.settings.storage_bytes) or 0
            counts[f"{name}_entries"] += 1
            counts[f"{name}_bytes"] += (row["size_bytes"] or 0) if op == "HIT" else storage_bytes
        if op == "METRICS":
            self._told(now)

    def _told(self, now: Moment) -> None:
        row, told = now.row, counters_of(now.row)
        whole = now.whole and self._facts.fresh
        sure = not self._facts.many
        priced = now.settings is not None and now.settings.storage_bytes is not None
        wrong: dict[str, str] = {}
        for name, rule in RULE_OF.items():
            value, counted, off = told.get(name), self._counts[name], self._off.get(name)
            if (
                value is not None
                and (priced or name != "miss_bytes")
                and (not whole or value != counted)
                and (whole if off is None else value - counted != off)
            ):
                wrong[rule] = name
            self._off[name] = None if value is None else value - counted
        for rule, name in wrong.items():
            self._tell(rule, row, f"{name} {self._counts[name]}", told.get(name), [row["seq"]], sure)
        if told.get("bytes") not in (None, held_bytes(row)):
            self._tell("R-METRICS-7", row, held_bytes(row), told.get("bytes"), [row["seq"]], sure)
