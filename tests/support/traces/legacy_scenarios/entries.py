"""Scenarios of sums, lives and removals by a call."""

from __future__ import annotations

from tests.support.traces.legacy_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.legacy_script import LegacyScript, at


def _five(s: LegacyScript) -> None:
    for entry in range(3):
        s.offer(at(entry))
    s.offer(at(0, 2))
    s.offer(at(1, cache="b"))


@scenario()
def sum_that_drifts(s: LegacyScript, violating: bool) -> Violations:
    """The bytes are those of the entries, all the time."""
    s.offer(at(0))
    row = s.get(at(0))
    if violating:
        row["bytes_after"] += 1
    s.offer(at(1))
    # the row behind takes the true sum up again
    return wrong(violating, ("L-STATE-1", row))


@scenario()
def leaves_with_another_size(s: LegacyScript, violating: bool) -> Violations:
    """An entry leaves with the size of its insert."""
    s.offer(at(0), 60)
    s.offer(at(1), 40)
    row = s.remove("RANGE", at(0))
    if violating:
        row["size_bytes"] = 50
        row["bytes_after"] = row["manager_bytes"] = s.bytes = 50
    rest = s.remove("CLEAR", at(1))
    if violating:
        rest["bytes_after"] = rest["manager_bytes"] = s.bytes = 10
    return wrong(violating, ("L-STATE-1", row))


@scenario()
def time_goes_back(s: LegacyScript, violating: bool) -> Violations:
    """Time may stand, it does not fall."""
    s.offer(at(0))
    row = s.call(-1 if violating else 0).get(at(0), inside=True)
    return wrong(violating, ("L-STATE-2", row))


@scenario()
def less_than_nothing(s: LegacyScript, violating: bool) -> Violations:
    """An entry may be empty, not less."""
    s.offer(at(0), 30)
    row = s.offer(at(1), -1 if violating else 0)
    return wrong(violating, ("L-STATE-3", row))


@scenario()
def amount_of_nothing(s: LegacyScript, violating: bool) -> Violations:
    """A call that asks for nothing is refused."""
    s.offer(at(0), 30)
    s.call()
    rows = s.passing("SIZE", 0 if violating else 1, *(() if violating else (at(0),)), cache="a")
    return wrong(violating, ("L-STATE-3", rows[0]))


@scenario()
def cutoff_in_the_future(s: LegacyScript, violating: bool) -> Violations:
    """The age of an expiry may be nothing, not less."""
    s.offer(at(0))
    s.call()
    rows = s.passing("TIME", s.now + violating, at(0), cache="a")
    return wrong(violating, ("L-STATE-3", rows[0]))


@scenario()
def grows_when_it_is_read(s: LegacyScript, violating: bool) -> Violations:
    """A lookup changes nothing of an entry."""
    s.offer(at(0))
    row = s.get(at(0))
    if violating:
        row["size_bytes"] += 5
    return wrong(violating, ("L-STATE-4", row))


@scenario()
def end_forgets_an_entry(s: LegacyScript, violating: bool) -> Violations:
    """The last snapshot shows the cached entries."""
    _five(s)
    rows = s.finish()
    if violating:
        gone = next(row for row in rows if row["op"] == "SNAPSHOT")
        rows.remove(gone)
        for row in rows[gone["seq"] :]:
            row["seq"] -= 1
            row["call_id"] -= 1
    return wrong(violating, ("L-STATE-4", rows[-1]))


@scenario()
def leaves_twice(s: LegacyScript, violating: bool) -> Violations:
    """An entry that is inserted again begins another life."""
    s.offer(at(0), 0)
    first = s.remove("RANGE", at(0))
    if not violating:
        s.offer(at(0), 0)
    else:
        s.cached[at(0)] = {"life": first["life"], "size_bytes": 0, "stamp_ns": first["stamp_ns"]}
    row = s.remove("RANGE", at(0))
    # and one entry fewer is left than END tells
    return wrong(violating, ("L-LIVENESS-1", row), ("L-STATE-4", s.finish()[-1]))


@scenario()
def leaves_between_passes(s: LegacyScript, violating: bool) -> Violations:
    """An EVICT stands within its pass."""
    _five(s)
    s.call()
    rows = s.passing("SIZE", 100, at(0), cache="a")
    if violating:
        end, taken = rows[2], rows[1]
        for name in end:
            if name not in ("seq", "bytes_after", "manager_bytes"):
                end[name], taken[name] = taken[name], end[name]
        end["bytes_after"] = end["manager_bytes"] = taken["bytes_after"]
        taken["bytes_after"] = taken["manager_bytes"] = rows[0]["bytes_after"]
        return [("L-LIVENESS-1", end)]
    return []


@scenario()
def ledger_is_not_empty(s: LegacyScript, violating: bool) -> Violations:
    """All of the ledger leaves; other ledgers and caches stay."""
    _five(s)
    row = s.remove("LEDGER", at(0), at(1), *(() if violating else (at(2),)))
    s.get(at(0, 2))
    return wrong(violating, ("L-INVALIDATE-4", row))


@scenario()
def one_below_is_left(s: LegacyScript, violating: bool) -> Violations:
    """All below the position leave, the one at it stays."""
    _five(s)
    row = s.remove("CURSOR", at(0), *(() if violating else (at(1),)), at(2))
    return wrong(violating, ("L-INVALIDATE-3", row))


@scenario()
def cleared_in_part(s: LegacyScript, violating: bool) -> Violations:
    """Every entry of the cache leaves."""
    _five(s)
    row = s.remove("CLEAR", at(0), at(1), at(2), *(() if violating else (at(0, 2),)))
    s.get(at(1, cache="b"))
    return wrong(violating, ("L-INVALIDATE-2", row))


@scenario()
def closed_cache_holds_on(s: LegacyScript, violating: bool) -> Violations:
    """A cache that was closed holds nothing."""
    _five(s)
    row = s.remove("CLOSE", at(0), at(1), *(() if violating else (at(2),)), at(0, 2))
    return wrong(violating, ("L-INVALIDATE-5", row))


@scenario()
def hole_in_a_range(s: LegacyScript, violating: bool) -> Violations:
    """A range may end before the last entry, but has no hole."""
    _five(s)
    row = s.remove("RANGE", at(0), at(2) if violating else at(1))
    return wrong(violating, ("L-INVALIDATE-1", row))
