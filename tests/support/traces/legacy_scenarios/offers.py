"""Scenarios of offers, and of the size passes that they ask for."""

from __future__ import annotations

from tests.support.traces.legacy_scenarios.scenario import Violations, scenario, wrong
from tests.support.traces.legacy_script import LegacyScript, at


def _full(s: LegacyScript, *sizes: int) -> None:
    """Entries of these sizes, without a pass."""
    for entry, size in enumerate(sizes):
        s.call().insert(at(entry), size)


@scenario()
def stamped_later(s: LegacyScript, violating: bool) -> Violations:
    """An entry has the stamp of its insert."""
    row = s.offer(at(0))
    if violating:
        row["new_stamp_ns"] += 1
        s.cached[at(0)]["stamp_ns"] += 1
    s.get(at(0))
    return wrong(violating, ("L-INSERT-1", row))


@scenario()
def rejects_what_is_not_there(s: LegacyScript, violating: bool) -> Violations:
    """A duplicate is one."""
    s.offer(at(0))
    s.remove("RANGE", at(0))
    s.call()
    row = s.absent("REJECT", at(0), cause="DUPLICATE", size_bytes=100) if violating else s.insert(at(0))
    return wrong(violating, ("L-INSERT-1", row))


@scenario()
def replaces_what_is_there(s: LegacyScript, violating: bool) -> Violations:
    """A cached entry is not inserted again."""
    s.offer(at(0), 0)
    row = s.call().insert(at(0), 0) if violating else s.offer(at(0), 0)
    # the former one leaves by no event, and END does not know it
    return wrong(violating, ("L-INSERT-2", row), ("L-STATE-4", s.finish()[-1]))


@scenario()
def taken_at_the_limit(s: LegacyScript, violating: bool) -> Violations:
    """At the limit nothing is added, though its own pass has made room; below it, anything."""
    _full(s, 500, 500 if violating else 485)
    s.call()
    s.ask(s.bytes - s.target)
    row = s.insert(at(2), 700)
    return wrong(violating, ("L-INSERT-3", row))


@scenario()
def too_large_to_be_taken(s: LegacyScript, violating: bool) -> Violations:
    """Only the bytes before the offer count."""
    _full(s, 400)
    s.call()
    row = s.absent("SKIP", at(1), cause="FULL", size_bytes=5_000) if violating else s.insert(at(1), 5_000)
    return wrong(violating, ("L-INSERT-4", row))


@scenario()
def rejected_for_what_it_has_evicted(s: LegacyScript, violating: bool) -> Violations:
    """An entry that its own pass evicts is inserted again."""
    _full(s, 500, 490)
    s.call()
    s.ask(s.bytes - s.target)
    row = s.absent("REJECT", at(0), cause="DUPLICATE", size_bytes=5) if violating else s.insert(at(0), 5)
    return wrong(violating, ("L-INSERT-5", row), ("L-INSERT-1", row))


@scenario()
def other_thresholds(s: LegacyScript, violating: bool) -> Violations:
    """A pass states the thresholds that follow from the settings."""
    _full(s, 500, 490)
    s.call()
    rows = s.passing("SIZE", 490, at(0), origin="TRIGGER", **({"trigger_bytes": 979} if violating else {}))
    s.insert(at(2))
    return wrong(violating, ("L-TRIGGER-1", rows[0]))


@scenario()
def frees_another_amount(s: LegacyScript, violating: bool) -> Violations:
    """A pass frees the excess over the target when the insert began."""
    _full(s, 500, 490)
    s.call()
    rows = s.passing("SIZE", 495 if violating else 490, at(0), origin="TRIGGER")
    s.insert(at(2))
    return wrong(violating, ("L-TRIGGER-1", rows[0]))


@scenario()
def above_the_trigger_without_a_pass(s: LegacyScript, violating: bool) -> Violations:
    """Above the trigger an insert runs its pass before its entry; at it, none."""
    _full(s, 500, 481 if violating else 480)
    row = s.call().insert(at(2), 1)
    return wrong(violating, ("L-TRIGGER-2", row))


@scenario()
def pass_without_need(s: LegacyScript, violating: bool) -> Violations:
    """At the trigger no pass runs."""
    _full(s, 500, 480 if violating else 481)
    s.call()
    rows = s.passing("SIZE", s.bytes - s.target, at(0), origin="TRIGGER")
    s.insert(at(2), 1)
    return wrong(violating, ("L-TRIGGER-2", rows[0]))


@scenario()
def pass_without_an_offer(s: LegacyScript, violating: bool) -> Violations:
    """A requested pass has an offer after it."""
    _full(s, 500, 490)
    s.call()
    rows = s.passing("SIZE", 490, at(0), origin="TRIGGER")
    if violating:
        s.call()
    s.insert(at(2), 1)
    return wrong(violating, ("L-TRIGGER-2", rows[-1]))


@scenario(eviction="manual")
def insert_that_waits_for_no_one(s: LegacyScript, violating: bool) -> Violations:
    """A pass that is scheduled is a call of its own."""
    _full(s, 500, 485)
    s.offer(at(2), 1)
    if not violating:
        s.call()
    rows = s.passing("SIZE", 485, at(0), origin="TRIGGER")
    return wrong(violating, ("L-TRIGGER-3", rows[0]))


@scenario(eviction="manual")
def amount_of_the_later_one(s: LegacyScript, violating: bool) -> Violations:
    """The first insert that asks says how much."""
    _full(s, 500, 485)
    s.offer(at(2), 5)
    s.offer(at(3), 5)
    s.call()
    rows = s.passing("SIZE", 490 if violating else 485, at(0), origin="TRIGGER")
    return wrong(violating, ("L-TRIGGER-4", rows[0]))


@scenario(eviction="manual")
def runs_what_nobody_asked(s: LegacyScript, violating: bool) -> Violations:
    """A scheduled pass runs once."""
    _full(s, 300, 685)
    s.offer(at(2), 200)
    s.call()
    s.passing("SIZE", 485, at(0), at(1), origin="TRIGGER")
    s.offer(at(3), 800)
    if not violating:
        s.offer(at(4), 1)
    s.call()
    rows = s.passing("SIZE", s.bytes - s.target, *s.need("a", 500), origin="TRIGGER")
    return wrong(violating, ("L-TRIGGER-5", rows[0]))


@scenario(eviction="manual")
def frees_by_the_bytes_of_now(s: LegacyScript, violating: bool) -> Violations:
    """The amount is that of the request, even if entries have left since."""
    _full(s, 100, 200, 685)
    s.offer(at(3), 5)
    s.remove("RANGE", at(0))
    s.call()
    need = s.bytes - s.target if violating else 485
    rows = s.passing("SIZE", need, *s.need("a", need), origin="TRIGGER")
    return wrong(violating, ("L-TRIGGER-5", rows[0]))


@scenario(watermark=0.99)
def frees_nothing(s: LegacyScript, violating: bool) -> Violations:
    """Between the trigger and the target there is nothing to free."""
    _full(s, 500, 485)
    s.call()
    rows = s.passing("SIZE", -5, origin="TRIGGER") if violating else [{}]
    s.insert(at(2), 1)
    return wrong(violating, ("L-TRIGGER-6", rows[0]))


@scenario()
def rejected_without_a_pass(s: LegacyScript, violating: bool) -> Violations:
    """An offer that is not taken asks for a pass too."""
    _full(s, 500, 490)
    row = s.offer(at(1), 5, relieve=not violating)
    return wrong(violating, ("L-TRIGGER-7", row))
