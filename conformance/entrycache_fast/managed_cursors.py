"""The positions of a managed ledger: its ledgers, its cursors, and the acknowledgements of each cursor.

A managed ledger is a row of ledgers, of which the last one takes the appends. A cursor has a read position, from which
its next read begins, and a mark-delete position: everything up to that is acknowledged. Entries above it that were
acknowledged one by one are kept as runs of neighbours, so an acknowledgement takes a binary search however many there
are. An active cursor is a member of the cache, and the slowest one decides what an invalidation drops.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Generic, NamedTuple

from entrycache_fast.pulsar.cache import BrokerCache
from entrycache_fast.pulsar.results import Position, Removal, V

EVERYTHING: Final = Position(1 << 64, 0)
"""The bound of an invalidation that drops all entries; it is above every position."""


class CursorView(NamedTuple):
    """The read position and the mark-delete position of a cursor, and whether it is active."""

    read: Position
    mark_delete: Position
    active: bool


class AckedRuns:
    """Entries that were acknowledged one by one, as runs of neighbours in one ledger."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: dict[int, tuple[list[int], list[int]]] = {}
        """The first and the last entries of the runs of each ledger, ascending. No two runs touch."""

    def run_end(self, ledger: int, entry: int) -> int | None:
        """Return the last entry of the run that holds this one, or None if no run does."""
        firsts, lasts = self._runs.get(ledger, ((), ()))
        at = bisect_right(firsts, entry) - 1
        return lasts[at] if at >= 0 and entry <= lasts[at] else None

    def next_run(self, ledger: int, entry: int) -> int | None:
        """Return the first entry of the first run that begins at or behind this entry."""
        firsts, _ = self._runs.get(ledger, ((), ()))
        at = bisect_left(firsts, entry)
        return firsts[at] if at < len(firsts) else None

    def first_run(self) -> tuple[Position, Position] | None:
        """Return the first and the last position of the lowest run."""
        if not self._runs:
            return None
        ledger = min(self._runs)
        firsts, lasts = self._runs[ledger]
        return Position(ledger, firsts[0]), Position(ledger, lasts[0])

    def count_from(self, ledger: int, entry: int) -> int:
        """Count the acknowledged entries of a ledger at or behind this one."""
        firsts, lasts = self._runs.get(ledger, ((), ()))
        at = bisect_left(lasts, entry)
        return sum(last - max(first, entry) + 1 for first, last in zip(firsts[at:], lasts[at:], strict=True))

    def add(self, ledger: int, entry: int) -> None:
        """Add an entry that is in no run, and join it to its neighbours."""
        firsts, lasts = self._runs.setdefault(ledger, ([], []))
        at = bisect_right(firsts, entry)
        joins_before = at > 0 and lasts[at - 1] == entry - 1
        joins_after = at < len(firsts) and firsts[at] == entry + 1
        if joins_before and joins_after:
            del lasts[at - 1], firsts[at]
        elif joins_before:
            lasts[at - 1] = entry
        elif joins_after:
            firsts[at] = entry
        else:
            firsts.insert(at, entry)
            lasts.insert(at, entry)

    def forget_up_to(self, position: Position) -> None:
        """Forget the entries up to a position."""
        for ledger in [ledger for ledger in self._runs if ledger <= position.ledger]:
            firsts, lasts = self._runs[ledger]
            at = bisect_right(lasts, position.entry) if ledger == position.ledger else len(lasts)
            del firsts[:at], lasts[:at]
            if not firsts:
                del self._runs[ledger]
            else:
                firsts[0] = max(firsts[0], position.entry + 1)


