"""Lemmas about one decision: what the table decides about any head, and what a requeue makes of an entry.

A `Head` is any slot at the head of the queue, with free constants of z3 for all its numbers and flags. A `Decision`
builds from it the facts, the line of the table that decides, and the entry after a requeue, by the functions of a
model. Each lemma is a claim about one `Decision`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import z3

from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, reference_model
from entrycache_evidence.induction.symbolic import Term, merge_paths
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import config, passes, state
from entrycache_reference.pulsar_pip430.decision import ANY, DECISION, Action, Facts, Line
from entrycache_reference.rules import Rule

Table = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """Any slot at the head of the queue, with any settings and bound; all are free constants of z3."""

    gone: Any
    size: Any
    stamp: Any
    requeues: Any
    accessed: Any
    counted: Any
    count: Any
    most: Any
    extend: Any
    now: Any
    bound: Any
    time: Any

    @property
    def awaited(self) -> Any:
        """The condition that a read of the entry is still expected."""
        return z3.And(self.counted, self.count > 0)

    @property
    def kept_by_access(self) -> Any:
        """The condition that the entry was accessed, and that the setting makes this count."""
        return z3.And(self.extend, self.accessed)

    @property
    def sane(self) -> Any:
        """The constraints of every entry and every setting by their types."""
        return z3.And(self.size >= 0, self.requeues >= 0, self.most >= 0, self.stamp <= self.now)


def any_head() -> Head:
    """Build free constants."""
    integers = {name: z3.Int(name) for name in ("size", "stamp", "requeues", "count", "most", "now", "bound")}
    flags = {name: z3.Bool(name) for name in ("gone", "accessed", "counted", "extend", "time")}
    return Head(**integers, **flags)


def _terms(*values: Any) -> Any:
    return [Term(value) for value in values]


def _entry(head: Head, count: Any) -> state.Entry:
    size, stamp, requeues, accessed = _terms(head.size, head.stamp, head.requeues, head.accessed)
    return state.Entry(size, stamp, requeues, accessed, count, None)


def _settings(head: Head) -> config.Settings:
    most: Any = Term(head.most)
    extend: Any = Term(head.extend)
    return config.Settings(1, 0.9, 1, most, extend)


def _halts(model: Model, head: Head, entry: state.Entry | None) -> Any:
    bound: Any = Term(head.bound)
    time = merge_paths(lambda: model["passes.has_to_halt"](passes.PassKind.TIME, bound, entry))
    size = merge_paths(lambda: model["passes.has_to_halt"](passes.PassKind.SIZE, bound, entry))
    return z3.If(head.time, time, size)


def _facts(model: Model, head: Head) -> tuple[Any, ...]:
    entry, countless, settings = _entry(head, Term(head.count)), _entry(head, None), _settings(head)
    expected = z3.If(
        head.counted,
        merge_paths(lambda: model["decision.is_expected"](entry)),
        merge_paths(lambda: model["decision.is_expected"](countless)),
    )
    touched = z3.If(
        head.counted,
        merge_paths(lambda: model["decision.is_touched"](entry, settings)),
        merge_paths(lambda: model["decision.is_touched"](countless, settings)),
    )
    live = z3.Not(head.gone)
    return (
        head.gone,
        z3.If(head.gone, _halts(model, head, None), _halts(model, head, entry)),
        z3.And(live, touched),
        z3.And(live, expected),
        z3.And(live, merge_paths(lambda: model["decision.has_spare_requeue"](entry, settings))),
    )


class Decision:
    """One decision about a head, built from the lines of a table and the functions of a model."""

    def __init__(self, table: Table, model: Model, budget: config.RequeueBudget = config.RequeueBudget.SHARED) -> None:
        self.head = any_head()
        self.table = table
        self.model = model
        self.facts = _facts(model, self.head)
        matches = [self._matches(line) for line in table]
        self.fires = [z3.And(match, *(z3.Not(earlier) for earlier in matches[:at])) for at, match in enumerate(matches)]
        self.config = config.Config(variants=config.Variants(requeue_budget=budget))
        self.stamp_after = self._after("stamp_nanos")
        self.requeues_after = self._after("requeues")
        self.accessed_after = self._after("accessed")

    def _matches(self, line: Line) -> Any:
        cells = zip(line.cells, self.facts, strict=True)
        return z3.And([fact if cell else z3.Not(fact) for cell, fact in cells if cell is not ANY])

    def _after(self, field: str) -> Any:
        entry = _entry(self.head, Term(self.head.count))
        now: Any = Term(self.head.now)

        def answer(action: Action) -> Any:
            return merge_paths(
                lambda: getattr(self.model["passes.requeue_entry"](entry, now, action, self.config), field)
            )

        access, reads = answer(Action.REQUEUE_ACCESSED), answer(Action.REQUEUE_EXPECTED)
        return z3.If(self.does(Action.REQUEUE_ACCESSED), access, reads)

    def does(self, *actions: Action) -> Any:
        """Build the condition that a line with one of these actions decides."""
        return z3.Or([fires for line, fires in zip(self.table, self.fires, strict=True) if line.action in actions])

    @property
    def requeues_it(self) -> Any:
        """The condition that the entry is put at the tail again."""
        return self.does(Action.REQUEUE_ACCESSED, Action.REQUEUE_EXPECTED)

    @property
    def for_access(self) -> Any:
        """The condition that the entry is requeued because it was accessed."""
        return self.does(Action.REQUEUE_ACCESSED)

    @property
    def for_reads(self) -> Any:
        """The condition that the entry is requeued because reads are expected."""
        return self.does(Action.REQUEUE_EXPECTED)

    @property
    def removes_it(self) -> Any:
        """The condition that the entry is removed."""
        return self.does(Action.REMOVE)

    @property
    def drops_it(self) -> Any:
        """The condition that the dead slot is dropped."""
        return self.does(Action.MISSING)

    @property
    def ends(self) -> Any:
        """The condition that the pass ends at this head."""
        return self.does(Action.STOP)


# --- Lemmas

PULSAR: Final = reference_model("entrycache_reference.pulsar_pip430")


def change_cell(line: Rule, column: str, value: bool | None) -> LemmaFault:
    """Return the table with one cell of the rule's line changed, as a seeded fault."""
    at = Facts._fields.index(column)
    table = tuple(
        item._replace(cells=(*item.cells[:at], value, *item.cells[at + 1 :])) if item.rule is line else item  # type: ignore[arg-type]
        for item in DECISION
    )
    value_text = "ANY" if value is None else str(value)
    return LemmaFault(f"The table's line {line.value} with {column} {value_text}.", PULSAR, table)


