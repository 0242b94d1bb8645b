"""Faults about the turn of the ring."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_segmented.planted import planted
from entrycache_reference.pulsar_segmented import ring
from entrycache_reference.pulsar_segmented.config import Config
from entrycache_reference.pulsar_segmented.state import Entry, Segment, State
from entrycache_reference.rules import Rule


@planted(Rule.S_RING_1, "ring.next_index")
def previous_index(state: State) -> int:
    """The ring turns backwards."""
    return (state.current - 1) % len(state.segments)


@planted(Rule.S_RING_2, "ring.kept_entries")
def kept_all(segment: Segment, config: Config) -> tuple[Entry, ...]:
    """The index of a segment is not cleared: its former entries are still found."""
    return segment.entries


@planted(Rule.S_RING_3, "ring.kept_offset")
def kept_where_it_was(segment: Segment, config: Config) -> int:
    """The offset of a segment is not reset when it is cleared."""
    return segment.offset


@planted(Rule.S_RING_4, "ring.cleared")
def cleared_with_all_others(state: State, index: int, config: Config) -> State:
    """A turn drops the entries of every segment."""
    after = ring.cleared(state, index, config)
    return after._replace(segments={at: one._replace(entries=()) for at, one in after.segments.items()})


@planted(Rule.S_RING_4, "ring.cleared", other=True)
def cleared_with_the_full_one(state: State, index: int, config: Config) -> State:
    """A turn drops the entries of the segment that was full, too."""
    after = ring.cleared(state, index, config)
    return ring.with_segment(after, state.current, after.segments[state.current]._replace(entries=()))


@planted(Rule.S_RING_5, "ring.is_still_full")
def never_still_full(state: State, entry: Entry, config: Config) -> bool:
    """Where a cleared segment keeps its offset, it takes what does not fit."""
    return False


@planted(Rule.S_RING_6, "ring.kept_entries")
def kept_but_one(segment: Segment, config: Config) -> tuple[Entry, ...]:
    """Where a cleared segment keeps its index, it forgets the oldest entry of it."""
    return ring.kept_entries(segment, config)[1:]
