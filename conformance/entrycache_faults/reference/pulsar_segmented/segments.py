"""Faults about the configuration, about inserts and about single segments."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_segmented.planted import planted
from entrycache_reference.pulsar_segmented import insert, ops, ring, segment, state
from entrycache_reference.pulsar_segmented.config import Config, Duplicate, FailedOffer, Mode
from entrycache_reference.pulsar_segmented.outcomes import Inserted
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State, Step, found_in
from entrycache_reference.rules import Rule


@planted(Rule.S_CONFIG_1, "config.segments_of")
def segments_at_least_one(config: Config) -> int:
    """Where nobody says how many segments there are, a small cache has a single one."""
    return config.segments or max(1, config.max_size_bytes // 2**30)


@planted(Rule.S_CONFIG_2, "config.segment_bytes")
def segment_rounded_up(config: Config, segments: int) -> int:
    """The share of a segment is rounded up, so that all of them together exceed the limit."""
    return -(-config.max_size_bytes // segments)


@planted(Rule.S_STATE_1, "state.initial")
def initial_at_the_end(config: Config) -> State:
    """A run begins with the last segment."""
    first = state.initial(config)
    return first._replace(current=len(first.segments) - 1)


@planted(Rule.S_INSERT_1, "segment.with_entry")
def with_entry_in_front(one: Segment, entry: Entry, config: Config) -> Segment:
    """A new entry is put before those that are there."""
    after = segment.with_entry(one, entry, config)
    return after._replace(entries=(after.entries[-1], *after.entries[:-1]))


@planted(Rule.S_INSERT_2, "insert.is_ignored")
def ignored_in_the_current_segment(held: State, place: Place, config: Config) -> bool:
    """Only the current segment is asked whether it holds the position already."""
    in_current = found_in(held.segments[held.current], place) is not None
    return config.variants.duplicate is Duplicate.IGNORED and in_current


@planted(Rule.S_INSERT_3, "insert.is_too_long")
def never_too_long(held: State, size: int) -> bool:
    """An entry longer than a segment turns the ring and is written over its end."""
    return False


@planted(Rule.S_INSERT_4, "insert.is_disabled")
def never_disabled(config: Config) -> bool:
    """With a limit of 0 entries without bytes are cached."""
    return False


@planted(Rule.S_INSERT_5, ops.Insert)
def insert_of_less_than_nothing(held: State, event: ops.Insert, config: Config) -> Step:
    """A negative size is no error, the entry is left out."""
    done = insert.insert(held, event, config)
    return done if event.size >= 0 else Step(held, Inserted(False), ())


@planted(Rule.S_SEGMENT_1, "ring.has_room")
def room_to_spare(held: State, entry: Entry) -> bool:
    """An entry that ends exactly at the end of its segment does not fit."""
    return held.segments[held.current].offset + entry.size_bytes < held.segment_bytes


@planted(Rule.S_SEGMENT_1, "ring.has_room", other=True)
def room_when_rounded_up(held: State, entry: Entry) -> bool:
    """An entry has to fit with its size rounded up."""
    return held.segments[held.current].offset + segment.rounded_up(entry.size_bytes) <= held.segment_bytes


@planted(Rule.S_SEGMENT_2, "segment.offset_behind")
def behind_one_more(start: int, size: int, config: Config) -> int:
    """A copy whose size is a multiple of 64 already is rounded up to the next one."""
    is_copy = config.mode is Mode.COPY
    return start + segment.rounded_up(size + 1) if is_copy else segment.offset_behind(start, size, config)


@planted(Rule.S_SEGMENT_2, "segment.offset_behind", other=True)
def behind_without_alignment(start: int, size: int, config: Config) -> int:
    """Copies are written one behind the other, without an alignment."""
    return start + size


@planted(Rule.S_SEGMENT_3, "segment.offset_behind")
def behind_with_alignment(start: int, size: int, config: Config) -> int:
    """References are counted as copies are."""
    return start + segment.rounded_up(size)


@planted(Rule.S_SEGMENT_4, "segment.passed_over")
def passed_over_and_counted(one: Segment, size: int, tries: int, config: Config) -> Segment:
    """The offset is moved before the room is asked for, and stays where it is when there is none."""
    if config.variants.failed_offer is FailedOffer.COUNTED:
        return segment.passed_over(one, size, tries, config)
    return one._replace(offset=segment.offset_behind(one.offset, size, config))


@planted(Rule.S_SEGMENT_5, "segment.counted")
def counted_once(size: int, tries: int, config: Config) -> int:
    """Where tries count, a segment that was tried twice counts one of them."""
    return segment.counted(size, 1, config) if tries > 1 else 0


@planted(Rule.S_INSERT_6, "segment.with_entry")
def with_entry_twice(one: Segment, entry: Entry, config: Config) -> Segment:
    """Where duplicates overwrite, the first one is still listed."""
    after = segment.with_entry(one, entry, config)
    return after._replace(entries=(*one.entries, after.entries[-1]))


@planted(Rule.S_INSERT_7, "ring.rejects")
def rejects_copies_only(one: Segment, entry: Entry, config: Config) -> bool:
    """Where duplicates turn the ring, they do so in mode copy only."""
    return config.mode is Mode.COPY and ring.rejects(one, entry, config)
