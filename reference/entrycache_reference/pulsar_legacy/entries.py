"""Inserts, lookups, reads through the cache, sums, and the clock.

`insert` first requests a size pass where the trigger is exceeded, then accepts, skips or rejects the entry. Lookups
leave no mark. `read` serves a range whole from the cache, or whole from storage; then it offers each position to the
cache. Storage holds every position.

Beside: RangeEntryCacheImpl.insert, .asyncReadEntry, RangeEntryCacheManagerImpl.hasSpaceInCache (managed-ledger 4.0.8)
Beside: RangeCache.get, .getRange, .exists, EntryCache.getSize (managed-ledger 4.0.8)
Beside: RangeEntryCacheManagerImpl.getSize (managed-ledger 4.0.8)
"""

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.change import absent_row, add_entry, cache_of, entry_at, entry_row, positions_of
from entrycache_reference.pulsar_legacy.config import STORED_BYTES, Config, SingleLookup
from entrycache_reference.pulsar_legacy.ops import Advance, Exists, Get, GetRange, Insert, Observe, Read, ReadOne, Usage
from entrycache_reference.pulsar_legacy.passes import REFUSED, request_pass
from entrycache_reference.pulsar_legacy.state import Entry, Part, Row, State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


@rule(Rule.L_INSERT_1)
def new_entry(state: State, event: Insert) -> Entry:
    """Return a new entry, stamped with the present."""
    return Entry(event.size, state.now_nanos, None if event.token is ABSENT else event.token)


@rule(Rule.L_INSERT_3, Rule.L_INSERT_4)
def has_room(before: State, config: Config) -> bool:
    """Return whether an insert that began in this state is accepted.

    Neither its own size matters, nor what its pass freed.
    """
    return before.size_bytes < config.max_size_bytes


@rule(Rule.L_INSERT_2, Rule.L_INSERT_5)
def is_cached(state: State, event: Insert) -> bool:
    """Return whether the position is occupied after the pass that this insert ran."""
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

    # DECISION: the trigger comes first; then the bytes at the beginning, and the position, decide.
    request = request_pass(state, config)
    if not has_room(state, config):
        row = absent_row(Rule.L_INSERT_3, "SKIP", "FULL", request.state, event.cache, event.pos, event.size)
        return Step(request.state, ops.Inserted(False), (*request.rows, row), request.parts)
    if is_cached(request.state, event):
        row = absent_row(Rule.L_INSERT_2, "REJECT", "DUPLICATE", request.state, event.cache, event.pos, event.size)
        return Step(request.state, ops.Inserted(False), (*request.rows, row), request.parts)

    # EFFECT: the entry stands in its cache, and in both sums.
    entry = new_entry(request.state, event)
    after = add_entry(request.state, event.cache, event.pos, entry)

    # OUTCOME
    row = entry_row(Rule.L_INSERT_1, "INSERT", cause, after, event.cache, event.pos, entry, after.size_bytes)
    row = row._replace(stamp_ns=None, new_stamp_ns=entry.stamp_nanos)
    return Step(after, ops.Inserted(True), (*request.rows, row), request.parts)


# Lookups.


@rule(Rule.L_READ_1, Rule.L_READ_2)
def payloads(entries: tuple[Entry, ...]) -> tuple[int, ...] | None:
    """Return the payloads of these entries; None without entries, or if one carries none."""
    carried = tuple(entry.token for entry in entries if entry.token is not None)
    return carried if carried and len(carried) == len(entries) else None


@rule(Rule.L_READ_1, Rule.L_READ_6, Rule.L_READ_7)
def find_entry(state: State, name: CacheName, pos: Position, config: Config) -> Entry | None:
    """Return the entry at a position; none under variant `single_lookup` "object", which has no object to ask for."""
    return entry_at(state, name, pos) if config.variants.single_lookup is SingleLookup.POSITION else None


@rule(Rule.L_READ_1, Rule.L_READ_7, Rule.L_STATE_4)
def get(state: State, event: Get, config: Config) -> Step:
    """Look one entry up."""
    # GUARD: none.
    # DECISION: a hit exactly when the lookup finds an entry.
    entry = find_entry(state, event.cache, event.pos, config)
    if entry is None:
        return Step(state, ops.Hit(False), (absent_row(Rule.L_READ_1, "MISS", "GET", state, event.cache, event.pos),))

    # EFFECT: none.
    # OUTCOME
    row = entry_row(Rule.L_READ_1, "HIT", "GET", state, event.cache, event.pos, entry, state.size_bytes)
    return Step(state, ops.Hit(True, payloads((entry,))), (row,))


@rule(Rule.L_READ_2, Rule.L_STATE_4)
def get_range(state: State, event: GetRange, config: Config) -> Step:
    """Look up a range of positions, both ends included."""
    # GUARD: a reversed range holds nothing.
    # DECISION: the cached positions of the range, ascending.
    cached_positions = tuple(pos for pos in positions_of(state, event.cache) if event.first <= pos <= event.last)
    entries = tuple(cache_of(state, event.cache).entries[pos] for pos in cached_positions)

    # EFFECT: none.
    # OUTCOME
    rows = tuple(
        entry_row(Rule.L_READ_2, "HIT", "GET", state, event.cache, pos, entry, state.size_bytes)
        for pos, entry in zip(cached_positions, entries, strict=True)
    )
    return Step(state, ops.Hits(cached_positions, payloads(entries)), rows)


