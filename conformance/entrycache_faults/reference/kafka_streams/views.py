"""Seeded faults of views, queries, the emptying, closing and opening of stores, and of windows and sessions."""

from dataclasses import replace
from typing import Any

from entrycache_faults.reference.kafka_streams.entries import SEEDED_FAULTS, OperationResult, seeded_fault
from entrycache_reference.kafka_streams import config as configuration
from entrycache_reference.kafka_streams import entries, namespaces, ops, outcomes, stores, views, windows
from entrycache_reference.kafka_streams.change import (
    Window,
    advance_time,
    book_bytes,
    handle_of,
    is_expired,
    name_window,
    remove_key,
    size_bytes,
    sort_by_bytes,
)
from entrycache_reference.kafka_streams.laws.stores import last_writes
from entrycache_reference.kafka_streams.state import Node, State, Store, space_of, with_space
from entrycache_reference.kafka_streams.view_ops import (
    Isolation,
    SessionView,
    StoreClear,
    StoreClose,
    StoreCount,
    StoreKind,
    StoreOpen,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
    ViewNext,
    ViewOpen,
    WindowGet,
    WindowPut,
    WindowView,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

SEEDED_FAULTS.register_variant(
    "A view that goes backward shows deleted keys.",
    Rule.K_VIEW_1,
    backward_tombstone=configuration.BackwardTombstone.SHOWS,
)
SEEDED_FAULTS.register_variant(
    "A query of a range asks the underlying store alone.", Rule.K_VIEW_8, range_query=configuration.RangeQuery.BELOW
)


SEEDED_FAULTS.register_variant(
    "A cached window is answered whatever its age.",
    Rule.K_WINDOW_4,
    expired_windows=configuration.ExpiredWindows.CACHED,
)
SEEDED_FAULTS.register_variant(
    "A closed store of windows takes a flush.", Rule.K_CLOSE_3, close_check=configuration.CloseCheck.KEY_VALUE
)


# Views.


@seeded_fault(Rule.K_VIEW_1, StoreView)
def view_without_its_end(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view leaves out the end of its range."""
    after, answer = views.store_view(state, event, config, *calls)
    if not isinstance(answer, outcomes.Listing) or event.backward or event.isolation is Isolation.COMMITTED:
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
    is_empty = (
        event.prefix == "" and event.isolation is not Isolation.COMMITTED and isinstance(answer, outcomes.Listing)
    )
    return after, outcomes.Listing(()) if is_empty else answer


@seeded_fault(Rule.K_VIEW_11, StoreView)
def view_of_uncommitted(state: State, event: StoreView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view of committed data shows what is cached and not written yet."""
    is_committed = event.isolation is Isolation.COMMITTED
    uncommitted = replace(event, isolation=Isolation.UNCOMMITTED) if is_committed else event
    return views.store_view(state, uncommitted, config, *calls)


@seeded_fault(Rule.K_VIEW_11, StoreView, other=True)
def view_of_committed_uses(
    state: State, event: StoreView, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A view of committed data touches the cached keys of its range."""
    after, answer = views.store_view(state, event, config, *calls)
    if event.isolation is not Isolation.COMMITTED or isinstance(answer, outcomes.Failed):
        return after, answer
    return views.store_view(after, replace(event, isolation=ABSENT), config, *calls)[0], answer


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
def merged_with_hidden(view: Any, order: Any, nodes: Any, inner: Any) -> tuple[outcomes.Pair, ...]:
    """In a release whose backward views show deleted keys, they are hidden."""
    pairs = views.merge_backward_as_released(view, order, nodes, inner)
    return tuple((key, value) for key, value in pairs if key not in nodes or nodes[key].value is not None)


@seeded_fault(Rule.K_VIEW_10, StoreQueryRange)
def query_range_merged(
    state: State, event: StoreQueryRange, config: configuration.Config, *calls: Any
) -> OperationResult:
    """In a release that asks the underlying store for a range, the cache is asked too."""
    merged = replace(config.variants, range_query=configuration.RangeQuery.MERGED)
    return views.store_query_range(state, event, replace(config, variants=merged), *calls)


# Open views.


def _shows_keys(state: State, event: ViewNext) -> bool:
    return event.view in state.views and _is_of_keys(state, state.views[event.view].range.store)


@seeded_fault(Rule.K_VIEW_6, ViewNext)
def next_but_one(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view leaves out an entry that comes after the first."""
    after, answer = views.view_next(state, event, config, *calls)
    is_later = _shows_keys(state, event) and state.views[event.view].last is not None
    return views.view_next(after, event, config, *calls) if is_later else (after, answer)


@seeded_fault(Rule.K_VIEW_6, ViewNext, other=True)
def next_twice(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view shows its first entry again and again."""
    after, answer = views.view_next(state, event, config, *calls)
    is_entry = isinstance(answer, outcomes.NextEntry) and answer.entry is not None
    return after._replace(views=state.views) if is_entry and _shows_keys(state, event) else after, answer


@seeded_fault(Rule.K_VIEW_6, ViewNext, other=True)
def next_from_below(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view shows what lies below although the cache holds a newer value."""
    after, answer = views.view_next(state, event, config, *calls)
    if not isinstance(answer, outcomes.NextEntry) or answer.entry is None or not _shows_keys(state, event):
        return after, answer
    view, name = after.views[event.view], after.views[event.view].last
    below = stores.store_of(state, view.range.store).inner
    if name is None or name not in below:
        return after, answer
    return after, outcomes.NextEntry(views.shown_entry(state, view, (name, below[name])))


@seeded_fault(Rule.K_VIEW_6, ViewNext, other=True)
def next_with_null(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view shows a key that was deleted meanwhile with the value null."""
    view = state.views.get(event.view)
    now = {} if view is None else views.values_now(state, view, config)
    settings = stores.store_of(state, "" if view is None else view.range.store).settings
    ahead = () if view is None or view.has_ended else views.keys_ahead(view, settings)
    if view is None or not ahead or ahead[0] in now or not _shows_keys(state, event):
        return views.view_next(state, event, config, *calls)
    entry = views.shown_entry(state, view, (ahead[0], None))
    return views.show(state, event.view, (ahead[0], None)), outcomes.NextEntry(entry)


@seeded_fault(Rule.K_VIEW_6, ViewOpen, other=True)
def opened_ascending(state: State, event: ViewOpen, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view that goes backward comes in ascending order."""
    after, answer = views.view_open(state, event, config, *calls)
    if not event.backward or not isinstance(answer, outcomes.Done) or not _is_of_keys(state, event.store):
        return after, answer
    ascending = after.views[event.view]._replace(range=replace(event, backward=False))
    return after._replace(views={**after.views, event.view: ascending}), answer


@seeded_fault(Rule.K_VIEW_7, ViewNext)
def next_that_caches(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view caches what it finds in the underlying store."""
    after, answer = views.view_next(state, event, config, *calls)
    if not isinstance(answer, outcomes.NextEntry) or answer.entry is None or not _shows_keys(state, event):
        return after, answer
    store, key, value = state.views[event.view].range.store, after.views[event.view].last, answer.entry[-1]
    if key is None or key in space_of(after, store).nodes:
        return after, answer
    there = stores.ensure_store(after, store)
    written = entries.write_node(there, store, key, stores.build_store_node(key, value, False, there.writes))
    return book_bytes(there, written, handle_of(there, store), config), answer


# Windows and sessions.


def _is_of_keys(state: State, store: str) -> bool:
    return stores.store_of(state, store).settings.kind is StoreKind.KEY_VALUE


@seeded_fault(Rule.K_WINDOW_1, WindowView)
def windows_in_reverse(state: State, event: WindowView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view of windows comes in the reverse of its order."""
    after, answer = views.window_view(state, event, config, *calls)
    if not isinstance(answer, outcomes.WindowListing):
        return after, answer
    return after, outcomes.WindowListing(answer.entries[::-1])


@seeded_fault(Rule.K_WINDOW_2, WindowView)
def windows_without_the_last(
    state: State, event: WindowView, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A view leaves out its last window."""
    after, answer = views.window_view(state, event, config, *calls)
    is_far = event.time_to is not ABSENT and event.time_to >= 2**40
    if not isinstance(answer, outcomes.WindowListing) or is_far or state.in_progress.called:
        return after, answer
    return after, outcomes.WindowListing(answer.entries[:-1])


@seeded_fault(Rule.K_WINDOW_2, SessionView, other=True)
def sessions_by_start(state: State, event: SessionView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view leaves out the sessions that start before the earliest end."""
    after, answer = views.session_view(state, event, config, *calls)
    if not isinstance(answer, outcomes.WindowListing) or event.earliest_end is ABSENT:
        return after, answer
    inside = (entry for entry in answer.entries if len(entry) == 4 and entry[1] >= event.earliest_end)
    return after, outcomes.WindowListing(tuple(inside))


@seeded_fault(Rule.K_WINDOW_3, WindowGet)
def window_from_below(state: State, event: WindowGet, config: configuration.Config, *calls: Any) -> OperationResult:
    """A read of a window answers what lies below, although the cache has a newer write."""
    after, answer = windows.window_get(state, event, config, *calls)
    store, name = stores.store_of(state, event.store), f"{event.key}@{event.start}"
    if isinstance(answer, outcomes.Failed) or state.in_progress.called or is_expired(store, name):
        return after, answer
    return after, outcomes.Value(store.inner.get(name))


@seeded_fault(Rule.K_WINDOW_4, "windows.put_window")
def deletion_without_a_time(
    state: State, name: str, window: Window, value: str | None, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A deletion does not change the stream time."""
    after, answer = windows.put_window(state, name, window, value, config, *calls)
    if value is not None or after.in_progress.forwards:
        return after, answer
    before = stores.store_of(state, name).stream_time
    return stores.with_store(after, name, stores.store_of(after, name)._replace(stream_time=before)), answer


def _put(
    state: State, name: str, window: Window, value: str | None, time_bytes: int, config: configuration.Config, env: Any
) -> OperationResult:
    """Write a window or a session, expired or not, that counts some bytes besides those of its key."""
    store = stores.store_of(state, name)
    if config.variants.expired_windows is configuration.ExpiredWindows.GONE:
        store = advance_time(store, window.end)
    size = size_bytes(window.key, value, "", ()) + time_bytes
    node = Node(value, True, size, outcomes.Context(), state.writes)
    after = stores.with_store(state, name, store)
    cache_name = name_window(store.settings.kind, window)
    return entries.with_answer(entries.put_node(after, name, cache_name, node, config, env), outcomes.Done())


@seeded_fault(Rule.K_WINDOW_5, "windows.put_window")
def late_record_cached(
    state: State, name: str, window: Window, value: str | None, config: configuration.Config, env: Any
) -> OperationResult:
    """A record that comes too late is cached."""
    store = stores.store_of(state, name)
    time_bytes = windows.KEY_BYTES[store.settings.kind]
    if window.end > store.stream_time - store.settings.retention:
        return windows.put_window(state, name, window, value, config, env)
    return _put(state, name, window, value, time_bytes, config, env)


@seeded_fault(Rule.K_WINDOW_6, "stores.receive")
def late_entry_forwarded(state: State, name: str, taken: Any, *rest: Any) -> State:
    """A window that expires while it is cached is forwarded all the same."""
    after = stores.receive(state, name, taken, *rest)
    store = stores.store_of(after, name)
    for key, node in () if store.old_values else taken:
        if node.value is not None and is_expired(stores.store_of(after, name), key):
            after = stores.forward_entry(after, name, key, node, *rest)
    return after


@seeded_fault(Rule.K_WINDOW_7, WindowGet)
def window_get_that_caches(
    state: State, event: WindowGet, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A read caches the window that it finds below."""
    after, answer = windows.window_get(state, event, config, *calls)
    name, store = f"{event.key}@{event.start}", event.store
    is_cached = isinstance(answer, outcomes.Failed) or name in space_of(after, store).nodes
    if is_cached or not isinstance(answer, outcomes.Value) or answer.value is None:
        return after, answer
    node = stores.build_store_node(name, answer.value, False, after.writes)
    written = entries.write_node(after, store, name, node)
    return book_bytes(after, written, handle_of(after, store), config), answer


@seeded_fault(Rule.K_WINDOW_8, "windows.put_window")
def put_without_its_times(
    state: State, name: str, window: Window, value: str | None, config: configuration.Config, env: Any
) -> OperationResult:
    """The times of a window do not count as bytes."""
    store = stores.store_of(state, name)
    if window.end <= store.stream_time - store.settings.retention:
        return windows.put_window(state, name, window, value, config, env)
    return _put(state, name, window, value, 0, config, env)


@seeded_fault(Rule.K_WINDOW_9, "windows.get_window")
def read_below_inside(state: State, name: str, window: Window, config: configuration.Config) -> OperationResult:
    """Inside a forward a read answers what lies below."""
    after, answer = windows.get_window(state, name, window, config)
    store = stores.store_of(state, name)
    below = store.inner.get(name_window(store.settings.kind, window))
    return after, outcomes.Value(below) if state.in_progress.called and below is not None else answer


@seeded_fault(Rule.K_WINDOW_10, "stores.receive")
def unknown_window_forwarded(state: State, name: str, taken: Any, *rest: Any) -> State:
    """The deletion of a window is forwarded although the underlying store lacks it."""
    inner, after = stores.store_of(state, name).inner, stores.receive(state, name, taken, *rest)
    store = stores.store_of(state, name)
    for key, node in () if store.failing or store.owed else taken:
        is_unknown = node.value is None and key not in inner and not _is_of_keys(after, name)
        if is_unknown and not is_expired(stores.store_of(after, name), key):
            after = stores.forward_entry(after, name, key, node, *rest)
    return after


@seeded_fault(Rule.K_WINDOW_11, WindowView)
def window_view_that_counts(
    state: State, event: WindowView, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A view of windows counts as a lookup of the thread."""
    after, answer = views.window_view(state, event, config, *calls)
    return after if isinstance(answer, outcomes.Failed) else after._replace(gets=after.gets + 1), answer


@seeded_fault(Rule.K_WINDOW_12, ViewNext)
def window_view_that_ends(state: State, event: ViewNext, config: configuration.Config, *calls: Any) -> OperationResult:
    """An open view of windows ends before it has shown any."""
    after, answer = views.view_next(state, event, config, *calls)
    view = state.views.get(event.view)
    if view is None or view.last is not None or _is_of_keys(state, view.range.store):
        return after, answer
    return views.loosen(views.show(state, event.view, None), view.range.store), outcomes.NextEntry(None)


@seeded_fault(Rule.K_WINDOW_13, WindowView)
def far_view_gives_up(state: State, event: WindowView, config: configuration.Config, *calls: Any) -> OperationResult:
    """A view of a far range of times gives up, and shows nothing."""
    after, answer = views.window_view(state, event, config, *calls)
    first = 0 if event.time_from is ABSENT else event.time_from
    is_far = event.time_to is not ABSENT and event.time_to - first >= 2**40
    return after, outcomes.WindowListing(()) if is_far and isinstance(answer, outcomes.WindowListing) else answer


@seeded_fault(Rule.K_WINDOW_14, WindowPut)
def put_that_takes_from_others(
    state: State, event: WindowPut, config: configuration.Config, *calls: Any
) -> OperationResult:
    """A put of a window makes the eldest clean entry of another namespace leave."""
    after, answer = windows.window_put(state, event, config, *calls)
    is_exact = config.variants.total is configuration.Total.EXACT
    if not after.in_progress.events or after.in_progress.forwards or after.in_progress.calls or not is_exact:
        return after, answer
    for name, space in after.spaces.items():
        if name != event.store and space.recent and not space.nodes[space.recent[-1]].is_dirty:
            after = with_space(after, name, remove_key(space, space.recent[-1]))
    return after, answer


@seeded_fault(Rule.K_WINDOW_15, "stores.is_dropped")
def dropped_by_age(store: Store, name: str, config: configuration.Config) -> bool:
    """In a release that answers what is cached whatever its age, what has expired is dropped."""
    return is_expired(store, name)


@seeded_fault(Rule.K_WINDOW_16, "windows.may_flush_closed")
def closed_refuses_all(state: State, event: ops.Op, config: configuration.Config) -> bool:
    """In a release whose closed window stores take a flush, they refuse it."""
    return False
