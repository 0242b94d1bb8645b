"""Wrong versions of the reference's functions outside the passes, each with one error."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import (
    change,
    count,
    insert,
    lookup,
    ops,
    outcomes,
    passes,
    remove,
    trigger,
    views,
)
from entrycache_reference.pulsar_pip430.config import Config, DuplicateCount
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Absent, CacheName, Position

Function = Callable[[State, Any, Config], Step]

step_module: Final = importlib.import_module("entrycache_reference.pulsar_pip430.step")
"""The package has a function of the same name."""

REFUSED: Final = outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT)

_add_entry: Final = change.add_entry
_drop_entries: Final = change.drop_entries
_positions_between: Final = change.positions_between
_new_entry: Final = insert.new_entry
_initial_count: Final = insert.initial_count
_removal: Final = remove.removal


def add_entry_counted_twice(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """R-STATE-1."""
    after = _add_entry(state, name, pos, entry)
    return after._replace(size_bytes=after.size_bytes + entry.size_bytes)


def drop_entries_leaving_slots(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """R-STATE-2."""
    return _drop_entries(state, name, positions)._replace(queue=state.queue)


def drop_entries_rebuilding_the_queue(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """R-STATE-3."""
    if not positions:
        return state
    after = _drop_entries(state, name, positions)
    live = iter([Slot(other, pos) for other, cache in after.caches.items() for pos in cache.entries])
    return after._replace(queue=tuple(None if slot is None else next(live) for slot in after.queue))


def advance_expiring(state: State, event: ops.Advance, config: Config) -> Step:
    """R-STATE-4."""
    done = views.advance(state, event, config)
    if done.state is state:
        return done
    cutoff = done.state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(done.state, passes.PassKind.TIME, cutoff, config).state
    return done._replace(state=expired._replace(counts=state.counts))


def advance_ignoring_negative(state: State, event: ops.Advance, config: Config) -> Step:
    """R-STATE-6."""
    return views.advance(state, replace(event, nanos=max(0, event.nanos)), config)


def exists_marking(state: State, event: ops.Exists, config: Config) -> Step:
    """R-STATE-7."""
    after = lookup.get(state, ops.Get(event.cache, event.pos), config).state
    return lookup.exists(state, event, config)._replace(state=after)


def removal_told_twice(state: State, name: CacheName, positions: tuple[Position, ...], rule: Rule, cause: str) -> Step:
    """R-STATE-8."""
    done = _removal(state, name, positions, rule, cause)
    return done._replace(rows=done.rows * 2)


def exists_leaving_no_cache(state: State, event: ops.Exists, config: Config) -> Step:
    """R-STATE-9."""
    done = lookup.exists(state, event, config)
    if state.caches[event.cache] != change.EMPTY._replace(grace_start_nanos=state.now_nanos):
        return done
    others = {name: cache for name, cache in state.caches.items() if name != event.cache}
    return done._replace(state=state._replace(caches=others))


def new_entry_marked(state: State, event: ops.Insert, config: Config) -> Entry:
    """R-INSERT-1."""
    return _new_entry(state, event, config)._replace(accessed=True)


def insert_renewing_the_count(state: State, event: ops.Insert, config: Config) -> Step:
    """R-INSERT-2."""
    done = trigger.offer(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    expected_reads = _initial_count(event.expected_reads, config)
    if entry is None or event.size < 0 or config.max_size_bytes == 0 or expected_reads is None:
        return done
    if config.variants.duplicate_count is DuplicateCount.REPLACED:
        return done
    renewed = entry._replace(expected_reads=expected_reads)
    return done._replace(state=change.with_entry(state, event.cache, event.pos, renewed))


def insert_unlimited(state: State, event: ops.Insert, config: Config) -> Step:
    """R-INSERT-3."""
    return trigger.offer(state, event, replace(config, max_size_bytes=config.max_size_bytes or 1))


def new_entry_counted(state: State, event: ops.Insert, config: Config) -> Entry:
    """R-INSERT-4."""
    entry = _new_entry(state, event, config)
    return entry._replace(expected_reads=entry.expected_reads or 0)


def insert_not_refusing(state: State, event: ops.Insert, config: Config) -> Step:
    """R-INSERT-5."""
    if event.size < 0:
        return Step(state, outcomes.Inserted(False), ())
    return trigger.offer(state, event, config)


def new_entry_with_a_flag(state: State, event: ops.Insert, config: Config) -> Entry:
    """R-INSERT-6."""
    entry = _new_entry(state, event, config)
    return entry._replace(expected_reads=None if entry.expected_reads is None else min(1, entry.expected_reads))


def get_missing_empty(state: State, event: ops.Get, config: Config) -> Step:
    """R-READ-1."""
    done = lookup.get(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    return done._replace(outcome=outcomes.Hit(False)) if entry is not None and entry.size_bytes == 0 else done


def get_not_marking(state: State, event: ops.Get, config: Config) -> Step:
    """R-READ-2."""
    return lookup.get(state, event, config)._replace(state=state)


def positions_descending(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """R-READ-3."""
    return _positions_between(state, name, first, last)[::-1]


def get_range_marking_one(state: State, event: ops.GetRange, config: Config) -> Step:
    """R-READ-4."""
    done = lookup.get_range(state, event, config)
    found = _positions_between(state, event.cache, event.first, event.last)
    after = lookup.get(state, ops.Get(event.cache, found[0]), config).state if found else state
    return done._replace(state=after)


def get_range_reordering(state: State, event: ops.GetRange, config: Config) -> Step:
    """R-READ-5."""
    first, last = sorted((event.first, event.last))
    return lookup.get_range(state, replace(event, first=first, last=last), config)


def exists_missing_empty(state: State, event: ops.Exists, config: Config) -> Step:
    """R-READ-6."""
    entry = change.entry_at(state, event.cache, event.pos)
    return Step(state, outcomes.Existing(entry is not None and entry.size_bytes > 0), ())


def mark_read_with_floor(state: State, event: ops.MarkRead, config: Config) -> Step:
    """R-COUNT-1."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads == 0:
        return Step(state, outcomes.Counted(0), ())
    return count.mark_read(state, event, config)


