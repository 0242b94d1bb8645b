"""The same traces as somebody else would record them, who knows the columns of a trace and not our recorder."""

from __future__ import annotations

from tests.support.traces.kafka_script import Row


def stripped(rows: list[Row]) -> list[Row]:
    """Without causes, but those of lookups and of what leaves by a call, and without the cache's own total."""
    for row in rows:
        row["manager_bytes"] = None
        if row["op"] in ("PUT", "FLUSH", "DELETE", "EVICT"):
            row["cause"] = None
    return rows


def evicted_last(rows: list[Row]) -> list[Row]:
    """The rows, renumbered, with each dirty EVICT behind the FLUSH rows that stood behind it."""
    found: list[Row] = []
    waiting: Row | None = None
    for row in rows:
        if waiting is not None:
            if row["op"] == "FLUSH" and row["call_id"] == waiting["call_id"] and row["cache"] == waiting["cache"]:
                row["bytes_after"] += waiting["size_bytes"]
                found.append(row)
                continue
            found.append(waiting)
            waiting = None
        if row["op"] == "EVICT" and row["dirty"]:
            waiting = row
        else:
            found.append(row)
    for seq, row in enumerate(found):
        row["seq"] = seq
    return found
