"""The two passes over the removal queue."""

from __future__ import annotations

from typing import Literal

from entrycache_fast.pulsar.pass_trace import PassTrace
from entrycache_fast.pulsar.removal import Removals
from entrycache_fast.pulsar.store import Entry
from entrycache_fast.pulsar.views import Removed


class Passes(Removals):
    """Time passes and size passes."""

    def expire(self, older_than_nanos: int | None = None) -> Removed:
        """Take entries from the head of the queue that are older than that, None: than the time to live.

        Those that were accessed or expect reads go to the tail instead; the pass ends at the first entry
        that is not older.
        """
        if older_than_nanos is not None and older_than_nanos < 0:
            raise ValueError(f"older_than_nanos must be 0 or more, got {older_than_nanos}")
        now_nanos = self._clock()
        age_nanos = self.ttl_nanos if older_than_nanos is None else older_than_nanos
        return self._run_pass("TIME", "CALL", now_nanos, self._cutoff(now_nanos, age_nanos))

    def evict(self, size_bytes: int) -> Removed:
        """Take entries from the head of the queue until so many bytes are freed or none is left.

        Those that were accessed or expect reads go to the tail instead, and are taken when their turn
        comes again.
        """
        if size_bytes <= 0:
            raise ValueError(f"size_bytes must be above 0, got {size_bytes}")
        return self._run_pass("SIZE", "CALL", self._clock(), size_bytes)

    def _cutoff(self, now_nanos: int, age_nanos: int) -> int:
        """The stamp below which an entry is too old."""
        return now_nanos - age_nanos

    def _budget(self) -> int:
        """How often an entry may be put back because it expects reads."""
        return self.max_requeues

    def _extends(self, kind: str) -> bool:
        """Whether this kind of pass puts an accessed entry back."""
        return self.extend_recently_accessed

    def _run_pass(
        self, kind: Literal["TIME", "SIZE"], origin: Literal["TRIGGER", "CYCLE", "CALL"], now_nanos: int, bound: int
    ) -> Removed:
        """Take slots from the head until one stays; `bound`: a cutoff, or the bytes to free."""
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
