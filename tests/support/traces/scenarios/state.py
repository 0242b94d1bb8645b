"""Scenarios of entries and sums."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import Script


@scenario()
def clock_goes_back(s: Script, violating: bool) -> Violations:
    """Two events may have one time; none has an earlier one."""
    s.offer(at(0))
    s.now -= int(violating)
    row = s.call().get(at(0))
    s.now += int(violating)
    return wrong(violating, ("R-STATE-6", row))


@scenario()
def event_within_a_pass(s: Script, violating: bool) -> Violations:
    """With one thread a lookup stands before a pass or after it."""
    s.offer(at(0))
    s.offer(at(1))
    s.call()
    begin = s.begin("SIZE", "CALL", 5)
    s.take(begin, 5)
    if violating:
        row = s.get(at(1))
    s.end_pass(begin, -5)
    if not violating:
        row = s.get(at(1))
    return wrong(violating, ("R-STATE-4", row))


@scenario(threads="many")
def passes_overlap(s: Script, violating: bool) -> Violations:
    """With several threads events stand within a pass, but never a second pass."""
    for entry in range(3):
        s.offer(at(entry))
    first = s.begin("SIZE", "CALL", 5)
    s.take(first, 5)
    s.call().get(at(2))
    if not violating:
        s.end_pass(first, -5)
    second = s.begin("SIZE", "CALL", 5)
    s.take(second, 5)
    s.end_pass(second, -5)
    if violating:
        s.end_pass(first, -5)
    return wrong(violating, ("R-STATE-4", second), ("R-STATE-4", s.rows[-1]))


@scenario()
def removed_outside_its_pass(s: Script, violating: bool) -> Violations:
    """An entry leaves within the pass that takes it."""
    s.offer(at(0))
    s.call()
    begin = s.begin("TIME", "CALL", s.now + 1)
    end = s.end_pass(begin, s.now + 1, stamp_ns=None)
    if violating:
        s.take(begin, s.now + 1)
        s.rows[-1]["pass_id"] = begin["pass_id"]
    else:
        s.remove("CLEAR", at(0))
    end["bytes_after"] = end["manager_bytes"] = 10
    if not violating:
        end["stamp_ns"] = s.now + 1
        begin["bound"] = end["bound"] = s.now + 1
    else:
        end["stamp_ns"] = s.now + 1
    return wrong(violating, ("R-STATE-4", s.rows[-1]), ("R-STATE-2", end))
