"""One entry, a range of them, and a look at all."""

from __future__ import annotations

from entrycache_fast.pulsar import row as rows
from entrycache_fast.pulsar.manager import Managed
from entrycache_fast.pulsar.store import Entry
from entrycache_fast.pulsar.views import CacheView, Position, SlotView, Snapshot, Usage


class Entries(Managed):
    """Inserts, lookups and counts."""

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
        still to come; None, 0 or less: nobody counts them, for ever. Where the bytes of all caches are then
        above the trigger a size pass runs, or is scheduled; it may take this entry too.
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
            self._on_row(rows.insert_row(self._insert_cause, added.stamp_nanos, self.size_bytes, added))
        if self.size_bytes > self.trigger_bytes:
            self._crossed()
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

    def usage(self, cache: str | None = None) -> Usage:
        """Entries and bytes of one cache, or of all."""
        if cache is None:
            return Usage(self._live(), self.size_bytes)
        ledgers = self._open(cache).ledgers.values()
        return Usage(sum(len(ledger) for ledger in ledgers), sum(ledger.size_bytes for ledger in ledgers))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all caches, in the order in which they were opened."""
        return tuple(self._caches)

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
