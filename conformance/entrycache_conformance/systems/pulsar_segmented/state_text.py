"""The ring as people read it: a segment a line, its entries in the order of their inserts."""

from __future__ import annotations

from entrycache_protocol.system import Lane
from entrycache_reference.pulsar_segmented.state import Entry, Segment, State


def state_text(state: State) -> str:
    """The segments that were ever written, and which one is current."""
    lines = [
        f"{_name(state, index)}: {' '.join(map(_shown, segment.entries)) or '(empty)'} "
        f"(offset {segment.offset} of {state.segment_bytes})"
        for index, segment in sorted(state.segments.items())
        if segment != Segment() or index == state.current
    ]
    return "\n".join(lines)


def lanes(state: State) -> tuple[Lane, ...]:
    """Each segment that was ever written, from its first entry on."""
    return tuple(
        Lane(_name(state, index), tuple((_shown(entry), "entry") for entry in segment.entries))
        for index, segment in sorted(state.segments.items())
        if segment != Segment() or index == state.current
    )


def _name(state: State, index: int) -> str:
    return f"segment {index}{'*' if index == state.current else ''}"


def _shown(entry: Entry) -> str:
    cache, pos = entry.place
    return f"{cache}:{pos.ledger}:{pos.entry}({entry.size_bytes}B)"
