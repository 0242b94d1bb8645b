"""Seeded faults of level `cursors`, members, positions, ranks and the grace period, and of levels `ledger`, `inflight`.

Each fault calls the function of the reference and changes its result, or replaces it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS, seeded_fault
from entrycache_reference.pulsar_pip430 import (
    change,
    cursors,
    entries,
    ledger,
    ledger_cursors,
    manager,
    ops,
    outcomes,
    pending_reads,
    reads_in_flight,
    storage_reads,
)
from entrycache_reference.pulsar_pip430.change import cache_of, entry_at
from entrycache_reference.pulsar_pip430.config import Config, FailedRead, Invalidation, ShortAnswer, Storage
from entrycache_reference.pulsar_pip430.ledger_cursors import Chunk
from entrycache_reference.pulsar_pip430.pending_reads import Work
from entrycache_reference.pulsar_pip430.reads_in_flight import GivenEntry
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    Cache,
    CachedRange,
    ManagedCursor,
    ManagedLedger,
    ReadInFlight,
    State,
    Step,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position, ReadName, Reads

EARLIEST: Final = Position(-1, -1)
"""A position before every other one."""


@seeded_fault(Rule.CONFIG_4, ops.ShouldCache)
def should_cache_by_present_ttl(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """The default grace period is twice the present time to live."""
    return cursors.should_cache(state, event, replace(config, ttl_nanos=state.settings.ttl_nanos))


@seeded_fault(Rule.CURSOR_1, ops.CursorAdd)
def cursor_add_at_the_start(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """A new cursor without a position is tracked at the very start."""
    is_member = event.cursor in cache_of(state, event.cache).members
    pos = EARLIEST if event.pos is None and not is_member else event.pos
    return cursors.cursor_add(state, replace(event, pos=pos), config)


@seeded_fault(Rule.CURSOR_2, ops.CursorAdd)
def cursor_add_once(state: State, event: ops.CursorAdd, config: Config) -> Step:
    """cursor_add of a member leaves it where it was."""
    if event.cursor in cache_of(state, event.cache).members:
        return Step(state, outcomes.Done(), ())
    return cursors.cursor_add(state, event, config)


@seeded_fault(Rule.CURSOR_3, ops.CursorMove)
def cursor_move_forward(state: State, event: ops.CursorMove, config: Config) -> Step:
    """A cursor does not move back."""
    now = cache_of(state, event.cache).members.get(event.cursor)
    if now is not None and event.pos is not None and event.pos < now:
        return Step(state, outcomes.Done(), ())
    return cursors.cursor_move(state, event, config)


@seeded_fault(Rule.CURSOR_3, ops.CursorMove, other=True)
def cursor_move_ignoring_null(state: State, event: ops.CursorMove, config: Config) -> Step:
    """A move to nowhere leaves the cursor where it is."""
    return Step(state, outcomes.Done(), ()) if event.pos is None else cursors.cursor_move(state, event, config)


@seeded_fault(Rule.CURSOR_4, ops.CursorMove)
def cursor_move_adding(state: State, event: ops.CursorMove, config: Config) -> Step:
    """cursor_move of an unknown cursor makes it a member."""
    if event.cursor in cache_of(state, event.cache).members:
        return cursors.cursor_move(state, event, config)
    return cursors.cursor_add(state, ops.CursorAdd(event.cache, event.cursor, event.pos), config)


@seeded_fault(Rule.CURSOR_5, ops.CursorRemove)
def cursor_remove_tracked(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """cursor_remove answers whether the cursor was tracked."""
    done = cursors.cursor_remove(state, event, config)
    tracked = cache_of(state, event.cache).members.get(event.cursor) is not None
    return done._replace(outcome=outcomes.CursorRemoved(tracked))


@seeded_fault(Rule.CURSOR_6, ops.CursorRemove)
def cursor_remove_the_last(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """The grace period starts when the last member leaves, not before."""
    done = cursors.cursor_remove(state, event, config)
    left = cache_of(done.state, event.cache)
    if not left.members:
        return done
    start = cache_of(state, event.cache).grace_start_nanos
    return done._replace(state=cursors.with_members(done.state, event.cache, left.members, start))


@seeded_fault(Rule.CURSOR_6, ops.CursorRemove, other=True)
def cursor_remove_without_grace(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """The grace period starts with the cache and never again."""
    done = cursors.cursor_remove(state, event, config)
    start = cache_of(state, event.cache).grace_start_nanos
    left = cache_of(done.state, event.cache).members
    return done._replace(state=cursors.with_members(done.state, event.cache, left, start))


@seeded_fault(Rule.CURSOR_6, ops.CursorRemove, other=True)
def cursor_remove_grace_of_tracked(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """A member that was not tracked starts no grace period."""
    if cache_of(state, event.cache).members.get(event.cursor) is not None:
        return cursors.cursor_remove(state, event, config)
    return cursor_remove_without_grace(state, event, config)


@seeded_fault(Rule.CURSOR_6, ops.RemoveCache, other=True)
def remove_cache_with_grace(state: State, event: ops.RemoveCache, config: Config) -> Step:
    """A cache that is named again has a grace period of its own."""
    done = manager.remove_cache(state, event, config)
    left = cache_of(done.state, event.cache).members
    return done._replace(state=cursors.with_members(done.state, event.cache, left, state.now_nanos))


@seeded_fault(Rule.CURSOR_7, ops.CursorRank)
def rank_before(state: State, event: ops.CursorRank, config: Config) -> Step:
    """Of the cursors at the same position a rank counts one."""
    done = cursors.cursor_rank(state, event, config)
    members = cache_of(state, event.cache).members
    own = members.get(event.cursor)
    if isinstance(done.outcome, outcomes.Refused) or own is None:
        return done
    before = sum(1 for pos in members.values() if pos is not None and pos < own)
    return done._replace(outcome=outcomes.Ranked(1 + before))


@seeded_fault(Rule.CURSOR_7, "cursors.rank_of", other=True)
def rank_with_untracked(members: Mapping[CursorName, Position | None], cursor: CursorName) -> int:
    """A rank counts the members that are not tracked too."""
    right = cursors.rank_of(members, cursor)
    return right and right + list(members.values()).count(None)


@seeded_fault(Rule.CURSOR_8, ops.CursorRank)
def cursor_rank_of_the_heap(state: State, event: ops.CursorRank, config: Config) -> Step:
    """A cursor of the heap container has the rank 0."""
    done = cursors.cursor_rank(state, event, config)
    return done._replace(outcome=outcomes.Ranked(0)) if isinstance(done.outcome, outcomes.Refused) else done


@seeded_fault(Rule.CURSOR_9, ops.Slowest)
def slowest_untracked(state: State, event: ops.Slowest, config: Config) -> Step:
    """slowest takes a member that is not tracked for one at the very start."""
    positions = cache_of(state, event.cache).members.values()
    if None in positions and any(pos is not None for pos in positions):
        return Step(state, outcomes.SlowestAt(EARLIEST), ())
    return cursors.slowest(state, event, config)


@seeded_fault(Rule.CURSOR_10, ops.Cursors)
def cursors_tracked(state: State, event: ops.Cursors, config: Config) -> Step:
    """cursors counts the tracked ones."""
    positions = cache_of(state, event.cache).members.values()
    return Step(state, outcomes.Members(sum(1 for pos in positions if pos is not None)), ())


@seeded_fault(Rule.CURSOR_11, "cursors.is_in_grace")
def in_grace_by_nanos(cache: Cache, now_nanos: int, grace_millis: int) -> bool:
    """The grace period is measured in nanoseconds."""
    return now_nanos - cache.grace_start_nanos < grace_millis * cursors.NANOS_A_MILLISECOND


@seeded_fault(Rule.CURSOR_12, ops.ShouldCache)
def should_cache_in_the_heap(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """The heap container knows the grace period."""
    return cursors.should_cache(state, event, replace(config, evict_by_expected_reads=True))


@seeded_fault(Rule.CURSOR_13, "cursors.can_move")
def moves_every_member(cache: Cache, cursor: CursorName, config: Config) -> bool:
    """The heap container tracks what is moved."""
    return cursor in cache.members


@seeded_fault(Rule.CURSOR_14, ops.CursorRemove)
def cursor_remove_clearing(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """The last cursor takes the entries of its cache with it."""
    done = cursors.cursor_remove(state, event, config)
    left = cache_of(done.state, event.cache)
    if done.state is state or left.members:
        return done
    cleared = change.drop_entries(done.state, event.cache, tuple(left.entries))
    return done._replace(state=cleared._replace(counts=state.counts))


@seeded_fault(Rule.CURSOR_14, ops.CursorRemove, other=True)
def cursor_remove_everywhere(state: State, event: ops.CursorRemove, config: Config) -> Step:
    """A removed cursor leaves every cache."""
    done = cursors.cursor_remove(state, event, config)
    if done.outcome != outcomes.CursorRemoved(True):
        return done
    caches = {
        name: cache._replace(members={other: pos for other, pos in cache.members.items() if other != event.cursor})
        for name, cache in done.state.caches.items()
    }
    return done._replace(state=done.state._replace(caches=caches))


# Level `ledger`: appends, reads of cursors, acknowledgements, and what cursors make leave.


@seeded_fault(Rule.LEDGER_1, "ledger.add_to_cache")
def add_for_one_reader(state: State, event: ops.Append, config: Config) -> Step:
    """An appended entry expects one read, however many cursors are active."""
    done = ledger.add_to_cache(state, event, config)
    if not config.evict_by_expected_reads or not done.parts or len(cache_of(state, event.cache).members) < 2:
        return done
    entry = ops.Insert(event.cache, event.pos, event.size, Reads(1), event.pos.entry)
    is_cached = config.max_size_bytes > 0
    answer = outcomes.Appended(is_cached, 1 if is_cached else None)
    return ledger.as_part(state, entry, manager.offer(state, entry, config), answer)


@seeded_fault(Rule.LEDGER_2, "ledger.is_consumed")
def never_consumed(behind: ManagedLedger, cursor: ManagedCursor) -> bool:
    """A rollover leaves the cursors that have consumed a ledger where they are."""
    return False


@seeded_fault(Rule.LEDGER_3, ops.CursorRead)
def read_within_a_ledger(state: State, event: ops.CursorRead, config: Config) -> Step:
    """A read ends at the end of a ledger."""
    done = ledger_cursors.cursor_read(state, event, config)
    if not isinstance(done.outcome, outcomes.Served):
        return done
    ledgers = [pos.ledger for pos in (*done.outcome.hits, *done.outcome.fills)]
    within = ledgers.count(min(ledgers, default=0))
    if within == len(ledgers):
        return done
    return ledger_cursors.cursor_read(state, replace(event, max_entries=Reads(within)), config)


@seeded_fault(Rule.LEDGER_4, ops.CursorRead)
def read_nothing_and_stay(state: State, event: ops.CursorRead, config: Config) -> Step:
    """A read that delivers nothing leaves the read position where it is."""
    done = ledger_cursors.cursor_read(state, event, config)
    if not isinstance(done.outcome, outcomes.Served) or done.outcome.hits or done.outcome.fills:
        return done
    return Step(state, done.outcome, ())


@seeded_fault(Rule.LEDGER_5, "ledger_cursors.read_chunk")
def read_one_by_one(state: State, name: CacheName, cursor: CursorName, chunk: Chunk, config: Config) -> Step:
    """A read looks each position up only after it has cached what lies before it."""
    done = Step(state, outcomes.Served((), (), ()), ())
    for pos in chunk.wanted:
        more = ledger_cursors.read_chunk(done.state, name, cursor, Chunk((pos,), chunk.after), config)
        done = ledger.then(done, more)._replace(outcome=ledger_cursors.served_by(done, more))
    return done


@seeded_fault(Rule.LEDGER_5, "ledger_cursors.look_up", "pending_reads.look_up", other=True)
def look_up_unmarked(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """A read by a cursor leaves its hits unmarked."""
    done = storage_reads.look_up(state, name, wanted, config)
    after = done.state
    for pos in wanted:
        before, marked = entry_at(state, name, pos), entry_at(after, name, pos)
        if before is not None and marked is not None:
            after = change.with_entry(after, name, pos, marked._replace(accessed=before.accessed))
    return done._replace(state=after)


@seeded_fault(Rule.LEDGER_6, "ledger_cursors.fill")
def fill_only_the_first(state: State, event: ops.Read, fills: tuple[Position, ...], config: Config) -> Step:
    """Of what storage gives, only the first entry is cached."""
    return storage_reads.fill(state, event, fills[:1], config)


@seeded_fault(Rule.LEDGER_7, "ledger_cursors.read_on")
def read_after_the_move(state: State, event: ops.CursorRead, most: int, config: Config) -> Step:
    """Fills carry the rank that the cursor has after the read."""
    chunk = ledger_cursors.next_chunk(
        state.managed[event.cache], state.managed[event.cache].cursors[event.cursor], most, config
    )
    moved = ledger.move_read(state, event.cache, event.cursor, chunk.after, config)
    done = ledger_cursors.read_chunk(moved.state, event.cache, event.cursor, chunk, config)
    both = ledger.then(moved, done)._replace(outcome=done.outcome)
    return ledger.run_due(both, event.cache, config)


@seeded_fault(Rule.LEDGER_8, "ledger_cursors.replay_one")
def replay_and_cache(state: State, event: ops.ReplayRead, pos: Position, config: Config) -> Step:
    """A replay caches what storage gives."""
    served = ledger_cursors.replay_one(state, event, pos, config)
    if entry_at(state, event.cache, pos) is not None:
        return served
    return ledger.then(
        served, storage_reads.fill(served.state, ops.Read(event.cache, pos, pos, Reads(1)), (pos,), config)
    )


@seeded_fault(Rule.LEDGER_8, "ledger_cursors.move_off", other=True)
def stay_at_the_replayed(state: State, event: ops.ReplayRead | ops.ReplayBegin, pos: Position, config: Config) -> Step:
    """A replay of the entry that a cursor reads next does not move the cursor."""
    return ledger.unchanged(state)


@seeded_fault(Rule.LEDGER_9, ops.CursorClose)
def close_and_release(state: State, event: ops.CursorClose, config: Config) -> Step:
    """A cursor that is closed takes one from the count of each entry that it had still to read."""
    behind = state.managed[event.cache]
    cursor = behind.cursors.get(event.cursor)
    done = ledger_cursors.cursor_close(state, event, config)
    if cursor is None or event.cursor not in cache_of(state, event.cache).members:
        return done
    for pos in sorted(cache_of(done.state, event.cache).entries):
        if pos >= cursor.read:
            read = ops.MarkRead(event.cache, pos)
            done = ledger.then(done, ledger.as_part(done.state, read, entries.mark_read(done.state, read, config)))
    return done


@seeded_fault(Rule.LEDGER_10, "ledger.end_of_acks")
def end_at_the_position(behind: ManagedLedger, cursor: ManagedCursor, pos: Position) -> Position:
    """A mark-delete stops before entries that were acknowledged one by one."""
    return pos


@seeded_fault(Rule.LEDGER_11, ops.Ack)
def ack_forgotten_in_a_gap(state: State, event: ops.Ack, config: Config) -> Step:
    """An acknowledgement with a gap before it is forgotten."""
    done = ledger_cursors.ack(state, event, config)
    before = state.managed[event.cache].cursors.get(event.cursor)
    after = done.state.managed[event.cache].cursors.get(event.cursor)
    if before is None or after is None or before.mark_delete != after.mark_delete:
        return done
    return done._replace(state=state)


@seeded_fault(Rule.LEDGER_12, "ledger.is_to_flag")
def flagged_with_itself(backlogs: dict[CursorName, int], cursor: CursorName, config: Config) -> bool:
    """A cursor counts itself among the others whose backlog is near."""
    return ledger.is_to_flag({**backlogs, CursorName(""): backlogs[cursor]}, cursor, config)


@seeded_fault(Rule.LEDGER_13, "ledger.make_due")
def due_in_spite_of_counts(state: State, name: CacheName, config: Config) -> State:
    """Entries that all active cursors have passed are dropped, although expected reads are counted."""
    if config.evict_by_expected_reads and not config.evict_by_mark_deleted:
        return ledger.make_due(state, name, replace(config, evict_by_expected_reads=False))
    return ledger.make_due(state, name, config)


@seeded_fault(Rule.LEDGER_14, "ledger.leave")
def leave_everything(state: State, name: CacheName, cursor: CursorName, config: Config) -> Step:
    """A cursor that leaves drops nothing."""
    if cursor not in cache_of(state, name).members:
        return ledger.unchanged(state)
    event = ops.CursorRemove(name, cursor)
    return ledger.as_part(state, event, cursors.cursor_remove(state, event, config))


@seeded_fault(Rule.LEDGER_14, "ledger.make_due", other=True)
def due_as_the_last(state: State, name: CacheName, config: Config) -> State:
    """Of two invalidations that are due, the later one counts, even if it is the lower one."""
    behind = state.managed[name]
    return ledger.make_due(ledger.with_managed(state, name, behind._replace(due=None)), name, config)


@seeded_fault(Rule.LEDGER_14, ops.RunInvalidations, other=True)
def run_none_that_is_due(state: State, event: ops.RunInvalidations, config: Config) -> Step:
    """A call that runs the invalidation that is due drops nothing."""
    return Step(state, outcomes.Removed(0, 0), ())


@seeded_fault(Rule.LEDGER_14, "ledger.run_due", other=True)
def run_without_the_call(done: Step, name: CacheName, config: Config) -> Step:
    """An invalidation that is to wait for a call runs before its step ends."""
    return ledger.run_due(done, name, replace(config, invalidation=Invalidation.AT_ONCE))


@seeded_fault(Rule.LEDGER_14, "ledger.invalidate", other=True)
def invalidate_one_more(state: State, name: CacheName, due: Position, config: Config) -> Step:
    """An invalidation drops the entry at its position too."""
    bound = due if due == ledger.EVERYTHING else due._replace(entry=due.entry + 1)
    return ledger.invalidate(state, name, bound, config)


@seeded_fault(Rule.LEDGER_15, "ledger.join")
def join_and_drop(state: State, name: CacheName, cursor: CursorName, config: Config) -> Step:
    """A cursor that becomes active drops what lies before the slowest one."""
    done = ledger.join(state, name, cursor, config)
    return ledger.run_due(done._replace(state=ledger.make_due(done.state, name, config)), name, config)


@seeded_fault(Rule.LEDGER_16, "ledger.tracked_position")
def tracked_where_it_reads(cursor: ManagedCursor, config: Config) -> Position:
    """With both flags, cursors are tracked where they read."""
    return cursor.read if config.evict_by_expected_reads else ledger.tracked_position(cursor, config)


@seeded_fault(Rule.LEDGER_17, ops.DeleteLedger)
def delete_and_keep(state: State, event: ops.DeleteLedger, config: Config) -> Step:
    """The entries of a deleted ledger stay in the cache."""
    done = ledger.delete_ledger(state, event, config)
    if isinstance(done.outcome, outcomes.Refused):
        return done
    kept = state._replace(managed=done.state.managed)
    return Step(kept, outcomes.Removed(0, 0), ())


@seeded_fault(Rule.LEDGER_18, "storage_reads.count_misses")
def count_misses_of_one_size(state: State, name: CacheName, fills: tuple[Position, ...], config: Config) -> State:
    """A miss counts the bytes that the configuration gives to storage, and not those that were appended."""
    done = storage_reads.count_misses(state, name, fills, config)
    if name not in state.managed:
        return done
    size_bytes = state.counts.miss_bytes + len(fills) * config.storage_entry_size
    return done._replace(counts=done.counts._replace(miss_bytes=size_bytes))


@seeded_fault(Rule.LEDGER_19, "ledger_cursors.count_of_read")
def counted_for_anyone(state: State, name: CacheName, cursor: CursorName, config: Config) -> int:
    """The fills of a cursor that is not active are cached, unless storage answers later (R-INFLIGHT-3)."""
    count = ledger_cursors.count_of_read(state, name, cursor, config)
    is_counted = config.storage is Storage.HELD or cursor in cache_of(state, name).members
    return count if is_counted else max(1, count)


@seeded_fault(Rule.LEDGER_20, ops.Deactivate)
def deactivate_everywhere(state: State, event: ops.Deactivate, config: Config) -> Step:
    """A cursor that is made inactive is so in every managed ledger that has one of its name."""
    done = ledger_cursors.deactivate(state, event, config)
    if isinstance(done.outcome, outcomes.Refused):
        return done
    after = done.state
    for name in after.managed:
        left = {cursor: pos for cursor, pos in cache_of(after, name).members.items() if cursor != event.cursor}
        after = cursors.with_members(after, name, left, cache_of(after, name).grace_start_nanos)
    return done._replace(state=after)


# Level `inflight`: reads by cursors that overlap in time.


@seeded_fault(Rule.INFLIGHT_3, "reads_in_flight.count_of_ask", other=True)
def counted_with_one_more(state: State, ask: Ask, config: Config) -> int:
    """The entries that storage gives expect one read more than there are cursors to come."""
    count = reads_in_flight.count_of_ask(state, ask, config)
    return count + 1 if count > 0 else count


@seeded_fault(Rule.INFLIGHT_4, "reads_in_flight.fill_answer")
def fill_without_claims(
    work: Work, ask: Ask, given: tuple[Position, ...], config: Config
) -> tuple[Work, tuple[GivenEntry, ...]]:
    """A delivery of what storage gave takes nothing from its count."""
    work, filled = reads_in_flight.fill_answer(work, ask, given, config)
    return work, tuple(one._replace(is_cached=False) for one in filled)


@seeded_fault(Rule.INFLIGHT_5, "reads_in_flight.acknowledged_by_now")
def acknowledged_when_asked(cursor: ManagedCursor, delivered: tuple[Position, ...]) -> tuple[Position, ...]:
    """A read delivers what was acknowledged while it was out."""
    return ()


@seeded_fault(Rule.INFLIGHT_7, "pending_reads.can_try_again")
def tries_only_once(cached: CachedRange) -> bool:
    """A range of which the cache gave a part fails with the first gap that fails."""
    return False


@seeded_fault(Rule.INFLIGHT_9, "pending_reads.give_back", "reads_in_flight.give_back")
def give_back_and_count(
    work: Work, name: ReadName, positions: Iterable[Position], config: Config, request: int | None = None
) -> Work:
    """Each entry that a read gives back takes one from its count."""
    variants = replace(config.variants, failed_read=FailedRead.COUNTED)
    return pending_reads.give_back(work, name, positions, replace(config, variants=variants), request)


@seeded_fault(Rule.INFLIGHT_10, "reads_in_flight.end_failed")
def end_with_nothing(work: Work, name: ReadName) -> Work:
    """A read of which a later chunk fails loses the entries of the earlier ones."""
    if work.state.limiter.out:  # permits that nobody gives back would break R-LIMIT-5 too
        return reads_in_flight.end_failed(work, name)
    own = HoldName(name)
    holds = {other: kept for other, kept in work.state.holds.items() if other != own}
    state = work.state._replace(holds=holds)
    return reads_in_flight.end_failed(work._replace(done=work.done._replace(state=state)), name)


@seeded_fault(Rule.INFLIGHT_11, "reads_in_flight.positions_to_deliver")
def positions_around_a_hole(read: ReadInFlight, got: frozenset[Position], config: Config) -> tuple[Position, ...]:
    """A chunk is delivered without the entries that storage left out, and with those behind them."""
    return tuple(sorted(got))


@seeded_fault(Rule.INFLIGHT_11, "reads_in_flight.deliver_chunk", other=True)
def fail_what_is_short(work: Work, name: ReadName, cached: CachedRange, config: Config) -> Work:
    """A chunk of which storage leaves out an entry fails its read."""
    got = pending_reads.positions_got(cached)
    if len(got) == len(work.state.pending.of_cursors[name].wanted):
        return reads_in_flight.deliver_chunk(work, name, cached, config)
    left = pending_reads.give_back(work, name, sorted(got), config, cached.request)
    return reads_in_flight.end_failed(pending_reads.return_permits(left, name, config), name)


@seeded_fault(Rule.INFLIGHT_12, "reads_in_flight.move_on")
def move_below_the_mark(work: Work, name: ReadName, after: Position, config: Config, is_last: bool = False) -> Work:
    """A read that comes back moves its cursor even behind the mark-delete position."""
    read = work.state.pending.of_cursors[name]
    done = reads_in_flight.move_on(work, name, after, config, is_last)
    cursor = done.state.managed[read.cache].cursors[read.cursor]
    if after > cursor.mark_delete:
        return done
    back = ledger.with_cursor(done.state, read.cache, read.cursor, cursor._replace(read=after))
    return done._replace(done=done.done._replace(state=back))


SEEDED_FAULTS.register_variant(
    "A chunk is delivered with the entries behind a hole, or fails if the cache gave a part of it.",
    Rule.INFLIGHT_11,
    short_answer=ShortAnswer.AS_IT_COMES,
)
