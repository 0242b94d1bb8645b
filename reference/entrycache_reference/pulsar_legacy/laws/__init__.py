"""The laws of `pulsar-legacy`: every MUST as a check of one step, written without the functions that it is about.

A law looks at the state before a step, the event, the state after it, the outcome and the rows. Laws about an outcome
can be asked about another one, `step._replace(outcome=...)`: the answer of a subject. `broken` applies the laws of an
operation to a step and to each of its parts.
"""

from typing import Final

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.laws import entries, passes, state
from entrycache_reference.pulsar_legacy.laws.law import Law
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["ANSWER_LAWS", "LAWS", "Law", "broken", "count_fired"]

LAWS: Final[tuple[Law, ...]] = (
    *state.STATE_LAWS,
    *entries.INSERT_LAWS,
    *passes.TRIGGER_LAWS,
    *passes.PASS_LAWS,
    *entries.LOOKUP_LAWS,
    *state.REMOVAL_LAWS,
)
"""One law for each rule."""

ANSWER_LAWS: Final = frozenset({Rule.L_STATE_1, Rule.L_STATE_5})
"""The laws that almost any difference of the content breaks, whichever rule caused it."""

LAWS_OF: Final[dict[type[ops.Op], tuple[Law, ...]]] = {
    op: tuple(law for law in LAWS if not law.on or op in law.on) for op in ops.OPS
}
"""The laws of each operation."""


def broken(
    config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int] | None = None
) -> tuple[Rule, ...]:
    """Return the rules whose laws this step, or a part of it, breaks.

    `fired` counts every law whose guard holds.
    """
    counts = {} if fired is None else fired
    wrong: tuple[Rule, ...] = ()
    for part in step.parts:
        wrong += broken(config, part.pre, part.event, part.step, counts)
    for law in LAWS_OF[type(event)]:
        if law.guard(config, pre, event, step):
            counts[law.rule] = counts.get(law.rule, 0) + 1
            if not law.holds(config, pre, event, step):
                wrong = (*wrong, law.rule)
    return wrong


def count_fired(config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]) -> None:
    """Count in `fired` every law whose guard holds, as `broken` does, and check none."""
    for part in step.parts:
        count_fired(config, part.pre, part.event, part.step, fired)
    for law in LAWS_OF[type(event)]:
        if law.guard(config, pre, event, step):
            fired[law.rule] = fired.get(law.rule, 0) + 1