class Cursor:
    """One cursor of a managed ledger."""

    __slots__ = ("acks", "home", "is_active", "is_durable", "is_flagged", "mark_delete", "name", "read", "reads")

    def __init__(self, home: ManagedLedger, name: str, is_durable: bool, read: Position, mark_delete: Position) -> None:
        self.home = home
        self.name = name
        self.is_durable = is_durable
        self.read = read
        self.mark_delete = mark_delete
        self.acks = AckedRuns()
        self.is_active = False
        self.is_flagged = False
        """True if the last check of backlogs wants the reads of this cursor cached."""
        self.reads: set[type] = set()
        """The kinds of its reads that have not ended."""

    def is_acked(self, position: Position) -> bool:
        """Return whether a position is acknowledged."""
        return position <= self.mark_delete or self.acks.run_end(*position) is not None

    def first_unacked(self, ledger: int, entry: int) -> int:
        """Return the first entry of a ledger at or behind this one that is not acknowledged; it may not be there."""
        if self.mark_delete.ledger > ledger:
            return self.home.length(ledger)
        if self.mark_delete.ledger == ledger:
            entry = max(entry, self.mark_delete.entry + 1)
        end = self.acks.run_end(ledger, entry)
        return entry if end is None else end + 1

    def chunk(self, start: Position, most: int) -> tuple[int, int] | None:
        """Return the first run of entries that are not acknowledged, in a window of `most` entries of one ledger."""
        end = min(start.entry + most, self.home.length(start.ledger))
        first = self.first_unacked(*start)
        if first >= end:
            return None
        acked = self.acks.next_run(start.ledger, first)
        return first, (end if acked is None else min(end, acked)) - 1

    def backlog(self) -> int:
        """Count the entries from the read position on that are there and not acknowledged."""
        home, (ledger, entry) = self.home, self.read
        total = 0
        for number in home.numbers[bisect_left(home.numbers, ledger) :]:
            first = entry if number == ledger else 0
            total += home.length(number) - first - self.acks.count_from(number, first)
        return total

    def mark_up_to(self, position: Position) -> None:
        """Mark everything up to a position as deleted, and go on over acknowledged neighbours."""
        home = self.home
        if position > self.mark_delete:
            following = home.next_position(position)
            while following <= home.last_position:
                end = self.acks.run_end(*following)
                if end is None:
                    break
                position = Position(following.ledger, end)
                following = home.next_position(position)
        self.mark_delete = position
        self.acks.forget_up_to(position)

    def acked_prefix(self) -> Position | None:
        """Return the end of the first acknowledged run, if no entry lies between it and the mark-delete position."""
        run = self.acks.first_run()
        if run is None or self.home.has_entry_between(self.mark_delete, run[0]):
            return None
        return run[1]


