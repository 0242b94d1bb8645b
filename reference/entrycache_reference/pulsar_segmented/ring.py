"""The ring: which segment takes an entry, and what a turn drops."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_reference.pulsar_segmented import events
from entrycache_reference.pulsar_segmented.config import ClearedIndex, ClearedOffset, Config, Duplicate
from entrycache_reference.pulsar_segmented.segment import TRIES, fits, passed_over, with_entry
from entrycache_reference.pulsar_segmented.state import Entry, Row, Segment, State, found_in
from entrycache_reference.rules import Rule, rule


class Offered(NamedTuple):
    """The ring after an offer, whether the entry was taken, and the events, the last of which says so."""

    state: State
    is_taken: bool
    rows: tuple[Row, ...]


def with_segment(state: State, index: int, segment: Segment) -> State:
    """The ring with another segment at an index."""
    return state._replace(segments={**state.segments, index: segment})


@rule(Rule.S_RING_1)
def next_index(state: State) -> int:
    """The segment after the current one; after the last one comes the first."""
    return (state.current + 1) % len(state.segments)


@rule(Rule.S_RING_2, Rule.S_RING_6)
def kept_entries(segment: Segment, config: Config) -> tuple[Entry, ...]:
    """The entries that are still found in a segment when it has been cleared."""
    return () if config.variants.cleared_index is ClearedIndex.EMPTIED else segment.entries


@rule(Rule.S_RING_3, Rule.S_RING_5)
def kept_offset(segment: Segment, config: Config) -> int:
    """Where a segment is written from when it has been cleared."""
    return 0 if config.variants.cleared_offset is ClearedOffset.RESET else segment.offset


@rule(Rule.S_RING_4)
def cleared(state: State, index: int, config: Config) -> State:
    """The ring with that segment cleared, and no other."""
    segment = state.segments[index]
    return with_segment(state, index, Segment(kept_entries(segment, config), kept_offset(segment, config)))


@rule(Rule.S_INSERT_7)
def rejects(segment: Segment, entry: Entry, config: Config) -> bool:
    """Whether the current segment holds the place already, and takes that for being full."""
    return config.variants.duplicate is Duplicate.ROTATING and found_in(segment, entry.place) is not None


@rule(Rule.S_SEGMENT_1)
def has_room(state: State, entry: Entry) -> bool:
    """Whether the current segment has room for the entry."""
    return fits(state.segments[state.current], entry.size_bytes, state.segment_bytes)


@rule(Rule.S_SEGMENT_1, Rule.S_RING_1)
def offered(state: State, entry: Entry, config: Config) -> Offered:
    """The current segment takes the entry where it fits, else the next one does."""
    segment = state.segments[state.current]
    if has_room(state, entry) and not rejects(segment, entry, config):
        taken = with_segment(state, state.current, with_entry(segment, entry, config))
        return Offered(taken, True, (events.taken(Rule.S_INSERT_1, taken, entry.place),))
    return turned(state, entry, config)


@rule(Rule.S_RING_1, Rule.S_RING_2, Rule.S_RING_3, Rule.S_RING_4)
def turned(state: State, entry: Entry, config: Config) -> Offered:
    """The next segment is cleared, becomes current, and takes the entry."""
    full = passed_over(state.segments[state.current], entry.size_bytes, TRIES, config)
    index = next_index(state)
    before = with_segment(state, state.current, full)
    after = cleared(before, index, config)._replace(current=index)
    turn = events.turn(before, after, entry.size_bytes)
    if is_still_full(after, entry, config):
        left = with_segment(after, index, passed_over(after.segments[index], entry.size_bytes, 1, config))
        row = events.left_out(Rule.S_RING_5, "SKIP", "FULL", left, entry.place, entry.size_bytes)
        return Offered(left, False, (*turn, row))
    taken = with_segment(after, index, with_entry(after.segments[index], entry, config))
    return Offered(taken, True, (*turn, events.taken(Rule.S_RING_1, taken, entry.place)))


@rule(Rule.S_RING_5)
def is_still_full(state: State, entry: Entry, config: Config) -> bool:
    """Whether the segment that has just been cleared has no room all the same."""
    keeps = config.variants.cleared_offset is ClearedOffset.KEPT
    return keeps and not fits(state.segments[state.current], entry.size_bytes, state.segment_bytes)
