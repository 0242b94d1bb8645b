"""Stories of sums, counters and calls."""

from __future__ import annotations

from tests.support.traces.kafka_script import StreamScript
from tests.support.traces.kafka_twins.story import Found, story, wrong


@story()
def wrong_sum(s: StreamScript, planted: bool) -> Found:
    """An overwrite takes off what was there before."""
    s.put("a", "k")
    s.put("b", "l")
    row = s.put("a", "k", 120)
    if planted:
        row["bytes_after"] += 100
        row["manager_bytes"] = row["bytes_after"]
    return wrong(planted, "K-METRICS-1", row)


@story()
def sum_that_drifts(s: StreamScript, planted: bool) -> Found:
    """Counted twice once, the sum stays wrong: the row where it begins is told, and END, not all that follow."""
    s.put("a", "k")
    if planted:
        s.bytes += 7
    row = s.put("a", "l")
    s.put("a", "m")
    return wrong(planted, "K-METRICS-1", row, {"seq": len(s.rows)})


@story()
def running_total_that_drifts(s: StreamScript, planted: bool) -> Found:
    """The cache's own total may lag behind inside of a call, not between two."""
    s.put("a", "k")
    s.flush("a")
    inner = s.put("b", "l", inside=True)
    last = s.put("b", "m", inside=True)
    inner["manager_bytes"] += 100
    if planted:
        last["manager_bytes"] += 100
    return wrong(planted, "K-METRICS-1", last)


@story()
def counter_that_falls(s: StreamScript, planted: bool) -> Found:
    """Counters never fall."""
    s.get("a", "k")
    s.put("a", "k")
    s.metrics()
    return wrong(planted, "K-METRICS-2", s.metrics(gets=s.counts["gets"] - planted))


@story(max_size_bytes=200)
def writes_not_counted(s: StreamScript, planted: bool) -> Found:
    """Each write counts; more than the rows show may have been refused, and that is inconclusive."""
    s.put("a", "k")
    s.put("a", "l")
    return wrong(planted, "K-METRICS-2", s.metrics(puts=s.counts["puts"] - planted))


@story(max_size_bytes=200)
def evictions_not_counted(s: StreamScript, planted: bool) -> Found:
    """Evictions by overflow count."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key, dirty=False)
    return wrong(planted, "K-METRICS-2", s.metrics(evicts=s.counts["evicts"] - planted))


@story(max_size_bytes=200)
def evictions_made_up(s: StreamScript, planted: bool) -> Found:
    """No more are counted than there were."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key)
    return wrong(planted, "K-METRICS-2", s.metrics(evicts=s.counts["evicts"] + planted))


@story()
def overwrites_not_counted(s: StreamScript, planted: bool) -> Found:
    """A write over a cached key is an overwrite, one over what has left is none; a close starts anew."""
    s.put("a", "k")
    s.put("a", "k")
    s.close("a")
    s.put("a", "k")
    s.delete("a", "k")
    s.put("a", "k")
    s.put("a", "k")
    return wrong(planted, "K-METRICS-3", s.metrics("a", overwrites=2 if planted else 1))


@story()
def misses_not_counted(s: StreamScript, planted: bool) -> Found:
    """A miss counts from the first write of its namespace on."""
    s.put("a", "k")
    s.get("a", "l")
    s.get("a", "m")
    return wrong(planted, "K-METRICS-3", s.metrics("a", misses=1 if planted else 2))


@story(max_size_bytes=300)
def hits_of_the_evicted(s: StreamScript, planted: bool) -> Found:
    """What is handed over was looked up, but for the evicted entry."""
    for key in ("k", "l", "m", "n"):
        s.put("a", key)
    s.get("a", "n")
    return wrong(planted, "K-METRICS-3", s.metrics("a", hits=s.own["a"]["hits"] + planted))


@story()
def time_goes_back(s: StreamScript, planted: bool) -> Found:
    """Time may stand still."""
    s.put("a", "k")
    row = s.put("a", "l")
    row["ts_ns"] = s.rows[-2]["ts_ns"] - planted
    return wrong(planted, "K-LIVENESS-1", row)


@story()
def call_that_goes_on(s: StreamScript, planted: bool) -> Found:
    """A call has ended when the next one begins."""
    first = s.put("a", "k")
    s.put("a", "l")
    row = s.get("a", "k")
    if planted:
        row["call_id"] = first["call_id"]
    return wrong(planted, "K-LIVENESS-1", row)
