"""Seeded faults of lookups, and of the operations that only look; the registry of all faults of `pulsar-segmented`.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it. Its docstring, up to a blank line, is its note. `seeded_fault` enters it in the registry.
"""

from typing import Final

from entrycache_faults.model import FaultRegistry
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_segmented import lookup, ops, outcomes, ring, state, views
from entrycache_reference.pulsar_segmented.config import Config, RangeWalk
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State, Step

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_segmented")

seeded_fault = SEEDED_FAULTS.register


@seeded_fault(rules.Rule.S_GET_1, "lookup.find_entry")
def found_in_the_current_segment(before: State, place: Place) -> Entry | None:
    """Only the current segment is asked."""
    return state.find_in_segment(before.segments[before.current], place)


@seeded_fault(rules.Rule.S_GET_2, ops.Get)
def get_as_the_newest(before: State, event: ops.Get, config: Config) -> Step:
    """An entry that is read becomes the newest of its segment."""
    result = lookup.get(before, event, config)
    place = Place(event.cache, event.pos)
    for index, segment in before.segments.items():
        entry = state.find_in_segment(segment, place)
        if entry is not None:
            others = tuple(other for other in segment.entries if other is not entry)
            return result._replace(state=ring.with_segment(before, index, Segment((*others, entry), segment.offset)))
    return result


@seeded_fault(rules.Rule.S_GET_3, "lookup.payloads")
def payloads_of_the_first(entries: tuple[Entry, ...]) -> tuple[int, ...] | None:
    """Every entry of a range hands over the payload of the first."""
    tokens = lookup.payloads(entries)
    return tokens and tokens[:1] * len(tokens)


@seeded_fault(rules.Rule.S_RANGE_1, "lookup.find_in_any_segment")
def in_one_segment(
    before: State, cache: vocabulary.CacheName, first: vocabulary.Position, last: vocabulary.Position
) -> tuple[Entry, ...]:
    """A range is found only where one segment holds all of it."""
    entries = lookup.find_in_any_segment(before, cache, first, last)
    in_one = any(all(entry in one.entries for entry in entries) for one in before.segments.values())
    return entries if in_one else ()


@seeded_fault(rules.Rule.S_RANGE_1, "lookup.find_in_any_segment", other=True)
def up_to_the_last(
    before: State, cache: vocabulary.CacheName, first: vocabulary.Position, last: vocabulary.Position
) -> tuple[Entry, ...]:
    """The last position of a range is not looked for."""
    return tuple(entry for entry in lookup.find_in_any_segment(before, cache, first, last) if entry.place.pos < last)


@seeded_fault(rules.Rule.S_RANGE_2, ops.GetRange)
def range_in_part(before: State, event: ops.GetRange, config: Config) -> Step:
    """A range with a gap answers what there is."""
    if config.variants.range_walk is RangeWalk.ONE_PASS or not lookup.is_range(event.first, event.last):
        return lookup.get_range(before, event, config)
    entries = lookup.find_in_any_segment(before, event.cache, event.first, event.last)
    return Step(before, outcomes.Hits(tuple(entry.place.pos for entry in entries), lookup.payloads(entries)), ())


@seeded_fault(rules.Rule.S_RANGE_3, ops.GetRange)
def range_over_ledgers(before: State, event: ops.GetRange, config: Config) -> Step:
    """A range over two ledgers answers what is cached of both."""
    if event.first.ledger < event.last.ledger:
        entries = lookup.find_in_any_segment(before, event.cache, event.first, event.last)
        return Step(before, outcomes.Hits(tuple(entry.place.pos for entry in entries), lookup.payloads(entries)), ())
    return lookup.get_range(before, event, config)


@seeded_fault(rules.Rule.S_RANGE_4, "lookup.find_in_one_pass")
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


@seeded_fault(rules.Rule.S_USAGE_1, "views.sum_of_sizes")
def sum_of_the_current_segment(before: State) -> int:
    """Only the current segment is in use."""
    return sum(entry.size_bytes for entry in before.segments[before.current].entries)


@seeded_fault(rules.Rule.S_USAGE_2, "views.sum_of_offsets")
def offset_of_the_current_segment(before: State) -> int:
    """In a release that counts offsets as bytes in use, only the offset of the current segment counts."""
    return before.segments[before.current].offset


@seeded_fault(rules.Rule.S_STATE_2, ops.Observe)
def observe_from_the_current(before: State, event: ops.Observe, config: Config) -> Step:
    """The ring is shown from its current segment on."""
    result = views.observe(before, event, config)
    if not isinstance(result.outcome, outcomes.Observed):
        return result
    segment_views = result.outcome.segments
    return result._replace(
        outcome=outcomes.Observed((*segment_views[before.current :], *segment_views[: before.current]), before.current)
    )


@seeded_fault(rules.Rule.S_LIVENESS_1, ops.Usage)
def usage_of_nothing(before: State, event: ops.Usage, config: Config) -> Step:
    """An empty ring refuses to tell what it uses."""
    if any(segment.entries for segment in before.segments.values()):
        return views.usage(before, event, config)
    return Step(before, outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT), ())
