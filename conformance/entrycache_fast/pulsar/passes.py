"""Removal: the calls that remove entries, the two passes over the removal queue, and the limit.

`RemovalCalls` removes ranges, ledgers and whole caches. The slots of removed entries stay in the queue as dead slots
until a pass reaches them; one object stands for a run of dead slots once there are many. `Passes` runs time passes and
size passes from the head of the queue: an entry that was accessed or expects reads goes to the tail instead of leaving.
`ManagerCalls` keeps the limit: triggers, the periodic cycle, settings and counters. `PassTrace` reports the rows of one
pass, if somebody asked for rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from entrycache_fast.pulsar import arguments, rows, state
from entrycache_fast.pulsar.results import Counters, Removal, V
from entrycache_fast.pulsar.rows import PassSettings, Row
from entrycache_fast.pulsar.store import Entry

DEAD_SLACK: Final = 64
"""The dead slots beyond two for each cached entry that are not merged."""


class RemovalCalls(state.CacheState[V]):
    """Removal of ranges, ledgers and whole caches."""

    def remove_range(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], last_inclusive: bool = False
    ) -> Removal:
        """Remove the entries from `first` up to `last`, and `last` itself only if `last_inclusive`."""
        arguments.check_positions(first=first, last=last)
        arguments.check_flags(last_inclusive=last_inclusive)
        entries = self._open(cache).between(first, last)
        if entries and not last_inclusive and (entries[-1].ledger.number, entries[-1].number) == last:
            del entries[-1]
        return self._remove(entries, "RANGE")

    def clear(self, cache: str) -> Removal:
        """Remove every entry of a cache."""
        return self._remove(self._open(cache).everything(), "CLEAR")

    def invalidate_before(self, cache: str, position: tuple[int, int]) -> Removal:
        """Remove every entry of a cache below a position."""
        arguments.check_positions(position=position)
        return self._remove(self._open(cache).below(position), "CURSOR")

    def invalidate_ledger(self, cache: str, ledger: int) -> Removal:
        """Remove every entry of one ledger of a cache."""
        arguments.check_integers(ledger=ledger)
        home = self._open(cache).ledgers.get(ledger)
        return self._remove([] if home is None else home.between(None, None), "LEDGER")

    def remove_cache(self, cache: str) -> None:
        """Remove every entry of a cache, and the cache itself until it is named again.

        Its cursors, its grace period and its holds stay, so each name keeps a little memory.
        """
        removed = self._open(cache)
        self._remove(removed.everything(), "CLOSE")
        self._removed_caches[cache] = self._caches.pop(cache)
        if self._on_row is not None:
            self._on_row(rows.cache_row("CACHE_CLOSE", self._clock(), self.size_bytes, cache))

    def _remove(self, entries: list[Entry], cause: str) -> Removal:
        """Remove entries by a call; their slots stay in the queue as dead slots."""
        if not entries:
            return Removal(0, 0)
        before_bytes = self.size_bytes
        now_nanos = 0 if self._on_row is None else self._clock()
        for entry in entries:
            entry.ledger.remove(entry)
            entry.value = None
            entry.dead_slots = 1
            self.size_bytes -= entry.size_bytes
            if self._on_row is not None:
                self._on_row(rows.entry_row("REMOVE", cause, now_nanos, self.size_bytes, entry))
        entries[0].ledger.shrink(len(entries))
        entries[-1].ledger.shrink(len(entries))
        self._counts.evicted_entries += len(entries)
        self.tombstones += len(entries)
        self._dead_objects += len(entries)
        self._merge_dead_slots()
        return Removal(len(entries), before_bytes - self.size_bytes)

    def _merge_dead_slots(self) -> None:
        """Merge each run of dead slots into one object, once there are many.

        At most one object more than entries is left, so the next merge is due only after as many removals.
        """
        if self._dead_objects <= DEAD_SLACK + 2 * self._live():
            return
        merged: deque[Entry] = deque()
        for entry in self._queue:
            if entry.dead_slots and merged and merged[-1].dead_slots:
                merged[-1].dead_slots += entry.dead_slots
                self._dead_objects -= 1
            else:
                merged.append(entry)
        self._queue = merged


class PassTrace:
    """The reporter of the rows of one pass; it exists only if somebody asked for rows."""

    def __init__(
        self,
        cache: state.CacheState,
        emit: Callable[[Row], None],
        kind: Literal["TIME", "SIZE"],
        origin: str,
        now_nanos: int,
        bound: int,
    ) -> None:
        sized = kind == "SIZE"
        self._cache = cache
        self._emit = emit
        self._bound = bound
        self._sized = sized
        self._settings = PassSettings(
            kind,
            origin,
            now_nanos,
            cache.max_requeues,
            cache.extend_recently_accessed,
            cache.trigger_bytes if sized else None,
            cache.target_bytes if sized else None,
        )
        emit(rows.edge_row("PASS_BEGIN", self._settings, bound, cache.size_bytes, None))

    def _bytes_left(self, freed_bytes: int) -> int:
        """Return the effective bound: a cutoff stays, a need shrinks."""
        return self._bound - freed_bytes if self._sized else self._bound

    def dropped(self, slot: Entry, freed_bytes: int) -> None:
        """Report the dead slots of one object that were dropped."""
        row = rows.tombstone_row(self._settings, self._bytes_left(freed_bytes), self._cache.size_bytes)
        for _ in range(slot.dead_slots):
            self._emit(row)

    def put_back(self, cause: str, entry: Entry, uses: int, freed_bytes: int) -> None:
        """Report that an entry, shown as before, goes to the tail."""
        size_bytes = self._cache.size_bytes
        row = rows.taken_row("REQUEUE", cause, self._settings, self._bytes_left(freed_bytes), size_bytes, entry)
        self._emit(row._replace(requeues=entry.requeues + uses, new_stamp_ns=self._settings.now_nanos))

    def removed(self, entry: Entry, freed_bytes: int) -> None:
        """Report that an entry was removed; `freed_bytes` does not include it."""
        kind, size_bytes = self._settings.kind, self._cache.size_bytes
        self._emit(rows.taken_row("EVICT", kind, self._settings, self._bytes_left(freed_bytes), size_bytes, entry))

    def end(self, head_nanos: int | None, freed_bytes: int) -> None:
        """Report that the pass ended, at a live head with this stamp or because no slot was left."""
        size_bytes = self._cache.size_bytes
        self._emit(rows.edge_row("PASS_END", self._settings, self._bytes_left(freed_bytes), size_bytes, head_nanos))


class Passes(RemovalCalls[V]):
    """Time passes and size passes."""

    def expire(self, older_than_nanos: int | None = None) -> Removal:
        """Remove entries from the head of the queue that are older than an age; None is the time to live.

        An entry that was accessed or expects reads goes to the tail instead. The pass ends at the first entry that is
        not older.
        """
        age_nanos = self.ttl_nanos if older_than_nanos is None else older_than_nanos
        arguments.check_numbers(older_than_nanos=age_nanos)
        now_nanos = self._clock()
        return self._run_pass("TIME", "CALL", now_nanos, self._cutoff(now_nanos, age_nanos))

    def evict(self, size_bytes: int) -> Removal:
        """Remove entries from the head of the queue until so many bytes are freed or no entry is left.

        An entry that was accessed or expects reads goes to the tail instead, and may leave when its turn comes again.
        """
        arguments.check_integers(size_bytes=size_bytes)
        if size_bytes <= 0:
            raise ValueError(f"size_bytes must be above 0, got {size_bytes}")
        return self._run_pass("SIZE", "CALL", self._clock(), size_bytes)

    def _cutoff(self, now_nanos: int, age_nanos: int) -> int:
        """Return the stamp below which an entry is too old."""
        return now_nanos - age_nanos

    def _budget(self) -> int:
        """Return how often an entry may be put back because it expects reads."""
        return self.max_requeues

    def _extends(self, kind: str) -> bool:
        """Return whether this kind of pass puts an accessed entry back."""
        return self.extend_recently_accessed

    def _run_pass(
        self, kind: Literal["TIME", "SIZE"], origin: Literal["TRIGGER", "CYCLE", "CALL"], now_nanos: int, bound: int
    ) -> Removal:
        """Take slots from the head until one stays; `bound` is a cutoff, or the bytes to free."""
        timed = kind == "TIME"
        budget = self._budget()
        extends = self._extends(kind)
        access_uses = 1 if self._access_uses_budget else 0
        queue = self._queue
        trace = None if self._on_row is None else PassTrace(self, self._on_row, kind, origin, now_nanos, bound)
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
        self._counts.evicted_entries += removed
        self._merge_dead_slots()
        return Removal(removed, freed_bytes)

    def _put_back(self, entry: Entry, now_nanos: int, uses: int) -> None:
        """Put an entry that a pass has taken at the tail: stamped anew, not accessed, with less budget."""
        entry.stamp_nanos = now_nanos
        entry.accessed = False
        entry.requeues += uses
        self._queue.append(entry)

    def _drop_head(self) -> None:
        """Drop the dead slots at the head."""
        self._dead_objects -= 1
        self.tombstones -= self._queue.popleft().dead_slots


class ManagerCalls(Passes[V]):
    """The calls that the owner makes from time to time, and the size passes that inserts trigger."""

    def cycle(self) -> Removal:
        """Run a time pass, then a size pass if the bytes are still above the trigger; return what both removed."""
        now_nanos = self._clock()
        expired = self._run_pass("TIME", "CYCLE", now_nanos, self._cutoff(now_nanos, self.ttl_nanos))
        relieved = self._relieve("CYCLE")
        return Removal(expired.entries + relieved.entries, expired.size_bytes + relieved.size_bytes)

    def run_scheduled(self) -> Removal:
        """Run the size pass that an insert has scheduled, by the present sizes."""
        if not self._scheduled:
            return Removal(0, 0)
        self._scheduled = False
        return self._relieve("TRIGGER")

    def configure(
        self,
        *,
        max_size_bytes: int | None = None,
        watermark: float | None = None,
        ttl_nanos: int | None = None,
        max_requeues: int | None = None,
        extend_recently_accessed: bool | None = None,
    ) -> None:
        """Change settings; None leaves a setting as it is. Nothing is removed by that.

        This can neither disable nor enable caching: a limit of 0 is refused, and so is any limit of a cache that was
        made with 0.
        """
        numbers = {"max_size_bytes": max_size_bytes, "ttl_nanos": ttl_nanos, "max_requeues": max_requeues}
        arguments.check_numbers(**{name: number for name, number in numbers.items() if number is not None})
        if watermark is not None:
            arguments.check_watermark(watermark)
        if extend_recently_accessed is not None:
            arguments.check_flags(extend_recently_accessed=extend_recently_accessed)
        if max_size_bytes is not None:
            if max_size_bytes == 0 or self.max_size_bytes == 0:
                raise ValueError(f"max_size_bytes cannot change from {self.max_size_bytes} to {max_size_bytes}")
            self.max_size_bytes = max_size_bytes
        if watermark is not None:
            self.watermark = watermark
        if ttl_nanos is not None:
            self.ttl_nanos = ttl_nanos
        if max_requeues is not None:
            self.max_requeues = max_requeues
        if extend_recently_accessed is not None:
            self.extend_recently_accessed = extend_recently_accessed
        self._set_thresholds()
        if self._on_row is not None:
            self._on_row(rows.value_row("CONFIG", self._clock(), self.size_bytes, self._settings()))

    def metrics(self) -> Counters:
        """Return the counters since the start."""
        counts = self._counts
        counters = Counters(
            counts.evicted_entries + self._live(),
            counts.evicted_entries,
            counts.eviction_cycles,
            counts.hit_entries,
            counts.hit_bytes,
            counts.miss_entries,
            counts.miss_bytes,
            self.size_bytes,
        )
        if self._on_row is not None:
            value = dict(zip(METRICS, counters, strict=True))
            self._on_row(rows.value_row("METRICS", self._clock(), self.size_bytes, value))
        return counters

    def _settings(self) -> dict[str, object]:
        """Return the effective settings, as rows report them."""
        return {name: getattr(self, name) for name in SETTINGS}

    def _crossed(self) -> None:
        """Run or schedule a size pass, because an insert has left the bytes above the trigger."""
        if self.eviction == "inline":
            self._relieve("TRIGGER")
        else:
            self._scheduled = True

    def _relieve(self, origin: Literal["TRIGGER", "CYCLE"]) -> Removal:
        """Run a size pass down to the target, if the bytes are above the trigger and above the target."""
        over_bytes = self.size_bytes - self.target_bytes
        if self.size_bytes <= self.trigger_bytes or over_bytes <= 0:
            return Removal(0, 0)
        self._counts.eviction_cycles += 1
        return self._run_pass("SIZE", origin, self._clock(), over_bytes)


SETTINGS = (
    "max_size_bytes",
    "watermark",
    "ttl_nanos",
    "max_requeues",
    "extend_recently_accessed",
    "evict_by_expected_reads",
    "evict_by_mark_deleted",
    "grace_millis",
    "storage_entry_size",
    "eviction",
)
"""The settings that a CONFIG row reports."""

METRICS = (*Counters._fields[:-1], "bytes")
"""The names of the counters in a METRICS row."""
