"""Scenarios of evictions."""

from __future__ import annotations

from tests.support.traces.kafka_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.kafka_script import StreamScript


@scenario(max_size_bytes=300)
def not_the_eldest(s: StreamScript, violating: bool) -> Violations:
    """The least recently used entry leaves: a lookup is a use, being handed over is none."""
    for key in ("k", "l", "m"):
        s.put("a", key)
    s.get("a", "k")
    s.flush("a")
    s.put("a", "n", relieve=False)
    row = s.evict("a", "k" if violating else "l")
    s.counts["evicts"] += 1
    return wrong(violating, "K-EVICT-1", row)


@scenario(max_size_bytes=200)
def evicted_twice(s: StreamScript, violating: bool) -> Violations:
    """An entry leaves once."""
    life = s.put("a", "k", dirty=False)["life"]
    s.put("a", "l", dirty=False)
    s.put("a", "m", dirty=False)
    row = s.call().at("EVICT", "a", "k", life=life, size_bytes=100, dirty=False) if violating else s.rows[-1]
    return wrong(violating, "K-EVICT-1", row)


@scenario(max_size_bytes=200)
def lost_by_an_eviction(s: StreamScript, violating: bool) -> Violations:
    """A dirty entry that is evicted is handed over in the same call."""
    s.put("a", "k")
    s.flush("a")
    s.put("a", "l")
    s.put("a", "k")
    s.put("a", "m", relieve=False)
    row = s.evict("a", handed=not violating)
    s.counts["evicts"] += 1
    return wrong(violating, "K-EVICT-3", row)


@scenario(max_size_bytes=200)
def handed_over_in_another_call(s: StreamScript, violating: bool) -> Violations:
    """A FLUSH of a call before does not make up for it: the entry was written again."""
    s.put("a", "k")
    s.put("a", "l")
    life = s.spaces["a"]["k"]["life"]
    s.put("a", "m", relieve=False)
    row = s.evict("a", handed=not violating)
    s.counts["evicts"] += 1
    if violating:
        late = s.call().at("FLUSH", "a", "k", cause="EVICT", life=life, size_bytes=100, dirty=True)
        s.hand("a", ["l", "m"])
        return [("K-EVICT-3", row), ("K-FLUSH-1", late)]
    return []


@scenario(max_size_bytes=300)
def the_evicted_one_comes_later(s: StreamScript, violating: bool) -> Violations:
    """The evicted entry is handed over first, though it was written last; its EVICT may stand behind."""
    s.put("a", "l")
    s.put("a", "m")
    s.put("a", "k")
    s.get("a", "l")
    s.get("a", "m")
    s.put("a", "n", relieve=False)
    entry = dict(s.spaces["a"]["k"])
    if not violating:
        s.evict("a", late=True)
        return []
    s._gone("EVICT", "a", "k")
    s.hand("a", ["l"])
    row = s.at("FLUSH", "a", "k", cause="EVICT", **entry)
    s.hand("a", ["m", "n"])
    return wrong(violating, "K-EVICT-3", row)


@scenario(max_size_bytes=300)
def over_the_limit(s: StreamScript, violating: bool) -> Violations:
    """The limit itself is allowed; one byte more is not."""
    s.put("a", "k")
    row = s.put("a", "l", 201 if violating else 200, relieve=False)
    return wrong(violating, "K-EVICT-4", row)


@scenario(max_size_bytes=100)
def over_the_limit_for_a_reason(s: StreamScript, violating: bool) -> Violations:
    """Above the limit after a failed handing over, or with nothing left in the namespace written, is no violation."""
    s.put("a", "k", relieve=False)
    s.put("a", "l", relieve=False)
    if not violating:
        s.fail("a", ["k", "l"])
    row = s.rows[-1]
    s.put("b", "m")
    assert not s.spaces["b"]
    return wrong(violating, "K-EVICT-4", row)


@scenario(max_size_bytes=200)
def somebody_else_pays(s: StreamScript, violating: bool) -> Violations:
    """The namespace that was written pays, though another one holds the eldest entry."""
    s.put("b", "k", dirty=False)
    s.put("a", "k", dirty=False)
    s.put("a", "l", dirty=False, relieve=False)
    row = s.evict("b" if violating else "a")
    s.counts["evicts"] += 1
    return wrong(violating, "K-EVICT-4", row)


@scenario(max_size_bytes=300)
def eviction_at_the_limit(s: StreamScript, violating: bool) -> Violations:
    """At the limit nothing is evicted; one byte above it is."""
    s.put("a", "k", dirty=False)
    s.put("a", "l", 200 if violating else 201, dirty=False, relieve=False)
    row = s.evict("a")
    s.counts["evicts"] += 1
    return wrong(violating, "K-EVICT-5", row)


@scenario(max_size_bytes=300)
def shrunk_too_little(s: StreamScript, violating: bool) -> Violations:
    """A smaller limit holds when its call has ended."""
    for key in ("k", "l", "m"):
        s.put("a", key, dirty=False)
    s.resize(199 if violating else 200)
    row = s.evict("a")
    s.limit = 300
    return wrong(violating, "K-RESIZE-2", row)
