"""The laws of `pulsar-pip430`: every MUST as a check of one step, written without the functions it is about.

A law looks at the state before a step, the event, the state after it, the outcome and the rows. Those about
an outcome can be asked about another one, `step._replace(outcome=...)`: what a subject answered.
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws import count, insert, passes, read, remove, requeue, state
from entrycache_reference.pulsar_pip430.laws.law import Law, always, refusable
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["ANSWERS", "ANSWER_LAWS", "LAWS", "Law", "broken", "check"]

ANSWERS: Final[dict[type[ops.Op], type[outcomes.Outcome]]] = {
    ops.Insert: outcomes.Inserted,
    ops.Get: outcomes.Hit,
    ops.GetRange: outcomes.Hits,
    ops.Exists: outcomes.Existing,
    ops.RemoveRange: outcomes.Removed,
    ops.Clear: outcomes.Removed,
    ops.Usage: outcomes.Used,
    ops.Observe: outcomes.Observed,
    ops.Advance: outcomes.Done,
    ops.Expire: outcomes.Removed,
    ops.Evict: outcomes.Removed,
    ops.MarkRead: outcomes.Counted,
    ops.ExpectRead: outcomes.Counted,
}
"""The type of each operation's outcome."""


def answers_its_own(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """R-LIVENESS-2."""
    if type(step.outcome) is outcomes.Refused:
        return refusable(event)
    return type(step.outcome) is ANSWERS[type(event)]


LAWS: Final[tuple[Law, ...]] = (
    *state.LAWS,
    *insert.LAWS,
    *read.LAWS,
    *count.LAWS,
    *passes.LAWS,
    *requeue.LAWS,
    *remove.LAWS,
    Law(Rule.LIVENESS_2, (), always, answers_its_own),
)
"""One law a rule."""

ANSWER_LAWS: Final = frozenset({Rule.EVICT_7, Rule.INVALIDATE_5})
"""Laws that compare an answer with what left the reference's state.

A subject that removed other entries breaks them too, whichever rule made it do so: they name the rule of a
failure only where no other law does.
"""

LAWS_OF: Final[dict[type[ops.Op], tuple[Law, ...]]] = {
    op: tuple(law for law in LAWS if not law.on or op in law.on) for op in ops.OPS
}
"""The laws that an operation can break."""


def broken(config: Config, pre: State, event: ops.Op, step: Step) -> tuple[Rule, ...]:
    """The rules that this step breaks."""
    return tuple(
        [
            law.rule
            for law in LAWS_OF[type(event)]
            if law.guard(config, pre, event, step) and not law.holds(config, pre, event, step)
        ]
    )


def check(config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]) -> tuple[Rule, ...]:
    """The rules that this step breaks; counts in `fired` every law whose guard held."""
    wrong: tuple[Rule, ...] = ()
    for rule, _, guard, holds in LAWS_OF[type(event)]:
        if guard(config, pre, event, step):
            fired[rule] = fired.get(rule, 0) + 1
            if not holds(config, pre, event, step):
                wrong = (*wrong, rule)
    return wrong
