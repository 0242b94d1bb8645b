"""The laws about the trigger: when a size pass is asked for, what it is to free, and when it runs."""

from __future__ import annotations

from math import floor
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.laws.law import Law, always, content
from entrycache_reference.pulsar_legacy.ops import Evict, Insert, Op, RunScheduled
from entrycache_reference.pulsar_legacy.outcomes import Inserted, Removed
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule


def is_over(config: Config, pre: State) -> bool:
    """The bytes are above the trigger."""
    return pre.size_bytes > floor(config.max_size_bytes * 0.98)


def amount(config: Config, pre: State) -> int:
    """What lies above the watermark's share."""
    return pre.size_bytes - floor(config.max_size_bytes * config.watermark)


def passes(step: Step) -> list[int]:
    """The amounts of the size passes that a step ran."""
    return [part.event.bytes for part in step.parts if type(part.event) is Evict]


def asks(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """A size pass was run, or another one is scheduled than before."""
    is_new = step.state.scheduled_bytes is not None and step.state.scheduled_bytes != pre.scheduled_bytes
    return is_new or (bool(passes(step)) and amount(config, pre) > 0)


def asks_for_what_lies_above(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-TRIGGER-1."""
    asked = [step.state.scheduled_bytes] if step.state.scheduled_bytes is not None else passes(step)
    return asked == [amount(config, pre)]


def is_inline(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """A pass would run at once; where there is nothing to free is a matter of L-TRIGGER-6."""
    if config.eviction is not Eviction.INLINE or (is_over(config, pre) and amount(config, pre) <= 0):
        return False
    is_taken = step.outcome == Inserted(True) or not is_over(config, pre)
    return event.size >= 0 and pre.scheduled_bytes is None and is_taken


def passes_first_if_over(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-TRIGGER-2."""
    if step.state.scheduled_bytes is not None or len(passes(step)) != (1 if is_over(config, pre) else 0):
        return False
    return not step.parts or step.parts[0].pre == pre


def is_manual(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """No pass is scheduled, and one would not run at once."""
    return config.eviction is Eviction.MANUAL and event.size >= 0 and pre.scheduled_bytes is None


def schedules_if_over(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-TRIGGER-3; that an insert asks which is not taken is a matter of L-TRIGGER-7."""
    is_asked = step.state.scheduled_bytes is not None
    if passes(step) or not content(pre).keys() <= content(step.state).keys():
        return False
    return is_asked == is_over(config, pre) or (not is_asked and step.outcome == Inserted(False))


def waits(config: Config, pre: State, event: Op, step: Step) -> bool:
    """A pass is scheduled, and this is not what runs it."""
    return pre.scheduled_bytes is not None and type(event) is not RunScheduled


def still_waits(config: Config, pre: State, event: Op, step: Step) -> bool:
    """L-TRIGGER-4."""
    return step.state.scheduled_bytes == pre.scheduled_bytes and (type(event) is Evict or not passes(step))


def runs_what_was_asked_for(config: Config, pre: State, event: RunScheduled, step: Step) -> bool:
    """L-TRIGGER-5."""
    if step.state.scheduled_bytes is not None:
        return False
    if pre.scheduled_bytes is None:
        return step.outcome == Removed(0, 0) and step.state == pre and not step.parts
    return pre.scheduled_bytes <= 0 or passes(step) == [pre.scheduled_bytes]


def has_nothing_to_free(config: Config, pre: State, event: Insert | RunScheduled, step: Step) -> bool:
    """The amount is 0 or less."""
    if type(event) is RunScheduled:
        return pre.scheduled_bytes is not None and pre.scheduled_bytes <= 0
    is_asked = pre.scheduled_bytes is None and config.eviction is Eviction.INLINE and is_over(config, pre)
    return is_asked and amount(config, pre) <= 0


def frees_nothing(config: Config, pre: State, event: Insert | RunScheduled, step: Step) -> bool:
    """L-TRIGGER-6."""
    return not step.parts and content(pre).keys() <= content(step.state).keys()


def is_not_taken(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The insert answered false, above the trigger, with no pass scheduled; at once one runs that frees something."""
    can_free = config.eviction is Eviction.MANUAL or amount(config, pre) > 0
    is_due = is_over(config, pre) and can_free and pre.scheduled_bytes is None
    return is_due and step.outcome == Inserted(False)


def asks_all_the_same(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """L-TRIGGER-7."""
    return bool(passes(step)) or step.state.scheduled_bytes is not None


LAWS: Final = (
    Law(Rule.L_TRIGGER_1, (Insert,), asks, asks_for_what_lies_above),
    Law(Rule.L_TRIGGER_2, (Insert,), is_inline, passes_first_if_over),
    Law(Rule.L_TRIGGER_3, (Insert,), is_manual, schedules_if_over),
    Law(Rule.L_TRIGGER_4, (), waits, still_waits),
    Law(Rule.L_TRIGGER_5, (RunScheduled,), always, runs_what_was_asked_for),
    Law(Rule.L_TRIGGER_6, (Insert, RunScheduled), has_nothing_to_free, frees_nothing),
    Law(Rule.L_TRIGGER_7, (Insert,), is_not_taken, asks_all_the_same),
)
