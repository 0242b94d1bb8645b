"""The state of the reference that a fast cache of `kafka-streams` stands for."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.kafka_streams.fast_cache import Adapter, to_text, to_text_or_none
from entrycache_evidence.kafka_streams import bounded_models
from entrycache_evidence.model_checker.checker import AnyBoundedModel
from entrycache_evidence.model_checker.refinement import Fast, Refines, walk_faulty_reference
from entrycache_fast.kafka import CachingStore, ThreadCache
from entrycache_fast.kafka.state import Entry, Namespace
from entrycache_faults.fast.kafka_streams import FAULTS
from entrycache_faults.reference.kafka_streams.subjects import SUBJECTS
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Context
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Store

SOMEBODY: Final = Listener()
"""Who listens: what a listener does, and how often it throws, is told by the case and not kept by the cache."""

A_WRITE: Final = 0
"""The number of any write: the fast cache tells writes apart by their objects, while a step is under way."""


def abstract_state(adapter: Adapter) -> State:
    """The state, from all that cache and stores keep, and what is to be done downstream.

    Raises:
        AssertionError: what the cache keeps does not agree with itself.
    """
    cache = adapter.cache
    cache.check()
    downstream: dict[str, dict[str, tuple[Op, ...]]] = {name: {} for name in adapter.stores}
    for (name, key), steps in adapter.downstream.items():
        downstream[name][to_text(key)] = tuple(steps)
    return State(
        max_size_bytes=cache.max_size_bytes,
        spaces={name: _space(space) for name, space in cache._spaces.items()},
        stores={
            name: Store({to_text(key): to_text(value) for key, value in store.underlying.items()}, downstream[name])
            for name, store in adapter.stores.items()
        },
        puts=cache.puts,
        gets=cache.gets,
        evicts=cache.evicts,
        flushes=cache.flushes,
    )


def comparable_state(state: State) -> State:
    """The state without the numbers of writes, and without what listeners are told to do."""
    spaces = {name: _without_numbers(space) for name, space in state.spaces.items()}
    stores = {name: store._replace(forwarded_writes={}) for name, store in state.stores.items()}
    return state._replace(spaces=spaces, stores=stores, writes=0, running=0)


def _without_numbers(space: Space) -> Space:
    nodes = {key: node._replace(write=A_WRITE) for key, node in space.nodes.items()}
    return space._replace(nodes=nodes, listener=None if space.listener is None else SOMEBODY)


def _space(space: Namespace) -> Space:
    return Space(
        {to_text(key): _node(entry) for key, entry in space.nodes.items()},
        tuple(to_text(key) for key in reversed(space.nodes)),
        tuple(to_text(key) for key in space.dirty),
        None if space.listener is None else SOMEBODY,
        space.hits,
        space.misses,
        space.overwrites,
        space.flushes,
    )


def _node(entry: Entry) -> Node:
    return Node(to_text_or_none(entry.value), entry.dirty, entry.size_bytes, Context(*entry.context), A_WRITE)


def fast_cache(cache_type: type[ThreadCache] = ThreadCache, store_type: type[CachingStore] = CachingStore) -> Fast:
    """The fast cache with its stores, or one with a planted fault."""
    return Fast(
        lambda config: Adapter(cache_type(config.max_size_bytes), store_type, config.reentry_budget),
        lambda adapter, op: adapter.step(op),
        abstract_state,
        comparable_state,
    )


# --- refined
# The worlds along which fast cache and stores of `kafka-streams` are held to the reference, and a fault for each.

WORLDS: Final[tuple[tuple[AnyBoundedModel, str, bool], ...]] = (
    (bounded_models.STORE, "streams-read-cached-dirty", True),
    (bounded_models.EVERY, "streams-flush-puts-back-as-newest", True),
    (bounded_models.LISTENERS, "streams-flush-loses-a-write", False),
    (bounded_models.STORES, "streams-deleted-stays-below", False),
    (bounded_models.FORWARDS, "streams-view-below-wins", False),
    (bounded_models.TWO, "streams-evict-elsewhere", False),
)
"""With the fault that is told apart in it, and whether it is walked in a pull request; the quick ones first."""


def negative_control(name: str) -> tuple[Fast, str]:
    """Return the faulty implementation of this public name, and the sentence that says what is wrong with it."""
    if name in FAULTS:
        return fast_cache(FAULTS[name]), str(FAULTS[name].__doc__).strip()
    return walk_faulty_reference(SUBJECTS[name]), SUBJECTS[name].note


REFINED: Final = tuple(
    Refines(world, fast_cache(), *negative_control(name), is_quick) for world, name, is_quick in WORLDS
)
