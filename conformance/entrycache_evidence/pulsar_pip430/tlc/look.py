"""How a state and a step of `pulsar-pip430` read in the words of its TLA+ module: the abstraction between the two."""

from __future__ import annotations

from functools import lru_cache

from entrycache_evidence.pulsar_pip430.tlc.events import every, fraction
from entrycache_evidence.pulsar_pip430.worlds.world import World
from entrycache_evidence.tlc.text import maybe, tla
from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.state import Counts, Slot, State, Step


@lru_cache(maxsize=4096)
def slot_text(slot: Slot, size: int, age: int, requeues: int, accessed: bool, count: int | None) -> str:
    """A live slot with its entry."""
    return tla(((slot.cache, *slot.pos), size, age, requeues, accessed, maybe(count)))


class QueueLook:
    """Ages saturate, and requeue counts; entries are shown where they stand in the queue, each once.

    That each entry has one live slot is not assumed: an entry without one is shown beside the queue.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.events: tuple[Op, ...] = every(world)
        self.caches = tuple(sorted({key.cache for key in world.keys}))

    def fresh(self, state: State) -> State:
        """A step begins with no counts: they only grow, and nothing looks at them."""
        return state._replace(counts=Counts())

    def state(self, state: State) -> str:
        """Open caches, settings, the flag, the manager's bytes, and the queue from head to tail."""
        now = state.settings
        queue = f"<<{', '.join([self._slot(state, slot) for slot in state.queue])}>>"
        opened = tuple(name in state.caches for name in self.caches)
        limits = (now.max_size_bytes, fraction(now.watermark), now.ttl_nanos)
        settings = (*limits, now.max_requeues, now.extend_recently_accessed)
        before, amiss = tla((opened, *settings, state.is_scheduled, state.size_bytes)), self._unqueued(state)
        return f"{before[:-2]}, {queue}{', ' + tla(amiss) if amiss else ''}>>"

    def _slot(self, state: State, slot: Slot | None) -> str:
        if slot is None:
            return "<<>>"
        entry = state.caches[slot.cache].entries[slot.pos]
        age = min(state.now_nanos - entry.stamp_nanos, self.world.oldest)
        requeues = min(entry.requeues, self.world.config.max_requeues)
        return slot_text(slot, entry.size_bytes, age, requeues, entry.accessed, entry.expected_reads)

    def _unqueued(self, state: State) -> tuple[object, ...]:
        live = {slot for slot in state.queue if slot is not None}
        cached = {Slot(name, pos) for name, cache in state.caches.items() for pos in cache.entries}
        sums = sum(cache.size_bytes for cache in state.caches.values())
        return () if live == cached and sums == state.size_bytes else (tuple(sorted(cached - live)), sums)

    def label(self, number: int, step: Step) -> str:
        """The number of the event, its answer, and what was inserted, evicted, and counted as a cycle."""
        counts = step.state.counts
        cycles = counts.eviction_cycles
        return tla((number, answer(step.outcome), counts.inserted_entries, counts.evicted_entries, cycles))


def answer(outcome: object) -> object:
    """An outcome as the module answers it."""
    match outcome:
        case outcomes.Refused():
            return outcome.error.value
        case outcomes.Inserted():
            return outcome.inserted
        case outcomes.Hit():
            return outcome.hit
        case outcomes.Existing():
            return outcome.exists
        case outcomes.Hits():
            return outcome.hits
        case outcomes.Removed() | outcomes.Used():
            return outcome.entries, outcome.bytes
        case outcomes.Counted():
            return maybe(outcome.expected_reads)
        case _:
            return ()
