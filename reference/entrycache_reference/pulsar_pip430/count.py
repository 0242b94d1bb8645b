"""The operations `mark_read` and `expect_read`: the count of expected reads.

Beside: EntryReadCountHandlerImpl.markRead, .incrementExpectedReadCount (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.change import entry_at, with_entry
from entrycache_reference.pulsar_pip430.config import Config, CountFloor
from entrycache_reference.pulsar_pip430.ops import ExpectRead, MarkRead
from entrycache_reference.pulsar_pip430.outcomes import Counted
from entrycache_reference.pulsar_pip430.rows import entry_row
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule, rule


@rule(Rule.COUNT_1, Rule.COUNT_8)
def lowered(count: int, config: Config) -> int:
    """One fewer, below 0 too; with variant `count_floor` "zero" not below 0."""
    if config.variants.count_floor is CountFloor.ZERO:
        return count - 1 if count > 0 else count
    return count - 1


@rule(Rule.COUNT_1, Rule.COUNT_3, Rule.COUNT_4)
def mark_read(state: State, event: MarkRead, config: Config) -> Step:
    """A delivery of the entry is done."""
    # GUARD: an absent or countless entry has no count to change.
    entry = entry_at(state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return Step(state, Counted(None), ())

    # DECISION: one fewer.
    count = lowered(entry.expected_reads, config)

    # EFFECT: only the count changes.
    after = with_entry(state, event.cache, event.pos, entry._replace(expected_reads=count))

    # OUTCOME
    row = entry_row(Rule.COUNT_1, "READ_DONE", "DELIVERED", after, event.cache, event.pos, entry, count)
    return Step(after, Counted(count), (row,))


@rule(Rule.COUNT_2, Rule.COUNT_3, Rule.COUNT_4)
def expect_read(state: State, event: ExpectRead, config: Config) -> Step:
    """The entry will be delivered once more."""
    # GUARD: an absent or countless entry has no count to change.
    entry = entry_at(state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return Step(state, Counted(None), ())

    # DECISION: one more.
    count = entry.expected_reads + 1

    # EFFECT: only the count changes.
    after = with_entry(state, event.cache, event.pos, entry._replace(expected_reads=count))

    # OUTCOME
    row = entry_row(Rule.COUNT_2, "EXPECT", None, after, event.cache, event.pos, entry, count)
    return Step(after, Counted(count), (row,))
