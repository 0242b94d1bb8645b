"""The sides of the limit: how often a step lands one byte below it, at it, and one above it."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams import Config, ops
from entrycache_reference.kafka_streams.state import State, total_bytes

SIDES: Final = {-1: "BELOW", 0: "AT", 1: "ABOVE"}

CELLS: Final = ("LIMIT/BELOW", "LIMIT/AT", "RESIZE/BELOW", "RESIZE/AT", "RESIZE/ABOVE")
"""What a write leaves beside the limit, which is never more; what is cached beside a new limit."""

WRITES: Final = (ops.Put, ops.PutAll, ops.PutIfAbsent, ops.StorePut)


def count_cells(config: Config, state: State, op: Any, done: Any, cells: dict[str, int]) -> None:
    """Count the sides of the limit that a step lands on."""
    if isinstance(op, WRITES):
        name, distance = "LIMIT", total_bytes(done.state) - state.max_size_bytes
    elif isinstance(op, ops.Resize):
        name, distance = "RESIZE", total_bytes(state) - op.max_size_bytes
    else:
        return
    cell = f"{name}/{SIDES.get(distance)}"
    if cell in CELLS:
        cells[cell] = cells.get(cell, 0) + 1
