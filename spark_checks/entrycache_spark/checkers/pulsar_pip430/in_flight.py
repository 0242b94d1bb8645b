"""Reads that overlap in time: asks of storage, what they bring, and permits.

`ReadsInFlight` knows the open asks and reads, and what each read was delivered (R-INFLIGHT-1, 2, 3, 4, 9, 10 and 13,
R-LEDGER-6). `DeletedLedgers` knows the ledgers that are gone (R-LEDGER-17). `LimiterRows` knows the permits that are
out and the requests that wait (R-LIMIT-1 to 7). These rows are few, so plain Python reads them, one at a time; what it
is not certain of it flags, and the window decides.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from entrycache_spark.checkers import primitives
from entrycache_spark.checkers.pulsar_pip430 import rows as w
from entrycache_trace.jit import Array

MAX_ASKS: Final = 1 << 19
MAX_DELIVERIES: Final = 1 << 21
"""The most asks and deliveries that are kept; beyond them the windows decide."""

_OF_ASKS: Final = (w.INFLIGHT_1, w.INFLIGHT_2, w.INFLIGHT_3, w.INFLIGHT_4, w.LEDGER_6)

_OF_READS: Final = (w.READ_BEGIN, w.READ_END, w.ASK, w.HIT)
"""The ops whose rows lie between the begin and the end of the read that they name."""

_ABOUT_ASK: Final = {w.ANSWER: w.INFLIGHT_1, w.INSERT: w.INFLIGHT_3, w.READ_DONE: w.INFLIGHT_4}
"""The rule about rows that name an ask, by their op."""


@dataclass(slots=True)
class AskRows:
    """The facts about one ask so far: its range, the last entry of its answer, and the fill before."""

    cache: int
    ledger: int
    first: int
    last: int
    cursor: int
    answered: bool = False
    given_last: int = primitives.NULL
    entry_before: int = primitives.NULL
    count_before: int = primitives.NULL
    answered_seq: int = primitives.NULL


@dataclass(slots=True)
class ReadRecord:
    """The cursor and the cache of a read, and its last end."""

    cursor: int
    cache: int
    ended_seq: int = primitives.NULL

    def differs_from(self, c: Any, i: int) -> bool:
        """Return whether a row names another cursor or cache than the begin of the read."""
        cursor, cache = int(c.cursor[i]), int(c.cache[i])
        return primitives.names_differ(cursor, self.cursor) or primitives.names_differ(cache, self.cache)


class ReadsInFlight:
    """The asks, reads and permits of a broker."""

    def __init__(self, variants: Mapping[str, bool]) -> None:
        self._variants = variants
        self._asks: dict[int, AskRows] = {}
        self._joinable: dict[tuple[int, int], dict[int, AskRows]] = {}
        self._delivered: set[tuple[int, int, int]] = set()
        self._reads: dict[int, int] = {}
        self._begun: dict[int, ReadRecord] = {}
        self._failed: set[int] = set()
        self._open_asks = 0
        self._limiter = LimiterRows(variants)
        self._deleted = DeletedLedgers()
        self._askers: dict[int, int] = {}
        self._lost: dict[int, int] = {}
        self._last_failed = primitives.NULL
        self._brought: dict[int, list[int]] = {}
        self._names_misses = False

    def follow(self, c: Any, settings: Array, flags: Array) -> None:
        """Read a batch."""
        self._deleted.follow(c, flags)
        named = (c.ask_id != primitives.NULL) | (c.read_id != primitives.NULL)
        brought = ((c.op == w.INSERT) & (c.cause == w.BY_FILL)) | ((c.op == w.READ_DONE) & (c.cause == w.BY_DELIVERED))
        hit = ((c.op == w.HIT) & (c.read_id != primitives.NULL)) | ((c.op == w.MISS) & (c.ask_id != primitives.NULL))
        for i in np.flatnonzero((c.op >= w.READ_BEGIN) | (named & brought) | hit).tolist():
            op = int(c.op[i])
            is_request = op == w.PERMIT and c.cause[i] != w.BY_GIVEN
            if (op in _OF_READS or is_request) and c.read_id[i] != primitives.NULL:
                self._follow_read(c, i, op, flags)
            self._follow_failures(c, i, op, flags)
            self._limiter.follow_read(c, i, op, settings[c.settings[i]])
            if op == w.READ_BEGIN:
                self._reads[int(c.read_id[i])] = int(c.seq[i])
            elif op == w.READ_END:
                self._reads.pop(int(c.read_id[i]), None)
                if c.cause[i] == w.BY_FAILED and not self._variants["counts_failed"]:
                    self._failed.add(int(c.read_id[i]))
            elif op == w.PERMIT:
                self._limiter.follow(c, i, settings[c.settings[i]], flags)
            elif op in (w.ASK, w.ANSWER, w.INSERT, w.READ_DONE):
                self._about_ask(c, i, op, int(settings[c.settings[i], w.LIMIT_NOW]) > 0, flags)

    def _follow_read(self, c: Any, i: int, op: int, flags: Array) -> None:
        """Read a row that names its read: it lies between the begin and the end, in the cache and for the cursor."""
        number, seq = int(c.read_id[i]), int(c.seq[i])
        read = self._begun.get(number)
        if op == w.READ_BEGIN:
            if read is not None:
                primitives.flag(flags, w.INFLIGHT_13, seq)
                primitives.flag(flags, w.INFLIGHT_4, seq)
            if len(self._begun) < MAX_ASKS:
                self._begun[number] = ReadRecord(int(c.cursor[i]), int(c.cache[i]))
        elif read is None or read.ended_seq != primitives.NULL or read.differs_from(c, i):
            primitives.flag(flags, w.INFLIGHT_13, seq)
        if op == w.READ_END and read is not None:
            read.ended_seq = seq

    def _follow_failures(self, c: Any, i: int, op: int, flags: Array) -> None:
        """Flag a read that fails without a failure since its begin, or does not fail though one of its asks has."""
        cause, seq, number = int(c.cause[i]), int(c.seq[i]), int(c.ask_id[i])
        if op == w.ASK and number != primitives.NULL and c.read_id[i] != primitives.NULL:
            self._askers[number] = int(c.read_id[i])
        elif op == w.PERMIT and cause == w.BY_REFUSED:
            read = int(c.read_id[i])
            self._lost[read] = seq
            if read == primitives.NULL:
                self._last_failed = seq
        elif op == w.ANSWER and cause != w.BY_ALL:
            self._last_failed = seq
            if cause != w.BY_SHORT and number in self._askers:
                self._lost[self._askers[number]] = seq
        elif op == w.READ_END and c.read_id[i] != primitives.NULL:
            has_lost = int(c.read_id[i]) in self._lost
            if has_lost != (cause == w.BY_FAILED) and (has_lost or self._last_failed < int(c.read_id[i])):
                primitives.flag(flags, w.INFLIGHT_10, seq)
        if number != primitives.NULL and op in (w.ANSWER, w.MISS):
            brought = self._brought.setdefault(number, [0, seq])
            if op == w.MISS:
                self._names_misses = True
                brought[0] -= 1
            elif cause in (w.BY_ALL, w.BY_SHORT):
                brought[0] += int(c.last_entry_id[i]) - int(c.entry_id[i]) + 1

    def _about_ask(self, c: Any, i: int, op: int, is_caching: bool, flags: Array) -> None:
        number = int(c.ask_id[i])
        if op == w.READ_DONE:
            self._deliver(c, i, flags)
        self._open_asks += (op == w.ASK) - (op == w.ANSWER)
        if number == primitives.NULL:
            return
        if op == w.ASK:
            self._ask(c, i, number, is_caching, flags)
            return
        ask = self._asks.get(number)
        if ask is None:
            primitives.flag(flags, _ABOUT_ASK[op], c.seq[i])
            unknown = (primitives.NULL,) * 3
            ask = self._asks[number] = AskRows(int(c.cache[i]), *unknown, 0, op == w.ANSWER)
            self._joinable.setdefault((ask.cache, ask.ledger), {})
        elif op == w.ANSWER:
            self._answer(c, i, ask, flags)
        elif not ask.answered or differs_from(c, i, ask) or not is_between(ask.first, c.entry_id[i], ask.given_last):
            primitives.flag(flags, _ABOUT_ASK[op], c.seq[i])
        if op == w.INSERT:
            _fill(c, i, ask, flags)

    def _ask(self, c: Any, i: int, number: int, is_caching: bool, flags: Array) -> None:
        if number in self._asks or len(self._asks) >= MAX_ASKS:
            for rule in _OF_ASKS:
                primitives.flag(flags, rule, c.seq[i])
        place = (int(c.cache[i]), int(c.ledger_id[i]))
        ask = AskRows(*place, int(c.entry_id[i]), int(c.last_entry_id[i]), int(c.cursor[i]))
        self._asks[number] = ask
        joinable = self._joinable.setdefault(place, {})
        if not is_caching:
            return
        if any(other.first <= ask.last and ask.first <= other.last for other in joinable.values()):
            primitives.flag(flags, w.INFLIGHT_2, c.seq[i])
        joinable[number] = ask

    def _answer(self, c: Any, i: int, ask: AskRows, flags: Array) -> None:
        cause, last = int(c.cause[i]), int(c.last_entry_id[i])
        ends_well = is_between(ask.first, last, ask.last - 1) if cause == w.BY_SHORT else last == ask.last
        if ask.answered or differs_from(c, i, ask) or int(c.entry_id[i]) != ask.first or not ends_well:
            primitives.flag(flags, w.INFLIGHT_1, c.seq[i])
        ask.answered, ask.answered_seq = True, int(c.seq[i])
        if cause in (w.BY_ALL, w.BY_SHORT):
            ask.given_last = max(ask.given_last, last)
        self._joinable[ask.cache, ask.ledger].pop(int(c.ask_id[i]), None)
        if cause == w.BY_FAIL:
            self._joinable.pop((int(c.cache[i]), int(c.ledger_id[i])), None)
            self._joinable.setdefault((ask.cache, ask.ledger), {})

    def _deliver(self, c: Any, i: int, flags: Array) -> None:
        key = (int(c.read_id[i]), int(c.ledger_id[i]), int(c.entry_id[i]))
        if key[0] == primitives.NULL:
            return
        read, answered = self._begun.get(key[0]), self._asks.get(int(c.ask_id[i]))
        if (
            read is None
            or read.differs_from(c, i)
            or primitives.NULL < read.ended_seq < int(c.ask_id[i])
            or (answered is not None and primitives.NULL != answered.answered_seq < key[0])
        ):
            primitives.flag(flags, w.INFLIGHT_4, c.seq[i])
        if key[0] in self._failed:
            primitives.flag(flags, w.INFLIGHT_9, c.seq[i])
        again = key in self._delivered and not self._variants["counts_failed"]
        if again or len(self._delivered) >= MAX_DELIVERIES:
            primitives.flag(flags, w.INFLIGHT_4, c.seq[i])
        else:
            self._delivered.add(key)

    def end(self, flags: Array) -> None:
        """Flag reads that have not ended although nothing is open, and a head that was left at the end."""
        self._limiter.end(flags)
        self._deleted.end(flags)
        for left, seq in self._brought.values() if self._names_misses else ():
            if left:
                primitives.flag(flags, w.INFLIGHT_3, seq)
        if not self._open_asks and not self._limiter.waiting:
            for seq in self._reads.values():
                primitives.flag(flags, w.INFLIGHT_13, seq)


def differs_from(c: Any, i: int, ask: AskRows) -> bool:
    """Return whether a row names another cache, ledger or cursor than its ask."""
    return (
        primitives.names_differ(int(c.cache[i]), ask.cache)
        or int(c.ledger_id[i]) != ask.ledger
        or primitives.names_differ(int(c.cursor[i]), ask.cursor)
    )


def is_between(first: int, number: int, last: int) -> bool:
    """Return whether a number is known and lies in a range that is known."""
    return primitives.NULL < first <= number <= last


def _fill(c: Any, i: int, ask: AskRows, flags: Array) -> None:
    entry, count = int(c.entry_id[i]), int(c.expected_reads[i])
    if primitives.numbers_differ(count, ask.count_before) or entry <= ask.entry_before:
        primitives.flag(flags, w.LEDGER_6, c.seq[i])
    ask.entry_before = max(entry, ask.entry_before)
    if count != primitives.NULL:
        ask.count_before = count


_OF_LEDGERS: Final = (w.LEDGER_DELETE, w.INSERT, w.ASK, w.HIT, w.EVICT, w.REQUEUE, w.SNAPSHOT, w.REMOVE)
"""The ops of which no row may follow that is about a deleted ledger, but for REMOVE LEDGER."""


class DeletedLedgers:
    """The ledgers that were deleted, and those that lost all entries without a deletion."""

    def __init__(self) -> None:
        self._deleted: set[tuple[int, int]] = set()
        self._reading: set[int] = set()
        self._undeleted: list[tuple[int, int]] = []

    def follow(self, c: Any, flags: Array) -> None:
        """Read a batch."""
        self._reading.update(np.unique(c.cache[c.op == w.READ_BEGIN]).tolist())
        is_whole = (c.op == w.REMOVE) & (c.cause == w.BY_LEDGER)
        gone = {ledger for _, ledger in self._deleted} | {*c.ledger_id[c.op == w.LEDGER_DELETE].tolist()}
        fit = is_whole | (np.isin(c.op, _OF_LEDGERS) & np.isin(c.ledger_id, [*gone]))
        for i in np.flatnonzero(fit).tolist():
            place = (int(c.cache[i]), int(c.ledger_id[i]))
            if is_whole[i]:
                if place not in self._deleted:
                    self._undeleted.append((place[0], int(c.seq[i])))
            elif place in self._deleted:
                primitives.flag(flags, w.LEDGER_17, c.seq[i])
            elif c.op[i] == w.LEDGER_DELETE:
                self._deleted.add(place)

    def end(self, flags: Array) -> None:
        """Flag the removals of ledgers that nobody has deleted, where cursors read."""
        for cache, seq in self._undeleted:
            if cache in self._reading:
                primitives.flag(flags, w.LEDGER_17, seq)


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A request that waits: its permits, its read, and the moment at which it was queued."""

    permits: int
    read: int
    ts_ns: int


