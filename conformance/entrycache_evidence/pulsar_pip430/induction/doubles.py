"""R-TRIGGER-1 in IEEE doubles: the thresholds of any limit below 2^53 under any watermark from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.on_terms import held_to, on_terms
from entrycache_evidence.induction.symbolic import Term, paths
from entrycache_evidence.pulsar_pip430.induction.passing import any_pass, begin
from entrycache_evidence.pulsar_pip430.induction.table import PULSAR
from entrycache_faults.model import Model, Place
from entrycache_reference.pulsar_pip430 import limits, ops
from entrycache_reference.pulsar_pip430.config import Config, Settings
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


class Whole:
    """An integer of 64 bits that can be multiplied with a double, as Python does it, and compared."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __mul__(self, other: Double | float) -> Double:
        return as_double(self) * other

    def __eq__(self, other: object) -> Any:
        return Term(self.term == other.term) if isinstance(other, Whole) else False


def as_double(number: Whole) -> Double:
    """`float` of an integer below 2^53: the same number."""
    return Double(z3.fpSignedToFP(_NEAREST, number.term, _DOUBLE))


def truncated(number: Double) -> Whole:
    """`int` of a double that is not too large."""
    return Whole(z3.fpToSBV(z3.RTZ(), number.term, z3.BitVecSort(BITS)))


LIMIT: Final = z3.BitVec("limit", BITS)
WATERMARK: Final = z3.FP("watermark", _DOUBLE)
_ANY: Final = z3.And(
    LIMIT >= 0,
    z3.ULT(LIMIT, 2**53),
    z3.fpGEQ(WATERMARK, z3.FPVal(0, _DOUBLE)),
    z3.fpLEQ(WATERMARK, z3.FPVal(1, _DOUBLE)),
)


def _shown(table: Any, model: Model) -> Iterator[Obligation]:
    """The law after a size pass. One case stands first, as z3 takes long to find errors in doubles among all."""
    law = next(law for law in _laws()["laws.trigger.LAWS"] if law.rule is Rule.TRIGGER_1)
    asked = _on_doubles(model)
    for name, watermark, given in (
        ("watermark 0.9, 1000 bytes", Double(z3.FPVal(0.9, _DOUBLE)), LIMIT == 1000),
        ("any watermark, any limit", Double(WATERMARK), _ANY),
    ):
        settings = Settings(Whole(LIMIT), watermark, 0, 0, False)  # type: ignore[arg-type]
        pre, event = State(0, settings, {}, (), 0), ops.Evict(1)

        def passed(pre: State = pre, event: ops.Op = event) -> Step:
            begin()
            done: Step = asked.step(pre, event, Config())
            return done

        def judged(step: Step, pre: State = pre, event: ops.Op = event) -> tuple[bool, bool]:
            is_about = bool(law.guard(Config(), pre, event, step))
            return is_about, not is_about or bool(law.holds(Config(), pre, event, step))

        yield from held_to(name, given, paths(passed, given), judged)


def _laws() -> Model:
    return on_terms(PULSAR, {"laws.thresholds.int": truncated, "laws.thresholds.float": as_double})


def _on_doubles(model: Model) -> Model:
    of_limits: dict[Place, object] = {"limits.int": truncated}
    rows_of = on_terms(model, of_limits)["pass_events.rows_of"]
    return on_terms(model, {**of_limits, "passes.run_pass": any_pass(rows_of)})


def _of_the_trigger(state: State) -> Any:
    return truncated(limits.trigger_bytes(state) * state.settings.watermark)  # type: ignore[arg-type]


OF_THE_TRIGGER: Final = Planted(
    "The target is the watermark's share of the trigger, not of the limit.",
    Model(PULSAR.package, {"limits.target_bytes": _of_the_trigger}),
)

LEMMAS: Final = (
    Lemma(
        Rule.TRIGGER_1,
        "the law itself, in IEEE doubles, after a size pass; any limit below 2^53 bytes, any watermark from 0 to 1",
        _shown,
        OF_THE_TRIGGER,
    ),
)
"""The lemma of this module."""
