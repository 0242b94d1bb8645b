"""Lemmas about single steps of `pulsar-pip430`: its own laws after each operation, on any numbers.

A `Case` is an operation on a state of one shape. `build_lemma` builds the lemma of a rule from its law: the step of the
model runs on terms, and the law has to hold on every path.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction import lemma, symbolic
from entrycache_evidence.induction.turns import Fold, Visit, any_tuple
from entrycache_evidence.pulsar_pip430.induction import decision, shapes
from entrycache_faults.model import Model, Place
from entrycache_reference.pulsar_pip430 import change, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law
from entrycache_reference.pulsar_pip430.state import Cache, Entry, State, Step, initial
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

CONFIGS: Final = {
    id(shapes.CONFIG): "",
    id(shapes.OFF): ", caching off",
    id(shapes.MANUAL): ", eviction manual",
    id(shapes.RELEASED): ", all variants",
    **{id(config): ", a grace period" for config in shapes.GRACES},
}
"""The suffix of each configuration in the name of a case."""

SCHEDULING_OPERATIONS: Final = (
    ops.Insert(shapes.A, shapes.OWN, shapes.any_integer("size")),
    ops.Read(shapes.A, shapes.OWN, shapes.NEXT, shapes.any_integer("reads")),
)
"""The operations that schedule a pass if eviction is manual."""

VARIED_OPERATIONS: Final = (ops.Insert, ops.MarkRead, ops.Read, ops.Release)
"""The operations that a variant changes, besides passes."""


@dataclass(frozen=True, eq=False)
class Case:
    """One operation on a state of one shape; with `passes`, any pass replaces those that it runs."""

    shape: shapes.Shape
    op: ops.Op
    config: Config = shapes.CONFIG
    passes: bool = True

    @property
    def name(self) -> str:
        """The name of the case."""
        return f"{self.op.name}, {self.shape.name}{CONFIGS[id(self.config)]}"

    def given(self, state: State) -> Any:
        """Build the assumptions about the state: it is sound, and the first of two fills triggers nothing.

        Under the variants nothing is triggered, because no variant changes the trigger.
        """
        inserted, filled, held = (
            symbolic.raw(shapes.any_integer("size")),
            symbolic.raw(shapes.any_integer("fill")),
            symbolic.raw(state.size_bytes),
        )
        said = [shapes.build_constraints(state), filled >= 1]
        if self.config is shapes.RELEASED:
            said += [held + inserted <= shapes.TRIGGER, held + 2 * filled <= shapes.TRIGGER]
        if self.config is not shapes.MANUAL and type(self.op) is ops.Read and self.op.last != self.op.first:
            said.append(held + filled <= shapes.TRIGGER)
        if state.queue and type(self.op) is ops.Expire:
            said.append(symbolic.raw(self.op.older_than_nanos) < 0)
        if state.queue and type(self.op) is ops.Evict:
            said.append(symbolic.raw(self.op.bytes) <= 0)
        return z3.And(said)


CASES: Final = (
    *(Case(shape, op) for op in shapes.STEPS for shape in shapes.SHAPES),
    *(Case(shapes.SHAPES[0], op, shapes.OFF) for op in shapes.STEPS if type(op) is ops.Insert),
    *(Case(shape, op, shapes.MANUAL) for op in shapes.STEPS if type(op) is ops.Configure for shape in shapes.SHAPES),
    *(
        Case(shape, op, shapes.RELEASED)
        for op in shapes.STEPS
        if type(op) in VARIED_OPERATIONS
        for shape in shapes.SHAPES
    ),
    *(
        Case(shape, op, passes=False)
        for op in shapes.PASSES
        for shape in (shapes.SHAPES if op is not shapes.PASSES[0] else shapes.SHAPES[:1])
    ),
    *(Case(shape, op) for op in shapes.PASS_OPERATIONS for shape in shapes.SHAPES),
    *(
        Case(shape, op, shapes.MANUAL)
        for op in shapes.PASS_OPERATIONS
        for shape in (shapes.SHAPES[0], shapes.SHAPES[-1])
    ),
    *(
        Case(shape, ops.Read(shapes.A, shapes.NEXT, shapes.NEXT, shapes.any_integer("reads")))
        for shape in shapes.SHAPES
    ),
    *(Case(shape, op, shapes.MANUAL) for op in SCHEDULING_OPERATIONS for shape in shapes.SHAPES),
    *(Case(shapes.CURSOR_LEFT, shapes.GRACE, config) for config in shapes.GRACES),
)
"""Every operation on every shape; passes only meet an empty queue or are refused."""


@cache
def state_of_case(case: Case) -> tuple[State, Any]:
    """Return the state of a case, and its assumptions."""
    state = case.shape.state()
    return state, case.given(state)


@cache
def paths_of_case(model: Model, case: Case) -> tuple[tuple[Any, Step], ...]:
    """Return the steps that the model makes of a case, each with its condition."""
    state, given = state_of_case(case)
    on_terms = shapes.prepare_model_with_any_pass(model) if case.passes else term_model(model)

    def played_once() -> Step:
        shapes.begin_path()
        done: Step = on_terms.step(state, case.op, case.config)
        return done

    return tuple(symbolic.paths(played_once, given))


@cache
def term_model(model: Model) -> Model:
    """Prepare the model for terms."""
    return shapes.prepare_model(model)


def _judge_step(law: Law, case: Case, pre: State, step: Step) -> tuple[bool, bool]:
    """Return whether the law applies to this step, and whether it holds; for a step with parts, to each of them."""
    links = [(part.pre, part.event, part.step) for part in step.parts] if step.parts and not law.whole else []
    about = [
        (before, event, done)
        for before, event, done in links or [(pre, case.op, step)]
        if not (links and type(event) in shapes.PROVED_OF_LOOP)
        and (not law.on or type(event) in law.on)
        and law.guard(case.config, before, event, done)
    ]
    return bool(about), all(bool(law.holds(case.config, before, event, done)) for before, event, done in about)


def _may_concern(law: Law, case: Case) -> bool:
    """Return whether the law may apply to the operation or to one of its parts."""
    parts = PARTS.get(type(case.op), ()) if not law.whole else ()
    return not law.on or any(op in law.on for op in (type(case.op), *parts))


def obligations_of(law: Law, model: Model) -> Iterator[lemma.Obligation]:
    """Yield the obligations of the law after each of its operations on each shape, if it applies."""
    for case in sorted(CASES, key=lambda case: type(case.op) not in model.replaced):
        if not _may_concern(law, case):
            continue
        pre, given = state_of_case(case)
        judge = partial(_judge_step, law, case, pre)
        yield from lemma.law_obligations(case.name, given, paths_of_case(model, case), judge)


PARTS: Final[dict[type[ops.Op], tuple[type[ops.Op], ...]]] = {
    ops.Read: (ops.Get, ops.Insert, ops.MarkRead),
    ops.ReadOne: (ops.Get, ops.MarkRead),
    ops.Release: (ops.MarkRead,),
}
"""The parts of an operation, besides passes."""

ANY: Final = (
    "an entry, the rest of its cache as one, other caches as one; any numbers; in place of the passes that it triggers "
    "any that do what is shown of the loop of run_pass"
)


def _unlink_slots(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """Remove the slots of removed entries from the queue."""
    after = change.drop_entries(state, name, positions)
    return after._replace(queue=tuple(slot for slot in after.queue if slot is not None))


OWN_FAULTS: Final = {
    Rule.INVALIDATE_6: lemma.LemmaFault(
        "A call takes the slots of what it removes out of the queue.",
        Model(decision.PULSAR.package, {"change.drop_entries": _unlink_slots}),
    ),
}
"""The faults of rules that no subject can break."""


def build_lemma(rule: Rule) -> lemma.Lemma:
    """Build the lemma of a rule from its law."""
    law = shapes.laws()[rule]
    return lemma.Lemma(
        rule,
        f"the law itself, after {_operation_names(law)}; {ANY}",
        lambda table, model: obligations_of(law, model),
        OWN_FAULTS.get(rule) or lemma.LemmaFault(FAULT_OF[rule].note, FAULT_OF[rule].model),
    )


def _operation_names(law: Law) -> str:
    """Return the names of the operations after which the law is checked."""
    without = {type(op) for op in (*shapes.STEPS, *shapes.PASS_OPERATIONS, shapes.GRACE)}
    if not law.on:
        return "every operation up to level reads"
    named = [op.name for op in law.on if op in without]
    if {type(op) for op in shapes.PASSES} & set(law.on):
        named.append("a pass that is refused or finds nothing queued")
    return ", ".join(named)


RULES: Final = (
    *(Rule.STATE_1, Rule.STATE_2, Rule.STATE_3),
    *(Rule.STATE_4, Rule.STATE_5, Rule.STATE_6, Rule.STATE_7, Rule.STATE_8, Rule.STATE_9),
    *(Rule.INSERT_1, Rule.INSERT_2, Rule.INSERT_3, Rule.INSERT_4, Rule.INSERT_5, Rule.INSERT_6, Rule.INSERT_7),
    Rule.INSERT_8,
    *(Rule.READ_1, Rule.READ_2, Rule.READ_3, Rule.READ_4, Rule.READ_5, Rule.READ_6, Rule.READ_7, Rule.READ_8),
    *(Rule.READ_9, Rule.READ_10, Rule.READ_11, Rule.READ_12, Rule.READ_13),
    *(Rule.COUNT_1, Rule.COUNT_2, Rule.COUNT_3, Rule.COUNT_4, Rule.COUNT_5, Rule.COUNT_6, Rule.COUNT_7),
    Rule.COUNT_8,
    *(Rule.EXPIRE_3, Rule.EXPIRE_4, Rule.EXPIRE_5, Rule.EVICT_6),
    *(Rule.INVALIDATE_1, Rule.INVALIDATE_2, Rule.INVALIDATE_3, Rule.INVALIDATE_4, Rule.INVALIDATE_5),
    Rule.INVALIDATE_6,
    *(Rule.INVALIDATE_7, Rule.INVALIDATE_8, Rule.INVALIDATE_9),
    *(Rule.TRIGGER_2, Rule.TRIGGER_3, Rule.TRIGGER_4, Rule.TRIGGER_5, Rule.TRIGGER_6, Rule.TRIGGER_7),
    *(Rule.TRIGGER_8, Rule.TRIGGER_9, Rule.CONFIG_1, Rule.CONFIG_2, Rule.CONFIG_3, Rule.CONFIG_4),
    *(Rule.METRICS_1, Rule.METRICS_2, Rule.METRICS_3, Rule.METRICS_4, Rule.METRICS_5, Rule.METRICS_6, Rule.METRICS_7),
    Rule.LIVENESS_2,
)
"""The rules about one step; `pass_lemmas` proves those about the loop of a pass."""

# --- The loop of a range

PLACES: Final = tuple(Position(1, entry) for entry in (3, 4, 6, 9))
CACHED: Final = Cache(dict.fromkeys(PLACES, Entry(1, 0, 0, False, 0, None)), 4)


def _get_range(model: Model) -> Any:
    """Run the loop over the cached positions of a range."""
    positions = any_tuple(PLACES, "state event config positions entries after pos")
    places: dict[Place, object] = {"entries.positions_between": lambda *about: positions}
    range_model = lemma.build_term_model(model, {**model.replaced, **places})
    state = initial(shapes.CONFIG)._replace(caches={shapes.A: CACHED})
    return range_model["entries.get_range"](state, ops.GetRange(shapes.A, PLACES[0], PLACES[-1]), shapes.CONFIG)


def _answer_no_range(state: State, *about: Any) -> Step:
    return Step(state, outcomes.Hits(()), ())


RANGE: Final = Fold(
    Rule.READ_4,
    "a lookup of a range marks its cached positions as accessed",
    "entries.get_range",
    {"entries.with_entry": Visit(lambda state, name, pos, entry: (pos, entry.accessed), lambda state, *about: state)},
    _get_range,
    tuple((pos, True) for pos in PLACES),
    lemma.LemmaFault("A range marks nothing.", Model(decision.PULSAR.package, {"entries.get_range": _answer_no_range})),
)

LEMMAS: Final = (*(build_lemma(rule) for rule in RULES), RANGE.lemma())
