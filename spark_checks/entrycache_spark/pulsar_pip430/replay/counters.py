"""Replay of what METRICS tells against the events (R-METRICS-3 to R-METRICS-7)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from entrycache_protocol.strict_json import parse
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, held_bytes

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
            storage_bytes = 0 if now.settings is None else now.settings.config.storage_entry_size
            counts[f"{name}_entries"] += 1
            counts[f"{name}_bytes"] += (row["size_bytes"] or 0) if op == "HIT" else storage_bytes
        if op == "METRICS":
            self._told(now)

    def _told(self, now: Moment) -> None:
        row, told = now.row, _told_by(now.row)
        whole = now.whole and self._facts.fresh
        known = dict.fromkeys(RULE_OF.values(), not self._facts.many)
        known["R-METRICS-6"] &= now.settings is not None
        for name, rule in RULE_OF.items():
            known[rule] &= told.get(name) is not None
        wrong: dict[str, str] = {}
        for name, rule in RULE_OF.items():
            value, counted, off = told.get(name), self._counts[name], self._off.get(name)
            if value is None or (
                (not whole or value != counted) and (whole if off is None else value - counted != off)
            ):
                wrong[rule] = name
            self._off[name] = None if value is None else value - counted
        for rule, name in wrong.items():
            self._tell(rule, row, f"{name} {self._counts[name]}", told.get(name), [row["seq"]], known[rule])
        if told.get("bytes") != held_bytes(row):
            sure = not self._facts.many and told.get("bytes") is not None
            self._tell("R-METRICS-7", row, held_bytes(row), told.get("bytes"), [row["seq"]], sure)


def _told_by(row: Row) -> dict[str, int]:
    try:
        told = parse(row["value"] or "")
    except ValueError:
        return {}
    shown = told.items() if isinstance(told, dict) else ()
    return {name: value for name, value in shown if isinstance(value, int) and not isinstance(value, bool)}
