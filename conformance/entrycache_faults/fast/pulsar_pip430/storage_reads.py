"""Faults of level `reads`: reads through the cache, fills, holds, hits and misses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from entrycache_fast import BrokerCache, ReadResult, StoredEntry
from entrycache_fast.pulsar.cache import HeldEntries, Lookup
from entrycache_fast.pulsar.store import Entry


class ReadAllOrNothing(BrokerCache):
    """A read whose range is cached in part takes all of it from storage."""

    def _look_up(self, cache: str, ledger: int, numbers: Sequence[int]) -> Lookup:
        asked = super()._look_up(cache, ledger, numbers)
        return asked._replace(found=[None] * len(numbers)) if None in asked.found else asked


class ReadHitsWhileFilling(BrokerCache):
    """A read decides about each position only when its turn comes, after the fills before it."""

    def read(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], expected_reads: int, hold: str | None = None
    ) -> ReadResult:
        """Look up and fill position by position."""
        if first[0] != last[0] or first > last:
            return super().read(cache, first, last, expected_reads, hold)
        self._check_free(hold)
        numbers = range(first[1], last[1] + 1)
        found: list[Entry | None] = []
        filled: HeldEntries = []
        for number in numbers:
            asked = self._look_up(cache, first[0], (number,))
            filled += self._fill(asked, self._serve(asked), expected_reads)
            found += asked.found
        return self._finish(Lookup(cache, first[0], numbers, found), filled, hold)


class ReadTriggersOnce(BrokerCache):
    """The fills of a read trigger one size pass, after the last of them."""

    _is_filling = False

    def _crossed(self) -> None:
        if not self._is_filling:
            super()._crossed()

    def _fill(self, asked: Lookup, stored: list[StoredEntry], expected_reads: int | None) -> HeldEntries:
        self._is_filling = True
        filled = super()._fill(asked, stored, expected_reads)
        self._is_filling = False
        if filled and self.size_bytes > self.trigger_bytes:
            self._crossed()
        return filled


class ReadCachesTheUnwanted(BrokerCache):
    """A read caches its fills though nobody else expects them."""

    def _fill(self, asked: Lookup, stored: list[StoredEntry], expected_reads: int | None) -> HeldEntries:
        if expected_reads is None or expected_reads > 0:
            return super()._fill(asked, stored, expected_reads)
        filled: HeldEntries = []
        for number, item in zip(asked.missing, stored, strict=True):
            self.insert(asked.cache, asked.ledger, number, item.size_bytes, item.value)
            filled.append((self._find(asked.cache, asked.ledger, number), item.value))
        return filled


class ReadCountWithoutItself(BrokerCache):
    """The fills of a read carry one expected read fewer than the read says."""

    _fewer = 0

    def _fill(self, asked: Lookup, stored: list[StoredEntry], expected_reads: int | None) -> HeldEntries:
        self._fewer = 1
        filled = super()._fill(asked, stored, expected_reads)
        self._fewer = 0
        return filled

    def insert(
        self,
        cache: str,
        ledger: int,
        entry: int,
        size_bytes: int,
        value: object = None,
        expected_reads: int | None = None,
    ) -> bool:
        """Take one off."""
        fewer = None if expected_reads is None else expected_reads - self._fewer
        return super().insert(cache, ledger, entry, size_bytes, value, fewer)


class ReadGapsNotFilled(BrokerCache):
    """A read that was served in part does not cache the gaps."""

    def _fill(self, asked: Lookup, stored: list[StoredEntry], expected_reads: int | None) -> HeldEntries:
        is_partial = any(entry is not None for entry in asked.found)
        return super()._fill(asked, stored, None if is_partial else expected_reads)


class ReadOneCaches(BrokerCache):
    """A read_one caches what storage gives."""

    def _fill(self, asked: Lookup, stored: list[StoredEntry], expected_reads: int | None) -> HeldEntries:
        return super()._fill(asked, stored, 1 if expected_reads is None else expected_reads)


class ReadOneLeavesNoMark(BrokerCache):
    """A read_one that is served from the cache does not mark the entry."""

    def read_one(self, cache: str, ledger: int, entry: int, hold: str | None = None) -> ReadResult:
        """Put the mark back."""
        found = self._find(cache, ledger, entry)
        was_accessed = found is not None and found.accessed
        served = super().read_one(cache, ledger, entry, hold)
        if found is not None:
            found.accessed = was_accessed
        return served


class ReadHandsOverStorage(BrokerCache):
    """A read hands over what storage holds for its hits too."""

    def _finish(self, asked: Lookup, filled: HeldEntries, hold: str | None) -> ReadResult:
        served = super()._finish(asked, filled, hold)
        values = list(served.values)
        for at, pos in enumerate(served.hits):
            values[at] = self._storage(asked.cache, *pos).value
        return served._replace(values=values)


class ReadReversedIsEmpty(BrokerCache):
    """A read of a reversed range answers that there is nothing, instead of being refused."""

    def read(
        self, cache: str, first: tuple[int, int], last: tuple[int, int], expected_reads: int, hold: str | None = None
    ) -> ReadResult:
        """Answer nothing."""
        if first[0] == last[0] and first > last:
            return ReadResult((), (), [])
        return super().read(cache, first, last, expected_reads, hold)


class ReadHoldReplaced(BrokerCache):
    """A read with a hold that is open takes the name over, and what was held is lost."""

    def _check_free(self, hold: str | None) -> None:
        pass


class CountReleasedTwice(BrokerCache):
    """What a read hands over is given back twice."""

    def _deliver(self, kept: HeldEntries) -> None:
        super()._deliver(kept)
        super()._deliver(kept)


class CountNotGivenBack(BrokerCache):
    """A read without a hold gives nothing back."""

    def _finish(self, asked: Lookup, filled: HeldEntries, hold: str | None) -> ReadResult:
        served = super()._finish(asked, filled, hold or "")
        if hold is None:
            del self._holds[""]
        return served


class CountOfTheNewcomer(BrokerCache):
    """A release takes 1 from whatever entry is cached at that position now."""

    def _deliver(self, kept: HeldEntries) -> None:
        for entry, _ in kept:
            if entry is not None:
                home = entry.ledger
                self._count(self._find(home.cache.name, home.number, entry.number), -1)


class CountHoldStaysOpen(BrokerCache):
    """A release leaves the name open."""

    def release(self, hold: str) -> int:
        """Open it again, empty."""
        released = super().release(hold)
        self._holds[hold] = []
        return released


class CountReleaseUnasked(BrokerCache):
    """A release of a name that is not open answers 0."""

    def release(self, hold: str) -> int:
        """Answer 0."""
        return super().release(hold) if hold in self._holds else 0


class CountHoldForgotten(BrokerCache):
    """A release gives the counts back but keeps what it has handed over in memory."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._forgotten: list[HeldEntries] = []

    def release(self, hold: str) -> int:
        """Keep it."""
        self._forgotten.append(self._holds.get(hold, []))
        return super().release(hold)


