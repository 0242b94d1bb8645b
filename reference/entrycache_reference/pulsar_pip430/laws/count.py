"""The laws about `mark_read` and `expect_read`."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.config import Config, CountFloor
from entrycache_reference.pulsar_pip430.laws.law import Law, cached, nothing_touched
from entrycache_reference.pulsar_pip430.ops import ExpectRead, MarkRead
from entrycache_reference.pulsar_pip430.outcomes import Counted
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule


def count_of(state: State, event: MarkRead | ExpectRead) -> int | None:
    """The count of the entry; None where it is absent or carries none."""
    entry = cached(state, event.cache, event.pos)
    return None if entry is None else entry.expected_reads


def is_counted(config: Config, pre: State, event: MarkRead | ExpectRead, step: Step) -> bool:
    """The entry carries a count."""
    return count_of(pre, event) is not None


def falls(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """The entry carries a count that may fall."""
    return is_counted(config, pre, event, step) and not is_at_the_floor(config, pre, event, step)


def is_at_the_floor(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """The configuration knows a floor, and the count is not above it."""
    count = count_of(pre, event)
    return config.variants.count_floor is CountFloor.ZERO and count is not None and count <= 0


def stays_at_the_floor(config: Config, pre: State, event: MarkRead, step: Step) -> bool:
    """R-COUNT-8."""
    count = count_of(pre, event)
    return count_of(step.state, event) == count and step.outcome == Counted(count)


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


LAWS: Final = (
    Law(Rule.COUNT_1, (MarkRead,), falls, one_fewer),
    Law(Rule.COUNT_2, (ExpectRead,), is_counted, one_more),
    Law(Rule.COUNT_3, (MarkRead, ExpectRead), is_countless, stays_countless),
    Law(Rule.COUNT_8, (MarkRead,), is_at_the_floor, stays_at_the_floor),
    Law(Rule.COUNT_4, (MarkRead, ExpectRead), is_counted, only_the_count),
)
