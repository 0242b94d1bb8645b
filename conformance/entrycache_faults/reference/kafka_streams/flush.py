"""Faults of evictions and flushes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from entrycache_faults.reference.kafka_streams.planted import Taken, planted
from entrycache_reference.kafka_streams import flush, listeners, named_cache, namespaces, ops, writes
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import cleaned
from entrycache_reference.kafka_streams.outcomes import Done, ErrorKind, Failed
from entrycache_reference.kafka_streams.running import Held, accounted, holds_entries, limited_bytes
from entrycache_reference.kafka_streams.state import (
    Change,
    Listener,
    Node,
    Space,
    State,
    space_of,
    total_bytes,
    with_space,
)
from entrycache_reference.rules import Rule


@planted(Rule.K_EVICT_1, ops.Evict)
def evict_of_nothing_flushing(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """An eviction from nothing is a flush."""
    own = space_of(state, event.ns)
    if event.ns in state.spaces and not own.recent:
        return with_space(state, event.ns, own._replace(flushes=own.flushes + 1)), Done()
    return namespaces.evict(state, event, config, *calls)


@planted(Rule.K_EVICT_1, "flush.evict_eldest", other=True)
def evict_newest(state: State, ns: str, *rest: Any) -> Change:
    """The most recent entry is evicted."""
    own = space_of(state, ns)
    if not own.recent:
        return Change(state)
    return flush.evict_eldest(with_space(state, ns, own._replace(recent=(*own.recent[1:], own.recent[0]))), ns, *rest)


@planted(Rule.K_EVICT_2, ops.Evict)
def evict_counting_a_miss(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """Dropping a clean entry counts as a miss."""
    own = space_of(state, event.ns)
    after, answer = namespaces.evict(state, event, config, *calls)
    if own.recent and own.recent[-1] not in own.dirty:
        now = space_of(after, event.ns)
        return with_space(after, event.ns, now._replace(misses=now.misses + 1)), answer
    return after, answer


@planted(Rule.K_EVICT_3, ops.Evict)
def evict_handing_over_last(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """The evicted entry is handed over last."""
    after, answer = namespaces.evict(state, event, config, *calls)
    if not after.under_way.calls:
        return after, answer
    first = after.under_way.calls[0]
    turned = replace(first, entries=(*first.entries[1:], first.entries[0]))
    return listeners.with_calls(after, (turned, *after.under_way.calls[1:])), answer


@planted(Rule.K_EVICT_3, "flush.flush_dirty", other=True)
def hand_over_evicted_last(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """The evicted entry comes last."""
    at = len(state.under_way.calls)
    done = flush.flush_dirty(state, ns, evicted, *rest)
    if evicted is None or len(done.state.under_way.calls) == at:
        return done
    made = done.state.under_way.calls
    call = made[at]
    turned = replace(call, entries=(*call.entries[1:], call.entries[0]))
    return Change(listeners.with_calls(done.state, (*made[:at], turned, *made[at + 1 :])), done.error)


def _total_bytes(state: State) -> int:
    """The total with what is still to leave it."""
    return total_bytes(state) + state.running


@planted(Rule.K_EVICT_3, "listeners.call_listener", other=True, beside={"state.total_bytes": _total_bytes})
def call_listener_before_it_left(
    state: State, ns: str, listener: Listener, entries: tuple[tuple[str, Node], ...], *rest: Any
) -> State:
    """During the call the evicted entry is in the total."""
    late = sum(node.size_bytes for key, node in entries if key not in space_of(state, ns).nodes)
    after = listeners.call_listener(state._replace(running=state.running + late), ns, listener, entries, *rest)
    return after._replace(running=after.running - late)


def evicted(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """One eviction of an overflow, in the running total too."""
    return accounted(state, flush.evict_eldest(state, ns, config, *calls), ns, config)


@planted(Rule.K_EVICT_3, "flush.flush_dirty", other=True)
def hand_over_evicted_only(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """The eviction of a dirty entry hands over that entry only."""
    own = space_of(state, ns)
    others = tuple(key for key in own.dirty if key != evicted)
    if evicted is None or own.listener is None:
        return flush.flush_dirty(state, ns, evicted, *rest)
    done = flush.flush_dirty(with_space(state, ns, own._replace(dirty=(evicted,))), ns, evicted, *rest)
    now = space_of(done.state, ns)
    kept = tuple(key for key in others if key in now.nodes and key not in now.dirty)
    dirty = {key: now.nodes[key]._replace(is_dirty=True) for key in kept}
    left = now._replace(nodes={**now.nodes, **dirty}, dirty=(*kept, *now.dirty))
    return Change(with_space(done.state, ns, left), done.error)


@planted(Rule.K_EVICT_4, "writes.maybe_evict")
def relieve_once(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """One eviction has to do."""
    if limited_bytes(state, config) <= state.max_size_bytes or not space_of(state, ns).recent:
        return Change(state)
    done = evicted(state, ns, config, *calls)
    return done if done.error is not None else Change(done.state._replace(evicts=done.state.evicts + 1))


@planted(Rule.K_EVICT_4, "writes.maybe_evict", other=True)
def relieve_the_fullest(state: State, ns: str, *rest: Any) -> Change:
    """The namespace that holds most entries pays."""
    return writes.maybe_evict(state, max(sorted(state.spaces), key=lambda name: len(state.spaces[name].nodes)), *rest)


@planted(Rule.K_EVICT_4, "writes.holds_entries", other=True)
def holds_more_than_one(state: State, own: Held, config: Config) -> bool:
    """An overflow leaves the last entry of the namespace."""
    return holds_entries(state, own, config) and len(space_of(state, own.ns).recent) > 1


@planted(Rule.K_EVICT_5, "writes.maybe_evict")
def relieve_at_the_limit(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """The limit itself is too much."""
    after = state
    while limited_bytes(after, config) >= after.max_size_bytes and space_of(after, ns).recent:
        done = evicted(after, ns, config, *calls)
        if done.error is not None:
            return done
        after = done.state._replace(evicts=done.state.evicts + 1)
    return Change(after)


@planted(Rule.K_EVICT_6, "writes.maybe_evict")
def relieve_uncounted(state: State, ns: str, config: Config, *calls: Any) -> Change:
    """Evictions of an overflow are not counted."""
    after = state
    while limited_bytes(after, config) > after.max_size_bytes and space_of(after, ns).recent:
        done = evicted(after, ns, config, *calls)
        if done.error is not None:
            return done
        after = done.state
    return Change(after)


@planted(Rule.K_EVICT_7, ops.Evict)
def evict_counted(state: State, event: ops.Evict, config: Config, *calls: Any) -> Taken:
    """The thread counts an eviction by a call."""
    after, answer = namespaces.evict(state, event, config, *calls)
    return after._replace(evicts=after.evicts + 1), answer


@planted(Rule.K_FLUSH_1, ops.Flush)
def flush_by_key(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """A flush hands over in the order of keys."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if not after.under_way.calls:
        return after, answer
    first = after.under_way.calls[0]
    ordered = replace(first, entries=tuple(sorted(first.entries, key=lambda entry: entry.key)))
    return listeners.with_calls(after, (ordered, *after.under_way.calls[1:])), answer


