"""Scenarios of sums, counters and calls."""

from __future__ import annotations

from tests.support.traces.kafka_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.kafka_script import StreamScript


@scenario()
def wrong_sum(s: StreamScript, violating: bool) -> Violations:
    """An overwrite subtracts the size of the former entry."""
    s.put("a", "k")
    s.put("b", "l")
    row = s.put("a", "k", 120)
    if violating:
        row["bytes_after"] += 100
        row["manager_bytes"] = row["bytes_after"]
    return wrong(violating, "K-METRICS-1", row)


@scenario()
def sum_that_drifts(s: StreamScript, violating: bool) -> Violations:
    """A sum that counts an entry twice stays wrong: the first wrong row and END are reported, not all rows."""
    s.put("a", "k")
    if violating:
        s.bytes += 7
    row = s.put("a", "l")
    s.put("a", "m")
    return wrong(violating, "K-METRICS-1", row, {"seq": len(s.rows)})


@scenario()
def running_total_that_drifts(s: StreamScript, violating: bool) -> Violations:
    """The cache's own total may lag behind inside of a call, not between two."""
    s.put("a", "k")
    s.flush("a")
    inner = s.put("b", "l", inside=True)
    last = s.put("b", "m", inside=True)
    inner["manager_bytes"] += 100
    if violating:
        last["manager_bytes"] += 100
    return wrong(violating, "K-METRICS-1", last)


@scenario()
def counter_that_falls(s: StreamScript, violating: bool) -> Violations:
    """Counters never fall."""
    s.get("a", "k")
    s.put("a", "k")
    s.metrics()
    return wrong(violating, "K-METRICS-2", s.metrics(gets=s.counts["gets"] - violating))


@scenario(max_size_bytes=200)
def writes_not_counted(s: StreamScript, violating: bool) -> Violations:
    """Each write counts; more than the rows show may have been refused, and that is inconclusive."""
    s.put("a", "k")
    s.put("a", "l")
    return wrong(violating, "K-METRICS-2", s.metrics(puts=s.counts["puts"] - violating))


@scenario(max_size_bytes=200)
def evictions_not_counted(s: StreamScript, violating: bool) -> Violations:
    """Evictions by overflow count."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key, dirty=False)
    return wrong(violating, "K-METRICS-2", s.metrics(evicts=s.counts["evicts"] - violating))


@scenario(max_size_bytes=200)
def evictions_made_up(s: StreamScript, violating: bool) -> Violations:
    """No more are counted than there were."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key)
    return wrong(violating, "K-METRICS-2", s.metrics(evicts=s.counts["evicts"] + violating))


@scenario()
def overwrites_not_counted(s: StreamScript, violating: bool) -> Violations:
    """A write over a cached key is an overwrite, one over a key that has left is none; a close resets the counters."""
    s.put("a", "k")
    s.put("a", "k")
    s.close("a")
    s.put("a", "k")
    s.delete("a", "k")
    s.put("a", "k")
    s.put("a", "k")
    return wrong(violating, "K-METRICS-3", s.metrics("a", overwrites=2 if violating else 1))


@scenario()
def misses_not_counted(s: StreamScript, violating: bool) -> Violations:
    """A miss counts from the first write of its namespace on."""
    s.put("a", "k")
    s.get("a", "l")
    s.get("a", "m")
    return wrong(violating, "K-METRICS-3", s.metrics("a", misses=1 if violating else 2))


@scenario(max_size_bytes=300)
def hits_of_the_evicted(s: StreamScript, violating: bool) -> Violations:
    """Each entry that is handed over was looked up, except the evicted one."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key)
    s.get("a", "n")
    return wrong(violating, "K-METRICS-3", s.metrics("a", hits=s.own["a"]["hits"] + violating))


@scenario()
def time_goes_back(s: StreamScript, violating: bool) -> Violations:
    """Time may stand still."""
    s.put("a", "k")
    row = s.put("a", "l")
    row["ts_ns"] = s.rows[-2]["ts_ns"] - violating
    return wrong(violating, "K-LIVENESS-1", row)


@scenario()
def call_that_goes_on(s: StreamScript, violating: bool) -> Violations:
    """A call has ended when the next one begins."""
    first = s.put("a", "k")
    s.put("a", "l")
    row = s.get("a", "k")
    if violating:
        row["call_id"] = first["call_id"]
    return wrong(violating, "K-LIVENESS-1", row)
