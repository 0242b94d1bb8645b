"""Scenarios of namespaces."""

from __future__ import annotations

from tests.support.traces.kafka_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.kafka_script import StreamScript


@scenario()
def left_by_a_clear(s: StreamScript, violating: bool) -> Violations:
    """A clear takes out everything."""
    s.put("a", "k")
    s.put("a", "l")
    rows = s.clear("a", ["l"] if violating else None)
    return wrong(violating, "K-CLOSE-1", rows[-1])


@scenario()
def cleared_twice(s: StreamScript, violating: bool) -> Violations:
    """A clear removes only entries that are cached."""
    life = s.put("a", "k")["life"]
    s.delete("a", "k")
    s.put("a", "l")
    s.clear("a")
    row = s.rows[-1]
    if violating:
        row = s.at("REMOVE", "a", "k", cause="CLEAR", life=life, size_bytes=100, dirty=True)
    return wrong(violating, "K-CLOSE-1", row)


@scenario()
def left_by_a_close(s: StreamScript, violating: bool) -> Violations:
    """A closed namespace is empty."""
    s.put("a", "k")
    s.put("a", "l")
    return wrong(violating, "K-CLOSE-2", s.close("a", ["l"] if violating else None))


@scenario()
def left_by_a_close_reported_first(s: StreamScript, violating: bool) -> Violations:
    """A recorder may record the close before the entries that leave by it."""
    for key in ("k", "l", "m"):
        s.put("a", key)
    s.call()
    s.row("CACHE_CLOSE", cache="a")
    rows = [s.at("REMOVE", "a", key, cause="CLOSE") for key in (("l", "k") if violating else ("m", "l", "k"))]
    for row in rows:
        s.bytes -= 100
        row["bytes_after"] = row["manager_bytes"] = s.bytes
    s.spaces["a"] = {"m": s.spaces["a"]["m"]} if violating else {}
    return wrong(violating, "K-CLOSE-2", rows[-1])