def lemma_fault(rule: Rule) -> LemmaFault:
    """Return the seeded fault of a rule."""
    fault = FAULT_OF[rule]
    return LemmaFault(fault.note, fault.model)


def decision_obligation(claim: Callable[[Decision], tuple[Any, Any]]) -> Callable[[Table, Model], list[Obligation]]:
    """Build the obligation of a claim (given, goal) about one decision."""

    def obligations(table: Table, model: Model) -> list[Obligation]:
        take = Decision(table, model)
        given, goal = claim(take)
        return [Obligation("one take", z3.And(take.head.sane, given), goal)]

    return obligations


def _live_head(take: Decision) -> Any:
    """Build the condition of a live head at which the pass goes on, by the words of the rules and not by `halts`."""
    head = take.head
    goes_on = z3.If(head.time, head.stamp < head.bound, head.bound > 0)
    return z3.And(z3.Not(head.gone), goes_on)


def _unextended_head(take: Decision) -> Any:
    return z3.And(_live_head(take), z3.Not(take.head.kept_by_access))


def _termination(table: Table, model: Model) -> list[Obligation]:
    obligations = []
    for budget in config.RequeueBudget:
        take = Decision(table, model, budget)
        head = take.head

        def measure(accessed: Any, requeues: Any, most: Any = head.most) -> Any:
            return 1 + z3.If(accessed, 1, 0) + z3.If(most > requeues, most - requeues, 0)

        before, after = measure(head.accessed, head.requeues), measure(take.accessed_after, take.requeues_after)
        name = f"the measure falls, variant requeue_budget {budget.value}"
        obligations.append(Obligation(name, z3.And(head.sane, take.requeues_it), z3.And(after >= 1, after < before)))
    take = Decision(table, model)
    obligations.append(Obligation("some line decides", take.head.sane, z3.Or(take.fires)))
    dead = z3.And(take.head.sane, take.head.gone)
    obligations.append(Obligation("a dead slot is never put back", dead, z3.Not(take.requeues_it)))
    return obligations


