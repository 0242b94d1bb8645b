"""The promises to several threads, as laws over a history; those beside `ends` are about one that has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from entrycache_reference.judged import Break, Judged
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.threads import order, rest, values
from entrycache_reference.kafka_streams.threads.order import STATES_MAX, Shown, TooMany
from entrycache_reference.kafka_streams.threads.record import Facts, Record, facts_of
from entrycache_reference.rules import Rule


class Law(NamedTuple):
    """A rule as a check of one history: whenever `guard` is true, `holds` finds nothing."""

    rule: Rule
    guard: Callable[[Facts], bool]
    holds: Callable[[Facts], Break | None]


def _rests(facts: Facts) -> bool:
    return any(isinstance(event.op, ops.Usage) for event in facts.record.at_rest)


def _counts(facts: Facts) -> bool:
    return any(isinstance(event.op, ops.Metrics) for event in facts.record.at_rest)


def _writes(facts: Facts) -> bool:
    return bool(facts.writes)


LAWS: Final = (
    Law(Rule.K_CONCURRENCY_2, _rests, rest.sums),
    Law(Rule.K_CONCURRENCY_7, _rests, rest.within_the_limit),
    Law(Rule.K_CONCURRENCY_4, _writes, values.nothing_lost),
    Law(Rule.K_CONCURRENCY_6, _writes, values.fresh),
    Law(Rule.K_CONCURRENCY_3, _counts, rest.counters),
)
"""The laws that need no search, what weighs most first."""


def judged(
    record: Record, shown: Shown, unasked: frozenset[Rule] = frozenset(), states_max: int = STATES_MAX
) -> Judged:
    """Hold a history that has ended to every law but those `unasked`."""
    facts = facts_of(record)
    if not facts.complete:
        return Judged((), frozenset(), "not all that was done is known: a listener that fails, or one that is set amid")
    broken: list[tuple[Rule, Break]] = []
    fired = {Rule.K_CONCURRENCY_1}
    for law in LAWS:
        if law.rule not in unasked and law.guard(facts):
            fired.add(law.rule)
            found = law.holds(facts)
            if found is not None:
                broken.append((law.rule, found))
    undecided = ""
    if Rule.K_CONCURRENCY_5 not in unasked and order.searchable(facts):
        try:
            found = order.one_order(facts, shown, states_max)
        except TooMany:
            undecided = f"the search for an order went over {states_max} states"
        else:
            fired.add(Rule.K_CONCURRENCY_5)
            if found is not None:
                broken.append((Rule.K_CONCURRENCY_5, found))
    return Judged(tuple(broken), frozenset(fired), undecided)
