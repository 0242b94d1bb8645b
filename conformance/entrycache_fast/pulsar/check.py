"""Every invariant of a cache, for tests."""

from __future__ import annotations

from entrycache_fast.pulsar import removal
from entrycache_fast.pulsar.state import CacheState


def check_state(cache: CacheState) -> None:
    """Assert that the queue, the caches, the sums and the orders agree."""
    queue = cache._queue
    live = [entry for entry in queue if not entry.dead_slots]
    cached = [entry for home in cache._caches.values() for ledger in home.ledgers.values() for entry in ledger.values()]
    assert len(live) == len(cached) == cache._live(), (len(live), len(cached))
    assert {id(entry) for entry in live} == {id(entry) for entry in cached}
    assert cache._dead_objects == len(queue) - len(live)
    assert cache._dead_objects <= removal.DEAD_SLACK + 2 * len(live)
    assert cache.tombstones == sum(entry.dead_slots for entry in queue)
    assert cache.size_bytes == sum(entry.size_bytes for entry in live)
    stamps = [entry.stamp_nanos for entry in live]
    assert stamps == sorted(stamps), stamps
    assert not stamps or stamps[-1] <= cache._clock()
    assert not cache._caches.keys() & cache._removed_caches.keys()
    for homes in (cache._caches, cache._removed_caches):
        for name, home in homes.items():
            assert home.name == name
            home.check()
    assert not any(home.ledgers for home in cache._removed_caches.values())
