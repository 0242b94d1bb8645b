"""Stories of cursors."""

from __future__ import annotations

from tests.support.traces.script import MILLI, Place, Row, Script
from tests.support.traces.twins.story import Found, at, story, wrong


@story()
def rank_before_the_move(s: Script, planted: bool) -> Found:
    """A fill carries the rank of its moment: a cursor that moved away in between counts no more."""
    s.cursor("ADD", "a", "slow", (1, 0))
    s.cursor("ADD", "a", "fast", (1, 5))
    s.cursor("ADD", "b", "other", (1, 0))
    s.cursor("MOVE", "a", "slow", (1, 9))
    fills = s.read([at(5)], 2 if planted else 1, "fast")
    return wrong(planted, ("R-CURSOR-7", fills[0]))


@story()
def rank_with_a_tie(s: Script, planted: bool) -> Found:
    """Cursors at the same position count, itself included; one that is not tracked does not."""
    s.cursor("ADD", "a", "one", (1, 5))
    s.cursor("ADD", "a", "two", (1, 5))
    s.cursor("ADD", "a", "lost", None)
    fills = s.read([at(5), at(6)], 3 if planted else 2, "one")
    return wrong(planted, ("R-CURSOR-7", fills[0]), ("R-CURSOR-7", fills[1]))


@story()
def rank_of_one_that_left(s: Script, planted: bool) -> Found:
    """A cursor that was removed counts no more, and a move does not bring it back."""
    s.cursor("ADD", "a", "one", (1, 1))
    s.cursor("ADD", "a", "two", (1, 5))
    s.cursor("REMOVE", "a", "one")
    s.cursor("MOVE", "a", "one", (1, 2))
    fills = s.read([at(5)], 2 if planted else 1, "two")
    return wrong(planted, ("R-CURSOR-7", fills[0]))


@story(evict_by_expected_reads=False)
def no_ranks_in_the_heap(s: Script, planted: bool) -> Found:
    """Without expected reads counts are no ranks, but still one a read."""
    s.cursor("ADD", "a", "one", (1, 1))
    s.call().get(at(5), "READ", cursor="one")
    row = s.insert(at(5), 100, 0 if planted else 7, cause="FILL", cursor="one")
    return wrong(planted, ("R-READ-9", row))


def _skip(s: Script, place: Place) -> Row:
    """An added entry that nobody wants."""
    return s.call().at("SKIP", place, cause="NOT_WANTED", size_bytes=10)


@story(grace_millis=50)
def grace_is_over(s: Script, planted: bool) -> Found:
    """In the last millisecond of the grace period an entry is cached, in the next one not."""
    s.now = 1_000 * MILLI + MILLI - 1
    s.cursor("ADD", "a", "c", (1, 0))
    s.cursor("REMOVE", "a", "c")
    s.now = (1_050 if planted else 1_049) * MILLI
    row = s.offer(at(0))
    s.now = 1_060 * MILLI
    _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-11", row))


@story(grace_millis=50)
def skipped_in_grace(s: Script, planted: bool) -> Found:
    """Within the grace period, and while there is a member, nothing is skipped."""
    s.cursor("ADD", "a", "c", None)
    s.now += 60 * MILLI
    s.cursor("REMOVE", "a", "c")
    s.now += (49 if planted else 50) * MILLI
    row = _skip(s, at(1))
    s.now += 60 * MILLI
    s.cursor("ADD", "a", "c", None)
    s.offer(at(2))
    return wrong(planted, ("R-CURSOR-6", row))


@story(grace_millis=50)
def skipped_with_a_member(s: Script, planted: bool) -> Found:
    """A member that is not tracked is one all the same."""
    s.cursor("ADD", "a", "c", None)
    s.cursor("ADD", "a", "d", None)
    s.now += 60 * MILLI
    s.cursor("REMOVE", "a", "c")
    if not planted:
        s.cursor("REMOVE", "a", "d")
    s.now += 60 * MILLI
    row = _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-11", row))


@story(grace_millis=50)
def reopening_starts_no_grace(s: Script, planted: bool) -> Found:
    """A cache that comes back has the grace period that it had."""
    s.cursor("ADD", "a", "c", None)
    s.cursor("REMOVE", "a", "c")
    s.call().row("CACHE_CLOSE", cache="a")
    s.now += 60 * MILLI
    s.opened.clear()
    row = s.offer(at(0)) if planted else s.call().row("CACHE_OPEN", cache="a")
    if not planted:
        s.opened.add("a")
    _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-6", row))


@story(grace_millis=50)
def a_fill_is_not_asked(s: Script, planted: bool) -> Found:
    """What a read does not cache is no added entry: only that is held to the grace period."""
    s.cursor("ADD", "a", "c", (1, 0))
    if planted:
        row = _skip(s, at(1))
    else:
        s.call().get(at(1), "READ")
        row = s.at("SKIP", at(1), cause="NOT_WANTED", size_bytes=100)
    return wrong(planted, ("R-CURSOR-11", row))


@story(evict_by_expected_reads=False, grace_millis=50)
def no_grace_in_the_heap(s: Script, planted: bool) -> Found:
    """The heap container knows members only."""
    s.cursor("ADD", "a", "c", (1, 0))
    if planted:
        s.cursor("REMOVE", "a", "c")
    row = s.offer(at(0))
    if not planted:
        s.cursor("REMOVE", "a", "c")
    _skip(s, at(1))
    return wrong(planted, ("R-CURSOR-12", row))


@story(evict_by_expected_reads=False, grace_millis=50)
def skipped_in_the_heap(s: Script, planted: bool) -> Found:
    """While the heap has a member, what is added is not skipped."""
    s.cursor("ADD", "a", "c", (1, 0))
    if not planted:
        s.cursor("REMOVE", "a", "c")
    row = _skip(s, at(0))
    return wrong(planted, ("R-CURSOR-12", row))
