"""The definitions of `pulsar-segmented`: each step, computed in another way than the reference computes it.

`DEFINITIONS` maps each operation to the `DefinedStep` that it must be; `is_defined` compares. A definition is
checked only if no law of a rule is broken. If the step differs, the rule of the operation is reported as broken.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.frame import Change, Key, KeyedValues, Record, build_comparison, undeclared_changes
from entrycache_reference.pulsar_segmented import config as configuration
from entrycache_reference.pulsar_segmented import ops, outcomes
from entrycache_reference.pulsar_segmented.laws.law import does_fit, growth, is_cached, is_in_current
from entrycache_reference.pulsar_segmented.ops import Get, GetRange, Insert, Observe, Op, Usage
from entrycache_reference.pulsar_segmented.outcomes import ErrorKind, Hit, Hits, Inserted, Observed, Refused
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, Segment, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position


class DefinedStep(NamedTuple):
    """The definition of a step: the state after it, its answer, and its rows."""

    state: State
    outcome: Any
    rows: tuple[Row, ...] = ()


def written_bytes(state: State) -> int:
    """Return the sum of all offsets."""
    return sum([segment.offset for segment in state.segments.values()])


def position_row(rule: Rule, op: str, cause: str, place: Place, state: State, **columns: Any) -> Row:
    """Return a row about a place."""
    cache, (ledger, entry) = place
    return Row(rule, op, cause, cache, ledger, entry, manager_bytes=written_bytes(state), **columns)


def payload_of(event: Insert) -> int | None:
    """Return the payload of an insert."""
    return None if event.token is ABSENT else event.token


def with_failed_offers(config: configuration.Config, state: State, index: int, times: int, size: int) -> State:
    """Return the ring after a segment was tried so many times and did not take the entry."""
    if config.variants.failed_offer is configuration.FailedOffer.UNCOUNTED:
        return state
    segment = state.segments[index]
    offered = Segment(segment.entries, segment.offset + times * growth(config, size))
    return state._replace(segments={**state.segments, index: offered})


def take_entry(
    config: configuration.Config, state: State, event: Insert, rule: Rule, before: tuple[Row, ...] = ()
) -> DefinedStep:
    """Return the step in which the current segment takes the entry at its offset."""
    entries, at = state.segments[state.current]
    here = Place(event.cache, event.pos)
    new = Entry(here, event.size, at, payload_of(event))
    segment = Segment((*[one for one in entries if one.place != here], new), at + growth(config, event.size))
    after = state._replace(segments={**state.segments, state.current: segment})
    row = position_row(rule, "INSERT", "ADD", here, after, size_bytes=event.size, token=new.token)
    return DefinedStep(after, Inserted(True), (*before, row._replace(segment=state.current, bound=at)))


def reason_not_to_take(config: configuration.Config, pre: State, event: Insert) -> tuple[Rule, str, str] | None:
    """Return the reason why an insert reaches no segment, or None."""
    if config.max_size_bytes == 0:
        return Rule.S_INSERT_4, "SKIP", "DISABLED"
    if event.size > pre.segment_bytes:
        return Rule.S_INSERT_3, "SKIP", "FULL"
    if config.variants.duplicate is configuration.Duplicate.IGNORED and is_cached(pre, event):
        return Rule.S_INSERT_2, "REJECT", "DUPLICATE"
    return None


def define_insert(config: configuration.Config, pre: State, event: Insert) -> DefinedStep:
    """Return the definition of an insert: refused, skipped, taken by the current segment, or by the next."""
    if event.size < 0:
        return DefinedStep(pre, Refused(ErrorKind.ILLEGAL_ARGUMENT))
    reason = reason_not_to_take(config, pre, event)
    if reason is not None:
        row = position_row(*reason, Place(event.cache, event.pos), pre, size_bytes=event.size)
        return DefinedStep(pre, Inserted(False), (row,))
    is_rejected = config.variants.duplicate is configuration.Duplicate.ROTATING and is_in_current(pre, event)
    if does_fit(pre, event) and not is_rejected:
        return take_entry(config, pre, event, Rule.S_INSERT_1)
    return define_turn(config, pre, event)


def define_turn(config: configuration.Config, pre: State, event: Insert) -> DefinedStep:
    """Return the definition of a turn: the next segment is cleared and offered the entry."""
    number = len(pre.segments)
    index = pre.current + 1 - number * (pre.current == number - 1)
    full = with_failed_offers(config, pre, pre.current, 2, event.size)
    entries, offset = full.segments[index]
    remaining = entries if config.variants.cleared_index is configuration.ClearedIndex.KEPT else ()
    start = offset if config.variants.cleared_offset is configuration.ClearedOffset.KEPT else 0
    after = State({**full.segments, index: Segment(remaining, start)}, index, full.segment_bytes)
    turn = turn_rows(full, after, event.size)
    if start + event.size <= pre.segment_bytes or config.variants.cleared_offset is configuration.ClearedOffset.RESET:
        return take_entry(config, after, event, Rule.S_RING_1, turn)
    after_skip = with_failed_offers(config, after, index, 1, event.size)
    row = position_row(Rule.S_RING_5, "SKIP", "FULL", Place(event.cache, event.pos), after_skip, size_bytes=event.size)
    return DefinedStep(after_skip, Inserted(False), (*turn, row))


def turn_rows(full: State, after: State, size: int) -> tuple[Row, ...]:
    """Return the rows of a turn: its two bounds around the entries that have left."""
    index, room = after.current, full.segment_bytes
    there = after.segments[index].entries
    removed = [entry for entry in full.segments[index].entries if entry not in there]
    begin = Row(Rule.S_RING_1, "PASS_BEGIN", "TURN", None, None, None, size, segment=index)
    end = Row(Rule.S_RING_1, "PASS_END", "TURN", segment=index, trigger_bytes=room, manager_bytes=written_bytes(after))
    return (
        begin._replace(bound=full.segments[full.current].offset, trigger_bytes=room, manager_bytes=written_bytes(full)),
        *[
            position_row(Rule.S_RING_2, "EVICT", "TURN", place, full, size_bytes=bytes_, segment=index, bound=start)
            for place, bytes_, start, _ in removed
        ],
        end,
    )


def newest_first(state: State) -> list[Segment]:
    """Return the segments, the current one first, then the one before it, and so on."""
    back_to_first = [state.segments[index] for index in range(state.current, -1, -1)]
    return back_to_first + [state.segments[index] for index in range(len(state.segments) - 1, state.current, -1)]


def newest_entry(state: State, place: Place) -> Entry | None:
    """Return the entry of a place in the newest segment that has one."""
    every = [entry for segment in newest_first(state) for entry in segment.entries if entry.place == place]
    return every[0] if every else None


def payloads_of(entries: list[Entry]) -> tuple[int, ...] | None:
    """Return the payloads of entries, if each carries one."""
    tokens = [entry.token for entry in entries]
    return None if not tokens or None in tokens else tuple(token for token in tokens if token is not None)


def hit_row(rule: Rule, cause: str, state: State, entry: Entry) -> Row:
    """Return the row of a hit."""
    return position_row(rule, "HIT", cause, entry.place, state, size_bytes=entry.size_bytes, token=entry.token)


def define_get(config: configuration.Config, pre: State, event: Get) -> DefinedStep:
    """Return the definition of a lookup: a hit with its payload, or a miss."""
    place = Place(event.cache, event.pos)
    entry = newest_entry(pre, place)
    if entry is None:
        return DefinedStep(pre, Hit(False), (position_row(Rule.S_GET_1, "MISS", "GET", place, pre),))
    return DefinedStep(pre, Hit(True, payloads_of([entry])), (hit_row(Rule.S_GET_1, "GET", pre, entry),))


def entries_of_range(config: configuration.Config, pre: State, event: GetRange) -> list[Entry]:
    """Return the entries of a range: all, or those that one walk over the segments finds."""
    ledger, first, last = event.first.ledger, event.first.entry, event.last.entry
    places = [Place(event.cache, Position(ledger, at)) for at in range(first, last + 1)]
    if config.variants.range_walk is configuration.RangeWalk.WHOLE:
        return [entry for place in places if (entry := newest_entry(pre, place)) is not None]
    entries: list[Entry] = []
    for segment in newest_first(pre):
        here = {entry.place: entry for entry in segment.entries}
        while len(entries) < len(places) and places[len(entries)] in here:
            entries.append(here[places[len(entries)]])
        if len(entries) == len(places) - 1:
            break
    return entries


def define_get_range(config: configuration.Config, pre: State, event: GetRange) -> DefinedStep:
    """Return the definition of a range: every entry with its payload, or nothing."""
    (ledger, first), (other, last) = event.first, event.last
    is_a_range = ledger == other and first <= last
    entries = entries_of_range(config, pre, event) if is_a_range else []
    if len(entries) <= last - first:
        entries = []
    rule = Rule.S_RANGE_1 if entries else Rule.S_RANGE_2 if is_a_range else Rule.S_RANGE_3
    bounds = (("FIRST", event.first), ("LAST", event.last))
    bounds_rows = [position_row(rule, "ASK", cause, Place(event.cache, pos), pre) for cause, pos in bounds]
    hits = [hit_row(Rule.S_RANGE_1, "READ", pre, entry) for entry in entries]
    answer = Hits(tuple(entry.place.pos for entry in entries), payloads_of(entries))
    return DefinedStep(pre, answer, (*bounds_rows, *hits))


def define_usage(config: configuration.Config, pre: State, event: Usage) -> DefinedStep:
    """Return the number of entries, with their bytes or the sum of the offsets."""
    sizes = [entry.size_bytes for segment in pre.segments.values() for entry in segment.entries]
    sums = sum(sizes) if config.variants.used is configuration.Used.SIZES else written_bytes(pre)
    return DefinedStep(pre, outcomes.Usage(len(sizes), sums))


def define_observe(config: configuration.Config, pre: State, event: Observe) -> DefinedStep:
    """Return every segment from the first on, with its entries in the order of their inserts."""
    views = []
    for _, (entries, offset) in sorted(pre.segments.items()):
        places = tuple(outcomes.EntryView(place.cache, place.pos) for place, _, _, _ in entries)
        views.append(outcomes.SegmentView(offset, places))
    return DefinedStep(pre, Observed(tuple(views), pre.current))


DEFINITIONS: Final[dict[type[Op], Callable[[configuration.Config, State, Any], DefinedStep]]] = {
    Insert: define_insert,
    Get: define_get,
    GetRange: define_get_range,
    Usage: define_usage,
    Observe: define_observe,
}
"""The definition of each operation."""


def is_defined(config: configuration.Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a step equals its definition, and the ring has the configured number of segments."""
    if config.segments not in {None, len(pre.segments)}:
        return False
    return DEFINITIONS[type(event)](config, pre, event) == (step.state, step.outcome, step.rows)


