"""The laws about `expire`, `evict_cache`, and `evict`, which asks several caches."""

from __future__ import annotations

from itertools import accumulate
from math import floor
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.laws.law import Law, allowed, entries_of, gone, others_kept, refusable
from entrycache_reference.pulsar_legacy.ops import Evict, EvictCache, Expire
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


def some_left(config: Config, pre: State, event: EvictCache, step: Step) -> bool:
    """Entries have left."""
    return bool(gone(pre, step, event.cache))


def some_cached(config: Config, pre: State, event: Expire | EvictCache, step: Step) -> bool:
    """The cache holds entries, and the pass is not refused."""
    return event.cache in pre.caches and not refusable(event)


def frees_from_the_lowest(config: Config, pre: State, event: EvictCache, step: Step) -> bool:
    """L-EVICT-1."""
    left, kept = gone(pre, step, event.cache), entries_of(step.state, event.cache)
    taken_in_order = [(row.ledger_id, row.entry_id) for row in step.rows if row.op == "EVICT"]
    if list(dict.fromkeys(taken_in_order)) != sorted(left):
        return False
    if not others_kept(pre, step, event.cache) or (kept and left and max(left) > min(kept)):
        return False
    return not kept or sum(entry.size_bytes for entry in left.values()) >= event.bytes


def last_one_was_needed(config: Config, pre: State, event: EvictCache, step: Step) -> bool:
    """L-EVICT-2."""
    left = gone(pre, step, event.cache)
    last = [row for row in step.rows if row.op == "EVICT"][-1]
    before_last = sum(entry.size_bytes for entry in left.values()) - (last.size_bytes or 0)
    return before_last < event.bytes


def order(pre: State) -> list[CacheName]:
    """The caches by bytes, the largest first, those of one size by name."""
    return sorted(sorted(pre.caches), key=lambda name: pre.caches[name].size_bytes, reverse=True)


def taken(pre: State) -> list[CacheName]:
    """The caches that give: each before which less than half of all bytes is taken."""
    names = order(pre)
    sums = [0, *accumulate(pre.caches[name].size_bytes for name in names)]
    half = floor(sums[-1] * 0.5)
    return [name for name, before in zip(names, sums, strict=False) if before < half]


def takes_the_largest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """L-EVICT-3; which of those of one size is a matter of L-EVICT-4."""
    asked = {part.event.cache for part in step.parts if type(part.event) is EvictCache}
    if not asked <= set(step.givers):
        return False
    return [pre.caches[name].size_bytes for name in step.givers] == [pre.caches[name].size_bytes for name in taken(pre)]


def has_ties(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Caches of one size, and one of them is taken; sizes are right."""
    if refusable(event) or not takes_the_largest(config, pre, event, step):
        return False
    sizes = [cache.size_bytes for cache in pre.caches.values()]
    return any(sizes.count(pre.caches[name].size_bytes) > 1 for name in step.givers)


def takes_by_name(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """L-EVICT-4."""
    return list(step.givers) == taken(pre)


def some_give(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Caches are to give."""
    return bool(step.givers)


def each_gives_its_share(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """L-EVICT-5."""
    sizes = {name: float(pre.caches[name].size_bytes) for name in step.givers}
    total = float(sum(pre.caches[name].size_bytes for name in step.givers))
    shares = [(name, int(event.bytes * (size / total))) for name, size in sizes.items()]
    asked = [(part.event.cache, part.event.bytes) for part in step.parts if type(part.event) is EvictCache]
    return asked == [(name, share) for name, share in shares if share > 0]


def bound_of(step: Step) -> int:
    """The cutoff that a time pass shows."""
    bound = step.rows[0].bound
    assert bound is not None
    return bound


def lowest_kept(step: Step, name: CacheName) -> Position | None:
    """The lowest position that is still cached."""
    return min(entries_of(step.state, name), default=None)


def none_old_in_front(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """L-EXPIRE-1."""
    first = lowest_kept(step, event.cache)
    left = gone(pre, step, event.cache).values()
    if any(entry.stamp_nanos > bound_of(step) for entry in left) or not others_kept(pre, step, event.cache):
        return False
    return first is None or entries_of(pre, event.cache)[first].stamp_nanos > bound_of(step)


def behind_the_young(pre: State, event: Expire, step: Step) -> set[Position]:
    """The positions behind the first entry that is younger than the cutoff."""
    entries = entries_of(pre, event.cache)
    young = [pos for pos, entry in entries.items() if entry.stamp_nanos > bound_of(step)]
    return {pos for pos in entries if young and pos > min(young)}


def hides_some(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """Entries stand behind one that is younger than the cutoff."""
    return not refusable(event) and bool(behind_the_young(pre, event, step))


def none_left_behind_the_young(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """L-EXPIRE-2."""
    return not behind_the_young(pre, event, step) & gone(pre, step, event.cache).keys()


def cutoff_is_as_asked(config: Config, pre: State, event: Expire, step: Step) -> bool:
    """L-EXPIRE-3."""
    age = config.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos
    return bound_of(step) == pre.now_nanos - age


LAWS: Final = (
    Law(Rule.L_EVICT_1, (EvictCache,), some_cached, frees_from_the_lowest),
    Law(Rule.L_EVICT_2, (EvictCache,), some_left, last_one_was_needed),
    Law(Rule.L_EVICT_3, (Evict,), allowed, takes_the_largest),
    Law(Rule.L_EVICT_4, (Evict,), has_ties, takes_by_name),
    Law(Rule.L_EVICT_5, (Evict,), some_give, each_gives_its_share),
    Law(Rule.L_EXPIRE_1, (Expire,), some_cached, none_old_in_front),
    Law(Rule.L_EXPIRE_2, (Expire,), hides_some, none_left_behind_the_young),
    Law(Rule.L_EXPIRE_3, (Expire,), allowed, cutoff_is_as_asked),
)
