"""The state of the reference that a fast cache of `kafka-streams` stands for."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.kafka_streams.adapter import Adapter, shown, shown_or_none
from entrycache_evidence.refine.walk import Fast
from entrycache_fast.kafka import CachingStore, ThreadCache
from entrycache_fast.kafka.entry import Entry
from entrycache_fast.kafka.namespace import Namespace
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Context
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Store

SOMEBODY: Final = Listener()
"""Who listens: what a listener does, and how often it throws, is told by the case and not kept by the cache."""

A_WRITE: Final = 0
"""The number of any write: the fast cache tells writes apart by their objects, while a step is under way."""


def state_of(adapter: Adapter) -> State:
    """The state, from all that cache and stores keep, and what is to be done downstream.

    Raises:
        AssertionError: what the cache keeps does not agree with itself.
    """
    cache = adapter.cache
    cache.check()
    downstream: dict[str, dict[str, tuple[Op, ...]]] = {name: {} for name in adapter.stores}
    for (name, key), steps in adapter.downstream.items():
        downstream[name][shown(key)] = tuple(steps)
    return State(
        max_size_bytes=cache.max_size_bytes,
        spaces={name: _space(space) for name, space in cache._spaces.items()},
        stores={
            name: Store({shown(key): shown(value) for key, value in store.below.items()}, downstream[name])
            for name, store in adapter.stores.items()
        },
        puts=cache.puts,
        gets=cache.gets,
        evicts=cache.evicts,
        flushes=cache.flushes,
    )


def known(state: State) -> State:
    """The state without the numbers of writes, and without what listeners are told to do."""
    spaces = {name: _without_numbers(space) for name, space in state.spaces.items()}
    stores = {name: store._replace(passed_on={}) for name, store in state.stores.items()}
    return state._replace(spaces=spaces, stores=stores, writes=0, running=0)


def _without_numbers(space: Space) -> Space:
    nodes = {key: node._replace(write=A_WRITE) for key, node in space.nodes.items()}
    return space._replace(nodes=nodes, listener=None if space.listener is None else SOMEBODY)


def _space(space: Namespace) -> Space:
    return Space(
        {shown(key): _node(entry) for key, entry in space.nodes.items()},
        tuple(shown(key) for key in reversed(space.nodes)),
        tuple(shown(key) for key in space.dirty),
        None if space.listener is None else SOMEBODY,
        space.hits,
        space.misses,
        space.overwrites,
        space.flushes,
    )


def _node(entry: Entry) -> Node:
    return Node(shown_or_none(entry.value), entry.dirty, entry.size_bytes, Context(*entry.context), A_WRITE)


def fast(cache_type: type[ThreadCache] = ThreadCache, store_type: type[CachingStore] = CachingStore) -> Fast:
    """The fast cache with its stores, or one with a planted fault."""
    return Fast(
        lambda config: Adapter(cache_type(config.max_size_bytes), store_type, config.reentry_budget),
        lambda adapter, op: adapter.step(op),
        state_of,
        known,
    )
