"""Faults of the manager: sums, time, the trigger, what is shown."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_legacy.planted import planted
from entrycache_reference.pulsar_legacy import change, insert, lookup, ops, outcomes, thresholds, trigger, views
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.passes import REFUSED
from entrycache_reference.pulsar_legacy.state import Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position


@planted(Rule.L_STATE_1, "change.add_entry")
def cache_byte_forgotten(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """Of a new entry of more than a byte one byte does not count in its cache."""
    added = change.add_entry(state, name, pos, entry)
    cache = added.caches[name]
    lost = 1 if entry.size_bytes > 1 else 0
    return added._replace(caches={**added.caches, name: cache._replace(size_bytes=cache.size_bytes - lost)})


@planted(Rule.L_STATE_1, "change.drop_entries", other=True)
def removal_keeps_the_bytes(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """The last entry that leaves goes on to count in the manager's bytes."""
    left = change.drop_entries(state, name, positions)
    kept_bytes = change.cache_of(state, name).entries[positions[-1]].size_bytes if positions else 0
    return left._replace(size_bytes=left.size_bytes + kept_bytes)


@planted(Rule.L_STATE_2, ops.Advance)
def time_runs_double(state: State, event: ops.Advance, config: Config) -> Step:
    """Time goes on by twice as much."""
    done = views.advance(state, event, config)
    return done._replace(state=done.state._replace(now_nanos=2 * done.state.now_nanos - state.now_nanos))


@planted(Rule.L_STATE_4, ops.Get)
def get_keeps_young(state: State, event: ops.Get, config: Config) -> Step:
    """A hit gives the entry a new stamp."""
    done = lookup.get(state, event, config)
    entry = change.entry_at(state, event.cache, event.pos)
    if entry is None:
        return done
    cache = change.cache_of(state, event.cache)
    entries = {**cache.entries, event.pos: entry._replace(stamp_nanos=state.now_nanos)}
    return done._replace(state=change.with_cache(state, event.cache, entries, cache.size_bytes))


@planted(Rule.L_TRIGGER_1, "thresholds.amount_bytes")
def one_byte_more(size_bytes: int, config: Config) -> int:
    """A size pass is to free one byte more than lies above the watermark's share."""
    need = thresholds.amount_bytes(size_bytes, config)
    return need + 1 if need > 0 else need


@planted(Rule.L_TRIGGER_1, "thresholds.amount_bytes", other=True)
def down_from_the_limit(size_bytes: int, config: Config) -> int:
    """A size pass is to free as much as a full cache would have to, whatever the bytes are."""
    need = thresholds.amount_bytes(size_bytes, config)
    full = thresholds.amount_bytes(config.max_size_bytes, config)
    return max(1, full) if need > 0 else need


@planted(Rule.L_TRIGGER_2, "trigger.ask")
def asked_at_the_trigger(state: State, config: Config) -> Step:
    """An insert that begins with the bytes at the trigger runs a size pass."""
    need = thresholds.amount_bytes(state.size_bytes, config)
    is_at = state.size_bytes == thresholds.trigger_bytes(config)
    if is_at and config.eviction is Eviction.INLINE and state.scheduled_bytes is None and need > 0:
        return trigger.relieve(state, need, config)
    return trigger.ask(state, config)


@planted(Rule.L_TRIGGER_3, "trigger.ask")
def manual_at_once(state: State, config: Config) -> Step:
    """With manual eviction an insert runs its pass at once too."""
    done = trigger.ask(state, config)
    need = done.state.scheduled_bytes
    if need is None or need <= 0 or state.scheduled_bytes is not None:
        return done
    return trigger.relieve(state, need, config)


@planted(Rule.L_TRIGGER_4, "trigger.ask")
def amount_brought_up_to_date(state: State, config: Config) -> Step:
    """A pass that waits frees by the bytes of the last insert."""
    if state.scheduled_bytes is None:
        return trigger.ask(state, config)
    return trigger.ask(state._replace(scheduled_bytes=None), config)


@planted(Rule.L_TRIGGER_5, ops.RunScheduled)
def amount_of_the_moment(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """run_scheduled frees what lies above the watermark's share when it runs, as in later releases."""
    if state.scheduled_bytes is None or state.scheduled_bytes <= 0:
        return trigger.run_scheduled(state, event, config)
    need = thresholds.amount_bytes(state.size_bytes, config)
    return trigger.relieve(state._replace(scheduled_bytes=None), need, config)


@planted(Rule.L_TRIGGER_5, ops.RunScheduled, other=True)
def runs_again_and_again(state: State, event: ops.RunScheduled, config: Config) -> Step:
    """run_scheduled leaves the pass scheduled."""
    done = trigger.run_scheduled(state, event, config)
    return done._replace(state=done.state._replace(scheduled_bytes=state.scheduled_bytes))


@planted(Rule.L_TRIGGER_6, "trigger.relieve")
def frees_a_byte_at_least(state: State, need_bytes: int, config: Config) -> Step:
    """A pass with nothing to free frees a byte."""
    return trigger.relieve(state, max(1, need_bytes), config)


@planted(Rule.L_TRIGGER_7, ops.Insert)
def refused_asks_for_nothing(state: State, event: ops.Insert, config: Config) -> Step:
    """An insert that is not taken asks for no pass."""
    done = insert.insert(state, event, config)
    return Step(state, done.outcome, ()) if done.outcome == outcomes.Inserted(False) else done


@planted(Rule.L_METRICS_1, ops.Usage)
def usage_counts_caches(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of all counts the caches, not their entries."""
    done = views.usage(state, event, config)
    if event.cache is not ABSENT:
        return done
    return done._replace(outcome=outcomes.Used(len(state.caches), state.size_bytes))


@planted(Rule.L_METRICS_2, ops.Observe)
def empty_bytes_unseen(state: State, event: ops.Observe, config: Config) -> Step:
    """observe leaves out a cache whose entries have no bytes."""
    caches = {name: cache for name, cache in state.caches.items() if cache.size_bytes > 0}
    return views.observe(state._replace(caches=caches), event, config)._replace(state=state)


@planted(Rule.L_LIVENESS_2, ops.Usage)
def usage_of_nothing(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of a cache that holds nothing is refused."""
    is_refused = event.cache is not ABSENT and event.cache not in state.caches
    return Step(state, REFUSED, ()) if is_refused else views.usage(state, event, config)
