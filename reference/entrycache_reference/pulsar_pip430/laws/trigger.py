"""The laws about the trigger: when a size pass is due, what it is to free, and what an insert answers then."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.laws.law import Law, always, cached
from entrycache_reference.pulsar_pip430.laws.thresholds import (
    due_and_right,
    moments,
    same_content,
    shown,
    target_of,
    trigger_of,
    was_taken,
)
from entrycache_reference.pulsar_pip430.ops import Configure, Cycle, Evict, Insert, Op, Read, RunScheduled
from entrycache_reference.pulsar_pip430.outcomes import Inserted, Removed
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

ADDING: Final = (Insert, Read)


def shows_thresholds(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """A size pass shows its thresholds."""
    return bool(step.rows) and step.rows[0].trigger_bytes is not None


def thresholds_of_settings(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """R-TRIGGER-1."""
    first = step.rows[0]
    return first.trigger_bytes == trigger_of(pre) and first.target_bytes == target_of(pre)


def adds_at_once(config: Config, pre: State, event: Insert | Read, step: Step) -> bool:
    """The configuration says inline, and an entry was inserted."""
    if config.eviction is not Eviction.INLINE:
        return False
    if type(event) is Insert and not step.parts:
        return was_taken(step)
    return any(moment.took for moment in moments(pre, event, step))


def one_pass_if_over(config: Config, pre: State, event: Insert | Read, step: Step) -> bool:
    """R-TRIGGER-2."""
    return all(due_and_right(moment, "TRIGGER") for moment in moments(pre, event, step) if moment.took)


def refuses_over_the_trigger(config: Config, pre: State, event: Insert | Read, step: Step) -> bool:
    """An insert answered false while the bytes are above the trigger."""
    if type(event) is Insert and not step.parts and was_taken(step):
        return False
    return any(
        not moment.took and moment.state.size_bytes > trigger_of(moment.state) for moment in moments(pre, event, step)
    )


def triggers_nothing(config: Config, pre: State, event: Insert | Read, step: Step) -> bool:
    """R-TRIGGER-3."""
    return all(
        moment.took
        or (
            not moment.passes
            and same_content(moment.state, moment.left)
            and moment.left.is_scheduled == moment.state.is_scheduled
        )
        for moment in moments(pre, event, step)
    )


def flag_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """A pass is scheduled and this is not `run_scheduled`, or an insert has left the bytes above the trigger."""
    if pre.is_scheduled or step.state.is_scheduled:
        return type(event) is not RunScheduled
    if config.eviction is not Eviction.MANUAL or type(event) not in ADDING:
        return False
    return any(
        moment.took and moment.state.size_bytes > trigger_of(moment.state) for moment in moments(pre, event, step)
    )


def flag_set_and_kept(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-TRIGGER-4; that `configure` does not set it is a matter of R-CONFIG-3."""
    if pre.is_scheduled and not step.state.is_scheduled:
        return False
    if type(event) not in ADDING:
        return pre.is_scheduled or type(event) is Configure or not step.state.is_scheduled
    over = [moment for moment in moments(pre, event, step) if moment.state.size_bytes > trigger_of(moment.state)]
    if step.state.is_scheduled and not pre.is_scheduled and (not over or config.eviction is not Eviction.MANUAL):
        return False
    return config.eviction is not Eviction.MANUAL or all(
        moment.left.is_scheduled and not moment.passes and same_content(moment.state, moment.left)
        for moment in over
        if moment.took
    )


def clears_the_flag_and_relieves(config: Config, pre: State, event: RunScheduled, step: Step) -> bool:
    """R-TRIGGER-5."""
    if step.state.is_scheduled:
        return False
    asked = moments(pre, event, step)
    if not step.parts and step.outcome != Removed(0, 0):
        return False
    if not asked:
        return not step.parts and same_content(pre, step.state)
    return due_and_right(asked[0], "TRIGGER")


def time_then_size(config: Config, pre: State, event: Cycle, step: Step) -> bool:
    """R-TRIGGER-6; that the time pass has the right cutoff is a matter of R-EXPIRE-3."""
    asked = moments(pre, event, step)
    if not asked or step.parts[0].event.name != "expire" or not same_content(pre, step.parts[0].pre):
        return False
    return step.parts[0].step.rows[0].origin == "CYCLE" and due_and_right(asked[0], "CYCLE")


def answers_the_sum(config: Config, pre: State, event: Cycle | RunScheduled, step: Step) -> bool:
    """R-TRIGGER-7; that each pass answers what it removed is a matter of R-EVICT-7."""
    answers = [part.step.outcome for part in step.parts if type(part.step.outcome) is Removed]
    return step.outcome == Removed(sum([one.entries for one in answers]), sum([one.bytes for one in answers]))


def nothing_to_free(config: Config, pre: State, event: Op, step: Step) -> bool:
    """The bytes were above the trigger but not above the target, where a pass would have run at once."""
    # Below a watermark of 0.98 the target is at or below the trigger, whatever the limit.
    if pre.settings.watermark < 0.98 or (config.eviction is Eviction.MANUAL and type(event) in ADDING):
        return False
    return any(
        trigger_of(moment.state) < moment.state.size_bytes <= target_of(moment.state)
        for moment in moments(pre, event, step)
        if moment.offer is None or moment.took
    )


def no_pass_for_nothing(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-TRIGGER-8."""
    return all(
        not moment.passes or shown(moment.passes[0])[1] < moment.state.size_bytes
        for moment in moments(pre, event, step)
        if trigger_of(moment.state) < moment.state.size_bytes <= target_of(moment.state)
    )


def new_and_more(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """A new entry was offered, and either more happened than that or it is not there any more."""
    if not step.parts and (
        type(step.outcome) is not Inserted or cached(step.state, event.cache, event.pos) is not None
    ):
        return False
    return config.max_size_bytes > 0 and event.size >= 0 and cached(pre, event.cache, event.pos) is None


def answers_for_the_insert(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-TRIGGER-9."""
    return step.outcome == Inserted(True)


LAWS: Final = (
    Law(Rule.TRIGGER_1, (Evict,), shows_thresholds, thresholds_of_settings),
    Law(Rule.TRIGGER_2, ADDING, adds_at_once, one_pass_if_over, True),
    Law(Rule.TRIGGER_3, ADDING, refuses_over_the_trigger, triggers_nothing, True),
    Law(Rule.TRIGGER_4, (), flag_in_question, flag_set_and_kept, True),
    Law(Rule.TRIGGER_5, (RunScheduled,), always, clears_the_flag_and_relieves, True),
    Law(Rule.TRIGGER_6, (Cycle,), always, time_then_size, True),
    Law(Rule.TRIGGER_7, (Cycle, RunScheduled), always, answers_the_sum, True),
    Law(Rule.TRIGGER_8, (*ADDING, Cycle, RunScheduled), nothing_to_free, no_pass_for_nothing, True),
    Law(Rule.TRIGGER_9, (Insert,), new_and_more, answers_for_the_insert, True),
)
