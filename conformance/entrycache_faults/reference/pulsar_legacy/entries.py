"""Seeded faults of inserts, lookups, reads and removal by a call; the registry of all faults of `pulsar-legacy`.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it. Its docstring, up to a blank line, is its note. `seeded_fault` enters it in the registry.
"""

from dataclasses import replace
from typing import Final

from entrycache_faults.model import FaultRegistry
from entrycache_reference.pulsar_legacy import change, entries, ops, passes, remove
from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_legacy")

seeded_fault = SEEDED_FAULTS.register


# An error within a variant; no subject runs with it.


@seeded_fault(Rule.L_READ_7, "entries.find_entry")
def object_found_by_its_position(state: State, name: CacheName, pos: Position, config: Config) -> Entry | None:
    """With variant `single_lookup` "object" a single entry is found all the same."""
    return change.entry_at(state, name, pos)


NOT_TAKEN = ops.Inserted(False)


@seeded_fault(Rule.L_INSERT_1, "entries.new_entry")
def stamped_too_late(state: State, event: ops.Insert) -> Entry:
    """A new entry is stamped a nanosecond after the present."""
    entry = entries.new_entry(state, event)
    return entry._replace(stamp_nanos=entry.stamp_nanos + 1)


@seeded_fault(Rule.L_INSERT_2, ops.Insert)
def duplicate_stamped_anew(state: State, event: ops.Insert, config: Config) -> Step:
    """An entry that is offered again gets a new stamp."""
    result = entries.insert(state, event, config)
    entry = change.entry_at(result.state, event.cache, event.pos)
    if result.outcome != NOT_TAKEN or entry is None or not entries.has_room(state, config):
        return result
    cache = change.cache_of(result.state, event.cache)
    renewed = {**cache.entries, event.pos: entry._replace(stamp_nanos=state.now_nanos)}
    return result._replace(state=change.with_cache(result.state, event.cache, renewed, cache.size_bytes))


