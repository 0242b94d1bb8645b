"""Level `views`: what a store answers besides single reads and writes, and how it is emptied, closed and opened again.

A view merges the cached entries with the underlying store, forward or backward, and touches what it finds in the cache.
Queries answer like reads, but cache nothing. A view of committed data passes the cache by. `store_clear` drops what is
cached, `store_close` flushes first and then drops the store with everything below it.

A view of windows or sessions (level `windows`) merges in the same way, in the order of its store. Which cached entries
it touches is the subject's.

An open view is read step by step, while others write, flush and evict. Its promise allows several answers: the keys of
its range come in order, each with a value that it has had since the opening. `next_entry` is the reference's own
answer, and `follow` goes on from any other answer that `may_come_next` allows. Reading may also use the cached keys of
the store in any order. `metrics` answers that order; until then no eviction by it is judged.

Beside: CachingKeyValueStore.reverseRange, .prefixScan, .putIfAbsent, .approximateNumEntries (kafka-streams 4.3.1)
Beside: CachingKeyValueStore.query, .runKeyQuery, .clearCache, .close (kafka-streams 4.3.1)
Beside: AbstractMergedSortedCacheStoreIterator.hasNext (kafka-streams 4.3.1)
Beside: CachingKeyValueStore.readOnly (kafka-streams 4.4.0)
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams import ops, windows
from entrycache_reference.kafka_streams.change import NamespaceHandle, handle_of, parse_window, sort_by_bytes
from entrycache_reference.kafka_streams.config import BackwardTombstone, Config, RangeQuery, ViewTombstone
from entrycache_reference.kafka_streams.entries import is_between, look_up, put_node, with_answer
from entrycache_reference.kafka_streams.flush import Environment, mark_no_answer
from entrycache_reference.kafka_streams.namespaces import clear, close, flush
from entrycache_reference.kafka_streams.outcomes import (
    Answer,
    Counted,
    Done,
    Listing,
    NamespaceCounters,
    NextEntry,
    Outcome,
    Pair,
    Unanswered,
    Value,
    WindowEntry,
    WindowListing,
)
from entrycache_reference.kafka_streams.state import (
    Change,
    Node,
    OpenView,
    Space,
    State,
    Step,
    Store,
    StoreSettings,
    space_of,
    with_space,
)
from entrycache_reference.kafka_streams.stores import (
    OF_STORE,
    build_store_node,
    ensure_store,
    find_value,
    is_dropped,
    merge_as_released,
    read_value,
    store_of,
    with_store,
)
from entrycache_reference.kafka_streams.view_ops import (
    Isolation,
    SessionView,
    StoreClear,
    StoreClose,
    StoreCount,
    StoreKind,
    StoreOpen,
    StorePutAll,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
    ViewClose,
    ViewNext,
    ViewOpen,
    WindowView,
)
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT

# Views.


class View(NamedTuple):
    """The keys of a view in its order: those that are cached, and those of the underlying store."""

    cached: tuple[str, ...]
    stored: tuple[str, ...]


@rule(Rule.K_VIEW_1, Rule.K_VIEW_3)
def is_in_view(event: StoreView | StoreQueryRange | ViewOpen, key: str) -> bool:
    """Return whether a key belongs to a view: it begins with the prefix, or lies between the bounds."""
    prefix = None if isinstance(event, StoreQueryRange) else event.prefix
    if prefix is not None:
        return key.encode("utf-8", "surrogatepass").startswith(prefix.encode("utf-8", "surrogatepass"))
    return is_between(key, windows.bound_of(event.from_), windows.bound_of(event.to), True)


def order_keys(keys: Mapping[str, object], selects: Callable[[str], bool], backward: bool) -> tuple[str, ...]:
    """Return the selected keys in the order of their bytes, or in reverse."""
    selected = sort_by_bytes(tuple(key for key in keys if selects(key)))
    return selected[::-1] if backward else selected


@rule(Rule.K_VIEW_1)
def merge(view: View, nodes: Mapping[str, Node], inner: Mapping[str, str], backward: bool) -> tuple[Pair, ...]:
    """Return the entries of a view: the cache wins, and its tombstones hide."""
    keys = sort_by_bytes(tuple({*view.cached, *view.stored}))
    values = [(key, nodes[key].value if key in nodes else inner[key]) for key in (keys[::-1] if backward else keys)]
    return tuple((key, value) for key, value in values if value is not None)


@rule(Rule.K_VIEW_9)
def merge_backward_as_released(
    view: View, order: tuple[str, ...], nodes: Mapping[str, Node], inner: Mapping[str, str]
) -> tuple[Pair, ...]:
    """Return the entries of a backward view under `backward_tombstone` "shows".

    A tombstone below the next key of the underlying store is dropped before the key that it hides has come. A tombstone
    above it comes as an entry with the value null. `order` has all keys, ascending.
    """
    cached, stored = list(view.cached), list(view.stored)
    ranks = {key: at for at, key in enumerate(order)}
    entries: list[Pair] = []
    while cached or stored:
        is_hidden = bool(cached) and nodes[cached[0]].value is None
        if is_hidden and (not stored or ranks[cached[0]] <= ranks[stored[0]]):
            dropped = cached.pop(0)
            if stored and stored[0] == dropped:
                stored.pop(0)
        elif not cached or (stored and ranks[cached[0]] < ranks[stored[0]]):
            key = stored.pop(0)
            entries.append((key, inner[key]))
        else:
            key = cached.pop(0)
            if stored and stored[0] == key:
                stored.pop(0)
            entries.append((key, nodes[key].value))
    return tuple(entries)


@rule(Rule.K_VIEW_1, Rule.K_VIEW_2, Rule.K_VIEW_3)
def list_view(state: State, event: StoreView | StoreQueryRange, backward: bool, config: Config) -> tuple[State, Answer]:
    """Return a view that is iterated to its end at once; each cached key in it is touched, in the view's order."""
    after = ensure_store(state, event.store)
    nodes, inner = space_of(after, event.store).nodes, store_of(after, event.store).inner

    def selects(key: str) -> bool:
        return is_in_view(event, key)

    view = View(order_keys(nodes, selects, backward), order_keys(inner, selects, backward))
    for key in view.cached:
        after = look_up(after, event.store, key)
    if config.variants.view_tombstone is ViewTombstone.DROPPED:
        keys = sort_by_bytes(tuple({*view.cached, *view.stored}))
        return after, Listing(merge_as_released(keys[::-1] if backward else keys, nodes, inner))
    if backward and config.variants.backward_tombstone is BackwardTombstone.SHOWS:
        order = sort_by_bytes(tuple({*view.cached, *view.stored}))
        return after, Listing(merge_backward_as_released(view, order, nodes, inner))
    return after, Listing(merge(view, nodes, inner, backward))