def expect_read_not_reviving(state: State, event: ops.ExpectRead, config: Config) -> Step:
    """R-COUNT-2."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads is not None and entry.expected_reads <= 0:
        return Step(state, outcomes.Counted(entry.expected_reads), ())
    return count.expect_read(state, event, config)


def expect_read_starting_a_count(state: State, event: ops.ExpectRead, config: Config) -> Step:
    """R-COUNT-3."""
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is not None and entry.expected_reads is None:
        started = change.with_entry(state, event.cache, event.pos, entry._replace(expected_reads=1))
        return Step(started, outcomes.Counted(1), ())
    return count.expect_read(state, event, config)


def mark_read_marking(state: State, event: ops.MarkRead, config: Config) -> Step:
    """R-COUNT-4."""
    done = count.mark_read(state, event, config)
    entry = change.entry_at(done.state, event.cache, event.pos)
    if entry is None or entry.expected_reads is None:
        return done
    marked = change.with_entry(done.state, event.cache, event.pos, entry._replace(accessed=True))
    return done._replace(state=marked)


def positions_after_the_first(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """R-INVALIDATE-1."""
    return tuple(pos for pos in _positions_between(state, name, first, last) if pos != first or pos == last)


def remove_range_inclusive(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """R-INVALIDATE-2."""
    return remove.remove_range(state, replace(event, last_inclusive=True), config)


def remove_range_reordering(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """R-INVALIDATE-3."""
    first, last = sorted((event.first, event.last))
    return remove.remove_range(state, replace(event, first=first, last=last), config)


def clear_first_ledger(state: State, event: ops.Clear, config: Config) -> Step:
    """R-INVALIDATE-4."""
    positions = sorted(change.cache_of(state, event.cache).entries)
    first = tuple(pos for pos in positions if pos.ledger == positions[0].ledger)
    return remove.removal(state, event.cache, first, Rule.INVALIDATE_4, "CLEAR")


def remove_range_numbers_only(state: State, event: ops.RemoveRange, config: Config) -> Step:
    """R-INVALIDATE-5."""
    done = remove.remove_range(state, event, config)
    assert isinstance(done.outcome, outcomes.Removed)
    return done._replace(outcome=outcomes.Removed(done.outcome.entries, done.outcome.entries))


def usage_with_all_bytes(state: State, event: ops.Usage, config: Config) -> Step:
    """R-METRICS-1."""
    done = views.usage(state, event, config)
    assert isinstance(done.outcome, outcomes.Used)
    return done._replace(outcome=outcomes.Used(done.outcome.entries, state.size_bytes))


def usage_counting_slots(state: State, event: ops.Usage, config: Config) -> Step:
    """R-METRICS-2."""
    if event.cache in state.caches or not isinstance(event.cache, Absent):
        return views.usage(state, event, config)
    return Step(state, outcomes.Used(len(state.queue), state.size_bytes), ())


def advance_answering_time(state: State, event: ops.Advance, config: Config) -> Step:
    """R-LIVENESS-2."""
    done = views.advance(state, event, config)
    return done if done.state is state else done._replace(outcome=outcomes.Counted(done.state.now_nanos))
