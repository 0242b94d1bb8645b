"""One entry enters a cache, or does not.

Beside: RangeEntryCacheImpl.insert, RangeEntryCacheManagerImpl.hasSpaceInCache (managed-ledger 4.0.8)
"""

from __future__ import annotations

from entrycache_reference.pulsar_legacy.change import add_entry, entry_at
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import Insert
from entrycache_reference.pulsar_legacy.outcomes import Inserted
from entrycache_reference.pulsar_legacy.passes import REFUSED
from entrycache_reference.pulsar_legacy.rows import absent_row, entry_row
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.pulsar_legacy.trigger import ask
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT


@rule(Rule.L_INSERT_1)
def new_entry(state: State, event: Insert) -> Entry:
    """A new entry, stamped with the present."""
    return Entry(event.size, state.now_nanos, None if event.token is ABSENT else event.token)


@rule(Rule.L_INSERT_3, Rule.L_INSERT_4)
def has_room(before: State, config: Config) -> bool:
    """Whether an insert is taken that began in this state: its own size is not asked for, nor what its pass freed."""
    return before.size_bytes < config.max_size_bytes


@rule(Rule.L_INSERT_2, Rule.L_INSERT_5)
def is_cached(state: State, event: Insert) -> bool:
    """Whether the position is taken, after the pass that this insert ran."""
    return entry_at(state, event.cache, event.pos) is not None


@rule(
    Rule.L_INSERT_1,
    Rule.L_INSERT_2,
    Rule.L_INSERT_3,
    Rule.L_INSERT_4,
    Rule.L_INSERT_5,
    Rule.L_TRIGGER_2,
    Rule.L_TRIGGER_7,
    Rule.L_STATE_3,
)
def insert(state: State, event: Insert, config: Config, cause: str = "ADD") -> Step:
    """Offer one entry to a cache; `cause` is that of its row."""
    # GUARD: a size below 0 is refused.
    if event.size < 0:
        return Step(state, REFUSED, ())

    # DECISION: the trigger comes first; then one reading of the bytes, that of the beginning, and the position.
    asked = ask(state, config)
    if not has_room(state, config):
        row = absent_row(Rule.L_INSERT_3, "SKIP", "FULL", asked.state, event.cache, event.pos, event.size)
        return Step(asked.state, Inserted(False), (*asked.rows, row), asked.parts)
    if is_cached(asked.state, event):
        row = absent_row(Rule.L_INSERT_2, "REJECT", "DUPLICATE", asked.state, event.cache, event.pos, event.size)
        return Step(asked.state, Inserted(False), (*asked.rows, row), asked.parts)

    # EFFECT: the entry stands in its cache, and in both sums.
    entry = new_entry(asked.state, event)
    after = add_entry(asked.state, event.cache, event.pos, entry)

    # OUTCOME
    row = entry_row(Rule.L_INSERT_1, "INSERT", cause, after, event.cache, event.pos, entry, after.size_bytes)
    row = row._replace(stamp_ns=None, new_stamp_ns=entry.stamp_nanos)
    return Step(after, Inserted(True), (*asked.rows, row), asked.parts)
