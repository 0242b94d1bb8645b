"""The laws about `remove_range` and `clear`. R-INVALIDATE-6 is a MAY: no subject can break it."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import (
    Law,
    always,
    cached,
    entries_of,
    nothing_touched,
    others_kept,
)
from entrycache_reference.pulsar_pip430.laws.walk import left
from entrycache_reference.pulsar_pip430.ops import Clear, RemoveRange
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule


def in_order(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """The bounds are not reversed."""
    return event.first <= event.last


def removes_something(config: Config, pre: State, event: RemoveRange | Clear, step: Step) -> bool:
    """An entry has left."""
    return any(row.op == "REMOVE" for row in step.rows)


def slots_stay(config: Config, pre: State, event: RemoveRange | Clear, step: Step) -> bool:
    """The queue is as long as before: slots of entries that left are dead, not gone."""
    return len(step.state.queue) == len(pre.queue)


def removes_up_to_the_end(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """R-INVALIDATE-1; whether the end itself leaves is R-INVALIDATE-2."""
    kept = {
        pos: entry
        for pos, entry in entries_of(pre, event.cache).items()
        if pos != event.last and not event.first <= pos < event.last
    }
    after = entries_of(step.state, event.cache)
    after.pop(event.last, None)
    return after == kept and others_kept(pre, step, event.cache)


def end_is_cached(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """An entry stands at the end of the range."""
    return event.first <= event.last and cached(pre, event.cache, event.last) is not None


def end_leaves_if_included(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """R-INVALIDATE-2."""
    entry = None if event.last_inclusive else cached(pre, event.cache, event.last)
    return cached(step.state, event.cache, event.last) == entry


def reversed_bounds(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """The bounds are reversed."""
    return event.first > event.last


def removes_nothing(config: Config, pre: State, event: RemoveRange, step: Step) -> bool:
    """R-INVALIDATE-3."""
    return step.outcome == Removed(0, 0) and nothing_touched(pre, step)


def empties_this_cache(config: Config, pre: State, event: Clear, step: Step) -> bool:
    """R-INVALIDATE-4."""
    return not entries_of(step.state, event.cache) and others_kept(pre, step, event.cache)


def answers_what_left(config: Config, pre: State, event: RemoveRange | Clear, step: Step) -> bool:
    """R-INVALIDATE-5."""
    gone = left(pre, step)
    return step.outcome == Removed(len(gone), sum(gone.values()))


LAWS: Final = (
    Law(Rule.INVALIDATE_1, (RemoveRange,), in_order, removes_up_to_the_end),
    Law(Rule.INVALIDATE_2, (RemoveRange,), end_is_cached, end_leaves_if_included),
    Law(Rule.INVALIDATE_3, (RemoveRange,), reversed_bounds, removes_nothing),
    Law(Rule.INVALIDATE_4, (Clear,), always, empties_this_cache),
    Law(Rule.INVALIDATE_5, (RemoveRange, Clear), always, answers_what_left),
    Law(Rule.INVALIDATE_6, (RemoveRange, Clear), removes_something, slots_stay),
)
