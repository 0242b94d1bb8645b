"""Views of the ring: `usage`, `observe`, and the events of a step.

The row functions build one kind of row each, with the sum of all offsets in the state after the event.
"""

from entrycache_reference.pulsar_segmented import outcomes
from entrycache_reference.pulsar_segmented.config import Config, Used
from entrycache_reference.pulsar_segmented.ops import GetRange, Observe, Usage
from entrycache_reference.pulsar_segmented.outcomes import EntryView, Observed, SegmentView
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, Segment, State, Step
from entrycache_reference.rules import Rule, rule


@rule(Rule.S_USAGE_1)
def sum_of_sizes(state: State) -> int:
    """Return the sizes of all entries, as they were inserted."""
    return sum(entry.size_bytes for segment in state.segments.values() for entry in segment.entries)


@rule(Rule.S_USAGE_2)
def sum_of_offsets(state: State) -> int:
    """Return the sum of the bytes up to which the segments are written."""
    return sum(segment.offset for segment in state.segments.values())


@rule(Rule.S_USAGE_1, Rule.S_USAGE_2, Rule.S_GET_2)
def usage(state: State, event: Usage, config: Config) -> Step:
    """Return entries and bytes of all segments."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    entries = sum(len(segment.entries) for segment in state.segments.values())
    used = sum_of_sizes(state) if config.variants.used is Used.SIZES else sum_of_offsets(state)
    return Step(state, outcomes.Usage(entries, used), ())


def build_segment_view(segment: Segment) -> SegmentView:
    """Return one segment as `observe` shows it."""
    return SegmentView(segment.offset, tuple(EntryView(*entry.place) for entry in segment.entries))


@rule(Rule.S_STATE_2, Rule.S_GET_2)
def observe(state: State, event: Observe, config: Config) -> Step:
    """Return the whole ring."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    segment_views = tuple(build_segment_view(state.segments[index]) for index in range(len(state.segments)))
    return Step(state, Observed(segment_views, state.current), ())


# The events of a step, as its trace shows them.


def build_row(rule: Rule, op: str, cause: str, place: Place, state: State) -> Row:
    """Return a row about a place, in the state after the event."""
    return Row(rule, op, cause, place.cache, *place.pos, manager_bytes=sum_of_offsets(state))


def insert_row(rule: Rule, state: State, place: Place) -> Row:
    """Return the row of an entry that the current segment has taken as its last one."""
    entry = state.segments[state.current].entries[-1]
    row = build_row(rule, "INSERT", "ADD", place, state)
    return row._replace(size_bytes=entry.size_bytes, token=entry.token, segment=state.current, bound=entry.start)


def skip_row(rule: Rule, op: str, cause: str, state: State, place: Place, size_bytes: int) -> Row:
    """Return the row of an entry that is not accepted."""
    return build_row(rule, op, cause, place, state)._replace(size_bytes=size_bytes)


def turn_rows(full: State, after: State, size_bytes: int) -> tuple[Row, ...]:
    """Return the rows of a turn from a segment without room for so many bytes.

    In `after` the next segment is cleared and current.
    """
    index, room = after.current, full.segment_bytes
    remaining = after.segments[index].entries
    begin = Row(Rule.S_RING_1, "PASS_BEGIN", "TURN", size_bytes=size_bytes, segment=index, trigger_bytes=room)
    removed_rows = (
        build_row(Rule.S_RING_2, "EVICT", "TURN", entry.place, full)._replace(
            size_bytes=entry.size_bytes, segment=index, bound=entry.start
        )
        for entry in full.segments[index].entries
        if entry not in remaining
    )
    end = begin._replace(op="PASS_END", size_bytes=None, manager_bytes=sum_of_offsets(after))
    offset = full.segments[full.current].offset
    return begin._replace(bound=offset, manager_bytes=sum_of_offsets(full)), *removed_rows, end


def lookup_row(rule: Rule, cause: str, state: State, place: Place, entry: Entry | None) -> Row:
    """Return the row of a lookup: a hit with its entry, or a miss."""
    if entry is None:
        return build_row(rule, "MISS", cause, place, state)
    return build_row(rule, "HIT", cause, place, state)._replace(size_bytes=entry.size_bytes, token=entry.token)


def range_rows(rule: Rule, state: State, event: GetRange) -> tuple[Row, ...]:
    """Return the rows of a requested range: one for each bound."""
    bounds = (("FIRST", event.first), ("LAST", event.last))
    return tuple(build_row(rule, "ASK", cause, Place(event.cache, pos), state) for cause, pos in bounds)
