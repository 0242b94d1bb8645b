"""The cache of one broker."""

from __future__ import annotations

from entrycache_fast.pulsar.check import check_state
from entrycache_fast.pulsar.cursor_calls import CursorCalls
from entrycache_fast.pulsar.reads import Reads


class BrokerCache(Reads, CursorCalls):
    """Entries of many managed ledgers under one limit of bytes, in one removal queue, oldest at its head.

    An entry is named by its cache (the name of a managed ledger), its ledger and its number there. An insert
    that leaves more than `trigger_bytes` runs a size pass down to `target_bytes`, or with `eviction` "manual"
    schedules one; nothing else leaves by itself. The owner calls `cycle` from time to time, which takes what
    is older than the time to live:

        cache.insert("orders", ledger, entry, len(payload), value=payload)
        ...
        cache.cycle()

    Lookups, inserts and single removals take constant time, a range takes its entries and a binary search,
    and a pass takes the slots that it meets, however many caches there are. What a call takes out leaves a
    dead slot in the queue (`tombstones`) which counts until a pass reaches it; the memory of dead slots stays
    within that of two slots for each cached entry plus a constant, because neighbours are merged.

    The cache is not thread-safe; hold a lock around each call. `clock` must never go back. `on_row` gets
    one `Row` an event; it must neither raise nor call the cache. A wrong argument raises ValueError and
    changes nothing.
    """

    def _check(self) -> None:
        """Assert every invariant of the state; for tests."""
        check_state(self)
