"""Faults about single entries: insert, lookup, count, invalidate."""

from __future__ import annotations

from dataclasses import replace

from entrycache_faults.reference.pulsar_pip430.planted import planted
from entrycache_reference.pulsar_pip430 import change, count, insert, lookup, ops, outcomes, remove, trigger
from entrycache_reference.pulsar_pip430.config import Config, DuplicateCount
from entrycache_reference.pulsar_pip430.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


@planted(Rule.INSERT_1, "insert.new_entry")
def new_entry_marked(state: State, event: ops.Insert, config: Config) -> Entry:
    """A new entry counts as accessed."""
    return insert.new_entry(state, event, config)._replace(accessed=True)


@planted(Rule.INSERT_2, ops.Insert)
def insert_renewing_the_count(state: State, event: ops.Insert, config: Config) -> Step:
    """A duplicate renews the count of expected reads."""
    done = trigger.offer(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    expected_reads = insert.initial_count(event.expected_reads, config)
    if entry is None or event.size < 0 or config.max_size_bytes == 0 or expected_reads is None:
        return done
    if config.variants.duplicate_count is DuplicateCount.REPLACED:
        return done
    renewed = entry._replace(expected_reads=expected_reads)
    return done._replace(state=change.with_entry(state, event.cache, event.pos, renewed))


@planted(Rule.INSERT_3, ops.Insert)
def insert_unlimited(state: State, event: ops.Insert, config: Config) -> Step:
    """A limit of 0 stands for no limit."""
    return trigger.offer(state, event, replace(config, max_size_bytes=config.max_size_bytes or 1))


@planted(Rule.INSERT_4, "insert.new_entry")
def new_entry_counted(state: State, event: ops.Insert, config: Config) -> Entry:
    """An entry that nobody is expected to read carries the count 0."""
    entry = insert.new_entry(state, event, config)
    return entry._replace(expected_reads=entry.expected_reads or 0)


@planted(Rule.INSERT_5, ops.Insert)
def insert_not_refusing(state: State, event: ops.Insert, config: Config) -> Step:
    """A negative size is answered as a duplicate is."""
    if event.size < 0:
        return Step(state, outcomes.Inserted(False), ())
    return trigger.offer(state, event, config)


@planted(Rule.INSERT_6, "insert.new_entry")
def new_entry_with_a_flag(state: State, event: ops.Insert, config: Config) -> Entry:
    """The count is a flag: at most 1."""
    entry = insert.new_entry(state, event, config)
    return entry._replace(expected_reads=None if entry.expected_reads is None else min(1, entry.expected_reads))


@planted(Rule.READ_1, ops.Get)
def get_missing_empty(state: State, event: ops.Get, config: Config) -> Step:
    """A get answers a miss for an entry of size 0."""
    done = lookup.get(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    return done._replace(outcome=outcomes.Hit(False)) if entry is not None and entry.size_bytes == 0 else done


@planted(Rule.READ_2, ops.Get)
def get_not_marking(state: State, event: ops.Get, config: Config) -> Step:
    """A hit leaves no mark."""
    return lookup.get(state, event, config)._replace(state=state)


@planted(Rule.READ_3, "lookup.positions_between")
def positions_descending(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """get_range answers in descending order."""
    return change.positions_between(state, name, first, last)[::-1]


@planted(Rule.READ_4, ops.GetRange)
def get_range_marking_one(state: State, event: ops.GetRange, config: Config) -> Step:
    """get_range marks the first entry only."""
    done = lookup.get_range(state, event, config)
    found = change.positions_between(state, event.cache, event.first, event.last)
    after = lookup.get(state, ops.Get(event.cache, found[0]), config).state if found else state
    return done._replace(state=after)


@planted(Rule.READ_5, ops.GetRange)
def get_range_reordering(state: State, event: ops.GetRange, config: Config) -> Step:
    """Reversed bounds are put in order."""
    first, last = sorted((event.first, event.last))
    return lookup.get_range(state, replace(event, first=first, last=last), config)


@planted(Rule.READ_6, ops.Exists)
def exists_missing_empty(state: State, event: ops.Exists, config: Config) -> Step:
    """An entry of size 0 does not exist."""
    entry = change.entry_at(state, event.cache, event.pos)
    return Step(state, outcomes.Existing(entry is not None and entry.size_bytes > 0), ())


@planted(Rule.COUNT_1, ops.MarkRead)
def mark_read_with_floor(state: State, event: ops.MarkRead, config: Config) -> Step:
    """A count stops at 0."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads == 0:
        return Step(state, outcomes.Counted(0), ())
    return count.mark_read(state, event, config)


@planted(Rule.COUNT_2, ops.ExpectRead)
def expect_read_not_reviving(state: State, event: ops.ExpectRead, config: Config) -> Step:
    """A count that has come to 0 cannot rise again."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads is not None and entry.expected_reads <= 0:
        return Step(state, outcomes.Counted(entry.expected_reads), ())
    return count.expect_read(state, event, config)


@planted(Rule.COUNT_3, ops.ExpectRead)
def expect_read_starting_a_count(state: State, event: ops.ExpectRead, config: Config) -> Step:
    """expect_read gives an entry without a count the count 1."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads is None:
        started = change.with_entry(state, event.cache, event.pos, entry._replace(expected_reads=1))
        return Step(started, outcomes.Counted(1), ())
    return count.expect_read(state, event, config)


@planted(Rule.COUNT_4, ops.MarkRead)
def mark_read_marking(state: State, event: ops.MarkRead, config: Config) -> Step:
    """mark_read marks the entry accessed."""
    done = count.mark_read(state, event, config)
    entry = change.entry_at(done.state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return done
    marked = change.with_entry(done.state, event.cache, event.pos, entry._replace(accessed=True))
    return done._replace(state=marked)


@planted(Rule.INVALIDATE_1, "remove.positions_between")
def positions_after_the_first(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """remove_range leaves the entry at its beginning."""
    return tuple(pos for pos in change.positions_between(state, name, first, last) if pos != first or pos == last)


@planted(Rule.INVALIDATE_2, ops.RemoveRange)
def remove_range_inclusive(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """remove_range always includes its end."""
    return remove.remove_range(state, replace(event, last_inclusive=True), config)


@planted(Rule.INVALIDATE_3, ops.RemoveRange)
def remove_range_reordering(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """Reversed bounds are put in order."""
    first, last = sorted((event.first, event.last))
    return remove.remove_range(state, replace(event, first=first, last=last), config)


@planted(Rule.INVALIDATE_4, ops.Clear)
def clear_first_ledger(state: State, event: ops.Clear, config: Config) -> Step:
    """clear empties the first ledger only."""
    positions = sorted(change.cache_of(state, event.cache).entries)
    first = tuple(pos for pos in positions if pos.ledger == positions[0].ledger)
    return remove.removal(state, event.cache, first, Rule.INVALIDATE_4, "CLEAR")


@planted(Rule.INVALIDATE_5, ops.RemoveRange)
def remove_range_numbers_only(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """Removals by a call answer the number of entries twice."""
    done = remove.remove_range(state, event, config)
    assert isinstance(done.outcome, outcomes.Removed)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries, done.outcome.entries))
