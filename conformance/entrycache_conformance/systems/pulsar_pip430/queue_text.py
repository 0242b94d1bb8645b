"""The removal queue as people read it."""

from __future__ import annotations

from typing import Any


def queue_text(state: Any) -> str:
    """The removal queue from head to tail; a dead slot is a cross."""
    parts = []
    for slot in state.queue:
        if slot is None:
            parts.append("x")
            continue
        entry = state.caches[slot.cache].entries[slot.pos]
        marks = f"{slot.cache}({slot.pos.ledger},{slot.pos.entry}) {entry.size_bytes}B"
        marks += f" age {state.now_nanos - entry.stamp_nanos}"
        marks += f" requeues {entry.requeues}" if entry.requeues else ""
        marks += " accessed" if entry.accessed else ""
        marks += f" expects {entry.expected_reads}" if entry.expected_reads is not None else ""
        parts.append(marks)
    return "\n".join(parts) if parts else "(empty)"