def has_prefix_and_more(event: StoreView | ViewOpen) -> bool:
    """Return whether a view has a prefix beside bounds or a direction."""
    has_bounds = windows.bound_of(event.from_) is not None or windows.bound_of(event.to) is not None
    return event.prefix is not None and (event.backward or has_bounds)


@rule(Rule.K_VIEW_10, Rule.K_VIEW_11)
def list_below(state: State, event: StoreView | StoreQueryRange, backward: bool) -> tuple[State, Answer]:
    """Return a view of the underlying store alone, which touches nothing."""
    after = ensure_store(state, event.store)
    inner = store_of(after, event.store).inner
    keys = order_keys(inner, lambda key: is_in_view(event, key), backward)
    return after, Listing(tuple((key, inner[key]) for key in keys))


@rule(Rule.K_VIEW_1, Rule.K_VIEW_2, Rule.K_VIEW_11)
def store_view(state: State, event: StoreView, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read a range, all keys or the keys with a prefix, cache and underlying store merged, or committed data alone."""
    # GUARD: a prefix stands alone.
    if has_prefix_and_more(event):
        return state, windows.REFUSED

    # DECISION, EFFECT and OUTCOME
    if event.isolation is Isolation.COMMITTED:
        return list_below(state, event, event.backward)
    return list_view(state, event, event.backward, config)


# Views of windows and sessions.


@rule(Rule.K_WINDOW_1, Rule.K_WINDOW_2, Rule.K_WINDOW_9)
def merge_windows(state: State, event: WindowView | SessionView, config: Config) -> tuple[Pair, ...]:
    """Return the names and values of a view in its order: the cache wins, and its tombstones hide.

    What has expired is in no view.
    """
    store, cached = store_of(state, event.store), space_of(state, event.store).nodes
    nodes = {name: node for name, node in cached.items() if not is_dropped(store, name, config)}

    def order(names: Mapping[str, object]) -> tuple[str, ...]:
        inside = [name for name in names if windows.is_in_range(event, parse_window(name))]
        return windows.order_names(store.settings, inside, event.backward)

    view, names = View(order(nodes), order(store.inner)), order({**nodes, **store.inner})
    if config.variants.view_tombstone is ViewTombstone.DROPPED:
        return merge_as_released(names, nodes, store.inner)
    if event.backward and config.variants.backward_tombstone is BackwardTombstone.SHOWS:
        return merge_backward_as_released(view, names[::-1], nodes, store.inner)
    values = [(name, nodes[name].value if name in nodes else store.inner[name]) for name in names]
    return tuple((name, value) for name, value in values if value is not None)


@rule(Rule.K_WINDOW_11)
def list_windows(state: State, event: WindowView | SessionView, config: Config) -> tuple[State, Answer]:
    """Return a view of windows or sessions, which may use any cached entry of its store."""
    settings = store_of(state, event.store).settings
    values = dict(merge_windows(state, event, config))
    starts_first = sorted(values, key=lambda name: parse_window(name).start)
    names = sorted(starts_first, key=lambda name: windows.place_of(settings, name), reverse=event.backward)
    entries = tuple(windows.entry_of(settings, event.key is not ABSENT, name, values[name]) for name in names)
    return loosen(state, event.store), WindowListing(entries)


@rule(Rule.K_WINDOW_2)
def window_view(state: State, event: WindowView, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read windows, cache and underlying store merged."""
    return list_windows(state, event, config)


@rule(Rule.K_WINDOW_2)
def session_view(state: State, event: SessionView, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read sessions, cache and underlying store merged."""
    return list_windows(state, event, config)


# Queries.


@rule(Rule.K_VIEW_4)
def store_count(state: State, event: StoreCount, config: Config, env: Environment) -> tuple[State, Answer]:
    """Return the number of keys in the underlying store."""
    after = ensure_store(state, event.store)
    return after, Counted(len(store_of(after, event.store).inner))


@rule(Rule.K_VIEW_8)
def store_query(state: State, event: StoreQuery, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read one value and cache nothing; without the cache, read the underlying store alone."""
    if event.skip_cache:
        after = ensure_store(state, event.store)
        return after, Value(store_of(after, event.store).inner.get(event.key))
    after, value = find_value(state, event.store, event.key)
    return after, Value(value)


@rule(Rule.K_VIEW_8, Rule.K_VIEW_10)
def store_query_range(state: State, event: StoreQueryRange, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read a range as a view does. Variant `range_query`: read the underlying store alone."""
    if config.variants.range_query is RangeQuery.MERGED:
        return list_view(state, event, False, config)
    return list_below(state, event, False)


# Writes.


@rule(Rule.K_VIEW_5)
def store_put_if_absent(
    state: State, event: StorePutIfAbsent, config: Config, env: Environment
) -> tuple[State, Answer]:
    """Read a value, and write one if there is none."""
    change, value = read_value(state, event.store, event.key, config, env)
    if change.error is None and value is None:
        node = build_store_node(event.key, event.value, True, change.state.writes)
        change = put_node(change.state, event.store, event.key, node, config, env)
    return with_answer(change, Value(value))


@rule(Rule.K_STORE_1)
def store_put_all(state: State, event: StorePutAll, config: Config, env: Environment) -> tuple[State, Answer]:
    """Write values one by one; what was written before an error stays."""
    change = Change(ensure_store(state, event.store))
    for key, value in event.entries:
        if change.error is None:
            node = build_store_node(key, value, True, change.state.writes)
            change = put_node(change.state, event.store, key, node, config, env)
    return with_answer(change, Done())


# Emptying, closing and opening.


@rule(Rule.K_CLEAR_1)
def store_clear(state: State, event: StoreClear, config: Config, env: Environment) -> tuple[State, Answer]:
    """Drop everything cached, dirty or not, without a call."""
    return clear(ensure_store(state, event.store), ops.Clear(event.store), config, env)


@rule(Rule.K_CLOSE_3)
def store_open(state: State, event: StoreOpen, config: Config, env: Environment) -> tuple[State, Answer]:
    """Open a store, empty."""
    # GUARD: one store of a name at a time.
    if event.store in state.stores and store_of(state, event.store).is_open:
        return state, windows.REFUSED

    # DECISION: none.
    # EFFECT and OUTCOME
    listening = with_space(state, event.store, space_of(state, event.store)._replace(listener=OF_STORE))
    store = Store(old_values=event.old_values, settings=windows.settings_of(event), stream_time=-1)
    return with_store(listening, event.store, store), Done()


@rule(Rule.K_CLOSE_3, Rule.K_CLOSE_4)
def store_close(state: State, event: StoreClose, config: Config, env: Environment) -> tuple[State, Answer]:
    """Flush a store, then drop its namespace, what lies below it and its open views.

    Closing it again only counts as a flush, also if a forward of that flush has closed it; a store that the forward has
    opened since stays open.
    """
    there = ensure_store(state, event.store)
    handle = handle_of(there, event.store)
    flushed, answer = flush(there, ops.Flush(event.store), config, env)
    if handle in flushed.in_progress.former:
        return flushed, answer
    closed, _ = close(flushed, ops.Close(event.store), config, env)
    left = {name: view for name, view in closed.views.items() if view.range.store != event.store}
    store = store_of(closed, event.store)
    gone = Store(is_open=False, old_values=store.old_values, settings=store.settings)
    kept = keep_former(closed._replace(views=left), handle, store)
    return with_store(kept, event.store, gone), answer


@rule(Rule.K_CLOSE_3)
def keep_former(state: State, handle: NamespaceHandle, store: Store) -> State:
    """Return the state in which a closed store goes on with the entries that it is taking. Nothing lies below it."""
    now = state.in_progress
    if handle not in now.taking:
        return state
    emptied = store._replace(inner={}, forwarded={}, owed=(), is_open=False)
    return state._replace(in_progress=now._replace(former={**now.former, handle: emptied}))


@rule(Rule.K_CLOSE_3)
def is_closed(state: State, event: ops.Op) -> bool:
    """Return whether an operation is on a closed store. Opening and closing it are not refused."""
    store = state.stores.get(getattr(event, "store", ""))
    return store is not None and not store.is_open and not isinstance(event, StoreOpen | StoreClose)


def is_refused(state: State, event: ops.Op, config: Config) -> bool:
    """Return whether a store refuses an operation: it is closed, or of another kind."""
    return (is_closed(state, event) and not windows.may_flush_closed(state, event, config)) or windows.is_mismatched(
        state, event
    )


# Open views.


@rule(Rule.K_VIEW_6, Rule.K_WINDOW_12)
def values_now(state: State, view: OpenView, config: Config) -> dict[str, str]:
    """Return the last write of each key, window or session of a view's range that has one."""
    store, nodes = store_of(state, view.range.store), space_of(state, view.range.store).nodes
    written = {**store.inner, **{key: node.value for key, node in nodes.items() if not is_dropped(store, key, config)}}
    return {key: value for key, value in written.items() if value is not None and is_watched(store, view, key)}


def is_watched(store: Store, view: OpenView, key: str) -> bool:
    """Return whether a key, window or session belongs to an open view of this store."""
    if store.settings.kind is StoreKind.KEY_VALUE:
        return is_in_view(view.range, key)
    return windows.is_in_range(view.range, parse_window(key))


@rule(Rule.K_VIEW_6)
def watch(state: State, config: Config, event: ops.Op | None = None) -> State:
    """Return the state whose open views know the present values, and those that this operation wrote."""
    return state._replace(views={name: watch_view(state, view, config, event) for name, view in state.views.items()})


def watch_view(state: State, view: OpenView, config: Config, event: ops.Op | None) -> OpenView:
    """Return a view that knows the present values of its range."""
    now: Mapping[str, str | None] = values_now(state, view, config)
    had = {key: with_value(view.had.get(key, (None,)), now.get(key)) for key in {*view.had, *now}}
    if isinstance(event, StorePutAll) and event.store == view.range.store:
        for key, value in event.entries:
            if is_in_view(view.range, key):
                had[key] = with_value(had.get(key, (None,)), value)
    return view._replace(had=had)


def with_value(values: tuple[str | None, ...], value: str | None) -> tuple[str | None, ...]:
    """Return the values with one more, if it is new."""
    return values if value in values else (*values, value)


@rule(Rule.K_VIEW_6, Rule.K_WINDOW_12)
def keys_ahead(view: OpenView, settings: StoreSettings) -> tuple[str, ...]:
    """Return the keys, windows or sessions that a view has not come to, in its order."""
    names = windows.order_names(settings, view.had, view.range.backward)
    if view.last is None:
        return names
    last = windows.place_of(settings, view.last)
    left = [name for name in names if not windows.is_before(settings, name, last, view.range.backward)]
    return tuple(name for name in left if name not in view.came)


@rule(Rule.K_VIEW_6, Rule.K_WINDOW_12)
def next_entry(state: State, view: OpenView, config: Config) -> Pair | None:
    """Return the next key that had a value at the opening and has one now; None at the end."""
    now = values_now(state, view, config)
    keys = () if view.has_ended else keys_ahead(view, store_of(state, view.range.store).settings)
    return next(((key, now[key]) for key in keys if view.had[key][0] is not None and key in now), None)


@rule(Rule.K_VIEW_6, Rule.K_WINDOW_12)
def may_come_next(view: OpenView, store: Store, entry: Pair | None, config: Config) -> bool:
    """Return whether a view may answer this entry, or its end. Sessions of one place come in any order.

    A key that had a value all the time must not be left out, and a value must be one that the key has had. Variant
    `backward_tombstone`: going backward, a key that is or was without a value may come with any, or with null. Variant
    `view_tombstone`: such a key may come with any value in both directions.
    """
    settings = store.settings
    if view.has_ended or entry is None:
        return entry is None and (view.has_ended or all(None in view.had[key] for key in keys_ahead(view, settings)))
    drops = config.variants.view_tombstone is ViewTombstone.DROPPED and entry[1] is not None
    shows = drops or (view.range.backward and config.variants.backward_tombstone is BackwardTombstone.SHOWS)
    if shows and is_watched(store, view, entry[0]):
        view = view._replace(had={entry[0]: (None,), **view.had})
    ahead, place = keys_ahead(view, settings), windows.place_of(settings, entry[0])
    before = [key for key in ahead if windows.is_before(settings, key, place, view.range.backward)]
    if entry[0] not in ahead or any(None not in view.had[key] for key in before):
        return False
    values = view.had[entry[0]]
    return (shows and None in values) or (entry[1] is not None and entry[1] in values)


def show(state: State, name: str, entry: Pair | None) -> State:
    """Return the state after a view answered an entry, or its end."""
    view = state.views[name]
    advanced = view._replace(has_ended=True) if entry is None else pass_key(state, view, entry[0])
    return state._replace(views={**state.views, name: advanced})


def pass_key(state: State, view: OpenView, key: str) -> OpenView:
    """Return a view that has come to this key, window or session."""
    settings = store_of(state, view.range.store).settings
    is_next_to = view.last is not None and windows.place_of(settings, view.last) == windows.place_of(settings, key)
    return view._replace(last=key, came=(*(view.came if is_next_to else ()), key))


def shown_entry(state: State, view: OpenView, entry: Pair | None) -> Pair | WindowEntry | None:
    """Return an entry of an open view as its store shows it."""
    settings = store_of(state, view.range.store).settings
    if entry is None or settings.kind is StoreKind.KEY_VALUE:
        return entry
    return windows.entry_of(settings, view.range.key is not ABSENT, *entry)


@rule(Rule.K_VIEW_7)
def loosen(state: State, store: str) -> State:
    """Return the state after an open view may have used any cached key of its store."""
    if store not in state.spaces:
        return state
    return with_space(state, store, space_of(state, store)._replace(is_loose=True))


@rule(Rule.K_VIEW_6, Rule.K_VIEW_7)
def view_open(state: State, event: ViewOpen, config: Config, env: Environment) -> tuple[State, Answer]:
    """Open a view, which begins to know the values of its range."""
    # GUARD: one view of a name at a time, and a prefix stands alone.
    if event.view in state.views or has_prefix_and_more(event):
        return state, windows.REFUSED

    # DECISION: none.
    # EFFECT and OUTCOME
    after = ensure_store(state, event.store)
    had = {key: (value,) for key, value in values_now(after, OpenView(event, {}), config).items()}
    after = after._replace(views={**after.views, event.view: OpenView(event, had)})
    return loosen(after, event.store), Done()


@rule(Rule.K_VIEW_6, Rule.K_VIEW_7)
def view_next(state: State, event: ViewNext, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read the next entry of an open view."""
    # GUARD: the view is open.
    if event.view not in state.views:
        return state, windows.REFUSED

    # DECISION: any allowed entry would do.
    view = state.views[event.view]
    entry = next_entry(state, view, config)

    # EFFECT and OUTCOME
    return loosen(show(state, event.view, entry), view.range.store), NextEntry(shown_entry(state, view, entry))


@rule(Rule.K_VIEW_6)
def view_close(state: State, event: ViewClose, config: Config, env: Environment) -> tuple[State, Answer]:
    """Close an open view."""
    if event.view not in state.views:
        return state, windows.REFUSED
    return state._replace(views={name: view for name, view in state.views.items() if name != event.view}), Done()


# Answers of a subject that guide the reference.

INSIDE_A_CALL: Final = "inside a call it asks for what an open view leaves to the subject"


def mark_open_answer(state: State, event: ops.Op) -> State:
    """Return the state of a step that asks, inside a call, for what is the subject's; there no answer guides."""
    space = space_of(state, event.ns) if isinstance(event, ops.Metrics) and event.ns is not ABSENT else Space()
    asks = isinstance(event, ViewNext) or space.is_loose
    return mark_no_answer(state, INSIDE_A_CALL) if asks and state.in_progress.called else state


@rule(Rule.K_VIEW_6, Rule.K_VIEW_7)
def follow(state: State, event: ops.Op, config: Config, own: Step, got: Outcome) -> Step | None:
    """Return the step that a subject's answer leads to; None if the reference's own answer is the only one."""
    if state.is_unjudged or isinstance(own.outcome.answer, Unanswered):
        return own._replace(state=own.state._replace(is_unjudged=True), outcome=got)
    if (got.flushed, got.forwarded) != ((), ()) or got.answer == own.outcome.answer:
        return None
    if isinstance(event, ViewNext) and isinstance(got.answer, NextEntry) and event.view in state.views:
        return follow_view(state, event, config, own, got.answer)
    if isinstance(event, ops.Metrics) and isinstance(got.answer, NamespaceCounters) and event.ns is not ABSENT:
        return follow_order(state, event.ns, own, got.answer)
    return None


def follow_view(state: State, event: ViewNext, config: Config, own: Step, got: NextEntry) -> Step | None:
    """Return the step after an entry that a view may answer."""
    before = watch(state, config).views[event.view]
    store = store_of(state, before.range.store)
    entry = None if got.entry is None else windows.name_entry(store.settings, before, got.entry)
    if (entry is None and got.entry is not None) or not may_come_next(before, store, entry, config):
        return None
    answered = replace(own.outcome, answer=got)
    unread = own.state.views[event.view]._replace(last=before.last, has_ended=before.has_ended, came=before.came)
    after = own.state._replace(views={**own.state.views, event.view: unread})
    return own._replace(state=show(after, event.view, entry), outcome=answered)


def follow_order(state: State, ns: str, own: Step, got: NamespaceCounters) -> Step | None:
    """Return the step after an order of use, and lookups, that an open view may have left."""
    space, counted = space_of(state, ns), own.outcome.answer
    if not space.is_loose or not isinstance(counted, NamespaceCounters):
        return None
    shows_order = bool(got.lru) or not space.recent
    order = got.lru if shows_order else space.recent
    if sorted(order) != sorted(space.recent) or got.hits < counted.hits or got.misses < counted.misses:
        return None
    used = space._replace(recent=order, hits=got.hits, misses=got.misses, is_loose=not shows_order)
    answered = replace(counted, hits=got.hits, misses=got.misses, lru=order)
    return own._replace(state=with_space(own.state, ns, used), outcome=replace(own.outcome, answer=answered))
