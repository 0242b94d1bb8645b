"""Seeded faults of views, queries, and the emptying, closing and opening of stores."""

from dataclasses import replace
from typing import Any

from entrycache_faults.reference.kafka_streams.registry import SEEDED_FAULTS, OperationResult, seeded_fault
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import namespaces, ops, outcomes, stores, views
from entrycache_reference.kafka_streams.change import sort_by_bytes
from entrycache_reference.kafka_streams.laws.stores import last_writes
from entrycache_reference.kafka_streams.state import State, Store, space_of
from entrycache_reference.kafka_streams.view_ops import (
    StoreClear,
    StoreClose,
    StoreCount,
    StoreOpen,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
)
from entrycache_reference.rules import Rule

SEEDED_FAULTS.register_variant(
    "A view that goes backward shows deleted keys.",
    Rule.K_VIEW_1,
    backward_tombstone=configuration.BackwardTombstone.SHOWS,
)
SEEDED_FAULTS.register_variant(
    "A query of a range asks the underlying store alone.", Rule.K_VIEW_8, range_query=configuration.RangeQuery.BELOW
)


# Views.


@seeded_fault(Rule.K_VIEW_1, StoreView)
def view_without_its_end(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view leaves out the end of its range."""
    after, answer = views.store_view(state, event, config, *calls)
    if not isinstance(answer, outcomes.Listing) or event.backward:
        return after, answer
    return after, outcomes.Listing(tuple(entry for entry in answer.entries if entry[0] != event.to))


@seeded_fault(Rule.K_VIEW_1, StoreView, other=True)
def view_ascending(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view that goes backward answers in ascending order."""
    after, answer = views.store_view(state, event, config, *calls)
    by_default = config.variants.backward_tombstone is configuration.BackwardTombstone.HIDES
    if not isinstance(answer, outcomes.Listing) or not event.backward or not by_default:
        return after, answer
    return after, outcomes.Listing(answer.entries[::-1])


@seeded_fault(Rule.K_VIEW_1, StoreView, other=True)
def view_with_deleted(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view shows a deleted key whose value lies in the underlying store."""
    after, answer = views.store_view(state, event, config, *calls)
    if not isinstance(answer, outcomes.Listing) or event.backward or event.prefix is not None:
        return after, answer
    stored = stores.store_of(after, event.store).inner
    view = {key: value for key, value in stored.items() if views.is_in_view(event, key)} | dict(answer.entries)
    return after, outcomes.Listing(tuple((key, view[key]) for key in sort_by_bytes(tuple(view))))


@seeded_fault(Rule.K_VIEW_2, StoreView)
def view_without_use(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view touches no cached key."""
    _, answer = views.store_view(state, event, config, *calls)
    refused = isinstance(answer, outcomes.Failed)
    return state if refused else stores.ensure_store(state, event.store), answer


@seeded_fault(Rule.K_VIEW_3, StoreView)
def view_of_no_prefix(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """No key begins with an empty prefix."""
    after, answer = views.store_view(state, event, config, *calls)
    is_empty = event.prefix == "" and isinstance(answer, outcomes.Listing)
    return after, outcomes.Listing(()) if is_empty else answer


# Queries.


@seeded_fault(Rule.K_VIEW_4, StoreCount)
def count_of_all(state: State, event: StoreCount, config: configuration.Config, *calls: Any) -> OperationResult:
    """A count includes what is cached only."""
    after, _ = views.store_count(state, event, config, *calls)
    return after, outcomes.Counted(len(last_writes(state, event.store)))


@seeded_fault(Rule.K_VIEW_8, StoreQuery)
def query_that_caches(state: State, event: StoreQuery, config: configuration.Config, *calls: Any) -> OperationResult:
    """A query caches what it finds in the underlying store."""
    if event.skip_cache:
        return views.store_query(state, event, config, *calls)
    return stores.store_get(state, ops.StoreGet(event.store, event.key), config, *calls)


@seeded_fault(Rule.K_VIEW_8, StoreQuery, other=True)
def query_through_the_cache(
    state: State, event: StoreQuery, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A query that asks for the underlying store alone is answered by the cache."""
    return views.store_query(state, replace(event, skip_cache=False), config, *calls)


# Writes.


@seeded_fault(Rule.K_VIEW_5, StorePutIfAbsent)
def put_if_absent_over_a_value(
    state: State, event: StorePutIfAbsent, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A value that is there is overwritten."""
    change, value = stores.read_value(state, event.store, event.key, config, *calls)
    if change.error is not None:
        return change.state, outcomes.Failed(change.error)
    after, answer = stores.store_put(change.state, ops.StorePut(event.store, event.key, event.value), config, *calls)
    return after, answer if isinstance(answer, outcomes.Failed) else outcomes.Value(value)


@seeded_fault(Rule.K_VIEW_5, StorePutIfAbsent, other=True)
def put_if_absent_not_caching(
    state: State, event: StorePutIfAbsent, config: configuration.Config, *calls: Any
) -> OperationResult:
    """Nothing that is found in the underlying store is cached."""
    after, value = stores.find_value(state, event.store, event.key)
    if value is not None:
        return after, outcomes.Value(value)
    return views.store_put_if_absent(state, event, config, *calls)


# Emptying, closing and opening.


@seeded_fault(Rule.K_CLEAR_1, StoreClear)
def clear_that_writes(state: State, event: StoreClear, config: configuration.Config, *calls: Any) -> OperationResult:
    """Dirty entries are written to the underlying store before they are dropped."""
    there = stores.ensure_store(state, event.store)
    store, own = stores.store_of(there, event.store), space_of(there, event.store)
    inner = store.inner
    for key in own.dirty:
        inner = stores.write_underlying(inner, key, own.nodes[key].value) if key in own.nodes else inner
    return views.store_clear(stores.with_store(there, event.store, store._replace(inner=inner)), event, config, *calls)


@seeded_fault(Rule.K_CLOSE_3, StoreClose)
def close_without_flush(state: State, event: StoreClose, config: configuration.Config, *calls: Any) -> OperationResult:
    """A store is closed without a flush, so what is dirty is lost."""
    there = stores.ensure_store(state._replace(flushes=state.flushes + 1), event.store)
    closed, answer = namespaces.close(there, ops.Close(event.store), config, *calls)
    return stores.with_store(closed, event.store, Store(is_open=False)), answer


@seeded_fault(Rule.K_CLOSE_3, StoreOpen, other=True)
def open_again(state: State, event: StoreOpen, config: configuration.Config, *calls: Any) -> OperationResult:
    """A store that is open is opened again, empty."""
    stores_left = {name: store for name, store in state.stores.items() if name != event.store}
    return views.store_open(state._replace(stores=stores_left), event, config, *calls)


# Errors within a variant.


@seeded_fault(Rule.K_VIEW_9, "views.merge_backward_as_released")
def merged_with_hidden(view: Any, nodes: Any, inner: Any) -> tuple[outcomes.Pair, ...]:
    """In a release whose backward views show deleted keys, they are hidden."""
    return views.merge(view, nodes, inner, True)


@seeded_fault(Rule.K_VIEW_10, StoreQueryRange)
def query_range_merged(
    state: State, event: StoreQueryRange, config: configuration.Config, *calls: Any
) -> OperationResult:
    """In a release that asks the underlying store for a range, the cache is asked too."""
    merged = replace(config.variants, range_query=configuration.RangeQuery.MERGED)
    return views.store_query_range(state, event, replace(config, variants=merged), *calls)
