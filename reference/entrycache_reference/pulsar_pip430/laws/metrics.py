"""The laws about `usage`, about the counters and about `metrics`.

A counter is held to what the parts of a step did, one part after the other.
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, always, cached, entries_of
from entrycache_reference.pulsar_pip430.laws.state import REMOVING
from entrycache_reference.pulsar_pip430.laws.thresholds import was_taken
from entrycache_reference.pulsar_pip430.laws.walk import left
from entrycache_reference.pulsar_pip430.ops import Evict, Insert, Metrics, Op, Read, ReadOne, Usage
from entrycache_reference.pulsar_pip430.outcomes import Counters, Served, Used
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def asks_one(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """The question names a cache."""
    return event.cache is not ABSENT


def sums_of_one(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """R-METRICS-1."""
    entries = {} if event.cache is ABSENT else entries_of(pre, event.cache)
    return step.outcome == Used(len(entries), sum(entry.size_bytes for entry in entries.values()))


def asks_all(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """The question is about all caches."""
    return event.cache is ABSENT


def sums_of_all(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """R-METRICS-2; that the manager's bytes are the sum is R-STATE-1."""
    return step.outcome == Used(sum([len(cache.entries) for cache in pre.caches.values()]), pre.size_bytes)


def inserted(event: Op, step: Step) -> int:
    """The number of entries that entered a cache."""
    if not step.parts:
        return int(type(event) is Insert and was_taken(step))
    return sum(1 for part in step.parts if type(part.event) is Insert and was_taken(part.step))


def insertions_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """An entry entered a cache, or the counter moved."""
    if step.state.counts is pre.counts and not step.parts and type(event) is not Insert:
        return False
    return step.state.counts.inserted_entries != pre.counts.inserted_entries or inserted(event, step) > 0


def insertions_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-METRICS-3."""
    return step.state.counts.inserted_entries == pre.counts.inserted_entries + inserted(event, step)


def evicted(pre: State, event: Op, step: Step) -> int:
    """The number of entries that left a cache by an operation that removes some."""
    if not step.parts:
        return len(left(pre, step)) if type(event) in REMOVING else 0
    return sum(len(left(part.pre, part.step)) for part in step.parts if type(part.event) in REMOVING)


def evictions_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """An entry left, or the counter moved."""
    return step.state.counts.evicted_entries != pre.counts.evicted_entries or evicted(pre, event, step) > 0


def evictions_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-METRICS-4."""
    return step.state.counts.evicted_entries == pre.counts.evicted_entries + evicted(pre, event, step)


def size_passes(step: Step) -> int:
    """The number of size passes that the manager asked for."""
    return sum(1 for part in step.parts if type(part.event) is Evict)


def cycles_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """The manager asked for a size pass, or the counter moved."""
    if step.state.counts is pre.counts and not step.parts:
        return False
    return step.state.counts.eviction_cycles != pre.counts.eviction_cycles or size_passes(step) > 0


def cycles_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-METRICS-5."""
    return step.state.counts.eviction_cycles == pre.counts.eviction_cycles + size_passes(step)


def reads_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Something was read, or one of the counters of reads moved."""
    if type(step.outcome) is Served:
        return True
    return step.state.counts is not pre.counts and step.state.counts[3:] != pre.counts[3:]


def reads_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """R-METRICS-6; which positions were hits is a matter of R-READ-7 and R-READ-10."""
    hits, hit_bytes, misses = 0, 0, 0
    if type(step.outcome) is Served and (type(event) is Read or type(event) is ReadOne):
        sizes = [entry.size_bytes for pos in step.outcome.hits if (entry := cached(pre, event.cache, pos)) is not None]
        hits, hit_bytes, misses = len(step.outcome.hits), sum(sizes), len(step.outcome.fills)
    before, after = pre.counts, step.state.counts
    return (
        after.hit_entries - before.hit_entries == hits
        and after.hit_bytes - before.hit_bytes == hit_bytes
        and after.miss_entries - before.miss_entries == misses
        and after.miss_bytes - before.miss_bytes == misses * config.storage_entry_size
    )


def tells_and_keeps(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    """R-METRICS-7."""
    return step.outcome == Counters(*pre.counts, pre.size_bytes) and (step.state is pre or step.state == pre)


COUNTING: Final = tuple(op for op in ops.OPS if op is not Metrics)

LAWS: Final = (
    Law(Rule.METRICS_1, (Usage,), asks_one, sums_of_one),
    Law(Rule.METRICS_2, (Usage,), asks_all, sums_of_all),
    Law(Rule.METRICS_3, COUNTING, insertions_in_question, insertions_counted, True),
    Law(Rule.METRICS_4, COUNTING, evictions_in_question, evictions_counted, True),
    Law(Rule.METRICS_5, COUNTING, cycles_in_question, cycles_counted, True),
    Law(Rule.METRICS_6, COUNTING, reads_in_question, reads_counted, True),
    Law(Rule.METRICS_7, (Metrics,), always, tells_and_keeps, True),
)
