"""The laws about `expire`, `evict_cache`, `evict`, and the trigger of size passes.

`expected_givers` computes the giving caches by sums. The laws of the trigger say when an insert requests a pass, what
the pass has to free, and when it runs.
"""

from itertools import accumulate
from math import floor
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.laws import law
from entrycache_reference.pulsar_legacy.ops import (
    Evict,
    EvictCache,
    Expire,
    Insert,
    Inserted,
    Op,
    Removed,
    RunScheduled,
)
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


def some_left(config: Config, pre: State, event: EvictCache, step: Step) -> bool:
    """Return whether entries have left."""
    return bool(law.removed_entries(pre, step, event.cache))


def some_cached(config: Config, pre: State, event: Expire | EvictCache, step: Step) -> bool:
    """Return whether the cache holds entries, and the pass is not refused."""
    return event.cache in pre.caches and not law.is_refusable(event)


def frees_from_the_lowest(config: Config, pre: State, event: EvictCache, step: Step) -> bool:
    """Check L-EVICT-1."""
    removed, remaining = law.removed_entries(pre, step, event.cache), law.entries_of(step.state, event.cache)
    taken_in_order = [(row.ledger_id, row.entry_id) for row in step.rows if row.op == "EVICT"]
    if list(dict.fromkeys(taken_in_order)) != sorted(removed):
        return False
    if not law.are_others_kept(pre, step, event.cache) or (remaining and removed and max(removed) > min(remaining)):
        return False
    return not remaining or sum(entry.size_bytes for entry in removed.values()) >= event.bytes


def last_one_was_needed(config: Config, pre: State, event: EvictCache, step: Step) -> bool:
    """Check L-EVICT-2."""
    removed = law.removed_entries(pre, step, event.cache)
    last = [row for row in step.rows if row.op == "EVICT"][-1]
    before_last = sum(entry.size_bytes for entry in removed.values()) - (last.size_bytes or 0)
    return before_last < event.bytes


def order_caches(pre: State) -> list[CacheName]:
    """Return the caches by bytes, the largest first; those of equal size by name."""
    return sorted(sorted(pre.caches), key=lambda name: pre.caches[name].size_bytes, reverse=True)


def expected_givers(pre: State) -> list[CacheName]:
    """Return the caches that give: each before which less than half of all bytes is reached."""
    names = order_caches(pre)
    sums = [0, *accumulate(pre.caches[name].size_bytes for name in names)]
    half = floor(sums[-1] * 0.5)
    return [name for name, before in zip(names, sums, strict=False) if before < half]


def takes_the_largest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check L-EVICT-3; L-EVICT-4 checks the order of caches of equal size."""
    requested = {part.event.cache for part in step.parts if type(part.event) is EvictCache}
    if not requested <= set(step.givers):
        return False
    return [pre.caches[name].size_bytes for name in step.givers] == [
        pre.caches[name].size_bytes for name in expected_givers(pre)
    ]


def has_ties(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Return whether caches have equal sizes and one of them gives, if L-EVICT-3 holds."""
    if law.is_refusable(event) or not takes_the_largest(config, pre, event, step):
        return False
    sizes = [cache.size_bytes for cache in pre.caches.values()]
    return any(sizes.count(pre.caches[name].size_bytes) > 1 for name in step.givers)