class LimiterRows:
    """The permits that are out, and the requests that wait."""

    def __init__(self, variants: Mapping[str, bool]) -> None:
        self._variants = variants
        self._out = self._head = self._place = self.waiting = 0
        self._queued: dict[int, WaitingRow] = {}
        self._left: tuple[int, int, int] | None = None
        self._same: Counter[tuple[int, ...]] = Counter()
        self._of_read: Counter[int] = Counter()
        self._names_reads = True
        self._wrong: dict[int, int] = {}

    def follow_read(self, c: Any, i: int, op: int, now: Array) -> None:
        """Note a row of a read for which no permits are out, or of one that has failed and has some."""
        if c.read_id[i] == primitives.NULL or now[w.PERMITS_NOW] <= 0 or now[w.LIMIT_NOW] <= 0:
            return
        out = self._of_read[int(c.read_id[i])]
        if op in (w.HIT, w.ASK) and out <= 0:
            self._wrong.setdefault(w.LIMIT_1, int(c.seq[i]))
        is_early = op == w.READ_DONE and c.cause[i] == w.BY_DELIVERED and out <= 0
        if is_early or (op == w.READ_END and c.cause[i] == w.BY_FAILED and out > 0):
            self._wrong.setdefault(w.LIMIT_5, int(c.seq[i]))

    def _check_columns(self, c: Any, i: int, cause: int, flags: Array) -> None:
        """Check that a PERMIT has the columns of its cause, and is about the request that was queued."""
        permits, ticket, seq = int(c.permits[i]), int(c.ticket[i]), int(c.seq[i])
        waits = cause == w.BY_QUEUED
        if (not waits and c.tail_no[i] != primitives.NULL) or (
            (waits or cause == w.BY_REFUSED) and primitives.numbers_differ(int(c.bound[i]), permits)
        ):
            primitives.flag(flags, w.LIMIT_4, seq)
        if ticket == primitives.NULL:
            return
        queued = self._queued.get(ticket)
        if (
            waits
            or cause == w.BY_GIVEN
            or (
                queued is not None
                and (
                    primitives.numbers_differ(int(c.bound[i]), queued.permits)
                    or primitives.numbers_differ(int(c.read_id[i]), queued.read)
                )
            )
        ):
            primitives.flag(flags, w.LIMIT_5, seq)

    def _match(self, c: Any, i: int, cause: int, flags: Array) -> None:
        """Match what is given back with what was granted."""
        permits, read = int(c.permits[i]), int(c.read_id[i])
        self._names_reads = self._names_reads and read != primitives.NULL
        if cause not in (w.BY_TAKEN, w.BY_GIVEN):
            return
        sign = 1 if cause == w.BY_TAKEN else -1
        for key in ((permits,), (read, permits)):
            if sign < 0 and self._same[key] <= 0:
                primitives.flag(flags, w.LIMIT_7, int(c.seq[i]))
            self._same[key] += sign
        if permits != primitives.NULL:
            self._of_read[read] += sign * permits

    def follow(self, c: Any, i: int, now: Array, flags: Array) -> None:
        """Read a PERMIT."""
        cause, permits, ticket = int(c.cause[i]), int(c.permits[i]), int(c.ticket[i])
        seq, limit, call = int(c.seq[i]), int(now[w.PERMITS_NOW]), int(c.call_id[i])
        if self._left is not None and self._left[2] != call:
            primitives.flag(flags, *self._left[:2])
        waited = ticket != primitives.NULL
        if cause == w.BY_TAKEN:
            if not waited and self.waiting > 0 and not self._variants["overtakes"]:
                primitives.flag(flags, w.LIMIT_2, seq)
            if primitives.numbers_differ(permits, min(int(c.bound[i]), limit)):
                primitives.flag(flags, w.LIMIT_3, seq)
            if waited and (ticket != self._head or ticket not in self._queued):
                primitives.flag(flags, w.LIMIT_5, seq)
        elif cause == w.BY_QUEUED:
            if (self.waiting == 0 or self._variants["overtakes"]) and self._fits(permits, limit):
                primitives.flag(flags, w.LIMIT_2, seq)
            if self.waiting >= int(now[w.QUEUE_NOW]) or int(c.tail_no[i]) != self._place:
                primitives.flag(flags, w.LIMIT_4, seq)
        elif cause == w.BY_REFUSED:
            if not waited and self.waiting < int(now[w.QUEUE_NOW]):
                primitives.flag(flags, w.LIMIT_4, seq)
            if waited and not self._is_timed_out(ticket, int(c.ts_ns[i]), int(now[w.TIMEOUT_NOW])):
                primitives.flag(flags, w.LIMIT_6, seq)
        self._check_columns(c, i, cause, flags)
        self._match(c, i, cause, flags)
        self._count(c, i, cause, permits, ticket)
        if permits < 0 or not 0 <= self._out <= max(limit, 0):
            primitives.flag(flags, w.LIMIT_7, seq)
        served = w.LIMIT_6 if cause == w.BY_REFUSED else w.LIMIT_5
        head = self._queued.get(self._head)
        is_left = head is not None and cause != w.BY_QUEUED and self._fits(head.permits, limit)
        self._left = (served, seq, call) if is_left else None

    def _count(self, c: Any, i: int, cause: int, permits: int, ticket: int) -> None:
        if permits != primitives.NULL:
            self._out += permits * ((cause == w.BY_TAKEN) - (cause == w.BY_GIVEN))
        if cause == w.BY_QUEUED:
            self.waiting += 1
            if c.tail_no[i] != primitives.NULL:
                self._queued[int(c.tail_no[i])] = WaitingRow(permits, int(c.read_id[i]), int(c.ts_ns[i]))
                self._place = max(self._place, int(c.tail_no[i]) + 1)
        elif ticket != primitives.NULL:
            self.waiting -= 1
            self._head = max(self._head, ticket + 1)

    def _fits(self, permits: int, limit: int) -> bool:
        return self._out <= 0 if permits > limit else permits <= limit - self._out

    def _is_timed_out(self, ticket: int, ts_ns: int, timeout_millis: int) -> bool:
        queued = self._queued.get(ticket)
        if queued is None or ticket != self._head or timeout_millis <= 0:
            return False
        return ts_ns // 1_000_000 - queued.ts_ns // 1_000_000 >= timeout_millis

    def end(self, flags: Array) -> None:
        """Flag a head that fits and was left at the end, and the notes about reads if each PERMIT names its read."""
        for rule, seq in self._wrong.items() if self._names_reads else ():
            primitives.flag(flags, rule, seq)
        if self._left is not None:
            primitives.flag(flags, *self._left[:2])
