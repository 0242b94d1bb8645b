"""Scenarios of expected reads."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import Script


@scenario()
def delivery_takes_two(s: Script, violating: bool) -> Violations:
    """A delivery takes 1; two deliveries take 2."""
    s.offer(at(0), 10, 3)
    s.call()
    row = s.done(at(0), by=-2 if violating else -1)
    if not violating:
        s.call().done(at(0))
    return wrong(violating, ("R-COUNT-1", row))


@scenario()
def delivery_is_lost(s: Script, violating: bool) -> Violations:
    """A count that fell without a delivery shows when the entry leaves."""
    s.offer(at(0), 10, 3)
    s.call()
    if violating:
        s.cached[at(0)]["expected_reads"] = 2
    else:
        s.done(at(0))
    row = s.call().remove("CLEAR", at(0))
    return wrong(violating, ("R-COUNT-3", row))


@scenario()
def count_out_of_nothing(s: Script, violating: bool) -> Violations:
    """An entry without a count never gets one."""
    s.offer(at(1), 10, 1)
    s.offer(at(0), 10, None if violating else 0)
    s.cached[at(0)]["expected_reads"] = 0
    row = s.call().done(at(0))
    if violating:
        s.cached[at(0)]["expected_reads"] = None
    return wrong(violating, ("R-COUNT-3", row))


@scenario()
def expectation_of_two(s: Script, violating: bool) -> Violations:
    """An expectation adds 1."""
    s.offer(at(0), 10, 1)
    s.call()
    row = s.done(at(0), "EXPECT", 2 if violating else 1)
    return wrong(violating, ("R-COUNT-2", row))


@scenario()
def delivery_of_a_departed_life(s: Script, violating: bool) -> Violations:
    """A delivery may end after the entry has left, even where another is cached: it takes from the old count."""
    old = s.offer(at(0), 10, 3)
    s.call().remove("CLEAR", at(0))
    s.offer(at(0), 10, 5)
    row = s.call().at("READ_DONE", at(0), cause="DELIVERED", life=old["life"], expected_reads=4 if violating else 2)
    return wrong(violating, ("R-COUNT-1", row))


@scenario(threads="many")
def deliveries_that_overtake(s: Script, violating: bool) -> Violations:
    """With several threads counts may be recorded out of order, but each once."""
    s.offer(at(0), 10, 4)
    s.cached[at(0)]["expected_reads"] = 4 if violating else 2
    first = s.call().at("READ_DONE", at(0), cause="DELIVERED", expected_reads=2)
    row = s.call().at("READ_DONE", at(0), cause="DELIVERED", expected_reads=2 if violating else 3)
    assert first
    s.cached[at(0)]["expected_reads"] = 2
    return wrong(violating, ("R-COUNT-1", row))
