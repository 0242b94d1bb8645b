"""The decision of a pass about the slot at the head of the queue, and the thresholds that trigger a size pass.

`DECISION` is a table: a pass looks at five facts about the slot, and the first matching line gives the action and its
rule. `LOOKUP` is the same table by every combination of facts. The table is data: the drawn table, coverage entries,
the z3 relation, the TLA+ operator and the faults with one flipped cell all come from it. Whether a size pass is due is
decided by the bytes: `bytes_over` compares them with the trigger and the target.

Beside: RangeCacheRemovalQueue.shouldRequeue, EntryReadCountHandler.hasExpectedReads (managed-ledger 4.2.4)
Beside: RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold (managed-ledger 4.2.4)
"""

from enum import Enum
from itertools import product
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import Settings
from entrycache_reference.pulsar_pip430.state import Entry, State
from entrycache_reference.rules import Rule, rule

ANY: Final = None
"""A cell of the table that matches both true and false."""


class Action(Enum):
    """The action of a pass on the slot at the head."""

    MISSING = "drop the dead slot"
    STOP = "leave the slot and end the pass"
    REQUEUE_ACCESSED = "put the entry at the tail, because it was accessed"
    REQUEUE_EXPECTED = "put the entry at the tail, because reads are expected"
    REMOVE = "remove the entry"


class Facts(NamedTuple):
    """The facts that the decision looks at.

    gone: the slot is dead. halt: a time pass meets a stamp that is not below its cutoff, or a size pass has freed
    enough. touched: the entry was accessed, and access extends its stay. expected: the entry expects a read. spare: its
    requeue budget is not used up.
    """

    gone: bool
    halt: bool
    touched: bool
    expected: bool
    spare: bool


class Line(NamedTuple):
    """One line of the table; it matches if each cell is ANY or equals the fact."""

    cells: tuple[bool | None, bool | None, bool | None, bool | None, bool | None]
    action: Action
    rule: Rule


DECISION: Final = (
    #     gone   halt   touched expected spare       the first line that matches decides
    Line((True,  ANY,   ANY,    ANY,     ANY),   Action.MISSING,          Rule.EVICT_1),
    Line((False, True,  ANY,    ANY,     ANY),   Action.STOP,             Rule.EVICT_2),
    Line((False, False, True,   ANY,     ANY),   Action.REQUEUE_ACCESSED, Rule.REQUEUE_1),
    Line((False, False, False,  True,    True),  Action.REQUEUE_EXPECTED, Rule.REQUEUE_2),
    Line((False, False, False,  True,    False), Action.REMOVE,           Rule.REQUEUE_3),
    Line((False, False, False,  False,   ANY),   Action.REMOVE,           Rule.EVICT_3),
)  # fmt: skip


def matches(line: Line, facts: Facts) -> bool:
    """Return whether every cell of the line is ANY or equals the fact in its column."""
    return all(cell is ANY or cell == fact for cell, fact in zip(line.cells, facts, strict=True))


def build_lookup(table: tuple[Line, ...]) -> dict[Facts, Line]:
    """Build a mapping from each combination of facts to the first line that matches, if any."""
    first_match: dict[Facts, Line] = {}
    for values in product((False, True), repeat=5):
        facts = Facts(*values)
        for line in table:
            if matches(line, facts):
                first_match[facts] = line
                break
    return first_match


LOOKUP: Final = build_lookup(DECISION)


@rule(Rule.REQUEUE_7)
def is_touched(entry: Entry, settings: Settings) -> bool:
    """Return whether access extends the stay of the entry (R-REQUEUE-1, R-REQUEUE-7)."""
    return settings.extend_recently_accessed and entry.accessed


@rule(Rule.REQUEUE_8)
def is_expected(entry: Entry) -> bool:
    """Return whether the entry expects a read (R-REQUEUE-8)."""
    return entry.expected_reads is not None and entry.expected_reads >= 1


@rule(Rule.REQUEUE_6)
def has_spare_requeue(entry: Entry, settings: Settings) -> bool:
    """Return whether the budget of the entry allows one more requeue for expected reads (R-REQUEUE-6)."""
    return entry.requeues < settings.max_requeues


@rule(Rule.EVICT_3, Rule.REQUEUE_1, Rule.REQUEUE_2, Rule.REQUEUE_3)
def decide(entry: Entry | None, halt: bool, settings: Settings) -> Line:
    """Return the line of the table that decides about the head; if `entry` is None, the slot is dead."""
    if entry is None:
        return LOOKUP[Facts(True, halt, False, False, False)]
    return LOOKUP[
        Facts(False, halt, is_touched(entry, settings), is_expected(entry), has_spare_requeue(entry, settings))
    ]


# The two thresholds of the manager's bytes.


@rule(Rule.TRIGGER_1)
def trigger_bytes(state: State) -> int:
    """Return the bytes above which an insert triggers a size pass: the IEEE product, truncated."""
    return int(state.settings.max_size_bytes * 0.98)


@rule(Rule.TRIGGER_1)
def target_bytes(state: State) -> int:
    """Return the bytes down to which a triggered size pass frees: the IEEE product, truncated."""
    return int(state.settings.max_size_bytes * state.settings.watermark)


@rule(Rule.TRIGGER_2, Rule.TRIGGER_5, Rule.TRIGGER_6, Rule.TRIGGER_8)
def bytes_over(state: State) -> int:
    """Return the bytes that a size pass has to free: none at or under the trigger, else those above the target."""
    if state.size_bytes <= trigger_bytes(state):
        return 0
    return max(0, state.size_bytes - target_bytes(state))
