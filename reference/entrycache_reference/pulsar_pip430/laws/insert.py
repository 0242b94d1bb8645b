"""The laws about `insert`."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, DuplicateCount, ZeroReads
from entrycache_reference.pulsar_pip430.laws.law import Law, cached, entries_of, nothing_touched, others_kept
from entrycache_reference.pulsar_pip430.laws.state import refuses, to_refuse
from entrycache_reference.pulsar_pip430.ops import Insert
from entrycache_reference.pulsar_pip430.outcomes import Inserted
from entrycache_reference.pulsar_pip430.state import Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def is_new(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Caching is on, and the cache does not hold the position."""
    return config.max_size_bytes > 0 and event.size >= 0 and cached(pre, event.cache, event.pos) is None


def is_duplicate(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The cache holds the position, and the configuration asks for the norm."""
    return config.variants.duplicate_count is DuplicateCount.KEPT and offers_again(config, pre, event, step)


def offers_again(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The cache holds the position."""
    return config.max_size_bytes > 0 and event.size >= 0 and cached(pre, event.cache, event.pos) is not None


def is_disabled(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """Caching is switched off."""
    return config.max_size_bytes == 0 and event.size >= 0


def adds_at_the_tail(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-INSERT-1; what the entry expects is a matter of R-INSERT-4 and R-INSERT-6."""
    entry = cached(step.state, event.cache, event.pos)
    if entry is None or step.outcome != Inserted(True):
        return False
    token = None if event.token is ABSENT else event.token
    as_inserted = (event.size, pre.now_nanos, 0, False, entry.expected_reads, token)
    wanted = entries_of(pre, event.cache)
    wanted[event.pos] = entry
    return (
        entry == as_inserted
        and step.state.queue == (*pre.queue, Slot(event.cache, event.pos))
        and step.state.caches[event.cache].entries == wanted
        and others_kept(pre, step, event.cache)
    )


def first_one_stays(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-INSERT-2."""
    return step.outcome == Inserted(False) and nothing_touched(pre, step)


def takes_nothing(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-INSERT-3."""
    return step.outcome == Inserted(False) and nothing_touched(pre, step)


def recounts(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """The cache holds the position, and the configuration lets a duplicate bring its count."""
    return config.variants.duplicate_count is DuplicateCount.REPLACED and offers_again(config, pre, event, step)


def takes_the_new_count(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-INSERT-8; that what was held has lost its claim is a matter of R-COUNT-6."""
    given = None if expects_none(config, event) else event.expected_reads
    wanted = entries_of(pre, event.cache)
    wanted[event.pos] = wanted[event.pos]._replace(expected_reads=given if isinstance(given, int) else None)
    after = step.state
    return (
        step.outcome == Inserted(False)
        and entries_of(after, event.cache) == wanted
        and (after.queue, after.size_bytes, after.now_nanos) == (pre.queue, pre.size_bytes, pre.now_nanos)
        and others_kept(pre, step, event.cache)
    )


def expects_none(config: Config, event: Insert) -> bool:
    """Whether nobody is expected, as the configuration counts."""
    if event.expected_reads is ABSENT or event.expected_reads is None or event.expected_reads < 0:
        return True
    return event.expected_reads == 0 and config.variants.zero_reads is ZeroReads.UNCOUNTED


def new_without_reads(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """A new entry for which nobody is expected."""
    return expects_none(config, event) and is_new(config, pre, event, step)


def carries_no_count(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-INSERT-4."""
    entry = cached(step.state, event.cache, event.pos)
    return entry is None or entry.expected_reads is None


def new_with_reads(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """A new entry for which reads are expected."""
    return event.expected_reads != 0 and not expects_none(config, event) and is_new(config, pre, event, step)


def new_with_zero(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """A new entry for which 0 reads are expected, where the configuration counts them."""
    return event.expected_reads == 0 and not expects_none(config, event) and is_new(config, pre, event, step)


def carries_that_count(config: Config, pre: State, event: Insert, step: Step) -> bool:
    """R-INSERT-6, R-INSERT-7."""
    entry = cached(step.state, event.cache, event.pos)
    return entry is None or entry.expected_reads == event.expected_reads


LAWS: Final = (
    Law(Rule.INSERT_1, (Insert,), is_new, adds_at_the_tail),
    Law(Rule.INSERT_2, (Insert,), is_duplicate, first_one_stays),
    Law(Rule.INSERT_3, (Insert,), is_disabled, takes_nothing),
    Law(Rule.INSERT_4, (Insert,), new_without_reads, carries_no_count),
    Law(Rule.INSERT_5, (Insert,), to_refuse, refuses),
    Law(Rule.INSERT_6, (Insert,), new_with_reads, carries_that_count),
    Law(Rule.INSERT_7, (Insert,), new_with_zero, carries_that_count),
    Law(Rule.INSERT_8, (Insert,), recounts, takes_the_new_count),
)
