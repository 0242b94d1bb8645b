"""Lemmas about thresholds and bounds: the trigger in doubles, the end of a size pass, and the age of an entry.

R-TRIGGER-1 is proved in IEEE doubles for any limit below 2^53 bytes and any watermark from 0 to 1. The bounds are
theorems about many passes, and use the lemmas about the loop of a pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, build_term_model, law_obligations
from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.pulsar_pip430.induction import shapes
from entrycache_evidence.pulsar_pip430.induction.decision import PULSAR, Decision, Table, change_cell
from entrycache_faults.model import Model, Place
from entrycache_reference.pulsar_pip430 import decision, ops, outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.decision import DECISION
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

BITS: Final = 64
_DOUBLE: Final = z3.Float64()
_NEAREST: Final = z3.RNE()


class Double:
    """A double of z3 that can be multiplied."""

    def __init__(self, term: Any) -> None:
        self.term = term

    def __mul__(self, other: Double | float) -> Double:
        factor = other.term if isinstance(other, Double) else z3.FPVal(other, _DOUBLE)
        return Double(z3.fpMul(_NEAREST, self.term, factor))


class Integer64:
    """An integer of 64 bits that can be compared, and multiplied with a double as in Python."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __mul__(self, other: Double | float) -> Double:
        return as_double(self) * other

    def __eq__(self, other: object) -> Any:
        return Term(self.term == other.term) if isinstance(other, Integer64) else False


def as_double(number: Integer64) -> Double:
    """Convert an integer below 2^53 to a double, as `float` does."""
    return Double(z3.fpSignedToFP(_NEAREST, number.term, _DOUBLE))


def truncated(number: Double) -> Integer64:
    """Truncate a double that is not too large, as `int` does."""
    return Integer64(z3.fpToSBV(z3.RTZ(), number.term, z3.BitVecSort(BITS)))


LIMIT: Final = z3.BitVec("limit", BITS)
WATERMARK: Final = z3.FP("watermark", _DOUBLE)
_ANY: Final = z3.And(
    LIMIT >= 0,
    z3.ULT(LIMIT, 2**53),
    z3.fpGEQ(WATERMARK, z3.FPVal(0, _DOUBLE)),
    z3.fpLEQ(WATERMARK, z3.FPVal(1, _DOUBLE)),
)


def _trigger_obligations(table: Any, model: Model) -> Iterator[Obligation]:
    """Check the law after a size pass.

    A concrete case comes first, because z3 finds an error in doubles slowly in the general one.
    """
    law = next(law for law in _laws()["laws.manager.TRIGGER_LAWS"] if law.rule is Rule.TRIGGER_1)
    term_model = _on_doubles(model)
    for name, watermark, given in (
        ("watermark 0.9, 1000 bytes", Double(z3.FPVal(0.9, _DOUBLE)), LIMIT == 1000),
        ("any watermark, any limit", Double(WATERMARK), _ANY),
    ):
        settings = Settings(Integer64(LIMIT), watermark, 0, 0, False)  # type: ignore[arg-type]
        pre, event = State(0, settings, {}, (), 0), ops.Evict(1)

        def passed(pre: State = pre, event: ops.Op = event) -> Step:
            shapes.begin_path()
            done: Step = term_model.step(pre, event, Config())
            return done

        def judged(step: Step, pre: State = pre, event: ops.Op = event) -> tuple[bool, bool]:
            is_about = bool(law.guard(Config(), pre, event, step))
            return is_about, not is_about or bool(law.holds(Config(), pre, event, step))

        yield from law_obligations(name, given, paths(passed, given), judged)


def _laws() -> Model:
    return build_term_model(PULSAR, {"laws.law.int": truncated, "laws.law.float": as_double})


def _on_doubles(model: Model) -> Model:
    of_limits: dict[Place, object] = {"decision.int": truncated}
    rows_of = build_term_model(model, of_limits)["passes.rows_of_pass"]
    return build_term_model(model, {**of_limits, "passes.run_pass": shapes.any_pass(rows_of)})


def _target_of_trigger(state: State) -> Any:
    return truncated(decision.trigger_bytes(state) * state.settings.watermark)  # type: ignore[arg-type]


TARGET_OF_TRIGGER: Final = LemmaFault(
    "The target is the watermark's share of the trigger, not of the limit.",
    Model(PULSAR.package, {"decision.target_bytes": _target_of_trigger}),
)

TRIGGER_LEMMAS: Final = (
    Lemma(
        Rule.TRIGGER_1,
        "the law itself, in IEEE doubles, after a size pass; any limit below 2^53 bytes, any watermark from 0 to 1",
        _trigger_obligations,
        TARGET_OF_TRIGGER,
    ),
)
"""The lemma about the trigger."""


# --- Bounds in bytes and in time

_FREED, _LAST = z3.Ints("freed last")
_EMPTY = z3.Bool("nothing queued")


def _any_pass(
    state: State, kind: passes.PassKind, bound: Any, config: Config, origin: passes.Origin = passes.Origin.CALL
) -> Step:
    """Make any pass that satisfies the lemmas about the loop, which `_loop_lemmas` states."""
    freed: Any = Term(_FREED)
    left = state._replace(size_bytes=state.size_bytes - freed)
    return Step(left, outcomes.Removed(Term(0), Term(_FREED)), (bound,))  # type: ignore[arg-type]


