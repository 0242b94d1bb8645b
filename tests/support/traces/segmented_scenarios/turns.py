"""Scenarios of the turns of the ring."""

from __future__ import annotations

from tests.support.traces.segmented_scenarios.scenario import Violations, at, fill, scenario, wrong
from tests.support.traces.segmented_script import RingScript


@scenario()
def two_steps_at_once(s: RingScript, violating: bool) -> Violations:
    """The ring turns by one segment."""
    fill(s, 3)
    begin, end = s.rows[3], s.rows[4]
    if violating:
        begin["tail_no"] = end["tail_no"] = 2
    return wrong(violating, ("S-RING-1", begin))


@scenario()
def not_the_one_whose_turn_it_is(s: RingScript, violating: bool) -> Violations:
    """With three segments the third turn takes that of the beginning."""
    fill(s, 7)
    row = next(row for row in s.rows if row["op"] == "PASS_END" and row["ticket"] == 0)
    if violating:
        row["ticket"] = 1
    return wrong(violating, ("S-RING-1", row))


@scenario()
def a_turn_without_its_entry(s: RingScript, violating: bool) -> Violations:
    """The entry for which the ring turned is taken, in the same call."""
    fill(s, 2)
    s.call().turn(50)
    end = s.rows[-1]
    if violating:
        s.call()
    s.take(at(2), 50)
    return wrong(violating, ("S-RING-1", end))


@scenario()
def a_turn_for_another_entry(s: RingScript, violating: bool) -> Violations:
    """The entry inserted after a turn is the one that caused it."""
    fill(s, 2)
    s.call().turn(50)
    row = s.take(at(2), 49 if violating else 50)
    return wrong(violating, ("S-RING-1", row))


@scenario()
def left_out_though_it_fits(s: RingScript, violating: bool) -> Violations:
    """An entry that is as long as a segment is taken; a longer one is left out."""
    s.insert(at(0), 1)
    row = s.left_out("SKIP", "FULL", at(1), 100 if violating else 101)
    return wrong(violating, ("S-RING-1", row))


@scenario()
def dropped_outside_of_a_turn(s: RingScript, violating: bool) -> Violations:
    """Nothing leaves by itself, not even when its turn comes next."""
    fill(s, 6)
    if not violating:
        s.insert(at(6))
        return []
    last = max(row["seq"] for row in s.rows if row["op"] == "PASS_BEGIN")
    row = s.call().evict(at(0), last)
    return [("S-RING-1", row), ("S-RING-4", row)]


@scenario()
def an_entry_is_forgotten(s: RingScript, violating: bool) -> Violations:
    """A segment drops all that it holds."""
    fill(s, 6)
    s.call().turn(50, spare=at(0) if violating else None)
    end = s.rows[-1]
    s.take(at(6), 50)
    return wrong(violating, ("S-RING-2", end))


@scenario()
def read_from_a_cleared_segment(s: RingScript, violating: bool) -> Violations:
    """An index that is not cleared returns entries that have left."""
    fill(s, 6)
    s.call().turn(50, spare=at(0) if violating else None)
    end = s.rows[-1]
    s.take(at(6), 50)
    row = s.hit(at(0) if violating else at(2))
    return wrong(violating, ("S-RING-2", end), ("S-RING-2", row))


@scenario()
def not_at_byte_zero(s: RingScript, violating: bool) -> Violations:
    """A segment that is cleared has all its room again."""
    fill(s, 2)
    s.call().turn(50)
    row = s.take(at(2), 50, bound=1 if violating else 0, advance=49 if violating else 50)
    return wrong(violating, ("S-RING-3", row))


@scenario()
def dropped_too_early(s: RingScript, violating: bool) -> Violations:
    """A turn leaves the segment alone that was full."""
    fill(s, 6)
    begin = s.call().turn(50, end=False)
    row = s.evict(at(4), begin["seq"]) if violating else begin
    details = {name: begin[name] for name in ("pass_id", "tail_no", "ticket", "trigger_bytes")}
    s.row("PASS_END", "TURN", **details)
    s.take(at(6), 50)
    return wrong(violating, ("S-RING-4", row))


@scenario()
def dropped_twice(s: RingScript, violating: bool) -> Violations:
    """An entry leaves once."""
    fill(s, 6)
    begin = s.call().turn(50, end=False)
    gone = next(row for row in s.rows if row["op"] == "EVICT")
    details = {name: gone[name] for name in ("life", "size_bytes", "bound", "ticket")}
    row = s.row("EVICT", "TURN", at(0), pass_id=begin["seq"], **details) if violating else begin
    columns = {name: begin[name] for name in ("pass_id", "tail_no", "ticket", "trigger_bytes")}
    s.row("PASS_END", "TURN", **columns)
    s.take(at(6), 50)
    return wrong(violating, ("S-RING-4", row))


@scenario()
def bytes_of_another_segment(s: RingScript, violating: bool) -> Violations:
    """A turn gives back the bytes of one segment."""
    fill(s, 6)
    s.call()
    s.offsets[1] -= 50 if violating else 0
    s.turn(50)
    end = s.rows[-1]
    if violating:
        for row in s.rows:
            row["manager_bytes"] += (
                50 if row["op"] in ("PASS_BEGIN", "EVICT") and row["call_id"] == end["call_id"] else 0
            )
        s.offsets[1] += 50
    s.take(at(6), 50)
    return wrong(violating, ("S-RING-4", end))
