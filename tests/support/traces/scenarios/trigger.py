"""Scenarios of the trigger and of settings."""

from __future__ import annotations

from tests.support.traces.scenarios.scenario import SMALL, Violations, at, scenario, wrong
from tests.support.traces.script import MILLI, Row, Script


@scenario(**SMALL)
def pass_at_the_trigger(s: Script, violating: bool) -> Violations:
    """Bytes exactly at the trigger run no pass; one byte above it, one does."""
    s.offer(at(0), 500)
    s.call().insert(at(1), 480 if violating else 481)
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(violating, ("R-TRIGGER-2", begin))


@scenario(**SMALL)
def no_pass_above_the_trigger(s: Script, violating: bool) -> Violations:
    """One byte above the trigger needs a pass; at the trigger there is none."""
    s.offer(at(0), 500)
    last = s.call().insert(at(1), 481 if violating else 480)
    s.call().get(at(0))
    return wrong(violating, ("R-TRIGGER-2", last))


@scenario(**SMALL)
def too_little_asked_for(s: Script, violating: bool) -> Violations:
    """A pass is to free all that is above the target."""
    for entry in range(4):
        s.offer(at(entry), 240)
    s.call().insert(at(9), 240)
    begin = s.size_pass(s.bytes - s.target - violating, "TRIGGER")
    return wrong(violating, ("R-TRIGGER-2", begin))


@scenario(**SMALL)
def pass_after_a_lookup(s: Script, violating: bool) -> Violations:
    """A pass of origin TRIGGER stands right behind its INSERT; one of origin CALL may stand anywhere."""
    s.offer(at(0), 900)
    s.configure(max_size_bytes=800)
    s.call().get(at(0))
    begin = s.size_pass(s.bytes - s.target, "TRIGGER" if violating else "CALL")
    return wrong(violating, ("R-TRIGGER-2", begin))


@scenario(**SMALL)
def pass_after_a_duplicate(s: Script, violating: bool) -> Violations:
    """A rejected entry triggers nothing, however full the caches are."""
    s.offer(at(0), 900)
    s.configure(max_size_bytes=800)
    s.call()
    if violating:
        s.at("REJECT", at(0), cause="DUPLICATE", life=None)
    else:
        s.insert(at(1), 10)
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(violating, ("R-TRIGGER-3", begin))


@scenario(max_size_bytes=1000, watermark=1.0)
def nothing_above_the_target(s: Script, violating: bool) -> Violations:
    """With a watermark above 0.98 the bytes may be above the trigger and have nothing to free."""
    s.offer(at(0), 500)
    s.call().insert(at(1), 500 if violating else 501)
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(violating, ("R-TRIGGER-8", begin))


@scenario(**SMALL)
def trigger_of_other_settings(s: Script, violating: bool) -> Violations:
    """The thresholds are those of the last CONFIG, not of the one before."""
    s.offer(at(0), 400)
    s.configure(max_size_bytes=900, watermark=0.7)
    s.call().insert(at(1), 500)
    need = s.bytes - s.target
    begin = s.begin("SIZE", "TRIGGER", need)
    s.take(begin, need)
    end = s.end_pass(begin, need - 400)
    if violating:
        end["trigger_bytes"], end["target_bytes"] = 980, 500
    return wrong(violating, ("R-TRIGGER-1", end))


@scenario(max_size_bytes=1000, watermark=0.29)
def product_rounded(s: Script, violating: bool) -> Violations:
    """1000 * 0.29 is 290 as decimals and 289 after the IEEE product."""
    begin = s.call().size_pass(7)
    begin["target_bytes"] = int(1000 * 0.29) + violating
    return wrong(violating, ("R-TRIGGER-1", begin))


@scenario(max_requeues=3)
def setting_of_before(s: Script, violating: bool) -> Violations:
    """A pass uses the effective settings, not those of its entries' inserts."""
    s.offer(at(0))
    s.configure(max_requeues=1)
    begin = s.call().size_pass(5)
    if violating:
        begin["max_requeues"] = 3
    return wrong(violating, ("R-CONFIG-1", begin))


@scenario(eviction="manual", **SMALL)
def manual_insert_runs_a_pass(s: Script, violating: bool) -> Violations:
    """With eviction manual the pass is a call of its own."""
    s.call().insert(at(0), 990)
    if not violating:
        s.call()
    begin = s.size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(violating, ("R-TRIGGER-4", begin))


