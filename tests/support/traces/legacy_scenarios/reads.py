"""Scenarios of lookups, and of reads through the cache."""

from __future__ import annotations

from tests.support.traces.legacy_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.legacy_script import LegacyScript, Place, at


def _three(s: LegacyScript) -> None:
    for entry in range(3):
        s.offer(at(entry), 10)


def _read(s: LegacyScript, *places: Place) -> None:
    """A read of a range; missing entries come from storage."""
    s.call()
    cached = all(place in s.cached for place in places)
    for place in places:
        s.get(place, "HIT" if cached else "MISS", "READ", inside=True)
    for place in places if not cached else ():
        s.offer(place, 100, "FILL", inside=True)


@scenario()
def found_after_it_has_left(s: LegacyScript, violating: bool) -> Violations:
    """A lookup does not find an entry that has left."""
    _three(s)
    entry = dict(s.cached[at(1)])
    s.remove("RANGE", at(1))
    row = s.get(at(1))
    if violating:
        row |= {"op": "HIT", **entry}
        # its life has ended, so the hit is one event too many of it as well
    return wrong(violating, ("L-READ-1", row), ("L-LIVENESS-1", row))


@scenario()
def missed_while_cached(s: LegacyScript, violating: bool) -> Violations:
    """A lookup finds a cached entry."""
    _three(s)
    row = s.get(at(1), "MISS" if violating else "HIT")
    return wrong(violating, ("L-READ-1", row))


@scenario()
def range_with_a_hole(s: LegacyScript, violating: bool) -> Violations:
    """A lookup of a range finds all that is cached in it."""
    _three(s)
    if not violating:
        s.remove("RANGE", at(1))
    rows = s.lookups(at(0), at(2))
    return wrong(violating, ("L-READ-2", rows[-1]))


@scenario()
def range_in_disorder(s: LegacyScript, violating: bool) -> Violations:
    """A lookup of a range ascends."""
    _three(s)
    rows = s.lookups(at(0), at(2), at(1)) if violating else s.lookups(at(0), at(1), at(2))
    return wrong(violating, ("L-READ-2", rows[-1]))


@scenario()
def part_of_a_read_from_the_cache(s: LegacyScript, violating: bool) -> Violations:
    """A read is served by one of the two."""
    _three(s)
    if not violating:
        _read(s, at(1), at(2), at(3))
        return []
    s.call()
    s.get(at(2), "HIT", "READ", inside=True)
    row = s.get(at(3), "MISS", "READ", inside=True)
    s.offer(at(3), 100, "FILL", inside=True)
    return [("L-READ-4", row)]


@scenario()
def storage_asked_without_need(s: LegacyScript, violating: bool) -> Violations:
    """A range that is completely cached is not read from storage."""
    _three(s)
    s.call()
    rows = [s.get(place, "MISS" if violating else "HIT", "READ", inside=True) for place in (at(1), at(2))]
    for place in (at(1), at(2)) if violating else ():
        s.offer(place, 100, "FILL", inside=True)
    return wrong(violating, ("L-READ-4", rows[0]))


@scenario()
def read_that_leaps(s: LegacyScript, violating: bool) -> Violations:
    """A read asks for one position after the other."""
    _three(s)
    s.call()
    s.get(at(0), cause="READ", inside=True)
    row = s.get(at(2 if violating else 1), cause="READ", inside=True)
    return wrong(violating, ("L-READ-4", row))


@scenario()
def fill_of_another_size(s: LegacyScript, violating: bool) -> Violations:
    """Storage gives entries of one size."""
    _read(s, at(0))
    s.call()
    s.get(at(1), cause="READ", inside=True)
    row = s.offer(at(1), 99 if violating else 100, "FILL", inside=True)
    return wrong(violating, ("L-READ-5", row))


@scenario()
def one_is_not_filled(s: LegacyScript, violating: bool) -> Violations:
    """All of the range is offered, also cached entries."""
    s.offer(at(0), 10)
    s.call()
    for entry in range(2):
        s.get(at(entry), "MISS", "READ", inside=True)
    rows = [s.offer(at(entry), 100, "FILL", inside=True) for entry in range(1 if violating else 2)]
    return wrong(violating, ("L-READ-5", rows[-1]))


@scenario()
def filled_without_a_miss(s: LegacyScript, violating: bool) -> Violations:
    """A fill is of a read."""
    s.call()
    if not violating:
        s.get(at(0), cause="READ", inside=True)
    row = s.offer(at(0), 100, "FILL", inside=True)
    return wrong(violating, ("L-READ-5", row))


@scenario()
def single_read_misses_what_is_cached(s: LegacyScript, violating: bool) -> Violations:
    """A single read finds a cached entry."""
    _three(s)
    place = at(1 if violating else 5)
    s.call()
    row = s.get(place, "MISS", "READ", inside=True)
    s.absent("SKIP", place, cause="NOT_WANTED", size_bytes=100)
    return wrong(violating, ("L-READ-6", row))


@scenario()
def single_read_is_filled(s: LegacyScript, violating: bool) -> Violations:
    """A single read does not offer the entry that it gets from storage."""
    s.call()
    s.get(at(5), "MISS", "READ", inside=True)
    s.absent("SKIP", at(5), cause="NOT_WANTED", size_bytes=100)
    if not violating:
        s.call()
        s.get(at(5), "MISS", "READ", inside=True)
    row = s.offer(at(5), 100, "FILL", inside=True)
    return wrong(violating, ("L-READ-6", row))
