"""Other wrong versions of single functions of the reference of `kafka-streams`; see `wrong_streams`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from entrycache_reference.kafka_streams import (
    flush,
    listeners,
    lookups,
    named_cache,
    namespaces,
    ops,
    size,
    stores,
    writes,
)
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Answer, ErrorKind, Failed, NamespaceCounters
from entrycache_reference.kafka_streams.state import Change, Node, Space, State, space_of, with_space

Taken = tuple[State, Answer]
_evict_eldest: Final = flush.evict_eldest
_hand_over: Final = flush.flush_dirty
_node_of: Final = stores.node_of
_relieve: Final = writes.maybe_evict
_size_bytes: Final = size.size_bytes
_written: Final = named_cache.written


def evict_newest(state: State, ns: str, *rest: Any) -> Change:
    """K-EVICT-1: the most recent entry is evicted."""
    own = space_of(state, ns)
    if not own.recent:
        return Change(state)
    return _evict_eldest(with_space(state, ns, own._replace(recent=(*own.recent[1:], own.recent[0]))), ns, *rest)


def relieve_the_fullest(state: State, ns: str, *rest: Any) -> Change:
    """K-EVICT-4: the namespace that holds most entries pays."""
    return _relieve(state, max(sorted(state.spaces), key=lambda name: len(state.spaces[name].nodes)), *rest)


def hand_over_back_as_newest(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """K-FLUSH-3: what could not be evicted is the most recent."""
    done = _hand_over(state, ns, evicted, *rest)
    if done.error is not ErrorKind.LISTENER_FAILED or evicted is None:
        return done
    own = space_of(done.state, ns)
    recent = (evicted, *named_cache.without_key(own.recent, evicted))
    return Change(with_space(done.state, ns, own._replace(recent=recent)), done.error)


def hand_over_evicted_last(state: State, ns: str, evicted: str | None, *rest: Any) -> Change:
    """K-EVICT-3: the evicted entry comes last in its call."""
    at = len(state.under_way.calls)
    done = _hand_over(state, ns, evicted, *rest)
    if evicted is None or len(done.state.under_way.calls) == at:
        return done
    made = done.state.under_way.calls
    call = made[at]
    turned = replace(call, entries=(*call.entries[1:], call.entries[0]))
    return Change(listeners.with_calls(done.state, (*made[:at], turned, *made[at + 1 :])), done.error)


def written_adding(own: Space, key: str, node: Node) -> Space:
    """K-PUT-2: the former size is not subtracted."""
    before = own.nodes[key].size_bytes if key in own.nodes else 0
    return _written(own, key, node._replace(size_bytes=node.size_bytes + before))


def size_of_key_only(key: str, value: str | None, *rest: Any) -> int:
    """K-SIZE-1: a tombstone counts its key."""
    return size.utf8_bytes(key) if value is None else _size_bytes(key, value, *rest)


def put_if_absent_not_paying(state: State, event: ops.PutIfAbsent, config: Config, *calls: Any) -> Taken:
    """K-PUT-8: nothing is evicted where the key was there."""
    if event.key not in space_of(state, event.ns).nodes:
        return writes.put_if_absent(state, event, config, *calls)
    generous = replace(config, max_size_bytes=10**15)
    after, answer = writes.put_if_absent(state._replace(max_size_bytes=10**15), event, generous, *calls)
    return after._replace(max_size_bytes=state.max_size_bytes), answer


def range_excluding_its_end(state: State, event: ops.Range, config: Config, *calls: Any) -> Taken:
    """K-RANGE-1: the end belongs to no range."""
    return lookups.range_(state, replace(event, to_inclusive=False), config, *calls)


def resize_undone(state: State, event: ops.Resize, config: Config, *calls: Any) -> Taken:
    """K-RESIZE-1: a resize that fails leaves the limit as it was."""
    after, answer = namespaces.resize(state, event, config, *calls)
    failed = isinstance(answer, Failed)
    return after._replace(max_size_bytes=state.max_size_bytes) if failed else after, answer


def clear_with_listener(state: State, event: ops.Clear, config: Config, *calls: Any) -> Taken:
    """K-CLOSE-1: the listener is dropped too."""
    after, answer = namespaces.clear(state, event, config, *calls)
    if event.ns not in after.spaces:
        return after, answer
    return with_space(after, event.ns, space_of(after, event.ns)._replace(listener=None)), answer


def metrics_dirty_by_use(state: State, event: ops.Metrics, config: Config, *calls: Any) -> Taken:
    """K-METRICS-3: the dirty keys come in the order of use."""
    after, answer = lookups.metrics(state, event, config, *calls)
    if isinstance(answer, NamespaceCounters):
        answer = replace(answer, dirty=tuple(key for key in answer.lru if key in answer.dirty))
    return after, answer


def node_dirty(key: str, value: str | None, is_dirty: bool, number: int) -> Node:
    """K-STORE-6: what was read from below is cached as a write."""
    return _node_of(key, value, True, number)


def store_delete_through(state: State, event: ops.StoreDelete, config: Config, *calls: Any) -> Taken:
    """K-STORE-2: a deletion takes the key from below at once."""
    after, answer = stores.store_delete(state, event, config, *calls)
    store = stores.store_of(after, event.store)
    gone = store._replace(inner=stores.lies_below(store.inner, event.key, None))
    return stores.with_store(after, event.store, gone), answer


def receive_below_last(state: State, name: str, entries: Any, config: Config, env: Any) -> State:
    """K-STORE-4: everything is passed on before it lies below."""
    after = state
    for key, node in entries:
        if node.value is not None or key in stores.store_of(after, name).inner:
            after = stores.pass_on(after, name, key, node, config, env)
    for key, node in entries:
        store = stores.store_of(after, name)
        below = stores.lies_below(store.inner, key, node.value)
        after = stores.with_store(after, name, store._replace(inner=below))
    return after


Function = Callable[..., Any]
