"""The laws about lookups, reads through the cache, and sums."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config, SingleLookup
from entrycache_reference.pulsar_legacy.laws.law import Law, allowed, always, cached, content, entries_of
from entrycache_reference.pulsar_legacy.ops import Exists, Get, GetRange, Insert, Observe, Op, Read, ReadOne, Usage
from entrycache_reference.pulsar_legacy.outcomes import CacheView, Existing, Hit, Hits, Observed, Served, Used
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position


def carried(entries: Iterable[Entry]) -> tuple[int, ...] | None:
    """The payloads of these entries, if each of them carries one, and there is one."""
    tokens = [entry.token for entry in entries]
    return None if None in tokens or not tokens else tuple(token for token in tokens if token is not None)


def hits_what_is_cached(config: Config, pre: State, event: Get, step: Step) -> bool:
    """L-READ-1."""
    entry = cached(pre, event.cache, event.pos)
    return step.outcome == (Hit(False) if entry is None else Hit(True, carried([entry])))


def asks_for_the_object(config: Config, pre: State, event: Get | ReadOne, step: Step) -> bool:
    """The configuration asks for the variant, and the position is cached."""
    return config.variants.single_lookup is SingleLookup.OBJECT and cached(pre, event.cache, event.pos) is not None


def asks_by_position(config: Config, pre: State, event: Get | ReadOne, step: Step) -> bool:
    """The norm, or there is nothing that could be found."""
    return not asks_for_the_object(config, pre, event, step)


def finds_nothing(config: Config, pre: State, event: Get | ReadOne, step: Step) -> bool:
    """L-READ-7."""
    one = (event.pos,) if isinstance(event, ReadOne) else ()
    right = Served((), one, (event.pos.entry,)) if one else Hit(False)
    return step.outcome == right and step.state == pre


def answers_the_range(config: Config, pre: State, event: GetRange, step: Step) -> bool:
    """L-READ-2."""
    entries = entries_of(pre, event.cache)
    found = tuple(sorted(pos for pos in entries if event.first <= pos <= event.last))
    return step.outcome == Hits(found, carried(entries[pos] for pos in found))


def answers_whether(config: Config, pre: State, event: Exists, step: Step) -> bool:
    """L-READ-3."""
    return step.outcome == Existing(event.pos in entries_of(pre, event.cache))


def wanted(event: Read) -> tuple[Position, ...]:
    """The positions of the range."""
    return tuple(Position(event.first[0], entry) for entry in range(event.first[1], event.last[1] + 1))


def is_all_cached(pre: State, event: Read) -> bool:
    """Whether no position of the range is missing."""
    return entries_of(pre, event.cache).keys() >= set(wanted(event))


def all_or_nothing(config: Config, pre: State, event: Read, step: Step) -> bool:
    """L-READ-4."""
    asked = wanted(event)
    if not is_all_cached(pre, event):
        return isinstance(step.outcome, Served) and (step.outcome.hits, step.outcome.fills) == ((), asked)
    entries = entries_of(pre, event.cache)
    return step.outcome == Served(asked, (), carried(entries[pos] for pos in asked))


def offers_all_that_storage_gave(config: Config, pre: State, event: Read, step: Step) -> bool:
    """L-READ-5; what each insert makes of it is a matter of its own laws."""
    if is_all_cached(pre, event):
        return step.state == pre and not step.parts
    offered = [part.event for part in step.parts]
    states = [pre, *(part.step.state for part in step.parts)]
    met = [part.pre for part in step.parts]
    return offered == [Insert(event.cache, pos, 100, pos.entry) for pos in wanted(event)] and states == [
        *met,
        step.state,
    ]


def reads_one(config: Config, pre: State, event: ReadOne, step: Step) -> bool:
    """L-READ-6."""
    entry = cached(pre, event.cache, event.pos)
    one = (event.pos,)
    right = Served((), one, (event.pos.entry,)) if entry is None else Served(one, (), carried([entry]))
    return step.outcome == right and step.state == pre


def answers_its_own(config: Config, pre: State, event: Op, step: Step) -> bool:
    """The answer has the shape of the operation."""
    return type(step.outcome) in event.answers


def sums_up(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """L-METRICS-1."""
    sizes = [entry.size_bytes for (name, _), entry in content(pre).items() if event.cache in {ABSENT, name}]
    return step.outcome == Used(len(sizes), sum(sizes))


def shows_what_is_there(config: Config, pre: State, event: Observe, step: Step) -> bool:
    """L-METRICS-2."""
    caches = {name: CacheView(cache.size_bytes, tuple(sorted(cache.entries))) for name, cache in pre.caches.items()}
    return step.outcome == Observed(pre.now_nanos, pre.size_bytes, caches)


LAWS: Final = (
    Law(Rule.L_READ_1, (Get,), asks_by_position, hits_what_is_cached),
    Law(Rule.L_READ_2, (GetRange,), always, answers_the_range),
    Law(Rule.L_READ_3, (Exists,), always, answers_whether),
    Law(Rule.L_READ_4, (Read,), allowed, all_or_nothing),
    Law(Rule.L_READ_5, (Read,), allowed, offers_all_that_storage_gave),
    Law(Rule.L_READ_6, (ReadOne,), asks_by_position, reads_one),
    Law(Rule.L_READ_7, (Get, ReadOne), asks_for_the_object, finds_nothing),
    Law(Rule.L_METRICS_1, (Usage,), answers_its_own, sums_up),
    Law(Rule.L_METRICS_2, (Observe,), always, shows_what_is_there),
)
