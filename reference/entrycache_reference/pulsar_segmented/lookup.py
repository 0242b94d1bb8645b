"""The operations `get` and `get_range`; neither changes anything.

A range is found in whichever segments hold its entries, or (variant `range_walk`) by one walk over the segments.
"""

from entrycache_reference.pulsar_segmented.config import Config, RangeWalk
from entrycache_reference.pulsar_segmented.ops import Get, GetRange
from entrycache_reference.pulsar_segmented.outcomes import Hit, Hits
from entrycache_reference.pulsar_segmented.state import (
    Entry,
    Place,
    State,
    Step,
    find_entry,
    find_in_segment,
    newest_first,
)
from entrycache_reference.pulsar_segmented.views import lookup_row, range_rows
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position


@rule(Rule.S_GET_3)
def payloads(entries: tuple[Entry, ...]) -> tuple[int, ...] | None:
    """Return the payloads of the entries, if every one of them carries one."""
    tokens = tuple(entry.token for entry in entries if entry.token is not None)
    return tokens if entries and len(tokens) == len(entries) else None


@rule(Rule.S_GET_1, Rule.S_GET_2)
def get(state: State, event: Get, config: Config) -> Step:
    """Look one entry up."""
    # GUARD: none.
    # DECISION: a hit exactly when some segment holds the place.
    place = Place(event.cache, event.pos)
    entry = find_entry(state, place)

    # EFFECT: none; an entry that is read keeps its place and leaves with its segment.
    # OUTCOME
    rows = (lookup_row(Rule.S_GET_1, "GET", state, place, entry),)
    return Step(state, Hit(False) if entry is None else Hit(True, payloads((entry,))), rows)


@rule(Rule.S_RANGE_3)
def is_range(first: Position, last: Position) -> bool:
    """Return whether two bounds name a range: in one ledger, and in order."""
    return first.ledger == last.ledger and first <= last


@rule(Rule.S_RANGE_1)
def find_in_any_segment(state: State, cache: CacheName, first: Position, last: Position) -> tuple[Entry, ...]:
    """Return the entries between two positions of a ledger, ascending, from any segment."""
    newest: dict[Position, Entry] = {}
    for segment in newest_first(state):
        for entry in segment.entries:
            if entry.place.cache == cache and first <= entry.place.pos <= last:
                newest.setdefault(entry.place.pos, entry)
    return tuple(newest[pos] for pos in sorted(newest))


@rule(Rule.S_RANGE_4)
def find_in_one_pass(state: State, cache: CacheName, first: Position, last: Position) -> tuple[Entry, ...]:
    """Return the same entries, asking each segment once, the newest first.

    An entry that a newer segment holds behind a gap is not found. The walk also ends when only the last position is
    missing.
    """
    gathered: list[Entry] = []
    at = first
    for segment in newest_first(state):
        while at <= last and (entry := find_in_segment(segment, Place(cache, at))) is not None:
            gathered.append(entry)
            at = at._replace(entry=at.entry + 1)
        if at == last:
            break
    return tuple(gathered)


@rule(Rule.S_RANGE_2)
def require_whole_range(entries: tuple[Entry, ...], first: Position, last: Position) -> tuple[Entry, ...]:
    """Return all entries of a range, or none if one of them is missing."""
    return entries if len(entries) == last.entry - first.entry + 1 else ()


@rule(Rule.S_RANGE_1, Rule.S_RANGE_2, Rule.S_RANGE_3, Rule.S_GET_2)
def get_range(state: State, event: GetRange, config: Config) -> Step:
    """Look up a range of positions, both ends included."""
    # GUARD: a range over two ledgers, or a reversed one, holds nothing.
    first, last = event.first, event.last
    if not is_range(first, last):
        return Step(state, Hits(()), range_rows(Rule.S_RANGE_3, state, event))

    # DECISION: every entry of it, or none.
    walk = find_in_any_segment if config.variants.range_walk is RangeWalk.WHOLE else find_in_one_pass
    entries = require_whole_range(walk(state, event.cache, first, last), first, last)

    # EFFECT: none.
    # OUTCOME
    hits = tuple(lookup_row(Rule.S_RANGE_1, "READ", state, entry.place, entry) for entry in entries)
    rows = (*range_rows(Rule.S_RANGE_1 if hits else Rule.S_RANGE_2, state, event), *hits)
    return Step(state, Hits(tuple(entry.place.pos for entry in entries), payloads(entries)), rows)
