"""Scenarios of lookups, of ranges, and of the rows that the ring shows."""

from __future__ import annotations

from tests.support.traces.segmented_scenarios.scenario import Violations, at, fill, scenario, wrong
from tests.support.traces.segmented_script import RingScript


@scenario()
def a_miss_of_an_older_segment(s: RingScript, violating: bool) -> Violations:
    """An entry is found in whichever segment it is."""
    fill(s, 6)
    row = s.miss(at(0)) if violating else s.hit(at(0))
    return wrong(violating, ("S-GET-1", row))


@scenario()
def hit_after_its_end(s: RingScript, violating: bool) -> Violations:
    """Nothing is read after its segment has turned."""
    fill(s, 6)
    entry = s.held[at(0)]
    s.insert(at(6), 50)
    row = s.hit(at(0), entry=entry) if violating else s.miss(at(0))
    return wrong(violating, ("S-GET-1", row))


@scenario()
def hit_of_another_life(s: RingScript, violating: bool) -> Violations:
    """A position that was dropped and inserted again is a new life."""
    fill(s, 7)
    former = s.rows[1]
    s.insert(at(0), 50)
    row = s.hit(at(0), entry=former if violating else None)
    return wrong(violating, ("S-GET-1", row))


@scenario()
def a_lookup_moves_an_offset(s: RingScript, violating: bool) -> Violations:
    """A read uses no bytes."""
    fill(s, 2, 10)
    s.offsets[0] += 10 if violating else 0
    row = s.hit(at(0))
    s.offsets[0] = 20
    return wrong(violating, ("S-GET-2", row))


@scenario()
def a_lookup_fills(s: RingScript, violating: bool) -> Violations:
    """A lookup that misses takes nothing in; an insert is a call of its own."""
    fill(s, 1, 10)
    s.miss(at(5))
    if not violating:
        s.call()
    row = s.take(at(5), 10)
    return wrong(violating, ("S-GET-2", row))


@scenario(mode="copy", max_size_bytes=768)
def the_payload_of_another(s: RingScript, violating: bool) -> Violations:
    """A lookup returns the bytes of the insert, not those at the start of the segment."""
    fill(s, 3)
    row = s.hit(at(1))
    row["key_hash"] = s.held[at(0 if violating else 1)]["key_hash"]
    return wrong(violating, ("S-GET-3", row))


@scenario()
def a_range_over_two_segments(s: RingScript, violating: bool) -> Violations:
    """A range that begins in an older segment than it ends in is answered."""
    fill(s, 4)
    row = s.ask(at(1), at(3), () if violating else (at(1), at(2), at(3)))
    return wrong(violating, ("S-RANGE-1", row))


@scenario()
def a_range_out_of_order(s: RingScript, violating: bool) -> Violations:
    """The answer ascends, whatever the segments are."""
    s.insert(at(2), 60)
    s.insert(at(1), 60)
    s.ask(at(1), at(2), (at(2), at(1)) if violating else (at(1), at(2)))
    violations = [("S-RANGE-1", s.rows[-2]), ("S-RANGE-1", s.rows[-1]), ("S-RANGE-2", s.rows[-1])]
    s.miss(at(9))
    return wrong(violating, *violations)


@scenario()
def a_range_in_part(s: RingScript, violating: bool) -> Violations:
    """A range with a gap is not answered, even if it begins with cached entries."""
    s.insert(at(0))
    s.insert(at(2))
    s.ask(at(0), at(1), (at(0),) if violating else ())
    row = s.rows[-1]
    s.ask(at(-1), at(0))
    return wrong(violating, ("S-RANGE-2", row))


@scenario()
def a_range_of_what_has_left(s: RingScript, violating: bool) -> Violations:
    """An entry that has left is not read as part of a range."""
    fill(s, 6)
    entry = s.held[at(1)]
    s.insert(at(6), 50)
    s.ask(at(1), at(2))
    if not violating:
        s.ask(at(2), at(3), (at(2), at(3)))
        return []
    row = s.hit(at(1), "READ", inside=True, entry=entry)
    s.hit(at(2), "READ", inside=True)
    return [("S-RANGE-2", row)]


@scenario()
def a_range_over_two_ledgers(s: RingScript, violating: bool) -> Violations:
    """A range over two ledgers answers nothing, however much of it is cached."""
    s.insert(at(0))
    s.insert(at(1, ledger=2))
    s.ask(at(0), at(1, ledger=2), (at(0),) if violating else ())
    return wrong(violating, ("S-RANGE-3", s.rows[-1]))


@scenario()
def a_reversed_range(s: RingScript, violating: bool) -> Violations:
    """A range that is reversed answers nothing; one of a single position is a range."""
    fill(s, 2, 10)
    last = at(0 if violating else 1)
    s.ask(at(1), last, (at(1),))
    row = s.rows[-1]
    return wrong(violating, ("S-RANGE-3", row), ("S-RANGE-2", row))


@scenario()
def an_entry_is_moved(s: RingScript, violating: bool) -> Violations:
    """An entry is dropped where it was inserted."""
    fill(s, 7)
    row = next(row for row in s.rows if row["op"] == "EVICT")
    row["bound"] += int(violating)
    return wrong(violating, ("S-STATE-2", row))


@scenario()
def shown_in_the_order_of_reads(s: RingScript, violating: bool) -> Violations:
    """An entry that is read stays where it is."""
    fill(s, 2, 10)
    s.hit(at(0))
    rows = s.finish()
    if violating:
        one, other = rows[-3], rows[-2]
        one["seq"], other["seq"] = other["seq"], one["seq"]
        one["call_id"], other["call_id"] = one["seq"], other["seq"]
        rows[-3], rows[-2] = other, one
    return wrong(violating, ("S-STATE-2", rows[-2]))


@scenario()
def segments_that_were_not_used(s: RingScript, violating: bool) -> Violations:
    """END shows the number of used segments, at most three."""
    fill(s, 4)
    rows = s.finish(slots=3 if violating else 2)
    return wrong(violating, ("S-STATE-2", rows[-1]))


@scenario()
def time_goes_back(s: RingScript, violating: bool) -> Violations:
    """Two events may be of the same time."""
    fill(s, 2)
    row = s.rows[-1]
    row["ts_ns"] = s.rows[-2]["ts_ns"] - int(violating)
    return wrong(violating, ("S-LIVENESS-1", row))


@scenario()
def calls_that_meet(s: RingScript, violating: bool) -> Violations:
    """A call ends before the next one begins."""
    fill(s, 1)
    s.ask(at(0), at(0), (at(0),))
    row = s.usage()
    if violating:
        row["call_id"] = 1
    return wrong(violating, ("S-LIVENESS-1", row))