@rule(Rule.L_READ_3, Rule.L_STATE_4)
def exists(state: State, event: Exists, config: Config) -> Step:
    """Ask whether a position is cached."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, ops.Existing(entry_at(state, event.cache, event.pos) is not None), ())


# Reads through the cache.


@rule(Rule.L_READ_4, Rule.L_READ_6)
def serve_from_cache(state: State, name: CacheName, entries: dict[Position, Entry]) -> Step:
    """Serve these entries; nothing of them changes."""
    rows = tuple(
        entry_row(Rule.L_READ_4, "HIT", "READ", state, name, pos, entry, state.size_bytes)
        for pos, entry in entries.items()
    )
    return Step(state, ops.Served(tuple(entries), (), payloads(tuple(entries.values()))), rows)


@rule(Rule.L_READ_5, Rule.L_READ_6)
def serve_from_storage(requested: tuple[Position, ...]) -> ops.Served:
    """Serve these positions from storage; the payload of each is its entry id."""
    return ops.Served((), requested, tuple(pos.entry for pos in requested))


@rule(Rule.L_READ_4)
def find_all_cached(state: State, name: CacheName, requested: tuple[Position, ...]) -> dict[Position, Entry] | None:
    """Return the entries at these positions; None if one of them is not cached."""
    cached = {pos: entry for pos in requested if (entry := entry_at(state, name, pos)) is not None}
    return cached if len(cached) == len(requested) else None


@rule(Rule.L_READ_4, Rule.L_READ_5, Rule.L_STATE_3)
def read(state: State, event: Read, config: Config) -> Step:
    """Read a range through the cache."""
    # GUARD: one ledger, in order.
    if event.first.ledger != event.last.ledger or event.first > event.last:
        return Step(state, REFUSED, ())

    # DECISION: all of it from the cache, or all of it from storage.
    numbers = range(event.first.entry, event.last.entry + 1)
    requested = tuple(Position(event.first.ledger, number) for number in numbers)
    entries = find_all_cached(state, event.cache, requested)
    if entries is not None:
        return serve_from_cache(state, event.cache, entries)

    # EFFECT: each position, cached or not, is offered to the cache as an insert of its own.
    filled = fill(state, event.cache, requested, config)

    # OUTCOME
    rows = tuple(absent_row(Rule.L_READ_5, "MISS", "READ", state, event.cache, pos) for pos in requested)
    return filled._replace(rows=rows + filled.rows)


@rule(Rule.L_READ_5)
def fill(state: State, name: CacheName, requested: tuple[Position, ...], config: Config) -> Step:
    """Offer the entries from storage one by one, ascending, each with its own trigger."""
    after = state
    rows: tuple[Row, ...] = ()
    parts: tuple[Part, ...] = ()
    for pos in requested:
        event = Insert(name, pos, STORED_BYTES, pos.entry)
        result = insert(after, event, config, "FILL")
        parts += (Part(after, event, result),)
        rows += result.rows
        after = result.state
    return Step(after, serve_from_storage(requested), rows, parts)


@rule(Rule.L_READ_6, Rule.L_READ_7, Rule.L_STATE_4)
def read_one(state: State, event: ReadOne, config: Config) -> Step:
    """Read one position through the cache."""
    # GUARD: none.
    # DECISION: a hit exactly when the lookup finds an entry.
    entry = find_entry(state, event.cache, event.pos, config)
    if entry is not None:
        return serve_from_cache(state, event.cache, {event.pos: entry})

    # EFFECT: the entry from storage is not offered to the cache.
    # OUTCOME
    rows = (
        absent_row(Rule.L_READ_6, "MISS", "READ", state, event.cache, event.pos),
        absent_row(Rule.L_READ_6, "SKIP", "NOT_WANTED", state, event.cache, event.pos, STORED_BYTES),
    )
    return Step(state, serve_from_storage((event.pos,)), rows)


# Sums, the whole state, and the clock.


@rule(Rule.L_METRICS_1, Rule.L_STATE_4)
def usage(state: State, event: Usage, config: Config) -> Step:
    """Return entries and bytes of one cache, or of all."""
    # GUARD: none.  DECISION: one cache, or all.  EFFECT: none.
    # OUTCOME
    if event.cache is ABSENT:
        entries = sum(len(cache.entries) for cache in state.caches.values())
        return Step(state, ops.Used(entries, state.size_bytes), ())
    cache = cache_of(state, event.cache)
    return Step(state, ops.Used(len(cache.entries), cache.size_bytes), ())


@rule(Rule.L_METRICS_2, Rule.L_STATE_4)
def observe(state: State, event: Observe, config: Config) -> Step:
    """Return the whole state; caches without entries are left out."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    caches = {
        name: ops.CacheView(state.caches[name].size_bytes, positions_of(state, name)) for name in sorted(state.caches)
    }
    return Step(state, ops.Observed(state.now_nanos, state.size_bytes, caches), ())


@rule(Rule.L_STATE_2, Rule.L_STATE_3)
def advance(state: State, event: Advance, config: Config) -> Step:
    """Let virtual time pass."""
    # GUARD: time does not go back.
    if event.nanos < 0:
        return Step(state, REFUSED, ())

    # DECISION: none.
    # EFFECT: only the clock moves.
    # OUTCOME
    return Step(state._replace(now_nanos=state.now_nanos + event.nanos), ops.Done(), ())
