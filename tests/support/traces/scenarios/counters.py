"""Scenarios of counters."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import SMALL, Violations, at, scenario, wrong
from tests.support.traces.script import Script


def _busy(s: Script) -> None:
    """Something for every counter."""
    s.offer(at(0), 400, 2)
    s.read([at(0), at(1)], 1)
    s.offer(at(2), 400, 1)
    s.offer(at(3), 500)
    s.metrics()
    s.cycle()
    s.call().size_pass(1)
    s.read([at(3), at(4)], 0)
    s.call().get(at(7))


def _misreported(rule: str, counter: str, by: int) -> None:
    @scenario(max_requeues=0, **SMALL)
    def counter_is_off(s: Script, violating: bool) -> Violations:
        _busy(s)
        row = s.metrics(**({counter: s.counts.get(counter, s.bytes) + by} if violating else {}))
        s.metrics()
        return wrong(violating, (rule, row))

    counter_is_off.__name__ = f"{counter}_is_off"


for _rule, _counter, _by in (
    *(("R-METRICS-3", "inserted_entries", -1), ("R-METRICS-4", "evicted_entries", 1)),
    *(("R-METRICS-5", "eviction_cycles", 1), ("R-METRICS-6", "hit_entries", 1), ("R-METRICS-6", "hit_bytes", -400)),
    *(("R-METRICS-6", "miss_entries", -1), ("R-METRICS-6", "miss_bytes", 1), ("R-METRICS-7", "bytes", 100)),
):
    _misreported(_rule, _counter, _by)


@scenario(max_requeues=0, **SMALL)
def one_removal_is_not_counted(s: Script, violating: bool) -> Violations:
    """A counter is behind from one removal on; this is reported once, where it begins."""
    _busy(s)
    s.offer(at(5))
    s.call().remove("CLEAR", at(5))
    s.counts["evicted_entries"] -= int(violating)
    row = s.metrics()
    s.offer(at(6))
    s.metrics()
    return wrong(violating, ("R-METRICS-4", row))
