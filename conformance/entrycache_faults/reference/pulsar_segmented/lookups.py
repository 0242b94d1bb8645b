"""Seeded faults of lookups, and of the operations that only look.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it.
"""

from __future__ import annotations

from entrycache_faults.reference.pulsar_segmented.registry import seeded_fault
from entrycache_reference.pulsar_segmented import lookup, ops, ring, state, views
from entrycache_reference.pulsar_segmented.config import Config, RangeWalk
from entrycache_reference.pulsar_segmented.outcomes import ErrorKind, Hits, Observed, Refused
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


@seeded_fault(Rule.S_GET_1, "lookup.find_entry")
def found_in_the_current_segment(held: State, place: Place) -> Entry | None:
    """Only the current segment is asked."""
    return state.find_in_segment(held.segments[held.current], place)


@seeded_fault(Rule.S_GET_2, ops.Get)
def get_as_the_newest(held: State, event: ops.Get, config: Config) -> Step:
    """An entry that is read becomes the newest of its segment."""
    done = lookup.get(held, event, config)
    place = Place(event.cache, event.pos)
    for index, segment in held.segments.items():
        entry = state.find_in_segment(segment, place)
        if entry is not None:
            others = tuple(other for other in segment.entries if other is not entry)
            return done._replace(state=ring.with_segment(held, index, Segment((*others, entry), segment.offset)))
    return done


@seeded_fault(Rule.S_GET_3, "lookup.payloads")
def payloads_of_the_first(entries: tuple[Entry, ...]) -> tuple[int, ...] | None:
    """Every entry of a range hands over the payload of the first."""
    tokens = lookup.payloads(entries)
    return tokens and tokens[:1] * len(tokens)


@seeded_fault(Rule.S_RANGE_1, "lookup.find_in_any_segment")
def in_one_segment(held: State, cache: CacheName, first: Position, last: Position) -> tuple[Entry, ...]:
    """A range is found only where one segment holds all of it."""
    entries = lookup.find_in_any_segment(held, cache, first, last)
    in_one = any(all(entry in one.entries for entry in entries) for one in held.segments.values())
    return entries if in_one else ()


@seeded_fault(Rule.S_RANGE_1, "lookup.find_in_any_segment", other=True)
def up_to_the_last(held: State, cache: CacheName, first: Position, last: Position) -> tuple[Entry, ...]:
    """The last position of a range is not looked for."""
    return tuple(entry for entry in lookup.find_in_any_segment(held, cache, first, last) if entry.place.pos < last)


@seeded_fault(Rule.S_RANGE_2, ops.GetRange)
def range_in_part(held: State, event: ops.GetRange, config: Config) -> Step:
    """A range with a gap answers what there is."""
    if config.variants.range_walk is RangeWalk.ONE_PASS or not lookup.is_range(event.first, event.last):
        return lookup.get_range(held, event, config)
    entries = lookup.find_in_any_segment(held, event.cache, event.first, event.last)
    return Step(held, Hits(tuple(entry.place.pos for entry in entries), lookup.payloads(entries)), ())


@seeded_fault(Rule.S_RANGE_3, ops.GetRange)
def range_over_ledgers(held: State, event: ops.GetRange, config: Config) -> Step:
    """A range over two ledgers answers what is cached of both."""
    if event.first.ledger < event.last.ledger:
        entries = lookup.find_in_any_segment(held, event.cache, event.first, event.last)
        return Step(held, Hits(tuple(entry.place.pos for entry in entries), lookup.payloads(entries)), ())
    return lookup.get_range(held, event, config)


@seeded_fault(Rule.S_RANGE_4, "lookup.find_in_one_pass")
def in_one_pass_to_the_end(held: State, cache: CacheName, first: Position, last: Position) -> tuple[Entry, ...]:
    """Where each segment is asked once, the walk goes on to the oldest one."""
    gathered: list[Entry] = []
    at = first
    for segment in state.newest_first(held):
        while at <= last and (entry := state.find_in_segment(segment, Place(cache, at))) is not None:
            gathered.append(entry)
            at = at._replace(entry=at.entry + 1)
    return tuple(gathered)


@seeded_fault(Rule.S_USAGE_1, "views.sum_of_sizes")
def sum_of_the_current_segment(held: State) -> int:
    """Only the current segment is in use."""
    return sum(entry.size_bytes for entry in held.segments[held.current].entries)


@seeded_fault(Rule.S_USAGE_2, "views.sum_of_offsets")
def offset_of_the_current_segment(held: State) -> int:
    """Where offsets are in use, only that of the current segment is."""
    return held.segments[held.current].offset


@seeded_fault(Rule.S_STATE_2, ops.Observe)
def observe_from_the_current(held: State, event: ops.Observe, config: Config) -> Step:
    """The ring is shown from its current segment on."""
    done = views.observe(held, event, config)
    if not isinstance(done.outcome, Observed):
        return done
    shown = done.outcome.segments
    return done._replace(outcome=Observed((*shown[held.current :], *shown[: held.current]), held.current))


@seeded_fault(Rule.S_LIVENESS_1, ops.Usage)
def usage_of_nothing(held: State, event: ops.Usage, config: Config) -> Step:
    """An empty ring refuses to tell what it uses."""
    if any(segment.entries for segment in held.segments.values()):
        return views.usage(held, event, config)
    return Step(held, Refused(ErrorKind.ILLEGAL_ARGUMENT), ())
