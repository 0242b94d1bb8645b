"""Seeded faults about the state as a whole and about single entries.

The first half is about sums, the queue, time and observation; the second about insert, lookups, counts and removal by a
call. Each fault calls the function of the reference and changes its result, or replaces it. Variants of other releases
stand at the end.
"""

from dataclasses import replace

from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS, seeded_fault
from entrycache_reference.pulsar_pip430 import change, entries, manager, ops, outcomes, passes
from entrycache_reference.pulsar_pip430.config import Config, CountFloor, DuplicateCount, ZeroReads
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.pulsar_pip430.step import advance, usage
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Absent, CacheName, Position


@seeded_fault(Rule.STATE_1, "change.add_entry")
def add_entry_counted_twice(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """An insert adds its size twice to the bytes of the manager."""
    after = change.add_entry(state, name, pos, entry)
    return after._replace(size_bytes=after.size_bytes + entry.size_bytes)


@seeded_fault(Rule.STATE_2, "manager.drop_entries")
def drop_entries_leaving_slots(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """Entries removed by a call leave live slots behind."""
    return change.drop_entries(state, name, positions)._replace(queue=state.queue)


@seeded_fault(Rule.STATE_2, "manager.drop_entries", other=True)
def drop_entries_with_the_next_slot(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """A removal by a call also takes the slot of the oldest entry that is left, which then is never evicted."""
    after = change.drop_entries(state, name, positions)
    oldest = next((at for at, slot in enumerate(after.queue) if slot is not None), None)
    if not positions or oldest is None:
        return after
    return after._replace(queue=(*after.queue[:oldest], None, *after.queue[oldest + 1 :]))


@seeded_fault(Rule.STATE_3, "manager.drop_entries")
def drop_entries_rebuilding_the_queue(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """A removal rebuilds the queue cache by cache and loses the order of ages."""
    if not positions:
        return state
    after = change.drop_entries(state, name, positions)
    live = iter([Slot(other, pos) for other, cache in after.caches.items() for pos in cache.entries])
    return after._replace(queue=tuple(None if slot is None else next(live) for slot in after.queue))


@seeded_fault(Rule.STATE_4, ops.Advance)
def advance_expiring(state: State, event: ops.Advance, config: Config) -> Step:
    """Entries older than the time to live leave when time passes."""
    done = advance(state, event, config)
    if done.state is state:
        return done
    cutoff = done.state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(done.state, passes.PassKind.TIME, cutoff, config).state
    return done._replace(state=expired._replace(counts=state.counts))


@seeded_fault(Rule.STATE_5, ops.Evict)
def evict_dropping_when_refused(state: State, event: ops.Evict, config: Config) -> Step:
    """A refused evict drops the dead slot at the head."""
    done = passes.evict(state, event, config)
    if event.bytes > 0 or not state.queue or state.queue[0] is not None:
        return done
    return done._replace(state=state._replace(queue=state.queue[1:]))


@seeded_fault(Rule.STATE_6, ops.Advance)
def advance_ignoring_negative(state: State, event: ops.Advance, config: Config) -> Step:
    """A negative advance is taken for one by 0."""
    return advance(state, replace(event, nanos=max(0, event.nanos)), config)


@seeded_fault(Rule.STATE_7, ops.Exists)
def exists_marking(state: State, event: ops.Exists, config: Config) -> Step:
    """exists marks the entry accessed."""
    after = entries.get(state, ops.Get(event.cache, event.pos), config).state
    return entries.exists(state, event, config)._replace(state=after)


@seeded_fault(Rule.STATE_8, "manager.remove_entries")
def removal_reported_twice(
    state: State, name: CacheName, positions: tuple[Position, ...], law: Rule, cause: str
) -> Step:
    """Each entry of a removed range is reported as removed twice."""
    done = manager.remove_entries(state, name, positions, law, cause)
    return done._replace(rows=done.rows * 2)


@seeded_fault(Rule.STATE_9, ops.Exists)
def exists_leaving_no_cache(state: State, event: ops.Exists, config: Config) -> Step:
    """exists opens no cache."""
    done = entries.exists(state, event, config)
    if state.caches[event.cache] != change.EMPTY_CACHE._replace(grace_start_nanos=state.now_nanos):
        return done
    others = {name: cache for name, cache in state.caches.items() if name != event.cache}
    return done._replace(state=state._replace(caches=others))


@seeded_fault(Rule.METRICS_1, ops.Usage)
def usage_with_all_bytes(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of a cache answers the bytes of all."""
    done = usage(state, event, config)
    assert isinstance(done.outcome, outcomes.Used)
    return done._replace(outcome=outcomes.Used(done.outcome.entries, state.size_bytes))


@seeded_fault(Rule.METRICS_2, ops.Usage)
def usage_counting_slots(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of all caches counts the slots of the queue, dead ones too."""
    if event.cache in state.caches or not isinstance(event.cache, Absent):
        return usage(state, event, config)
    return Step(state, outcomes.Used(len(state.queue), state.size_bytes), ())


@seeded_fault(Rule.LIVENESS_2, ops.Advance)
def advance_answering_time(state: State, event: ops.Advance, config: Config) -> Step:
    """advance answers the time, if nobody waits for permits."""
    done = advance(state, event, config)
    return (
        done
        if done.state is state or state.limiter.waiting
        else done._replace(outcome=outcomes.Counted(done.state.now_nanos))
    )


# Single entries.


@seeded_fault(Rule.INSERT_1, "entries.new_entry")
def new_entry_marked(state: State, event: ops.Insert, config: Config) -> Entry:
    """A new entry counts as accessed."""
    return entries.new_entry(state, event, config)._replace(accessed=True)


@seeded_fault(Rule.INSERT_2, ops.Insert)
def insert_renewing_the_count(state: State, event: ops.Insert, config: Config) -> Step:
    """A duplicate renews the count of expected reads."""
    done = manager.offer(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    expected_reads = entries.initial_count(event.expected_reads, config)
    if entry is None or event.size < 0 or config.max_size_bytes == 0 or expected_reads is None:
        return done
    if config.variants.duplicate_count is DuplicateCount.REPLACED:
        return done
    renewed = entry._replace(expected_reads=expected_reads)
    return done._replace(state=change.with_entry(state, event.cache, event.pos, renewed))


@seeded_fault(Rule.INSERT_3, ops.Insert)
def insert_unlimited(state: State, event: ops.Insert, config: Config) -> Step:
    """A limit of 0 stands for no limit."""
    return manager.offer(state, event, replace(config, max_size_bytes=config.max_size_bytes or 1))


@seeded_fault(Rule.INSERT_4, "entries.new_entry")
def new_entry_counted(state: State, event: ops.Insert, config: Config) -> Entry:
    """An entry that nobody is expected to read carries the count 0."""
    entry = entries.new_entry(state, event, config)
    return entry._replace(expected_reads=entry.expected_reads or 0)


@seeded_fault(Rule.INSERT_5, ops.Insert)
def insert_not_refusing(state: State, event: ops.Insert, config: Config) -> Step:
    """A negative size is answered as a duplicate is."""
    if event.size < 0:
        return Step(state, outcomes.Inserted(False), ())
    return manager.offer(state, event, config)


@seeded_fault(Rule.INSERT_6, "entries.new_entry")
def new_entry_with_a_flag(state: State, event: ops.Insert, config: Config) -> Entry:
    """The count is a flag: at most 1."""
    entry = entries.new_entry(state, event, config)
    return entry._replace(expected_reads=None if entry.expected_reads is None else min(1, entry.expected_reads))


@seeded_fault(Rule.READ_1, ops.Get)
def get_missing_empty(state: State, event: ops.Get, config: Config) -> Step:
    """A get answers a miss for an entry of size 0."""
    done = entries.get(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    return done._replace(outcome=outcomes.Hit(False)) if entry is not None and entry.size_bytes == 0 else done


@seeded_fault(Rule.READ_2, ops.Get)
def get_not_marking(state: State, event: ops.Get, config: Config) -> Step:
    """A hit leaves no mark."""
    return entries.get(state, event, config)._replace(state=state)


@seeded_fault(Rule.READ_3, "entries.positions_between")
def positions_descending(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """get_range answers in descending order."""
    return change.positions_between(state, name, first, last)[::-1]


@seeded_fault(Rule.READ_4, ops.GetRange)
def get_range_marking_one(state: State, event: ops.GetRange, config: Config) -> Step:
    """get_range marks the first entry only."""
    done = entries.get_range(state, event, config)
    positions_in_range = change.positions_between(state, event.cache, event.first, event.last)
    after = (
        entries.get(state, ops.Get(event.cache, positions_in_range[0]), config).state if positions_in_range else state
    )
    return done._replace(state=after)


@seeded_fault(Rule.READ_5, ops.GetRange)
def get_range_reordering(state: State, event: ops.GetRange, config: Config) -> Step:
    """Reversed bounds are put in order."""
    first, last = sorted((event.first, event.last))
    return entries.get_range(state, replace(event, first=first, last=last), config)


@seeded_fault(Rule.READ_6, ops.Exists)
def exists_missing_empty(state: State, event: ops.Exists, config: Config) -> Step:
    """An entry of size 0 does not exist."""
    entry = change.entry_at(state, event.cache, event.pos)
    return Step(state, outcomes.Existing(entry is not None and entry.size_bytes > 0), ())


@seeded_fault(Rule.COUNT_1, ops.MarkRead)
def mark_read_with_floor(state: State, event: ops.MarkRead, config: Config) -> Step:
    """A count stops at 0."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads == 0:
        return Step(state, outcomes.Counted(0), ())
    return entries.mark_read(state, event, config)


@seeded_fault(Rule.COUNT_2, ops.ExpectRead)
def expect_read_not_reviving(state: State, event: ops.ExpectRead, config: Config) -> Step:
    """A count that has come to 0 cannot rise again."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads is not None and entry.expected_reads <= 0:
        return Step(state, outcomes.Counted(entry.expected_reads), ())
    return entries.expect_read(state, event, config)


@seeded_fault(Rule.COUNT_3, ops.ExpectRead)
def expect_read_starting_a_count(state: State, event: ops.ExpectRead, config: Config) -> Step:
    """expect_read gives an entry without a count the count 1."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads is None:
        started = change.with_entry(state, event.cache, event.pos, entry._replace(expected_reads=1))
        return Step(started, outcomes.Counted(1), ())
    return entries.expect_read(state, event, config)


@seeded_fault(Rule.COUNT_4, ops.MarkRead)
def mark_read_marking(state: State, event: ops.MarkRead, config: Config) -> Step:
    """mark_read marks the entry accessed."""
    done = entries.mark_read(state, event, config)
    entry = change.entry_at(done.state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return done
    marked = change.with_entry(done.state, event.cache, event.pos, entry._replace(accessed=True))
    return done._replace(state=marked)


@seeded_fault(Rule.INVALIDATE_1, "manager.positions_between")
def positions_after_the_first(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """remove_range leaves the entry at its beginning."""
    return tuple(pos for pos in change.positions_between(state, name, first, last) if pos != first or pos == last)


@seeded_fault(Rule.INVALIDATE_2, ops.RemoveRange)
def remove_range_inclusive(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """remove_range always includes its end."""
    return manager.remove_range(state, replace(event, last_inclusive=True), config)


@seeded_fault(Rule.INVALIDATE_3, ops.RemoveRange)
def remove_range_reordering(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """Reversed bounds are put in order."""
    first, last = sorted((event.first, event.last))
    return manager.remove_range(state, replace(event, first=first, last=last), config)


@seeded_fault(Rule.INVALIDATE_4, ops.Clear)
def clear_first_ledger(state: State, event: ops.Clear, config: Config) -> Step:
    """clear empties the first ledger only."""
    positions = sorted(change.cache_of(state, event.cache).entries)
    first = tuple(pos for pos in positions if pos.ledger == positions[0].ledger)
    return manager.remove_entries(state, event.cache, first, Rule.INVALIDATE_4, "CLEAR")


@seeded_fault(Rule.INVALIDATE_5, ops.RemoveRange)
def remove_range_numbers_only(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """Removals by a call answer the number of entries twice."""
    done = manager.remove_range(state, event, config)
    assert isinstance(done.outcome, outcomes.Removed)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries, done.outcome.entries))


# Variants of other releases: each is a fault if the specification is the default behaviour.

SEEDED_FAULTS.register_variant("A count stops at 0.", Rule.COUNT_1, count_floor=CountFloor.ZERO)
SEEDED_FAULTS.register_variant(
    "0 expected reads are a count.", Rule.INSERT_4, Rule.READ_9, zero_reads=ZeroReads.COUNTED
)
SEEDED_FAULTS.register_variant(
    "A duplicate gives its count to what is cached.", Rule.INSERT_2, duplicate_count=DuplicateCount.REPLACED
)


# Errors within a variant: they show that the rule of the variant has a check of its own.


@seeded_fault(Rule.INSERT_7, ops.Insert)
def insert_without_zero(state: State, event: ops.Insert, config: Config) -> Step:
    """In a release that counts 0 expected reads, an insert with 0 gives no count."""
    if event.expected_reads == 0 and change.entry_at(state, event.cache, event.pos) is None:
        return manager.offer(state, replace(event, expected_reads=None), config)
    return manager.offer(state, event, config)


@seeded_fault(Rule.INSERT_8, "entries.keep_cached_entry")
def kept_without_a_count(state: State, event: ops.Insert, cached: Entry, config: Config) -> State:
    """In a release whose duplicate brings its count, a duplicate without a count leaves the former count."""
    if entries.initial_count(event.expected_reads, config) is None:
        return state
    return entries.keep_cached_entry(state, event, cached, config)


@seeded_fault(Rule.COUNT_8, "entries.lower_count")
def lowered_without_floor(count: int, config: Config) -> int:
    """In a release with a floor for counts, a delivery lowers a count below the floor."""
    return count - 1
