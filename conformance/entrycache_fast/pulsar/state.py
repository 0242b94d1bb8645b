"""The state of a broker cache: settings, the caches by name, the removal queue, holds and counters.

`CacheState` is the base of all calls. It checks its settings, derives the trigger and the target of size passes from
them, and finds or makes the cache of a managed ledger by its name.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, Literal

from entrycache_fast.pulsar import arguments, results, rows, store
from entrycache_fast.pulsar.results import V
from entrycache_fast.pulsar.rows import Row

TRIGGER: Final = 0.98
"""The share of the limit above which a size pass is due."""

NANOS_A_MILLI: Final = 1_000_000


class CacheState(Generic[V]):
    """The settings, the caches by name, the removal queue, the holds of reads, and the counters."""

    def __init__(
        self,
        *,
        max_size_bytes: int = 134_217_728,
        ttl_nanos: int = 1_000_000_000,
        max_requeues: int = 5,
        extend_recently_accessed: bool = True,
        watermark: float = 0.9,
        eviction: Literal["inline", "manual"] = "inline",
        evict_by_expected_reads: bool = True,
        evict_by_mark_deleted: bool = False,
        grace_millis: int | None = None,
        storage_entry_size: int = 100,
        storage: Callable[[str, int, int], results.StoredEntry[V]] | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
        on_row: Callable[[Row], None] | None = None,
        requeue_budget: Literal["shared", "split"] = "shared",
    ) -> None:
        """Make an empty cache.

        `max_size_bytes` 0 disables caching for ever. `ttl_nanos` is the age at which a time pass removes an entry,
        `watermark` the share of the limit down to which a size pass frees. An entry that expects reads is put back at
        most `max_requeues` times; with `requeue_budget` "split" a requeue because of an access does not count.
        `eviction` says when a size pass that an insert makes due runs: within the insert, or in `run_scheduled`.

        `storage` returns entries that are not cached to `read` and `read_one`, by cache, ledger and entry; it must not
        call the cache. Without it every entry exists, has `storage_entry_size` bytes and the value None. If
        `evict_by_expected_reads` is False, there are no ranks of cursors and no grace period. `grace_millis` None is
        twice the time to live. Nothing here depends on `evict_by_mark_deleted`; the rows report it.

        Raises:
            TypeError: an argument has a wrong type; the message names it.
            ValueError: an argument has a wrong value; the message names it.
        """
        arguments.check_numbers(
            max_size_bytes=max_size_bytes,
            ttl_nanos=ttl_nanos,
            max_requeues=max_requeues,
            grace_millis=0 if grace_millis is None else grace_millis,
            storage_entry_size=storage_entry_size,
        )
        arguments.check_watermark(watermark)
        arguments.check_flags(
            extend_recently_accessed=extend_recently_accessed,
            evict_by_expected_reads=evict_by_expected_reads,
            evict_by_mark_deleted=evict_by_mark_deleted,
        )
        arguments.check_choice("eviction", eviction, "inline", "manual")
        arguments.check_choice("requeue_budget", requeue_budget, "shared", "split")
        arguments.check_functions(clock=clock)
        if storage is not None:
            arguments.check_functions(storage=storage)
        if on_row is not None:
            arguments.check_functions(on_row=on_row)
        self.max_size_bytes = max_size_bytes
        self.ttl_nanos = ttl_nanos
        self.max_requeues = max_requeues
        self.extend_recently_accessed = extend_recently_accessed
        self.watermark = watermark
        self.eviction = eviction
        self.evict_by_expected_reads = evict_by_expected_reads
        self.evict_by_mark_deleted = evict_by_mark_deleted
        self.grace_millis = 2 * ttl_nanos // NANOS_A_MILLI if grace_millis is None else grace_millis
        self.storage_entry_size = storage_entry_size
        self.trigger_bytes = 0
        """The bytes above which a size pass is due; the owner reads it, `configure` changes it."""
        self.target_bytes = 0
        """The bytes down to which that pass frees."""
        self.size_bytes = 0
        """Bytes of all entries; the owner reads it, only the cache writes it."""
        self.tombstones = 0
        """Dead slots that no pass has reached yet."""
        self._access_uses_budget = requeue_budget == "shared"
        self._clock = clock
        self._on_row = on_row
        self._storage = storage or self._stored
        self._caches: dict[str, store.RangeCache] = {}
        self._removed_caches: dict[str, store.RangeCache] = {}
        self._queue: deque[store.Entry] = deque()
        self._dead_objects = 0
        self._scheduled = False
        self._holds: dict[str, list[tuple[store.Entry | None, Any]]] = {}
        self._held_positions: dict[str, list[tuple[int, int]]] = {}
        self._reserved_holds: set[str] = set()
        self._counts = CounterState()
        self._insert_cause = "ADD"
        self._set_thresholds()

    def _set_thresholds(self) -> None:
        """Compute trigger and target from the effective settings."""
        self.trigger_bytes = int(self.max_size_bytes * TRIGGER)
        self.target_bytes = int(self.max_size_bytes * self.watermark)

    def _stored(self, cache: str, ledger: int, entry: int) -> results.StoredEntry[V]:
        """Return an entry of the default storage."""
        return results.StoredEntry(self.storage_entry_size, None)

    def _open(self, cache: str) -> store.RangeCache:
        """Return the cache of that name, which exists from now on."""
        if not isinstance(cache, str):
            raise TypeError(f"cache must be a str, got {cache!r}")
        opened = self._caches.get(cache)
        if opened is None:
            now_nanos = self._clock()
            opened = self._removed_caches.pop(cache, None) or store.RangeCache(cache, now_nanos)
            self._caches[cache] = opened
            if self._on_row is not None:
                self._on_row(rows.cache_row("CACHE_OPEN", now_nanos, self.size_bytes, cache))
        return opened

    def _is_known(self, cache: str) -> bool:
        """Return whether a call has named this cache before, be it removed since or not."""
        return cache in self._caches or cache in self._removed_caches

    def _find(self, cache: str, ledger: int, entry: int) -> store.Entry | None:
        """Return the entry at a position, if it is cached."""
        if not (isinstance(ledger, int) and isinstance(entry, int)):
            arguments.check_integers(ledger=ledger, entry=entry)
        home = self._open(cache).ledgers.get(ledger)
        return None if home is None else home.get(entry)

    def _live(self) -> int:
        """Return the number of entries."""
        return len(self._queue) - self._dead_objects


class CounterState:
    """The counters since the start; the inserted entries are those that left and those that are cached."""

    __slots__ = ("evicted_entries", "eviction_cycles", "hit_bytes", "hit_entries", "miss_bytes", "miss_entries")

    def __init__(self) -> None:
        self.evicted_entries = 0
        self.eviction_cycles = 0
        self.hit_entries = 0
        self.hit_bytes = 0
        self.miss_entries = 0
        self.miss_bytes = 0