@planted(Rule.K_FLUSH_2, "named_cache.cleaned")
def cleaned_half(space: Space) -> Space:
    """Entries that were handed over keep their flag."""
    return space._replace(dirty=())


@planted(Rule.K_FLUSH_2, "flush.flush_dirty", other=True)
def hand_over_cleaning_afterwards(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """What was written while a flush was under way is clean after it."""
    done = flush.flush_dirty(state, ns, evicted, *rest)
    now = space_of(done.state, ns)
    again = [key for key in space_of(state, ns).dirty if key in now.dirty]
    if done.error is not None or not again:
        return done
    clean = {key: now.nodes[key]._replace(is_dirty=False) for key in again}
    dirty = tuple(key for key in now.dirty if key not in clean)
    return Change(with_space(done.state, ns, now._replace(nodes={**now.nodes, **clean}, dirty=dirty)))


@planted(Rule.K_FLUSH_3, ops.Flush)
def flush_losing(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """What a listener refused counts as handed over."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if isinstance(answer, Failed) and event.ns in after.spaces:
        return with_space(after, event.ns, cleaned(space_of(after, event.ns))), answer
    return after, answer


@planted(Rule.K_FLUSH_3, "flush.flush_dirty", other=True)
def hand_over_back_as_newest(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """What could not be evicted is the most recent."""
    done = flush.flush_dirty(state, ns, evicted, *rest)
    if done.error is not ErrorKind.LISTENER_FAILED or evicted is None:
        return done
    own = space_of(done.state, ns)
    recent = (evicted, *named_cache.without_key(own.recent, evicted))
    return Change(with_space(done.state, ns, own._replace(recent=recent)), done.error)


@planted(Rule.K_FLUSH_3, "undelivered.unheard", other=True)
def unheard_and_forgotten(state: State, ns: str, evicted: str | None, config: Config) -> State:
    """An eviction that cannot be delivered for want of a listener loses the entry."""
    return state if evicted is None else with_space(state, ns, named_cache.removed(space_of(state, ns), evicted))


@planted(Rule.K_FLUSH_4, "flush.without_tombstones")
def tombstones_kept(state: State, ns: str, entries: tuple[tuple[str, Node], ...]) -> State:
    """Tombstones stay after a flush."""
    return state


@planted(Rule.K_FLUSH_5, ops.Flush)
def flush_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """What a flush looks up is not counted."""
    after, answer = namespaces.flush(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    hits = space_of(state, event.ns).hits
    return with_space(after, event.ns, space_of(after, event.ns)._replace(hits=hits)), answer


@planted(Rule.K_FLUSH_5, "flush.flush_dirty", other=True)
def hand_over_using(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """What a flush hands over becomes the most recent."""
    own = space_of(state, ns)
    if evicted is not None or own.listener is None:
        return flush.flush_dirty(state, ns, evicted, *rest)
    rest_of_them = tuple(key for key in own.recent if key not in own.dirty)
    used = with_space(state, ns, own._replace(recent=(*own.dirty[::-1], *rest_of_them)))
    return flush.flush_dirty(used, ns, evicted, *rest)


@planted(Rule.K_FLUSH_6, ops.Flush)
def flush_of_nothing_uncounted(state: State, event: ops.Flush, config: Config, *calls: Any) -> Taken:
    """A flush of nothing is not counted."""
    if event.ns not in state.spaces:
        return state, Done()
    return namespaces.flush(state, event, config, *calls)
