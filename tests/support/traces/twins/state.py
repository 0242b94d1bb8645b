"""Stories of entries and sums."""

from __future__ import annotations

from tests.support.traces.script import Script
from tests.support.traces.twins.story import Found, at, story, wrong


@story()
def clock_goes_back(s: Script, planted: bool) -> Found:
    """Two events may have one time; none has an earlier one."""
    s.offer(at(0))
    s.now -= int(planted)
    row = s.call().get(at(0))
    s.now += int(planted)
    return wrong(planted, ("R-STATE-6", row))


@story()
def event_within_a_pass(s: Script, planted: bool) -> Found:
    """With one thread a lookup stands before a pass or after it."""
    s.offer(at(0))
    s.offer(at(1))
    s.call()
    begin = s.begin("SIZE", "CALL", 5)
    s.take(begin, 5)
    if planted:
        row = s.get(at(1))
    s.end_pass(begin, -5)
    if not planted:
        row = s.get(at(1))
    return wrong(planted, ("R-STATE-4", row))


@story(threads="many")
def passes_overlap(s: Script, planted: bool) -> Found:
    """With several threads events stand within a pass, but never a second pass."""
    for entry in range(3):
        s.offer(at(entry))
    first = s.begin("SIZE", "CALL", 5)
    s.take(first, 5)
    s.call().get(at(2))
    if not planted:
        s.end_pass(first, -5)
    second = s.begin("SIZE", "CALL", 5)
    s.take(second, 5)
    s.end_pass(second, -5)
    if planted:
        s.end_pass(first, -5)
    return wrong(planted, ("R-STATE-4", second), ("R-STATE-4", s.rows[-1]))


@story()
def removed_outside_its_pass(s: Script, planted: bool) -> Found:
    """An entry leaves within the pass that takes it."""
    s.offer(at(0))
    s.call()
    begin = s.begin("TIME", "CALL", s.now + 1)
    end = s.end_pass(begin, s.now + 1, stamp_ns=None)
    if planted:
        s.take(begin, s.now + 1)
        s.rows[-1]["pass_id"] = begin["pass_id"]
    else:
        s.remove("CLEAR", at(0))
    end["bytes_after"] = end["manager_bytes"] = 10
    if not planted:
        end["stamp_ns"] = s.now + 1
        begin["bound"] = end["bound"] = s.now + 1
    else:
        end["stamp_ns"] = s.now + 1
    return wrong(planted, ("R-STATE-4", s.rows[-1]), ("R-STATE-2", end))
