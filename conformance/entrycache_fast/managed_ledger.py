"""Managed ledgers over a broker cache: appends, cursors, and their reads through the cache.

`ManagedLedgers` decides which entries a `BrokerCache` takes, which reads it serves, and what cursors make leave. These
are the rules R-LEDGER-1 to R-LEDGER-20. It needs only the standard library.

    >>> from entrycache_fast import BrokerCache
    >>> from entrycache_fast.managed_ledger import ManagedLedgers
    >>> cache = BrokerCache()
    >>> ledgers = ManagedLedgers(cache)
    >>> ledgers.append("orders", 1, 0, 10, "a")
    Appended(cached=True, expected_reads=None)
    >>> ledgers.open_cursor("orders", "billing", (1, 0))
    >>> ledgers.append("orders", 1, 1, 10, "b")
    Appended(cached=True, expected_reads=1)
    >>> ledgers.read("orders", "billing", 5).values
    ['a', 'b']
    >>> ledgers.cursor_state("orders", "billing")
    CursorView(read=Position(ledger=1, entry=2), mark_delete=Position(ledger=1, entry=-1), active=True)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple

from entrycache_fast.limiter import ReadLimiter
from entrycache_fast.managed_cursors import AckedRuns, Cursor, CursorView, ManagedLedger
from entrycache_fast.managed_reads import LedgerReads, Progress, Read, Replay
from entrycache_fast.pulsar import arguments
from entrycache_fast.pulsar.cache import BrokerCache
from entrycache_fast.pulsar.results import Position, ReadResult, Removal, V


class Appended(NamedTuple):
    """The answer to an append: true if the cache has taken the entry, and the reads that it expects; None: no count."""

    cached: bool
    expected_reads: int | None


class ManagedLedgers(LedgerReads[V], Generic[V]):
    """Managed ledgers over one broker cache, each with the name of its cache.

    The first `append` makes a managed ledger. From then on only this class may change the entries and cursors of its
    cache; passes, settings and lookups are calls of the cache, as ever. A wrong call raises ValueError and changes
    nothing. It is not safe for several threads: hold a lock around each call.
    """

    def __init__(
        self,
        cache: BrokerCache[V],
        storage: Callable[[str, int, int], V | None] | None = None,
        is_held: bool = False,
        limiter: ReadLimiter | None = None,
        min_backlog_cursors: int = 0,
        min_backlog_entries: int = 1_000,
        max_backlog_between: int = 1_000,
        holds_invalidations: bool = False,
    ) -> None:
        """Make managed ledgers over `cache`; none exists yet.

        `storage` returns the value of an entry that was appended, by cache, ledger and entry; without it values from
        storage are None. It must neither raise nor call the cache. If `is_held`, storage is not called: `begin_read`
        and `begin_replay` return what they ask of it, and `answer` and `fail` take its answers. Then reads take their
        permits from the `limiter`, unless that is off. The three numbers are for `check_backlogs`. If
        `holds_invalidations`, what all active cursors have passed stays cached until `run_invalidations`.
        """
        super().__init__(cache, storage, is_held, limiter)
        self._holds_invalidations = holds_invalidations
        self._min_backlog_cursors = min_backlog_cursors
        self._min_backlog_entries = min_backlog_entries
        self._max_backlog_between = max_backlog_between
        self._homes: dict[str, ManagedLedger] = {}
        self._owners: dict[int, str] = {}
        """The managed ledger that has, or had, the ledger of a number."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the managed ledgers."""
        return tuple(self._homes)

    def append(self, cache: str, ledger: int, entry: int, size_bytes: int, value: V | None = None) -> Appended:
        """Append the next entry, or entry 0 of a new ledger with a higher number; offer it to the cache."""
        arguments.check_offer(ledger, entry, size_bytes)
        home = self._homes.get(cache)
        if home is None:
            if self._cache._is_known(cache):
                raise ValueError(f"cache {cache!r} is in use and not managed; expected another name")
            home = ManagedLedger(cache)
        is_first = not home.numbers
        begins_ledger = entry == 0 and ledger not in self._owners and (is_first or ledger > home.current)
        if not begins_ledger and (is_first or (ledger, entry) != (home.current, home.length(home.current))):
            raise ValueError(f"{(ledger, entry)} is not the next entry of {cache!r}, nor does it begin a new ledger")
        self._homes[cache] = home
        if begins_ledger:
            self._roll_over(home, ledger)
        position = home.add(size_bytes)
        count = self._cache.cursors(cache) if self._cache.evict_by_expected_reads else None
        cached = self._cache.should_cache(cache) and self._insert(home, position, size_bytes, value, count)
        return Appended(cached, (count or None) if cached else None)

    def _roll_over(self, home: ManagedLedger, ledger: int) -> None:
        """Begin a ledger; each cursor that has consumed its ledger is marked up to the next one."""
        home.begin_ledger(ledger)
        self._owners[ledger] = home.name
        for cursor in home.cursors.values():
            at = cursor.mark_delete
            later = home.later_ledger(at.ledger)
            if later is not None and home.is_there(at) and at.entry == home.length(at.ledger) - 1:
                self._mark(cursor, Position(later, -1))
        self._finish_step()

    def delete_ledger(self, cache: str, ledger: int) -> Removal:
        """Delete a ledger that is not the current one, with its cached entries; every cursor stays where it is."""
        home = self._home(cache)
        if ledger not in home.sizes or ledger == home.current:
            raise ValueError(
                f"{cache!r} has no ledger {ledger} that can be deleted; expected one of {home.numbers[:-1]}"
            )
        if home.open_reads:
            raise ValueError(f"a read of {cache!r} has not ended; no ledger can be deleted now")
        home.delete(ledger)
        return self._cache.invalidate_ledger(cache, ledger)

    def open_cursor(self, cache: str, cursor: str, position: tuple[int, int], durable: bool = True) -> None:
        """Open a cursor at a position; it is active. A durable one begins at the first entry and is then moved."""
        home, at = self._place(cache, position)
        if cursor in home.cursors:
            raise ValueError(f"{cache!r} has a cursor {cursor!r}; expected another name")
        start = Position(home.numbers[0], 0) if durable else at
        before = Position(start.ledger, -1) if durable else home.position_before(at)
        home.cursors[cursor] = Cursor(home, cursor, durable, start, before)
        self.activate(cache, cursor)
        if durable:
            self.seek(cache, cursor, at)

    def close_cursor(self, cache: str, cursor: str) -> None:
        """Close a cursor; its name is free again."""
        self._idle(cache, cursor)
        self.deactivate(cache, cursor)
        del self._home(cache).cursors[cursor]

    def activate(self, cache: str, cursor: str) -> None:
        """Make a cursor active: a member of the cache at its tracked position."""
        opened = self._cursor(cache, cursor)
        if not opened.is_active:
            opened.is_active = True
            self._cache.cursor_add(cache, cursor, self._tracked(opened))

    def deactivate(self, cache: str, cursor: str) -> None:
        """Make a cursor inactive; what only it was to read may be dropped."""
        opened = self._cursor(cache, cursor)
        if opened.is_active:
            opened.is_active = False
            self._cache.cursor_remove(cache, cursor)
            self._invalidate(opened.home)
            self._finish_step()

    def cursor_state(self, cache: str, cursor: str) -> CursorView:
        """Return the positions of a cursor, and whether it is active."""
        opened = self._cursor(cache, cursor)
        return CursorView(opened.read, opened.mark_delete, opened.is_active)

    def seek(self, cache: str, cursor: str, position: tuple[int, int]) -> None:
        """Set the read position; at or below the mark-delete position it becomes the position after that."""
        opened = self._cursor(cache, cursor)
        home, at = self._place(cache, position)
        self._move_read(opened, home.next_position(opened.mark_delete) if at <= opened.mark_delete else at)
        self._finish_step()

    def reset(self, cache: str, cursor: str, position: tuple[int, int]) -> None:
        """Set the read position, and the mark-delete position before it; forget all acknowledgements."""
        opened = self._idle(cache, cursor)
        home, at = self._place(cache, position)
        opened.mark_delete = home.position_before(at)
        opened.acks = AckedRuns()
        opened.read = at
        self._track(opened)
        self._finish_step()

    def mark_delete(self, cache: str, cursor: str, position: tuple[int, int]) -> None:
        """Acknowledge all entries up to a position."""
        opened = self._cursor(cache, cursor)
        at = self._entry(opened.home, position)
        if at < opened.mark_delete:
            raise ValueError(f"{cursor!r} has deleted all up to {opened.mark_delete}; expected no lower position")
        self._mark(opened, at)
        self._finish_step()

    def ack(self, cache: str, cursor: str, position: tuple[int, int]) -> None:
        """Acknowledge one entry; the mark-delete position moves over acknowledged entries that follow it."""
        opened = self._cursor(cache, cursor)
        at = self._entry(opened.home, position)
        if not opened.is_acked(at):
            opened.acks.add(*at)
        end = opened.acked_prefix()
        if end is not None:
            self._mark(opened, end)
        self._finish_step()

    def _mark(self, cursor: Cursor, position: Position) -> None:
        """Move the mark-delete position of a cursor up, and its read position behind that."""
        cursor.mark_up_to(position)
        if cursor.read <= cursor.mark_delete:
            self._move_read(cursor, cursor.home.next_position(cursor.mark_delete))
        if self._cache.evict_by_mark_deleted:
            self._track(cursor)

    def check_backlogs(self, cache: str) -> None:
        """Flag the durable cursors whose backlogs are long and alike, so that the cache takes what they read."""
        home = self._home(cache)
        least = self._min_backlog_cursors
        if self._cache.evict_by_expected_reads or least == 0:
            return
        backlogs = [(cursor.backlog(), cursor) for cursor in home.cursors.values() if cursor.is_durable]
        ordered = sorted(backlog for backlog, _ in backlogs)
        for backlog, cursor in backlogs:
            above = bisect_right(ordered, backlog + self._max_backlog_between)
            others = above - bisect_left(ordered, backlog - self._max_backlog_between) - 1
            cursor.is_flagged = backlog >= self._min_backlog_entries and others >= least

    def run_invalidations(self, cache: str) -> Removal:
        """Drop what the highest invalidation drops that was due since the last call, if invalidations are held."""
        return self._run_invalidation(self._home(cache))

    def read(self, cache: str, cursor: str, max_entries: int, hold: str | None = None) -> ReadResult[V]:
        """Read at most `max_entries` entries from the read position on, while storage answers at once.

        Entries that are acknowledged are passed over. With a `hold` the result stays under that name until `release`.
        """
        read = Read(self._cursor(cache, cursor), hold, max_entries)
        self._check_begin(read, is_held=False)
        self._begin(read)
        self._go_on(read, read.cursor.read)
        return self._result(read)

    def replay(
        self, cache: str, cursor: str, positions: Sequence[tuple[int, int]], hold: str | None = None
    ) -> ReadResult[V]:
        """Read these positions again, ascending, without those that are acknowledged; cache none of them."""
        return self._result(self._start_replay(cache, cursor, positions, hold, is_held=False))

    def begin_read(self, cache: str, cursor: str, name: str, max_entries: int) -> Progress:
        """Begin a read while storage is held; when it has ended, its name is the hold of its entries."""
        read = Read(self._cursor(cache, cursor), name, max_entries)
        self._check_begin(read, is_held=True)
        self._begin(read)
        self._go_on(read, read.cursor.read)
        return self._finish_step()

    def begin_replay(self, cache: str, cursor: str, name: str, positions: Sequence[tuple[int, int]]) -> Progress:
        """Begin a replay while storage is held; when it has ended, its name is the hold of its entries."""
        self._start_replay(cache, cursor, positions, name, is_held=True)
        return self._finish_step()

    def _start_replay(
        self, cache: str, cursor: str, positions: Sequence[tuple[int, int]], name: str | None, is_held: bool
    ) -> Replay:
        opened = self._cursor(cache, cursor)
        wanted = self._replayed(opened, positions)
        replay = Replay(opened, name, len(wanted))
        self._check_begin(replay, is_held=is_held)
        self._begin(replay)
        self._begin_replay(replay, wanted)
        return replay

    def replay_add(self, hold: str, position: tuple[int, int], expects_read: bool) -> Progress:
        """Release one entry of a hold, because it is to be replayed; if `expects_read`, expect one read more first."""
        self._cache.release_one(hold, *position, expects_read)
        self._return_permits(self._held.get(hold, {}).pop(Position(*position), None))
        return self._finish_step()

    # Checks of arguments.

    def _home(self, cache: str) -> ManagedLedger:
        """Return a managed ledger."""
        if cache not in self._homes:
            raise ValueError(f"there is no managed ledger {cache!r}; expected one of {', '.join(self._homes)}")
        return self._homes[cache]

    def _cursor(self, cache: str, cursor: str) -> Cursor:
        """Return a cursor that is open."""
        cursors = self._home(cache).cursors
        if cursor not in cursors:
            raise ValueError(f"{cache!r} has no cursor {cursor!r}; expected one of {', '.join(cursors)}")
        return cursors[cursor]

    def _idle(self, cache: str, cursor: str) -> Cursor:
        """Return a cursor of which no read is open."""
        opened = self._cursor(cache, cursor)
        if opened.reads:
            raise ValueError(f"a read of cursor {cursor!r} has not ended")
        return opened

    def _place(self, cache: str, position: tuple[int, int]) -> tuple[ManagedLedger, Position]:
        """Return a managed ledger, and a position of it where a cursor can stand."""
        arguments.check_positions(position=position)
        home = self._home(cache)
        if not home.is_valid(position):
            raise ValueError(f"{position} is no entry of {cache!r}, nor the next one")
        return home, Position(*position)

    def _entry(self, home: ManagedLedger, position: tuple[int, int]) -> Position:
        """Return a position at which an entry is there."""
        arguments.check_positions(position=position)
        if not home.is_there(position):
            raise ValueError(f"{position} is no entry of {home.name!r}")
        return Position(*position)

    def _replayed(self, cursor: Cursor, positions: Sequence[tuple[int, int]]) -> list[Position]:
        """Return the positions that are to be replayed, ascending."""
        if not positions:
            raise ValueError("expected at least one position to replay")
        wanted = {self._entry(cursor.home, position) for position in positions}
        return sorted(position for position in wanted if not cursor.is_acked(position))

    def _check_begin(self, reader: Read | Replay, is_held: bool) -> None:
        """Refuse a read that cannot begin."""
        if is_held != self._is_held:
            raise ValueError(f"storage {'is' if self._is_held else 'is not'} held; expected the other kind of read")
        if isinstance(reader, Read) and reader.wanted < 1:
            raise ValueError(f"max_entries must be above 0, got {reader.wanted}")
        self._cache._check_free(reader.name)
        if type(reader) in reader.cursor.reads:
            raise ValueError(f"a read like {reader.name!r} of cursor {reader.cursor.name!r} has not ended")

    def _result(self, reader: Read | Replay) -> ReadResult[V]:
        """Return what a read has got from storage that answers at once; without a name it is released."""
        self._finish_step()
        if reader.name is None:
            self._lower(reader.got)
        hits, fills = ([one for one in reader.got if one.is_hit is kind] for kind in (True, False))
        return ReadResult(
            tuple(one.position for one in hits),
            tuple(one.position for one in fills),
            [one.value for one in (*hits, *fills)],
        )
