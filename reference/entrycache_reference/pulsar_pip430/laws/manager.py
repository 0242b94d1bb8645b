"""The laws about the trigger and about removal by a call.

The laws of the trigger look at the trigger points of a step: when a size pass is due, what it has to free, and what an
insert answers then. The laws of removal compare the entries before and after with the range, the ledger or the cache
that the call names. R-INVALIDATE-6 is a MAY: no subject can break it.
"""

from typing import Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.outcomes import Done, Inserted, Removed
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

ADDING: Final = (ops.Insert, ops.Read, ops.Append, ops.CursorRead, ops.ReplayRead, ops.StorageAnswer)


def shows_thresholds(config: Config, pre: State, event: ops.Evict, step: Step) -> bool:
    """Return whether a size pass shows its thresholds."""
    return bool(step.rows) and step.rows[0].trigger_bytes is not None


def thresholds_of_settings(config: Config, pre: State, event: ops.Evict, step: Step) -> bool:
    """Check R-TRIGGER-1."""
    first = step.rows[0]
    return first.trigger_bytes == law.trigger_of(pre) and first.target_bytes == law.target_of(pre)


def adds_at_once(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the configuration says inline, and an entry was inserted."""
    if config.eviction is not Eviction.INLINE:
        return False
    if type(event) is ops.Insert and not step.parts:
        return law.is_inserted(step)
    return any(point.took for point in law.trigger_points(pre, event, step))


def one_pass_if_over(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-TRIGGER-2."""
    return all(law.is_due_and_right(point, "TRIGGER") for point in law.trigger_points(pre, event, step) if point.took)


def refuses_over_the_trigger(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether an insert answered false while the bytes are above the trigger."""
    if type(event) is ops.Insert and not step.parts and law.is_inserted(step):
        return False
    return any(
        not point.took and point.state.size_bytes > law.trigger_of(point.state)
        for point in law.trigger_points(pre, event, step)
    )


def triggers_nothing(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-TRIGGER-3."""
    return all(
        point.took
        or (
            not point.passes
            and law.is_same_state(point.state, point.left)
            and point.left.is_scheduled == point.state.is_scheduled
        )
        for point in law.trigger_points(pre, event, step)
    )


def flag_in_question(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the flag of a scheduled pass is in question.

    It is if a pass is scheduled and this is not `run_scheduled`, or if an insert has left the bytes above the trigger.
    """
    if pre.is_scheduled or step.state.is_scheduled:
        return type(event) is not ops.RunScheduled
    if config.eviction is not Eviction.MANUAL or type(event) not in ADDING:
        return False
    return any(
        point.took and point.state.size_bytes > law.trigger_of(point.state)
        for point in law.trigger_points(pre, event, step)
    )


def flag_set_and_kept(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-TRIGGER-4; R-CONFIG-3 checks that `configure` does not set the flag."""
    if pre.is_scheduled and not step.state.is_scheduled:
        return False
    if type(event) not in ADDING:
        return pre.is_scheduled or type(event) is ops.Configure or not step.state.is_scheduled
    over = [
        point for point in law.trigger_points(pre, event, step) if point.state.size_bytes > law.trigger_of(point.state)
    ]
    if step.state.is_scheduled and not pre.is_scheduled and (not over or config.eviction is not Eviction.MANUAL):
        return False
    return config.eviction is not Eviction.MANUAL or all(
        point.left.is_scheduled and not point.passes and law.is_same_state(point.state, point.left)
        for point in over
        if point.took
    )


def clears_the_flag_and_relieves(config: Config, pre: State, event: ops.RunScheduled, step: Step) -> bool:
    """Check R-TRIGGER-5."""
    if step.state.is_scheduled:
        return False
    points = law.trigger_points(pre, event, step)
    if not step.parts and step.outcome != Removed(0, 0):
        return False
    if not points:
        return not step.parts and law.is_same_state(pre, step.state)
    return law.is_due_and_right(points[0], "TRIGGER")


def time_then_size(config: Config, pre: State, event: ops.Cycle, step: Step) -> bool:
    """Check R-TRIGGER-6; R-EXPIRE-3 checks the cutoff of the time pass."""
    points = law.trigger_points(pre, event, step)
    if not points or step.parts[0].event.name != "expire" or not law.is_same_state(pre, step.parts[0].pre):
        return False
    return step.parts[0].step.rows[0].origin == "CYCLE" and law.is_due_and_right(points[0], "CYCLE")


def answers_the_sum(config: Config, pre: State, event: ops.Cycle | ops.RunScheduled, step: Step) -> bool:
    """Check R-TRIGGER-7; R-EVICT-7 checks the answer of each pass."""
    answers = [part.step.outcome for part in step.parts if type(part.step.outcome) is Removed]
    return step.outcome == Removed(sum([one.entries for one in answers]), sum([one.bytes for one in answers]))


def nothing_to_free(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the bytes were above the trigger but not above the target.

    A case counts only if a pass would have run at once.
    """
    # Below a watermark of 0.98 the target is at or below the trigger, whatever the limit.
    if pre.settings.watermark < 0.98 or (config.eviction is Eviction.MANUAL and type(event) in ADDING):
        return False
    return any(
        law.trigger_of(point.state) < point.state.size_bytes <= law.target_of(point.state)
        for point in law.trigger_points(pre, event, step)
        if point.offer is None or point.took
    )


def no_pass_for_nothing(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-TRIGGER-8."""
    return all(
        not point.passes or law.shown_thresholds(point.passes[0])[1] < point.state.size_bytes
        for point in law.trigger_points(pre, event, step)
        if law.trigger_of(point.state) < point.state.size_bytes <= law.target_of(point.state)
    )


def new_and_more(config: Config, pre: State, event: ops.Insert, step: Step) -> bool:
    """Return whether a new entry was offered, and more happened or the entry is already gone."""
    if not step.parts and (
        type(step.outcome) is not Inserted or law.cached_entry(step.state, event.cache, event.pos) is not None
    ):
        return False
    return config.max_size_bytes > 0 and event.size >= 0 and law.cached_entry(pre, event.cache, event.pos) is None


def answers_for_the_insert(config: Config, pre: State, event: ops.Insert, step: Step) -> bool:
    """Check R-TRIGGER-9."""
    return step.outcome == Inserted(True)


TRIGGER_LAWS: Final = (
    law.Law(Rule.TRIGGER_1, (ops.Evict,), shows_thresholds, thresholds_of_settings),
    law.Law(Rule.TRIGGER_2, ADDING, adds_at_once, one_pass_if_over, True),
    law.Law(Rule.TRIGGER_3, ADDING, refuses_over_the_trigger, triggers_nothing, True),
    law.Law(Rule.TRIGGER_4, (), flag_in_question, flag_set_and_kept, True),
    law.Law(Rule.TRIGGER_5, (ops.RunScheduled,), law.always, clears_the_flag_and_relieves, True),
    law.Law(Rule.TRIGGER_6, (ops.Cycle,), law.always, time_then_size, True),
    law.Law(Rule.TRIGGER_7, (ops.Cycle, ops.RunScheduled), law.always, answers_the_sum, True),
    law.Law(Rule.TRIGGER_8, (*ADDING, ops.Cycle, ops.RunScheduled), nothing_to_free, no_pass_for_nothing, True),
    law.Law(Rule.TRIGGER_9, (ops.Insert,), new_and_more, answers_for_the_insert, True),
)


# Laws about removal by a call.


def in_order(config: Config, pre: State, event: ops.RemoveRange, step: Step) -> bool:
    """Return whether the bounds are not reversed."""
    return event.first <= event.last


def removes_something(config: Config, pre: State, event: ops.RemoveRange | ops.Clear, step: Step) -> bool:
    """Return whether an entry has left."""
    return any(row.op == "REMOVE" for row in step.rows)


def slots_stay(config: Config, pre: State, event: ops.RemoveRange | ops.Clear, step: Step) -> bool:
    """Return whether the queue is as long as before: slots of entries that left are dead, not gone."""
    return len(step.state.queue) == len(pre.queue)


def removes_up_to_the_end(config: Config, pre: State, event: ops.RemoveRange, step: Step) -> bool:
    """Check R-INVALIDATE-1; whether the end itself leaves is R-INVALIDATE-2."""
    remaining = {
        pos: entry
        for pos, entry in law.entries_of(pre, event.cache).items()
        if pos != event.last and not event.first <= pos < event.last
    }
    after = law.entries_of(step.state, event.cache)
    after.pop(event.last, None)
    return after == remaining and law.others_kept(pre, step, event.cache)


def end_is_cached(config: Config, pre: State, event: ops.RemoveRange, step: Step) -> bool:
    """Return whether an entry stands at the end of the range."""
    return event.first <= event.last and law.cached_entry(pre, event.cache, event.last) is not None


def end_leaves_if_included(config: Config, pre: State, event: ops.RemoveRange, step: Step) -> bool:
    """Check R-INVALIDATE-2."""
    entry = None if event.last_inclusive else law.cached_entry(pre, event.cache, event.last)
    return law.cached_entry(step.state, event.cache, event.last) == entry


def reversed_bounds(config: Config, pre: State, event: ops.RemoveRange, step: Step) -> bool:
    """Return whether the bounds are reversed."""
    return event.first > event.last


def removes_nothing(config: Config, pre: State, event: ops.RemoveRange, step: Step) -> bool:
    """Check R-INVALIDATE-3."""
    return step.outcome == Removed(0, 0) and law.nothing_touched(pre, step)


def empties_this_cache(config: Config, pre: State, event: ops.Clear, step: Step) -> bool:
    """Check R-INVALIDATE-4."""
    return not law.entries_of(step.state, event.cache) and law.others_kept(pre, step, event.cache)


def answers_what_left(config: Config, pre: State, event: ops.RemoveRange | ops.Clear, step: Step) -> bool:
    """Check R-INVALIDATE-5."""
    gone = law.removed_entries(pre, step)
    return step.outcome == Removed(len(gone), sum(gone.values()))


def holds_entries(config: Config, pre: State, event: ops.InvalidateBefore | ops.InvalidateLedger, step: Step) -> bool:
    """Return whether the cache holds entries."""
    cache = pre.caches.get(event.cache)
    return cache is not None and bool(cache.entries)


def keeps_from_there_on(config: Config, pre: State, event: ops.InvalidateBefore, step: Step) -> bool:
    """Check R-INVALIDATE-7."""
    remaining = {pos: entry for pos, entry in law.entries_of(pre, event.cache).items() if not pos < event.pos}
    return law.entries_of(step.state, event.cache) == remaining and law.others_kept(pre, step, event.cache)


def keeps_other_ledgers(config: Config, pre: State, event: ops.InvalidateLedger, step: Step) -> bool:
    """Check R-INVALIDATE-8."""
    remaining = {pos: entry for pos, entry in law.entries_of(pre, event.cache).items() if pos.ledger != event.ledger}
    return law.entries_of(step.state, event.cache) == remaining and law.others_kept(pre, step, event.cache)


def only_entries_leave(config: Config, pre: State, event: ops.RemoveCache, step: Step) -> bool:
    """Check R-INVALIDATE-9; R-CURSOR-6 checks the grace period, R-COUNT-6 checks the holds."""
    before, after = pre.caches.get(event.cache), step.state.caches.get(event.cache)
    members = {} if before is None else before.members
    if after is None or after.entries or after.members != members or not law.others_kept(pre, step, event.cache):
        return False
    return step.outcome == Done() and step.state.holds.keys() == pre.holds.keys()


CALLS: Final = (ops.RemoveRange, ops.Clear, ops.InvalidateBefore, ops.InvalidateLedger)

REMOVE_LAWS: Final = (
    law.Law(Rule.INVALIDATE_1, (ops.RemoveRange,), in_order, removes_up_to_the_end),
    law.Law(Rule.INVALIDATE_2, (ops.RemoveRange,), end_is_cached, end_leaves_if_included),
    law.Law(Rule.INVALIDATE_3, (ops.RemoveRange,), reversed_bounds, removes_nothing),
    law.Law(Rule.INVALIDATE_4, (ops.Clear,), law.always, empties_this_cache),
    law.Law(Rule.INVALIDATE_5, CALLS, law.always, answers_what_left),
    law.Law(Rule.INVALIDATE_6, CALLS, removes_something, slots_stay),
    law.Law(Rule.INVALIDATE_7, (ops.InvalidateBefore,), holds_entries, keeps_from_there_on),
    law.Law(Rule.INVALIDATE_8, (ops.InvalidateLedger,), holds_entries, keeps_other_ledgers),
    law.Law(Rule.INVALIDATE_9, (ops.RemoveCache,), law.always, only_entries_leave, True),
)