def _within(table: Table, model: Model) -> list[Obligation]:
    take = Decision(table, model)
    head = take.head
    given = z3.And(head.sane, take.for_reads)
    return [Obligation("one take", given, z3.And(head.requeues < head.most, take.requeues_after <= head.most))]


LEMMAS: Final = tuple(
    lemma._replace(table=DECISION)
    for lemma in (
        Lemma(
            Rule.EVICT_1,
            "any dead head",
            decision_obligation(lambda take: (take.head.gone, take.drops_it)),
            change_cell(Rule.EVICT_2, "gone", None)._replace(
                note="The table's lines R-EVICT-1 and R-EVICT-2 exchanged, the latter with gone ANY.",
                table=(
                    DECISION[1]._replace(cells=(None, True, None, None, None)),
                    DECISION[0],
                    *DECISION[2:],
                ),
            ),
        ),
        Lemma(
            Rule.EVICT_2,
            "any live head at which the pass halts",
            decision_obligation(lambda take: (z3.And(z3.Not(take.head.gone), z3.Not(_live_head(take))), take.ends)),
            change_cell(Rule.EVICT_2, "touched", False),
        ),
        Lemma(
            Rule.EVICT_3,
            "any live head",
            decision_obligation(
                lambda take: (z3.And(_unextended_head(take), z3.Not(take.head.awaited)), take.removes_it)
            ),
            lemma_fault(Rule.EVICT_3),
        ),
        Lemma(
            Rule.REQUEUE_1,
            "any live head",
            decision_obligation(lambda take: (z3.And(_live_head(take), take.head.kept_by_access), take.for_access)),
            lemma_fault(Rule.REQUEUE_1),
        ),
        Lemma(
            Rule.REQUEUE_2,
            "any live head",
            decision_obligation(
                lambda take: (
                    z3.And(_unextended_head(take), take.head.awaited, take.head.requeues < take.head.most),
                    take.for_reads,
                )
            ),
            lemma_fault(Rule.REQUEUE_2),
        ),
        Lemma(
            Rule.REQUEUE_3,
            "any live head",
            decision_obligation(
                lambda take: (
                    z3.And(_unextended_head(take), take.head.awaited, take.head.requeues >= take.head.most),
                    take.removes_it,
                )
            ),
            change_cell(Rule.REQUEUE_2, "spare", None),
        ),
        Lemma(
            Rule.REQUEUE_4,
            "any requeue",
            decision_obligation(
                lambda take: (
                    take.requeues_it,
                    z3.And(take.stamp_after == take.head.now, z3.Not(take.accessed_after)),
                )
            ),
            lemma_fault(Rule.REQUEUE_4),
        ),
        Lemma(
            Rule.REQUEUE_5,
            "any requeue, variant requeue_budget shared",
            decision_obligation(lambda take: (take.requeues_it, take.requeues_after == take.head.requeues + 1)),
            lemma_fault(Rule.REQUEUE_5),
        ),
        Lemma(
            Rule.REQUEUE_6, "any requeue because of expected reads", _within, change_cell(Rule.REQUEUE_2, "spare", None)
        ),
        Lemma(
            Rule.REQUEUE_7,
            "any head",
            decision_obligation(lambda take: (z3.Not(take.head.extend), z3.Not(take.for_access))),
            lemma_fault(Rule.REQUEUE_7),
        ),
        Lemma(
            Rule.REQUEUE_8,
            "any requeue because of expected reads",
            decision_obligation(lambda take: (take.for_reads, take.head.awaited)),
            lemma_fault(Rule.REQUEUE_8),
        ),
        Lemma(
            Rule.EXPIRE_1,
            "any live head of a time pass",
            decision_obligation(
                lambda take: (
                    z3.And(take.head.time, z3.Or(take.removes_it, take.requeues_it)),
                    take.head.stamp < take.head.bound,
                )
            ),
            lemma_fault(Rule.EXPIRE_1),
        ),
        Lemma(
            Rule.LIVENESS_1,
            "any take, both variants of requeue_budget; "
            "measure 1 + [accessed] + max(0, max_requeues - requeues) an entry",
            _termination,
            lemma_fault(Rule.LIVENESS_1),
        ),
    )
)
