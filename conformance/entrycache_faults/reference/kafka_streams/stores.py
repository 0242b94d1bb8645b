"""Faults of caching stores and shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from entrycache_faults.reference.kafka_streams.planted import Taken, planted
from entrycache_reference.kafka_streams import listeners, ops, stores
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.named_cache import removed
from entrycache_reference.kafka_streams.outcomes import Answer, Forward, Listed, Value
from entrycache_reference.kafka_streams.running import booked, held
from entrycache_reference.kafka_streams.size import in_order
from entrycache_reference.kafka_streams.state import Change, Node, State, space_of, with_space
from entrycache_reference.rules import Rule


@planted(Rule.K_STORE_1, ops.StoreGet)
def store_get_below(state: State, event: ops.StoreGet, config: Config, *calls: Any) -> Taken:
    """A deleted key is looked for below."""
    after, answer = stores.store_get(state, event, config, *calls)
    node = space_of(state, event.store).nodes.get(event.key)
    if node is not None and node.value is None:
        return after, Value(stores.store_of(state, event.store).inner.get(event.key))
    return after, answer


@planted(Rule.K_STORE_2, ops.StoreFlush)
def store_flush_keeping_deleted(state: State, event: ops.StoreFlush, config: Config, *calls: Any) -> Taken:
    """What was deleted stays below."""
    before = stores.store_of(state, event.store).inner
    after, answer = stores.store_flush(state, event, config, *calls)
    if stores.store_of(state, event.store).downstream:
        return after, answer
    store = stores.store_of(after, event.store)
    return stores.with_store(after, event.store, store._replace(inner={**before, **store.inner})), answer


@planted(Rule.K_STORE_2, ops.StoreDelete, other=True)
def store_delete_through(state: State, event: ops.StoreDelete, config: Config, *calls: Any) -> Taken:
    """A deletion goes through at once."""
    after, answer = stores.store_delete(state, event, config, *calls)
    store = stores.store_of(after, event.store)
    gone = store._replace(inner=stores.lies_below(store.inner, event.key, None))
    return stores.with_store(after, event.store, gone), answer


@planted(Rule.K_STORE_3, ops.StoreFlush)
def store_flush_forwarding_unknown(state: State, event: ops.StoreFlush, config: Config, *calls: Any) -> Taken:
    """Every tombstone is forwarded."""
    own, inner = space_of(state, event.store), stores.store_of(state, event.store).inner
    heeded = stores.store_of(state, event.store).downstream
    unknown = [key for key in own.dirty if not heeded and own.nodes[key].value is None and key not in inner]
    after, answer = stores.store_flush(state, event, config, *calls)
    extra = tuple(Forward(event.store, key, None) for key in unknown)
    return stores.with_forwards(after, (*after.under_way.forwards, *extra)), answer


@planted(Rule.K_STORE_3, "stores.receive", other=True)
def receive_passing_on_unknown(state: State, name: str, entries: Any, *rest: Any) -> State:
    """A tombstone of a key that does not lie below is passed on."""
    inner = stores.store_of(state, name).inner
    after = stores.receive(state, name, entries, *rest)
    for key, node in entries:
        if node.value is None and key not in inner:
            after = stores.pass_on(after, name, key, node, *rest)
    return after


@planted(Rule.K_STORE_4, "stores.receive")
def receive_late(state: State, name: str, entries: Any, config: Config, env: Any) -> State:
    """An overtaken write is passed on."""
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


@planted(Rule.K_STORE_4, "stores.receive", other=True)
def receive_below_last(state: State, name: str, entries: Any, config: Config, env: Any) -> State:
    """Passed on before it lies below."""
    after = state
    for key, node in entries:
        if node.value is not None or key in stores.store_of(after, name).inner:
            after = stores.pass_on(after, name, key, node, config, env)
    for key, node in entries:
        store = stores.store_of(after, name)
        below = stores.lies_below(store.inner, key, node.value)
        after = stores.with_store(after, name, store._replace(inner=below))
    return after


@planted(Rule.K_STORE_5, "stores.performed")
def performed_nothing(
    state: State, steps: tuple[ops.Op, ...], config: Config, env: Any
) -> tuple[State, tuple[Answer, ...]]:
    """Nothing is done downstream."""
    return listeners.counted_call(state), ()


@planted(Rule.K_STORE_6, ops.StoreGet)
def store_get_not_caching(state: State, event: ops.StoreGet, config: Config, *calls: Any) -> Taken:
    """What was read from below is not cached."""
    there = space_of(state, event.store).nodes
    after, answer = stores.store_get(state, event, config, *calls)
    if event.key in there or event.key not in space_of(after, event.store).nodes:
        return after, answer
    uncached = with_space(after, event.store, removed(space_of(after, event.store), event.key))
    return booked(after, uncached, held(after, event.store), config), answer


@planted(Rule.K_STORE_6, "stores.read_value", other=True)
def value_only_looked_for(state: State, name: str, key: str, *rest: Any) -> tuple[Change, str | None]:
    """What is read from the store below is not even offered to the cache."""
    after, value = stores.sought(state, name, key)
    return Change(after), value


@planted(Rule.K_STORE_6, "stores.node_of", other=True)
def node_dirty(key: str, value: str | None, is_dirty: bool, number: int) -> Node:
    """A value read from below is dirty."""
    return stores.node_of(key, value, True, number)


@planted(Rule.K_STORE_7, ops.StoreDelete)
def store_delete_of_known(state: State, event: ops.StoreDelete, config: Config, *calls: Any) -> Taken:
    """Deleting what is not there writes nothing."""
    done, value = stores.read_value(state, event.store, event.key, config, *calls)
    if value is None:
        return done.state, Value(None)
    return stores.store_delete(state, event, config, *calls)


@planted(Rule.K_STORE_8, ops.StoreAll)
def store_all_with_deleted(state: State, event: ops.StoreAll, config: Config, *calls: Any) -> Taken:
    """A deleted key shows through."""
    after, answer = stores.store_all(state, event, config, *calls)
    assert isinstance(answer, Listed)
    shown = dict(answer.entries)
    shown.update({k: v for k, v in stores.store_of(after, event.store).inner.items() if k not in shown})
    return after, Listed(tuple((key, shown[key]) for key in in_order(tuple(shown))))


@planted(Rule.K_SHARE_1, ops.Share)
def share_for_threads_only(state: State, event: ops.Share, config: Config, *calls: Any) -> Taken:
    """The global thread gets nothing."""
    return stores.share(state, replace(event, global_thread=False), config, *calls)


@planted(Rule.K_LIVENESS_2, ops.StoreInner)
def store_inner_of_one(state: State, event: ops.StoreInner, config: Config, *calls: Any) -> Taken:
    """A listing is answered by one value."""
    after, answer = stores.store_inner(state, event, config, *calls)
    assert isinstance(answer, Listed)
    return after, Value(answer.entries[0][1] if answer.entries else None)