@seeded_fault(Rule.L_INSERT_2, ops.Insert, other=True)
def duplicate_answered_as_taken(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert of a cached position answers true."""
    result = entries.insert(state, event, config)
    is_duplicate = result.outcome == NOT_TAKEN and entries.has_room(state, config)
    return result._replace(outcome=ops.Inserted(True)) if is_duplicate else result


@seeded_fault(Rule.L_INSERT_3, "entries.has_room")
def room_at_the_limit(before: State, config: Config) -> bool:
    """An insert is taken though the bytes are at the limit."""
    return before.size_bytes <= config.max_size_bytes


@seeded_fault(Rule.L_INSERT_3, ops.Insert, other=True)
def room_after_the_pass(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert is taken where its own pass has made room."""
    result = entries.insert(state, event, config)
    if (
        result.outcome != NOT_TAKEN
        or not result.parts
        or change.entry_at(result.state, event.cache, event.pos) is not None
    ):
        return result
    if not entries.has_room(result.state, config):
        return result
    after = change.add_entry(result.state, event.cache, event.pos, entries.new_entry(state, event))
    return result._replace(state=after, outcome=ops.Inserted(True))


@seeded_fault(Rule.L_INSERT_4, ops.Insert)
def refused_for_its_size(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert that would exceed the limit is not taken."""
    result = entries.insert(state, event, config)
    is_new = change.entry_at(state, event.cache, event.pos) is None
    if result.outcome == NOT_TAKEN or not is_new or state.size_bytes + event.size <= config.max_size_bytes:
        return result
    if isinstance(result.outcome, ops.Refused):
        return result
    return result._replace(state=passes.request_pass(state, config).state, outcome=NOT_TAKEN)


@seeded_fault(Rule.L_INSERT_5, ops.Insert)
def duplicate_by_the_state_before(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert checks for a cached position before the pass instead of after it."""
    result = entries.insert(state, event, config)
    if result.outcome != ops.Inserted(True) or change.entry_at(state, event.cache, event.pos) is None:
        return result
    return result._replace(state=passes.request_pass(state, config).state, outcome=NOT_TAKEN)


@seeded_fault(Rule.L_READ_1, ops.Get)
def get_misses_what_is_empty(state: State, event: ops.Get, config: Config) -> Step:
    """An entry of 0 bytes is a miss."""
    entry = change.entry_at(state, event.cache, event.pos)
    result = entries.get(state, event, config)
    return result._replace(outcome=ops.Hit(False)) if entry is not None and entry.size_bytes == 0 else result


@seeded_fault(Rule.L_READ_2, ops.GetRange)
def range_without_its_end(state: State, event: ops.GetRange, config: Config) -> Step:
    """The end of a range is left out."""
    last = event.last._replace(entry=event.last.entry - 1)
    return entries.get_range(state, replace(event, last=last), config)


@seeded_fault(Rule.L_READ_3, ops.Exists)
def exists_in_any_cache(state: State, event: ops.Exists, config: Config) -> Step:
    """A position exists where any cache holds it."""
    is_cached = any(event.pos in cache.entries for cache in state.caches.values())
    return Step(state, ops.Existing(is_cached), ())


@seeded_fault(Rule.L_READ_4, ops.Read)
def partial_hits(state: State, event: ops.Read, config: Config) -> Step:
    """The cached part of a range is served from the cache, as in later releases."""
    result = entries.read(state, event, config)
    if not isinstance(result.outcome, ops.Served):
        return result
    cached = change.cache_of(state, event.cache).entries
    hits = tuple(pos for pos in result.outcome.fills if pos in cached)
    if not hits:
        return result
    fills = tuple(pos for pos in result.outcome.fills if pos not in cached)
    carried = entries.payloads(tuple(cached[pos] for pos in hits))
    tokens = None if carried is None else carried + tuple(pos.entry for pos in fills)
    return result._replace(outcome=ops.Served(hits, fills, tokens))


@seeded_fault(Rule.L_READ_5, "entries.fill")
def only_what_was_missing(state: State, name: CacheName, positions: tuple[Position, ...], config: Config) -> Step:
    """Of what storage gave only that is offered which was not cached: a cached position asks for no pass."""
    cached = change.cache_of(state, name).entries
    filled = entries.fill(state, name, tuple(pos for pos in positions if pos not in cached), config)
    return filled._replace(outcome=entries.serve_from_storage(positions))


@seeded_fault(Rule.L_READ_5, "entries.fill", other=True)
def later_fills_unasked(state: State, name: CacheName, positions: tuple[Position, ...], config: Config) -> Step:
    """Only the first fill of a range asks for a pass and for room; the others go with it."""
    first = entries.fill(state, name, positions[:1], config)
    after = first.state
    for pos in positions[1:]:
        if change.entry_at(after, name, pos) is None and entries.has_room(state, config):
            event = ops.Insert(name, pos, 100, pos.entry)
            after = change.add_entry(after, name, pos, entries.new_entry(after, event))
    return first._replace(state=after, outcome=entries.serve_from_storage(positions))


@seeded_fault(Rule.L_READ_6, ops.ReadOne)
def single_read_is_cached(state: State, event: ops.ReadOne, config: Config) -> Step:
    """An entry that storage gives to a single read is offered to the cache."""
    result = entries.read_one(state, event, config)
    if isinstance(result.outcome, ops.Served) and result.outcome.fills:
        return result._replace(state=entries.fill(state, event.cache, (event.pos,), config).state)
    return result


@seeded_fault(Rule.L_INVALIDATE_1, ops.RemoveRange)
def end_always_removed(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """The end of a range is removed, whatever was said of it."""
    return remove.remove_range(state, replace(event, last_inclusive=True), config)


@seeded_fault(Rule.L_INVALIDATE_2, ops.Clear)
def clear_leaves_one(state: State, event: ops.Clear, config: Config) -> Step:
    """The last entry of a cache survives its clearing."""
    positions = change.positions_of(state, event.cache)[:-1]
    return remove.remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_2, "CLEAR")


@seeded_fault(Rule.L_INVALIDATE_3, ops.InvalidateBefore)
def position_removed_too(state: State, event: ops.InvalidateBefore, config: Config) -> Step:
    """The entry at the position of the slowest cursor is removed too."""
    positions = tuple(pos for pos in change.positions_of(state, event.cache) if pos <= event.pos)
    return remove.remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_3, "CURSOR")


@seeded_fault(Rule.L_INVALIDATE_4, ops.InvalidateLedger)
def earlier_ledgers_removed(state: State, event: ops.InvalidateLedger, config: Config) -> Step:
    """Earlier ledgers are removed too."""
    positions = tuple(pos for pos in change.positions_of(state, event.cache) if pos.ledger <= event.ledger)
    return remove.remove_positions(state, event.cache, positions, Rule.L_INVALIDATE_4, "LEDGER")


@seeded_fault(Rule.L_INVALIDATE_5, ops.RemoveCache)
def closed_cache_comes_back_full(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """A cache that is taken out of the manager keeps its entries, and has them when its name comes back."""
    return Step(state, ops.Done(), ())