@scenario(eviction="manual", **SMALL)
def nobody_has_asked(s: Script, violating: bool) -> Violations:
    """A scheduled pass runs once for its request."""
    s.call().insert(at(0), 600)
    s.call().insert(at(1), 400)
    s.call().size_pass(s.bytes - s.target, "TRIGGER")
    s.call().insert(at(2), 570 if violating else 600)
    s.configure(max_size_bytes=900)
    begin = s.call().size_pass(s.bytes - s.target, "TRIGGER")
    return wrong(violating, ("R-TRIGGER-5", begin))


@scenario(ttl_nanos=50 * MILLI, **SMALL)
def cycle_with_another_time_to_live(s: Script, violating: bool) -> Violations:
    """The cutoff of the periodic pass is that of the present time to live."""
    s.offer(at(0), 10)
    s.configure(ttl_nanos=20 * MILLI)
    s.now += 60 * MILLI
    begin = s.call().time_pass(s.now - (50 if violating else 20) * MILLI, "CYCLE")
    return wrong(violating, ("R-TRIGGER-6", begin))


@scenario(**SMALL)
def cycle_leaves_too_much(s: Script, violating: bool) -> Violations:
    """A cache that is still above the trigger after the time pass needs a size pass; another one needs none."""
    s.offer(at(0), 600)
    s.offer(at(1), 300)
    s.configure(max_size_bytes=900 if violating else 919)
    s.call()
    begin = s.time_pass(s.now - s.config["ttl_nanos"], "CYCLE")
    s.call().get(at(0))
    return wrong(violating, ("R-TRIGGER-6", s.rows[begin["seq"] + 1]))


@scenario(**SMALL)
def cycle_without_need(s: Script, violating: bool) -> Violations:
    """A cycle at the trigger ends with its time pass."""
    s.offer(at(0), 600)
    s.offer(at(1), 298)
    s.configure(max_size_bytes=917 if violating else 915)
    s.call()
    s.time_pass(s.now - s.config["ttl_nanos"], "CYCLE")
    begin = s.size_pass(s.bytes - s.target, "CYCLE")
    return wrong(violating, ("R-TRIGGER-6", begin))


@scenario(threads="many", **SMALL)
def pass_that_looked_at_too_little(s: Script, violating: bool) -> Violations:
    """With several threads the bytes that a pass has read show its need: the amount that it frees, above the target."""
    for entry in range(4):
        s.call().insert(at(entry), 300)
    need = s.bytes - s.target - 200
    if violating:
        need = s.trigger - s.target
    begin = s.begin("SIZE", "TRIGGER", need)
    need -= s.take(begin, need)
    s.insert(at(4), 130, call_id=len(s.rows))
    while need > 0:
        need -= s.take(begin, need)
    s.end_pass(begin, need)
    s.call().size_pass(s.bytes - s.target)
    return wrong(violating, ("R-TRIGGER-2", begin))


def _shrunk(s: Script) -> None:
    """Two entries of 300 bytes after a pass, which are more than a smaller cache may hold."""
    for entry in range(3):
        s.offer(at(entry), 300)
    s.call().size_pass(1)
    s.configure(max_size_bytes=500)


def _stops(s: Script, origin: str, violating: bool) -> Row:
    """A size pass, which ends after its first entry if violating; its end."""
    begin = s.begin("SIZE", origin, s.bytes - s.target)
    need = begin["bound"] - s.take(begin, begin["bound"])
    while need > 0 and not violating:
        need -= s.take(begin, need)
    return s.end_pass(begin, need)


@scenario(**SMALL)
def triggered_pass_that_stops(s: Script, violating: bool) -> Violations:
    """A pass that was triggered goes on until the bytes are at the target."""
    _shrunk(s)
    s.call().insert(at(3), 30)
    end = _stops(s, "TRIGGER", violating)
    return wrong(violating, ("R-EVICT-4", end))


@scenario(**SMALL)
def periodic_pass_that_stops(s: Script, violating: bool) -> Violations:
    """So does the size pass of a cycle."""
    _shrunk(s)
    s.call().time_pass(s.now - s.config["ttl_nanos"], "CYCLE")
    end = _stops(s, "CYCLE", violating)
    return wrong(violating, ("R-EVICT-4", end))


@scenario(threads="many", **SMALL)
def pass_with_nothing_to_free(s: Script, violating: bool) -> Violations:
    """With several threads entries may have left since the pass read the bytes; a pass has something to free."""
    for entry in range(4):
        s.call().insert(at(entry), 300)
    s.call().remove("LEDGER", *(at(entry) for entry in range(4)))
    s.call().insert(at(5, 2), 300)
    begin = s.begin("SIZE", "CYCLE", 0 if violating else 500)
    need = begin["bound"]
    while need > 0 and s.queue:
        need -= s.take(begin, need)
    s.end_pass(begin, need)
    return wrong(violating, ("R-TRIGGER-8", begin), ("R-TRIGGER-6", begin))
