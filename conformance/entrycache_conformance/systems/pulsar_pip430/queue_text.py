"""The removal queue, the caches and the cursors as people read them."""

from __future__ import annotations

from typing import Any

from entrycache_protocol.system import Lane


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


def lanes(state: Any) -> tuple[Lane, ...]:
    """The queue from head to tail, then what each cache holds in the order of positions."""
    slots = tuple(("dead", "dead") if slot is None else _box(state, slot.cache, slot.pos) for slot in state.queue)
    caches = (
        Lane(f"cache {name}", tuple((f"({pos.ledger},{pos.entry}) {entry.size_bytes}B", "entry")
                                    for pos, entry in sorted(cache.entries.items())))
        for name, cache in sorted(state.caches.items()) if cache.entries
    )  # fmt: skip
    return (Lane("queue", slots), *caches)


def _box(state: Any, cache: str, pos: Any) -> tuple[str, str]:
    entry = state.caches[cache].entries[pos]
    count = "" if entry.expected_reads is None else f" expects {entry.expected_reads}"
    return f"{cache}({pos.ledger},{pos.entry}) {entry.size_bytes}B{count}", "accessed" if entry.accessed else "entry"


def cursors_text(state: Any) -> str:
    """The cursors of each cache, the slowest first; one that is not tracked has no position."""
    lines = [f"cursors of {lane.name}: {', '.join(text for text, _ in lane.boxes)}" for lane in _cursors(state)]
    return "\n".join(lines) if lines else "(no cursors)"


def cursor_lanes(state: Any) -> tuple[Lane, ...]:
    """The same as boxes."""
    return tuple(lane._replace(name=f"cursors {lane.name}") for lane in _cursors(state))


def _cursors(state: Any) -> list[Lane]:
    found = []
    for name, cache in sorted(state.caches.items()):
        members = sorted(cache.members.items(), key=lambda each: (each[1] is None, each[1] or (), each[0]))
        boxes = tuple(
            (f"{cursor} {'untracked' if pos is None else f'({pos.ledger},{pos.entry})'}", "cursor")
            for cursor, pos in members
        )
        if boxes:
            found.append(Lane(str(name), boxes))
    return found
