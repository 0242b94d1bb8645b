"""Seeded faults of views, queries, and the emptying, closing and opening of stores."""

from dataclasses import replace
from typing import Any

from entrycache_faults.reference.kafka_streams.entries import SEEDED_FAULTS, OperationResult, seeded_fault
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import entries, namespaces, ops, outcomes, stores, views
from entrycache_reference.kafka_streams.change import book_bytes, handle_of, sort_by_bytes
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
    ViewNext,
    ViewOpen,
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


@seeded_fault(Rule.K_CLOSE_4, StoreClose)
def close_unless_a_forward_throws(
    state: State, event: StoreClose, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A store stays open if a forward throws while it closes."""
    flushed, answer = namespaces.flush(stores.ensure_store(state, event.store), ops.Flush(event.store), config, *calls)
    if answer == outcomes.Failed(outcomes.ErrorKind.LISTENER_FAILED):
        return flushed, answer
    return views.store_close(state, event, config, *calls)


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


# Open views.


@seeded_fault(Rule.K_VIEW_6, ViewNext)
def next_but_one(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view leaves out an entry that comes after the first."""
    after, answer = views.view_next(state, event, config, *calls)
    is_later = event.view in state.views and state.views[event.view].last is not None
    return views.view_next(after, event, config, *calls) if is_later else (after, answer)


@seeded_fault(Rule.K_VIEW_6, ViewNext, other=True)
def next_twice(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view shows its first entry again and again."""
    after, answer = views.view_next(state, event, config, *calls)
    is_entry = isinstance(answer, outcomes.NextEntry) and answer.entry is not None
    return after._replace(views=state.views) if is_entry else after, answer


@seeded_fault(Rule.K_VIEW_6, ViewNext, other=True)
def next_from_below(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view shows what lies below although the cache holds a newer value."""
    after, answer = views.view_next(state, event, config, *calls)
    if not isinstance(answer, outcomes.NextEntry) or answer.entry is None:
        return after, answer
    key, value = answer.entry
    below = stores.store_of(state, state.views[event.view].range.store).inner
    return after, outcomes.NextEntry((key, below.get(key, value)))


@seeded_fault(Rule.K_VIEW_6, ViewNext, other=True)
def next_with_null(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view shows a key that was deleted meanwhile with the value null."""
    view = state.views.get(event.view)
    now = {} if view is None else views.values_now(state, view)
    ahead = () if view is None or view.has_ended else views.keys_ahead(view)
    if view is None or not ahead or ahead[0] in now:
        return views.view_next(state, event, config, *calls)
    return views.show(state, event.view, (ahead[0], None)), outcomes.NextEntry((ahead[0], None))


@seeded_fault(Rule.K_VIEW_6, ViewOpen, other=True)
def opened_ascending(state: State, event: ViewOpen, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view that goes backward comes in ascending order."""
    after, answer = views.view_open(state, event, config, *calls)
    if not event.backward or not isinstance(answer, outcomes.Done):
        return after, answer
    ascending = after.views[event.view]._replace(range=replace(event, backward=False))
    return after._replace(views={**after.views, event.view: ascending}), answer


@seeded_fault(Rule.K_VIEW_7, ViewNext)
def next_that_caches(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view caches what it finds in the underlying store."""
    after, answer = views.view_next(state, event, config, *calls)
    if not isinstance(answer, outcomes.NextEntry) or answer.entry is None:
        return after, answer
    key, value = answer.entry
    store = state.views[event.view].range.store
    if key in space_of(after, store).nodes:
        return after, answer
    there = stores.ensure_store(after, store)
    written = entries.write_node(there, store, key, stores.build_store_node(key, value, False, there.writes))
    return book_bytes(there, written, handle_of(there, store), config), answer
