"""The laws about the time pass and the size pass: which slots they take, and what happens to each live head.

The first half is about the pass as a whole: its cutoff, its end, its answer and its order. The second half is about the
decision for each entry. A requeue that is wrong has exactly one law, chosen by the cause that the pass gave. Access
without the setting breaks R-REQUEUE-7, reads that nobody expects break R-REQUEUE-8, and a budget overdrawn for expected
reads breaks R-REQUEUE-6. What is left belongs to R-REQUEUE-3 or R-EVICT-3. Together the laws are complete.
"""

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, SizePassRounds
from entrycache_reference.pulsar_pip430.laws.law import Law, Take, cached_entry, removed_entries, walk
from entrycache_reference.pulsar_pip430.laws.state import is_allowed, is_to_refuse, refuses
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.state import Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def some_taken(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass took a live slot."""
    return not _refused(event) and any(take.slot is not None for take in walk(pre, step).takes)


def takes_only_expired(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check R-EXPIRE-1; R-EXPIRE-3 and R-EXPIRE-5 check the cutoff."""
    walked = walk(pre, step)
    return walked.bound is not None and all(
        take.entry is not None and take.entry.stamp_nanos < walked.bound for take in walked.takes if take.slot
    )


def some_cached(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether there are entries to look at."""
    return not _refused(event) and any(slot is not None for slot in pre.queue)


def head_is_young(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check R-EXPIRE-2."""
    bound = walk(pre, step).bound
    head = next((slot for slot in step.state.queue if slot is not None), None)
    entry = None if head is None else cached_entry(step.state, head.cache, head.pos)
    return bound is not None and (entry is None or entry.stamp_nanos >= bound)


def by_ttl(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Return whether the event leaves the age to the time to live."""
    return event.older_than_nanos is ABSENT


def cutoff_is_ttl_ago(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check R-EXPIRE-3."""
    return walk(pre, step).bound == pre.now_nanos - pre.settings.ttl_nanos


def by_age(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Return whether the event gives an age."""
    return event.older_than_nanos is not ABSENT and event.older_than_nanos >= 0


def cutoff_is_that_long_ago(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check R-EXPIRE-5."""
    age = event.older_than_nanos
    return age is not ABSENT and walk(pre, step).bound == pre.now_nanos - age


def met_a_dead_slot(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether a dead slot stood at the head when the pass began, or came to stand there."""
    if _refused(event) or None not in pre.queue:
        return False
    return any(take.slot is None for take in walk(pre, step).takes) or step.state.queue[:1] == (None,)


def no_dead_slot_at_the_head(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-EVICT-1; R-EVICT-7 checks that a dead slot is not counted."""
    return step.state.queue[:1] != (None,)


def untaken_slots(pre: State, step: Step) -> list[Slot]:
    """Return the live slots that the pass did not take."""
    taken = {take.slot for take in walk(pre, step).takes}
    return [slot for slot in pre.queue if slot is not None and slot not in taken]


def some_untaken(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass halted at a live head."""
    return not _refused(event) and bool(untaken_slots(pre, step))


def untaken_as_they_were(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-EVICT-2; R-EVICT-8 checks the order of what is left."""
    return all(
        cached_entry(step.state, slot.cache, slot.pos) == cached_entry(pre, slot.cache, slot.pos)
        for slot in untaken_slots(pre, step)
    )


def freed_bytes(pre: State, step: Step) -> int:
    """Return the sizes of the entries that the step removed."""
    return sum(removed_entries(pre, step).values())


def frees_enough(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check R-EVICT-4."""
    return freed_bytes(pre, step) >= event.bytes or not any(cache.entries for cache in step.state.caches.values())


def stops_with_enough(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check R-EVICT-5: with enough freed, no entry is taken any more."""
    so_far = 0
    for take in walk(pre, step).takes:
        if take.entry is not None:
            if so_far >= event.bytes:
                return False
            if take.op == "EVICT":
                so_far += take.entry.size_bytes
    return True


def answers_what_left(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-EVICT-7."""
    gone = removed_entries(pre, step)
    return step.outcome == Removed(len(gone), sum(gone.values()))


def had_slots(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether there was a queue to take from."""
    return bool(pre.queue) and not _refused(event)


def from_head_to_tail(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-EVICT-8."""
    return walk(pre, step).queue == step.state.queue


def takes_are_bounded(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-LIVENESS-1."""
    times: dict[Slot, int] = {}
    dead = 0
    for take in walk(pre, step).takes:
        if take.slot is None:
            dead += 1
        else:
            times[take.slot] = times.get(take.slot, 0) + 1
    for slot, count in times.items():
        entry = cached_entry(pre, slot.cache, slot.pos)
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

PASSES_LAWS: Final = (
    Law(Rule.EXPIRE_1, (Expire,), some_taken, takes_only_expired),
    Law(Rule.EXPIRE_2, (Expire,), some_cached, head_is_young),
    Law(Rule.EXPIRE_3, (Expire,), by_ttl, cutoff_is_ttl_ago),
    Law(Rule.EXPIRE_4, (Expire,), is_to_refuse, refuses),
    Law(Rule.EXPIRE_5, (Expire,), by_age, cutoff_is_that_long_ago),
    Law(Rule.EVICT_1, PASSES, met_a_dead_slot, no_dead_slot_at_the_head),
    Law(Rule.EVICT_2, PASSES, some_untaken, untaken_as_they_were),
    Law(Rule.EVICT_4, (Evict,), some_cached, frees_enough),
    Law(Rule.EVICT_5, (Evict,), some_taken, stops_with_enough),
    Law(Rule.EVICT_6, (Evict,), is_to_refuse, refuses),
    Law(Rule.EVICT_7, PASSES, is_allowed, answers_what_left),
    Law(Rule.EVICT_8, PASSES, had_slots, from_head_to_tail),
    Law(Rule.LIVENESS_1, PASSES, had_slots, takes_are_bounded),
)


# Laws about the decision for each live head.


def is_awaited(take: Take) -> bool:
    """Return whether a read of the entry is still expected."""
    return take.entry is not None and (take.entry.expected_reads or 0) > 0


def is_for_access(take: Take) -> bool:
    """Return whether the entry was requeued, and access was the cause."""
    return take.op == "REQUEUE" and take.cause == "ACCESSED"


def is_for_reads(take: Take) -> bool:
    """Return whether the entry was requeued, and expected reads were the cause."""
    return take.op == "REQUEUE" and take.cause == "EXPECTED_READS"


def is_in_time(config: Config, pre: State, event: Expire | Evict, take: Take) -> bool:
    """Return whether the take may spare an entry: with one round, a size pass spares none after that round."""
    if config.variants.size_pass_rounds is SizePassRounds.BUDGET or isinstance(event, Expire):
        return True
    return take.number < len(pre.queue)


def some_late(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Return whether one round is configured, and the size pass took an entry after it."""
    if config.variants.size_pass_rounds is SizePassRounds.BUDGET:
        return False
    return any(take.entry is not None for take in walk(pre, step).takes[len(pre.queue) :])


def late_ones_leave(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check R-REQUEUE-9."""
    return all(take.op != "REQUEUE" for take in walk(pre, step).takes[len(pre.queue) :])


def accessed_stay(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-1."""
    return all(is_for_access(take) for take in walk(pre, step).accessed if is_in_time(config, pre, event, take))


def awaited_stay(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-2."""
    wrong_cause = pre.settings.extend_recently_accessed
    return all(
        is_for_reads(take) or (is_for_access(take) and not wrong_cause)
        for take in walk(pre, step).awaited
        if is_in_time(config, pre, event, take)
    )


def exhausted_leave(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-3."""
    own = pre.settings.extend_recently_accessed
    return not any(is_for_access(take) and own for take in walk(pre, step).exhausted)


def unawaited_leave(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-EVICT-3."""
    own = pre.settings.extend_recently_accessed
    return not any(is_for_access(take) and own for take in walk(pre, step).unawaited)


def restamps_and_unmarks(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-4: in every row of the pass, and in the state after it."""
    walked = walk(pre, step)
    requeued_before = set()
    for take in walked.takes:
        if take.slot in requeued_before and (take.row.accessed or take.row.stamp_ns != pre.now_nanos):
            return False
        if take.op == "REQUEUE":
            requeued_before.add(take.slot)
            if take.stamp_after != pre.now_nanos:
                return False
    for slot in walked.requeued:
        entry = cached_entry(step.state, slot.cache, slot.pos)
        if entry is not None and (entry.accessed or entry.stamp_nanos != pre.now_nanos):
            return False
    return True


def one_budget(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the budget is shared (the default), and the pass requeued an entry."""
    return config.variants.requeue_budget is RequeueBudget.SHARED and bool(walk(pre, step).requeued)


def each_requeue_counts(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-5."""
    walked = walk(pre, step)
    for take in walked.takes:
        if take.op == "REQUEUE" and (take.entry is None or take.requeues_after != take.entry.requeues + 1):
            return False
    for slot, times in walked.requeued.items():
        entry, before = cached_entry(step.state, slot.cache, slot.pos), cached_entry(pre, slot.cache, slot.pos)
        if entry is not None and (before is None or entry.requeues != before.requeues + times):
            return False
    return True


def some_for_reads(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass requeued an entry that expects reads, because of them."""
    return any(is_for_reads(take) and is_awaited(take) for take in walk(pre, step).takes)


def never_above_the_budget(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-6."""
    return all(
        take.requeues_after <= pre.settings.max_requeues
        for take in walk(pre, step).takes
        if is_for_reads(take) and is_awaited(take)
    )


def access_does_not_extend(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the setting is off, and the pass took an entry that is marked."""
    marked = [take.entry is not None and take.entry.accessed for take in walk(pre, step).takes]
    return not pre.settings.extend_recently_accessed and any(marked)


def none_for_access(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-7."""
    return not any(is_for_access(take) for take in walk(pre, step).takes)


def some_unawaited(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass took an entry that expects no reads."""
    walked = walk(pre, step)
    return bool(walked.unawaited) or any(not is_awaited(take) for take in walked.accessed)


def only_awaited_for_reads(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Check R-REQUEUE-8."""
    return all(is_awaited(take) for take in walk(pre, step).takes if is_for_reads(take))


def some_requeued(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass requeued an entry."""
    return bool(walk(pre, step).requeued)


def took_accessed(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass took an entry whose stay access extends."""
    return bool(walk(pre, step).accessed)


def took_awaited(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass took an entry, not extended by access, that expects reads and has budget left."""
    return bool(walk(pre, step).awaited)


def took_exhausted(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass took an entry, not extended by access, that expects reads and has no budget left."""
    return bool(walk(pre, step).exhausted)


def took_unawaited(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Return whether the pass took an entry, not extended by access, that expects no reads."""
    return bool(walk(pre, step).unawaited)


REQUEUE_LAWS: Final = (
    Law(Rule.EVICT_3, PASSES, took_unawaited, unawaited_leave),
    Law(Rule.REQUEUE_1, PASSES, took_accessed, accessed_stay),
    Law(Rule.REQUEUE_2, PASSES, took_awaited, awaited_stay),
    Law(Rule.REQUEUE_3, PASSES, took_exhausted, exhausted_leave),
    Law(Rule.REQUEUE_4, PASSES, some_requeued, restamps_and_unmarks),
    Law(Rule.REQUEUE_5, PASSES, one_budget, each_requeue_counts),
    Law(Rule.REQUEUE_6, PASSES, some_for_reads, never_above_the_budget),
    Law(Rule.REQUEUE_7, PASSES, access_does_not_extend, none_for_access),
    Law(Rule.REQUEUE_8, PASSES, some_unawaited, only_awaited_for_reads),
    Law(Rule.REQUEUE_9, (Evict,), some_late, late_ones_leave),
)
