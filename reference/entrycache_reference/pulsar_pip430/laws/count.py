"""The laws about `mark_read` and `expect_read`, and about `usage`."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law, cached, entries_of, nothing_touched
from entrycache_reference.pulsar_pip430.ops import ExpectRead, MarkRead, Usage
from entrycache_reference.pulsar_pip430.outcomes import Counted, Used
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def count_of(state: State, event: MarkRead | ExpectRead) -> int | None:
    """The count of the entry; None where it is absent or carries none."""
    entry = cached(state, event.cache, event.pos)
    return None if entry is None else entry.expected_reads


def is_counted(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """The entry carries a count."""
    return count_of(pre, event) is not None


def one_fewer(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """R-COUNT-1."""
    count = count_of(pre, event)
    return count is not None and count_of(step.state, event) == count - 1 and step.outcome == Counted(count - 1)


def one_more(config: Config, pre: State, event: ExpectRead, step: Step) -> bool:
    """R-COUNT-2."""
    count = count_of(pre, event)
    return count is not None and count_of(step.state, event) == count + 1 and step.outcome == Counted(count + 1)


def is_countless(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """The entry is absent or carries no count."""
    return count_of(pre, event) is None


def stays_countless(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """R-COUNT-3."""
    return step.outcome == Counted(None) and nothing_touched(pre, step)


def only_the_count(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """R-COUNT-4: whatever the count is now, nothing else of the entry differs."""
    entry = cached(pre, event.cache, event.pos)
    after = cached(step.state, event.cache, event.pos)
    if entry is None or after is None or step.state.queue != pre.queue:
        return False
    return after._replace(expected_reads=None) == entry._replace(expected_reads=None)


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


LAWS: Final = (
    Law(Rule.COUNT_1, (MarkRead,), is_counted, one_fewer),
    Law(Rule.COUNT_2, (ExpectRead,), is_counted, one_more),
    Law(Rule.COUNT_3, (MarkRead, ExpectRead), is_countless, stays_countless),
    Law(Rule.COUNT_4, (MarkRead, ExpectRead), is_counted, only_the_count),
    Law(Rule.METRICS_1, (Usage,), asks_one, sums_of_one),
    Law(Rule.METRICS_2, (Usage,), asks_all, sums_of_all),
)
