"""Reads through the cache, and what readers hold of them."""

from __future__ import annotations

from collections.abc import Sequence

from entrycache_fast import row as rows
from entrycache_fast.entries import Entries
from entrycache_fast.store import Entry
from entrycache_fast.views import Position, Served, Stored

Kept = list[tuple[Entry | None, object]]
"""What a read handed over, ascending: the entry where it was cached when the read ended, and the value."""


class Reads(Entries):
    """Reads that ask storage for what is not cached.

    A read with a `hold` keeps what it handed over under that name until `release`; without one it is
    released when the call ends. A release takes 1 from the count of each entry that was read, unless it has
    left. What is held is not protected from removal.
    """

    def read(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], expected_reads: int, hold: str | None = None
    ) -> Served:
        """Read a range of one ledger, both ends included.

        What storage gives is inserted with the count `expected_reads`, one by one, unless that is 0 or less.
        """
        ledger, number = first
        if ledger != last[0] or first > last:
            raise ValueError(f"a read is of one ledger and in order, got {first} to {last}")
        self._check_free(hold)
        numbers = range(number, last[1] + 1)
        found = self._look_up(cache, ledger, numbers)
        missing = [number for number, entry in zip(numbers, found, strict=True) if entry is None]
        stored = self._serve(cache, ledger, numbers, found, missing)
        filled = self._fill(cache, ledger, missing, stored, expected_reads)
        return self._finish(ledger, numbers, found, filled, hold)

    def read_one(self, cache: str, ledger: int, entry: int, hold: str | None = None) -> Served:
        """Read one position; what storage gives is not inserted."""
        self._check_free(hold)
        numbers = (entry,)
        found = self._look_up(cache, ledger, numbers)
        missing = [entry] if found[0] is None else []
        stored = self._serve(cache, ledger, numbers, found, missing)
        filled = self._fill(cache, ledger, missing, stored, None)
        return self._finish(ledger, numbers, found, filled, hold)

    def release(self, hold: str) -> int:
        """Release what a read has held; the number of positions."""
        kept = self._holds.pop(hold, None)
        if kept is None:
            raise ValueError(f"hold {hold!r} is not open")
        self._deliver(kept)
        return len(kept)

    @property
    def holds(self) -> tuple[str, ...]:
        """The names of what is held."""
        return tuple(self._holds)

    def _check_free(self, hold: str | None) -> None:
        """Refuse a name that is in use."""
        if hold is not None and hold in self._holds:
            raise ValueError(f"hold {hold!r} is open")

    def _look_up(self, cache: str, ledger: int, numbers: Sequence[int]) -> list[Entry | None]:
        """What is cached of these numbers, in their order."""
        home = self._open(cache).ledgers.get(ledger)
        return [None] * len(numbers) if home is None else [home.get(number) for number in numbers]

    def _serve(
        self, cache: str, ledger: int, numbers: Sequence[int], found: list[Entry | None], missing: list[int]
    ) -> list[Stored]:
        """Read from storage what is missing; then mark and count what was found, so an error changes nothing."""
        stored = [self._storage(cache, ledger, number) for number in missing]
        for number, item in zip(missing, stored, strict=True):
            if item.size_bytes < 0:
                raise ValueError(f"storage gave entry {number} {item.size_bytes} bytes, expected 0 or more")
        if self._on_row is not None:
            now_nanos = self._clock()
            for number, entry in zip(numbers, found, strict=True):
                if entry is None:
                    row = rows.absent_row("MISS", "READ", now_nanos, self.size_bytes, cache, ledger, number)
                else:
                    row = rows.entry_row("HIT", "READ", now_nanos, self.size_bytes, entry)
                self._on_row(row)
        counts = self._counts
        for entry in found:
            if entry is not None:
                entry.accessed = True
                counts.hit_entries += 1
                counts.hit_bytes += entry.size_bytes
        counts.miss_entries += len(stored)
        counts.miss_bytes += sum(item.size_bytes for item in stored)
        return stored

    def _fill(
        self, cache: str, ledger: int, missing: list[int], stored: list[Stored], expected_reads: int | None
    ) -> Kept:
        """Insert what storage gave; `expected_reads` None: a read that never inserts."""
        wanted = expected_reads is not None and (expected_reads > 0 or self.max_size_bytes == 0)
        filled: Kept = []
        for number, (size_bytes, value) in zip(missing, stored, strict=True):
            entry = None
            if wanted:
                entry = self._insert_fill(cache, ledger, number, size_bytes, value, expected_reads)
            elif self._on_row is not None:
                now_nanos, all_bytes = self._clock(), self.size_bytes
                self._on_row(
                    rows.absent_row("SKIP", "NOT_WANTED", now_nanos, all_bytes, cache, ledger, number, size_bytes)
                )
            filled.append((entry, value))
        return filled

    def _insert_fill(
        self, cache: str, ledger: int, number: int, size_bytes: int, value: object, expected_reads: int | None
    ) -> Entry | None:
        """Insert one entry that storage gave; it, if the pass that it triggered has left it there."""
        self._insert_cause = "FILL"
        try:
            self.insert(cache, ledger, number, size_bytes, value, expected_reads)
        finally:
            self._insert_cause = "ADD"
        return self._find(cache, ledger, number)

    def _finish(
        self, ledger: int, numbers: Sequence[int], found: list[Entry | None], filled: Kept, hold: str | None
    ) -> Served:
        """Hold what was read, or release it at once."""
        fills = iter(filled)
        kept: Kept = [next(fills) if entry is None else (entry, entry.value) for entry in found]
        if hold is None:
            self._deliver(kept)
        else:
            self._holds[hold] = kept
        positions = [Position(ledger, number) for number in numbers]
        hits = [at for at, entry in zip(positions, found, strict=True) if entry is not None]
        missed = [at for at, entry in zip(positions, found, strict=True) if entry is None]
        values = [entry.value for entry in found if entry is not None] + [value for _, value in filled]
        return Served(tuple(hits), tuple(missed), values)

    def _deliver(self, kept: Kept) -> None:
        """One expected read fewer for each entry that is still the one cached at its position."""
        for entry, _ in kept:
            if entry is not None and entry.ledger.get(entry.number) is entry:
                self._count(entry, -1)
