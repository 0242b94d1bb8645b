"""Stories of invalidation."""

from __future__ import annotations

from tests.support.traces.script import Script
from tests.support.traces.twins.story import Found, at, story, wrong


def _five(s: Script) -> None:
    for entry in range(3):
        s.offer(at(entry))
    s.offer(at(0, 2))
    s.offer(at(1, cache="b"))


@story()
def ledger_is_not_empty(s: Script, planted: bool) -> Found:
    """All of the ledger leaves; other ledgers and caches stay."""
    _five(s)
    s.call()
    row = s.remove("LEDGER", at(0), at(1), *(() if planted else (at(2),)))
    if planted:
        s.call().get(at(2))
    s.call().get(at(0, 2))
    s.call().get(at(1, cache="b"))
    return wrong(planted, ("R-INVALIDATE-8", row))


@story()
def one_below_is_left(s: Script, planted: bool) -> Found:
    """All below the position leave, the one at it stays."""
    _five(s)
    s.call()
    row = s.remove("CURSOR", at(0), *(() if planted else (at(1),)), at(2))
    s.call().get(at(0, 2))
    return wrong(planted, ("R-INVALIDATE-7", row))


@story()
def closed_cache_holds_on(s: Script, planted: bool) -> Found:
    """A cache that was closed holds nothing until it is filled again."""
    _five(s)
    s.call()
    s.remove("CLOSE", at(0), at(1), *(() if planted else (at(2),)), at(0, 2))
    row = s.row("CACHE_CLOSE", cache="a")
    if planted:
        s.call().get(at(2))
    else:
        s.offer(at(2))
        s.call().get(at(2))
    return wrong(planted, ("R-INVALIDATE-9", row))


@story()
def cleared_in_part(s: Script, planted: bool) -> Found:
    """What came after the call is not its business."""
    _five(s)
    s.call()
    row = s.remove("CLEAR", at(0), at(1), at(2), *(() if planted else (at(0, 2),)))
    s.offer(at(1))
    s.call().get(at(1))
    return wrong(planted, ("R-INVALIDATE-4", row))


@story()
def hole_in_a_range(s: Script, planted: bool) -> Found:
    """A range may end before the last entry, but has no hole."""
    _five(s)
    s.call()
    row = s.remove("RANGE", at(0), at(2)) if planted else s.remove("RANGE", at(0), at(1))
    return wrong(planted, ("R-INVALIDATE-1", row))
