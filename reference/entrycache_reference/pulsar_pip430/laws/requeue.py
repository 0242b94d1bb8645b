"""The laws about what a pass does with one live head, each read off what became of it.

An extension that should not have been has exactly one owner, by the cause that the pass gave for it: without
the setting, access is R-REQUEUE-7's; reads that nobody expects are R-REQUEUE-8's; a budget overdrawn for
expected reads is R-REQUEUE-6's; what is left belongs to R-REQUEUE-3 or R-EVICT-3. Together they are complete.
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, SizePassRounds
from entrycache_reference.pulsar_pip430.laws.law import Law, cached
from entrycache_reference.pulsar_pip430.laws.walk import Take, walk
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule


def is_awaited(take: Take) -> bool:
    """Somebody is still expected to read the entry."""
    return take.entry is not None and (take.entry.expected_reads or 0) > 0


def for_access(take: Take) -> bool:
    """The entry was requeued, and access was the cause."""
    return take.op == "REQUEUE" and take.cause == "ACCESSED"


def for_reads(take: Take) -> bool:
    """The entry was requeued, and expected reads were the cause."""
    return take.op == "REQUEUE" and take.cause == "EXPECTED_READS"


def in_time(config: Config, pre: State, event: Expire | Evict, take: Take) -> bool:
    """The take is one that may spare an entry: a size pass of one round spares none after it."""
    if config.variants.size_pass_rounds is SizePassRounds.BUDGET or isinstance(event, Expire):
        return True
    return take.number < len(pre.queue)


def some_late(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """The configuration asks for one round, and the size pass took an entry after it."""
    if config.variants.size_pass_rounds is SizePassRounds.BUDGET:
        return False
    return any(take.entry is not None for take in walk(pre, step).takes[len(pre.queue) :])


def late_ones_leave(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """R-REQUEUE-9."""
    return all(take.op != "REQUEUE" for take in walk(pre, step).takes[len(pre.queue) :])


def accessed_stay(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-1."""
    return all(for_access(take) for take in walk(pre, step).accessed if in_time(config, pre, event, take))


def awaited_stay(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-2."""
    wrong_cause = pre.settings.extend_recently_accessed
    return all(
        for_reads(take) or (for_access(take) and not wrong_cause)
        for take in walk(pre, step).awaited
        if in_time(config, pre, event, take)
    )


def exhausted_leave(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-3."""
    own = pre.settings.extend_recently_accessed
    return not any(for_access(take) and own for take in walk(pre, step).exhausted)


def unawaited_leave(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-EVICT-3."""
    own = pre.settings.extend_recently_accessed
    return not any(for_access(take) and own for take in walk(pre, step).unawaited)


def restamped_unmarked(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-4: in every row of the pass, and in the state after it."""
    walked = walk(pre, step)
    met = set()
    for take in walked.takes:
        if take.slot in met and (take.shown.accessed or take.shown.stamp_ns != pre.now_nanos):
            return False
        if take.op == "REQUEUE":
            met.add(take.slot)
            if take.stamp_after != pre.now_nanos:
                return False
    for slot in walked.requeued:
        entry = cached(step.state, slot.cache, slot.pos)
        if entry is not None and (entry.accessed or entry.stamp_nanos != pre.now_nanos):
            return False
    return True


def one_budget(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The configuration asks for the norm, and the pass requeued an entry."""
    return config.variants.requeue_budget is RequeueBudget.SHARED and bool(walk(pre, step).requeued)


def each_requeue_counts(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-5."""
    walked = walk(pre, step)
    for take in walked.takes:
        if take.op == "REQUEUE" and (take.entry is None or take.requeues_after != take.entry.requeues + 1):
            return False
    for slot, times in walked.requeued.items():
        entry, before = cached(step.state, slot.cache, slot.pos), cached(pre, slot.cache, slot.pos)
        if entry is not None and (before is None or entry.requeues != before.requeues + times):
            return False
    return True


def some_for_reads(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass requeued an entry that expects reads, because of them."""
    return any(for_reads(take) and is_awaited(take) for take in walk(pre, step).takes)


def never_above_the_budget(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-6."""
    return all(
        take.requeues_after <= pre.settings.max_requeues
        for take in walk(pre, step).takes
        if for_reads(take) and is_awaited(take)
    )


def access_does_not_extend(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The setting is off, and the pass took an entry that is marked."""
    marked = [take.entry is not None and take.entry.accessed for take in walk(pre, step).takes]
    return not pre.settings.extend_recently_accessed and any(marked)


def none_for_access(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-7."""
    return not any(for_access(take) for take in walk(pre, step).takes)


def some_unawaited(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass took an entry that expects no reads."""
    walked = walk(pre, step)
    return bool(walked.unawaited) or any(not is_awaited(take) for take in walked.accessed)


def only_awaited_for_reads(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """R-REQUEUE-8."""
    return all(is_awaited(take) for take in walk(pre, step).takes if for_reads(take))


def some_requeued(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass requeued an entry."""
    return bool(walk(pre, step).requeued)


def took_accessed(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass took an entry whose stay access extends."""
    return bool(walk(pre, step).accessed)


def took_awaited(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass took an entry, not extended by access, that expects reads and has budget left."""
    return bool(walk(pre, step).awaited)


def took_exhausted(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass took an entry, not extended by access, that expects reads and has no budget left."""
    return bool(walk(pre, step).exhausted)


def took_unawaited(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """The pass took an entry, not extended by access, that expects no reads."""
    return bool(walk(pre, step).unawaited)


PASSES: Final = (Expire, Evict)

LAWS: Final = (
    Law(Rule.EVICT_3, PASSES, took_unawaited, unawaited_leave),
    Law(Rule.REQUEUE_1, PASSES, took_accessed, accessed_stay),
    Law(Rule.REQUEUE_2, PASSES, took_awaited, awaited_stay),
    Law(Rule.REQUEUE_3, PASSES, took_exhausted, exhausted_leave),
    Law(Rule.REQUEUE_4, PASSES, some_requeued, restamped_unmarked),
    Law(Rule.REQUEUE_5, PASSES, one_budget, each_requeue_counts),
    Law(Rule.REQUEUE_6, PASSES, some_for_reads, never_above_the_budget),
    Law(Rule.REQUEUE_7, PASSES, access_does_not_extend, none_for_access),
    Law(Rule.REQUEUE_8, PASSES, some_unawaited, only_awaited_for_reads),
    Law(Rule.REQUEUE_9, (Evict,), some_late, late_ones_leave),
)