def check_definition(config: configuration.Config, pre: State, event: Op, step: Step) -> tuple[Rule, ...]:
    """Return the rule of the operation if the step differs from its definition or leaves its frame."""
    right = is_defined(config, pre, event, step) and not changes_outside(pre, event, step)
    return () if right else (event.rule,)


# The frames: which aspects of the state each operation may change, and of which segments.
#
# `Aspect` and `Extent` are the words of a declaration; `MAY_CHANGE` declares every operation. `STATE` is the shape of
# the state. `changes_outside` compares the states before and after a step and returns every undeclared change.


class Aspect(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # the fastest hash: frames are checked after every step

    SEGMENTS = "which segments there are"
    ENTRIES = "which entries are cached"
    OFFSET = "the offset"
    CURRENT = "which segment is current"
    SEGMENT_BYTES = "the bytes of a segment"


class Extent(Enum):
    """The part of the state in which an aspect may change, in words."""

    __hash__ = object.__hash__

    TAKING = "the segment that is current afterwards"
    BOTH_CURRENT = "the segments that are current before and afterwards"
    ALL = "all"


MayChange = Mapping[Aspect, Extent]

NO_CHANGE: Final[MayChange] = {}

TAKES: Final[MayChange] = {
    Aspect.ENTRIES: Extent.TAKING,
    Aspect.OFFSET: Extent.BOTH_CURRENT,
    Aspect.CURRENT: Extent.ALL,
}
"""The changes that an insert may make."""


# The shape of the state, and the comparison.

STATE: Final = Record(
    (KeyedValues(Aspect.SEGMENTS, Record((Aspect.ENTRIES, Aspect.OFFSET))), Aspect.CURRENT, Aspect.SEGMENT_BYTES),
)
"""The aspects of the state, one for each field of `State` and of its parts, in order."""

MAY_CHANGE: Final[Mapping[type[ops.Op], MayChange]] = {
    ops.Insert: TAKES,
    ops.Get: NO_CHANGE,
    ops.GetRange: NO_CHANGE,
    ops.Usage: NO_CHANGE,
    ops.Observe: NO_CHANGE,
}
"""The changes that each operation may make."""

BETWEEN_PARTS: Final[Mapping[type[ops.Op], MayChange]] = {}
"""The changes that an operation may make between its parts, if they differ from those without parts."""

changes: Final = build_comparison(STATE)


def changes_outside(pre: State, event: Op, step: Step) -> list[Change]:
    """Return every change of a step that its operation does not declare."""
    if step.state is pre:
        return []
    taking = step.state.current

    def is_in(whose: Extent, key: Key) -> bool:
        return {
            Extent.ALL: True,
            Extent.TAKING: key == (taking,),
            Extent.BOTH_CURRENT: key in {(taking,), (pre.current,)},
        }[whose]

    return undeclared_changes(changes(pre, step.state), MAY_CHANGE[type(event)], is_in)


__all__ = ["BETWEEN_PARTS", "MAY_CHANGE", "check_definition", "is_defined"]
