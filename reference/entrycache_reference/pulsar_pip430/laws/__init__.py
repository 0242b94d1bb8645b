"""The laws of `pulsar-pip430`: every MUST as a check of one step, written without the functions it is about.

A law looks at the state before a step, the event, the state after it, the outcome and the rows. `LAWS` lists all laws;
their order is the order of the rules in a verdict. `broken` checks the laws of the step's operation and counts those
whose guard held. A step that names parts is checked part by part, and then as a whole. A law about an outcome can also
judge the answer of a subject: `step._replace(outcome=...)`.
"""

from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws import (
    cursor_reads,
    cursors,
    entries,
    ledgers,
    manager,
    passes,
    reads_in_flight,
    state,
    storage_reads,
)
from entrycache_reference.pulsar_pip430.laws.law import Check, Law, always, is_misplaced, refusable
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["ANSWER_LAWS", "LAWS", "Law", "broken", "count_fired"]


def answers_its_own(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-LIVENESS-2."""
    if type(step.outcome) is outcomes.Refused:
        return refusable(config, pre, event)
    return type(step.outcome) in event.answers


LAWS: Final[tuple[Law, ...]] = (
    *state.STATE_LAWS,
    *entries.INSERT_LAWS,
    *entries.LOOKUP_LAWS,
    *entries.COUNT_LAWS,
    *passes.PASSES_LAWS,
    *passes.REQUEUE_LAWS,
    *manager.REMOVE_LAWS,
    *manager.TRIGGER_LAWS,
    *state.CONFIG_LAWS,
    *storage_reads.STORAGE_READS_LAWS,
    *storage_reads.DELIVERIES_LAWS,
    *state.METRICS_LAWS,
    *cursors.CURSORS_LAWS,
    *cursors.CURSOR_RANKS_LAWS,
    *cursor_reads.CURSOR_READS_LAWS,
    *ledgers.LEDGER_LAWS,
    *cursor_reads.PENDING_LAWS,
    *reads_in_flight.READS_IN_FLIGHT_LAWS,
    *storage_reads.PERMIT_LAWS,
    *ledgers.RANGE_LAWS,
    *state.PLACE_LAWS,
    Law(Rule.LIVENESS_2, (), always, answers_its_own, True),
)
"""One law for each rule."""

ANSWER_LAWS: Final = frozenset({Rule.EVICT_7, Rule.INVALIDATE_5, Rule.TRIGGER_7})
"""The laws that compare an answer with what left the reference's state.

A subject that removed other entries breaks them too, whichever rule made it do so. They name the rule of a failure only
if no other law does.
"""


def _of(op: type[ops.Op], whole: bool) -> tuple[Law, ...]:
    return tuple(law for law in LAWS if law.whole is whole and (not law.on or op in law.on))


LAWS_OF: Final[dict[type[ops.Op], tuple[Law, ...]]] = {op: _of(op, False) for op in ops.OPS}
"""The laws of each operation as a part of a step, or as the whole of a step that names no parts."""

WHOLE_LAWS_OF: Final[dict[type[ops.Op], tuple[Law, ...]]] = {op: _of(op, True) for op in ops.OPS}
"""The laws of each operation about the step as a whole: its parts and their order."""


def broken(
    config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int] | None = None
) -> tuple[Rule, ...]:
    """Return the rules whose laws this step breaks; count in `fired` every law whose guard held."""
    return _of_rules(config, pre, event, step, {} if fired is None else fired)


def _of_rules(config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]) -> tuple[Rule, ...]:
    if is_misplaced(pre, event):
        return _check(state.PLACE_LAWS, config, pre, event, step, fired)
    wrong: tuple[Rule, ...] = ()
    if step.parts:
        for part in step.parts:
            wrong += _check(LAWS_OF[type(part.event)], config, part.pre, part.event, part.step, fired)
    else:
        wrong = _check(LAWS_OF[type(event)], config, pre, event, step, fired)
    return wrong + _check(WHOLE_LAWS_OF[type(event)], config, pre, event, step, fired)


class GuardedRules(NamedTuple):
    """The rules of an operation by the guard of their laws, so that counting asks each guard once.

    `always` are the rules whose guard is always true. `idle` leaves out the guards that are false of a step without
    parts that keeps its state.
    """

    always: tuple[Rule, ...]
    idle: tuple[tuple[Check, tuple[Rule, ...]], ...]
    every: tuple[tuple[Check, tuple[Rule, ...]], ...]


FALSE_IF_IDLE: Final = frozenset(
    {
        state.content_changed,
        state.evictions_in_question,
        state.cycles_in_question,
        storage_reads.holds_something,
        cursors.grace_in_question,
    }
)
"""The guards that are false of a step without parts that keeps its state."""


def _by_guard(laws: tuple[Law, ...]) -> GuardedRules:
    """Group the rules of these laws. R-LEDGER-20 is left out: where its guard is true, no other law is checked."""
    rules: dict[Check, tuple[Rule, ...]] = {}
    for law in laws:
        if law not in state.PLACE_LAWS:
            rules[law.guard] = (*rules.get(law.guard, ()), law.rule)
    by_chance = tuple((guard, own) for guard, own in rules.items() if guard is not always)
    idle = tuple((guard, own) for guard, own in by_chance if guard not in FALSE_IF_IDLE)
    return GuardedRules(rules.get(always, ()), idle, by_chance)


GUARDS_OF_PARTS: Final[dict[type[ops.Op], GuardedRules]] = {op: _by_guard(LAWS_OF[op]) for op in ops.OPS}
"""The guards of each operation as a part of a step."""

GUARDS_OF_WHOLES: Final[dict[type[ops.Op], GuardedRules]] = {op: _by_guard(WHOLE_LAWS_OF[op]) for op in ops.OPS}
"""The guards of each operation about a step that names parts."""

GUARDS_OF: Final[dict[type[ops.Op], GuardedRules]] = {op: _by_guard(LAWS_OF[op] + WHOLE_LAWS_OF[op]) for op in ops.OPS}
"""The guards of each operation about a step without parts."""


def count_fired(config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]) -> None:
    """Count in `fired` every law whose guard holds, as `broken` does, and check none."""
    if is_misplaced(pre, event):
        for law in state.PLACE_LAWS:
            fired[law.rule] = fired.get(law.rule, 0) + 1
        return
    if not step.parts:
        _count(GUARDS_OF[type(event)], config, pre, event, step, fired)
        return
    for part in step.parts:
        _count(GUARDS_OF_PARTS[type(part.event)], config, part.pre, part.event, part.step, fired)
    _count(GUARDS_OF_WHOLES[type(event)], config, pre, event, step, fired)


def _count(
    guarded: GuardedRules, config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]
) -> None:
    for rule in guarded.always:
        fired[rule] = fired.get(rule, 0) + 1
    for guard, rules in guarded.idle if step.state is pre and not step.parts else guarded.every:
        if guard(config, pre, event, step):
            for rule in rules:
                fired[rule] = fired.get(rule, 0) + 1


def _check(
    laws: tuple[Law, ...], config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]
) -> tuple[Rule, ...]:
    wrong: tuple[Rule, ...] = ()
    for rule, _, guard, holds, _ in laws:
        if guard(config, pre, event, step):
            fired[rule] = fired.get(rule, 0) + 1
            if not holds(config, pre, event, step):
                wrong = (*wrong, rule)
    return wrong
