"""The refinement of `kafka-streams`: the state of the reference that the fast cache and its stores stand for.

`abstract_state` reads everything that a cache and its stores keep. `comparable_state` removes from a state of the
reference what the fast cache does not keep. `REFINED` lists the bounded models that are walked, each with a seeded
fault that the walk has to detect.
"""

from typing import Final

from entrycache_conformance.systems.kafka_streams.fast_cache import Adapter, to_text, to_text_or_none
from entrycache_evidence.kafka_streams import bounded_models
from entrycache_evidence.model_checker import checker, refinement
from entrycache_fast.kafka import CachingStore, ThreadCache
from entrycache_fast.kafka.state import Entry, Namespace
from entrycache_faults.fast.kafka_streams import FAULTS
from entrycache_faults.reference.kafka_streams.subjects import SUBJECTS
from entrycache_reference.kafka_streams import ops, outcomes
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, Store, StoreSettings

ANY_LISTENER: Final = Listener()
"""Any listener: a case keeps its steps and its failures, the cache does not."""

ANY_WRITE: Final = 0
"""The number of any write: the fast cache tells writes apart by identity during a step."""


def abstract_state(adapter: Adapter) -> State:
    """Build the state of the reference from the cache, its stores and the steps downstream.

    Raises:
        AssertionError: what the cache keeps does not agree with itself.
    """
    cache = adapter.cache
    cache.check()
    downstream: dict[str, dict[str, tuple[ops.Op, ...]]] = {name: {} for name in adapter.stores}
    failing: dict[str, dict[str, int]] = {name: {} for name in adapter.stores}
    for name, own in adapter.downstream.items():
        if adapter.stores[name].is_open:
            downstream[name] = {to_text(key): tuple(steps) for key, steps in own.steps.items()}
            failing[name] = {to_text(key): left for key, left in own.failing.items() if left}
    return State(
        max_size_bytes=cache.max_size_bytes,
        spaces={name: _space(space) for name, space in cache._spaces.items()},
        stores={
            name: Store(
                {to_text(key): to_text(value) for key, value in store.underlying.items()},
                downstream[name],
                is_open=store.is_open,
                old_values=store.old_values,
                failing=failing[name],
                owed=tuple(sorted(map(to_text, store.owed))),
            )
            for name, store in adapter.stores.items()
        },
        puts=cache.puts,
        gets=cache.gets,
        evicts=cache.evicts,
        flushes=cache.flushes,
    )


def comparable_state(state: State) -> State:
    """Remove write numbers, steps of listeners, settings of stores and what open views may show from a state."""
    spaces = {name: _without_write_numbers(space) for name, space in state.spaces.items()}
    stores = {
        name: store._replace(
            forwarded_writes={}, forwarded={}, owed=tuple(sorted(store.owed)), settings=StoreSettings()
        )
        for name, store in state.stores.items()
    }
    return state._replace(spaces=spaces, stores=stores, writes=0, running=0, views={})


def _without_write_numbers(space: Space) -> Space:
    nodes = {key: node._replace(write=ANY_WRITE) for key, node in space.nodes.items()}
    listener = None if space.listener is None else ANY_LISTENER
    return space._replace(nodes=nodes, listener=listener, is_loose=False)


def _space(space: Namespace) -> Space:
    return Space(
        {to_text(key): _node(entry) for key, entry in space.nodes.items()},
        tuple(to_text(key) for key in reversed(space.nodes)),
        tuple(to_text(key) for key in space.dirty),
        None if space.listener is None else ANY_LISTENER,
        space.hits,
        space.misses,
        space.overwrites,
        space.flushes,
    )


def _node(entry: Entry) -> Node:
    return Node(
        to_text_or_none(entry.value), entry.dirty, entry.size_bytes, outcomes.Context(*entry.context), ANY_WRITE
    )


def fast_cache(
    cache_type: type[ThreadCache] = ThreadCache, store_type: type[CachingStore] = CachingStore
) -> refinement.FastCache:
    """Describe the fast cache with its stores, or one with a seeded fault."""
    return refinement.FastCache(
        lambda config: Adapter(cache_type(config.max_size_bytes), store_type, config.reentry_budget),
        lambda adapter, op: adapter.step(op),
        abstract_state,
        comparable_state,
    )


# --- Tasks

REFINED_MODELS: Final[tuple[tuple[checker.AnyBoundedModel, str, bool], ...]] = (
    (bounded_models.STORE, "streams-read-cached-dirty", True),
    (bounded_models.EVERY, "streams-flush-puts-back-as-newest", True),
    (bounded_models.LISTENERS, "streams-flush-loses-a-write", False),
    (bounded_models.STORES, "streams-deleted-stays-below", False),
    (bounded_models.FORWARDS, "streams-view-below-wins", False),
    (bounded_models.TWO, "streams-evict-elsewhere", False),
)
"""The bounded models, each with the fault that must be detected in it, and whether a pull request walks it."""


def negative_control(name: str) -> tuple[refinement.FastCache, str]:
    """Return the faulty implementation of this public name, and the sentence that says what is wrong with it."""
    if name in FAULTS:
        return fast_cache(FAULTS[name]), str(FAULTS[name].__doc__).strip()
    return refinement.walk_faulty_reference(SUBJECTS[name]), SUBJECTS[name].note


REFINED: Final = tuple(
    refinement.RefinementTask(scope, fast_cache(), *negative_control(name), is_quick)
    for scope, name, is_quick in REFINED_MODELS
)
