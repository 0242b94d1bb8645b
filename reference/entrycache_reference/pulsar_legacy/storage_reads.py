"""The operations `read` and `read_one`: what readers do through the cache. Storage holds every position.

Beside: RangeEntryCacheImpl.asyncReadEntry (managed-ledger 4.0.8)
"""

from __future__ import annotations

from entrycache_reference.pulsar_legacy.change import entry_at
from entrycache_reference.pulsar_legacy.config import STORED_BYTES, Config
from entrycache_reference.pulsar_legacy.insert import insert
from entrycache_reference.pulsar_legacy.lookup import found, payloads
from entrycache_reference.pulsar_legacy.ops import Insert, Read, ReadOne
from entrycache_reference.pulsar_legacy.outcomes import Served
from entrycache_reference.pulsar_legacy.passes import REFUSED
from entrycache_reference.pulsar_legacy.rows import absent_row, entry_row
from entrycache_reference.pulsar_legacy.state import Entry, Part, Row, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position


@rule(Rule.L_READ_4, Rule.L_READ_6)
def from_cache(state: State, name: CacheName, entries: dict[Position, Entry]) -> Step:
    """Serve these entries; nothing of them changes."""
    rows = tuple(
        entry_row(Rule.L_READ_4, "HIT", "READ", state, name, pos, entry, state.size_bytes)
        for pos, entry in entries.items()
    )
    return Step(state, Served(tuple(entries), (), payloads(tuple(entries.values()))), rows)


@rule(Rule.L_READ_5, Rule.L_READ_6)
def from_storage(wanted: tuple[Position, ...]) -> Served:
    """Serve these positions from storage; the payload of each is its entry id."""
    return Served((), wanted, tuple(pos.entry for pos in wanted))


@rule(Rule.L_READ_4)
def all_cached(state: State, name: CacheName, wanted: tuple[Position, ...]) -> dict[Position, Entry] | None:
    """The entries at these positions; None where one of them is not cached."""
    found = {pos: entry for pos in wanted if (entry := entry_at(state, name, pos)) is not None}
    return found if len(found) == len(wanted) else None


@rule(Rule.L_READ_4, Rule.L_READ_5, Rule.L_STATE_3)
def read(state: State, event: Read, config: Config) -> Step:
    """Read a range through the cache."""
    # GUARD: one ledger, in order.
    if event.first.ledger != event.last.ledger or event.first > event.last:
        return Step(state, REFUSED, ())

    # DECISION: all of it from the cache, or all of it from storage.
    numbers = range(event.first.entry, event.last.entry + 1)
    wanted = tuple(Position(event.first.ledger, number) for number in numbers)
    entries = all_cached(state, event.cache, wanted)
    if entries is not None:
        return from_cache(state, event.cache, entries)

    # EFFECT: each of them is offered to the cache, also one that is cached, as an insert of its own.
    filled = fill(state, event.cache, wanted, config)

    # OUTCOME
    rows = tuple(absent_row(Rule.L_READ_5, "MISS", "READ", state, event.cache, pos) for pos in wanted)
    return filled._replace(rows=rows + filled.rows)


@rule(Rule.L_READ_5)
def fill(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """Offer what storage has given, one by one, ascending, each with its own trigger."""
    after = state
    rows: tuple[Row, ...] = ()
    parts: tuple[Part, ...] = ()
    for pos in wanted:
        event = Insert(name, pos, STORED_BYTES, pos.entry)
        done = insert(after, event, config, "FILL")
        parts += (Part(after, event, done),)
        rows += done.rows
        after = done.state
    return Step(after, from_storage(wanted), rows, parts)


@rule(Rule.L_READ_6, Rule.L_READ_7, Rule.L_STATE_4)
def read_one(state: State, event: ReadOne, config: Config) -> Step:
    """Read one position through the cache."""
    # GUARD: none.
    # DECISION: a hit exactly when the lookup finds an entry.
    entry = found(state, event.cache, event.pos, config)
    if entry is not None:
        return from_cache(state, event.cache, {event.pos: entry})

    # EFFECT: what storage gives is not offered to the cache.
    # OUTCOME
    rows = (
        absent_row(Rule.L_READ_6, "MISS", "READ", state, event.cache, event.pos),
        absent_row(Rule.L_READ_6, "SKIP", "NOT_WANTED", state, event.cache, event.pos, STORED_BYTES),
    )
    return Step(state, from_storage((event.pos,)), rows)
