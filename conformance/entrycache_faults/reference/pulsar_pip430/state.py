"""Faults about states as a whole: sums, the queue, time, numbers."""

from __future__ import annotations

from dataclasses import replace

from entrycache_faults.reference.pulsar_pip430.planted import planted
from entrycache_reference.pulsar_pip430 import change, lookup, ops, outcomes, passes, remove, views
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Absent, CacheName, Position


@planted(Rule.STATE_1, "change.add_entry")
def add_entry_counted_twice(state: State, name: CacheName, pos: Position, entry: Entry) -> State:
    """An insert adds its size twice to the bytes of the manager."""
    after = change.add_entry(state, name, pos, entry)
    return after._replace(size_bytes=after.size_bytes + entry.size_bytes)


@planted(Rule.STATE_2, "remove.drop_entries")
def drop_entries_leaving_slots(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """Entries removed by a call leave live slots behind."""
    return change.drop_entries(state, name, positions)._replace(queue=state.queue)


@planted(Rule.STATE_3, "remove.drop_entries")
def drop_entries_rebuilding_the_queue(state: State, name: CacheName, positions: tuple[Position, ...]) -> State:
    """A removal rebuilds the queue cache by cache and loses the order of ages."""
    if not positions:
        return state
    after = change.drop_entries(state, name, positions)
    live = iter([Slot(other, pos) for other, cache in after.caches.items() for pos in cache.entries])
    return after._replace(queue=tuple(None if slot is None else next(live) for slot in after.queue))


@planted(Rule.STATE_4, ops.Advance)
def advance_expiring(state: State, event: ops.Advance, config: Config) -> Step:
    """Entries older than the time to live leave when time passes."""
    done = views.advance(state, event, config)
    if done.state is state:
        return done
    cutoff = done.state.now_nanos - state.settings.ttl_nanos
    expired = passes.run_pass(done.state, passes.PassKind.TIME, cutoff, config).state
    return done._replace(state=expired._replace(counts=state.counts))


@planted(Rule.STATE_5, ops.Evict)
def evict_dropping_when_refused(state: State, event: ops.Evict, config: Config) -> Step:
    """A refused evict drops the dead slot at the head."""
    done = passes.evict(state, event, config)
    if event.bytes > 0 or not state.queue or state.queue[0] is not None:
        return done
    return done._replace(state=state._replace(queue=state.queue[1:]))


@planted(Rule.STATE_6, ops.Advance)
def advance_ignoring_negative(state: State, event: ops.Advance, config: Config) -> Step:
    """A negative advance is taken for one by 0."""
    return views.advance(state, replace(event, nanos=max(0, event.nanos)), config)


@planted(Rule.STATE_7, ops.Exists)
def exists_marking(state: State, event: ops.Exists, config: Config) -> Step:
    """exists marks the entry accessed."""
    after = lookup.get(state, ops.Get(event.cache, event.pos), config).state
    return lookup.exists(state, event, config)._replace(state=after)


@planted(Rule.STATE_8, "remove.removal")
def removal_told_twice(state: State, name: CacheName, positions: tuple[Position, ...], law: Rule, cause: str) -> Step:
    """Each entry of a removed range is reported as removed twice."""
    done = remove.removal(state, name, positions, law, cause)
    return done._replace(rows=done.rows * 2)


@planted(Rule.STATE_9, ops.Exists)
def exists_leaving_no_cache(state: State, event: ops.Exists, config: Config) -> Step:
    """exists opens no cache."""
    done = lookup.exists(state, event, config)
    if state.caches[event.cache] != change.EMPTY._replace(grace_start_nanos=state.now_nanos):
        return done
    others = {name: cache for name, cache in state.caches.items() if name != event.cache}
    return done._replace(state=state._replace(caches=others))


@planted(Rule.METRICS_1, ops.Usage)
def usage_with_all_bytes(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of a cache answers the bytes of all."""
    done = views.usage(state, event, config)
    assert isinstance(done.outcome, outcomes.Used)
    return done._replace(outcome=outcomes.Used(done.outcome.entries, state.size_bytes))


@planted(Rule.METRICS_2, ops.Usage)
def usage_counting_slots(state: State, event: ops.Usage, config: Config) -> Step:
    """usage of all caches counts the slots of the queue, dead ones too."""
    if event.cache in state.caches or not isinstance(event.cache, Absent):
        return views.usage(state, event, config)
    return Step(state, outcomes.Used(len(state.queue), state.size_bytes), ())


@planted(Rule.LIVENESS_2, ops.Advance)
def advance_answering_time(state: State, event: ops.Advance, config: Config) -> Step:
    """advance answers the time."""
    done = views.advance(state, event, config)
    return done if done.state is state else done._replace(outcome=outcomes.Counted(done.state.now_nanos))
