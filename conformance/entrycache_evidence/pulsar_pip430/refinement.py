"""The refinement of `pulsar-pip430`: the state of the reference that the fast cache stands for.

`abstract_state` reads everything that the cache keeps, and the clock. `comparable_state` removes from a state of the
reference what the fast cache does not keep. `REFINED` lists the bounded models that are walked, each with a seeded
fault that the walk has to detect.
"""

from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.fast_cache import Adapter, BrokerCache, open_cache
from entrycache_evidence.model_checker import checker, refinement
from entrycache_evidence.pulsar_pip430 import bounded_models
from entrycache_fast.pulsar.store import Entry as FastEntry
from entrycache_fast.pulsar.store import RangeCache
from entrycache_faults.fast.pulsar_pip430 import FAULTS
from entrycache_faults.reference.pulsar_pip430.subjects import SUBJECTS
from entrycache_reference.pulsar_pip430.config import Settings
from entrycache_reference.pulsar_pip430.state import DEAD, Cache, Counts, Entry, HeldPosition, Slot, State
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position

LOST_CLAIM: Final = HeldPosition(Slot(CacheName(""), Position(0, 0)), False)
"""The mark of a held entry that is not cached; no step depends on its former place."""


def abstract_state(adapter: Adapter) -> State:
    """Build the state of the reference from the cache and its clock.

    Raises:
        AssertionError: what the cache keeps does not agree with itself.
    """
    cache = adapter.cache
    cache._check()
    counts = cache._counts
    return State(
        now_nanos=adapter.clock.now_nanos,
        settings=Settings(
            cache.max_size_bytes,
            cache.watermark,
            cache.ttl_nanos,
            cache.max_requeues,
            cache.extend_recently_accessed,
        ),
        caches={
            CacheName(name): _cache(home, is_open)
            for homes, is_open in ((cache._caches, True), (cache._removed_caches, False))
            for name, home in homes.items()
        },
        queue=tuple(slot for entry in cache._queue for slot in _slots(entry)),
        size_bytes=cache.size_bytes,
        is_scheduled=cache._scheduled,
        holds={
            HoldName(name): tuple(_held_position(entry) for entry, _ in kept) for name, kept in cache._holds.items()
        },
        counts=Counts(
            counts.evicted_entries + cache._live(),
            counts.evicted_entries,
            counts.eviction_cycles,
            counts.hit_entries,
            counts.hit_bytes,
            counts.miss_entries,
            counts.miss_bytes,
        ),
    )


def comparable_state(state: State) -> State:
    """Remove the places of held entries that are not cached."""
    holds = {name: tuple(held if held.is_cached else LOST_CLAIM for held in kept) for name, kept in state.holds.items()}
    return state._replace(holds=holds)


def _cache(home: RangeCache, is_open: bool) -> Cache:
    entries = {
        Position(number, entry.number): _entry(entry)
        for number, ledger in home.ledgers.items()
        for entry in ledger.values()
    }
    members = {} if home.cursors is None else home.cursors.positions()
    return Cache(
        entries,
        sum(ledger.size_bytes for ledger in home.ledgers.values()),
        {CursorName(name): None if at is None else Position(*at) for name, at in members.items()},
        home.grace_start_nanos,
        is_open,
    )


def _entry(entry: FastEntry) -> Entry:
    value: Any = entry.value
    token = None if value is None else value.token
    return Entry(entry.size_bytes, entry.stamp_nanos, entry.requeues, entry.accessed, entry.expected_reads, token)


def _slot(entry: FastEntry) -> Slot:
    return Slot(CacheName(entry.ledger.cache.name), Position(entry.ledger.number, entry.number))


def _slots(entry: FastEntry) -> list[Slot | None]:
    """Return one live slot, or as many dead ones as the object stands for."""
    return [DEAD] * entry.dead_slots if entry.dead_slots else [_slot(entry)]


def _held_position(entry: FastEntry | None) -> HeldPosition:
    return (
        HeldPosition(_slot(entry), True)
        if entry is not None and entry.ledger.get(entry.number) is entry
        else LOST_CLAIM
    )


def fast_cache(cache_type: type[BrokerCache] = BrokerCache) -> refinement.FastCache:
    """Describe the fast cache, or one with a seeded fault."""
    return refinement.FastCache(
        lambda config: open_cache(config, cache_type),
        lambda instance, op: instance(op),
        lambda instance: abstract_state(instance.adapter),
        comparable_state,
    )


# --- Tasks

REFINED_MODELS: Final[tuple[tuple[checker.AnyBoundedModel, str, bool], ...]] = (
    (bounded_models.CACHING_OFF, "insert-limit-zero-ignored", True),
    (bounded_models.NO_BUDGET, "insert-takes-dead-slot", True),
    (bounded_models.MANAGER, "config-shrinks-at-once", True),
    (bounded_models.HEAP, "cursor-untracked-keeps-position", True),
    (bounded_models.PAIR, "state-exists-marks", True),
    (bounded_models.MANUAL, "invalidate-clear-takes-all", False),
    (bounded_models.CURSORS, "cursor-grace-only-once", False),
    (bounded_models.READS, "count-hold-stays-open", False),
    (bounded_models.ALL, "insert-duplicate-restamps", False),
)
"""The bounded models, each with the fault that must be detected in it, and whether a pull request walks it.

The models of variants are left out, because the fast cache has the default behaviour only.
"""


def negative_control(name: str) -> tuple[refinement.FastCache, str]:
    """Return the faulty implementation of this public name, and the sentence that says what is wrong with it."""
    if name in FAULTS:
        return fast_cache(FAULTS[name]), str(FAULTS[name].__doc__).strip()
    return refinement.walk_faulty_reference(SUBJECTS[name]), SUBJECTS[name].note


REFINED: Final = tuple(
    refinement.RefinementTask(scope, fast_cache(), *negative_control(name), is_quick)
    for scope, name, is_quick in REFINED_MODELS
)
