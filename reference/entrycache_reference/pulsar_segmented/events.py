"""The events of a step, as its trace tells them."""

from __future__ import annotations

from entrycache_reference.pulsar_segmented.ops import GetRange
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, State
from entrycache_reference.pulsar_segmented.views import sum_of_offsets
from entrycache_reference.rules import Rule


def about(rule: Rule, op: str, cause: str, place: Place, state: State) -> Row:
    """An event about a place, in the state after it."""
    return Row(rule, op, cause, place.cache, *place.pos, manager_bytes=sum_of_offsets(state))


def taken(rule: Rule, state: State, place: Place) -> Row:
    """The current segment has taken an entry, its last one."""
    entry = state.segments[state.current].entries[-1]
    row = about(rule, "INSERT", "ADD", place, state)
    return row._replace(size_bytes=entry.size_bytes, token=entry.token, segment=state.current, bound=entry.start)


def left_out(rule: Rule, op: str, cause: str, state: State, place: Place, size_bytes: int) -> Row:
    """An entry is not taken."""
    return about(rule, op, cause, place, state)._replace(size_bytes=size_bytes)


def turn(full: State, after: State, size_bytes: int) -> tuple[Row, ...]:
    """The ring turns from a segment without room for so many bytes; in `after` the next one is cleared and current."""
    index, room = after.current, full.segment_bytes
    kept = after.segments[index].entries
    begin = Row(Rule.S_RING_1, "PASS_BEGIN", "TURN", size_bytes=size_bytes, segment=index, trigger_bytes=room)
    gone = (
        about(Rule.S_RING_2, "EVICT", "TURN", entry.place, full)._replace(
            size_bytes=entry.size_bytes, segment=index, bound=entry.start
        )
        for entry in full.segments[index].entries
        if entry not in kept
    )
    end = begin._replace(op="PASS_END", size_bytes=None, manager_bytes=sum_of_offsets(after))
    offset = full.segments[full.current].offset
    return begin._replace(bound=offset, manager_bytes=sum_of_offsets(full)), *gone, end


def looked_up(rule: Rule, cause: str, state: State, place: Place, entry: Entry | None) -> Row:
    """A place was looked up, and held an entry or nothing."""
    if entry is None:
        return about(rule, "MISS", cause, place, state)
    return about(rule, "HIT", cause, place, state)._replace(size_bytes=entry.size_bytes, token=entry.token)


def asked(rule: Rule, state: State, event: GetRange) -> tuple[Row, ...]:
    """A range is asked for: a row each bound."""
    bounds = (("FIRST", event.first), ("LAST", event.last))
    return tuple(about(rule, "ASK", cause, Place(event.cache, pos), state) for cause, pos in bounds)
