"""Where a difference began: the failing case once more, with a look at the whole state after every step.

A fault often shows steps after it happened. `observe` marks and counts nothing, so it can stand anywhere; the
first state that differs names the step at fault, and the laws can be asked about the subject's own state.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import Played, UnderTest
from entrycache_reference.pulsar_pip430.change import EMPTY
from entrycache_reference.pulsar_pip430.ops import Observe
from entrycache_reference.pulsar_pip430.outcomes import Observed
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule


class Probed(NamedTuple):
    """The case with looks in between, the reference's steps through it, and its first difference.

    `at`: the step at fault; `pre`: the reference's state before it; `observed`: the subject's state after it,
    where it is the state that differs.
    """

    case: Case
    steps: list[Any]
    difference: Difference
    at: int
    pre: State
    observed: Observed | None


def probe(subject: UnderTest, case: Case, difference: Difference) -> Probed | None:
    """The case played once more with looks in between; None where the subject shows too little of itself."""
    declaration = subject.declaration
    if "observe" not in declaration.ops or not {"queue", "now"} <= declaration.introspection:
        return None
    looks: list[Any] = []
    for op in case.steps[: difference.at + 1]:
        looks += [op, Observe()]
    limit = declaration.limits.max_steps
    if limit is not None and len(looks) > limit:
        return None
    probed = dataclasses.replace(case, steps=tuple(looks), outcomes=(), got=())
    answer = subject.play([probed])[0]
    if not isinstance(answer, Played):
        return None
    steps = trajectory(probed, Coverage())
    first = judge(probed, steps, answer, declaration)
    if first is None:
        return None
    at = first.at - first.at % 2
    pre = steps[at - 1].state if at else case.system.model.initial(case.config)
    observed = answer.outcomes[at + 1] if at + 1 < len(answer.outcomes) else None
    shown = observed if isinstance(observed, Observed) else None
    return Probed(probed, steps, first, at, pre, shown)


def laws_of_own_state(probed: Probed, declaration: Declaration) -> list[Rule]:
    """The laws that the step at fault breaks with the subject's own answer and state.

    Dead slots are left out on both sides: where they lie is nobody's business. What the reference's own step
    breaks for want of them does not count, nor does R-STATE-8, which compares rows, and the rows are the reference's,
    as are the parts of the step.
    """
    system = probed.case.system
    config = probed.case.config
    op = probed.case.steps[probed.at]
    done = probed.steps[probed.at]
    rows = tuple(row for row in done.rows if row.op != "TOMBSTONE")
    pre = _live(probed.pre)
    right = Step(_live(done.state), done.outcome, rows, done.parts)
    outcome = probed.difference.got if probed.difference.at == probed.at else done.outcome
    state = right.state if probed.observed is None else own_state(probed.observed, done.state, declaration)
    excused = {Rule.STATE_8, *system.laws.broken(config, pre, op, right)}
    own = Step(state, outcome, rows, done.parts)
    return [rule for rule in system.laws.broken(config, pre, op, own) if rule not in excused]


def _live(state: State) -> State:
    return state._replace(queue=tuple(slot for slot in state.queue if slot is not None))


def own_state(observed: Observed, reference: State, declaration: Declaration) -> State:
    """The state that a subject shows; what it does not declare, or cannot show, is taken from the reference."""
    entries: dict[Any, dict[Any, Entry]] = {name: {} for name in reference.caches}
    for slot in observed.queue:
        twin = reference.caches[slot.cache].entries.get(slot.pos) if slot.cache in reference.caches else None
        counted = "requeues" in declaration.introspection or twin is None
        requeues = slot.requeues if counted else twin.requeues if twin is not None else 0
        token = None if twin is None else twin.token
        entry = Entry(slot.size, observed.now - slot.age_nanos, requeues, slot.accessed, slot.expected_reads, token)
        entries.setdefault(slot.cache, {})[slot.pos] = entry
    caches = {}
    for name, held in entries.items():
        size = sum(entry.size_bytes for entry in held.values())
        if "caches" in declaration.introspection and name in observed.caches:
            size = observed.caches[name].bytes
        caches[name] = reference.caches.get(name, EMPTY)._replace(entries=held, size_bytes=size)
    total = (
        observed.bytes if "bytes" in declaration.introspection else sum(cache.size_bytes for cache in caches.values())
    )
    queue = tuple(Slot(slot.cache, slot.pos) for slot in observed.queue)
    return reference._replace(now_nanos=observed.now, caches=caches, queue=queue, size_bytes=total)
