"""The same traces as another recorder would write them, which knows only the trace columns."""

from __future__ import annotations

from tests.support.traces.kafka_script import Row


def stripped(rows: list[Row]) -> list[Row]:
    """Remove the causes, except those of lookups and removals by calls, and the cache's own total."""
    for row in rows:
        row["manager_bytes"] = None
        if row["op"] in ("PUT", "FLUSH", "DELETE", "EVICT"):
            row["cause"] = None
    return rows


def evicted_last(rows: list[Row]) -> list[Row]:
    """Return the rows renumbered, with each dirty EVICT after its FLUSH rows."""
    moved: list[Row] = []
    waiting: Row | None = None
    for row in rows:
        if waiting is not None:
            if row["op"] == "FLUSH" and row["call_id"] == waiting["call_id"] and row["cache"] == waiting["cache"]:
                row["bytes_after"] += waiting["size_bytes"]
                moved.append(row)
                continue
            moved.append(waiting)
            waiting = None
        if row["op"] == "EVICT" and row["dirty"]:
            waiting = row
        else:
            moved.append(row)
    for seq, row in enumerate(moved):
        row["seq"] = seq
    return moved