class MetricsMissPerCall(BrokerCache):
    """A read counts one miss, however many positions storage gave."""

    def _serve(self, asked: Lookup) -> list[StoredEntry]:
        stored = super()._serve(asked)
        self._counts.miss_entries -= max(0, len(stored) - 1)
        return stored


class MetricsFillIsAHit(BrokerCache):
    """A fill that is cached counts as a hit too."""

    def _fill(self, asked: Lookup, stored: list[StoredEntry], expected_reads: int | None) -> HeldEntries:
        filled = super()._fill(asked, stored, expected_reads)
        self._counts.hit_entries += sum(1 for entry, _ in filled if entry is not None)
        return filled


class MetricsGetIsAHit(BrokerCache):
    """A get counts as a hit."""

    def get(self, cache: str, ledger: int, entry: int, default: object = None) -> object:
        """Count it."""
        if self._find(cache, ledger, entry) is not None:
            self._counts.hit_entries += 1
        return super().get(cache, ledger, entry, default)


READS: Final[dict[str, type[BrokerCache]]] = {
    "read-all-or-nothing": ReadAllOrNothing,
    "read-hits-while-filling": ReadHitsWhileFilling,
    "read-triggers-once": ReadTriggersOnce,
    "read-caches-the-unwanted": ReadCachesTheUnwanted,
    "read-count-without-itself": ReadCountWithoutItself,
    "read-gaps-not-filled": ReadGapsNotFilled,
    "read-one-caches": ReadOneCaches,
    "read-one-leaves-no-mark": ReadOneLeavesNoMark,
    "read-hands-over-storage": ReadHandsOverStorage,
    "read-reversed-is-empty": ReadReversedIsEmpty,
    "read-hold-replaced": ReadHoldReplaced,
    "count-released-twice": CountReleasedTwice,
    "count-not-given-back": CountNotGivenBack,
    "count-of-the-newcomer": CountOfTheNewcomer,
    "count-hold-stays-open": CountHoldStaysOpen,
    "count-release-unasked": CountReleaseUnasked,
    "count-hold-forgotten": CountHoldForgotten,
    "metrics-miss-per-call": MetricsMissPerCall,
    "metrics-fill-is-a-hit": MetricsFillIsAHit,
    "metrics-get-is-a-hit": MetricsGetIsAHit,
}
"""The faults of this level."""