def _loop_lemmas(before: Any, need: Any) -> Any:
    """Build what the lemmas about the loop state of a pass: R-EVICT-4, R-EVICT-5 and R-STATE-1."""
    removed = z3.Implies(_FREED > 0, z3.And(need + _LAST > _FREED, _LAST <= _FREED))
    return z3.And(_LAST >= 0, _FREED >= 0, before >= _FREED, removed, z3.If(_EMPTY, before == _FREED, need <= _FREED))


@cache
def _relief_model(model: Model) -> Model:
    return shapes.prepare_model(model, {"passes.run_pass": _any_pass})


def _relief_obligations(table: Table, model: Model) -> Iterator[Obligation]:
    """Prove that the pass of a trigger leaves at most the target, and above it less the last entry, or nothing."""
    state = State(shapes.any_integer("now"), Config().settings, {}, (), shapes.any_integer("bytes"))
    sane = z3.And(raw(state.size_bytes) >= 0, shapes.TARGET >= 0, shapes.TRIGGER >= 0)
    relieve = _relief_model(model)["manager.evict_to_watermark"]
    for condition, done in paths(lambda: relieve(state, Config(), passes.Origin.TRIGGER), sane):
        before, after = raw(state.size_bytes), raw(done.state.size_bytes)
        if not done.rows:
            quiet = z3.And(sane, condition)
            yield Obligation(
                "no pass", quiet, z3.And(after == before, z3.Or(before <= shapes.TRIGGER, before <= shapes.TARGET))
            )
            continue
        ran = z3.And(sane, condition, _loop_lemmas(before, raw(done.rows[0])))
        yield Obligation(
            "at most the target, or nothing", ran, z3.Or(after <= shapes.TARGET, z3.And(_EMPTY, after == 0))
        )
        yield Obligation("not far below it", ran, after > shapes.TARGET - _LAST)


_TTL, _INTERVAL, _INSERTED_AT, _BEFORE = z3.Ints("ttl interval inserted pass_before")
_DUE = z3.Function("due", z3.IntSort(), z3.IntSort())
"""The greatest age at the n-th requeue: a time to live and an interval each."""


def _age_obligations(table: Table, model: Model) -> list[Obligation]:
    """Prove that an unread entry leaves within (max_requeues + 1) * (ttl + interval) of its insertion.

    Time passes run at most an interval apart. After a time pass nothing is expired (R-EXPIRE-2), so at the pass
    before the stamp was not below its cutoff.
    """
    take = Decision(table, model)
    head, cutoff = take.head, take.head.now - _TTL
    ladder = z3.And(_DUE(0) == 0, _DUE(head.requeues + 1) == _DUE(head.requeues) + _TTL + _INTERVAL)
    kept = z3.And(head.stamp <= _INSERTED_AT + _DUE(head.requeues), head.requeues <= head.most)
    gap = z3.And(head.now > _BEFORE, head.now - _BEFORE <= _INTERVAL)
    unexpired = z3.Implies(head.stamp <= _BEFORE, head.stamp >= _BEFORE - _TTL)
    sane = z3.And(head.sane, _TTL >= 0, _INTERVAL > 0, ladder)
    premise = z3.And(sane, kept, gap, unexpired, head.time, head.bound == cutoff, z3.Not(head.gone))
    quiet = z3.And(premise, z3.Not(head.accessed))
    after = z3.And(take.stamp_after <= _INSERTED_AT + _DUE(take.requeues_after), take.requeues_after <= head.most)
    taken = z3.And(quiet, head.stamp < cutoff)
    return [
        Obligation(
            "base: inserted", z3.And(_DUE(0) == 0, head.most >= 0), z3.And(_INSERTED_AT + _DUE(0) >= _INSERTED_AT)
        ),
        Obligation(
            "each requeue is in time", z3.And(quiet, take.requeues_it), z3.And(after, z3.Not(take.accessed_after))
        ),
        Obligation("an expired head is taken", taken, z3.Or(take.requeues_it, take.removes_it)),
        Obligation(
            "it leaves in time",
            z3.And(quiet, take.removes_it),
            head.now <= _INSERTED_AT + _DUE(head.requeues) + _TTL + _INTERVAL,
        ),
        Obligation("with the budget used up it leaves", z3.And(taken, head.requeues == head.most), take.removes_it),
    ]


def bytes_over_less_one(state: State) -> int:
    """Return the bytes over the target, less one."""
    return max(0, decision.bytes_over(state) - 1)


ONE_LESS: Final = LemmaFault(
    "The pass of a trigger needs one byte less.",
    Model(PULSAR.package, {"decision.bytes_over": bytes_over_less_one}),
)

BOUND_LEMMAS: Final = (
    Lemma(
        Rule.EVICT_4,
        "after the size pass of a trigger the bytes are at most the target, or 0, and above the target less the size "
        "of the last entry removed; any trigger and target, any pass that keeps R-EVICT-4 and R-EVICT-5 as proved of "
        "its loop",
        _relief_obligations,
        ONE_LESS,
    ),
    Lemma(
        Rule.REQUEUE_6,
        "an entry that nobody accesses leaves within (max_requeues + 1) * (ttl + interval) of its insertion, time "
        "passes at most an interval apart; any number of passes",
        _age_obligations,
        change_cell(Rule.REQUEUE_2, "spare", None),
        DECISION,
    ),
)
"""The lemmas about bounds in bytes and in time."""

LEMMAS: Final = (*TRIGGER_LEMMAS, *BOUND_LEMMAS)
"""All lemmas about thresholds and bounds."""
