"""The segments, the ring, and the operation `insert`.

The first part says what fits behind the offset of a segment and how the offset grows. The second part offers an entry
to the current segment and turns the ring if it has no room. `insert` decides whether an entry is offered at all.
"""

from typing import Final, NamedTuple

from entrycache_reference.pulsar_segmented import ops, outcomes, views
from entrycache_reference.pulsar_segmented.config import (
    ClearedIndex,
    ClearedOffset,
    Config,
    Duplicate,
    FailedOffer,
    Mode,
)
from entrycache_reference.pulsar_segmented.state import (
    Entry,
    Place,
    Row,
    Segment,
    State,
    Step,
    find_entry,
    find_in_segment,
)
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT

ALIGNMENT: Final = 64
"""Copies start at multiples of this."""

TRIES: Final = 2
"""The tries of a full segment: the branch tries it without its lock, and once more under it."""


def round_up(size: int) -> int:
    """Return the size, rounded up to the next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


@rule(Rule.S_SEGMENT_2, Rule.S_SEGMENT_3)
def advance(size: int, config: Config) -> int:
    """Return the bytes by which an entry of that size moves the offset."""
    return round_up(size) if config.mode is Mode.COPY else size


@rule(Rule.S_SEGMENT_2, Rule.S_SEGMENT_3)
def offset_behind(start: int, size: int, config: Config) -> int:
    """Return the byte at which the next entry starts."""
    return start + advance(size, config)


@rule(Rule.S_SEGMENT_1)
def fits(segment: Segment, size: int, segment_bytes: int) -> bool:
    """Return whether an entry of that size, not rounded up, ends within the segment."""
    return segment.offset + size <= segment_bytes


@rule(Rule.S_INSERT_1, Rule.S_INSERT_6)
def with_entry(segment: Segment, entry: Entry, config: Config) -> Segment:
    """Return the segment with one more entry at its end; another entry of the same place is found no more."""
    others = tuple(other for other in segment.entries if other.place != entry.place)
    placed = entry._replace(start=segment.offset)
    return Segment((*others, placed), offset_behind(placed.start, entry.size_bytes, config))


@rule(Rule.S_SEGMENT_4, Rule.S_SEGMENT_5)
def with_failed_offers(segment: Segment, size: int, tries: int, config: Config) -> Segment:
    """Return a segment that was offered an entry so many times and did not take it."""
    if config.variants.failed_offer is FailedOffer.UNCOUNTED:
        return segment
    return segment._replace(offset=segment.offset + failed_offer_bytes(size, tries, config))


@rule(Rule.S_SEGMENT_5)
def failed_offer_bytes(size: int, tries: int, config: Config) -> int:
    """Return the bytes that failed offers have cost."""
    return tries * advance(size, config)


# The ring.


class Offer(NamedTuple):
    """The ring after an offer, the answer whether the entry was accepted, and the events."""

    state: State
    is_taken: bool
    rows: tuple[Row, ...]


def with_segment(state: State, index: int, segment: Segment) -> State:
    """Return the ring with another segment at an index."""
    return state._replace(segments={**state.segments, index: segment})


@rule(Rule.S_RING_1)
def next_index(state: State) -> int:
    """Return the segment after the current one; after the last one comes the first."""
    return (state.current + 1) % len(state.segments)


@rule(Rule.S_RING_2, Rule.S_RING_6)
def kept_entries(segment: Segment, config: Config) -> tuple[Entry, ...]:
    """Return the entries that are still found in a cleared segment."""
    return () if config.variants.cleared_index is ClearedIndex.EMPTIED else segment.entries


@rule(Rule.S_RING_3, Rule.S_RING_5)
def kept_offset(segment: Segment, config: Config) -> int:
    """Return the byte from which a cleared segment is written."""
    return 0 if config.variants.cleared_offset is ClearedOffset.RESET else segment.offset


@rule(Rule.S_RING_4)
def clear_segment(state: State, index: int, config: Config) -> State:
    """Return the ring with that segment cleared."""
    segment = state.segments[index]
    return with_segment(state, index, Segment(kept_entries(segment, config), kept_offset(segment, config)))


@rule(Rule.S_INSERT_7)
def rejects(segment: Segment, entry: Entry, config: Config) -> bool:
    """Return whether the current segment holds the place already, and treats that as being full."""
    return config.variants.duplicate is Duplicate.ROTATING and find_in_segment(segment, entry.place) is not None


@rule(Rule.S_SEGMENT_1)
def has_room(state: State, entry: Entry) -> bool:
    """Return whether the current segment has room for the entry."""
    return fits(state.segments[state.current], entry.size_bytes, state.segment_bytes)


@rule(Rule.S_SEGMENT_1, Rule.S_RING_1)
def offer_entry(state: State, entry: Entry, config: Config) -> Offer:
    """Offer an entry to the current segment, and to the next one if it does not fit."""
    segment = state.segments[state.current]
    if has_room(state, entry) and not rejects(segment, entry, config):
        after_insert = with_segment(state, state.current, with_entry(segment, entry, config))
        return Offer(after_insert, True, (views.insert_row(Rule.S_INSERT_1, after_insert, entry.place),))
    return turn_ring(state, entry, config)


@rule(Rule.S_RING_1, Rule.S_RING_2, Rule.S_RING_3, Rule.S_RING_4)
def turn_ring(state: State, entry: Entry, config: Config) -> Offer:
    """Clear the next segment, make it current, and offer it the entry."""
    full = with_failed_offers(state.segments[state.current], entry.size_bytes, TRIES, config)
    index = next_index(state)
    before = with_segment(state, state.current, full)
    after = clear_segment(before, index, config)._replace(current=index)
    turn = views.turn_rows(before, after, entry.size_bytes)
    if is_still_full(after, entry, config):
        after_skip = with_segment(after, index, with_failed_offers(after.segments[index], entry.size_bytes, 1, config))
        row = views.skip_row(Rule.S_RING_5, "SKIP", "FULL", after_skip, entry.place, entry.size_bytes)
        return Offer(after_skip, False, (*turn, row))
    after_insert = with_segment(after, index, with_entry(after.segments[index], entry, config))
    return Offer(after_insert, True, (*turn, views.insert_row(Rule.S_RING_1, after_insert, entry.place)))


@rule(Rule.S_RING_5)
def is_still_full(state: State, entry: Entry, config: Config) -> bool:
    """Return whether the segment that has just been cleared still has no room."""
    keeps = config.variants.cleared_offset is ClearedOffset.KEPT
    return keeps and not fits(state.segments[state.current], entry.size_bytes, state.segment_bytes)


# The operation `insert`.


@rule(Rule.S_INSERT_4)
def is_disabled(config: Config) -> bool:
    """Return whether caching is off."""
    return config.max_size_bytes == 0


@rule(Rule.S_INSERT_3)
def is_too_long(state: State, size: int) -> bool:
    """Return whether an entry of that size fits into no segment."""
    return size > state.segment_bytes


@rule(Rule.S_INSERT_2)
def is_ignored(state: State, place: Place, config: Config) -> bool:
    """Return whether an insert of that place is skipped because some segment holds it."""
    return config.variants.duplicate is Duplicate.IGNORED and find_entry(state, place) is not None


@rule(Rule.S_INSERT_1, Rule.S_INSERT_2, Rule.S_INSERT_3, Rule.S_INSERT_4, Rule.S_INSERT_5)
def insert(state: State, event: ops.Insert, config: Config) -> Step:
    """Offer one entry to the ring."""
    # GUARD: a negative size is refused.
    place = Place(event.cache, event.pos)
    if event.size < 0:
        return Step(state, outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT), ())

    # DECISION: an entry is skipped if caching is off, if it is too long, or if it is cached.
    for left_out, rule_of_it, op, cause in (
        (is_disabled(config), Rule.S_INSERT_4, "SKIP", "DISABLED"),
        (is_too_long(state, event.size), Rule.S_INSERT_3, "SKIP", "FULL"),
        (is_ignored(state, place, config), Rule.S_INSERT_2, "REJECT", "DUPLICATE"),
    ):
        if left_out:
            return Step(
                state, outcomes.Inserted(False), (views.skip_row(rule_of_it, op, cause, state, place, event.size),)
            )

    # EFFECT: the current segment takes the entry, or the ring turns.
    entry = Entry(place, event.size, 0, None if event.token is ABSENT else event.token)
    offer = offer_entry(state, entry, config)

    # OUTCOME
    return Step(offer.state, outcomes.Inserted(offer.is_taken), offer.rows)
