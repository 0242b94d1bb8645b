"""Scenarios of flushes."""

from __future__ import annotations

from tests.support.traces.kafka_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.kafka_script import StreamScript


@scenario()
def tombstone_written_again(s: StreamScript, violating: bool) -> Violations:
    """A tombstone is dropped after its call; an entry that the listener wrote under its key is not."""
    s.put("a", "k", 50)
    s.flush("a")
    if violating:
        s.put("a", "k", 90, inside=True)
    row = s.delete("a", "k", "FLUSH", inside=True)
    return wrong(violating, "K-FLUSH-4", row)


@scenario()
def cleaned_by_nobody(s: StreamScript, violating: bool) -> Violations:
    """An entry is clean after it was handed over, and not before; only its first clean row is reported."""
    s.put("a", "k")
    s.put("a", "l")
    if not violating:
        s.flush("a")
    row = s.get("a", "k")
    row["dirty"] = False
    s.spaces["a"]["k"]["dirty"] = False
    s.get("a", "k")
    return wrong(violating, "K-FLUSH-3", row)


@scenario(max_size_bytes=250)
def failed_and_dropped(s: StreamScript, violating: bool) -> Violations:
    """Marked clean before the listener threw, the other entry is dropped later without a call."""
    s.put("a", "k")
    s.put("a", "l")
    s.call()
    s.fail("a", ["k", "l"])
    if violating:
        for key in ("k", "l"):
            s.spaces["a"][key]["dirty"] = False
    s.put("a", "m")
    rows = [row for row in s.rows if row["op"] == "EVICT"]
    return wrong(violating, "K-FLUSH-3", *rows)


@scenario()
def dirty_after_it_was_handed_over(s: StreamScript, violating: bool) -> Violations:
    """A flushed entry is clean until it is written again."""
    s.put("a", "k")
    s.flush("a")
    if not violating:
        s.put("a", "k")
    row = s.get("a", "k")
    row["dirty"] = True
    return wrong(violating, "K-FLUSH-2", row)


@scenario()
def handed_over_twice(s: StreamScript, violating: bool) -> Violations:
    """A flush hands over an entry again only if it was written in between."""
    s.put("a", "k")
    s.flush("a")
    if not violating:
        s.put("a", "k")
    return wrong(violating, "K-FLUSH-2", *s.flush("a", ["k"]))


@scenario()
def out_of_order(s: StreamScript, violating: bool) -> Violations:
    """Dirty entries are handed over in the order of their last writes; a lookup does not change it."""
    for key in ("k", "l", "m"):
        s.put("a", key)
    s.put("a", "k")
    s.get("a", "l")
    rows = s.flush("a", ["k", "l", "m"] if violating else ["l", "m", "k"])
    return wrong(violating, "K-FLUSH-1", rows[1])


@scenario()
def left_dirty(s: StreamScript, violating: bool) -> Violations:
    """A flush leaves no dirty entry except those that its listener has written."""
    s.put("a", "k")
    s.put("a", "l")
    rows = s.flush("a", ["k"] if violating else None)
    s.put("a", "k", inside=True)
    return wrong(violating, "K-FLUSH-1", rows[-1])


@scenario()
def flush_of_the_deleted(s: StreamScript, violating: bool) -> Violations:
    """A deleted entry is not handed over."""
    life = s.put("a", "k")["life"]
    s.put("a", "l")
    s.delete("a", "k")
    s.call()
    row = s.at("FLUSH", "a", "k", cause="CALL", life=life, size_bytes=100, dirty=True) if violating else s.rows[-1]
    s.hand("a", ["l"])
    return wrong(violating, "K-FLUSH-1", row)
