"""Seeded faults of caching stores and shares, the variants of the releases as faults, and errors within a variant.

A variant breaks rules of the default behavior; it is entered once for each of them.
"""

from dataclasses import replace
from typing import Any

from entrycache_faults.reference.kafka_streams.entries import SEEDED_FAULTS, OperationResult, seeded_fault
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import flush, ops, outcomes, stores, windows
from entrycache_reference.kafka_streams.change import (
    NamespaceHandle,
    book_bytes,
    handle_of,
    remove_key,
    sort_by_bytes,
    without_key,
)
from entrycache_reference.kafka_streams.laws.law import place
from entrycache_reference.kafka_streams.state import Change, Node, State, space_of, with_space
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

SEEDED_FAULTS.register_variant(
    "An eviction that nobody takes is lost.",
    Rule.K_FLUSH_3,
    undelivered_eviction=configuration.UndeliveredEviction.LOST,
)
SEEDED_FAULTS.register_variant(
    "What a listener refused is clean.", Rule.K_FLUSH_3, failed_flush=configuration.FailedFlush.CLEAN
)
SEEDED_FAULTS.register_variant(
    "The limit is held against a running total.",
    Rule.K_METRICS_1,
    Rule.K_EVICT_3,
    Rule.K_EVICT_5,
    total=configuration.Total.RUNNING,
)
SEEDED_FAULTS.register_variant(
    "What an eviction could not hand over is lost, and still in a running total.",
    Rule.K_FLUSH_3,
    undelivered_eviction=configuration.UndeliveredEviction.LOST,
    total=configuration.Total.RUNNING,
)
SEEDED_FAULTS.register_variant(
    "The key of a tombstone goes, whatever was written to it meanwhile.",
    Rule.K_FLUSH_4,
    flushed_tombstone=configuration.FlushedTombstone.ANY_WRITE,
)
SEEDED_FAULTS.register_variant(
    "Entries are forwarded one by one.", Rule.K_STORE_1, Rule.K_STORE_4, delivery=configuration.Delivery.ONE_BY_ONE
)
SEEDED_FAULTS.register_variant(
    "A deletion caches what it reads.", Rule.K_STORE_7, delete_read=configuration.DeleteRead.CACHED
)
SEEDED_FAULTS.register_variant(
    "A view drops tombstones before their keys come.",
    Rule.K_STORE_8,
    view_tombstone=configuration.ViewTombstone.DROPPED,
)


# Caching stores and shares.


@seeded_fault(Rule.K_STORE_1, ops.StoreGet)
def store_get_below(state: State, event: ops.StoreGet, config: configuration.Config, *calls: Any) -> OperationResult:
    """A deleted key is looked for below."""
    after, answer = stores.store_get(state, event, config, *calls)
    node = space_of(state, event.store).nodes.get(event.key)
    if node is not None and node.value is None:
        return after, outcomes.Value(stores.store_of(state, event.store).inner.get(event.key))
    return after, answer


