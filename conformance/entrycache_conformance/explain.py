"""The rule that a difference breaks.

The failing case is played once more with a look at the state after every step, where the subject allows it: the
first state that differs tells the step at fault. Then the first of these that says anything:

1. for a pass: the first entry that the subject treated otherwise than the reference, and how;
   for any other step: the laws that it breaks with the subject's own answer and state;
2. the planted faults of the reference that answer just as the subject did, to the last look;
3. the laws that only compare an answer with what was removed;
4. the rule of the reference's last row about what differs, else the rule of the operation.

Behind the rules of a pass stand the planted faults that answer alike: ties are listed, the likeliest first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from entrycache_conformance.case import Case
from entrycache_conformance.fates import rules_by_fate
from entrycache_conformance.judge import Difference
from entrycache_conformance.museum.mutants import MUTANTS, OTHERS, Mutant, applied, flips
from entrycache_conformance.probe import Probed, laws_of_own_state, probe
from entrycache_conformance.subjects.subject import Subject, Trouble
from entrycache_reference.errors import BrokenSubject, EntrycacheError
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.pulsar_pip430.outcomes import Observed, Used
from entrycache_reference.pulsar_pip430.state import Slot
from entrycache_reference.rules import Rule

PASSES = frozenset({"expire", "evict"})

OP_RULES = {
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
}
"""The rule of an operation where nothing says more."""


def explain(subject: Subject, case: Case, steps: list[Any], difference: Difference) -> tuple[Rule, ...]:
    """The rules that explain a difference, the likeliest first."""
    if difference.failed is not None:
        hang = difference.failed.trouble is Trouble.HANG
        return (Rule.LIVENESS_1 if hang else Rule.LIVENESS_2,)
    probed = _probed(subject, case, steps, difference)
    broken = laws_of_own_state(probed, subject.declaration)
    telling = [rule for rule in broken if rule not in case.system.answer_laws]
    alike = _alike(probed, subject, (*MUTANTS, *OTHERS)) or _alike(probed, subject, flips())
    op = type(probed.case.steps[probed.at]).name
    if op in PASSES:
        fates = rules_by_fate(probed)
        found = [*fates, *(alike if fates or probed.observed is None else [])]
    else:
        found = [*(_sums(difference) if telling else []), *telling] or alike
    if found:
        return tuple(dict.fromkeys(found))
    if broken:
        return tuple(broken)
    rows = _rows_about(probed)
    return (rows[-1].rule if rows else OP_RULES[op],)


def _probed(subject: Subject, case: Case, steps: list[Any], difference: Difference) -> Probed:
    """The case with looks in between, or as it is where the subject shows too little of itself."""
    try:
        probed = probe(subject, case, difference)
    except BrokenSubject:
        probed = None
    if probed is not None:
        return probed
    at = difference.at
    pre = steps[at - 1].state if at else case.system.initial(case.config)
    return Probed(case, steps, difference, at, pre, None)


def _sums(difference: Difference) -> list[Rule]:
    """R-STATE-1 where only the bytes of a sum are wrong: then the sum itself has drifted, not its report."""
    expected, got = difference.expected, difference.got
    if type(expected) is not Used or type(got) is not Used:
        return []
    return [Rule.STATE_1] if expected.entries == got.entries else []


def _alike(probed: Probed, subject: Subject, mutants: Iterable[Mutant]) -> list[Rule]:
    """The rules whose planted fault in the reference makes it answer as the subject did."""
    return [mutant.rule for mutant in mutants if _answers_alike(probed, mutant, subject)]


REQUEUES_MOST = 10_000


class _Endless(Exception):
    """A planted fault makes a pass requeue for ever."""


@contextmanager
def ending_passes() -> Iterator[None]:
    """Passes of the faulty reference end: after very many requeues one raises."""
    put_back = passes.put_back
    left = REQUEUES_MOST

    def counted(queue: deque[Slot | None], slot: Slot) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Endless
        put_back(queue, slot)

    passes.put_back = counted
    try:
        yield
    finally:
        passes.put_back = put_back


def _answers_alike(probed: Probed, mutant: Mutant, subject: Subject) -> bool:
    """Whether the faulty reference is right up to the difference and there answers what the subject answered."""
    case = probed.case
    introspection = subject.declaration.introspection
    last = probed.difference.at
    with applied(mutant), ending_passes():
        try:
            state = case.system.initial(case.config)
            for at, op in enumerate(case.steps[: last + 1]):
                done = case.system.step(state, op, case.config)
                wanted = probed.difference.got if at == last else probed.steps[at].outcome
                if case.system.declared_part(done.outcome, introspection) != case.system.declared_part(
                    wanted, introspection
                ):
                    return False
                state = done.state
        except EntrycacheError:
            raise
        except Exception:  # a planted fault may break anything; then it explains nothing
            return False
    return True


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
