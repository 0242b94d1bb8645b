"""The laws about inserts, lookups, reads through the cache, and sums; the trigger has laws in `passes`.

The five guards of the insert laws cover every insert that is not refused.
"""

from collections.abc import Iterable
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config, SingleLookup
from entrycache_reference.pulsar_legacy.laws.law import Law, always, cached_entry, content, entries_of, is_allowed
from entrycache_reference.pulsar_legacy.ops import (
    CacheView,
    Existing,
    Exists,
    Get,
    GetRange,
    Hit,
    Hits,
    Insert,
    Inserted,
    Observe,
    Observed,
    Op,
    Read,
    ReadOne,
    Served,
    Usage,
    Used,
)
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position


def state_after_pass(pre: State, step: Step) -> State:
    """Return the state that the entry was offered to: after the insert's own pass, if it ran one."""
    return step.parts[-1].step.state if step.parts else pre


def is_full(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the bytes at the beginning are at the limit or above it."""
    return event.size >= 0 and not pre.size_bytes < config.max_size_bytes


def adds_nothing(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-INSERT-3."""
    here = event.cache, event.pos
    return step.outcome == Inserted(False) and cached_entry(step.state, *here) == cached_entry(
        state_after_pass(pre, step), *here
    )


def is_duplicate(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether not full, and the position is cached when the entry comes to it."""
    is_open = event.size >= 0 and pre.size_bytes < config.max_size_bytes
    return is_open and cached_entry(state_after_pass(pre, step), event.cache, event.pos) is not None


def keeps_the_first(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-INSERT-2."""
    return adds_nothing(config, pre, event, step)


def is_free(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether not full, and the position was not cached at the beginning."""
    is_open = event.size >= 0 and pre.size_bytes < config.max_size_bytes
    return is_open and cached_entry(pre, event.cache, event.pos) is None


def fits_or_came_in(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the position is free and the entry fits the limit.

    An entry that was inserted all the same counts too.
    """
    if is_free(config, pre, event, step) and pre.size_bytes + event.size <= config.max_size_bytes:
        return True
    here = event.cache, event.pos
    is_new = cached_entry(state_after_pass(pre, step), *here) is None and cached_entry(step.state, *here) is not None
    return is_new and pre.size_bytes < config.max_size_bytes and step.outcome == Inserted(True)


def exceeds(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether the position is free, and the entry exceeds the limit."""
    return is_free(config, pre, event, step) and pre.size_bytes + event.size > config.max_size_bytes


def takes_it(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-INSERT-1."""
    entry = Entry(event.size, pre.now_nanos, None if event.token is ABSENT else event.token)
    return step.outcome == Inserted(True) and cached_entry(step.state, event.cache, event.pos) == entry


def was_evicted(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Return whether not full, and the pass of this insert has evicted what was cached at the position."""
    if event.size < 0 or pre.size_bytes >= config.max_size_bytes:
        return False
    here = event.cache, event.pos
    return cached_entry(pre, *here) is not None and cached_entry(state_after_pass(pre, step), *here) is None


def comes_in(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Check L-INSERT-4, L-INSERT-5; L-INSERT-1 checks the stamp."""
    return step.outcome == Inserted(True) and cached_entry(step.state, event.cache, event.pos) is not None


INSERT_LAWS: Final = (
    Law(Rule.L_INSERT_1, (Insert,), fits_or_came_in, takes_it),
    Law(Rule.L_INSERT_2, (Insert,), is_duplicate, keeps_the_first),
    Law(Rule.L_INSERT_3, (Insert,), is_full, adds_nothing),
    Law(Rule.L_INSERT_4, (Insert,), exceeds, comes_in),
    Law(Rule.L_INSERT_5, (Insert,), was_evicted, comes_in),
)


# Laws about lookups, reads through the cache, and sums.


def payloads_of(entries: Iterable[Entry]) -> tuple[int, ...] | None:
    """Return the payloads of these entries, if each of them carries one, and there is one."""
    tokens = [entry.token for entry in entries]
    return None if None in tokens or not tokens else tuple(token for token in tokens if token is not None)


def hits_what_is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """Check L-READ-1."""
    entry = cached_entry(pre, event.cache, event.pos)
    return step.outcome == (Hit(False) if entry is None else Hit(True, payloads_of([entry])))


def asks_for_the_object(config: Config, pre: State, event: Get | ReadOne, step: Step) -> bool:
    """Return whether the configuration has the variant, and the position is cached."""
    return (
        config.variants.single_lookup is SingleLookup.OBJECT and cached_entry(pre, event.cache, event.pos) is not None
    )


def asks_by_position(config: Config, pre: State, event: Get | ReadOne, step: Step) -> bool:
    """Return whether lookups go by position, or there is nothing to find."""
    return not asks_for_the_object(config, pre, event, step)


def finds_nothing(config: Config, pre: State, event: Get | ReadOne, step: Step) -> bool:
    """Check L-READ-7."""
    one = (event.pos,) if isinstance(event, ReadOne) else ()
    right = Served((), one, (event.pos.entry,)) if one else Hit(False)
    return step.outcome == right and step.state == pre


def answers_the_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """Check L-READ-2."""
    entries = entries_of(pre, event.cache)
    positions_found = tuple(sorted(pos for pos in entries if event.first <= pos <= event.last))
    return step.outcome == Hits(positions_found, payloads_of(entries[pos] for pos in positions_found))


def answers_whether(config: Config, pre: State, event: Exists, step: Step) -> bool:
    """Check L-READ-3."""
    return step.outcome == Existing(event.pos in entries_of(pre, event.cache))


def positions_of_read(event: Read) -> tuple[Position, ...]:
    """Return the positions of the range."""
    return tuple(Position(event.first[0], entry) for entry in range(event.first[1], event.last[1] + 1))


def is_all_cached(pre: State, event: Read) -> bool:
    """Return whether no position of the range is missing."""
    return entries_of(pre, event.cache).keys() >= set(positions_of_read(event))


def all_or_nothing(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Check L-READ-4."""
    positions = positions_of_read(event)
    if not is_all_cached(pre, event):
        return isinstance(step.outcome, Served) and (step.outcome.hits, step.outcome.fills) == ((), positions)
    entries = entries_of(pre, event.cache)
    return step.outcome == Served(positions, (), payloads_of(entries[pos] for pos in positions))


def offers_all_that_storage_gave(config: Config, pre: State, event: Read, step: Step) -> bool:
    """Check L-READ-5; the laws of inserts check the result of each."""
    if is_all_cached(pre, event):
        return step.state == pre and not step.parts
    offered = [part.event for part in step.parts]
    states = [pre, *(part.step.state for part in step.parts)]
    states_before = [part.pre for part in step.parts]
    return offered == [Insert(event.cache, pos, 100, pos.entry) for pos in positions_of_read(event)] and states == [
        *states_before,
        step.state,
    ]


def reads_one(config: Config, pre: State, event: ReadOne, step: Step) -> bool:
    """Check L-READ-6."""
    entry = cached_entry(pre, event.cache, event.pos)
    one = (event.pos,)
    right = Served((), one, (event.pos.entry,)) if entry is None else Served(one, (), payloads_of([entry]))
    return step.outcome == right and step.state == pre


def answers_its_own(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether the answer has the shape of the operation."""
    return type(step.outcome) in event.answers


def sums_up(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check L-METRICS-1."""
    sizes = [entry.size_bytes for (name, _), entry in content(pre).items() if event.cache in {ABSENT, name}]
    return step.outcome == Used(len(sizes), sum(sizes))


def shows_what_is_there(config: Config, pre: State, event: Observe, step: Step) -> bool:
    """Check L-METRICS-2."""
    caches = {name: CacheView(cache.size_bytes, tuple(sorted(cache.entries))) for name, cache in pre.caches.items()}
    return step.outcome == Observed(pre.now_nanos, pre.size_bytes, caches)


LOOKUP_LAWS: Final = (
    Law(Rule.L_READ_1, (Get,), asks_by_position, hits_what_is_cached),
    Law(Rule.L_READ_2, (GetRange,), always, answers_the_range),
    Law(Rule.L_READ_3, (Exists,), always, answers_whether),
    Law(Rule.L_READ_4, (Read,), is_allowed, all_or_nothing),
    Law(Rule.L_READ_5, (Read,), is_allowed, offers_all_that_storage_gave),
    Law(Rule.L_READ_6, (ReadOne,), asks_by_position, reads_one),
    Law(Rule.L_READ_7, (Get, ReadOne), asks_for_the_object, finds_nothing),
    Law(Rule.L_METRICS_1, (Usage,), answers_its_own, sums_up),
    Law(Rule.L_METRICS_2, (Observe,), always, shows_what_is_there),
)
