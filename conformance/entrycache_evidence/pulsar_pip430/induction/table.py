"""Lemmas about one take: what the table decides about any head, and what a requeue makes of an entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation, Planted, norm
from entrycache_evidence.planted import FAULT_OF
from entrycache_evidence.pulsar_pip430.induction.take import Table, Take
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430.config import RequeueBudget
from entrycache_reference.pulsar_pip430.decision import DECISION, Facts
from entrycache_reference.rules import Rule

PULSAR: Final = norm("entrycache_reference.pulsar_pip430")


def changed(line: Rule, column: str, value: bool | None) -> Planted:
    """The table with one cell of the line of that rule changed."""
    at = Facts._fields.index(column)
    table = tuple(
        item._replace(cells=(*item.cells[:at], value, *item.cells[at + 1 :])) if item.rule is line else item  # type: ignore[arg-type]
        for item in DECISION
    )
    shown = "ANY" if value is None else str(value)
    return Planted(f"The table's line {line.value} with {column} {shown}.", PULSAR, table)


def mutant(rule: Rule) -> Planted:
    """The planted fault of a rule."""
    found = FAULT_OF[rule]
    return Planted(found.note, found.model)


def one_take(claim: Callable[[Take], tuple[Any, Any]]) -> Callable[[Table, Model], list[Obligation]]:
    """The obligation that a claim, (given, goal), about one take makes."""

    def obligations(table: Table, model: Model) -> list[Obligation]:
        take = Take(table, model)
        given, goal = claim(take)
        return [Obligation("one take", z3.And(take.head.sane, given), goal)]

    return obligations


def _live(take: Take) -> Any:
    """A live head at which the pass does not halt, by the words of the rules and not by the reference's `halts`."""
    head = take.head
    goes_on = z3.If(head.time, head.stamp < head.bound, head.bound > 0)
    return z3.And(z3.Not(head.gone), goes_on)


def _unextended(take: Take) -> Any:
    return z3.And(_live(take), z3.Not(take.head.kept_by_access))


def _termination(table: Table, model: Model) -> list[Obligation]:
    found = []
    for budget in RequeueBudget:
        take = Take(table, model, budget)
        head = take.head

        def measure(accessed: Any, requeues: Any, most: Any = head.most) -> Any:
            return 1 + z3.If(accessed, 1, 0) + z3.If(most > requeues, most - requeues, 0)

        before, after = measure(head.accessed, head.requeues), measure(take.accessed_after, take.requeues_after)
        name = f"the measure falls, variant requeue_budget {budget.value}"
        found.append(Obligation(name, z3.And(head.sane, take.requeues_it), z3.And(after >= 1, after < before)))
    take = Take(table, model)
    found.append(Obligation("some line decides", take.head.sane, z3.Or(take.fires)))
    dead = z3.And(take.head.sane, take.head.gone)
    found.append(Obligation("a dead slot is never put back", dead, z3.Not(take.requeues_it)))
    return found


def _within(table: Table, model: Model) -> list[Obligation]:
    take = Take(table, model)
    head = take.head
    given = z3.And(head.sane, take.for_reads)
    return [Obligation("one take", given, z3.And(head.requeues < head.most, take.requeues_after <= head.most))]


LEMMAS: Final = tuple(
    lemma._replace(table=DECISION)
    for lemma in (
        Lemma(
            Rule.EVICT_1,
            "any dead head",
            one_take(lambda take: (take.head.gone, take.drops_it)),
            changed(Rule.EVICT_2, "gone", None)._replace(
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
            one_take(lambda take: (z3.And(z3.Not(take.head.gone), z3.Not(_live(take))), take.ends)),
            changed(Rule.EVICT_2, "touched", False),
        ),
        Lemma(
            Rule.EVICT_3,
            "any live head",
            one_take(lambda take: (z3.And(_unextended(take), z3.Not(take.head.awaited)), take.removes_it)),
            mutant(Rule.EVICT_3),
        ),
        Lemma(
            Rule.REQUEUE_1,
            "any live head",
            one_take(lambda take: (z3.And(_live(take), take.head.kept_by_access), take.for_access)),
            mutant(Rule.REQUEUE_1),
        ),
        Lemma(
            Rule.REQUEUE_2,
            "any live head",
            one_take(
                lambda take: (
                    z3.And(_unextended(take), take.head.awaited, take.head.requeues < take.head.most),
                    take.for_reads,
                )
            ),
            mutant(Rule.REQUEUE_2),
        ),
        Lemma(
            Rule.REQUEUE_3,
            "any live head",
            one_take(
                lambda take: (
                    z3.And(_unextended(take), take.head.awaited, take.head.requeues >= take.head.most),
                    take.removes_it,
                )
            ),
            changed(Rule.REQUEUE_2, "spare", None),
        ),
        Lemma(
            Rule.REQUEUE_4,
            "any requeue",
            one_take(
                lambda take: (
                    take.requeues_it,
                    z3.And(take.stamp_after == take.head.now, z3.Not(take.accessed_after)),
                )
            ),
            mutant(Rule.REQUEUE_4),
        ),
        Lemma(
            Rule.REQUEUE_5,
            "any requeue, variant requeue_budget shared",
            one_take(lambda take: (take.requeues_it, take.requeues_after == take.head.requeues + 1)),
            mutant(Rule.REQUEUE_5),
        ),
        Lemma(Rule.REQUEUE_6, "any requeue because of expected reads", _within, changed(Rule.REQUEUE_2, "spare", None)),
        Lemma(
            Rule.REQUEUE_7,
            "any head",
            one_take(lambda take: (z3.Not(take.head.extend), z3.Not(take.for_access))),
            mutant(Rule.REQUEUE_7),
        ),
        Lemma(
            Rule.REQUEUE_8,
            "any requeue because of expected reads",
            one_take(lambda take: (take.for_reads, take.head.awaited)),
            mutant(Rule.REQUEUE_8),
        ),
        Lemma(
            Rule.EXPIRE_1,
            "any live head of a time pass",
            one_take(
                lambda take: (
                    z3.And(take.head.time, z3.Or(take.removes_it, take.requeues_it)),
                    take.head.stamp < take.head.bound,
                )
            ),
            mutant(Rule.EXPIRE_1),
        ),
        Lemma(
            Rule.LIVENESS_1,
            "any take, both variants of requeue_budget; "
            "measure 1 + [accessed] + max(0, max_requeues - requeues) an entry",
            _termination,
            mutant(Rule.LIVENESS_1),
        ),
    )
)
