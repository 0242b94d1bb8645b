"""The refinement of `pulsar-segmented`: the state of the reference that the fast cache stands for.

`abstract_state` reads everything that the cache keeps. `comparable_state` removes from a state of the reference what
the fast cache does not keep. `REFINED` lists the bounded models that are walked, each with a seeded fault that the walk
has to detect.
"""

from typing import Final

from entrycache_conformance.systems.pulsar_segmented.fast_cache import Adapter, open_cache
from entrycache_evidence.model_checker.refinement import FastCache, RefinementTask, walk_faulty_reference
from entrycache_evidence.pulsar_segmented.bounded_models import COPIES, EVERY, LEDGERS
from entrycache_fast.segmented import Segment as FastSegment
from entrycache_fast.segmented import SegmentedCache
from entrycache_faults.fast.pulsar_segmented import FAULTS
from entrycache_faults.reference.pulsar_segmented.ring import SUBJECTS
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment, State
from entrycache_reference.vocabulary import CacheName, Position


def abstract_state(adapter: Adapter) -> State:
    """Build the state of the reference that the fast cache stands for.

    Raises:
        AssertionError: what the cache keeps does not agree with itself.
    """
    cache = adapter.cache
    held = {key: segment for segment in cache.ring for key in segment.entries}
    assert cache.where == held, "where an entry is found is not where it is"
    sizes = [kept.size_bytes for segment in cache.ring for kept in segment.entries.values()]
    assert cache.size_bytes == sum(sizes), "the bytes are not the sum of the sizes"
    return State({at: _segment(one) for at, one in enumerate(cache.ring)}, cache.current, cache.segment_bytes)


def _segment(one: FastSegment) -> Segment:
    entries = tuple(
        Entry(Place(CacheName(cache), Position(ledger, entry)), kept.size_bytes, 0, kept.value)
        for (cache, ledger, entry), kept in one.entries.items()
    )
    return Segment(entries, one.offset)


def comparable_state(state: State) -> State:
    """Remove the byte at which each entry starts."""
    return state._replace(
        segments={
            at: one._replace(entries=tuple(entry._replace(start=0) for entry in one.entries))
            for at, one in state.segments.items()
        }
    )


def fast_cache(kind: type[SegmentedCache] = SegmentedCache) -> FastCache:
    """Describe the fast cache, or one with a seeded fault."""
    return FastCache(
        lambda config: open_cache(config, kind), lambda adapter, op: adapter(op), abstract_state, comparable_state
    )


def negative_control(name: str) -> tuple[FastCache, str]:
    """Return the faulty implementation of this public name, and the sentence that says what is wrong with it."""
    if name in FAULTS:
        return fast_cache(FAULTS[name]), str(FAULTS[name].__doc__).strip()
    return walk_faulty_reference(SUBJECTS[name]), SUBJECTS[name].note


REFINED: Final = tuple(
    RefinementTask(scope, fast_cache(), *negative_control(name), is_quick)
    for scope, name, is_quick in (
        (EVERY, "segmented-full-advances", True),
        (COPIES, "segmented-rounded-before-the-test", True),
        (LEDGERS, "segmented-turns-backwards", False),
    )
)
"""The refinements; a pull request walks the quick ones."""
