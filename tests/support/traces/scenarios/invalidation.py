"""Scenarios of invalidation."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import Script


def _five(s: Script) -> None:
    for entry in range(3):
        s.offer(at(entry))
    s.offer(at(0, 2))
    s.offer(at(1, cache="b"))


@scenario()
def ledger_is_not_empty(s: Script, violating: bool) -> Violations:
    """All of the ledger leaves; other ledgers and caches stay."""
    _five(s)
    s.call()
    row = s.remove("LEDGER", at(0), at(1), *(() if violating else (at(2),)))
    if violating:
        s.call().get(at(2))
    s.call().get(at(0, 2))
    s.call().get(at(1, cache="b"))
    return wrong(violating, ("R-INVALIDATE-8", row))


@scenario()
def one_below_is_left(s: Script, violating: bool) -> Violations:
    """All below the position leave, the one at it stays."""
    _five(s)
    s.call()
    row = s.remove("CURSOR", at(0), *(() if violating else (at(1),)), at(2))
    s.call().get(at(0, 2))
    return wrong(violating, ("R-INVALIDATE-7", row))


@scenario()
def closed_cache_holds_on(s: Script, violating: bool) -> Violations:
    """A cache that was closed holds nothing until it is filled again."""
    _five(s)
    s.call()
    s.remove("CLOSE", at(0), at(1), *(() if violating else (at(2),)), at(0, 2))
    row = s.row("CACHE_CLOSE", cache="a")
    if violating:
        s.call().get(at(2))
    else:
        s.offer(at(2))
        s.call().get(at(2))
    return wrong(violating, ("R-INVALIDATE-9", row))


@scenario()
def cleared_in_part(s: Script, violating: bool) -> Violations:
    """A call leaves entries that were inserted after it began."""
    _five(s)
    s.call()
    row = s.remove("CLEAR", at(0), at(1), at(2), *(() if violating else (at(0, 2),)))
    s.offer(at(1))
    s.call().get(at(1))
    return wrong(violating, ("R-INVALIDATE-4", row))


@scenario()
def hole_in_a_range(s: Script, violating: bool) -> Violations:
    """A range may end before the last entry, but has no hole."""
    _five(s)
    s.call()
    row = s.remove("RANGE", at(0), at(2)) if violating else s.remove("RANGE", at(0), at(1))
    return wrong(violating, ("R-INVALIDATE-1", row))
