"""The laws of `pulsar-segmented`: every MUST as a check of one step, written without the functions that it is about.

A law looks at the state before a step, the event, the state after it and the outcome. Laws about an outcome can be
asked about another one, `step._replace(outcome=...)`: the answer of a subject. `broken` applies the laws of an
operation to a step.
"""

from typing import Any, Final

from entrycache_reference.pulsar_segmented import ops
from entrycache_reference.pulsar_segmented.config import Config
from entrycache_reference.pulsar_segmented.laws import lookup, ring
from entrycache_reference.pulsar_segmented.laws.law import Law, always
from entrycache_reference.pulsar_segmented.outcomes import Refused
from entrycache_reference.pulsar_segmented.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["LAWS", "Law", "broken", "count_fired"]


def has_no_segment_count(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the configuration names no number of segments."""
    return config.segments is None


def has_its_default(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check S-CONFIG-1."""
    whole = config.max_size_bytes >> 30
    return len(pre.segments) == (whole if whole > 2 else 2)


def shares_the_limit(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check S-CONFIG-2."""
    whole = pre.segment_bytes * len(pre.segments)
    return whole <= config.max_size_bytes < whole + len(pre.segments)


def is_untouched(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether no segment has ever held anything."""
    return not any(segment.entries or segment.offset for segment in pre.segments.values())


def begins_at_the_first(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check S-STATE-1."""
    return pre.current == 0


def answers_its_own(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check S-LIVENESS-1."""
    if type(step.outcome) is Refused:
        return type(event) is ops.Insert and event.size < 0
    return type(step.outcome) in event.answers


LAWS: Final[tuple[Law, ...]] = (
    Law(Rule.S_CONFIG_1, (), has_no_segment_count, has_its_default),
    Law(Rule.S_CONFIG_2, (), always, shares_the_limit),
    Law(Rule.S_STATE_1, (), is_untouched, begins_at_the_first),
    *ring.INSERT_LAWS,
    *ring.RING_LAWS,
    *lookup.LOOKUP_LAWS,
    Law(Rule.S_LIVENESS_1, (), always, answers_its_own),
)
"""One law for each rule."""

LAWS_OF: Final[dict[type[ops.Op], tuple[Law, ...]]] = {
    op: tuple(law for law in LAWS if not law.on or op in law.on) for op in ops.OPS
}
"""The laws of each operation."""


def broken(
    config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int] | None = None
) -> tuple[Rule, ...]:
    """Return the rules whose laws this step breaks; count in `fired` every law whose guard holds."""
    counted = {} if fired is None else fired
    wrong: tuple[Rule, ...] = ()
    for rule, _, guard, holds in LAWS_OF[type(event)]:
        if guard(config, pre, event, step):
            counted[rule] = counted.get(rule, 0) + 1
            if not holds(config, pre, event, step):
                wrong = (*wrong, rule)
    return wrong


def count_fired(config: Config, pre: State, event: ops.Op, step: Step, fired: dict[Rule, int]) -> None:
    """Count in `fired` every law whose guard holds, as `broken` does, and check none."""
    for rule, _, guard, _ in LAWS_OF[type(event)]:
        if guard(config, pre, event, step):
            fired[rule] = fired.get(rule, 0) + 1
