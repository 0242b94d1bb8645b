"""The seeded faults of this reference that are subjects, by the public names that `entrycache conform` takes.

Most of them are faults of the registry that explain failures too. The others are served only: they stand in
`SERVED_ONLY`, so that no failure is explained by them. Their answers are those of an implementation with that error.
The tables at the end give each fault its public name, grouped as the page of seeded faults shows them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from entrycache_faults.model import Fault, FaultRegistry
from entrycache_faults.reference.pulsar_pip430 import cursors as cursor_faults
from entrycache_faults.reference.pulsar_pip430 import entries as entry_faults
from entrycache_faults.reference.pulsar_pip430 import manager as manager_faults
from entrycache_faults.reference.pulsar_pip430 import passes
from entrycache_faults.reference.pulsar_pip430 import storage_reads as read_faults
from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS
from entrycache_reference.pulsar_pip430 import change, cursors, entries, manager, ops, outcomes, storage_reads
from entrycache_reference.pulsar_pip430.config import Config, ZeroReads
from entrycache_reference.pulsar_pip430.state import Cache, Entry, State, Step
from entrycache_reference.pulsar_pip430.step import usage
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, CursorName, Position

SERVED_ONLY: Final = FaultRegistry(SEEDED_FAULTS.package)

served_fault = SERVED_ONLY.register


@served_fault(Rule.CONFIG_4, ops.ShouldCache)
def grace_of_changed_ttl(state: State, event: ops.ShouldCache, config: Config) -> Step:
    """A configure that changes the time to live also changes the grace period."""
    if state.settings.ttl_nanos == config.ttl_nanos:
        return cursors.should_cache(state, event, config)
    return cursors.should_cache(state, event, replace(config, ttl_nanos=state.settings.ttl_nanos, grace_millis=None))


@served_fault(Rule.CURSOR_11, "cursors.is_in_grace")
def in_grace_one_longer(cache: Cache, now_nanos: int, grace_millis: int) -> bool:
    """The grace period lasts one millisecond longer."""
    return cursors.is_in_grace(cache, now_nanos, grace_millis + 1)


@served_fault(Rule.CURSOR_7, "cursors.rank_of")
def rank_from_zero(members: Mapping[CursorName, Position | None], cursor: CursorName) -> int:
    """A rank leaves out the cursor itself."""
    return max(0, cursors.rank_of(members, cursor) - 1)


@served_fault(Rule.CURSOR_9, ops.Slowest)
def slowest_of_all(state: State, event: ops.Slowest, config: Config) -> Step:
    """The slowest position is looked for in every cache."""
    places = [pos for cache in state.caches.values() for pos in cache.members.values() if pos is not None]
    return Step(state, outcomes.SlowestAt(min(places, default=None)), ())


@served_fault(Rule.INSERT_2, "entries.keep_cached_entry")
def keep_with_a_new_stamp(state: State, event: ops.Insert, cached: Entry, config: Config) -> State:
    """A duplicate insert gives the cached entry a new stamp."""
    return change.with_entry(state, event.cache, event.pos, cached._replace(stamp_nanos=state.now_nanos))


@served_fault(Rule.INVALIDATE_4, ops.Clear)
def clear_every_cache(state: State, event: ops.Clear, config: Config) -> Step:
    """A clear of one cache clears every cache."""
    done = Step(state, outcomes.Removed(0, 0), ())
    for name in state.caches:
        cleared = manager.clear(done.state, replace(event, cache=name), config)
        done = Step(cleared.state, manager.sum_removed(done, cleared), done.rows + cleared.rows)
    return done


@served_fault(Rule.INVALIDATE_8, ops.InvalidateLedger)
def invalidate_ledger_but_one(state: State, event: ops.InvalidateLedger, config: Config) -> Step:
    """An invalidate_ledger leaves the last entry of the ledger."""
    cached = change.cache_of(state, event.cache).entries
    positions = sorted(pos for pos in cached if pos.ledger == event.ledger)
    return manager.remove_entries(state, event.cache, tuple(positions[:-1]), Rule.INVALIDATE_8, "LEDGER")


@served_fault(Rule.METRICS_2, ops.Usage)
def usage_of_the_first_cache(state: State, event: ops.Usage, config: Config) -> Step:
    """The usage of all caches counts the entries of one cache only."""
    done = usage(state, event, config)
    if event.cache is not ABSENT or not state.caches:
        return done
    first = next(iter(state.caches.values()))
    return done._replace(outcome=outcomes.Used(len(first.entries), state.size_bytes))


@served_fault(Rule.READ_9, "storage_reads.fill")
def fill_whole_ranges_only(state: State, event: ops.Read, fills: tuple[Position, ...], config: Config) -> Step:
    """A read that is served in part does not cache the gaps."""
    is_whole = len(fills) == event.last.entry - event.first.entry + 1
    read = event if is_whole else replace(event, expected_reads=-1)
    return storage_reads.fill(state, read, fills, config)


@served_fault(Rule.READ_11, ops.Read, ops.ReadOne)
def read_taking_over(state: State, event: ops.Read | ops.ReadOne, config: Config) -> Step:
    """A read takes over the name of an open hold, and what was held is lost."""
    freed = state._replace(holds={name: held for name, held in state.holds.items() if name != event.hold})
    if isinstance(event, ops.Read):
        done = storage_reads.read(freed, event, config)
    else:
        done = storage_reads.read_one(freed, event, config)
    return done._replace(state=state) if isinstance(done.outcome, outcomes.Refused) else done


@served_fault(Rule.READ_10, ops.ReadOne)
def read_one_unmarked(state: State, event: ops.ReadOne, config: Config) -> Step:
    """A read_one that is served from the cache does not mark the entry."""
    done = storage_reads.read_one(state, event, config)
    before, after = (change.entry_at(each, event.cache, event.pos) for each in (state, done.state))
    if before is None or after is None:
        return done
    unmarked = after._replace(accessed=before.accessed)
    return done._replace(state=change.with_entry(done.state, event.cache, event.pos, unmarked))


@served_fault(Rule.READ_3, "entries.positions_between")
def positions_before_the_last(state: State, name: CacheName, first: Position, last: Position) -> tuple[Position, ...]:
    """A get_range leaves out the entry at its end."""
    return tuple(pos for pos in change.positions_between(state, name, first, last) if pos != last)


@served_fault(Rule.READ_2, ops.Get)
def get_with_a_new_stamp(state: State, event: ops.Get, config: Config) -> Step:
    """A get gives the entry a new stamp."""
    done = entries.get(state, event, config)
    entry = change.entry_at(done.state, event.cache, event.pos)
    if entry is None:
        return done
    stamped = entry._replace(stamp_nanos=state.now_nanos)
    return done._replace(state=change.with_entry(done.state, event.cache, event.pos, stamped))


# The public names.

QUEUE: Final[dict[str, Fault]] = {
    "count-marks-accessed": SEEDED_FAULTS.find(entry_faults.mark_read_marking),
    "count-stops-at-zero": SEEDED_FAULTS.find(entry_faults.mark_read_with_floor),
    "evict-counts-dead-slots": SEEDED_FAULTS.find(passes.pass_counting_dead_slots),
    "evict-nothing-accepted": SEEDED_FAULTS.find(passes.evict_not_refusing),
    "evict-one-too-many": SEEDED_FAULTS.find(passes.halts_one_late),
    "evict-requeues-at-the-head": SEEDED_FAULTS.find(passes.put_back_first),
    "expire-at-the-cutoff": SEEDED_FAULTS.find(passes.halts_after_the_cutoff),
    "expire-twice-the-age": SEEDED_FAULTS.find(passes.cutoff_twice),
    "insert-duplicate-restamps": SERVED_ONLY.find(keep_with_a_new_stamp),
    "insert-limit-zero-ignored": SEEDED_FAULTS.find(entry_faults.insert_unlimited),
    "insert-no-reads-counted": SEEDED_FAULTS.find_variant(Rule.INSERT_4, zero_reads=ZeroReads.COUNTED),
    "invalidate-clear-takes-all": SERVED_ONLY.find(clear_every_cache),
    "invalidate-end-included": SEEDED_FAULTS.find(entry_faults.remove_range_inclusive),
    "metrics-one-cache-for-all": SERVED_ONLY.find(usage_of_the_first_cache),
    "read-empty-entry-missed": SEEDED_FAULTS.find(entry_faults.get_missing_empty),
    "read-range-end-excluded": SERVED_ONLY.find(positions_before_the_last),
    "read-restamps": SERVED_ONLY.find(get_with_a_new_stamp),
    "read-reversed-range-turned": SEEDED_FAULTS.find(entry_faults.get_range_reordering),
    "requeue-access-ignored-by-size": SEEDED_FAULTS.find(passes.pass_ignoring_access),
    "requeue-access-though-off": SEEDED_FAULTS.find(passes.touched_always),
    "requeue-expected-ignored": SEEDED_FAULTS.find(passes.spare_never),
    "requeue-keeps-stamp": SEEDED_FAULTS.find(passes.requeued_keeping_the_stamp),
    "requeue-one-too-many": SEEDED_FAULTS.find(passes.spare_one_more),
    "requeue-split-budget": SEEDED_FAULTS.find(passes.requeued_free_by_access),
    "state-exists-marks": SEEDED_FAULTS.find(entry_faults.exists_marking),
    "state-insert-counted-twice": SEEDED_FAULTS.find(entry_faults.add_entry_counted_twice),
}
"""The faults of levels `range` and `queue` by public name."""

MANAGER: Final[dict[str, Fault]] = {
    "config-others-reset": SEEDED_FAULTS.find(manager_faults.configure_from_the_start),
    "config-shrinks-at-once": SEEDED_FAULTS.find(manager_faults.configure_evicting),
    "config-trigger-forgotten": SEEDED_FAULTS.find(manager_faults.step_with_the_first_trigger),
    "invalidate-before-included": SEEDED_FAULTS.find(manager_faults.invalidate_before_included),
    "invalidate-ledger-first-only": SERVED_ONLY.find(invalidate_ledger_but_one),
    "metrics-clear-not-counted": SEEDED_FAULTS.find(manager_faults.drop_entries_uncounted),
    "metrics-evict-is-a-cycle": SEEDED_FAULTS.find(manager_faults.evict_counted),
    "metrics-start-again": SEEDED_FAULTS.find(manager_faults.metrics_starting_again),
    "trigger-by-duplicate": SEEDED_FAULTS.find(manager_faults.insert_triggering_when_refused),
    "trigger-cycle-first-ttl": SEEDED_FAULTS.find(manager_faults.cycle_by_the_first_ttl),
    "trigger-cycle-size-first": SEEDED_FAULTS.find(manager_faults.cycle_size_pass_first),
    "trigger-cycle-tells-size-only": SEEDED_FAULTS.find(manager_faults.only_the_second),
    "trigger-flag-cleared-by-cycle": SEEDED_FAULTS.find(manager_faults.cycle_clearing_the_flag),
    "trigger-flag-stays": SEEDED_FAULTS.find(manager_faults.run_scheduled_keeping_the_flag),
    "trigger-frees-at-least-one": SEEDED_FAULTS.find(manager_faults.after_insert_between),
    "trigger-frees-what-came": SEEDED_FAULTS.find(manager_faults.after_insert_for_its_size),
    "trigger-reached": SEEDED_FAULTS.find(manager_faults.after_insert_at_the_trigger),
    "trigger-target-of-trigger": SEEDED_FAULTS.find(manager_faults.target_from_the_trigger),
    "trigger-tells-what-stayed": SEEDED_FAULTS.find(manager_faults.insert_telling_what_stayed),
}
"""The faults of level `manager` by public name."""

READS: Final[dict[str, Fault]] = {
    "count-hold-stays-open": SEEDED_FAULTS.find(read_faults.release_keeping_the_name),
    "count-not-given-back": SEEDED_FAULTS.find(read_faults.finished_without_release),
    "count-of-the-newcomer": SEEDED_FAULTS.find(read_faults.deliver_to_whatever_is_there),
    "count-release-unasked": SEEDED_FAULTS.find(read_faults.release_once_too_often),
    "count-released-twice": SEEDED_FAULTS.find(read_faults.deliver_twice),
    "metrics-fill-is-a-hit": SEEDED_FAULTS.find(read_faults.fill_counted_as_hits),
    "metrics-get-is-a-hit": SEEDED_FAULTS.find(read_faults.get_counted_as_a_hit),
    "metrics-miss-per-call": SEEDED_FAULTS.find(read_faults.look_up_one_miss_of_all_bytes),
    "read-all-or-nothing": SEEDED_FAULTS.find(read_faults.look_up_all_or_nothing),
    "read-caches-the-unwanted": SEEDED_FAULTS.find(read_faults.is_wanted_always),
    "read-count-without-itself": SEEDED_FAULTS.find(read_faults.offer_expecting_one_fewer),
    "read-gaps-not-filled": SERVED_ONLY.find(fill_whole_ranges_only),
    "read-hold-replaced": SERVED_ONLY.find(read_taking_over),
    "read-one-caches": SEEDED_FAULTS.find(read_faults.read_one_caching),
    "read-one-leaves-no-mark": SERVED_ONLY.find(read_one_unmarked),
    "read-reversed-is-empty": SEEDED_FAULTS.find(read_faults.read_backwards_nothing),
    "read-triggers-once": SEEDED_FAULTS.find(read_faults.fill_with_one_trigger),
}
"""The faults of level `reads` by public name."""

CURSORS: Final[dict[str, Fault]] = {
    "config-grace-follows-ttl": SERVED_ONLY.find(grace_of_changed_ttl),
    "cursor-add-tracked-at-the-start": SEEDED_FAULTS.find(cursor_faults.cursor_add_at_the_start),
    "cursor-grace-in-the-heap": SEEDED_FAULTS.find(cursor_faults.should_cache_in_the_heap),
    "cursor-grace-last-millisecond": SERVED_ONLY.find(in_grace_one_longer),
    "cursor-grace-only-once": SEEDED_FAULTS.find(cursor_faults.cursor_remove_without_grace),
    "cursor-heap-ranks": SEEDED_FAULTS.find(cursor_faults.cursor_rank_of_the_heap),
    "cursor-heap-tracks-moved": SEEDED_FAULTS.find(cursor_faults.moves_every_member),
    "cursor-last-clears": SEEDED_FAULTS.find(cursor_faults.cursor_remove_clearing),
    "cursor-members-tracked": SEEDED_FAULTS.find(cursor_faults.cursors_tracked),
    "cursor-move-adds": SEEDED_FAULTS.find(cursor_faults.cursor_move_adding),
    "cursor-names-shared": SEEDED_FAULTS.find(cursor_faults.cursor_remove_everywhere),
    "cursor-only-forward": SEEDED_FAULTS.find(cursor_faults.cursor_move_forward),
    "cursor-rank-before": SEEDED_FAULTS.find(cursor_faults.rank_before),
    "cursor-rank-counts-untracked": SEEDED_FAULTS.find(cursor_faults.rank_with_untracked),
    "cursor-rank-starts-at-zero": SERVED_ONLY.find(rank_from_zero),
    "cursor-remove-tells-tracked": SEEDED_FAULTS.find(cursor_faults.cursor_remove_tracked),
    "cursor-slowest-of-all": SERVED_ONLY.find(slowest_of_all),
    "cursor-untracked-keeps-position": SEEDED_FAULTS.find(cursor_faults.cursor_move_ignoring_null),
    "invalidate-cache-forgets-cursors": SEEDED_FAULTS.find(manager_faults.remove_cache_with_cursors),
}
"""The faults of level `cursors` by public name."""

LEDGER: Final[dict[str, Fault]] = {
    "ledger-ack-forgotten": SEEDED_FAULTS.find(cursor_faults.ack_forgotten_in_a_gap),
    "ledger-acks-not-joined": SEEDED_FAULTS.find(cursor_faults.end_at_the_position),
    "ledger-append-for-one-reader": SEEDED_FAULTS.find(cursor_faults.add_for_one_reader),
    "ledger-backlog-counts-itself": SEEDED_FAULTS.find(cursor_faults.flagged_with_itself),
    "ledger-close-releases": SEEDED_FAULTS.find(cursor_faults.close_and_release),
    "ledger-consumed-cursor-stays": SEEDED_FAULTS.find(cursor_faults.never_consumed),
    "ledger-counts-and-drops": SEEDED_FAULTS.find(cursor_faults.due_in_spite_of_counts),
    "ledger-deactivated-everywhere": SEEDED_FAULTS.find(cursor_faults.deactivate_everywhere),
    "ledger-deleted-and-kept": SEEDED_FAULTS.find(cursor_faults.delete_and_keep),
    "ledger-empty-read-stays": SEEDED_FAULTS.find(cursor_faults.read_nothing_and_stay),
    "ledger-fills-of-inactive-cached": SEEDED_FAULTS.find(cursor_faults.counted_for_anyone),
    "ledger-invalidations-not-run": SEEDED_FAULTS.find(cursor_faults.run_none_that_is_due),
    "ledger-invalidations-run-early": SEEDED_FAULTS.find(cursor_faults.run_without_the_call),
    "ledger-joining-drops": SEEDED_FAULTS.find(cursor_faults.join_and_drop),
    "ledger-leaving-drops-nothing": SEEDED_FAULTS.find(cursor_faults.leave_everything),
    "ledger-lower-invalidation-wins": SEEDED_FAULTS.find(cursor_faults.due_as_the_last),
    "ledger-miss-of-one-size": SEEDED_FAULTS.find(cursor_faults.count_misses_of_one_size),
    "ledger-one-fill-cached": SEEDED_FAULTS.find(cursor_faults.fill_only_the_first),
    "ledger-rank-after-the-move": SEEDED_FAULTS.find(cursor_faults.read_after_the_move),
    "ledger-read-ends-with-ledger": SEEDED_FAULTS.find(cursor_faults.read_within_a_ledger),
    "ledger-reads-one-by-one": SEEDED_FAULTS.find(cursor_faults.read_one_by_one),
    "ledger-replay-cached": SEEDED_FAULTS.find(cursor_faults.replay_and_cache),
    "ledger-tracked-where-it-reads": SEEDED_FAULTS.find(cursor_faults.tracked_where_it_reads),
}
"""The faults of level `ledger` by public name."""

PENDING: Final[dict[str, Fault]] = {
    "pending-answered-stays-open": SEEDED_FAULTS.find(read_faults.close_and_keep),
    "pending-asked-again": SEEDED_FAULTS.find(read_faults.pieces_not_cut),
    "pending-busy-ends-joining": SEEDED_FAULTS.find(read_faults.seal_when_busy),
    "pending-failure-forgotten": SEEDED_FAULTS.find(read_faults.give_forgetting_failures),
    "pending-last-one-waits-on": SEEDED_FAULTS.find(read_faults.give_to_all_but_the_last),
    "pending-only-same-ranges": SEEDED_FAULTS.find(read_faults.pieces_of_whole_asks),
}
"""The faults of level `pending` by public name."""

INFLIGHT: Final[dict[str, Fault]] = {
    "inflight-acknowledged-delivered": SEEDED_FAULTS.find(cursor_faults.acknowledged_when_asked),
    "inflight-claims-nothing": SEEDED_FAULTS.find(cursor_faults.fill_without_claims),
    "inflight-count-with-one-more": SEEDED_FAULTS.find(cursor_faults.counted_with_one_more),
    "inflight-earlier-chunks-lost": SEEDED_FAULTS.find(cursor_faults.end_with_nothing),
    "inflight-giving-back-counts": SEEDED_FAULTS.find(cursor_faults.give_back_and_count),
    "inflight-moves-below-the-mark": SEEDED_FAULTS.find(cursor_faults.move_below_the_mark),
    "inflight-no-second-try": SEEDED_FAULTS.find(cursor_faults.tries_only_once),
    "inflight-reads-around-a-hole": SEEDED_FAULTS.find(cursor_faults.positions_around_a_hole),
}
"""The faults of level `inflight` by public name."""

LIMITS: Final[dict[str, Fault]] = {
    "limit-cached-range-is-free": SEEDED_FAULTS.find(read_faults.request_what_is_not_cached),
    "limit-estimate-without-overhead": SEEDED_FAULTS.find(read_faults.estimate_without_overhead),
    "limit-hands-out-one-too-few": SEEDED_FAULTS.find(read_faults.hand_out_one_too_few),
    "limit-last-comes-first": SEEDED_FAULTS.find(read_faults.enqueue_at_the_head),
    "limit-late-by-a-millisecond": SEEDED_FAULTS.find(read_faults.late_one_millisecond_later),
    "limit-overtakes": SEEDED_FAULTS.find(read_faults.waits_for_nobody),
    "limit-queue-one-too-long": SEEDED_FAULTS.find(read_faults.enqueue_one_too_many),
    "limit-requested-once-a-read": SEEDED_FAULTS.find(read_faults.request_once_a_read),
    "limit-returned-before-release": SEEDED_FAULTS.find(read_faults.return_when_it_is_there),
    "limit-serves-only-one": SEEDED_FAULTS.find(read_faults.give_back_to_one),
    "limit-whole-limit-is-too-much": SEEDED_FAULTS.find(read_faults.permits_within_the_limit),
}
"""The faults of level `limits` by public name."""

SUBJECTS: Final[dict[str, Fault]] = {
    **QUEUE,
    **MANAGER,
    **READS,
    **CURSORS,
    **LEDGER,
    **PENDING,
    **INFLIGHT,
    **LIMITS,
}
"""All of them by public name."""
