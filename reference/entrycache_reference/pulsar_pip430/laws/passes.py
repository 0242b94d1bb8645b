"""The laws about every pass, the time pass and the size pass."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, cached
from entrycache_reference.pulsar_pip430.laws.state import allowed, refuses, to_refuse
from entrycache_reference.pulsar_pip430.laws.walk import left, walk
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.state import Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def some_taken(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass took a live slot."""
    return not _refused(event) and any(take.slot is not None for take in walk(pre, step).takes)


def takes_only_expired(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """R-EXPIRE-1; which cutoff it has to be is a matter of R-EXPIRE-3 and R-EXPIRE-5."""
    walked = walk(pre, step)
    return walked.bound is not None and all(
        take.entry is not None and take.entry.stamp_nanos < walked.bound for take in walked.takes if take.slot
    )


def some_cached(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """There are entries to look at."""
    return not _refused(event) and any(slot is not None for slot in pre.queue)


def head_is_young(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """R-EXPIRE-2."""
    bound = walk(pre, step).bound
    head = next((slot for slot in step.state.queue if slot is not None), None)
    entry = None if head is None else cached(step.state, head.cache, head.pos)
    return bound is not None and (entry is None or entry.stamp_nanos >= bound)


def by_ttl(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """The event leaves the age to the time to live."""
    return event.older_than_nanos is ABSENT


def cutoff_is_ttl_ago(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """R-EXPIRE-3."""
    return walk(pre, step).bound == pre.now_nanos - pre.settings.ttl_nanos


def by_age(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """The event gives an age."""
    return event.older_than_nanos is not ABSENT and event.older_than_nanos >= 0


def cutoff_is_that_long_ago(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """R-EXPIRE-5."""
    age = event.older_than_nanos
    return age is not ABSENT and walk(pre, step).bound == pre.now_nanos - age


def met_a_dead_slot(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """A dead slot stood at the head when the pass began, or came to stand there."""
    if _refused(event) or None not in pre.queue:
        return False
    return any(take.slot is None for take in walk(pre, step).takes) or step.state.queue[:1] == (None,)


def no_dead_slot_at_the_head(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-EVICT-1; that a dead slot is not counted is a matter of R-EVICT-7."""
    return step.state.queue[:1] != (None,)


def untaken(pre: State, step: Step) -> list[Slot]:
    """The live slots that the pass did not take."""
    taken = {take.slot for take in walk(pre, step).takes}
    return [slot for slot in pre.queue if slot is not None and slot not in taken]


def some_untaken(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass halted at a live head."""
    return not _refused(event) and bool(untaken(pre, step))


def untaken_as_they_were(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-EVICT-2; the order of what is left is a matter of R-EVICT-8."""
    return all(
        cached(step.state, slot.cache, slot.pos) == cached(pre, slot.cache, slot.pos) for slot in untaken(pre, step)
    )


def freed(pre: State, step: Step) -> int:
    """The sizes of the entries that the step removed."""
    return sum(left(pre, step).values())


def frees_enough(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """R-EVICT-4."""
    return freed(pre, step) >= event.bytes or not any(cache.entries for cache in step.state.caches.values())


def stops_with_enough(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """R-EVICT-5: with enough freed, no entry is taken any more."""
    so_far = 0
    for take in walk(pre, step).takes:
        if take.entry is not None:
            if so_far >= event.bytes:
                return False
            if take.op == "EVICT":
                so_far += take.entry.size_bytes
    return True


def answers_what_left(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-EVICT-7."""
    gone = left(pre, step)
    return step.outcome == Removed(len(gone), sum(gone.values()))


def had_slots(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """There was a queue to take from."""
    return bool(pre.queue) and not _refused(event)


def from_head_to_tail(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-EVICT-8."""
    return walk(pre, step).queue == step.state.queue


def takes_are_bounded(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-LIVENESS-1."""
    times: dict[Slot, int] = {}
    dead = 0
    for take in walk(pre, step).takes:
        if take.slot is None:
            dead += 1
        else:
            times[take.slot] = times.get(take.slot, 0) + 1
    for slot, count in times.items():
        entry = cached(pre, slot.cache, slot.pos)
        if entry is None:
            return False
        budget = max(0, pre.settings.max_requeues - entry.requeues)
        if count > 1 + (1 if entry.accessed else 0) + budget:
            return False
    return dead <= pre.queue.count(None)


def _refused(event: Expire | Evict) -> bool:
    if isinstance(event, Evict):
        return event.bytes <= 0
    return event.older_than_nanos is not ABSENT and event.older_than_nanos < 0


PASSES: Final = (Expire, Evict)

LAWS: Final = (
    Law(Rule.EXPIRE_1, (Expire,), some_taken, takes_only_expired),
    Law(Rule.EXPIRE_2, (Expire,), some_cached, head_is_young),
    Law(Rule.EXPIRE_3, (Expire,), by_ttl, cutoff_is_ttl_ago),
    Law(Rule.EXPIRE_4, (Expire,), to_refuse, refuses),
    Law(Rule.EXPIRE_5, (Expire,), by_age, cutoff_is_that_long_ago),
    Law(Rule.EVICT_1, PASSES, met_a_dead_slot, no_dead_slot_at_the_head),
    Law(Rule.EVICT_2, PASSES, some_untaken, untaken_as_they_were),
    Law(Rule.EVICT_4, (Evict,), some_cached, frees_enough),
    Law(Rule.EVICT_5, (Evict,), some_taken, stops_with_enough),
    Law(Rule.EVICT_6, (Evict,), to_refuse, refuses),
    Law(Rule.EVICT_7, PASSES, allowed, answers_what_left),
    Law(Rule.EVICT_8, PASSES, had_slots, from_head_to_tail),
    Law(Rule.LIVENESS_1, PASSES, had_slots, takes_are_bounded),
)
