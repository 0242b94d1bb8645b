"""Laws of `pulsar-pip430` as they stand in the reference, asked of steps whose numbers are z3 terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted
from entrycache_evidence.induction.on_terms import held_to
from entrycache_evidence.induction.symbolic import paths, raw
from entrycache_evidence.planted import FAULT_OF
from entrycache_evidence.pulsar_pip430.induction.shapes import (
    CONFIG,
    MANUAL,
    OFF,
    PASSES,
    RELEASED,
    SHAPES,
    STEPS,
    TRIGGER,
    Shape,
    asking,
    number,
    sound,
)
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws import LAWS
from entrycache_reference.pulsar_pip430.laws.law import Law
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

CONFIGS: Final = {
    id(CONFIG): "",
    id(OFF): ", caching off",
    id(MANUAL): ", eviction manual",
    id(RELEASED): ", all variants",
}
"""How a configuration is called in the name of a case."""

VARYING: Final = (ops.Insert, ops.MarkRead, ops.Read, ops.Release)
"""The operations that a variant is about, besides passes."""


@dataclass(frozen=True, eq=False)
class Case:
    """One operation on a state of one shape."""

    shape: Shape
    op: ops.Op
    config: Config = CONFIG

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.op.name}, {self.shape.name}{CONFIGS[id(self.config)]}"

    def given(self, state: State) -> Any:
        """The state is sound, and what is inserted triggers no pass."""
        inserted, filled, held = raw(number("size")), raw(number("fill")), raw(state.size_bytes)
        said = [sound(state), filled >= 1]
        if self.config is not MANUAL:
            said += [held + inserted <= TRIGGER, held + 2 * filled <= TRIGGER]
        if state.queue and type(self.op) is ops.Expire:
            said.append(raw(self.op.older_than_nanos) < 0)
        if state.queue and type(self.op) is ops.Evict:
            said.append(raw(self.op.bytes) <= 0)
        return z3.And(said)


CASES: Final = (
    *(Case(shape, op) for op in STEPS for shape in SHAPES),
    *(Case(SHAPES[0], op, OFF) for op in STEPS if type(op) is ops.Insert),
    *(Case(shape, op, MANUAL) for op in STEPS if type(op) is ops.Configure for shape in SHAPES),
    *(Case(shape, op, RELEASED) for op in STEPS if type(op) in VARYING for shape in SHAPES),
    *(Case(shape, op) for op in PASSES for shape in (SHAPES if op is not PASSES[0] else SHAPES[:1])),
)
"""Each on each; passes only where nothing is queued or they are refused, inserts where caching is switched off too."""


@cache
def played(model: Model, case: Case) -> tuple[State, tuple[tuple[Any, Step], ...]]:
    """The state before, and the steps that the model makes of it, each with its condition."""
    state, on_terms = case.shape.state(), asked(model)
    return state, tuple(paths(lambda: on_terms.step(state, case.op, case.config), case.given(state)))


@cache
def asked(model: Model) -> Model:
    """The model, so that it can be run on terms."""
    return asking(model)


def _judged(law: Law, case: Case, pre: State, step: Step) -> tuple[bool, bool]:
    """Whether the law is about this step, and whether it holds; of a step with parts, of each of them."""
    links = [(part.pre, part.event, part.step) for part in step.parts] if step.parts and not law.whole else []
    about = [
        (before, event, done)
        for before, event, done in links or [(pre, case.op, step)]
        if (not law.on or type(event) in law.on) and law.guard(case.config, before, event, done)
    ]
    return bool(about), all(bool(law.holds(case.config, before, event, done)) for before, event, done in about)


def obligations_of(law: Law, model: Model) -> Iterator[Obligation]:
    """The law, after each of its operations on each shape, wherever it is about that."""
    for case in CASES:
        if law.on and type(case.op) not in law.on:
            continue
        pre, steps = played(model, case)
        yield from held_to(case.name, case.given(pre), steps, lambda step: _judged(law, case, pre, step))  # noqa: B023


ANY: Final = "an entry, the rest of its cache as one, other caches as one; any numbers"


def about(rule: Rule) -> Lemma:
    """The lemma of a rule whose law is asked."""
    law = next(law for law in LAWS if law.rule is rule)
    fault = FAULT_OF[rule]
    return Lemma(
        rule,
        f"the law itself, after {_named(law)}; {ANY}",
        lambda table, model: obligations_of(law, model),
        Planted(fault.note, fault.model),
    )


def _named(law: Law) -> str:
    """After which operations the law is asked."""
    without = {type(op) for op in STEPS}
    if not law.on:
        return "every operation up to level reads that runs no pass"
    named = [op.name for op in law.on if op in without]
    if {type(op) for op in PASSES} & set(law.on):
        named.append("a pass that is refused or finds nothing queued")
    return ", ".join(named)


RULES: Final = (
    *(Rule.STATE_1, Rule.STATE_2, Rule.STATE_3),
    *(Rule.STATE_4, Rule.STATE_5, Rule.STATE_6, Rule.STATE_7, Rule.STATE_8, Rule.STATE_9),
    *(Rule.INSERT_1, Rule.INSERT_2, Rule.INSERT_3, Rule.INSERT_4, Rule.INSERT_5, Rule.INSERT_6, Rule.INSERT_7),
    *(Rule.READ_1, Rule.READ_2, Rule.READ_3, Rule.READ_4, Rule.READ_5, Rule.READ_6, Rule.READ_7, Rule.READ_8),
    *(Rule.READ_9, Rule.READ_10, Rule.READ_11, Rule.READ_12, Rule.READ_13),
    *(Rule.COUNT_1, Rule.COUNT_2, Rule.COUNT_3, Rule.COUNT_4, Rule.COUNT_5, Rule.COUNT_6, Rule.COUNT_7),
    Rule.COUNT_8,
    *(Rule.EXPIRE_3, Rule.EXPIRE_4, Rule.EXPIRE_5, Rule.EVICT_6),
    *(Rule.INVALIDATE_1, Rule.INVALIDATE_2, Rule.INVALIDATE_3, Rule.INVALIDATE_4, Rule.INVALIDATE_5),
    *(Rule.INVALIDATE_7, Rule.INVALIDATE_8, Rule.INVALIDATE_9),
    *(Rule.CONFIG_1, Rule.CONFIG_2, Rule.CONFIG_3),
    *(Rule.METRICS_1, Rule.METRICS_2, Rule.METRICS_3, Rule.METRICS_4, Rule.METRICS_6, Rule.METRICS_7),
    Rule.LIVENESS_2,
)
"""Rules about one step that runs no pass."""

LEMMAS: Final = tuple(about(rule) for rule in RULES)
