"""Wrong versions of the reference of `kafka-streams`: caching stores and shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.kafka_streams import flush, listeners, ops, stores
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import removed, written
from entrycache_reference.kafka_streams.outcomes import Answer, Forward, Listed, Value
from entrycache_reference.kafka_streams.running import booked, held
from entrycache_reference.kafka_streams.size import in_order
from entrycache_reference.kafka_streams.state import State, space_of, with_space

Taken = tuple[State, Answer]
Function = Callable[..., Taken]
_written: Final = written
_evict_eldest: Final = flush.evict_eldest


def store_get_below(state: State, event: ops.StoreGet, config: Config, *calls: Any) -> Taken:
    """K-STORE-1: a deleted key is looked for below."""
    after, answer = stores.store_get(state, event, config, *calls)
    node = space_of(state, event.store).nodes.get(event.key)
    if node is not None and node.value is None:
        return after, Value(stores.store_of(state, event.store).inner.get(event.key))
    return after, answer


def store_flush_keeping_deleted(state: State, event: ops.StoreFlush, config: Config, *calls: Any) -> Taken:
    """K-STORE-2: what was deleted stays below."""
    before = stores.store_of(state, event.store).inner
    after, answer = stores.store_flush(state, event, config, *calls)
    if stores.store_of(state, event.store).downstream:
        return after, answer
    store = stores.store_of(after, event.store)
    return stores.with_store(after, event.store, store._replace(inner={**before, **store.inner})), answer


def store_flush_forwarding_unknown(state: State, event: ops.StoreFlush, config: Config, *calls: Any) -> Taken:
    """K-STORE-3: every tombstone is forwarded."""
    own, inner = space_of(state, event.store), stores.store_of(state, event.store).inner
    heeded = stores.store_of(state, event.store).downstream
    unknown = [key for key in own.dirty if not heeded and own.nodes[key].value is None and key not in inner]
    after, answer = stores.store_flush(state, event, config, *calls)
    extra = tuple(Forward(event.store, key, None) for key in unknown)
    return stores.with_forwards(after, (*after.under_way.forwards, *extra)), answer


def receive_late(state: State, name: str, entries: Any, config: Config, env: Any) -> State:
    """K-STORE-4: an entry is passed on although a later write was."""
    after = state
    known = []
    for key, node in entries:
        store = stores.store_of(after, name)
        if node.value is not None or key in store.inner:
            known.append((key, node))
            below = stores.lies_below(store.inner, key, node.value)
            after = stores.with_store(after, name, store._replace(inner=below))
    for key, node in known:
        after = stores.pass_on(after, name, key, node, config, env)
    return after


def performed_nothing(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """K-STORE-5: nothing is done downstream."""
    return listeners.counted_call(state), ()


def store_get_not_caching(state: State, event: ops.StoreGet, config: Config, *calls: Any) -> Taken:
    """K-STORE-6: what was read from below is not cached."""
    there = space_of(state, event.store).nodes
    after, answer = stores.store_get(state, event, config, *calls)
    if event.key in there or event.key not in space_of(after, event.store).nodes:
        return after, answer
    uncached = with_space(after, event.store, removed(space_of(after, event.store), event.key))
    return booked(after, uncached, held(after, event.store), config), answer


def store_delete_of_known(state: State, event: ops.StoreDelete, config: Config, *calls: Any) -> Taken:
    """K-STORE-7: deleting what is not there writes no tombstone."""
    done, value = stores.read_value(state, event.store, event.key, config, *calls)
    if value is None:
        return done.state, Value(None)
    return stores.store_delete(state, event, config, *calls)


def store_all_with_deleted(state: State, event: ops.StoreAll, config: Config, *calls: Any) -> Taken:
    """K-STORE-8: a deleted key shows through as long as it lies below."""
    after, answer = stores.store_all(state, event, config, *calls)
    assert isinstance(answer, Listed)
    shown = dict(answer.entries)
    shown.update({k: v for k, v in stores.store_of(after, event.store).inner.items() if k not in shown})
    return after, Listed(tuple((key, shown[key]) for key in in_order(tuple(shown))))


def share_for_threads_only(state: State, event: ops.Share, config: Config, *calls: Any) -> Taken:
    """K-SHARE-1: the global thread gets nothing."""
    return stores.share(state, replace(event, global_thread=False), config, *calls)


def store_inner_of_one(state: State, event: ops.StoreInner, config: Config, *calls: Any) -> Taken:
    """K-LIVENESS-2: a listing is answered by one value."""
    after, answer = stores.store_inner(state, event, config, *calls)
    assert isinstance(answer, Listed)
    return after, Value(answer.entries[0][1] if answer.entries else None)
