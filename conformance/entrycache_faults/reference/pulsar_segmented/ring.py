"""Seeded faults of `pulsar-segmented`: of lookups, the ring, inserts and single segments, and the variants as faults.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it. Its docstring, up to a blank line, is its note. `seeded_fault` enters it in the registry. The variants are
those of the unmerged branch.
"""

from typing import Final

from entrycache_faults.model import Fault, FaultRegistry
from entrycache_reference import vocabulary
from entrycache_reference.pulsar_segmented import config as configuration
from entrycache_reference.pulsar_segmented import lookup, ops, outcomes, ring, state, views
from entrycache_reference.pulsar_segmented.config import ClearedOffset, Duplicate, RangeWalk, Used
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State, Step, find_in_segment
from entrycache_reference.rules import Rule

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_segmented")

seeded_fault = SEEDED_FAULTS.register


@seeded_fault(Rule.S_GET_1, "lookup.find_entry")
def found_in_the_current_segment(before: State, place: Place) -> Entry | None:
    """Only the current segment is asked."""
    return state.find_in_segment(before.segments[before.current], place)


@seeded_fault(Rule.S_GET_2, ops.Get)
def get_as_the_newest(before: State, event: ops.Get, config: configuration.Config) -> Step:
    """An entry that is read becomes the newest of its segment."""
    result = lookup.get(before, event, config)
    place = Place(event.cache, event.pos)
    for index, segment in before.segments.items():
        entry = state.find_in_segment(segment, place)
        if entry is not None:
            others = tuple(other for other in segment.entries if other is not entry)
            return result._replace(state=ring.with_segment(before, index, Segment((*others, entry), segment.offset)))
    return result


@seeded_fault(Rule.S_GET_3, "lookup.payloads")
def payloads_of_the_first(entries: tuple[Entry, ...]) -> tuple[int, ...] | None:
    """Every entry of a range hands over the payload of the first."""
    tokens = lookup.payloads(entries)
    return tokens and tokens[:1] * len(tokens)


@seeded_fault(Rule.S_RANGE_1, "lookup.find_in_any_segment")
def in_one_segment(
    before: State, cache: vocabulary.CacheName, first: vocabulary.Position, last: vocabulary.Position
) -> tuple[Entry, ...]:
    """A range is found only where one segment holds all of it."""
    entries = lookup.find_in_any_segment(before, cache, first, last)
    in_one = any(all(entry in one.entries for entry in entries) for one in before.segments.values())
    return entries if in_one else ()


@seeded_fault(Rule.S_RANGE_1, "lookup.find_in_any_segment", other=True)
def up_to_the_last(
    before: State, cache: vocabulary.CacheName, first: vocabulary.Position, last: vocabulary.Position
) -> tuple[Entry, ...]:
    """The last position of a range is not looked for."""
    return tuple(entry for entry in lookup.find_in_any_segment(before, cache, first, last) if entry.place.pos < last)


@seeded_fault(Rule.S_RANGE_2, ops.GetRange)
def range_in_part(before: State, event: ops.GetRange, config: configuration.Config) -> Step:
    """A range with a gap answers what there is."""
    if config.variants.range_walk is RangeWalk.ONE_PASS or not lookup.is_range(event.first, event.last):
        return lookup.get_range(before, event, config)
    entries = lookup.find_in_any_segment(before, event.cache, event.first, event.last)
    return Step(before, outcomes.Hits(tuple(entry.place.pos for entry in entries), lookup.payloads(entries)), ())


@seeded_fault(Rule.S_RANGE_3, ops.GetRange)
def range_over_ledgers(before: State, event: ops.GetRange, config: configuration.Config) -> Step:
    """A range over two ledgers answers what is cached of both."""
    if event.first.ledger < event.last.ledger:
        entries = lookup.find_in_any_segment(before, event.cache, event.first, event.last)
        return Step(before, outcomes.Hits(tuple(entry.place.pos for entry in entries), lookup.payloads(entries)), ())
    return lookup.get_range(before, event, config)


