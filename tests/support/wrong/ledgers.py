"""Slips of the author of a cache inside managed ledgers, of its reads in flight, and of its limiter.

`SLIPS` names the level whose cases are to show a slip, and the rules that it breaks. Each changes one method of the
fast cache, and was written from the text of the rules, without a look at what judges it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from entrycache_fast.limiter import Decision, ReadLimiter
from entrycache_fast.managed_cursors import EVERYTHING, Cursor, ManagedLedger
from entrycache_fast.managed_ledger import ManagedLedgers
from entrycache_fast.managed_reads import Delivery, OpenAsk, Permits, Read, Reader, Take, unbroken_from
from entrycache_fast.pulsar import store
from entrycache_fast.pulsar.results import Position, Removal


class DropsOneMore(ManagedLedgers[Any]):
    """An invalidation drops the entry at its position too."""

    def _run_invalidation(self, home: ManagedLedger) -> Removal:
        if home.due is not None and home.due != EVERYTHING:
            home.due = Position(home.due.ledger, home.due.entry + 1)
        return super()._run_invalidation(home)


class MarksNothing(ManagedLedgers[Any]):
    """A read by a cursor leaves its hits unmarked."""

    def _read_cached(self, reader: Reader, ledger: int, first: int, last: int, take: Take) -> None:
        cached = [self._cache._find(reader.cursor.home.name, ledger, at) for at in range(first, last + 1)]
        before = [(entry, entry.accessed) for entry in cached if entry is not None]
        super()._read_cached(reader, ledger, first, last, take)
        for entry, accessed in before:
            entry.accessed = accessed


class ReplayStays(ManagedLedgers[Any]):
    """A replay of the entry that a cursor reads next does not move the cursor."""

    def _begin_replay(self, replay: Any, positions: list[Position]) -> None:
        if not positions:
            self._end(replay, has_failed=False)
        for ledger, entry in positions:
            take = partial(self._take_replayed, replay)
            self._with_permits(replay.cursor.home, ledger, entry, entry, replay, take)


class AcksStay(ManagedLedgers[Any]):
    """A mark-delete stops below acknowledged entries that follow it."""

    def _mark(self, cursor: Cursor, position: Position) -> None:
        cursor.mark_delete = position
        cursor.acks.forget_up_to(position)
        if cursor.read <= cursor.mark_delete:
            self._move_read(cursor, cursor.home.next_position(cursor.mark_delete))
        if self._cache.evict_by_mark_deleted:
            self._track(cursor)


class FillsForAll(ManagedLedgers[Any]):
    """The fills of a read expect as many reads as there are active cursors."""

    def _count(self, reader: Reader) -> int:
        count = super()._count(reader)
        is_ranked = self._cache.evict_by_expected_reads and count > 0
        return self._cache.cursors(reader.cursor.home.name) if is_ranked else count


class NullForShort(ManagedLedgers[Any]):
    """A chunk of which storage leaves out an entry fails its read."""

    def _take_chunk(
        self, read: Read, start: Position, chunk: tuple[int, int], permits: Permits, got: list[Delivery] | None
    ) -> None:
        first, last = chunk
        is_short = got is not None and len(unbroken_from(first, got)) <= last - first
        super()._take_chunk(read, start, chunk, permits, None if is_short else got)


class CountsAtTheAsk(ManagedLedgers[Any]):
    """The count of an answer is that of the moment of its ask."""

    def _ask(self, reader: Reader, ledger: int, first: int, last: int, take: Take) -> None:
        if self._is_held:
            self._counts = {**getattr(self, "_counts", {}), self._sent: self._count(reader)}
        super()._ask(reader, ledger, first, last, take)

    def _fill(self, answered: OpenAsk, values: Sequence[Any]) -> list[store.Entry | None]:
        count = getattr(self, "_counts", {}).get(answered.ask.number)
        if not self._is_held or count is None:
            return super()._fill(answered, values)
        now = self._count
        try:
            self._count = lambda reader: count  # type: ignore[method-assign]
            return super()._fill(answered, values)
        finally:
            self._count = now  # type: ignore[method-assign]


class AsksTwice(ManagedLedgers[Any]):
    """A range of which several asks cover parts is asked for once more, as a whole."""

    def _read_storage(self, reader: Reader, ledger: int, first: int, last: int, take: Take) -> None:
        joinable = self._joinable.get(ledger)
        if joinable is not None and len(joinable.covering(first, last)) > 1:
            return self._ask(reader, ledger, first, last, take)
        return super()._read_storage(reader, ledger, first, last, take)


class ForgivesAPart(ManagedLedgers[Any]):
    """A failed ask gives nothing to those who joined it, and fails only the read that asked."""

    def _lose(self, number: int, is_busy: bool) -> None:
        opened = self._asks[number]
        opened.waiting[1:] = [
            (first, last, lambda got, take=take: take([] if got is None else got))
            for first, last, take in opened.waiting[1:]
        ]
        super()._lose(number, is_busy)


class BusySealsNothing(ManagedLedgers[Any]):
    """A read error leaves the other asks of its ledger joinable."""

    def _lose(self, number: int, is_busy: bool) -> None:
        super()._lose(number, is_busy=True)


class PassesOver(ReadLimiter):
    """Permits that come back go to every waiting request that fits, also behind one that does not."""

    def _serve(self) -> list[Decision]:
        decisions = []
        for waiting in list(self._waiting):
            name, permits, _ = waiting
            if granted := self._grant(name, permits):
                self._waiting.remove(waiting)
                self._names.remove(name)
                decisions.append(Decision(name, granted))
        return decisions


class GrantsWhatIsFree(ReadLimiter):
    """A request above the limit is granted what is free."""

    def _grant(self, name: Any, permits: int) -> int:
        return super()._grant(name, min(permits, self._free) if permits > self._limit else permits)


class TimesOutAlone(ReadLimiter):
    """Only one request times out at a time."""

    def expire(self) -> list[Decision]:
        oldest = self._clock() // 1_000_000 - self._timeout_millis
        if not self._timeout_millis or not self._waiting or self._waiting[0][2] > oldest:
            return []
        name, _, _ = self._waiting.popleft()
        self._names.remove(name)
        return [Decision(name, 0), *self._serve()]


SLIPS: Final[dict[type[Any], tuple[str, set[str]]]] = {
    DropsOneMore: ("ledger", {"R-LEDGER-14"}),
    MarksNothing: ("ledger", {"R-LEDGER-5"}),
    ReplayStays: ("ledger", {"R-LEDGER-8"}),
    AcksStay: ("ledger", {"R-LEDGER-10"}),
    FillsForAll: ("ledger", {"R-LEDGER-6", "R-LEDGER-7"}),
    NullForShort: ("inflight", {"R-INFLIGHT-11"}),
    CountsAtTheAsk: ("inflight", {"R-INFLIGHT-3"}),
    AsksTwice: ("inflight", {"R-INFLIGHT-2"}),
    ForgivesAPart: ("inflight", {"R-INFLIGHT-6"}),
    BusySealsNothing: ("inflight", {"R-INFLIGHT-6"}),
    PassesOver: ("limits", {"R-LIMIT-5"}),
    GrantsWhatIsFree: ("limits", {"R-LIMIT-3"}),
    TimesOutAlone: ("limits", {"R-LIMIT-6"}),
}
"""The slips: the level whose cases show each, and the rules that it breaks."""
