"""The laws about what a read hands over: held under a name, and released."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, CountFloor, DuplicateCount
from entrycache_reference.pulsar_pip430.laws.law import REFUSED, Law, cached, refusable
from entrycache_reference.pulsar_pip430.laws.reads import asked_for
from entrycache_reference.pulsar_pip430.ops import Insert, Op, Read, ReadOne, Release
from entrycache_reference.pulsar_pip430.outcomes import Refused, Released
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def after_delivery(config: Config, count: int | None) -> int | None:
    """A count after one delivery; None stays None, and so does, where there is a floor, what is not above it."""
    if count is None or (count <= 0 and config.variants.count_floor is CountFloor.ZERO):
        return count
    return count - 1


def delivers(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """The step hands something over, or gives back an entry that is still cached."""
    if type(event) is not Release:
        return not refusable(config, pre, event)
    return any(held.is_cached for held in pre.holds.get(event.hold, ()))


def one_fewer_each(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """R-COUNT-5: by the states before and after; a pass in between changes no count."""
    if isinstance(event, Release):
        return all(
            cached(step.state, held.slot.cache, held.slot.pos) == _delivered(config, pre, held.slot)
            for held in pre.holds[event.hold]
            if held.is_cached
        )
    for pos in asked_for(event):
        after = cached(step.state, event.cache, pos)
        if after is not None:
            before = cached(pre, event.cache, pos)
            started = before.expected_reads if before is not None else getattr(event, "expected_reads", None)
            wanted = after_delivery(config, started) if event.hold is ABSENT else started
            if after.expected_reads != wanted:
                return False
    return True


def _delivered(config: Config, pre: State, slot: Slot) -> Entry | None:
    entry = cached(pre, slot.cache, slot.pos)
    return None if entry is None else entry._replace(expected_reads=after_delivery(config, entry.expected_reads))


def holds_something(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Something is held, before the step or after it, and the step changed something."""
    return bool(pre.holds or step.state.holds) and step.state is not pre


def claims_follow_entries(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-COUNT-6: a claim is on the entry that was read; it ends when that leaves, and then takes nothing.

    It ends as well where a duplicate has brought another count (R-INSERT-8). No entry can leave and come back in one step: what `read` caches was not cached when it began.
    """
    caches = step.state.caches
    recounted = None
    if type(event) is Insert and config.variants.duplicate_count is DuplicateCount.REPLACED:
        recounted = Slot(event.cache, event.pos)
    for name, kept in step.state.holds.items():
        earlier = pre.holds.get(name)
        for at, held in enumerate(kept):
            cache = caches.get(held.slot.cache)
            there = cache is not None and held.slot.pos in cache.entries and held.slot != recounted
            if held.is_cached != (there and (earlier is None or earlier[at].is_cached)):
                return False
    if type(event) is not Release:
        return True
    return all(
        cached(step.state, held.slot.cache, held.slot.pos) == cached(pre, held.slot.cache, held.slot.pos)
        for held in pre.holds.get(event.hold, ())
        if not held.is_cached
    )


def names_a_hold(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """The event names a hold, and is not refused as a read."""
    if type(event) is Release:
        return True
    return event.hold is not ABSENT and not refusable(config, pre, event)


def opened_and_freed(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """R-COUNT-7; a name is open from the read that used it until its release."""
    after = {name: [held.slot for held in kept] for name, kept in step.state.holds.items()}
    wanted = {name: [held.slot for held in kept] for name, kept in pre.holds.items()}
    if isinstance(event, Release):
        slots = wanted.pop(event.hold, None)
        answer: Refused | Released = REFUSED if slots is None else Released(len(slots))
        return step.outcome == answer and after == wanted
    if event.hold is not ABSENT:
        wanted[event.hold] = [Slot(event.cache, pos) for pos in asked_for(event)]
    return after == wanted


LAWS: Final = (
    Law(Rule.COUNT_5, (Read, ReadOne, Release), delivers, one_fewer_each, True),
    Law(Rule.COUNT_6, (), holds_something, claims_follow_entries, True),
    Law(Rule.COUNT_7, (Read, ReadOne, Release), names_a_hold, opened_and_freed, True),
)