@seeded_fault(Rule.S_RANGE_4, "lookup.find_in_one_pass")
def in_one_pass_to_the_end(
    before: State, cache: vocabulary.CacheName, first: vocabulary.Position, last: vocabulary.Position
) -> tuple[Entry, ...]:
    """In a release that asks each segment once, the walk goes on to the oldest segment."""
    gathered: list[Entry] = []
    at = first
    for segment in state.newest_first(before):
        while at <= last and (entry := state.find_in_segment(segment, Place(cache, at))) is not None:
            gathered.append(entry)
            at = at._replace(entry=at.entry + 1)
    return tuple(gathered)


@seeded_fault(Rule.S_USAGE_1, "views.sum_of_sizes")
def sum_of_the_current_segment(before: State) -> int:
    """Only the current segment is in use."""
    return sum(entry.size_bytes for entry in before.segments[before.current].entries)


@seeded_fault(Rule.S_USAGE_2, "views.sum_of_offsets")
def offset_of_the_current_segment(before: State) -> int:
    """In a release that counts offsets as bytes in use, only the offset of the current segment counts."""
    return before.segments[before.current].offset


@seeded_fault(Rule.S_STATE_2, ops.Observe)
def observe_from_the_current(before: State, event: ops.Observe, config: configuration.Config) -> Step:
    """The ring is shown from its current segment on."""
    result = views.observe(before, event, config)
    if not isinstance(result.outcome, outcomes.Observed):
        return result
    segment_views = result.outcome.segments
    return result._replace(
        outcome=outcomes.Observed((*segment_views[before.current :], *segment_views[: before.current]), before.current)
    )


@seeded_fault(Rule.S_LIVENESS_1, ops.Usage)
def usage_of_nothing(before: State, event: ops.Usage, config: configuration.Config) -> Step:
    """An empty ring refuses to tell what it uses."""
    if any(segment.entries for segment in before.segments.values()):
        return views.usage(before, event, config)
    return Step(before, outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT), ())


# The ring and its segments.


@seeded_fault(Rule.S_RING_1, "ring.next_index")
def previous_index(state: State) -> int:
    """The ring turns backwards."""
    return (state.current - 1) % len(state.segments)


@seeded_fault(Rule.S_RING_2, "ring.kept_entries")
def kept_all(segment: Segment, config: configuration.Config) -> tuple[Entry, ...]:
    """The index of a segment is not cleared: its former entries are still found."""
    return segment.entries


@seeded_fault(Rule.S_RING_3, "ring.kept_offset")
def kept_where_it_was(segment: Segment, config: configuration.Config) -> int:
    """The offset of a segment is not reset when it is cleared."""
    return segment.offset


@seeded_fault(Rule.S_RING_4, "ring.clear_segment")
def cleared_with_all_others(state: State, index: int, config: configuration.Config) -> State:
    """A turn drops the entries of every segment."""
    after = ring.clear_segment(state, index, config)
    return after._replace(segments={at: one._replace(entries=()) for at, one in after.segments.items()})


@seeded_fault(Rule.S_RING_4, "ring.clear_segment", other=True)
def cleared_with_the_full_one(state: State, index: int, config: configuration.Config) -> State:
    """A turn drops the entries of the segment that was full, too."""
    after = ring.clear_segment(state, index, config)
    return ring.with_segment(after, state.current, after.segments[state.current]._replace(entries=()))


@seeded_fault(Rule.S_RING_5, "ring.is_still_full")
def never_still_full(state: State, entry: Entry, config: configuration.Config) -> bool:
    """In a release whose cleared segment keeps its offset, the segment takes an entry that does not fit."""
    return False


@seeded_fault(Rule.S_RING_6, "ring.kept_entries")
def kept_but_one(segment: Segment, config: configuration.Config) -> tuple[Entry, ...]:
    """In a release whose cleared segment keeps its index, the segment forgets the oldest entry of that index."""
    return ring.kept_entries(segment, config)[1:]


# The configuration, inserts and single segments.


