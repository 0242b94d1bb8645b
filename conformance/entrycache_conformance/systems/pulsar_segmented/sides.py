"""The sides of a ring's thresholds: how often an insert lands one byte beside them, and at them."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.pulsar_segmented import Config, ops
from entrycache_reference.pulsar_segmented.segment import ALIGNMENT
from entrycache_reference.pulsar_segmented.state import State

SIDES: Final = {-1: "BELOW", 0: "AT", 1: "ABOVE"}
THRESHOLDS: Final = ("ROOM", "LENGTH", "ALIGNMENT")
"""What is left of the current segment, the bytes of a segment, and a multiple of 64 beside the size offered."""

CELLS: Final = (*(f"{name}/{side}" for name in THRESHOLDS for side in SIDES.values()), "RING/TURNED", "RING/ROUND")
"""Every side; a turn of the ring, and one after its last segment."""


def count_cells(config: Config, state: State, op: Any, done: Any, cells: dict[str, int]) -> None:
    """Count the sides that an insert lands on, and the turns of the ring."""
    if not isinstance(op, ops.Insert) or op.size < 0 or not config.max_size_bytes:
        return
    room = state.segment_bytes - state.segments[state.current].offset
    into_alignment = (op.size + 1) % ALIGNMENT - 1 if op.size >= ALIGNMENT - 1 else None
    distances = (op.size - room, op.size - state.segment_bytes, into_alignment)
    met = [f"{name}/{SIDES[far]}" for name, far in zip(THRESHOLDS, distances, strict=True) if far in SIDES]
    if done.state.current != state.current:
        met.append("RING/TURNED")
        met += ["RING/ROUND"] if done.state.current < state.current else []
    for cell in met:
        cells[cell] = cells.get(cell, 0) + 1
