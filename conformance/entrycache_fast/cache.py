"""The cache of one broker."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from entrycache_fast import row as rows
from entrycache_fast.pass_trace import PassTrace
from entrycache_fast.row import Row
from entrycache_fast.store import Entry, RangeCache
from entrycache_fast.views import CacheView, Position, Removed, SlotView, Snapshot, Usage

TRIGGER: Final = 0.98
"""The share of the limit above which a size pass is due."""

DEAD_SLACK: Final = 64
"""Dead slots are merged when there are more of them than this number plus two for each cached entry."""


class BrokerCache:
    """Entries of many managed ledgers under one limit of bytes, in one removal queue, oldest at its head.

    An entry is named by its cache (the name of a managed ledger), its ledger and its number there. Nothing
    leaves by itself: the owner calls `expire` from time to time, and `evict` when `size_bytes` has passed
    `trigger_bytes`:

        cache.insert("orders", ledger, entry, len(payload), value=payload)
        if cache.size_bytes > cache.trigger_bytes:
            cache.evict(cache.size_bytes - cache.target_bytes)

    Lookups, inserts and single removals take constant time, a range takes its entries and a binary search,
    and a pass takes the slots that it meets, however many caches there are. What `remove_range` and `clear`
    take out leaves a dead slot in the queue (`tombstones`) which counts until a pass reaches it; the memory
    of dead slots stays within that of two slots for each cached entry plus a constant, because neighbours
    are merged.

    The cache is not thread-safe; hold a lock around each call. `clock` must never go back. `on_row` gets
    one `Row` an event; it must neither raise nor call the cache. A wrong argument raises ValueError and
    changes nothing.
    """

    def __init__(
        self,
        *,
        max_size_bytes: int = 134_217_728,
        ttl_nanos: int = 1_000_000_000,
        max_requeues: int = 5,
        extend_recently_accessed: bool = True,
        watermark: float = 0.9,
        clock: Callable[[], int] = time.monotonic_ns,
        on_row: Callable[[Row], None] | None = None,
        requeue_budget: Literal["shared", "split"] = "shared",
    ) -> None:
        """Make an empty cache.

        `max_size_bytes` 0 disables caching. `ttl_nanos` is the age at which `expire` takes an entry,
        `watermark` the share of the limit down to which a size pass should free. An entry that expects
        reads is put back `max_requeues` times at most; with `requeue_budget` "split" those times do not
        count which were owed to an access.
        """
        if max_size_bytes < 0 or ttl_nanos < 0 or max_requeues < 0:
            raise ValueError("max_size_bytes, ttl_nanos and max_requeues must be 0 or more")
        if not 0 <= watermark <= 1:
            raise ValueError(f"watermark must lie between 0 and 1, got {watermark}")
        if requeue_budget not in ("shared", "split"):
            raise ValueError(f'requeue_budget must be "shared" or "split", got {requeue_budget!r}')
        self.max_size_bytes = max_size_bytes
        self.ttl_nanos = ttl_nanos
        self.max_requeues = max_requeues
        self.extend_recently_accessed = extend_recently_accessed
        self.watermark = watermark
        self.size_bytes = 0
        """Bytes of all entries; the owner reads it, only the cache writes it."""
        self.tombstones = 0
        """Dead slots that no pass has reached yet."""
        self._access_uses_budget = requeue_budget == "shared"
        self._clock = clock
        self._on_row = on_row
        self._caches: dict[str, RangeCache] = {}
        self._queue: deque[Entry] = deque()
        self._dead_objects = 0

    # --- settings ---------------------------------------------------------------------------------

    @property
    def trigger_bytes(self) -> int:
        """The bytes above which a size pass is due."""
        return int(self.max_size_bytes * TRIGGER)

    @property
    def target_bytes(self) -> int:
        """The bytes down to which a size pass should free."""
        return int(self.max_size_bytes * self.watermark)

    # --- one entry --------------------------------------------------------------------------------

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: object = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Add one entry at the tail of the queue; whether it was added.

        A position that is cached keeps its first entry. `expected_reads` says how many deliveries are
        still to come; None, 0 or less: nobody counts them, for ever.
        """
        if size_bytes < 0:
            raise ValueError(f"size_bytes must be 0 or more, got {size_bytes}")
        if self.max_size_bytes == 0:
            return self._skip(cache, ledger, entry, size_bytes)
        try:
            home = self._caches[cache].ledgers[ledger]
        except KeyError:
            home = self._open(cache).ledger(ledger)
        if entry in home:
            return self._reject(home[entry], size_bytes)
        if expected_reads is not None and expected_reads <= 0:
            expected_reads = None
        added = Entry()
        added.ledger = home
        added.number = entry
        added.size_bytes = size_bytes
        added.stamp_nanos = self._clock()
        added.expected_reads = expected_reads
        added.value = value
        added.requeues = 0
        added.accessed = False
        added.dead_slots = 0
        added.ordered = False
        home[entry] = added
        self._queue.append(added)
        home.size_bytes += size_bytes
        self.size_bytes += size_bytes
        if self._on_row is not None:
            self._on_row(rows.insert_row(added.stamp_nanos, self.size_bytes, added))
        return True

    def get(self, cache: str, ledger: int, entry: int, default: object = None) -> object:
        """The value of one entry, which is marked accessed; `default` where it is not cached."""
        try:
            found = self._caches[cache].ledgers[ledger].get(entry)
        except KeyError:
            found = None
        if found is None:
            if self._on_row is not None or cache not in self._caches:
                self._miss(cache, ledger, entry)
            return default
        if self._on_row is not None:
            self._on_row(rows.entry_row("HIT", "GET", self._clock(), self.size_bytes, found))
        found.accessed = True
        return found.value

    def exists(self, cache: str, ledger: int, entry: int) -> bool:
        """Whether a position is cached; marks nothing."""
        return self._find(cache, ledger, entry) is not None

    def mark_read(self, cache: str, ledger: int, entry: int) -> int | None:
        """A delivery of the entry is done; the count after it, None where there is no count."""
        return self._count(self._find(cache, ledger, entry), -1)

    def expect_read(self, cache: str, ledger: int, entry: int) -> int | None:
        """The entry will be delivered once more; the count after it, None where there is no count."""
        return self._count(self._find(cache, ledger, entry), 1)

    # --- ranges and caches ------------------------------------------------------------------------

    def get_range(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> list[tuple[Position, object]]:
        """Position and value of the entries from `first` to `last`, both included, ascending; marks them."""
        found = self._open(cache).between(first, last)
        emit = self._on_row
        if emit is not None:
            now_nanos = self._clock()
            for entry in found:
                emit(rows.entry_row("HIT", "GET", now_nanos, self.size_bytes, entry))
        for entry in found:
            entry.accessed = True
        return [(Position(entry.ledger.number, entry.number), entry.value) for entry in found]

    def remove_range(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], last_inclusive: bool = False
    ) -> Removed:
        """Remove the entries from `first` up to `last`, that one included only if `last_inclusive`."""
        found = self._open(cache).between(first, last)
        if found and not last_inclusive and (found[-1].ledger.number, found[-1].number) == last:
            del found[-1]
        return self._remove(found, "RANGE")

    def clear(self, cache: str) -> Removed:
        """Remove every entry of a cache."""
        return self._remove(self._open(cache).everything(), "CLEAR")

    def usage(self, cache: str | None = None) -> Usage:
        """Entries and bytes of one cache, or of all."""
        if cache is None:
            return Usage(len(self._queue) - self._dead_objects, self.size_bytes)
        ledgers = self._open(cache).ledgers.values()
        return Usage(sum(len(ledger) for ledger in ledgers), sum(ledger.size_bytes for ledger in ledgers))

    def observe(self) -> Snapshot:
        """The whole state; marks and counts nothing. Takes time for every entry."""
        now_nanos = self._clock()
        caches: dict[str, CacheView] = {}
        for name in sorted(self._caches):
            entries = self._caches[name].everything()
            if entries:
                positions = tuple(Position(entry.ledger.number, entry.number) for entry in entries)
                caches[name] = CacheView(self.usage(name).size_bytes, positions)
        live = tuple(
            SlotView(
                entry.ledger.cache.name,
                Position(entry.ledger.number, entry.number),
                entry.size_bytes,
                now_nanos - entry.stamp_nanos,
                entry.requeues,
                entry.accessed,
                entry.expected_reads,
            )
            for entry in self._queue
            if not entry.dead_slots
        )
        return Snapshot(now_nanos, self.size_bytes, caches, live, self.tombstones)

    # --- passes -----------------------------------------------------------------------------------

    def expire(self, older_than_nanos: int | None = None) -> Removed:
        """Take entries from the head of the queue that are older than that, None: than the time to live.

        Those that were accessed or expect reads go to the tail instead; the pass ends at the first entry
        that is not older.
        """
        if older_than_nanos is not None and older_than_nanos < 0:
            raise ValueError(f"older_than_nanos must be 0 or more, got {older_than_nanos}")
        now_nanos = self._clock()
        age_nanos = self.ttl_nanos if older_than_nanos is None else older_than_nanos
        return self._run_pass("TIME", now_nanos, self._cutoff(now_nanos, age_nanos))

    def evict(self, size_bytes: int) -> Removed:
        """Take entries from the head of the queue until so many bytes are freed or none is left.

        Those that were accessed or expect reads go to the tail instead, and are taken when their turn
        comes again.
        """
        if size_bytes <= 0:
            raise ValueError(f"size_bytes must be above 0, got {size_bytes}")
        return self._run_pass("SIZE", self._clock(), size_bytes)

    def _cutoff(self, now_nanos: int, age_nanos: int) -> int:
        """The stamp below which an entry is too old."""
        return now_nanos - age_nanos

    def _budget(self) -> int:
        """How often an entry may be put back because it expects reads."""
        return self.max_requeues

    def _extends(self, kind: str) -> bool:
        """Whether this kind of pass puts an accessed entry back."""
        return self.extend_recently_accessed

    def _run_pass(self, kind: Literal["TIME", "SIZE"], now_nanos: int, bound: int) -> Removed:
        """Take slots from the head until one stays; `bound`: a cutoff, or the bytes to free."""
        timed = kind == "TIME"
        budget = self._budget()
        extends = self._extends(kind)
        access_uses = 1 if self._access_uses_budget else 0
        queue = self._queue
        trace = None if self._on_row is None else PassTrace(self, self._on_row, kind, now_nanos, bound)
        removed = 0
        freed_bytes = 0
        head_nanos: int | None = None
        while queue:
            entry = queue[0]
            if entry.dead_slots:
                self._drop_head()
                if trace is not None:
                    trace.dropped(entry, freed_bytes)
                continue
            if entry.stamp_nanos >= bound if timed else freed_bytes >= bound:
                head_nanos = entry.stamp_nanos
                break
            queue.popleft()
            expected_reads = entry.expected_reads
            if entry.accessed and extends:
                if trace is not None:
                    trace.put_back("ACCESSED", entry, access_uses, freed_bytes)
                self._put_back(entry, now_nanos, access_uses)
            elif expected_reads is not None and expected_reads >= 1 and entry.requeues < budget:
                if trace is not None:
                    trace.put_back("EXPECTED_READS", entry, 1, freed_bytes)
                self._put_back(entry, now_nanos, 1)
            else:
                home = entry.ledger
                del home[entry.number]
                home.size_bytes -= entry.size_bytes
                if not home:
                    home.cache.drop(home)
                self.size_bytes -= entry.size_bytes
                if trace is not None:
                    trace.removed(entry, freed_bytes)
                removed += 1
                freed_bytes += entry.size_bytes
        if trace is not None:
            trace.end(head_nanos, freed_bytes)
        self._merge_dead_slots()
        return Removed(removed, freed_bytes)

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        """Put an entry that a pass has taken at the tail, as good as new but for its budget."""
        entry.stamp_nanos = now_nanos
        entry.accessed = False
        entry.requeues += uses
        self._queue.append(entry)

    def _drop_head(self) -> None:
        """Drop the dead slots at the head."""
        self._dead_objects -= 1
        self.tombstones -= self._queue.popleft().dead_slots

    # --- the parts of calls -----------------------------------------------------------------------

    def _open(self, cache: str) -> RangeCache:
        """The cache of that name; it exists from now on."""
        found = self._caches.get(cache)
        if found is None:
            found = self._caches[cache] = RangeCache(cache)
            if self._on_row is not None:
                self._on_row(rows.open_row(cache, self._clock(), self.size_bytes))
        return found

    def _find(self, cache: str, ledger: int, entry: int) -> Entry | None:
        """The entry at a position, if it is cached."""
        home = self._open(cache).ledgers.get(ledger)
        return None if home is None else home.get(entry)

    def _skip(self, cache: str, ledger: int, entry: int, size_bytes: int) -> bool:
        """An offer that is not taken because caching is disabled."""
        self._open(cache)
        if self._on_row is not None:
            self._on_row(
                rows.absent_row("SKIP", "DISABLED", self._clock(), self.size_bytes, cache, ledger, entry, size_bytes)
            )
        return False

    def _reject(self, cached: Entry, size_bytes: int) -> bool:
        """An offer that is not taken because its position is cached."""
        if self._on_row is not None:
            home = cached.ledger
            self._on_row(
                rows.absent_row(
                    "REJECT",
                    "DUPLICATE",
                    self._clock(),
                    self.size_bytes,
                    home.cache.name,
                    home.number,
                    cached.number,
                    size_bytes,
                )
            )
        return False

    def _miss(self, cache: str, ledger: int, entry: int) -> None:
        """A lookup that found nothing."""
        self._open(cache)
        if self._on_row is not None:
            self._on_row(rows.absent_row("MISS", "GET", self._clock(), self.size_bytes, cache, ledger, entry))

    def _count(self, entry: Entry | None, change: int) -> int | None:
        """Change the count of expected reads, where there is one."""
        if entry is None or entry.expected_reads is None:
            return None
        entry.expected_reads += change
        if self._on_row is not None:
            op, cause = ("READ_DONE", "DELIVERED") if change < 0 else ("EXPECT", None)
            self._on_row(rows.entry_row(op, cause, self._clock(), self.size_bytes, entry))
        return entry.expected_reads

    def _remove(self, found: list[Entry], cause: str) -> Removed:
        """Remove entries by a call; their slots stay in the queue, dead."""
        if not found:
            return Removed(0, 0)
        before_bytes = self.size_bytes
        now_nanos = 0 if self._on_row is None else self._clock()
        for entry in found:
            entry.ledger.remove(entry)
            entry.value = None
            entry.dead_slots = 1
            self.size_bytes -= entry.size_bytes
            if self._on_row is not None:
                self._on_row(rows.entry_row("REMOVE", cause, now_nanos, self.size_bytes, entry))
        found[0].ledger.shrink(len(found))
        found[-1].ledger.shrink(len(found))
        self.tombstones += len(found)
        self._dead_objects += len(found)
        self._merge_dead_slots()
        return Removed(len(found), before_bytes - self.size_bytes)

    def _merge_dead_slots(self) -> None:
        """Let one object stand for each run of dead slots, once there are many.

        It leaves one object more than entries at most, so it is due again only after as many removals.
        """
        if self._dead_objects <= DEAD_SLACK + 2 * (len(self._queue) - self._dead_objects):
            return
        merged: deque[Entry] = deque()
        for entry in self._queue:
            if entry.dead_slots and merged and merged[-1].dead_slots:
                merged[-1].dead_slots += entry.dead_slots
                self._dead_objects -= 1
            else:
                merged.append(entry)
        self._queue = merged

    def _check(self) -> None:
        """Assert every invariant of the state; for tests."""
        live = [entry for entry in self._queue if not entry.dead_slots]
        cached = [
            entry for cache in self._caches.values() for ledger in cache.ledgers.values() for entry in ledger.values()
        ]
        assert len(live) == len(cached), (len(live), len(cached))
        assert {id(entry) for entry in live} == {id(entry) for entry in cached}
        assert self._dead_objects == len(self._queue) - len(live)
        assert self._dead_objects <= DEAD_SLACK + 2 * len(live)
        assert self.tombstones == sum(entry.dead_slots for entry in self._queue)
        assert self.size_bytes == sum(entry.size_bytes for entry in live)
        stamps = [entry.stamp_nanos for entry in live]
        assert stamps == sorted(stamps), stamps
        assert not stamps or stamps[-1] <= self._clock()
        for name, cache in self._caches.items():
            assert cache.name == name
            cache.check()
