"""Scenarios of cursors."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import MILLI, Place, Row, Script


@scenario()
def rank_before_the_move(s: Script, violating: bool) -> Violations:
    """A fill carries the rank at its own time: a cursor that moved away before does not count."""
    s.cursor("ADD", "a", "slow", (1, 0))
    s.cursor("ADD", "a", "fast", (1, 5))
    s.cursor("ADD", "b", "other", (1, 0))
    s.cursor("MOVE", "a", "slow", (1, 9))
    fills = s.read([at(5)], 2 if violating else 1, "fast")
    return wrong(violating, ("R-CURSOR-7", fills[0]))


@scenario()
def rank_with_a_tie(s: Script, violating: bool) -> Violations:
    """Cursors at the same position count, itself included; one that is not tracked does not."""
    s.cursor("ADD", "a", "one", (1, 5))
    s.cursor("ADD", "a", "two", (1, 5))
    s.cursor("ADD", "a", "lost", None)
    fills = s.read([at(5), at(6)], 3 if violating else 2, "one")
    return wrong(violating, ("R-CURSOR-7", fills[0]), ("R-CURSOR-7", fills[1]))


@scenario()
def rank_of_one_that_left(s: Script, violating: bool) -> Violations:
    """A cursor that was removed counts no more, and a move does not bring it back."""
    s.cursor("ADD", "a", "one", (1, 1))
    s.cursor("ADD", "a", "two", (1, 5))
    s.cursor("REMOVE", "a", "one")
    s.cursor("MOVE", "a", "one", (1, 2))
    fills = s.read([at(5)], 2 if violating else 1, "two")
    return wrong(violating, ("R-CURSOR-7", fills[0]))


@scenario(evict_by_expected_reads=False)
def no_ranks_in_the_heap(s: Script, violating: bool) -> Violations:
    """Without expected reads counts are no ranks, but still one a read."""
    s.cursor("ADD", "a", "one", (1, 1))
    s.call().get(at(5), "READ", cursor="one")
    row = s.insert(at(5), 100, 0 if violating else 7, cause="FILL", cursor="one")
    return wrong(violating, ("R-READ-9", row))


def _skip(s: Script, place: Place) -> Row:
    """An added entry that nobody wants."""
    return s.call().at("SKIP", place, cause="NOT_WANTED", size_bytes=10)


@scenario(grace_millis=50)
def grace_is_over(s: Script, violating: bool) -> Violations:
    """In the last millisecond of the grace period an entry is cached, in the next one not."""
    s.now = 1_000 * MILLI + MILLI - 1
    s.cursor("ADD", "a", "c", (1, 0))
    s.cursor("REMOVE", "a", "c")
    s.now = (1_050 if violating else 1_049) * MILLI
    row = s.offer(at(0))
    s.now = 1_060 * MILLI
    _skip(s, at(1))
    return wrong(violating, ("R-CURSOR-11", row))


@scenario(grace_millis=50)
def skipped_in_grace(s: Script, violating: bool) -> Violations:
    """Within the grace period, and while there is a member, nothing is skipped."""
    s.cursor("ADD", "a", "c", None)
    s.now += 60 * MILLI
    s.cursor("REMOVE", "a", "c")
    s.now += (49 if violating else 50) * MILLI
    row = _skip(s, at(1))
    s.now += 60 * MILLI
    s.cursor("ADD", "a", "c", None)
    s.offer(at(2))
    return wrong(violating, ("R-CURSOR-6", row))


@scenario(grace_millis=50)
def skipped_with_a_member(s: Script, violating: bool) -> Violations:
    """A member that is not tracked is one all the same."""
    s.cursor("ADD", "a", "c", None)
    s.cursor("ADD", "a", "d", None)
    s.now += 60 * MILLI
    s.cursor("REMOVE", "a", "c")
    if not violating:
        s.cursor("REMOVE", "a", "d")
    s.now += 60 * MILLI
    row = _skip(s, at(1))
    return wrong(violating, ("R-CURSOR-11", row))


@scenario(grace_millis=50)
def reopening_starts_no_grace(s: Script, violating: bool) -> Violations:
    """A cache that comes back has the grace period that it had."""
    s.cursor("ADD", "a", "c", None)
    s.cursor("REMOVE", "a", "c")
    s.call().row("CACHE_CLOSE", cache="a")
    s.now += 60 * MILLI
    s.opened.clear()
    row = s.offer(at(0)) if violating else s.call().row("CACHE_OPEN", cache="a")
    if not violating:
        s.opened.add("a")
    _skip(s, at(1))
    return wrong(violating, ("R-CURSOR-6", row))


@scenario(grace_millis=50)
def a_fill_is_not_asked(s: Script, violating: bool) -> Violations:
    """An entry that a read does not cache is no added entry; the grace period applies only to added entries."""
    s.cursor("ADD", "a", "c", (1, 0))
    if violating:
        row = _skip(s, at(1))
    else:
        s.call().get(at(1), "READ")
        row = s.at("SKIP", at(1), cause="NOT_WANTED", size_bytes=100)
    return wrong(violating, ("R-CURSOR-11", row))


@scenario(evict_by_expected_reads=False, grace_millis=50)
def no_grace_in_the_heap(s: Script, violating: bool) -> Violations:
    """The heap container knows members only."""
    s.cursor("ADD", "a", "c", (1, 0))
    if violating:
        s.cursor("REMOVE", "a", "c")
    row = s.offer(at(0))
    if not violating:
        s.cursor("REMOVE", "a", "c")
    _skip(s, at(1))
    return wrong(violating, ("R-CURSOR-12", row))


@scenario(evict_by_expected_reads=False, grace_millis=50)
def skipped_in_the_heap(s: Script, violating: bool) -> Violations:
    """While the heap has a member, an added entry is not skipped."""
    s.cursor("ADD", "a", "c", (1, 0))
    if not violating:
        s.cursor("REMOVE", "a", "c")
    row = _skip(s, at(0))
    return wrong(violating, ("R-CURSOR-12", row))
