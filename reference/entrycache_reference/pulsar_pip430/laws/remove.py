"""The laws about removal by a call. R-INVALIDATE-6 is a MAY: no subject can break it."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, always, cached, entries_of, nothing_touched, others_kept
from entrycache_reference.pulsar_pip430.laws.walk import left
from entrycache_reference.pulsar_pip430.ops import Clear, InvalidateBefore, InvalidateLedger, RemoveCache, RemoveRange
from entrycache_reference.pulsar_pip430.outcomes import Done, Removed
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


def holds_entries(config: Config, pre: State, event: InvalidateBefore | InvalidateLedger, step: Step) -> bool:
    """The cache holds entries."""
    cache = pre.caches.get(event.cache)
    return cache is not None and bool(cache.entries)


def keeps_from_there_on(config: Config, pre: State, event: InvalidateBefore, step: Step) -> bool:
    """R-INVALIDATE-7."""
    kept = {pos: entry for pos, entry in entries_of(pre, event.cache).items() if not pos < event.pos}
    return entries_of(step.state, event.cache) == kept and others_kept(pre, step, event.cache)


def keeps_other_ledgers(config: Config, pre: State, event: InvalidateLedger, step: Step) -> bool:
    """R-INVALIDATE-8."""
    kept = {pos: entry for pos, entry in entries_of(pre, event.cache).items() if pos.ledger != event.ledger}
    return entries_of(step.state, event.cache) == kept and others_kept(pre, step, event.cache)


def only_entries_leave(config: Config, pre: State, event: RemoveCache, step: Step) -> bool:
    """R-INVALIDATE-9; that the grace period goes on is a matter of R-CURSOR-6, that holds stay one of R-COUNT-6."""
    before, after = pre.caches.get(event.cache), step.state.caches.get(event.cache)
    members = {} if before is None else before.members
    if after is None or after.entries or after.members != members or not others_kept(pre, step, event.cache):
        return False
    return step.outcome == Done() and step.state.holds.keys() == pre.holds.keys()


CALLS: Final = (RemoveRange, Clear, InvalidateBefore, InvalidateLedger)

LAWS: Final = (
    Law(Rule.INVALIDATE_1, (RemoveRange,), in_order, removes_up_to_the_end),
    Law(Rule.INVALIDATE_2, (RemoveRange,), end_is_cached, end_leaves_if_included),
    Law(Rule.INVALIDATE_3, (RemoveRange,), reversed_bounds, removes_nothing),
    Law(Rule.INVALIDATE_4, (Clear,), always, empties_this_cache),
    Law(Rule.INVALIDATE_5, CALLS, always, answers_what_left),
    Law(Rule.INVALIDATE_6, CALLS, removes_something, slots_stay),
    Law(Rule.INVALIDATE_7, (InvalidateBefore,), holds_entries, keeps_from_there_on),
    Law(Rule.INVALIDATE_8, (InvalidateLedger,), holds_entries, keeps_other_ledgers),
    Law(Rule.INVALIDATE_9, (RemoveCache,), always, only_entries_leave, True),
)
