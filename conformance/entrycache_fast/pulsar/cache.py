"""The calls of a broker cache, put together as `BrokerCache`.

`EntryCalls` has inserts, lookups and counts. `StorageReads` reads through the cache: it fills what is missing from
storage, and keeps the result of a read with a hold until its release. `CursorCalls` keeps the cursors of each cache and
says whether an entry should be cached. `check_state` asserts every invariant, for tests.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

from entrycache_fast.pulsar import arguments, passes, results, rows, state, store
from entrycache_fast.pulsar.passes import ManagerCalls
from entrycache_fast.pulsar.results import D, V


class EntryCalls(ManagerCalls[V]):
    """The calls for entries: inserts, lookups and counts."""

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: V | None = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Add one entry at the tail of the queue, and return whether it was added.

        A cached position keeps its first entry. `expected_reads` is the number of deliveries that are still to come;
        with None, 0 or less the entry has no count. If the bytes of all caches are above the trigger afterwards, a size
        pass runs or is scheduled; it may remove this entry too.
        """
        if not type(ledger) is type(entry) is type(size_bytes) is int or size_bytes < 0:
            arguments.check_offer(ledger, entry, size_bytes)
        if expected_reads is not None and type(expected_reads) is not int:
            arguments.check_integers(expected_reads=expected_reads)
        if self.max_size_bytes == 0:
            return self._skip(cache, ledger, entry, size_bytes)
        try:
            home = self._caches[cache].ledgers[ledger]
        except (KeyError, TypeError):
            home = self._open(cache).ledger(ledger)
        if entry in home:
            return self._reject(home[entry], size_bytes)
        if expected_reads is not None and expected_reads <= 0:
            expected_reads = None
        added = store.Entry()
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

    @overload
    def get(self, cache: str, ledger: int, entry: int, default: None = None) -> V | None: ...

    @overload
    def get(self, cache: str, ledger: int, entry: int, default: D) -> V | D | None: ...

    def get(self, cache: str, ledger: int, entry: int, default: D | None = None) -> V | D | None:
        """Return the value of one entry and mark it accessed; return `default` if it is not cached.

        The value of an entry that was inserted without one is None.
        """
        try:
            cached = self._caches[cache].ledgers[ledger].get(entry)
        except (KeyError, TypeError):
            cached = None
        if cached is None:
            if not type(ledger) is type(entry) is int or self._on_row is not None or cache not in self._caches:
                self._miss(cache, ledger, entry)
            return default
        if self._on_row is not None:
            self._on_row(rows.entry_row("HIT", "GET", self._clock(), self.size_bytes, cached))
        cached.accessed = True
        value: V | None = cached.value
        return value

    def exists(self, cache: str, ledger: int, entry: int) -> bool:
        """Return whether a position is cached; nothing is marked."""
        return self._find(cache, ledger, entry) is not None

    def mark_read(self, cache: str, ledger: int, entry: int) -> int | None:
        """Lower the count of an entry by a delivery; return the new count, or None if there is no count."""
        return self._count(self._find(cache, ledger, entry), -1)

    def expect_read(self, cache: str, ledger: int, entry: int) -> int | None:
        """Raise the count of an entry by one delivery; return the new count, or None if there is no count."""
        return self._count(self._find(cache, ledger, entry), 1)

    def get_range(
        self, cache: str, first: tuple[int, int], last: tuple[int, int]
    ) -> list[tuple[results.Position, V | None]]:
        """Return the entries from `first` to `last`, both included, ascending, with values; mark them accessed."""
        if not (arguments.is_position(first) and arguments.is_position(last)):
            arguments.check_positions(first=first, last=last)
        entries = self._open(cache).between(first, last)
        emit = self._on_row
        if emit is not None:
            now_nanos = self._clock()
            for entry in entries:
                emit(rows.entry_row("HIT", "GET", now_nanos, self.size_bytes, entry))
        for entry in entries:
            entry.accessed = True
        return [(results.Position(entry.ledger.number, entry.number), entry.value) for entry in entries]

    def usage(self, cache: str | None = None) -> results.Usage:
        """Return the entries and bytes of one cache, or of all."""
        if cache is None:
            return results.Usage(self._live(), self.size_bytes)
        ledgers = self._open(cache).ledgers.values()
        return results.Usage(sum(len(ledger) for ledger in ledgers), sum(ledger.size_bytes for ledger in ledgers))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all caches, in the order in which they were opened."""
        return tuple(self._caches)

    def observe(self) -> results.Snapshot:
        """Return the whole state, without marks or counts; this takes time for every entry."""
        now_nanos = self._clock()
        caches: dict[str, results.CacheView] = {}
        for name in sorted(self._caches):
            entries = self._caches[name].everything()
            if entries:
                positions = tuple(results.Position(entry.ledger.number, entry.number) for entry in entries)
                caches[name] = results.CacheView(self.usage(name).size_bytes, positions)
        live = tuple(
            results.SlotView(
                entry.ledger.cache.name,
                results.Position(entry.ledger.number, entry.number),
                entry.size_bytes,
                now_nanos - entry.stamp_nanos,
                entry.requeues,
                entry.accessed,
                entry.expected_reads,
            )
            for entry in self._queue
            if not entry.dead_slots
        )
        return results.Snapshot(now_nanos, self.size_bytes, caches, live, self.tombstones)

    def _skip(self, cache: str, ledger: int, entry: int, size_bytes: int) -> bool:
        """Report an offer that is not taken because caching is disabled."""
        self._open(cache)
        if self._on_row is not None:
            self._on_row(
                rows.absent_row("SKIP", "DISABLED", self._clock(), self.size_bytes, cache, ledger, entry, size_bytes)
            )
        return False

    def _reject(self, cached: store.Entry, size_bytes: int) -> bool:
        """Report an offer that is not taken because its position is cached."""
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
        """Check the arguments of a lookup that misses, and report it."""
        self._find(cache, ledger, entry)
        if self._on_row is not None:
            self._on_row(rows.absent_row("MISS", "GET", self._clock(), self.size_bytes, cache, ledger, entry))

    def _count(self, entry: store.Entry | None, change: int) -> int | None:
        """Change the count of expected reads, if there is one."""
        if entry is None or entry.expected_reads is None:
            return None
        entry.expected_reads += change
        if self._on_row is not None:
            op, cause = ("READ_DONE", "DELIVERED") if change < 0 else ("EXPECT", None)
            self._on_row(rows.entry_row(op, cause, self._clock(), self.size_bytes, entry))
        return entry.expected_reads


HeldEntries = list[tuple[store.Entry | None, Any]]
"""The entries that a read handed over, ascending, each None if it was not cached when the read ended; and values."""


class Lookup(NamedTuple):
    """The entries of one ledger that a read asks for, in order, and those that were cached when the read began."""

    cache: str
    ledger: int
    numbers: Sequence[int]
    entries: list[store.Entry | None]

    @property
    def missing(self) -> list[int]:
        """The numbers that have to come from storage."""
        return [number for number, entry in zip(self.numbers, self.entries, strict=True) if entry is None]


class StorageReads(EntryCalls[V]):
    """The calls that read entries through the cache, from storage if they are not cached.

    A read with a `hold` keeps its result under that name until `release`; a read without one releases it at its end.
    A release lowers the count of each entry that was read by 1, unless the entry has left. A hold does not protect its
    entries from removal.
    """

    def read(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], expected_reads: int, hold: str | None = None
    ) -> results.ReadResult[V]:
        """Read a range of one ledger, both ends included.

        Entries from storage are inserted with the count `expected_reads`, one by one, unless that is 0 or less.
        """
        if not (arguments.is_position(first) and arguments.is_position(last)):
            arguments.check_positions(first=first, last=last)
        arguments.check_integers(expected_reads=expected_reads)
        ledger, number = first
        if ledger != last[0] or first > last:
            raise ValueError(f"a read is of one ledger and in order, got {first} to {last}")
        self._check_free(hold)
        lookup = self._look_up(cache, ledger, range(number, last[1] + 1))
        stored = self._serve(lookup)
        return self._finish(lookup, self._fill(lookup, stored, expected_reads), hold)

    def read_one(self, cache: str, ledger: int, entry: int, hold: str | None = None) -> results.ReadResult[V]:
        """Read one position; an entry from storage is not inserted."""
        arguments.check_integers(ledger=ledger, entry=entry)
        self._check_free(hold)
        lookup = self._look_up(cache, ledger, (entry,))
        stored = self._serve(lookup)
        return self._finish(lookup, self._fill(lookup, stored, None), hold)

    def release(self, hold: str) -> int:
        """Release the result of a read, and return the number of its positions."""
        arguments.check_names(hold=hold)
        kept = self._holds.pop(hold, None)
        if kept is None:
            raise ValueError(f"hold {hold!r} is not open")
        del self._held_positions[hold]
        self._deliver(kept)
        return len(kept)

    def release_one(self, hold: str, ledger: int, entry: int, expects_read: bool = False) -> None:
        """Release one position of a hold; if `expects_read`, raise the count of its entry first.

        A dispatcher that puts an entry back, to deliver it later, does that. A hold ends with its last position.
        """
        arguments.check_names(hold=hold)
        arguments.check_integers(ledger=ledger, entry=entry)
        arguments.check_flags(expects_read=expects_read)
        held = self._held_positions.get(hold, [])
        if (ledger, entry) not in held:
            raise ValueError(f"hold {hold!r} is not open, or {(ledger, entry)} is not in it")
        at = held.index((ledger, entry))
        kept = [self._holds[hold].pop(at)]
        del held[at]
        if not held:
            del self._holds[hold], self._held_positions[hold]
        if expects_read:
            self._deliver(kept, 1)
        self._deliver(kept)

    @property
    def holds(self) -> tuple[str, ...]:
        """The names of the open holds."""
        return tuple(self._holds)

    def _check_free(self, hold: str | None) -> None:
        """Refuse the name of an open hold, or of an open read of a managed ledger."""
        if hold is None:
            return
        arguments.check_names(hold=hold)
        if hold in self._holds or hold in self._reserved_holds:
            raise ValueError(f"hold {hold!r} is open")

    def _look_up(self, cache: str, ledger: int, numbers: Sequence[int]) -> Lookup:
        """Look up these numbers."""
        home = self._open(cache).ledgers.get(ledger)
        entries = [None if home is None else home.get(number) for number in numbers]
        return Lookup(cache, ledger, numbers, entries)

    def _serve(self, lookup: Lookup) -> list[results.StoredEntry[V]]:
        """Read missing entries from storage, then mark and count the cached ones, so that an error changes nothing."""
        stored = [self._storage(lookup.cache, lookup.ledger, number) for number in lookup.missing]
        for item in stored:
            if not (isinstance(item, results.StoredEntry) and isinstance(item.size_bytes, int)):
                raise TypeError(f"storage must return a StoredEntry whose size is an int, got {item!r}")
            if item.size_bytes < 0:
                raise ValueError(f"storage gave an entry of {lookup.cache} a size below 0; expected 0 or more bytes")
        if self._on_row is not None:
            self._report_lookups(lookup)
        counts = self._counts
        for entry in lookup.entries:
            if entry is not None:
                entry.accessed = True
                counts.hit_entries += 1
                counts.hit_bytes += entry.size_bytes
        counts.miss_entries += len(stored)
        counts.miss_bytes += sum(item.size_bytes for item in stored)
        return stored

    def _report_lookups(self, lookup: Lookup) -> None:
        """Report a row for each number."""
        assert self._on_row is not None
        now_nanos, all_bytes = self._clock(), self.size_bytes
        for number, entry in zip(lookup.numbers, lookup.entries, strict=True):
            if entry is None:
                self._on_row(rows.absent_row("MISS", "READ", now_nanos, all_bytes, lookup.cache, lookup.ledger, number))
            else:
                self._on_row(rows.entry_row("HIT", "READ", now_nanos, all_bytes, entry))

    def _fill(self, lookup: Lookup, stored: list[results.StoredEntry[V]], expected_reads: int | None) -> HeldEntries:
        """Insert the entries from storage, unless nobody will read them; `expected_reads` None means never."""
        if expected_reads is None or (expected_reads <= 0 and self.max_size_bytes > 0):
            self._report_skipped(lookup, stored)
            return [(None, item.value) for item in stored]
        filled: HeldEntries = []
        self._insert_cause = "FILL"
        try:
            for number, (size_bytes, value) in zip(lookup.missing, stored, strict=True):
                self.insert(lookup.cache, lookup.ledger, number, size_bytes, value, expected_reads)
                filled.append((self._find(lookup.cache, lookup.ledger, number), value))
        finally:
            self._insert_cause = "ADD"
        return filled

    def _report_skipped(self, lookup: Lookup, stored: list[results.StoredEntry[V]]) -> None:
        """Report a row for each entry from storage that is not inserted."""
        if self._on_row is not None:
            now_nanos, all_bytes = self._clock(), self.size_bytes
            cache, ledger = lookup.cache, lookup.ledger
            for number, (size_bytes, _) in zip(lookup.missing, stored, strict=True):
                row = rows.absent_row("SKIP", "NOT_WANTED", now_nanos, all_bytes, cache, ledger, number, size_bytes)
                self._on_row(row)

    def _finish(self, lookup: Lookup, filled: HeldEntries, hold: str | None) -> results.ReadResult[V]:
        """Hold the result of a read, or release it at once."""
        fills = iter(filled)
        kept: HeldEntries = [next(fills) if entry is None else (entry, entry.value) for entry in lookup.entries]
        if hold is None:
            self._deliver(kept)
        else:
            self._holds[hold] = kept
            self._held_positions[hold] = [(lookup.ledger, number) for number in lookup.numbers]
        hits = [entry for entry in lookup.entries if entry is not None]
        return results.ReadResult(
            tuple(results.Position(lookup.ledger, entry.number) for entry in hits),
            tuple(results.Position(lookup.ledger, number) for number in lookup.missing),
            [entry.value for entry in hits] + [value for _, value in filled],
        )

    def _deliver(self, kept: HeldEntries, change: int = -1) -> None:
        """Change the count of each entry that is still the one cached at its position; a delivery lowers it."""
        for entry, _ in kept:
            if entry is not None and entry.ledger.get(entry.number) is entry:
                self._count(entry, change)


class CursorCalls(state.CacheState[V]):
    """The calls for the active cursors of each cache, and the question whether an entry should be cached."""

    def cursor_add(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Make a cursor a member, tracked at `position` unless that is None; a member changes its position."""
        self._check_cursor(cursor, position)
        self._cursors(self._open(cache)).add(cursor, position)
        self._tell_cursor("CURSOR_ADD", cache, cursor, position)

    def cursor_move(self, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Move a member to `position`, or untrack it if that is None; an unknown cursor is ignored.

        Without `evict_by_expected_reads` a member that is not tracked is ignored too.
        """
        self._check_cursor(cursor, position)
        cursors = self._open(cache).cursors
        if cursors is not None and cursors.move(cursor, position) and self._on_row is not None:
            self._tell_cursor("CURSOR_MOVE", cache, cursor, position)

    def cursor_remove(self, cache: str, cursor: str) -> bool:
        """Remove a member, and return whether it was one; the grace period starts again."""
        self._check_cursor(cursor, None)
        home = self._open(cache)
        if not self._cursors(home).remove(cursor):
            return False
        home.grace_start_nanos = self._clock()
        self._tell_cursor("CURSOR_REMOVE", cache, cursor, None)
        return True

    def cursor_rank(self, cache: str, cursor: str) -> int:
        """Count the tracked cursors at or before this one, itself included; 0 if it is not tracked."""
        self._check_cursor(cursor, None)
        if not self.evict_by_expected_reads:
            raise ValueError("there are no ranks without evict_by_expected_reads")
        return self._cursors(self._open(cache)).rank(cursor)

    def slowest(self, cache: str) -> results.Position | None:
        """Return the lowest position of a tracked cursor."""
        return self._cursors(self._open(cache)).slowest()

    def cursors(self, cache: str) -> int:
        """Return the number of members, tracked or not."""
        return len(self._cursors(self._open(cache)))

    def should_cache(self, cache: str) -> bool:
        """Return whether an entry that is added now should be cached.

        It should while there is a member, and during the grace period after the last one has left or the cache was
        named for the first time. The clock counts in whole milliseconds.
        """
        home = self._open(cache)
        if home.cursors is not None and len(home.cursors):
            return True
        if not self.evict_by_expected_reads:
            return False
        passed_millis = self._clock() // state.NANOS_A_MILLI - home.grace_start_nanos // state.NANOS_A_MILLI
        return passed_millis < self.grace_millis

    def _check_cursor(self, cursor: str, position: tuple[int, int] | None) -> None:
        """Refuse a cursor whose name is no string, and what is no position."""
        if not isinstance(cursor, str):
            raise TypeError(f"cursor must be a str, got {cursor!r}")
        if not (position is None or arguments.is_position(position)):
            arguments.check_positions(position=position)

    def _cursors(self, home: store.RangeCache) -> store.Cursors:
        """Return the cursors of a cache, and make them for the first call."""
        if home.cursors is None:
            home.cursors = store.Cursors(moves_untracked=self.evict_by_expected_reads)
        return home.cursors

    def _tell_cursor(self, op: str, cache: str, cursor: str, position: tuple[int, int] | None) -> None:
        """Report a row about a cursor."""
        if self._on_row is not None:
            self._on_row(rows.cursor_row(op, self._clock(), self.size_bytes, cache, cursor, position))


def check_state(cache: state.CacheState[Any]) -> None:
    """Assert that the queue, the caches, the sums and the orders agree."""
    queue = cache._queue
    live = [entry for entry in queue if not entry.dead_slots]
    cached = [entry for home in cache._caches.values() for ledger in home.ledgers.values() for entry in ledger.values()]
    assert len(live) == len(cached) == cache._live(), (len(live), len(cached))
    assert {id(entry) for entry in live} == {id(entry) for entry in cached}
    assert cache._dead_objects == len(queue) - len(live)
    assert cache._dead_objects <= passes.DEAD_SLACK + 2 * len(live)
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


class BrokerCache(StorageReads[V], CursorCalls[V]):
    """Entries of many managed ledgers under one limit of bytes, in one removal queue, oldest at its head.

    An entry is named by its cache (the name of a managed ledger), its ledger and its number there. An insert that
    leaves more than `trigger_bytes` runs a size pass down to `target_bytes`, or schedules one if `eviction` is
    "manual".
    Nothing else leaves by itself. The owner calls `cycle` from time to time, which removes entries that are older than
    the time to live:

        cache.insert("orders", ledger, entry, len(payload), value=payload)
        ...
        cache.cycle()

    Lookups, inserts and single removals take constant time, a range takes its entries and a binary search, and a pass
    takes the slots that it meets, however many caches there are. A removal by a call leaves a dead slot in the queue
    (`tombstones`), which counts until a pass reaches it. Dead slots take at most the memory of two slots for each
    cached entry plus a constant, because neighbours are merged.

    The cache is not thread-safe; hold a lock around each call. `clock` must never go back. `on_row` gets one `Row` for
    each event; it must neither raise nor call the cache. An argument of a wrong type raises TypeError, a wrong value
    ValueError; neither changes anything.

    `BrokerCache[bytes]` is a cache whose values are bytes, to a type checker; a bare `BrokerCache` takes any value.
    """

    def _check(self) -> None:
        """Assert every invariant of the state; for tests."""
        check_state(self)