@seeded_fault(Rule.S_CONFIG_1, "config.segments_of")
def segments_at_least_one(config: configuration.Config) -> int:
    """A small cache has a single segment if the number of segments is not given."""
    return config.segments or max(1, config.max_size_bytes // 2**30)


@seeded_fault(Rule.S_CONFIG_2, "config.segment_bytes")
def segment_rounded_up(config: configuration.Config, segments: int) -> int:
    """The share of a segment is rounded up, so that all of them together exceed the limit."""
    return -(-config.max_size_bytes // segments)


@seeded_fault(Rule.S_STATE_1, "state.initial")
def initial_at_the_end(config: configuration.Config) -> State:
    """A run begins with the last segment."""
    first = state.initial(config)
    return first._replace(current=len(first.segments) - 1)


@seeded_fault(Rule.S_INSERT_1, "ring.with_entry")
def with_entry_in_front(one: Segment, entry: Entry, config: configuration.Config) -> Segment:
    """A new entry is put before those that are there."""
    after = ring.with_entry(one, entry, config)
    return after._replace(entries=(after.entries[-1], *after.entries[:-1]))


@seeded_fault(Rule.S_INSERT_2, "ring.is_ignored")
def ignored_in_the_current_segment(before: State, place: Place, config: configuration.Config) -> bool:
    """Only the current segment is asked whether it holds the position already."""
    in_current = find_in_segment(before.segments[before.current], place) is not None
    return config.variants.duplicate is configuration.Duplicate.IGNORED and in_current


@seeded_fault(Rule.S_INSERT_3, "ring.is_too_long")
def never_too_long(before: State, size: int) -> bool:
    """An entry longer than a segment turns the ring and is written over its end."""
    return False


@seeded_fault(Rule.S_INSERT_4, "ring.is_disabled")
def never_disabled(config: configuration.Config) -> bool:
    """With a limit of 0 entries without bytes are cached."""
    return False


@seeded_fault(Rule.S_INSERT_5, ops.Insert)
def insert_of_less_than_nothing(before: State, event: ops.Insert, config: configuration.Config) -> Step:
    """A negative size is no error, the entry is left out."""
    result = ring.insert(before, event, config)
    return result if event.size >= 0 else Step(before, outcomes.Inserted(False), ())


@seeded_fault(Rule.S_SEGMENT_1, "ring.has_room")
def room_to_spare(before: State, entry: Entry) -> bool:
    """An entry that ends exactly at the end of its segment does not fit."""
    return before.segments[before.current].offset + entry.size_bytes < before.segment_bytes


@seeded_fault(Rule.S_SEGMENT_1, "ring.has_room", other=True)
def room_when_rounded_up(before: State, entry: Entry) -> bool:
    """An entry has to fit with its size rounded up."""
    return before.segments[before.current].offset + ring.round_up(entry.size_bytes) <= before.segment_bytes


@seeded_fault(Rule.S_SEGMENT_2, "ring.offset_behind")
def behind_one_more(start: int, size: int, config: configuration.Config) -> int:
    """A copy whose size is a multiple of 64 already is rounded up to the next one."""
    is_copy = config.mode is configuration.Mode.COPY
    return start + ring.round_up(size + 1) if is_copy else ring.offset_behind(start, size, config)


@seeded_fault(Rule.S_SEGMENT_2, "ring.offset_behind", other=True)
def behind_without_alignment(start: int, size: int, config: configuration.Config) -> int:
    """Copies are written one behind the other, without an alignment."""
    return start + size


@seeded_fault(Rule.S_SEGMENT_3, "ring.offset_behind")
def behind_with_alignment(start: int, size: int, config: configuration.Config) -> int:
    """References are counted as copies are."""
    return start + ring.round_up(size)


@seeded_fault(Rule.S_SEGMENT_4, "ring.with_failed_offers")
def passed_over_and_counted(one: Segment, size: int, tries: int, config: configuration.Config) -> Segment:
    """The offset is moved before the room is asked for, and stays where it is when there is none."""
    if config.variants.failed_offer is configuration.FailedOffer.COUNTED:
        return ring.with_failed_offers(one, size, tries, config)
    return one._replace(offset=ring.offset_behind(one.offset, size, config))


@seeded_fault(Rule.S_SEGMENT_5, "ring.failed_offer_bytes")
def counted_once(size: int, tries: int, config: configuration.Config) -> int:
    """In a release that counts tries, a segment that was tried twice counts one try."""
    return ring.failed_offer_bytes(size, 1, config) if tries > 1 else 0


@seeded_fault(Rule.S_INSERT_6, "ring.with_entry")
def with_entry_twice(one: Segment, entry: Entry, config: configuration.Config) -> Segment:
    """In a release whose duplicates overwrite, the first duplicate is still listed."""
    after = ring.with_entry(one, entry, config)
    return after._replace(entries=(*one.entries, after.entries[-1]))


@seeded_fault(Rule.S_INSERT_7, "ring.rejects")
def rejects_copies_only(one: Segment, entry: Entry, config: configuration.Config) -> bool:
    """In a release whose duplicates turn the ring, they do so in mode copy only."""
    return config.mode is configuration.Mode.COPY and ring.rejects(one, entry, config)


# Variants of the unmerged branch, as faults against the default behavior.

SEEDED_FAULTS.register_variant(
    "A duplicate takes the place of the first.", Rule.S_INSERT_2, duplicate=configuration.Duplicate.OVERWRITTEN
)
SEEDED_FAULTS.register_variant(
    "A duplicate turns the ring.", Rule.S_INSERT_2, duplicate=configuration.Duplicate.ROTATING
)
SEEDED_FAULTS.register_variant(
    "What a segment does not take counts.", Rule.S_SEGMENT_4, failed_offer=configuration.FailedOffer.COUNTED
)
SEEDED_FAULTS.register_variant(
    "A cleared segment goes on behind its offset.",
    Rule.S_RING_1,
    Rule.S_RING_3,
    cleared_offset=configuration.ClearedOffset.KEPT,
)
SEEDED_FAULTS.register_variant(
    "A cleared segment still finds its former entries.", Rule.S_RING_2, cleared_index=configuration.ClearedIndex.KEPT
)
SEEDED_FAULTS.register_variant(
    "A range asks each segment once.", Rule.S_RANGE_1, range_walk=configuration.RangeWalk.ONE_PASS
)
SEEDED_FAULTS.register_variant("Offsets are what is in use.", Rule.S_USAGE_1, used=configuration.Used.OFFSETS)


# The faults that are subjects, by the public names that `entrycache conform` takes. Most of them are errors of the
# unmerged branch of PIP-174, or errors that its review warned of.

RING: Final[dict[str, Fault]] = {
    "segmented-clears-the-full-one": SEEDED_FAULTS.find(cleared_with_the_full_one),
    "segmented-duplicate-overwrites": SEEDED_FAULTS.find_variant(Rule.S_INSERT_2, duplicate=Duplicate.OVERWRITTEN),
    "segmented-duplicate-turns": SEEDED_FAULTS.find_variant(Rule.S_INSERT_2, duplicate=Duplicate.ROTATING),
    "segmented-empty-where-off": SEEDED_FAULTS.find(never_disabled),
    "segmented-full-advances": SEEDED_FAULTS.find(passed_over_and_counted),
    "segmented-index-kept": SEEDED_FAULTS.find(kept_all),
    "segmented-no-room-at-the-end": SEEDED_FAULTS.find(room_to_spare),
    "segmented-not-aligned": SEEDED_FAULTS.find(behind_without_alignment),
    "segmented-offset-kept": SEEDED_FAULTS.find_variant(Rule.S_RING_3, cleared_offset=ClearedOffset.KEPT),
    "segmented-references-aligned": SEEDED_FAULTS.find(behind_with_alignment),
    "segmented-rounded-before-the-test": SEEDED_FAULTS.find(room_when_rounded_up),
    "segmented-too-long-is-taken": SEEDED_FAULTS.find(never_too_long),
    "segmented-turns-backwards": SEEDED_FAULTS.find(previous_index),
}
"""The faults of inserts and the turn of the ring by public name."""

LOOKUPS: Final[dict[str, Fault]] = {
    "segmented-looks-in-the-current": SEEDED_FAULTS.find(found_in_the_current_segment),
    "segmented-range-in-part": SEEDED_FAULTS.find(range_in_part),
    "segmented-range-stops-early": SEEDED_FAULTS.find_variant(Rule.S_RANGE_1, range_walk=RangeWalk.ONE_PASS),
    "segmented-read-is-newest": SEEDED_FAULTS.find(get_as_the_newest),
    "segmented-usage-of-offsets": SEEDED_FAULTS.find_variant(Rule.S_USAGE_1, used=Used.OFFSETS),
}
"""The faults of lookups and usage by public name."""

SUBJECTS: Final[dict[str, Fault]] = {**RING, **LOOKUPS}
"""All of them by public name."""
