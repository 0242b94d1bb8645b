"""The promises to several threads on one cache: histories, and the laws that judge them.

A history records what each of several threads did to one cache, each step between two ticks of one counter. It is
judged by the promises under concurrency, not by one exact order. `judge_history` derives the facts of a record, checks
every law in `LAWS`, and then searches for one order of the steps that explains all answers (`linearization`).
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.threads import linearization, promises
from entrycache_reference.kafka_streams.threads.history import Facts, Record, derive_facts
from entrycache_reference.kafka_streams.threads.linearization import STATES_MAX, TooManyStates, WriteOutcome
from entrycache_reference.rules import BrokenPromise, HistoryStep, Judgement, Rule

# The laws of histories.


class Law(NamedTuple):
    """A rule as a check of one history: whenever `guard` is true, `holds` must find nothing."""

    rule: Rule
    guard: Callable[[Facts], bool]
    holds: Callable[[Facts], BrokenPromise | None]


def _has_usage(facts: Facts) -> bool:
    return any(isinstance(event.op, ops.Usage) for event in facts.record.final_steps)


def _has_metrics(facts: Facts) -> bool:
    return any(isinstance(event.op, ops.Metrics) for event in facts.record.final_steps)


def _has_writes(facts: Facts) -> bool:
    return bool(facts.writes)


LAWS: Final = (
    Law(Rule.K_CONCURRENCY_2, _has_usage, promises.check_sums),
    Law(Rule.K_CONCURRENCY_7, _has_usage, promises.check_limit),
    Law(Rule.K_CONCURRENCY_4, _has_writes, promises.check_nothing_lost),
    Law(Rule.K_CONCURRENCY_6, _has_writes, promises.check_freshness),
    Law(Rule.K_CONCURRENCY_3, _has_metrics, promises.check_counters),
)
"""The laws that need no search, the most important first."""


def judge_history(
    record: Record, write_outcome: WriteOutcome, unasked: frozenset[Rule] = frozenset(), states_max: int = STATES_MAX
) -> Judgement:
    """Check a finished history against every law except `unasked`."""
    facts = derive_facts(record)
    if not facts.complete:
        return Judgement(
            (), frozenset(), "not every operation is known: a listener fails, or is set while the threads run"
        )
    broken: list[tuple[Rule, BrokenPromise]] = []
    fired = {Rule.K_CONCURRENCY_1}
    for law in LAWS:
        if law.rule not in unasked and law.guard(facts):
            fired.add(law.rule)
            broken_promise = law.holds(facts)
            if broken_promise is not None:
                broken.append((law.rule, broken_promise))
    undecided = ""
    if Rule.K_CONCURRENCY_5 not in unasked and linearization.searchable_namespaces(facts):
        try:
            broken_promise = linearization.check_one_order(facts, write_outcome, states_max)
        except TooManyStates:
            undecided = f"the search for an order entered more than {states_max} states"
        else:
            fired.add(Rule.K_CONCURRENCY_5)
            if broken_promise is not None:
                broken.append((Rule.K_CONCURRENCY_5, broken_promise))
    return Judgement(tuple(broken), frozenset(fired), undecided)


__all__ = ["LAWS", "STATES_MAX", "BrokenPromise", "HistoryStep", "Judgement", "Record", "judge_history"]
