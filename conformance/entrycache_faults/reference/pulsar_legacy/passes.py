"""Seeded faults of the sums, the clock, the trigger, and the passes, and the public names of faults that are subjects.

Each function replaces a function of the reference, or an operation, and mostly calls the original with a small error
around it.
"""

from dataclasses import replace
from typing import Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_legacy import entries as entry_faults
from entrycache_faults.reference.pulsar_legacy.entries import SEEDED_FAULTS, seeded_fault
from entrycache_reference.pulsar_legacy import change, entries, ops, passes, remove
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.ops import Refused, Removed
from entrycache_reference.pulsar_legacy.passes import REFUSED
from entrycache_reference.pulsar_legacy.state import Entry, Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


@seeded_fault(Rule.L_STATE_1, "change.add_entry")
def cache_byte_forgotten(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """Of a new entry of more than a byte one byte does not count in its cache."""
    added = change.add_entry(state, name, pos, entry)
    cache = added.caches[name]
    lost_bytes = 1 if entry.size_bytes > 1 else 0
    return added._replace(caches={**added.caches, name: cache._replace(size_bytes=cache.size_bytes - lost_bytes)})


@seeded_fault(Rule.L_STATE_1, "change.drop_entries", other=True)
def removal_keeps_the_bytes(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """The last entry that leaves goes on to count in the manager's bytes."""
    after_removal = change.drop_entries(state, name, positions)
    kept_bytes = change.cache_of(state, name).entries[positions[-1]].size_bytes if positions else 0
    return after_removal._replace(size_bytes=after_removal.size_bytes + kept_bytes)


@seeded_fault(Rule.L_STATE_2, ops.Advance)
def time_runs_double(state: State, event: ops.Advance, config: Config) -> Step:
    """Time goes on by twice as much."""
    result = entries.advance(state, event, config)
    return result._replace(state=result.state._replace(now_nanos=2 * result.state.now_nanos - state.now_nanos))


@seeded_fault(Rule.L_STATE_4, ops.Get)
def get_keeps_young(state: State, event: ops.Get, config: Config) -> Step:
    """A hit gives the entry a new stamp."""
    result = entries.get(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is None:
        return result
    cache = change.cache_of(state, event.cache)
    cached_entries = {**cache.entries, event.pos: entry._replace(stamp_nanos=state.now_nanos)}
    return result._replace(state=change.with_cache(state, event.cache, cached_entries, cache.size_bytes))


@seeded_fault(Rule.L_TRIGGER_1, "passes.amount_bytes")
def one_byte_more(size_bytes: int, config: Config) -> int:
    """A size pass is to free one byte more than lies above the watermark's share."""
    need = passes.amount_bytes(size_bytes, config)
    return need + 1 if need > 0 else need


@seeded_fault(Rule.L_TRIGGER_1, "passes.amount_bytes", other=True)
def down_from_the_limit(size_bytes: int, config: Config) -> int:
    """A size pass is to free as much as a full cache would have to, whatever the bytes are."""
    need = passes.amount_bytes(size_bytes, config)
    full = passes.amount_bytes(config.max_size_bytes, config)
    return max(1, full) if need > 0 else need


@seeded_fault(Rule.L_TRIGGER_2, "passes.request_pass")
def asked_at_the_trigger(state: State, config: Config) -> Step:
    """An insert that begins with the bytes at the trigger runs a size pass."""
    need = passes.amount_bytes(state.size_bytes, config)
    is_at = state.size_bytes == passes.trigger_bytes(config)
    if is_at and config.eviction is Eviction.INLINE and state.scheduled_bytes is None and need > 0:
        return passes.run_requested_pass(state, need, config)
    return passes.request_pass(state, config)


@seeded_fault(Rule.L_TRIGGER_3, "passes.request_pass")
def manual_at_once(state: State, config: Config) -> Step:
    """With manual eviction an insert runs its pass at once too."""
    result = passes.request_pass(state, config)
    need = result.state.scheduled_bytes
    if need is None or need <= 0 or state.scheduled_bytes is not None:
        return result
    return passes.run_requested_pass(state, need, config)


@seeded_fault(Rule.L_TRIGGER_4, "passes.request_pass")
def amount_brought_up_to_date(state: State, config: Config) -> Step:
    """A pass that waits frees by the bytes of the last insert."""
    if state.scheduled_bytes is None:
        return passes.request_pass(state, config)
    return passes.request_pass(state._replace(scheduled_bytes=None), config)


@seeded_fault(Rule.L_TRIGGER_5, ops.RunScheduled)
def amount_of_the_moment(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """run_scheduled frees what lies above the watermark's share when it runs, as in later releases."""
    if state.scheduled_bytes is None or state.scheduled_bytes <= 0:
        return passes.run_scheduled(state, event, config)
    need = passes.amount_bytes(state.size_bytes, config)
    return passes.run_requested_pass(state._replace(scheduled_bytes=None), need, config)


@seeded_fault(Rule.L_TRIGGER_5, ops.RunScheduled, other=True)
def runs_again_and_again(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """run_scheduled leaves the pass scheduled."""
    result = passes.run_scheduled(state, event, config)
    return result._replace(state=result.state._replace(scheduled_bytes=state.scheduled_bytes))


@seeded_fault(Rule.L_TRIGGER_6, "passes.run_requested_pass")
def frees_a_byte_at_least(state: State, need_bytes: int, config: Config) -> Step:
    """A pass with nothing to free frees a byte."""
    return passes.run_requested_pass(state, max(1, need_bytes), config)


@seeded_fault(Rule.L_TRIGGER_7, ops.Insert)
def refused_asks_for_nothing(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert that is not taken asks for no pass."""
    result = entries.insert(state, event, config)
    return Step(state, result.outcome, ()) if result.outcome == ops.Inserted(False) else result


@seeded_fault(Rule.L_METRICS_1, ops.Usage)
def usage_counts_caches(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of all counts the caches, not their entries."""
    result = entries.usage(state, event, config)
    if event.cache is not ABSENT:
        return result
    return result._replace(outcome=ops.Used(len(state.caches), state.size_bytes))


@seeded_fault(Rule.L_METRICS_2, ops.Observe)
def empty_bytes_unseen(state: State, event: ops.Observe, config: Config) -> Step:
    """observe leaves out a cache whose entries have no bytes."""
    caches = {name: cache for name, cache in state.caches.items() if cache.size_bytes > 0}
    return entries.observe(state._replace(caches=caches), event, config)._replace(state=state)


@seeded_fault(Rule.L_LIVENESS_2, ops.Usage)
def usage_of_nothing(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of a cache that holds nothing is refused."""
    is_refused = event.cache is not ABSENT and event.cache not in state.caches
    return Step(state, REFUSED, ()) if is_refused else entries.usage(state, event, config)


# The passes.


@seeded_fault(Rule.L_EVICT_1, "passes.find_lowest")
def from_the_highest(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """A cache gives from its highest position down."""
    cached_entries = change.cache_of(state, name).entries
    chosen: list[Position] = []
    freed_bytes = 0
    for pos in reversed(change.positions_of(state, name)):
        if freed_bytes >= need_bytes:
            break
        chosen.append(pos)
        freed_bytes += cached_entries[pos].size_bytes
    return tuple(chosen)


@seeded_fault(Rule.L_EVICT_1, "passes.find_lowest", other=True)
def only_what_fits(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """A cache gives no entry that would free more than it was asked for."""
    chosen = passes.find_lowest(state, name, need_bytes)
    cached_entries = change.cache_of(state, name).entries
    return chosen[:-1] if sum(cached_entries[pos].size_bytes for pos in chosen) > need_bytes else chosen


@seeded_fault(Rule.L_EVICT_2, "passes.find_lowest")
def one_too_many(state: State, name: CacheName, need_bytes: int) -> tuple[Position, ...]:
    """A cache gives one entry more than it takes."""
    chosen = passes.find_lowest(state, name, need_bytes)
    return change.positions_of(state, name)[: len(chosen) + 1]


@seeded_fault(Rule.L_EVICT_3, "passes.choose_givers")
def every_cache_gives(state: State) -> tuple[CacheName, ...]:
    """Every cache gives, the smallest too."""
    return passes.order_by_size(state) if state.size_bytes > 0 else ()


@seeded_fault(Rule.L_EVICT_3, "passes.choose_givers", other=True)
def half_exceeded(state: State) -> tuple[CacheName, ...]:
    """Caches are taken until they hold more than half of the bytes."""
    chosen: list[CacheName] = []
    for name in passes.order_by_size(state) if state.size_bytes > 0 else ():
        if sum(state.caches[other].size_bytes for other in chosen) > int(state.size_bytes * 0.5):
            break
        chosen.append(name)
    return tuple(chosen)


@seeded_fault(Rule.L_EVICT_3, "passes.order_by_size", other=True)
def smallest_first(state: State) -> tuple[CacheName, ...]:
    """The smallest caches give first."""
    return tuple(sorted(state.caches, key=lambda name: (state.caches[name].size_bytes, name)))


@seeded_fault(Rule.L_EVICT_4, "passes.order_by_size")
def ties_from_the_end(state: State) -> tuple[CacheName, ...]:
    """Of caches of one size the last by name gives first."""
    names = sorted(state.caches, reverse=True)
    return tuple(sorted(names, key=lambda name: -state.caches[name].size_bytes))


@seeded_fault(Rule.L_EVICT_5, "passes.compute_share")
def share_in_integers(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """A share is computed in integers, the product first."""
    return amount_bytes * cache_bytes // sum_bytes


@seeded_fault(Rule.L_EVICT_5, "passes.compute_share", other=True)
def share_rounded(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """A share is rounded, not truncated."""
    return round(float(amount_bytes) * (float(cache_bytes) / float(sum_bytes)))


@seeded_fault(Rule.L_EVICT_5, "passes.compute_share", other=True)
def share_of_everything(amount_bytes: int, cache_bytes: int, sum_bytes: int) -> int:
    """Each cache that gives gives all of the amount."""
    return amount_bytes


@seeded_fault(Rule.L_EXPIRE_1, "passes.is_old")
def cutoff_is_young(stamp_nanos: int, cutoff_nanos: int) -> bool:
    """An entry at the cutoff stays."""
    return stamp_nanos < cutoff_nanos


@seeded_fault(Rule.L_EXPIRE_2, "passes.find_expired")
def whole_cache_searched(state: State, name: CacheName, cutoff_nanos: int) -> tuple[Position, ...]:
    """An old entry behind a young one leaves too."""
    cached_entries = change.cache_of(state, name).entries
    return tuple(
        pos for pos in change.positions_of(state, name) if passes.is_old(cached_entries[pos].stamp_nanos, cutoff_nanos)
    )


@seeded_fault(Rule.L_EXPIRE_3, "passes.cutoff_of")
def no_age_for_absent(state: State, event: ops.Expire, config: Config) -> int:
    """An age of 0 is taken for none."""
    return state.now_nanos - ((0 if event.older_than_nanos is ABSENT else event.older_than_nanos) or config.ttl_nanos)


@seeded_fault(Rule.L_STATE_5, "remove.count_removed")
def empty_entries_uncounted(state: State, name: CacheName, positions: tuple[Position, ...]) -> Removed:
    """Entries of 0 bytes are not counted among those that left."""
    cached_entries = change.cache_of(state, name).entries
    return remove.count_removed(state, name, tuple(pos for pos in positions if cached_entries[pos].size_bytes > 0))


@seeded_fault(Rule.L_LIVENESS_1, "passes.eviction_rows")
def last_taken_twice(
    rule: Rule, cause: str, state: State, name: CacheName, positions: tuple[Position, ...]
) -> tuple[Row, ...]:
    """A pass comes to its last entry twice."""
    rows = passes.eviction_rows(rule, cause, state, name, positions)
    return rows + rows[-1:]


@seeded_fault(Rule.L_STATE_3, ops.Evict, ops.EvictCache)
def nothing_asked_nothing_done(state: State, event: ops.Evict | ops.EvictCache, config: Config) -> Step:
    """An amount of 0 or less is no error: nothing leaves."""
    result = (
        passes.evict(state, event, config) if isinstance(event, ops.Evict) else passes.evict_cache(state, event, config)
    )
    return Step(state, Removed(0, 0), ()) if isinstance(result.outcome, Refused) else result


@seeded_fault(Rule.L_STATE_3, ops.Expire, other=True)
def refused_after_the_pass(state: State, event: ops.Expire, config: Config) -> Step:
    """An age below 0 is refused after a pass with the age 0 has run."""
    result = passes.expire(state, event, config)
    if not isinstance(result.outcome, Refused):
        return result
    return result._replace(state=passes.expire(state, replace(event, older_than_nanos=0), config).state)


# The public names.

SUBJECTS: Final[dict[str, Fault]] = {
    "legacy-amount-brought-up-to-date": SEEDED_FAULTS.find(amount_brought_up_to_date),
    "legacy-amount-of-the-moment": SEEDED_FAULTS.find(amount_of_the_moment),
    "legacy-asked-at-the-trigger": SEEDED_FAULTS.find(asked_at_the_trigger),
    "legacy-cutoff-is-young": SEEDED_FAULTS.find(cutoff_is_young),
    "legacy-down-from-the-limit": SEEDED_FAULTS.find(down_from_the_limit),
    "legacy-duplicate-answered-as-taken": SEEDED_FAULTS.find(entry_faults.duplicate_answered_as_taken),
    "legacy-duplicate-by-the-state-before": SEEDED_FAULTS.find(entry_faults.duplicate_by_the_state_before),
    "legacy-duplicate-stamped-anew": SEEDED_FAULTS.find(entry_faults.duplicate_stamped_anew),
    "legacy-every-cache-gives": SEEDED_FAULTS.find(every_cache_gives),
    "legacy-exists-in-any-cache": SEEDED_FAULTS.find(entry_faults.exists_in_any_cache),
    "legacy-frees-a-byte-at-least": SEEDED_FAULTS.find(frees_a_byte_at_least),
    "legacy-from-the-highest": SEEDED_FAULTS.find(from_the_highest),
    "legacy-get-misses-what-is-empty": SEEDED_FAULTS.find(entry_faults.get_misses_what_is_empty),
    "legacy-half-exceeded": SEEDED_FAULTS.find(half_exceeded),
    "legacy-later-fills-unasked": SEEDED_FAULTS.find(entry_faults.later_fills_unasked),
    "legacy-manual-at-once": SEEDED_FAULTS.find(manual_at_once),
    "legacy-no-age-for-absent": SEEDED_FAULTS.find(no_age_for_absent),
    "legacy-one-byte-more": SEEDED_FAULTS.find(one_byte_more),
    "legacy-one-too-many": SEEDED_FAULTS.find(one_too_many),
    "legacy-only-what-fits": SEEDED_FAULTS.find(only_what_fits),
    "legacy-only-what-was-missing": SEEDED_FAULTS.find(entry_faults.only_what_was_missing),
    "legacy-partial-hits": SEEDED_FAULTS.find(entry_faults.partial_hits),
    "legacy-range-without-its-end": SEEDED_FAULTS.find(entry_faults.range_without_its_end),
    "legacy-refused-asks-for-nothing": SEEDED_FAULTS.find(refused_asks_for_nothing),
    "legacy-refused-for-its-size": SEEDED_FAULTS.find(entry_faults.refused_for_its_size),
    "legacy-room-after-the-pass": SEEDED_FAULTS.find(entry_faults.room_after_the_pass),
    "legacy-room-at-the-limit": SEEDED_FAULTS.find(entry_faults.room_at_the_limit),
    "legacy-runs-again-and-again": SEEDED_FAULTS.find(runs_again_and_again),
    "legacy-share-in-integers": SEEDED_FAULTS.find(share_in_integers),
    "legacy-share-of-everything": SEEDED_FAULTS.find(share_of_everything),
    "legacy-share-rounded": SEEDED_FAULTS.find(share_rounded),
    "legacy-single-read-is-cached": SEEDED_FAULTS.find(entry_faults.single_read_is_cached),
    "legacy-smallest-first": SEEDED_FAULTS.find(smallest_first),
    "legacy-stamped-too-late": SEEDED_FAULTS.find(entry_faults.stamped_too_late),
    "legacy-ties-from-the-end": SEEDED_FAULTS.find(ties_from_the_end),
    "legacy-whole-cache-searched": SEEDED_FAULTS.find(whole_cache_searched),
}
"""The faults that are subjects, by public name."""
