"""Removal by a call: `remove_range`, `clear`, `invalidate_before`, `invalidate_ledger`, and `remove_cache`.

Each operation chooses positions of one cache; `remove_positions` removes them and writes a row for each.

Beside: RangeEntryCacheImpl.invalidateEntries, .invalidateAllEntries, .clear (managed-ledger 4.0.8)
"""

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.change import cache_of, drop_entries, positions_of, removal_rows
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import Part, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position


@rule(Rule.L_STATE_5)
def count_removed(state: State, name: CacheName, positions: tuple[Position, ...]) -> ops.Removed:
    """Return the number and the bytes of these entries."""
    return ops.Removed(len(positions), sum(cache_of(state, name).entries[pos].size_bytes for pos in positions))


@rule(Rule.L_STATE_5)
def remove_positions(state: State, name: CacheName, positions: tuple[Position, ...], rule: Rule, cause: str) -> Step:
    """Remove these entries of one cache, with one row each, and answer their number and bytes."""
    after = drop_entries(state, name, positions)
    rows = removal_rows(rule, "REMOVE", cause, state, name, positions)
    return Step(after, count_removed(state, name, positions), rows)


@rule(Rule.L_INVALIDATE_1)
def remove_range(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """Remove the entries of a range; its end belongs to it only if `last_inclusive`."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range.
    positions = tuple(pos for pos in positions_of(state, event.cache) if event.first <= pos <= event.last)
    if not event.last_inclusive:
        positions = tuple(pos for pos in positions if pos != event.last)

    # EFFECT and OUTCOME
    return remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_1, "RANGE")


@rule(Rule.L_INVALIDATE_2)
def clear(state: State, event: ops.Clear, config: Config) -> Step:
    """Remove every entry of a cache."""
    # GUARD: none.
    # DECISION: all positions.
    # EFFECT and OUTCOME
    return remove_positions(state, event.cache, positions_of(state, event.cache), Rule.L_INVALIDATE_2, "CLEAR")


@rule(Rule.L_INVALIDATE_3)
def invalidate_before(state: State, event: ops.InvalidateBefore, config: Config) -> Step:
    """Remove every entry of a cache below a position, which the slowest cursor has read."""
    # GUARD: none.
    # DECISION: the entry at the position stays.
    positions = tuple(pos for pos in positions_of(state, event.cache) if pos < event.pos)

    # EFFECT and OUTCOME
    return remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_3, "CURSOR")


@rule(Rule.L_INVALIDATE_4)
def invalidate_ledger(state: State, event: ops.InvalidateLedger, config: Config) -> Step:
    """Remove the entries of one ledger."""
    # GUARD: none.
    # DECISION: all entries of that ledger.
    positions = tuple(pos for pos in positions_of(state, event.cache) if pos.ledger == event.ledger)

    # EFFECT and OUTCOME
    return remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_4, "LEDGER")


@rule(Rule.L_INVALIDATE_5)
def remove_cache(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """Remove a cache from the manager; a scheduled pass stays scheduled."""
    # GUARD: none.
    # DECISION: all its entries leave.
    # EFFECT: its name may come back, and is then that of an empty cache.
    positions = positions_of(state, event.cache)
    cleared = remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_5, "CLOSE")

    # OUTCOME
    return Step(cleared.state, ops.Done(), cleared.rows, (Part(state, ops.Clear(event.cache), cleared),))
