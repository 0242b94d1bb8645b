"""Reads through the cache, and what readers hold of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from entrycache_fast.pulsar import row as rows
from entrycache_fast.pulsar.entries import Entries
from entrycache_fast.pulsar.store import Entry
from entrycache_fast.pulsar.views import Position, Served, Stored

Kept = list[tuple[Entry | None, object]]
"""What a read handed over, ascending: the entry where it was cached when the read ended, and the value."""


class Lookup(NamedTuple):
    """What a read asks for, and what of it was cached when the read began: entries of one ledger, in order."""

    cache: str
    ledger: int
    numbers: Sequence[int]
    found: list[Entry | None]

    @property
    def missing(self) -> list[int]:
        """The numbers that storage has to give."""
        return [number for number, entry in zip(self.numbers, self.found, strict=True) if entry is None]


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
        asked = self._look_up(cache, ledger, range(number, last[1] + 1))
        stored = self._serve(asked)
        return self._finish(asked, self._fill(asked, stored, expected_reads), hold)

    def read_one(self, cache: str, ledger: int, entry: int, hold: str | None = None) -> Served:
        """Read one position; what storage gives is not inserted."""
        self._check_free(hold)
        asked = self._look_up(cache, ledger, (entry,))
        stored = self._serve(asked)
        return self._finish(asked, self._fill(asked, stored, None), hold)

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

    def _look_up(self, cache: str, ledger: int, numbers: Sequence[int]) -> Lookup:
        """What is cached of these numbers."""
        home = self._open(cache).ledgers.get(ledger)
        found = [None if home is None else home.get(number) for number in numbers]
        return Lookup(cache, ledger, numbers, found)

    def _serve(self, asked: Lookup) -> list[Stored]:
        """Read from storage what is missing; then mark and count what was found, so an error changes nothing."""
        stored = [self._storage(asked.cache, asked.ledger, number) for number in asked.missing]
        if any(item.size_bytes < 0 for item in stored):
            raise ValueError(f"storage gave an entry of {asked.cache} a size below 0; expected 0 or more bytes")
        if self._on_row is not None:
            self._tell_lookups(asked)
        counts = self._counts
        for entry in asked.found:
            if entry is not None:
                entry.accessed = True
                counts.hit_entries += 1
                counts.hit_bytes += entry.size_bytes
        counts.miss_entries += len(stored)
        counts.miss_bytes += sum(item.size_bytes for item in stored)
        return stored

    def _tell_lookups(self, asked: Lookup) -> None:
        """Write a row for each number."""
        assert self._on_row is not None
        now_nanos, all_bytes = self._clock(), self.size_bytes
        for number, entry in zip(asked.numbers, asked.found, strict=True):
            if entry is None:
                self._on_row(rows.absent_row("MISS", "READ", now_nanos, all_bytes, asked.cache, asked.ledger, number))
            else:
                self._on_row(rows.entry_row("HIT", "READ", now_nanos, all_bytes, entry))

    def _fill(self, asked: Lookup, stored: list[Stored], expected_reads: int | None) -> Kept:
        """Insert what storage gave, unless nobody will read it; `expected_reads` None: a read that never inserts."""
        if expected_reads is None or (expected_reads <= 0 and self.max_size_bytes > 0):
            self._tell_skipped(asked, stored)
            return [(None, item.value) for item in stored]
        filled: Kept = []
        self._insert_cause = "FILL"
        try:
            for number, (size_bytes, value) in zip(asked.missing, stored, strict=True):
                self.insert(asked.cache, asked.ledger, number, size_bytes, value, expected_reads)
                filled.append((self._find(asked.cache, asked.ledger, number), value))
        finally:
            self._insert_cause = "ADD"
        return filled

    def _tell_skipped(self, asked: Lookup, stored: list[Stored]) -> None:
        """Write a row for each entry that storage gave and that is not inserted."""
        if self._on_row is not None:
            now_nanos, all_bytes = self._clock(), self.size_bytes
            cache, ledger = asked.cache, asked.ledger
            for number, (size_bytes, _) in zip(asked.missing, stored, strict=True):
                row = rows.absent_row("SKIP", "NOT_WANTED", now_nanos, all_bytes, cache, ledger, number, size_bytes)
                self._on_row(row)

    def _finish(self, asked: Lookup, filled: Kept, hold: str | None) -> Served:
        """Hold what was read, or release it at once."""
        fills = iter(filled)
        kept: Kept = [next(fills) if entry is None else (entry, entry.value) for entry in asked.found]
        if hold is None:
            self._deliver(kept)
        else:
            self._holds[hold] = kept
        hits = [entry for entry in asked.found if entry is not None]
        return Served(
            tuple(Position(asked.ledger, entry.number) for entry in hits),
            tuple(Position(asked.ledger, number) for number in asked.missing),
            [entry.value for entry in hits] + [value for _, value in filled],
        )

    def _deliver(self, kept: Kept) -> None:
        """One expected read fewer for each entry that is still the one cached at its position."""
        for entry, _ in kept:
            if entry is not None and entry.ledger.get(entry.number) is entry:
                self._count(entry, -1)
