"""The rule that a difference breaks.

The failing case is played once more with a look at the state after every step, where the subject allows it: the
first state that differs tells the step at fault. Then the first of these that says anything:

1. for a step with a pass: the first entry that the subject treated otherwise than the reference, and how;
2. the fields of the answer that only one rule is about;
3. the laws that the step breaks with the subject's own answer and state;
4. the planted faults of the reference that answer just as the subject did, to the last look;
5. the laws that only compare an answer with what was removed;
6. the rule of the reference's last row about what differs, else the rule of the operation.

Behind the rules of a pass stand the planted faults that answer alike: ties are listed, the likeliest first.
"""

from __future__ import annotations

from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.alike import alike
from entrycache_conformance.systems.pulsar_pip430.fates import rules_by_fate
from entrycache_conformance.systems.pulsar_pip430.probe import Probed, laws_of_own_state, probe
from entrycache_protocol.case import Case
from entrycache_protocol.errors import BrokenSubject
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import UnderTest
from entrycache_reference.pulsar_pip430.outcomes import Counters, Observed, Refused, Served, Used
from entrycache_reference.rules import Rule

PASSES: Final = frozenset({"expire", "evict"})
RELIEVING: Final = frozenset({"insert", "read", "cycle", "run_scheduled"})
"""Operations that may run a size pass, and do more than that or not even that."""

LOOKING: Final = frozenset({"metrics", "cursor_rank", "slowest", "cursors", "should_cache", "cursor_remove"})
"""Operations that show what no look at the state does: an earlier step may be at fault."""

OP_RULES: Final = {
    "insert": Rule.INSERT_1,
    "get": Rule.READ_1,
    "get_range": Rule.READ_3,
    "exists": Rule.READ_6,
    "remove_range": Rule.INVALIDATE_1,
    "clear": Rule.INVALIDATE_4,
    "usage": Rule.METRICS_2,
    "observe": Rule.STATE_7,
    "advance": Rule.STATE_4,
    "expire": Rule.EXPIRE_1,
    "evict": Rule.EVICT_4,
    "mark_read": Rule.COUNT_1,
    "expect_read": Rule.COUNT_2,
    "cycle": Rule.TRIGGER_6,
    "run_scheduled": Rule.TRIGGER_5,
    "configure": Rule.CONFIG_1,
    "invalidate_before": Rule.INVALIDATE_7,
    "invalidate_ledger": Rule.INVALIDATE_8,
    "remove_cache": Rule.INVALIDATE_9,
    "metrics": Rule.METRICS_7,
    "read": Rule.READ_7,
    "read_one": Rule.READ_10,
    "release": Rule.COUNT_7,
    "cursor_add": Rule.CURSOR_1,
    "cursor_move": Rule.CURSOR_3,
    "cursor_remove": Rule.CURSOR_5,
    "cursor_rank": Rule.CURSOR_7,
    "slowest": Rule.CURSOR_9,
    "cursors": Rule.CURSOR_10,
    "should_cache": Rule.CURSOR_11,
}
"""The rule of an operation where nothing says more."""

COUNTERS: Final = {
    "inserted_entries": Rule.METRICS_3,
    "evicted_entries": Rule.METRICS_4,
    "eviction_cycles": Rule.METRICS_5,
    "hit_entries": Rule.METRICS_6,
    "hit_bytes": Rule.METRICS_6,
    "miss_entries": Rule.METRICS_6,
    "miss_bytes": Rule.METRICS_6,
    "bytes": Rule.METRICS_7,
}
"""The rule of each counter."""


def explain(subject: UnderTest, case: Case, steps: list[Any], difference: Difference) -> tuple[Rule, ...]:
    """The rules that explain a difference in an answer, the likeliest first."""
    if difference.failed is not None:
        return (Rule.COUNT_7,)  # a leak: what a read has handed over was not given back
    probed = _probed(subject, case, steps, difference)
    broken = laws_of_own_state(probed, subject.declaration)
    telling = [rule for rule in broken if rule not in case.system.laws.answer_laws]
    similar = alike(probed, subject)
    op = type(probed.case.steps[probed.at]).name
    fates = rules_by_fate(probed) if op in PASSES | RELIEVING else []
    if op in PASSES or (fates and _is_about_a_pass(probed)):
        found = [*fates, *(similar if fates or probed.observed is None else [])]
    else:
        found = [*_by_field(probed.difference, telling), *_of_fills(probed), *telling]
        if op in LOOKING or not found or isinstance(probed.difference.got, Refused):
            found += similar
        found += fates
    if found:
        return tuple(dict.fromkeys(found))
    if broken:
        return tuple(broken)
    rows = _rows_about(probed)
    return (rows[-1].rule if rows else OP_RULES[op],)


def _probed(subject: UnderTest, case: Case, steps: list[Any], difference: Difference) -> Probed:
    """The case with looks in between, or as it is where the subject shows too little of itself."""
    try:
        probed = probe(subject, case, difference)
    except BrokenSubject:
        probed = None
    if probed is not None:
        return probed
    at = difference.at
    pre = steps[at - 1].state if at else case.system.model.initial(case.config)
    return Probed(case, steps, difference, at, pre, None)


def _is_about_a_pass(probed: Probed) -> bool:
    """Whether the step at fault ran a pass, in the reference or, as entries are gone, in the subject."""
    done = probed.steps[probed.at]
    if probed.observed is None or any(row.op == "PASS_BEGIN" for row in done.rows):
        return True
    there = {(slot.cache, slot.pos) for slot in probed.observed.queue}
    return any(slot is not None and (slot.cache, slot.pos) not in there for slot in done.state.queue)


def _by_field(difference: Difference, telling: list[Rule]) -> list[Rule]:
    """What the fields say in which two answers of the same kind differ.

    R-STATE-1 where only the bytes of a sum are wrong: then the sum itself has drifted, not its report.
    """
    expected, got = difference.expected, difference.got
    if type(expected) is not type(got):
        return []
    if type(expected) is Used:
        return [Rule.STATE_1] if telling and expected.entries == got.entries else []
    if type(expected) is Counters:
        return [rule for name, rule in COUNTERS.items() if getattr(expected, name) != getattr(got, name)]
    if type(expected) is Served and (expected.hits, expected.fills) == (got.hits, got.fills):
        return [Rule.READ_12]
    return []


def _of_fills(probed: Probed) -> list[Rule]:
    """The rules about what a read has brought in, where the subject shows an entry with another count."""
    event = probed.case.steps[probed.at]
    done = probed.steps[probed.at]
    if type(event).name != "read" or probed.observed is None or type(done.outcome) is not Served:
        return []
    for slot in probed.observed.queue:
        cache = done.state.caches.get(slot.cache)
        right = None if cache is None else cache.entries.get(slot.pos)
        if right is not None and right.expected_reads != slot.expected_reads:
            return [Rule.READ_9, Rule.COUNT_5] if slot.pos in done.outcome.fills else [Rule.COUNT_5]
    return []


def _rows_about(probed: Probed) -> list[Any]:
    """The reference's rows of the step at fault about the entries that differ, else all rows of that step."""
    rows = list(probed.steps[probed.at].rows)
    expected, got = probed.difference.expected, probed.difference.got
    if not (isinstance(expected, Observed) and isinstance(got, Observed)):
        return rows
    differing = {
        (slot.cache, tuple(slot.pos))
        for slot in (*expected.queue, *got.queue)
        if (slot in expected.queue) != (slot in got.queue)
    }
    return [row for row in rows if (row.cache, (row.ledger_id, row.entry_id)) in differing] or rows
