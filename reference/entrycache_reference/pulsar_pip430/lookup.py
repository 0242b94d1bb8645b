"""The operations `get`, `get_range` and `exists`.

Beside: RangeCache.get, .getRange, .exists, RangeCacheEntryWrapper.getValue (managed-ledger 4.2.4)
"""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.change import entry_at, positions_between, with_entry
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import Exists, Get, GetRange
from entrycache_reference.pulsar_pip430.outcomes import Existing, Hit, Hits
from entrycache_reference.pulsar_pip430.rows import absent_row, entry_row
from entrycache_reference.pulsar_pip430.state import Entry, State, Step
from entrycache_reference.rules import Rule, rule


@rule(Rule.READ_2, Rule.READ_4)
def marked(entry: Entry) -> Entry:
    """The entry, marked accessed."""
    return entry._replace(accessed=True)


@rule(Rule.READ_1, Rule.READ_2)
def get(state: State, event: Get, config: Config) -> Step:
    """Look one entry up."""
    # GUARD: none.
    # DECISION: a hit exactly when the position is cached.
    entry = entry_at(state, event.cache, event.pos)
    if entry is None:
        row = absent_row(Rule.READ_1, "MISS", "GET", state, event.cache, event.pos)
        return Step(state, Hit(False), (row,))

    # EFFECT: the entry is marked accessed; its stamp and place stay.
    after = with_entry(state, event.cache, event.pos, marked(entry))

    # OUTCOME
    row = entry_row(Rule.READ_2, "HIT", "GET", after, event.cache, event.pos, entry, entry.expected_reads)
    return Step(after, Hit(True, None if entry.token is None else (entry.token,)), (row,))


@rule(Rule.READ_3, Rule.READ_4, Rule.READ_5)
def get_range(state: State, event: GetRange, config: Config) -> Step:
    """Look up a range of positions, both ends included."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range, ascending.
    found = positions_between(state, event.cache, event.first, event.last)
    entries = {pos: state.caches[event.cache].entries[pos] for pos in found}

    # EFFECT: each of them is marked accessed.
    after = state
    for pos, entry in entries.items():
        after = with_entry(after, event.cache, pos, marked(entry))

    # OUTCOME
    rows = tuple(
        entry_row(Rule.READ_4, "HIT", "GET", after, event.cache, pos, entry, entry.expected_reads)
        for pos, entry in entries.items()
    )
    carried = tuple(entry.token for entry in entries.values() if entry.token is not None)
    return Step(after, Hits(found, carried if carried and len(carried) == len(found) else None), rows)


@rule(Rule.READ_6, Rule.STATE_7)
def exists(state: State, event: Exists, config: Config) -> Step:
    """Ask whether a position is cached; nothing is marked."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, Existing(entry_at(state, event.cache, event.pos) is not None), ())
