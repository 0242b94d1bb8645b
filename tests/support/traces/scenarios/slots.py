"""Scenarios of the numbers of slots, and of the totals at the end of a pass."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import MILLI, Row, Script


def two_passes(s: Script) -> list[Row]:
    """Write three entries, two of which leave by a pass each; return the rows that end the passes."""
    for entry in range(3):
        s.offer(at(entry))
        s.now += MILLI
    s.call().size_pass(5)
    s.call().size_pass(5)
    return [row for row in s.rows if row["op"] == "PASS_END"]


@scenario()
def a_pass_ends_with_a_slot_too_many(s: Script, violating: bool) -> Violations:
    """PASS_END shows how many slots have been numbered."""
    first = two_passes(s)[0]
    first["tail_no"] += int(violating)
    return wrong(violating, ("R-STATE-2", first))


@scenario(threads="many")
def a_pass_takes_one_more_than_its_rows(s: Script, violating: bool) -> Violations:
    """It shows how many have been taken, with several threads too."""
    last = two_passes(s)[1]
    last["head_no"] += int(violating)
    return wrong(violating, ("R-STATE-2", last))


@scenario(threads="many")
def a_pass_ends_at_another_tail(s: Script, violating: bool) -> Violations:
    """If each slot is numbered in the order of the rows, the number in PASS_END is too."""
    first = two_passes(s)[0]
    first["tail_no"] -= int(violating)
    return wrong(violating, ("R-STATE-2", first))


@scenario(threads="many")
def a_pass_ends_at_another_head(s: Script, violating: bool) -> Violations:
    """The stamp in PASS_END is that of the entry that is taken next."""
    first = two_passes(s)[0]
    first["stamp_ns"] += MILLI * violating
    return wrong(violating, ("R-STATE-2", first))


@scenario()
def the_last_pass_ends_at_another_head(s: Script, violating: bool) -> Violations:
    """Behind the last pass a snapshot shows the head."""
    last = two_passes(s)[1]
    last["stamp_ns"] -= MILLI * violating
    return wrong(violating, ("R-STATE-2", last))


@scenario()
def an_empty_queue_has_a_head(s: Script, violating: bool) -> Violations:
    """A pass that leaves no slot has no stamp."""
    s.offer(at(0))
    s.call().size_pass(10)
    end = s.rows[-1]
    end["stamp_ns"] = s.now if violating else None
    return wrong(violating, ("R-STATE-2", end))


@scenario()
def the_head_has_left_by_a_call(s: Script, violating: bool) -> Violations:
    """A slot whose entry has left since shows no stamp; the pass that drops it goes on to the one behind."""
    second = two_passes(s)[1]
    s.offer(at(3, ledger=2))
    s.call().remove("LEDGER", at(2))
    s.call().size_pass(5)
    second["head_no"] += int(violating)
    return wrong(violating, ("R-STATE-2", second))


@scenario()
def a_slot_has_the_number_of_the_next(s: Script, violating: bool) -> Violations:
    """Slots are numbered one after the other, also those whose entries leave by a call."""
    s.offer(at(0))
    row = s.offer(at(1))
    s.offer(at(2))
    s.call().remove("CLEAR", at(0), at(1), at(2))
    row["tail_no"] += int(violating)
    return wrong(violating, ("R-STATE-2", row))


@scenario(threads="many")
def two_slots_have_one_number(s: Script, violating: bool) -> Violations:
    """With several threads a queue may be ahead of the rows, but no number is given twice."""
    s.offer(at(0))
    row = s.offer(at(1))
    s.offer(at(2))
    s.call().remove("LEDGER", at(0), at(1), at(2))
    row["tail_no"] += int(violating)
    return wrong(violating, ("R-STATE-2", row))


@scenario()
def two_dequeues_change_places(s: Script, violating: bool) -> Violations:
    """Slots that are taken are numbered one after the other."""
    for entry in range(4):
        s.offer(at(entry))
    s.call().size_pass(20)
    first, second = [row for row in s.rows if row["op"] == "EVICT"]
    if violating:
        first["head_no"], second["head_no"] = second["head_no"], first["head_no"]
    return wrong(violating, ("R-STATE-2", first), ("R-STATE-2", second), ("R-EVICT-8", second))


@scenario()
def a_removal_of_another_kind_of_pass(s: Script, violating: bool) -> Violations:
    """A size pass removes entries for lack of room, not because of their age."""
    two_passes(s)
    row = next(row for row in s.rows if row["op"] == "EVICT")
    row["cause"] = "TIME" if violating else "SIZE"
    return wrong(violating, ("R-STATE-4", row))


@scenario(threads="many")
def a_pass_ends_as_another_kind(s: Script, violating: bool) -> Violations:
    """A pass ends with the cause and origin of its begin."""
    first, last = two_passes(s)
    if violating:
        first["origin"] = "CYCLE"
        last["cause"] = "TIME"
    return wrong(violating, ("R-STATE-4", first), ("R-STATE-4", last))


@scenario()
def of_two_passes_the_first_tells_another_head(s: Script, violating: bool) -> Violations:
    """A pass that takes nothing shows the head again."""
    s.offer(at(0))
    for _ in range(3):
        s.call().time_pass(s.now - MILLI)
    second = [row for row in s.rows if row["op"] == "PASS_END"][1]
    second["stamp_ns"] += MILLI * violating
    return wrong(violating, ("R-STATE-2", second))