@seeded_fault(Rule.K_STORE_2, ops.StoreFlush)
def store_flush_keeping_deleted(
    state: State, event: ops.StoreFlush, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A deleted key stays in the underlying store."""
    before = stores.store_of(state, event.store).inner
    after, answer = stores.store_flush(state, event, config, *calls)
    former, store = stores.store_of(state, event.store), stores.store_of(after, event.store)
    is_inside = state.in_progress.called > 0 or former.downstream or former.failing
    if is_inside or store.settings.kind is not StoreKind.KEY_VALUE:
        return after, answer
    return stores.with_store(after, event.store, store._replace(inner={**before, **store.inner})), answer


@seeded_fault(Rule.K_STORE_2, ops.StoreDelete, other=True)
def store_delete_through(
    state: State, event: ops.StoreDelete, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A deletion goes through at once."""
    after, answer = stores.store_delete(state, event, config, *calls)
    store = stores.store_of(after, event.store)
    deleted = store._replace(inner=stores.write_underlying(store.inner, event.key, None))
    return stores.with_store(after, event.store, deleted), answer


@seeded_fault(Rule.K_STORE_3, ops.StoreFlush)
def store_flush_forwarding_unknown(
    state: State, event: ops.StoreFlush, config: configuration.Config, *calls: Any
) -> OperationResult:
    """Every tombstone is forwarded."""
    own, inner = space_of(state, event.store), stores.store_of(state, event.store).inner
    store = stores.store_of(state, event.store)
    heeded = store.downstream or store.failing or store.old_values or not store.settings.listens
    heeded = heeded or store.settings.kind is not StoreKind.KEY_VALUE
    unknown = [key for key in own.dirty if not heeded and own.nodes[key].value is None and key not in inner]
    after, answer = stores.store_flush(state, event, config, *calls)
    extra = tuple(outcomes.Forward(event.store, key, None) for key in unknown)
    return stores.with_forwards(after, (*after.in_progress.forwards, *extra)), answer


@seeded_fault(Rule.K_STORE_3, "stores.receive", other=True)
def receive_passing_on_unknown(state: State, name: str, entries: Any, *rest: Any) -> State:
    """A tombstone is forwarded although the underlying store lacks its key."""
    inner = stores.store_of(state, name).inner
    after = stores.receive(state, name, entries, *rest)
    for key, node in entries:
        is_key = stores.store_of(state, name).settings.kind is StoreKind.KEY_VALUE
        if node.value is None and key not in inner and is_key:
            after = stores.forward_entry(after, name, key, node, *rest)
    return after


@seeded_fault(Rule.K_STORE_4, "stores.receive")
def receive_late(state: State, name: str, entries: Any, config: configuration.Config, env: Any) -> State:
    """An overtaken write is forwarded."""
    after = state
    accepted = []
    for key, node in entries:
        store = stores.store_of(after, name)
        if stores.takes_write(store, key, node, config):
            accepted.append((key, node))
            after = stores.with_store(after, name, stores.write_below(store, key, node.value, config))
    for key, node in accepted:
        if not (after.in_progress.has_thrown or stores.is_dropped(stores.store_of(after, name), key, config)):
            after = stores.forward_entry(after, name, key, node, config, env)
    return stores.owe_forwards(state, after, name, entries, config) if after.in_progress.has_thrown else after


@seeded_fault(Rule.K_STORE_4, "stores.receive", other=True)
def receive_below_last(state: State, name: str, entries: Any, config: configuration.Config, env: Any) -> State:
    """Forward an entry before the underlying store holds it."""
    after = state
    for key, node in entries:
        is_taken = stores.takes_write(stores.store_of(after, name), key, node, config)
        if is_taken and not after.in_progress.has_thrown:
            after = stores.forward_entry(after, name, key, node, config, env)
    for key, node in entries:
        store = stores.store_of(after, name)
        if not stores.is_dropped(store, key, config):
            after = stores.with_store(after, name, stores.write_below(store, key, node.value, config))
    return stores.owe_forwards(state, after, name, entries, config) if after.in_progress.has_thrown else after


@seeded_fault(Rule.K_STORE_5, "stores.perform_steps")
def performed_nothing(
    state: State, steps: tuple[ops.Op, ...], config: configuration.Config, env: Any
) -> tuple[State, tuple[outcomes.Answer, ...]]:
    """Nothing is done downstream."""
    return flush.count_call(state), ()


@seeded_fault(Rule.K_STORE_6, ops.StoreGet)
def store_get_not_caching(
    state: State, event: ops.StoreGet, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A value that was read from the underlying store is not cached."""
    there = space_of(state, event.store).nodes
    after, answer = stores.store_get(state, event, config, *calls)
    if event.key in there or event.key not in space_of(after, event.store).nodes:
        return after, answer
    uncached = with_space(after, event.store, remove_key(space_of(after, event.store), event.key))
    return book_bytes(after, uncached, handle_of(after, event.store), config), answer


@seeded_fault(Rule.K_STORE_6, "stores.read_value", other=True)
def value_only_looked_for(state: State, name: str, key: str, *rest: Any) -> tuple[Change, str | None]:
    """A value that is read from the underlying store is not offered to the cache."""
    after, value = stores.find_value(state, name, key)
    return Change(after), value


@seeded_fault(Rule.K_STORE_6, "stores.build_store_node", other=True)
def node_dirty(key: str, value: str | None, is_dirty: bool, number: int) -> Node:
    """A value read from below is dirty."""
    return stores.build_store_node(key, value, True, number)


@seeded_fault(Rule.K_STORE_7, ops.StoreDelete)
def store_delete_of_known(
    state: State, event: ops.StoreDelete, config: configuration.Config, *calls: Any
) -> OperationResult:
    """Deleting what is not there writes nothing."""
    change, value = stores.read_value(state, event.store, event.key, config, *calls)
    if value is None:
        return change.state, outcomes.Value(None)
    return stores.store_delete(state, event, config, *calls)


@seeded_fault(Rule.K_STORE_8, ops.StoreAll)
def store_all_with_deleted(
    state: State, event: ops.StoreAll, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A deleted key shows through."""
    after, answer = stores.store_all(state, event, config, *calls)
    assert isinstance(answer, outcomes.Listing)
    view = dict(answer.entries)
    view.update({k: v for k, v in stores.store_of(after, event.store).inner.items() if k not in view})
    return after, outcomes.Listing(tuple((key, view[key]) for key in sort_by_bytes(tuple(view))))


@seeded_fault(Rule.K_SHARE_1, ops.Share)
def share_for_threads_only(
    state: State, event: ops.Share, config: configuration.Config, *calls: Any
) -> OperationResult:
    """The global thread gets nothing."""
    return stores.share(state, replace(event, global_thread=False), config, *calls)


@seeded_fault(Rule.K_LIVENESS_2, ops.StoreInner)
def store_inner_of_one(
    state: State, event: ops.StoreInner, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A listing is answered by one value."""
    after, answer = windows.list_below(state, event, config, *calls)
    if not isinstance(answer, outcomes.Listing):
        return after, answer
    return after, outcomes.Value(answer.entries[0][1] if answer.entries else None)


# Forwards that throw.


@seeded_fault(Rule.K_FAIL_1, "flush.take_back")
def take_nothing_back(before: State, after: State, *rest: Any) -> State:
    """The entries of a call whose forward has thrown stay clean, and an evicted one stays out."""
    return after._replace(in_progress=after.in_progress._replace(has_thrown=False))


@seeded_fault(Rule.K_FAIL_1, "flush.put_back", other=True)
def put_back_after_later_writes(state: State, ns: str, dirty: tuple[str, ...], back: Any, gone: Any) -> State:
    """Entries that come back are dirty behind what was written meanwhile."""
    former, after = space_of(state, ns), flush.put_back(state, ns, dirty, back, gone)
    space = space_of(after, ns)
    later = tuple(key for key in space.dirty if key in former.dirty)
    return with_space(after, ns, space._replace(dirty=(*later, *(key for key in space.dirty if key not in later))))


@seeded_fault(Rule.K_FAIL_2, "stores.owe_forwards")
def owe_no_deletions(before: State, after: State, name: str, *rest: Any) -> State:
    """A deletion whose forward has to be repeated is not owed."""
    owing, store = stores.owe_forwards(before, after, name, *rest), stores.store_of(after, name)
    return stores.with_store(owing, name, stores.store_of(owing, name)._replace(owed=store.owed))


@seeded_fault(Rule.K_FAIL_2, "stores.owe_forwards", other=True)
def owe_only_deletions(before: State, after: State, name: str, *rest: Any) -> State:
    """A value that was forwarded before the failure counts as forwarded."""
    owing, store = stores.owe_forwards(before, after, name, *rest), stores.store_of(after, name)
    kept = stores.store_of(owing, name)._replace(forwarded_writes=store.forwarded_writes)
    return stores.with_store(owing, name, kept)


@seeded_fault(Rule.K_FAIL_3, "flush.take_back")
def take_back_and_throw_on(before: State, *rest: Any) -> State:
    """A forward that throws inside a call ends the outer call too."""
    after = flush.take_back(before, *rest)
    return after._replace(in_progress=after.in_progress._replace(has_thrown=before.in_progress.called > 0))


@seeded_fault(Rule.K_FAIL_4, "stores.receive")
def receive_what_was_forwarded(state: State, name: str, entries: tuple[tuple[str, Node], ...], *rest: Any) -> State:
    """If a forward throws, the entries that were not forwarded are not written to the underlying store."""
    after = stores.receive(state, name, entries, *rest)
    if not after.in_progress.has_thrown:
        return after
    former, store, inner = (
        stores.store_of(state, name),
        stores.store_of(after, name),
        stores.store_of(after, name).inner,
    )
    for key, _ in entries:
        if not any((call.store, call.key) == (name, key) for call in after.in_progress.forwards):
            inner = stores.write_underlying(inner, key, former.inner.get(key))
    return stores.with_store(after, name, store._replace(inner=inner))


# Errors within a variant.


@seeded_fault(Rule.K_FLUSH_7, "flush.handle_no_listener")
def unheard_with_its_key(state: State, ns: str, evicted: str | None, config: configuration.Config) -> State:
    """In a release that loses an undelivered entry, the key of that entry is no longer dirty."""
    after = flush.handle_no_listener(state, ns, evicted, config)
    space = space_of(after, ns)
    if evicted is None or evicted in space.nodes:
        return after
    return with_space(after, ns, space._replace(dirty=without_key(space.dirty, evicted)))


@seeded_fault(Rule.K_FLUSH_8, "flush.handle_listener_error")
def refused_still_listed(state: State, ns: str, evicted: str | None, config: configuration.Config) -> State:
    """In a release whose failed flush leaves entries clean, their keys stay among the dirty keys."""
    after = flush.handle_listener_error(state, ns, evicted, config)
    before, space = space_of(state, ns), space_of(after, ns)
    return with_space(after, ns, space._replace(dirty=tuple(key for key in before.dirty if key in space.nodes)))


@seeded_fault(Rule.K_FLUSH_9, "flush.without_keys")
def without_deleted_keys(state: State, own: NamespaceHandle, keys: tuple[str, ...]) -> State:
    """In a release that drops the key of a tombstone, a value that was written to the key meanwhile stays."""
    nodes = space_of(state, own.ns).nodes
    return flush.without_keys(state, own, tuple(key for key in keys if key in nodes and nodes[key].value is None))


@seeded_fault(Rule.K_METRICS_4, "namespaces.book_bytes")
def booked_nothing(before: State, after: State, *rest: Any) -> State:
    """In a release with a running total, cleared entries stay in the total."""
    return after


@seeded_fault(Rule.K_STORE_9, "stores.receive_one_by_one")
def received_unless_overtaken(
    state: State, name: str, entries: tuple[tuple[str, Node], ...], config: configuration.Config, env: Any
) -> State:
    """In a release that forwards entries one by one, an overtaken entry is left out."""
    after = state
    for key, node in entries:
        if stores.store_of(after, name).forwarded_writes.get(key, -1) < node.write:
            after = stores.receive_one_by_one(after, name, ((key, node),), config, env)
    return after


@seeded_fault(Rule.K_STORE_10, "stores.read_to_delete")
def read_without_caching(state: State, name: str, key: str, *rest: Any) -> tuple[Change, str | None]:
    """In a release whose deletion caches the value that it reads, the deletion does not cache it."""
    after, value = stores.find_value(state, name, key)
    return Change(after), value


@seeded_fault(Rule.K_STORE_11, "stores.merge_as_released")
def merged_with_hidden(keys: tuple[str, ...], nodes: Any, inner: Any) -> tuple[outcomes.Pair, ...]:
    """In a release whose views drop tombstones early, deleted keys are hidden."""
    view = {key: nodes[key].value if key in nodes else inner[key] for key in keys}
    return tuple((key, value) for key, value in view.items() if value is not None)


def _is_forwarded(state: State, name: str, key: str) -> bool:
    return any((call.store, place(call)) == (name, key) for call in state.in_progress.forwards)


@seeded_fault(Rule.K_OLD_1, "stores.old_value")
def old_value_unknown_before_the_step(state: State, name: str, key: str) -> Any:
    """The first forward of a key in a step has no old value."""
    old = stores.old_value(state, name, key)
    return old if old is ABSENT or _is_forwarded(state, name, key) else None


@seeded_fault(Rule.K_OLD_2, "stores.old_value")
def old_value_of_the_first_forward(state: State, name: str, key: str) -> Any:
    """A second forward of a key in a step has the old value of the first."""
    calls = [call for call in state.in_progress.forwards if (call.store, place(call)) == (name, key)]
    return calls[0].old if calls else stores.old_value(state, name, key)
