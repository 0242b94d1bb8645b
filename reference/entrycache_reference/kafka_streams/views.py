"""Level `views`: what a store answers besides single reads and writes, and how it is emptied, closed and opened again.

A view merges the cached entries with the underlying store, forward or backward, and touches what it finds in the cache.
Queries answer like reads, but cache nothing. `store_clear` drops what is cached, `store_close` flushes first and then
drops the store with everything below it.

Beside: CachingKeyValueStore.reverseRange, .prefixScan, .putIfAbsent, .approximateNumEntries (kafka-streams 4.3.1)
Beside: CachingKeyValueStore.query, .runKeyQuery, .clearCache, .close (kafka-streams 4.3.1)
Beside: AbstractMergedSortedCacheStoreIterator.hasNext (kafka-streams 4.3.1)
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.change import sort_by_bytes
from entrycache_reference.kafka_streams.config import BackwardTombstone, Config, RangeQuery
from entrycache_reference.kafka_streams.entries import is_between, look_up, put_node, with_answer
from entrycache_reference.kafka_streams.flush import Environment
from entrycache_reference.kafka_streams.namespaces import clear, close, flush
from entrycache_reference.kafka_streams.outcomes import Answer, Counted, Done, ErrorKind, Failed, Listing, Pair, Value
from entrycache_reference.kafka_streams.state import Change, Node, State, Store, space_of, with_space
from entrycache_reference.kafka_streams.stores import (
    OF_STORE,
    build_store_node,
    ensure_store,
    find_value,
    read_value,
    store_of,
    with_store,
)
from entrycache_reference.kafka_streams.view_ops import (
    StoreClear,
    StoreClose,
    StoreCount,
    StoreOpen,
    StorePutAll,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
)
from entrycache_reference.rules import Rule, rule

REFUSED = Failed(ErrorKind.ILLEGAL_STATE)


# Views.


class View(NamedTuple):
    """The keys of a view in its order: those that are cached, and those of the underlying store."""

    cached: tuple[str, ...]
    stored: tuple[str, ...]


@rule(Rule.K_VIEW_1, Rule.K_VIEW_3)
def is_in_view(event: StoreView | StoreQueryRange, key: str) -> bool:
    """Return whether a key belongs to a view: it begins with the prefix, or lies between the bounds."""
    prefix = event.prefix if isinstance(event, StoreView) else None
    if prefix is not None:
        return key.encode("utf-8", "surrogatepass").startswith(prefix.encode("utf-8", "surrogatepass"))
    return is_between(key, event.from_, event.to, True)


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
def merge_backward_as_released(view: View, nodes: Mapping[str, Node], inner: Mapping[str, str]) -> tuple[Pair, ...]:
    """Return the entries of a backward view under `backward_tombstone` "shows".

    A tombstone below the next key of the underlying store is dropped before the key that it hides has come. A tombstone
    above it comes as an entry with the value null.
    """
    cached, stored = list(view.cached), list(view.stored)
    ranks = {key: at for at, key in enumerate(sort_by_bytes(tuple({*cached, *stored})))}
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
    if backward and config.variants.backward_tombstone is BackwardTombstone.SHOWS:
        return after, Listing(merge_backward_as_released(view, nodes, inner))
    return after, Listing(merge(view, nodes, inner, backward))


@rule(Rule.K_VIEW_1, Rule.K_VIEW_2)
def store_view(state: State, event: StoreView, config: Config, env: Environment) -> tuple[State, Answer]:
    """Read a range, all keys or the keys with a prefix, cache and underlying store merged."""
    # GUARD: a prefix stands alone.
    if event.prefix is not None and (event.backward or event.from_ is not None or event.to is not None):
        return state, REFUSED

    # DECISION, EFFECT and OUTCOME
    return list_view(state, event, event.backward, config)


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
    after = ensure_store(state, event.store)
    inner = store_of(after, event.store).inner
    keys = order_keys(inner, lambda key: is_in_view(event, key), False)
    return after, Listing(tuple((key, inner[key]) for key in keys))


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
        return state, REFUSED

    # DECISION: none.
    # EFFECT and OUTCOME
    listening = space_of(state, event.store)._replace(listener=OF_STORE)
    return with_store(with_space(state, event.store, listening), event.store, Store()), Done()


@rule(Rule.K_CLOSE_3)
def store_close(state: State, event: StoreClose, config: Config, env: Environment) -> tuple[State, Answer]:
    """Flush a store, then drop its namespace and what lies below it. Closing it again only counts as a flush."""
    flushed, answer = flush(ensure_store(state, event.store), ops.Flush(event.store), config, env)
    closed, _ = close(flushed, ops.Close(event.store), config, env)
    return with_store(closed, event.store, Store(is_open=False)), answer


@rule(Rule.K_CLOSE_3)
def is_closed(state: State, event: ops.Op) -> bool:
    """Return whether an operation is on a closed store. Opening and closing it are not refused."""
    store = state.stores.get(getattr(event, "store", ""))
    return store is not None and not store.is_open and not isinstance(event, StoreOpen | StoreClose)
