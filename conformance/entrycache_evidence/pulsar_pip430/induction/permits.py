"""Lemmas about permits: the laws of the limiter on any numbers, and that no wake-up is lost.

Up to two requests have permits, and up to two wait; all numbers are unknowns. What is free and what is out make the
limit, and the head of the queue does not fit. Each lemma says that a step keeps this, so it holds after any number of
steps.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Case, LawCases, build_term_model
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, always
from entrycache_reference.pulsar_pip430.laws.storage_reads import PERMIT_LAWS
from entrycache_reference.pulsar_pip430.state import Limiter, State, Step, WaitingRequest, initial
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import RequestName

OUT: Final = (RequestName("a"), RequestName("b"))
WAITING: Final = (RequestName("c"), RequestName("d"))
NEW: Final = RequestName("e")


def any_integer(name: str) -> Any:
    """Return any integer."""
    return Term(z3.Int(name))


CONFIG: Final = Config(
    max_reads_in_flight_bytes=any_integer("limit"),
    acquire_timeout_millis=any_integer("timeout"),
    acquire_queue=any_integer("queue"),
)


def build_state(granted: int, number: int) -> State:
    """Build a state in which so many requests have permits, and so many wait."""
    waiting = tuple(
        WaitingRequest(name, any_integer(f"{name}.permits"), any_integer(f"{name}.since")) for name in WAITING[:number]
    )
    out = {name: any_integer(f"{name}.permits") for name in OUT[:granted]}
    return initial(CONFIG)._replace(now_nanos=any_integer("now"), limiter=Limiter(any_integer("free"), out, waiting))


def build_constraints(state: State, op: ops.Op) -> Any:
    """Build the constraints that hold between steps, and the signs of numbers."""
    limiter, limit = state.limiter, raw(CONFIG.max_reads_in_flight_bytes)
    permits = [*limiter.out.values(), *(request.permits for request in limiter.waiting)]
    moments = [0, *(raw(request.since_nanos) for request in limiter.waiting), raw(state.now_nanos)]
    sums = raw(limiter.free) + z3.Sum([z3.IntVal(0), *(raw(one) for one in limiter.out.values())]) == limit
    signs = [limit > 0, raw(limiter.free) >= 0, raw(CONFIG.acquire_timeout_millis) >= 0, raw(CONFIG.acquire_queue) >= 1]
    idle = [
        z3.And(raw(request.permits) > raw(limiter.free), raw(limiter.free) != limit) for request in limiter.waiting[:1]
    ]
    ordered = [one <= other for one, other in pairwise(moments)]
    asked = [raw(op.permits) >= 1] if isinstance(op, ops.Acquire) else []
    return z3.And(sums, *signs, *(raw(one) >= 1 for one in permits), *idle, *ordered, *asked)


OPERATIONS: Final[tuple[ops.Op, ...]] = (
    ops.Acquire(NEW, any_integer("permits")),
    *(ops.GiveBack(name) for name in OUT),
    ops.Advance(any_integer("nanos")),
    ops.LimiterState(),
)


def _cases() -> Iterator[Case]:
    """Yield each operation on each shape; who waits, waits for somebody who has permits."""
    for granted, number, op in product(range(len(OUT) + 1), range(len(WAITING) + 1), OPERATIONS):
        if granted or not number:
            state = build_state(granted, number)
            name = f"{op.name}, {granted} with permits, {number} waiting"
            yield Case(name, state, op, CONFIG, build_constraints(state, op))


def _prepare_model(model: Model) -> Model:
    """Return the model; its functions take terms as they are."""
    return build_term_model(model, {})


LAW_CASES: Final = LawCases(
    tuple(_cases()),
    _prepare_model,
    "up to two requests with permits, up to two that wait; any limit, permits, moments, timeout and queue",
)


def leaves_nobody_who_fits(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check that the head of the queue does not fit: no wake-up is lost."""
    limiter = step.state.limiter
    if not limiter.waiting:
        return True
    permits, limit = limiter.waiting[0].permits, config.max_reads_in_flight_bytes
    return bool(permits > limiter.free) and not bool(limiter.free == limit)


NO_LOST_WAKE_UP: Final = Law(Rule.LIMIT_5, (ops.Acquire, ops.GiveBack, ops.Advance), always, leaves_nobody_who_fits)

LEMMAS: Final = tuple(LAW_CASES.lemma(law) for law in (*PERMIT_LAWS, NO_LOST_WAKE_UP))
"""The lemmas about permits."""
