"""The operations `get`, `get_range` and `exists`. None of them leaves a mark.

Beside: RangeCache.get, .getRange, .exists (managed-ledger 4.0.8)
"""

from __future__ import annotations

from entrycache_reference.pulsar_legacy.change import cache_of, entry_at, positions_of
from entrycache_reference.pulsar_legacy.config import Config, SingleLookup
from entrycache_reference.pulsar_legacy.ops import Exists, Get, GetRange
from entrycache_reference.pulsar_legacy.outcomes import Existing, Hit, Hits
from entrycache_reference.pulsar_legacy.rows import absent_row, entry_row
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position


@rule(Rule.L_READ_1, Rule.L_READ_2)
def payloads(entries: tuple[Entry, ...]) -> tuple[int, ...] | None:
    """The payloads of these entries; None where there is none, or one carries none."""
    carried = tuple(entry.token for entry in entries if entry.token is not None)
    return carried if carried and len(carried) == len(entries) else None


@rule(Rule.L_READ_1, Rule.L_READ_6, Rule.L_READ_7)
def found(state: State, name: CacheName, pos: Position, config: Config) -> Entry | None:
    """What a lookup of one position finds. With variant `single_lookup` "object" nobody has the object to ask for."""
    return entry_at(state, name, pos) if config.variants.single_lookup is SingleLookup.POSITION else None


@rule(Rule.L_READ_1, Rule.L_READ_7, Rule.L_STATE_4)
def get(state: State, event: Get, config: Config) -> Step:
    """Look one entry up."""
    # GUARD: none.
    # DECISION: a hit exactly when the lookup finds an entry.
    entry = found(state, event.cache, event.pos, config)
    if entry is None:
        return Step(state, Hit(False), (absent_row(Rule.L_READ_1, "MISS", "GET", state, event.cache, event.pos),))

    # EFFECT: none.
    # OUTCOME
    row = entry_row(Rule.L_READ_1, "HIT", "GET", state, event.cache, event.pos, entry, state.size_bytes)
    return Step(state, Hit(True, payloads((entry,))), (row,))


@rule(Rule.L_READ_2, Rule.L_STATE_4)
def get_range(state: State, event: GetRange, config: Config) -> Step:
    """Look up a range of positions, both ends included."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range, ascending.
    held = tuple(pos for pos in positions_of(state, event.cache) if event.first <= pos <= event.last)
    entries = tuple(cache_of(state, event.cache).entries[pos] for pos in held)

    # EFFECT: none.
    # OUTCOME
    rows = tuple(
        entry_row(Rule.L_READ_2, "HIT", "GET", state, event.cache, pos, entry, state.size_bytes)
        for pos, entry in zip(held, entries, strict=True)
    )
    return Step(state, Hits(held, payloads(entries)), rows)


@rule(Rule.L_READ_3, Rule.L_STATE_4)
def exists(state: State, event: Exists, config: Config) -> Step:
    """Ask whether a position is cached."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, Existing(entry_at(state, event.cache, event.pos) is not None), ())
