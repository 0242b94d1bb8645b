"""Scenarios of reads."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import Violations, at, scenario, wrong
from tests.support.traces.script import Script


@scenario()
def miss_while_cached(s: Script, violating: bool) -> Violations:
    """A miss of a cached position; where the entry has left in between it is none."""
    life = s.offer(at(0))
    if not violating:
        s.call().remove("RANGE", at(0))
    row = s.call().row("MISS", cause="GET", cache="a", ledger_id=1, entry_id=0)
    assert life
    return wrong(violating, ("R-READ-1", row))


@scenario()
def replayed_miss_while_cached(s: Script, violating: bool) -> Violations:
    """A replay read misses only entries that are not cached."""
    s.offer(at(0))
    if not violating:
        s.call().remove("RANGE", at(0))
    row = s.call().row("MISS", cause="REPLAY", cache="a", ledger_id=1, entry_id=0)
    return wrong(violating, ("R-READ-10", row))


@scenario()
def hit_after_removal(s: Script, violating: bool) -> Violations:
    """A hit of an entry that has left; if it has been inserted again, the hit is of the new life."""
    old = s.offer(at(0))
    s.call().remove("RANGE", at(0))
    life = old["life"] if violating else s.offer(at(0))["life"]
    row = s.call().at("HIT", at(0), cause="GET", life=life, size_bytes=10)
    for entry in s.cached.values():
        entry["accessed"] = True
    return wrong(violating, ("R-READ-1", row), ("R-STATE-8", row))


@scenario()
def hit_of_the_life_before(s: Script, violating: bool) -> Violations:
    """A hit finds the entry that is cached now."""
    s.offer(at(0))
    s.offer(at(1))
    row = s.call().get(at(1), "READ")
    if violating:
        row["life"] = s.cached[at(0)]["life"]
    marks = s.finish()[-3:-1]
    return wrong(violating, ("R-READ-7", row), ("R-STATE-2", row), *(("R-READ-2", mark) for mark in marks))


@scenario()
def miss_beside_a_reject(s: Script, violating: bool) -> Violations:
    """A rejected duplicate shows that the entry was cached; where it was inserted after the miss all is well."""
    if violating:
        s.offer(at(0))
    row = s.call().row("MISS", cause="READ", cache="a", ledger_id=1, entry_id=0)
    if not violating:
        s.offer(at(0))
    s.call().at("REJECT", at(0), cause="DUPLICATE", life=None)
    return wrong(violating, ("R-READ-7", row))


@scenario()
def rejected_though_absent(s: Script, violating: bool) -> Violations:
    """A duplicate is one of an entry that is cached now, not of a former one."""
    s.offer(at(0))
    if violating:
        s.call().remove("CLEAR", at(0))
    row = s.call().at("REJECT", at(0), cause="DUPLICATE", life=None)
    return wrong(violating, ("R-INSERT-1", row))


@scenario()
def inserted_twice(s: Script, violating: bool) -> Violations:
    """A position is taken until its entry leaves."""
    first = s.offer(at(0))
    if not violating:
        s.call().remove("CLEAR", at(0))
    second = s.offer(at(0))
    if violating:  # the first is not forgotten
        s.call().row("REMOVE", cause="RANGE", cache="a", ledger_id=1, entry_id=0, life=first["life"], size_bytes=10)
        s.bytes -= 10
        s.rows[-1]["bytes_after"] = s.rows[-1]["manager_bytes"] = s.bytes
    return wrong(violating, ("R-INSERT-2", second), ("R-INVALIDATE-1", s.rows[-1]))


@scenario()
def fill_without_a_count(s: Script, violating: bool) -> Violations:
    """A fill that nobody expects is not cached; an added entry may have no count."""
    for entry in range(2):
        s.call().get(at(entry), "READ")
        row = s.insert(at(entry), 100, None if violating and entry else 1, cause="FILL")
    s.offer(at(2), 100)
    return wrong(violating, ("R-READ-9", row))


@scenario()
def fill_of_another_call(s: Script, violating: bool) -> Violations:
    """A fill is of a position that its own call has missed."""
    s.call().get(at(0), "READ")
    if violating:
        s.call().get(at(1), "READ")
    row = s.insert(at(0), 100, 1, cause="FILL")
    return wrong(violating, ("R-READ-9", row))


@scenario()
def fills_of_two_counts(s: Script, violating: bool) -> Violations:
    """The fills of one read carry one count; those of the next may carry another."""
    s.call().get(at(0), "READ")
    s.get(at(1), "READ")
    s.insert(at(0), 100, 2, cause="FILL")
    if not violating:
        s.call().get(at(1), "READ")
    row = s.insert(at(1), 100, 3, cause="FILL")
    return wrong(violating, ("R-READ-9", row))


@scenario()
def fills_that_descend(s: Script, violating: bool) -> Violations:
    """The fills of one read ascend."""
    s.call().get(at(0), "READ")
    s.get(at(1), "READ")
    order = (1, 0) if violating else (0, 1)
    rows = [s.insert(at(entry), 100, 2, cause="FILL") for entry in order]
    return wrong(violating, ("R-READ-9", rows[1]))


@scenario()
def lookup_after_a_fill(s: Script, violating: bool) -> Violations:
    """A read decides all its hits before it caches a fill; a reader that is named may read twice in a call."""
    cursor = None if violating else "c"
    s.cursor("ADD", "a", "c", (1, 0))
    s.call().get(at(0), "READ", cursor=cursor)
    s.insert(at(0), 100, 1, cause="FILL", cursor=cursor)
    row = s.get(at(1), "READ", cursor=cursor)
    return wrong(violating, ("R-READ-7", row))


@scenario()
def replay_fills(s: Script, violating: bool) -> Violations:
    """An entry that a single read missed is not cached; a later read may cache it."""
    s.call().row("MISS", cause="REPLAY", cache="a", ledger_id=1, entry_id=0)
    if not violating:
        s.call().get(at(0), "READ")
    row = s.insert(at(0), 100, 1, cause="FILL")
    return wrong(violating, ("R-READ-10", row))