def takes_by_name(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check L-EVICT-4."""
    return list(step.givers) == expected_givers(pre)


def some_give(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Return whether caches are to give."""
    return bool(step.givers)


def each_gives_its_share(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check L-EVICT-5."""
    sizes = {name: float(pre.caches[name].size_bytes) for name in step.givers}
    total = float(sum(pre.caches[name].size_bytes for name in step.givers))
    shares = [(name, int(event.bytes * (size / total))) for name, size in sizes.items()]
    requested = [(part.event.cache, part.event.bytes) for part in step.parts if type(part.event) is EvictCache]
    return requested == [(name, share) for name, share in shares if share > 0]


def bound_of(step: Step) -> int:
    """Return the cutoff that a time pass shows."""
    bound = step.rows[0].bound
    assert bound is not None
    return bound


def lowest_kept(step: Step, name: CacheName) -> Position | None:
    """Return the lowest position that is still cached."""
    return min(law.entries_of(step.state, name), default=None)


def none_old_in_front(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check L-EXPIRE-1."""
    first = lowest_kept(step, event.cache)
    removed = law.removed_entries(pre, step, event.cache).values()
    if any(entry.stamp_nanos > bound_of(step) for entry in removed) or not law.are_others_kept(pre, step, event.cache):
        return False
    return first is None or law.entries_of(pre, event.cache)[first].stamp_nanos > bound_of(step)


def behind_the_young(pre: State, event: Expire, step: Step) -> set[Position]:
    """Return the positions behind the first entry that is younger than the cutoff."""
    entries = law.entries_of(pre, event.cache)
    young = [pos for pos, entry in entries.items() if entry.stamp_nanos > bound_of(step)]
    return {pos for pos in entries if young and pos > min(young)}


def hides_some(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Return whether entries stand behind one that is younger than the cutoff."""
    return not law.is_refusable(event) and bool(behind_the_young(pre, event, step))


def none_left_behind_the_young(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check L-EXPIRE-2."""
    return not behind_the_young(pre, event, step) & law.removed_entries(pre, step, event.cache).keys()


def cutoff_is_as_asked(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Check L-EXPIRE-3."""
    age = config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos
    return bound_of(step) == pre.now_nanos - age


PASS_LAWS: Final = (
    law.Law(Rule.L_EVICT_1, (EvictCache,), some_cached, frees_from_the_lowest),
    law.Law(Rule.L_EVICT_2, (EvictCache,), some_left, last_one_was_needed),
    law.Law(Rule.L_EVICT_3, (Evict,), law.is_allowed, takes_the_largest),
    law.Law(Rule.L_EVICT_4, (Evict,), has_ties, takes_by_name),
    law.Law(Rule.L_EVICT_5, (Evict,), some_give, each_gives_its_share),
    law.Law(Rule.L_EXPIRE_1, (Expire,), some_cached, none_old_in_front),
    law.Law(Rule.L_EXPIRE_2, (Expire,), hides_some, none_left_behind_the_young),
    law.Law(Rule.L_EXPIRE_3, (Expire,), law.is_allowed, cutoff_is_as_asked),
)


# Laws about the trigger.


def is_over(config: Config, pre: State) -> bool:
    """Return whether the bytes are above the trigger."""
    return pre.size_bytes > floor(config.max_size_bytes * 0.98)


def amount(config: Config, pre: State) -> int:
    """Return the bytes above the watermark's share."""
    return pre.size_bytes - floor(config.max_size_bytes * config.watermark)


def pass_amounts(step: Step) -> list[int]:
    """Return the amounts of the size passes that a step ran."""
    return [part.event.bytes for part in step.parts if type(part.event) is Evict]


def asks(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether a size pass was run, or another one is scheduled than before."""
    is_new = step.state.scheduled_bytes is not None and step.state.scheduled_bytes != pre.scheduled_bytes
    return is_new or (bool(pass_amounts(step)) and amount(config, pre) > 0)


def asks_for_what_lies_above(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-TRIGGER-1."""
    requested = [step.state.scheduled_bytes] if step.state.scheduled_bytes is not None else pass_amounts(step)
    return requested == [amount(config, pre)]


def is_inline(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether a pass would run at once; L-TRIGGER-6 checks the case with nothing to free."""
    if config.eviction is not Eviction.INLINE or (is_over(config, pre) and amount(config, pre) <= 0):
        return False
    is_taken = step.outcome == Inserted(True) or not is_over(config, pre)
    return event.size >= 0 and pre.scheduled_bytes is None and is_taken


def passes_first_if_over(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-TRIGGER-2."""
    if step.state.scheduled_bytes is not None or len(pass_amounts(step)) != (1 if is_over(config, pre) else 0):
        return False
    return not step.parts or step.parts[0].pre == pre


def is_manual(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether no pass is scheduled, and one would not run at once."""
    return config.eviction is Eviction.MANUAL and event.size >= 0 and pre.scheduled_bytes is None


def schedules_if_over(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-TRIGGER-3; L-TRIGGER-7 checks inserts that are not accepted."""
    is_asked = step.state.scheduled_bytes is not None
    if pass_amounts(step) or not law.content(pre).keys() <= law.content(step.state).keys():
        return False
    return is_asked == is_over(config, pre) or (not is_asked and step.outcome == Inserted(False))


def waits(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether a pass is scheduled, and this step does not run it."""
    return pre.scheduled_bytes is not None and type(event) is not RunScheduled


def still_waits(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check L-TRIGGER-4."""
    return step.state.scheduled_bytes == pre.scheduled_bytes and (type(event) is Evict or not pass_amounts(step))


def runs_what_was_asked_for(config: Config, pre: State, event: RunScheduled, step: Step) -> bool:
    """Check L-TRIGGER-5."""
    if step.state.scheduled_bytes is not None:
        return False
    if pre.scheduled_bytes is None:
        return step.outcome == Removed(0, 0) and step.state == pre and not step.parts
    return pre.scheduled_bytes <= 0 or pass_amounts(step) == [pre.scheduled_bytes]


def has_nothing_to_free(config: Config, pre: State, event: Insert | RunScheduled, step: Step) -> bool:
    """Return whether the amount is 0 or less."""
    if type(event) is RunScheduled:
        return pre.scheduled_bytes is not None and pre.scheduled_bytes <= 0
    is_asked = pre.scheduled_bytes is None and config.eviction is Eviction.INLINE and is_over(config, pre)
    return is_asked and amount(config, pre) <= 0


def frees_nothing(config: Config, pre: State, event: Insert | RunScheduled, step: Step) -> bool:
    """Check L-TRIGGER-6."""
    return not step.parts and law.content(pre).keys() <= law.content(step.state).keys()


def is_not_taken(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the insert answered false above the trigger, with no pass scheduled.

    With inline eviction the pass must have something to free.
    """
    can_free = config.eviction is Eviction.MANUAL or amount(config, pre) > 0
    is_due = is_over(config, pre) and can_free and pre.scheduled_bytes is None
    return is_due and step.outcome == Inserted(False)


def asks_all_the_same(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-TRIGGER-7."""
    return bool(pass_amounts(step)) or step.state.scheduled_bytes is not None


TRIGGER_LAWS: Final = (
    law.Law(Rule.L_TRIGGER_1, (Insert,), asks, asks_for_what_lies_above),
    law.Law(Rule.L_TRIGGER_2, (Insert,), is_inline, passes_first_if_over),
    law.Law(Rule.L_TRIGGER_3, (Insert,), is_manual, schedules_if_over),
    law.Law(Rule.L_TRIGGER_4, (), waits, still_waits),
    law.Law(Rule.L_TRIGGER_5, (RunScheduled,), law.always, runs_what_was_asked_for),
    law.Law(Rule.L_TRIGGER_6, (Insert, RunScheduled), has_nothing_to_free, frees_nothing),
    law.Law(Rule.L_TRIGGER_7, (Insert,), is_not_taken, asks_all_the_same),
)
