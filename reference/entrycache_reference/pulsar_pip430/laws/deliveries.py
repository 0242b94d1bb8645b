"""The laws about what a read hands over: held under a name, and released."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, CountFloor, DuplicateCount, ZeroReads
from entrycache_reference.pulsar_pip430.laws.law import REFUSED, Law, cached, refusable
from entrycache_reference.pulsar_pip430.laws.storage_reads import asked_for
from entrycache_reference.pulsar_pip430.ops import Evict, Expire, Insert, Op, Read, ReadOne, Release
from entrycache_reference.pulsar_pip430.outcomes import Refused, Released
from entrycache_reference.pulsar_pip430.state import Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position


def is_at_the_floor(config: Config, count: int | None) -> bool:
    """Whether this count cannot fall: R-COUNT-8 says what becomes of it."""
    return count is not None and count <= 0 and config.variants.count_floor is CountFloor.ZERO


def started_at(config: Config, pre: State, event: Read | ReadOne, pos: Position, step: Step) -> int | None:
    """The count with which a position was handed over: as its insert left it, where the step names one."""
    for part in step.parts:
        if type(part.event) is Insert and part.event.pos == pos:
            added = cached(part.step.state, event.cache, pos)
            return None if added is None else added.expected_reads
    before = cached(pre, event.cache, pos)
    if before is not None:
        return before.expected_reads
    if isinstance(event, ReadOne) or event.expected_reads < 0:
        return None
    if event.expected_reads == 0 and config.variants.zero_reads is ZeroReads.UNCOUNTED:
        return None
    return event.expected_reads


def delivers(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """The step hands something over, or gives back an entry that is still cached."""
    if type(event) is not Release:
        return not refusable(config, pre, event)
    return any(held.is_cached for held in pre.holds.get(event.hold, ()))


def one_fewer_each(config: Config, pre: State, event: Read | ReadOne | Release, step: Step) -> bool:
    """R-COUNT-5: by the states before and after; a pass in between changes no count."""
    if isinstance(event, Release):
        return all(_one_fewer(config, pre, step, held.slot) for held in pre.holds[event.hold] if held.is_cached)
    for pos in asked_for(event):
        after = cached(step.state, event.cache, pos)
        if after is not None:
            count = started_at(config, pre, event, pos, step)
            if count is not None and event.hold is ABSENT:
                if is_at_the_floor(config, count):
                    continue
                count -= 1
            if after.expected_reads != count:
                return False
    return True


def _one_fewer(config: Config, pre: State, step: Step, slot: Slot) -> bool:
    before, after = cached(pre, slot.cache, slot.pos), cached(step.state, slot.cache, slot.pos)
    if before is None or before.expected_reads is None:
        return after == before
    if is_at_the_floor(config, before.expected_reads):
        return True
    return after == before._replace(expected_reads=before.expected_reads - 1)


def holds_something(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Something is held, before the step or after it, and the step changed something."""
    return bool(pre.holds or step.state.holds) and step.state is not pre


def claims_follow_entries(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-COUNT-6: a claim is on the entry that was read; it ends when that leaves, and then takes nothing.

    It ends as well where a duplicate has brought another count (R-INSERT-8). No entry can leave and come back in
    one step: what `read` caches was not cached when it began.
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


def kept_by_passes(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-COUNT-7; what a name holds stays, in its order, also where a pass removes some of it."""
    kept = step.state.holds
    return kept.keys() == pre.holds.keys() and all(
        [held.slot for held in kept[name]] == [held.slot for held in before] for name, before in pre.holds.items()
    )


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
    Law(Rule.COUNT_7, (Expire, Evict), holds_something, kept_by_passes, True),
)
