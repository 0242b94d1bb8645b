"""The operations `remove_range` and `clear`: entries leave by a call.

Beside: RangeCache.removeRange, .clear (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.change import cache_of, drop_entries, positions_between
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import Clear, RemoveRange
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.rows import removed_rows
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position


@rule(Rule.INVALIDATE_5, Rule.INVALIDATE_6, Rule.STATE_8)
def removal(state: State, name: CacheName, positions: tuple[Position, ...], rule: Rule, cause: str) -> Step:
    """Remove these entries of one cache, one row each, and answer their number and bytes."""
    after = drop_entries(state, name, positions)
    freed_bytes = sum(cache_of(state, name).entries[pos].size_bytes for pos in positions)
    return Step(after, Removed(len(positions), freed_bytes), removed_rows(rule, cause, state, name, positions))


@rule(Rule.INVALIDATE_1, Rule.INVALIDATE_2, Rule.INVALIDATE_3)
def remove_range(state: State, event: RemoveRange, config: Config) -> Step:
    """Remove the entries of a range; its end belongs to it only if `last_inclusive`."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range.
    positions = positions_between(state, event.cache, event.first, event.last)
    if not event.last_inclusive:
        positions = tuple(pos for pos in positions if pos != event.last)

    # EFFECT and OUTCOME
    return removal(state, event.cache, positions, Rule.INVALIDATE_1, "RANGE")


@rule(Rule.INVALIDATE_4)
def clear(state: State, event: Clear, config: Config) -> Step:
    """Remove every entry of a cache."""
    # GUARD: none.
    # DECISION: all positions.
    positions = tuple(sorted(cache_of(state, event.cache).entries))

    # EFFECT and OUTCOME
    return removal(state, event.cache, positions, Rule.INVALIDATE_4, "CLEAR")
