"""The definition: what a step leaves, answers and tells, made in another way than the reference makes it.

It speaks where no law of a rule has spoken, and then names the rule of the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_segmented import outcomes
from entrycache_reference.pulsar_segmented.config import (
    ClearedIndex,
    ClearedOffset,
    Config,
    Duplicate,
    FailedOffer,
    RangeWalk,
    Used,
)
from entrycache_reference.pulsar_segmented.laws.frame import BESIDE, MAY_CHANGE, outside
from entrycache_reference.pulsar_segmented.laws.law import cached, ends_within, growth, in_current
from entrycache_reference.pulsar_segmented.ops import Get, GetRange, Insert, Observe, Op, Usage
from entrycache_reference.pulsar_segmented.outcomes import ErrorKind, Hit, Hits, Inserted, Observed, Refused
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, Segment, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position

__all__ = ["BESIDE", "MAY_CHANGE", "check_definition", "is_defined"]


class Defined(NamedTuple):
    """What a step is: the state after it, its answer, and its rows."""

    state: State
    outcome: Any
    rows: tuple[Row, ...] = ()


def written(state: State) -> int:
    """How far all segments together are written."""
    return sum([segment.offset for segment in state.segments.values()])


def about(rule: Rule, op: str, cause: str, place: Place, state: State, **more: Any) -> Row:
    """A row about a place."""
    cache, (ledger, entry) = place
    return Row(rule, op, cause, cache, ledger, entry, manager_bytes=written(state), **more)


def payload(event: Insert) -> int | None:
    """What an insert brings with it."""
    return None if event.token is ABSENT else event.token


def passed_over(config: Config, state: State, index: int, times: int, size: int) -> State:
    """The ring after a segment was tried so many times and did not take the entry."""
    if config.variants.failed_offer is FailedOffer.UNCOUNTED:
        return state
    segment = state.segments[index]
    tried = Segment(segment.entries, segment.offset + times * growth(config, size))
    return state._replace(segments={**state.segments, index: tried})


def added(config: Config, state: State, event: Insert, rule: Rule, before: tuple[Row, ...] = ()) -> Defined:
    """The current segment has taken the entry, at the byte up to which it was written."""
    entries, at = state.segments[state.current]
    here = Place(event.cache, event.pos)
    new = Entry(here, event.size, at, payload(event))
    segment = Segment((*[one for one in entries if one.place != here], new), at + growth(config, event.size))
    after = state._replace(segments={**state.segments, state.current: segment})
    row = about(rule, "INSERT", "ADD", here, after, size_bytes=event.size, token=new.token)
    return Defined(after, Inserted(True), (*before, row._replace(segment=state.current, bound=at)))


def why_not(config: Config, pre: State, event: Insert) -> tuple[Rule, str, str] | None:
    """Why an insert reaches no segment, if it reaches none."""
    if config.max_size_bytes == 0:
        return Rule.S_INSERT_4, "SKIP", "DISABLED"
    if event.size > pre.segment_bytes:
        return Rule.S_INSERT_3, "SKIP", "FULL"
    if config.variants.duplicate is Duplicate.IGNORED and cached(pre, event):
        return Rule.S_INSERT_2, "REJECT", "DUPLICATE"
    return None


def inserted(config: Config, pre: State, event: Insert) -> Defined:
    """Refused, left out, taken by the current segment, or offered to the next one."""
    if event.size < 0:
        return Defined(pre, Refused(ErrorKind.ILLEGAL_ARGUMENT))
    reason = why_not(config, pre, event)
    if reason is not None:
        row = about(*reason, Place(event.cache, event.pos), pre, size_bytes=event.size)
        return Defined(pre, Inserted(False), (row,))
    is_rejected = config.variants.duplicate is Duplicate.ROTATING and in_current(pre, event)
    if ends_within(pre, event) and not is_rejected:
        return added(config, pre, event, Rule.S_INSERT_1)
    return turned(config, pre, event)


def turned(config: Config, pre: State, event: Insert) -> Defined:
    """The segment behind the current one, after the last the first, is cleared and asked."""
    number = len(pre.segments)
    index = pre.current + 1 - number * (pre.current == number - 1)
    full = passed_over(config, pre, pre.current, 2, event.size)
    entries, offset = full.segments[index]
    kept = entries if config.variants.cleared_index is ClearedIndex.KEPT else ()
    start = offset if config.variants.cleared_offset is ClearedOffset.KEPT else 0
    after = State({**full.segments, index: Segment(kept, start)}, index, full.segment_bytes)
    turn = rows_of_turn(full, after, event.size)
    if start + event.size <= pre.segment_bytes or config.variants.cleared_offset is ClearedOffset.RESET:
        return added(config, after, event, Rule.S_RING_1, turn)
    left = passed_over(config, after, index, 1, event.size)
    row = about(Rule.S_RING_5, "SKIP", "FULL", Place(event.cache, event.pos), left, size_bytes=event.size)
    return Defined(left, Inserted(False), (*turn, row))


def rows_of_turn(full: State, after: State, size: int) -> tuple[Row, ...]:
    """Two rows around those of the entries that have left, in the order of their inserts."""
    index, room = after.current, full.segment_bytes
    there = after.segments[index].entries
    gone = [entry for entry in full.segments[index].entries if entry not in there]
    begin = Row(Rule.S_RING_1, "PASS_BEGIN", "TURN", None, None, None, size, segment=index)
    end = Row(Rule.S_RING_1, "PASS_END", "TURN", segment=index, trigger_bytes=room, manager_bytes=written(after))
    return (
        begin._replace(bound=full.segments[full.current].offset, trigger_bytes=room, manager_bytes=written(full)),
        *[
            about(Rule.S_RING_2, "EVICT", "TURN", place, full, size_bytes=bytes_, segment=index, bound=start)
            for place, bytes_, start, _ in gone
        ],
        end,
    )


def by_age(state: State) -> list[Segment]:
    """The segments, the current one first, then the one before it, and so on."""
    back_to_first = [state.segments[index] for index in range(state.current, -1, -1)]
    return back_to_first + [state.segments[index] for index in range(len(state.segments) - 1, state.current, -1)]


def newest_at(state: State, place: Place) -> Entry | None:
    """The entry of a place in the newest segment that has one."""
    every = [entry for segment in by_age(state) for entry in segment.entries if entry.place == place]
    return every[0] if every else None


def carried(entries: list[Entry]) -> tuple[int, ...] | None:
    """What entries carry, if there are some and each carries something."""
    tokens = [entry.token for entry in entries]
    return None if not tokens or None in tokens else tuple(token for token in tokens if token is not None)


def hit_row(rule: Rule, cause: str, state: State, entry: Entry) -> Row:
    """A row about an entry that is found."""
    return about(rule, "HIT", cause, entry.place, state, size_bytes=entry.size_bytes, token=entry.token)


def got(config: Config, pre: State, event: Get) -> Defined:
    """A hit with its payload, or a miss."""
    place = Place(event.cache, event.pos)
    entry = newest_at(pre, place)
    if entry is None:
        return Defined(pre, Hit(False), (about(Rule.S_GET_1, "MISS", "GET", place, pre),))
    return Defined(pre, Hit(True, carried([entry])), (hit_row(Rule.S_GET_1, "GET", pre, entry),))


def met(config: Config, pre: State, event: GetRange) -> list[Entry]:
    """The entries of a range: all that there are, or what one walk over the segments meets."""
    ledger, first, last = event.first.ledger, event.first.entry, event.last.entry
    places = [Place(event.cache, Position(ledger, at)) for at in range(first, last + 1)]
    if config.variants.range_walk is RangeWalk.WHOLE:
        return [entry for place in places if (entry := newest_at(pre, place)) is not None]
    found: list[Entry] = []
    for segment in by_age(pre):
        here = {entry.place: entry for entry in segment.entries}
        while len(found) < len(places) and places[len(found)] in here:
            found.append(here[places[len(found)]])
        if len(found) == len(places) - 1:
            break
    return found


def got_range(config: Config, pre: State, event: GetRange) -> Defined:
    """Every entry of the range with its payload, or nothing."""
    (ledger, first), (other, last) = event.first, event.last
    is_a_range = ledger == other and first <= last
    entries = met(config, pre, event) if is_a_range else []
    if len(entries) <= last - first:
        entries = []
    rule = Rule.S_RANGE_1 if entries else Rule.S_RANGE_2 if is_a_range else Rule.S_RANGE_3
    bounds = (("FIRST", event.first), ("LAST", event.last))
    asked = [about(rule, "ASK", cause, Place(event.cache, pos), pre) for cause, pos in bounds]
    hits = [hit_row(Rule.S_RANGE_1, "READ", pre, entry) for entry in entries]
    answer = Hits(tuple(entry.place.pos for entry in entries), carried(entries))
    return Defined(pre, answer, (*asked, *hits))


def used(config: Config, pre: State, event: Usage) -> Defined:
    """How many entries, and their bytes or those of the offsets."""
    sizes = [entry.size_bytes for segment in pre.segments.values() for entry in segment.entries]
    sums = sum(sizes) if config.variants.used is Used.SIZES else written(pre)
    return Defined(pre, outcomes.Usage(len(sizes), sums))


def observed(config: Config, pre: State, event: Observe) -> Defined:
    """Every segment from the first on, with its entries in the order of their inserts."""
    views = []
    for _, (entries, offset) in sorted(pre.segments.items()):
        places = tuple(outcomes.EntryView(place.cache, place.pos) for place, _, _, _ in entries)
        views.append(outcomes.SegmentView(offset, places))
    return Defined(pre, Observed(tuple(views), pre.current))


DEFINED: Final[dict[type[Op], Callable[[Config, State, Any], Defined]]] = {
    Insert: inserted,
    Get: got,
    GetRange: got_range,
    Usage: used,
    Observe: observed,
}
"""What each operation is."""


def is_defined(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Whether a step is what its operation is defined as, of as many segments as were asked for, if that was said."""
    if config.segments not in {None, len(pre.segments)}:
        return False
    return DEFINED[type(event)](config, pre, event) == (step.state, step.outcome, step.rows)


def check_definition(config: Config, pre: State, event: Op, step: Step) -> tuple[Rule, ...]:
    """The rule of the operation, where the step is not what is defined or leaves its frame."""
    right = is_defined(config, pre, event, step) and not outside(pre, event, step)
    return () if right else (event.rule,)