class ManagedLedger:
    """The ledgers of one managed ledger by number, ascending, and its cursors by name.

    `sizes` holds the size of each entry of a ledger that is there, `size_bytes` their sums. `due` is the bound
    of an invalidation that has not run yet. `taken_entries` and `taken_bytes` sum up what the cache has taken in.
    """

    __slots__ = (
        "cursors",
        "due",
        "last_position",
        "name",
        "numbers",
        "open_reads",
        "size_bytes",
        "sizes",
        "taken_bytes",
        "taken_entries",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers: list[int] = []
        self.sizes: dict[int, list[int]] = {}
        self.size_bytes: dict[int, int] = {}
        self.last_position = Position(-1, -1)
        self.cursors: dict[str, Cursor] = {}
        self.due: Position | None = None
        self.open_reads = 0
        self.taken_entries = 0
        self.taken_bytes = 0

    @property
    def current(self) -> int:
        """The number of the ledger that takes the appends."""
        return self.numbers[-1]

    def length(self, ledger: int) -> int:
        """Return the number of entries of a ledger that is there."""
        return len(self.sizes[ledger])

    def is_there(self, position: tuple[int, int]) -> bool:
        """Return whether a position is an entry of a ledger that has not been deleted."""
        ledger, entry = position
        return ledger in self.sizes and 0 <= entry < len(self.sizes[ledger])

    def is_valid(self, position: tuple[int, int]) -> bool:
        """Return whether a position is an entry, or where the current ledger takes the next one."""
        return self.is_there(position) or position == (self.current, self.length(self.current))

    def begin_ledger(self, ledger: int) -> None:
        """Make a new ledger the current one."""
        self.numbers.append(ledger)
        self.sizes[ledger] = []
        self.size_bytes[ledger] = 0

    def add(self, size_bytes: int) -> Position:
        """Add an entry to the current ledger, and return its position."""
        sizes = self.sizes[self.current]
        sizes.append(size_bytes)
        self.size_bytes[self.current] += size_bytes
        self.last_position = Position(self.current, len(sizes) - 1)
        return self.last_position

    def delete(self, ledger: int) -> None:
        """Forget a ledger."""
        del self.numbers[bisect_left(self.numbers, ledger)], self.sizes[ledger], self.size_bytes[ledger]

    def later_ledger(self, ledger: int) -> int | None:
        """Return the next later ledger that is there."""
        at = bisect_right(self.numbers, ledger)
        return self.numbers[at] if at < len(self.numbers) else None

    def next_position(self, position: Position) -> Position:
        """Return the position after this one: an entry, or where the next one is appended."""
        following = Position(position.ledger, position.entry + 1)
        if self.is_valid(following):
            return following
        later = self.later_ledger(position.ledger)
        return Position(self.current, self.length(self.current)) if later is None else Position(later, 0)

    def position_before(self, position: Position) -> Position:
        """Return the position before this one, which may be entry -1 of its ledger."""
        ledger, entry = position
        at = bisect_left(self.numbers, ledger)
        if entry > 0 or at == 0:
            return Position(ledger, entry - 1)
        return Position(self.numbers[at - 1], self.length(self.numbers[at - 1]) - 1)

    def has_entry_between(self, low: Position, high: Position) -> bool:
        """Return whether an entry that is there lies above `low` and below `high`."""
        following = self.next_position(low)
        return following < high and self.is_there(following)

    def average_size(self, ledger: int) -> int:
        """Return the average size of the entries of a ledger, for the permits of a read.

        If they have no bytes, it is that of all entries that the cache has taken in, and at least 10 KiB.
        """
        if self.size_bytes[ledger]:
            return max(1, self.size_bytes[ledger] // self.length(ledger))
        return max(self.taken_bytes // self.taken_entries if self.taken_entries else 0, 10_240)


class TrackedCursors(Generic[V]):
    """The active cursors of managed ledgers as members of a broker cache, and what they make leave.

    What is to be done after all that is queued already is a task. If invalidations are held, `run_invalidations` runs
    the one of a managed ledger that is due.
    """

    def __init__(self, cache: BrokerCache[V]) -> None:
        self._cache = cache
        self._holds_invalidations = False
        self._tasks: deque[Callable[[], object]] = deque()

    def _forget_asks(self, home: ManagedLedger) -> None:
        """Let nobody join what is asked of storage for a managed ledger."""

    def _move_read(self, cursor: Cursor, position: Position) -> None:
        """Move the read position of a cursor, unless that would be at or below its mark-delete position."""
        if position > cursor.mark_delete:
            cursor.read = position
            if not self._cache.evict_by_mark_deleted:
                self._track(cursor)

    def _tracked(self, cursor: Cursor) -> Position:
        """Return the position at which an active cursor is a member of the cache."""
        return cursor.mark_delete if self._cache.evict_by_mark_deleted else cursor.read

    def _track(self, cursor: Cursor) -> None:
        """Set the tracked position of an active cursor; an invalidation is due if the slowest one is another now."""
        if not cursor.is_active:
            return
        cache, name = self._cache, cursor.home.name
        before = cache.slowest(name)
        cache.cursor_move(name, cursor.name, self._tracked(cursor))
        if cache.slowest(name) != before:
            self._invalidate(cursor.home)

    def _invalidate(self, home: ManagedLedger) -> None:
        """Drop what no active cursor is still to read, as a task."""
        cache = self._cache
        if cache.evict_by_expected_reads or not any(
            ledger.size_bytes for ledger in cache._caches[home.name].ledgers.values()
        ):
            return
        bound = cache.slowest(home.name) or EVERYTHING
        if home.due is None:
            home.due = bound
            if not self._holds_invalidations:
                self._tasks.append(partial(self._run_invalidation, home))
        else:
            home.due = max(home.due, bound)

    def _run_invalidation(self, home: ManagedLedger) -> Removal:
        """Run the invalidation that is due, if one is, and return what left the cache."""
        bound, home.due = home.due, None
        if bound is None:
            return Removal(0, 0)
        if bound != EVERYTHING:
            return self._cache.invalidate_before(home.name, bound)
        self._forget_asks(home)
        return self._cache._remove(self._cache._open(home.name).everything(), "CURSOR")
