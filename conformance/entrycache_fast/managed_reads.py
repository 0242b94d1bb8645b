"""The reads of cursors: what the cache gives, what storage is asked for, and when each read ends.

A read takes one chunk of entries after the other, each of one ledger; a replay takes single positions. Either is a
*range*: it takes permits, looks at the cache, and reads each gap from storage, or waits for a read of storage that is
on its way. Where storage is held, answers come later, by a call. What a call leaves to be done is a *task*: tasks run
in the order in which they were queued, and all have run when the call returns. These are the rules R-INFLIGHT-1 to
R-INFLIGHT-13 and R-LIMIT-1 to R-LIMIT-8.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Final, Generic, NamedTuple

from entrycache_fast.limiter import Decision, ReadLimiter
from entrycache_fast.managed_cursors import Cursor, ManagedLedger, TrackedCursors
from entrycache_fast.pending_reads import Ask, JoinableAsks
from entrycache_fast.pulsar import rows, store
from entrycache_fast.pulsar.cache import BrokerCache
from entrycache_fast.pulsar.results import Position, V

OVERHEAD_BYTES: Final = 64
"""The bytes that an entry in flight takes beside its payload."""


class EndedRead(NamedTuple):
    """A read that has ended: its entries with their values, ascending; None: it has failed."""

    name: Hashable
    entries: list[tuple[Position, Any]] | None


class Progress(NamedTuple):
    """The asks that a call has sent to storage, each with the name of its cache, and the reads that it has ended."""

    asks: list[tuple[str, Ask]]
    ended: list[EndedRead]


class Permits:
    """The permits of one range, until the last entry that the range has delivered is released.

    While the request waits, `decide` is what is to be done when it is granted (True) or has failed (False).
    """

    __slots__ = ("are_out", "decide", "entries")

    def __init__(self) -> None:
        self.decide: Callable[[bool], None] | None = None
        self.are_out = False
        self.entries = 0
        """The delivered entries that are not released."""


class Delivery:
    """An entry that a read has got; a release lowers the count of `entry`, unless that is None."""

    __slots__ = ("entry", "is_hit", "permits", "position", "value")

    def __init__(self, position: Position, entry: store.Entry | None, value: Any, is_hit: bool) -> None:
        self.position = position
        self.entry = entry
        self.value = value
        self.is_hit = is_hit
        self.permits: Permits | None = None


Take = Callable[[list[Delivery] | None], None]
"""A function that takes what was got for a range, in any order; None: the range has failed."""


class Parts:
    """The entries got for the parts of a range, until all parts have been answered."""

    __slots__ = ("_got", "_has_failed", "_number", "_take")

    def __init__(self, number: int, got: list[Delivery], take: Take) -> None:
        self._number = number
        self._got = got
        self._take = take
        self._has_failed = False

    def take(self, got: list[Delivery] | None) -> None:
        """Take what was got for one part."""
        self._number -= 1
        if got is None:
            self._has_failed = True
        else:
            self._got += got
        if self._number == 0:
            self._take(None if self._has_failed else self._got)


class Reader:
    """A read or a replay that has not ended."""

    __slots__ = ("cursor", "got", "name")

    def __init__(self, cursor: Cursor, name: str | None) -> None:
        self.cursor = cursor
        self.name = name
        self.got: list[Delivery] = []


class Read(Reader):
    """A read of a cursor, and the number of entries that it still wants."""

    __slots__ = ("wanted",)

    def __init__(self, cursor: Cursor, name: str | None, wanted: int) -> None:
        super().__init__(cursor, name)
        self.wanted = wanted


class Replay(Reader):
    """A replay, and the number of positions that were not answered yet."""

    __slots__ = ("has_failed", "missing")

    def __init__(self, cursor: Cursor, name: str | None, positions: int) -> None:
        super().__init__(cursor, name)
        self.missing = positions
        self.has_failed = False


class OpenAsk:
    """A read of storage that was not answered yet, who asked, and who waits for which part, in the order of joining."""

    __slots__ = ("ask", "asker", "waiting")

    def __init__(self, ask: Ask, asker: Reader, take: Take) -> None:
        self.ask = ask
        self.asker = asker
        self.waiting: list[tuple[int, int, Take]] = [(ask.first, ask.last, take)]


class LedgerReads(TrackedCursors[V], Generic[V]):
    """The reads of the cursors of all managed ledgers over one cache, and the tasks of their executor."""

    def __init__(
        self,
        cache: BrokerCache[V],
        storage: Callable[[str, int, int], V | None] | None = None,
        is_held: bool = False,
        limiter: ReadLimiter | None = None,
    ) -> None:
        """Make reads through `cache`.

        `storage` returns the value of an entry that was appended, by cache, ledger and entry; without it values from
        storage are None. It must neither raise nor call the cache. If `is_held`, storage is not called: `answer` and
        `fail` answer what is asked. Then reads take their permits from the `limiter`, unless that is off.
        """
        super().__init__(cache)
        self._storage = storage
        self._is_held = is_held
        self._limiter = limiter if is_held and limiter is not None and limiter.limit else None
        self._held: dict[str, dict[Position, Permits]] = {}
        self._asks: dict[int, OpenAsk] = {}
        self._joinable: dict[int, JoinableAsks] = {}
        self._sent = 0
        self._step_asks: list[tuple[str, Ask]] = []
        self._step_ended: list[EndedRead] = []

    # The calls.

    @property
    def asks(self) -> list[Ask]:
        """The asks that were not answered yet, in the order in which they were sent."""
        return [each.ask for each in self._asks.values()]

    def answer(self, number: int, values: Sequence[V | None]) -> Progress:
        """Take the answer to an ask: the values of all its entries, or only of the first of them."""
        ask = self._open_ask(number).ask
        if not 0 < len(values) <= ask.last - ask.first + 1:
            raise ValueError(f"expected 1 to {ask.last - ask.first + 1} values for ask {number}, got {len(values)}")
        self._give(self._close(number), values)
        return self._finish_step()

    def fail(self, number: int, is_busy: bool = False) -> Progress:
        """Take an error for an answer. Unless storage is only busy, nobody joins another ask of that ledger."""
        self._open_ask(number)
        self._lose(number, is_busy)
        return self._finish_step()

    def expire(self) -> Progress:
        """Fail the reads that have waited too long for permits, and begin those that get permits by that."""
        if self._limiter is not None:
            self._decide(self._limiter.expire())
        return self._finish_step()

    def release(self, hold: str) -> tuple[int, Progress]:
        """Release what a read holds; return the number of its entries, and what is read with its permits."""
        held = self._cache.release(hold)
        for permits in self._held.pop(hold, {}).values():
            self._return_permits(permits)
        return held, self._finish_step()

    def end_reads(self) -> Progress:
        """Fail all that reads wait for, for a shutdown, so that every read ends."""
        asks, ended = [], []
        while self._asks or (self._limiter is not None and self._limiter.waiting):
            if self._limiter is not None:
                self._decide(self._limiter.refuse_waiting())
            for number in list(self._asks):
                self._lose(number, is_busy=False)
            progress = self._finish_step()
            asks += progress.asks
            ended += progress.ended
        return Progress(asks, ended)

    # Tasks.

    def _finish_step(self) -> Progress:
        """Run all tasks, and return what the step has sent and ended."""
        while self._tasks:
            self._tasks.popleft()()
        progress = Progress(self._step_asks, self._step_ended)
        self._step_asks, self._step_ended = [], []
        return progress

    # Reads by chunks.

    def _go_on(self, read: Read, start: Position) -> None:
        """Look for the next chunk of a read at or behind a position, and read it."""
        cursor = read.cursor
        home = cursor.home
        if start.ledger not in home.sizes:
            start = self._start_of_later(home, start.ledger)
        ledger, entry = start
        length = home.length(ledger)
        if ledger != home.current and (entry >= length or cursor.first_unacked(ledger, 0) >= length):
            return self._move_on(read, self._start_of_later(home, ledger))
        if entry >= length:
            return self._move_on(read, start)
        chunk = cursor.chunk(start, read.wanted)
        if chunk is None:
            return self._move_on(read, Position(ledger, min(entry + read.wanted, length)))
        take = partial(self._take_chunk, read, start, chunk)
        return self._with_permits(home, ledger, *chunk, read, take)

    def _start_of_later(self, home: ManagedLedger, ledger: int) -> Position:
        """Return the first position of the next later ledger, which is there."""
        later = home.later_ledger(ledger)
        assert later is not None
        return Position(later, 0)

    def _take_chunk(
        self, read: Read, start: Position, chunk: tuple[int, int], permits: Permits, got: list[Delivery] | None
    ) -> None:
        """Deliver a chunk up to its first missing position, without what is acknowledged by now."""
        if got is None:
            self._free(permits)
            return self._end(read, has_failed=not read.got)
        cursor, (first, _) = read.cursor, chunk
        unbroken = unbroken_from(first, got)
        if not unbroken:
            self._free(permits)
            if cursor.read > cursor.home.last_position:
                return self._end(read, has_failed=False)
            self._tasks.append(partial(self._go_on, read, start))
            return None
        delivered = [one for one in unbroken if cursor.acks.run_end(*one.position) is None]
        for one in delivered:
            one.permits = permits
        permits.entries = len(delivered)
        read.got += delivered
        read.wanted -= len(delivered)
        if len(delivered) < len(unbroken):
            self._lower([one for one in unbroken if one.permits is None])
        self._free(permits)
        ledger, last = unbroken[-1].position
        end = cursor.acks.run_end(ledger, last)
        return self._move_on(read, Position(ledger, (last if end is None else end) + 1))

    def _move_on(self, read: Read, position: Position) -> None:
        """Move the cursor to a position; then the read goes on from there, or ends."""
        cursor = read.cursor
        self._move_read(cursor, position)
        if read.wanted > 0 and cursor.read <= cursor.home.last_position:
            self._tasks.append(partial(self._go_on, read, position))
        else:
            self._tasks.append(partial(self._end, read, has_failed=False))

    # Replays.

    def _begin_replay(self, replay: Replay, positions: list[Position]) -> None:
        """Read positions one by one, ascending."""
        cursor = replay.cursor
        if not positions:
            self._end(replay, has_failed=False)
        for position in positions:
            ledger, entry = position
            if position == cursor.read:
                self._move_read(cursor, Position(ledger, entry + 1))
            self._with_permits(cursor.home, ledger, entry, entry, replay, partial(self._take_replayed, replay))

    def _take_replayed(self, replay: Replay, permits: Permits, got: list[Delivery] | None) -> None:
        """Take what was got for one position of a replay."""
        replay.missing -= 1
        if got and not replay.has_failed:
            got[0].permits = permits
            permits.entries = 1
            replay.got += got
        else:
            self._free(permits)
            replay.has_failed = True
            for one in replay.got:
                self._return_permits(one.permits)
            replay.got = []
        if replay.missing == 0:
            self._end(replay, replay.has_failed)

    # The end of a read.

    def _begin(self, reader: Reader) -> None:
        """Note that a read is open."""
        reader.cursor.reads.add(type(reader))
        reader.cursor.home.open_reads += 1
        if reader.name is not None:
            self._cache._reserved_holds.add(reader.name)

    def _end(self, reader: Reader, has_failed: bool) -> None:
        """End a read; what it has got is held under its name, if it has one."""
        reader.cursor.reads.discard(type(reader))
        reader.cursor.home.open_reads -= 1
        reader.got.sort(key=lambda one: one.position)
        if reader.name is None:
            return
        self._cache._reserved_holds.remove(reader.name)
        entries = [(one.position, one.value) for one in reader.got]
        self._step_ended.append(EndedRead(reader.name, None if has_failed else entries))
        if reader.got:
            self._cache._holds[reader.name] = [(one.entry, one.value) for one in reader.got]
            self._cache._held_positions[reader.name] = [one.position for one in reader.got]
            self._held[reader.name] = {one.position: one.permits for one in reader.got if one.permits is not None}

    def _lower(self, delivered: list[Delivery]) -> None:
        """Lower the count of each delivered entry that is still the cached one."""
        self._cache._deliver([(one.entry, one.value) for one in delivered])

    # Permits.

    def _with_permits(
        self,
        home: ManagedLedger,
        ledger: int,
        first: int,
        last: int,
        reader: Reader,
        take: Callable[[Permits, list[Delivery] | None], None],
    ) -> None:
        """Read a range through the cache as soon as it has permits."""
        permits = Permits()

        def decide(is_granted: bool) -> None:
            if is_granted:
                self._read_cached(reader, ledger, first, last, partial(take, permits))
            else:
                take(permits, None)

        if self._limiter is None:
            return decide(True)
        bytes_each = home.average_size(ledger) + OVERHEAD_BYTES
        granted = self._limiter.acquire(permits, (last - first + 1) * bytes_each)
        if granted is None:
            permits.decide = decide
            return None
        permits.are_out = granted > 0
        return decide(permits.are_out)

    def _return_permits(self, permits: Permits | None) -> None:
        """Note that a delivered entry is released."""
        if permits is not None:
            permits.entries -= 1
            self._free(permits)

    def _free(self, permits: Permits) -> None:
        """Give permits back if no delivered entry needs them."""
        if self._limiter is not None and permits.are_out and permits.entries == 0:
            permits.are_out = False
            self._decide(self._limiter.give_back(permits))

    def _decide(self, decisions: list[Decision]) -> None:
        """Let each range that was granted permits begin, and each that timed out fail, as a task."""
        for permits, granted in decisions:
            assert isinstance(permits, Permits)
            assert permits.decide is not None
            permits.are_out = granted > 0
            self._tasks.append(partial(permits.decide, permits.are_out))
            permits.decide = None

    # Ranges.

    def _read_cached(self, reader: Reader, ledger: int, first: int, last: int, take: Take) -> None:
        """Read a range through the cache: mark and count its hits, then read the gaps from storage."""
        cache = self._cache
        lookup = cache._look_up(reader.cursor.home.name, ledger, range(first, last + 1))
        entries = [entry for entry in lookup.entries if entry is not None]
        if cache._on_row is not None:
            looked_up = lookup
            if self._is_held:  # a miss is reported when storage gives the entry
                looked_up = lookup._replace(numbers=[entry.number for entry in entries], entries=[*entries])
            cache._report_lookups(looked_up)
        for entry in entries:
            entry.accessed = True
        cache._counts.hit_entries += len(entries)
        cache._counts.hit_bytes += sum(entry.size_bytes for entry in entries)
        hits = [Delivery(Position(ledger, entry.number), entry, entry.value, True) for entry in entries]
        if len(hits) == len(lookup.entries):
            return take(hits)
        if not hits:
            return self._read_storage(reader, ledger, first, last, take)

        def take_all(got: list[Delivery] | None) -> None:
            if got is None:
                self._read_storage(reader, ledger, first, last, take)
            else:
                take(got)

        gaps = runs_of(lookup.missing)
        parts = Parts(len(gaps), hits, take_all)
        for gap in gaps:
            self._read_storage(reader, ledger, *gap, parts.take)
        return None

    def _read_storage(self, reader: Reader, ledger: int, first: int, last: int, take: Take) -> None:
        """Read a range from storage: wait for what is on its way already, and ask for the rest."""
        joinable = self._joinable.get(ledger)
        asks = [] if joinable is None else joinable.covering(first, last)
        if not asks:
            return self._ask(reader, ledger, first, last, take)
        ask = asks[-1] if asks[0].first > first and asks[-1].last >= last else asks[0]
        start, end = max(first, ask.first), min(last, ask.last)
        rests = [rest for rest in ((first, start - 1), (end + 1, last)) if rest[0] <= rest[1]]
        parts = Parts(1 + len(rests), [], take)
        self._asks[ask.number].waiting.append((start, end, parts.take))
        for rest in rests:
            self._read_cached(reader, ledger, *rest, parts.take)
        return None

    # Storage.

    def _ask(self, reader: Reader, ledger: int, first: int, last: int, take: Take) -> None:
        """Ask storage for a range; unless storage is held, it answers at once."""
        name = reader.cursor.home.name
        sent = OpenAsk(Ask(self._sent, ledger, first, last), reader, take)
        if not self._is_held:
            storage, numbers = self._storage, range(first, last + 1)
            values = [None if storage is None else storage(name, ledger, number) for number in numbers]
            return self._give(sent, values)
        self._sent += 1
        self._asks[sent.ask.number] = sent
        if self._cache.max_size_bytes > 0:
            self._joinable.setdefault(ledger, JoinableAsks()).add(sent.ask)
        self._step_asks.append((name, sent.ask))
        return None

    def _open_ask(self, number: int) -> OpenAsk:
        """Return an ask that was not answered yet."""
        if number not in self._asks:
            raise ValueError(f"no ask {number} is open; expected one of {list(self._asks)}")
        return self._asks[number]

    def _close(self, number: int) -> OpenAsk:
        """Forget an ask, and return it."""
        answered = self._asks.pop(number)
        joinable = self._joinable.get(answered.ask.ledger)
        if joinable is not None:
            joinable.discard(answered.ask)
            if not joinable.asks:
                del self._joinable[answered.ask.ledger]
        return answered

    def _lose(self, number: int, is_busy: bool) -> None:
        """Let everybody who waits for an ask lose his part, as a task."""
        answered = self._close(number)
        if not is_busy:
            self._joinable.pop(answered.ask.ledger, None)

        def lose() -> None:
            for _, _, take in answered.waiting:
                take(None)

        self._tasks.append(lose)

    def _forget_asks(self, home: ManagedLedger) -> None:
        """Let nobody join what is asked of storage for a managed ledger."""
        for ledger in home.numbers:
            self._joinable.pop(ledger, None)

    def _give(self, answered: OpenAsk, values: Sequence[V | None]) -> None:
        """Cache what storage gave, and give everybody who waits his part, as a task."""
        ledger, start = answered.ask.ledger, answered.ask.first
        entries = self._fill(answered, values)

        def give() -> None:
            for first, last, take in answered.waiting:
                given = range(first, min(last, start + len(values) - 1) + 1)
                take([Delivery(Position(ledger, at), entries[at - start], values[at - start], False) for at in given])

        self._tasks.append(give)

    def _fill(self, answered: OpenAsk, values: Sequence[V | None]) -> list[store.Entry | None]:
        """Count misses, and insert what storage gave if it is worth that; return the entries that were inserted."""
        cache, (_, ledger, first, _) = self._cache, answered.ask
        home = answered.asker.cursor.home
        sizes = home.sizes[ledger][first : first + len(values)]
        cache._counts.miss_entries += len(sizes)
        cache._counts.miss_bytes += sum(sizes)
        count = self._count(answered.asker)
        is_skipped = isinstance(answered.asker, Replay) or (count <= 0 and cache.max_size_bytes > 0)
        self._report_misses(home.name, ledger, first, sizes, is_skipped)
        if is_skipped:
            return [None] * len(values)
        entries: list[store.Entry | None] = []
        cache._insert_cause = "FILL"
        try:
            for number, (size_bytes, value) in enumerate(zip(sizes, values, strict=True), first):
                is_new = self._insert(home, Position(ledger, number), size_bytes, value, count)
                entries.append(cache._find(home.name, ledger, number) if is_new else None)
        finally:
            cache._insert_cause = "ADD"
        return entries

    def _report_misses(self, cache: str, ledger: int, first: int, sizes: list[int], is_skipped: bool) -> None:
        """Report a row for each entry that storage gave later, then one for each that is not offered to the cache."""
        emit, now_nanos, all_bytes = self._cache._on_row, self._cache._clock(), self._cache.size_bytes
        if emit is None:
            return
        for number, _ in enumerate(sizes if self._is_held else [], first):
            emit(rows.absent_row("MISS", "READ", now_nanos, all_bytes, cache, ledger, number))
        for number, size_bytes in enumerate(sizes if is_skipped else [], first):
            emit(rows.absent_row("SKIP", "NOT_WANTED", now_nanos, all_bytes, cache, ledger, number, size_bytes))

    def _insert(
        self, home: ManagedLedger, position: Position, size_bytes: int, value: V | None, count: int | None
    ) -> bool:
        """Offer an entry to the cache, and return whether the cache has taken it in."""
        is_new = self._cache.insert(home.name, *position, size_bytes, value, count)
        if is_new:
            home.taken_entries += 1
            home.taken_bytes += size_bytes
        return is_new

    def _count(self, reader: Reader) -> int:
        """Return the count of the fills of a read: how many cursors are still to read them."""
        cursor = reader.cursor
        if isinstance(reader, Replay):
            return 0
        if self._cache.evict_by_expected_reads:
            return self._cache.cursor_rank(cursor.home.name, cursor.name)
        return 1 if cursor.is_flagged else 0


def unbroken_from(first: int, got: list[Delivery]) -> list[Delivery]:
    """Return the entries from `first` on, up to the first one that is missing, ascending."""
    got.sort(key=lambda one: one.position)
    missing = next((at for at, one in enumerate(got) if one.position.entry != first + at), len(got))
    return got[:missing]


def runs_of(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of neighbours in ascending numbers."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
