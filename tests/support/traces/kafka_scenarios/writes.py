"""Scenarios of lookups and writes."""

from __future__ import annotations

from tests.support.traces.kafka_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.kafka_script import StreamScript


@scenario()
def hit_after_the_end(s: StreamScript, violating: bool) -> Violations:
    """A lookup misses a deleted entry."""
    life = s.put("a", "k")["life"]
    s.delete("a", "k")
    row = s.get("a", "k")
    if violating:
        row |= {"op": "HIT", "life": life, "size_bytes": 100, "dirty": True}
    return wrong(violating, "K-GET-1", row)


@scenario()
def hit_of_the_former_life(s: StreamScript, violating: bool) -> Violations:
    """A write ends the life of the entry it replaces."""
    former = s.put("a", "k")["life"]
    s.put("a", "k")
    row = s.get("a", "k")
    if violating:
        row["life"] = former
    s.get("a", "k")
    return wrong(violating, "K-GET-1", row)


@scenario()
def miss_while_cached(s: StreamScript, violating: bool) -> Violations:
    """A lookup finds a cached entry, also right after the same key has left another namespace."""
    life = s.put("a", "k")["life"]
    s.put("b", "k")
    s.delete("b", "k")
    row = s.get("a", "k")
    if violating:
        row |= {"op": "MISS", "life": None, "size_bytes": None, "dirty": None}
    else:
        assert row["life"] == life
    return wrong(violating, "K-GET-2", row)


@scenario()
def write_without_a_life_of_its_own(s: StreamScript, violating: bool) -> Violations:
    """A write over a cached key begins another life."""
    first = s.put("a", "k")
    row = s.put("a", "k")
    if violating:
        row["life"] = first["life"]
    s.get("a", "k")
    return wrong(violating, "K-PUT-1", row)


@scenario()
def clean_over_dirty(s: StreamScript, violating: bool) -> Violations:
    """A clean write over a dirty entry would lose it; over one that was handed over it does not."""
    s.put("a", "k")
    if not violating:
        s.flush("a")
    return wrong(violating, "K-PUT-4", s.put("a", "k", dirty=False))


@scenario()
def size_that_changes(s: StreamScript, violating: bool) -> Violations:
    """An entry has the size of its last write."""
    s.put("a", "k", 100)
    s.put("a", "k", 101)
    row = s.get("a", "k")
    if violating:
        row["size_bytes"] = 100
    s.get("a", "k")
    return wrong(violating, "K-SIZE-1", row)


@scenario()
def deleted_twice(s: StreamScript, violating: bool) -> Violations:
    """An entry that was deleted and written again can be deleted again."""
    row = s.put("a", "k")
    s.delete("a", "k")
    if violating:
        s.call()
        row = s.at("DELETE", "a", "k", cause="CALL", life=row["life"], size_bytes=100, dirty=True)
    else:
        s.put("a", "k")
        row = s.delete("a", "k")
    return wrong(violating, "K-DELETE-1", row)
