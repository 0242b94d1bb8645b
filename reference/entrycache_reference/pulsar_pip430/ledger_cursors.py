"""Operations on the cursors of a managed ledger: opening, moving, acknowledging, closing, reads and replays.

A read takes one chunk after another: a run of entries of one ledger that are not acknowledged. It looks all of them up,
has storage give the others, offers those to the cache, and moves the read position. A replay reads given positions
again, one by one; with variant `replay` "grouped" those that are not cached are read in groups.

Beside: ManagedLedgerImpl.asyncOpenCursor, .newNonDurableCursor, .activateCursor (managed-ledger 4.2.4)
Beside: ManagedCursorImpl.asyncDelete (managed-ledger 4.2.4)
Beside: OpReadEntry, ManagedLedgerImpl.asyncReadEntries, .internalReadFromLedger (managed-ledger 4.2.4)
Beside: ManagedCursorImpl.asyncReplayEntries (managed-ledger 4.2.4)
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430 import cursors, entries, ledger, ops, storage_reads
from entrycache_reference.pulsar_pip430.change import cache_of, entry_at
from entrycache_reference.pulsar_pip430.config import AckedWindow, Config, Replay, Storage
from entrycache_reference.pulsar_pip430.outcomes import CursorAt, Ranked, Served
from entrycache_reference.pulsar_pip430.state import ManagedCursor, ManagedLedger, State, Step
from entrycache_reference.pulsar_pip430.storage_reads import REFUSED, fill, look_up
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position

# The operations on a cursor.


@rule(Rule.LEDGER_15)
def cursor_open(state: State, event: ops.CursorOpen, config: Config) -> Step:
    """Open a cursor, active."""
    # GUARD: a free name and a valid position.
    managed = state.managed[event.cache]
    if event.cursor in managed.cursors or not ledger.is_valid(managed, event.pos):
        return Step(state, REFUSED, ())

    # DECISION: a durable cursor begins at the first entry.
    start = Position(min(managed.sizes), 0) if event.durable else event.pos
    before = Position(start.ledger, -1) if event.durable else ledger.position_before(managed, event.pos)
    opened = ledger.with_cursor(state, event.cache, event.cursor, ManagedCursor(event.durable, start, before))

    # EFFECT: and is moved to its position like any other.
    done = ledger.join(opened, event.cache, event.cursor, config)
    if event.durable:
        done = ledger.then(done, ledger.move_read(done.state, event.cache, event.cursor, event.pos, config))

    # OUTCOME
    return ledger.run_due(done, event.cache, config)


@rule(Rule.LEDGER_14)
def cursor_seek(state: State, event: ops.CursorSeek, config: Config) -> Step:
    """Set the read position."""
    # GUARD: a known cursor and a valid position.
    cursor = ledger.cursor_of(state, event)
    managed = state.managed[event.cache]
    if cursor is None or not ledger.is_valid(managed, event.pos):
        return Step(state, REFUSED, ())

    # DECISION: never at or below the mark-delete position.
    pos = event.pos if event.pos > cursor.mark_delete else ledger.position_after(managed, cursor.mark_delete)

    # EFFECT and OUTCOME
    return ledger.run_due(ledger.move_read(state, event.cache, event.cursor, pos, config), event.cache, config)


@rule(Rule.LEDGER_9, Rule.LEDGER_14)
def cursor_reset(state: State, event: ops.CursorReset, config: Config) -> Step:
    """Set both positions of a cursor and forget what it acknowledged."""
    # GUARD: a known cursor none of whose reads is open, and a valid position.
    cursor = ledger.cursor_of(state, event)
    managed = state.managed[event.cache]
    is_reading = ledger.has_open_read(state, event.cache, event.cursor)
    if cursor is None or is_reading or not ledger.is_valid(managed, event.pos):
        return Step(state, REFUSED, ())

    # DECISION: none.
    # EFFECT: counts stay as they are.
    before = ledger.position_before(managed, event.pos)
    changed = cursor._replace(read=event.pos, mark_delete=before, acks=frozenset())
    done = ledger.track(
        ledger.with_cursor(state, event.cache, event.cursor, changed), event.cache, event.cursor, config
    )

    # OUTCOME
    return ledger.run_due(done, event.cache, config)


@rule(Rule.LEDGER_10)
def mark_delete(state: State, event: ops.MarkDelete, config: Config) -> Step:
    """Acknowledge everything up to a position."""
    # GUARD: a known cursor, and an entry that is not below the mark-delete position.
    cursor = ledger.cursor_of(state, event)
    if cursor is None or event.pos < cursor.mark_delete or not ledger.is_there(state.managed[event.cache], event.pos):
        return Step(state, REFUSED, ())

    # DECISION, EFFECT and OUTCOME
    return ledger.run_due(ledger.acknowledge(state, event.cache, event.cursor, event.pos, config), event.cache, config)


@rule(Rule.LEDGER_11)
def is_gap_closed(managed: ManagedLedger, cursor: ManagedCursor) -> bool:
    """Return whether no entry lies between the mark-delete position and the first acknowledged one."""
    first = min(cursor.acks)
    return not any(
        cursor.mark_delete < pos < first for number in managed.sizes for pos in ledger.positions_of(managed, number)
    )


@rule(Rule.LEDGER_11)
def ack(state: State, event: ops.Ack, config: Config) -> Step:
    """Acknowledge one entry, and move the mark-delete position over what is then acknowledged without a gap."""
    # GUARD: a known cursor and an entry.
    cursor = ledger.cursor_of(state, event)
    managed = state.managed[event.cache]
    if cursor is None or not ledger.is_there(managed, event.pos):
        return Step(state, REFUSED, ())

    # DECISION: an entry that is acknowledged already is not counted twice.
    if not ledger.is_acked(cursor, event.pos):
        cursor = cursor._replace(acks=cursor.acks | {event.pos})
    after = ledger.with_cursor(state, event.cache, event.cursor, cursor)
    if not cursor.acks or not is_gap_closed(managed, cursor):
        return ledger.unchanged(after)

    # EFFECT and OUTCOME
    end = ledger.end_of_run(cursor, min(cursor.acks))
    return ledger.run_due(ledger.acknowledge(after, event.cache, event.cursor, end, config), event.cache, config)


@rule(Rule.LEDGER_15)
def activate(state: State, event: ops.Activate, config: Config) -> Step:
    """Make a cursor active."""
    # GUARD: a known cursor.
    if ledger.cursor_of(state, event) is None:
        return Step(state, REFUSED, ())

    # DECISION: an active one stays as it is.
    if event.cursor in cache_of(state, event.cache).members:
        return ledger.unchanged(state)

    # EFFECT and OUTCOME
    return ledger.join(state, event.cache, event.cursor, config)


@rule(Rule.LEDGER_14)
def deactivate(state: State, event: ops.Deactivate, config: Config) -> Step:
    """Make a cursor inactive."""
    # GUARD: a known cursor.
    if ledger.cursor_of(state, event) is None:
        return Step(state, REFUSED, ())

    # DECISION, EFFECT and OUTCOME
    return ledger.leave(state, event.cache, event.cursor, config)


@rule(Rule.LEDGER_14)
def cursor_close(state: State, event: ops.CursorClose, config: Config) -> Step:
    """Close a cursor."""
    # GUARD: a known cursor none of whose reads is open.
    if ledger.cursor_of(state, event) is None or ledger.has_open_read(state, event.cache, event.cursor):
        return Step(state, REFUSED, ())

    # DECISION: none.
    # EFFECT: it leaves as an inactive one, and its name is free.
    managed = state.managed[event.cache]
    left = {name: cursor for name, cursor in managed.cursors.items() if name != event.cursor}
    closed = ledger.with_managed(state, event.cache, managed._replace(cursors=left))

    # OUTCOME
    return ledger.leave(closed, event.cache, event.cursor, config)


def cursor_state(state: State, event: ops.CursorState, config: Config) -> Step:
    """Return the positions of a cursor."""
    # GUARD: a known cursor.
    cursor = ledger.cursor_of(state, event)
    if cursor is None:
        return Step(state, REFUSED, ())

    # DECISION: none.  EFFECT: none.
    # OUTCOME
    is_active = event.cursor in cache_of(state, event.cache).members
    return Step(state, CursorAt(cursor.read, cursor.mark_delete, is_active), ())


NOT_WANTED: Final = -1
"""The count of a read whose fills are not cached."""


# Reads by cursors.


class Chunk(NamedTuple):
    """One round of a read: the positions that it reads, and the position after them."""

    wanted: tuple[Position, ...]
    after: Position


@rule(Rule.LEDGER_3, Rule.LEDGER_4)
def next_chunk(managed: ManagedLedger, cursor: ManagedCursor, most: int, config: Config) -> Chunk:
    """Return the next chunk: the first run of at most `most` entries that are not acknowledged.

    A ledger that is gone, that lies behind, or of which everything is acknowledged is passed over. So is a window of
    `most` entries that are all acknowledged; with variant `acked_window` "run-passed", those behind it too.
    """
    start = cursor.read if cursor.read.ledger in managed.sizes else ledger.start_of_later(managed, cursor.read.ledger)
    positions = ledger.positions_of(managed, start.ledger)
    is_current = start.ledger == ledger.current_id(managed)
    if start.entry >= len(positions) or (not is_current and all(ledger.is_acked(cursor, pos) for pos in positions)):
        return Chunk((), start if is_current else ledger.start_of_later(managed, start.ledger))
    window = positions[start.entry : start.entry + most]
    left = [pos for pos in window if not ledger.is_acked(cursor, pos)]
    run = tuple(pos for number, pos in enumerate(left) if pos.entry == left[0].entry + number)
    last = run[-1] if run else window[-1]
    if not run and config.variants.acked_window is AckedWindow.RUN_PASSED:
        last = ledger.end_of_run(cursor, last)
    return Chunk(run, Position(last.ledger, last.entry + 1))


@rule(Rule.LEDGER_6, Rule.LEDGER_7, Rule.LEDGER_19)
def count_of_read(state: State, name: CacheName, cursor: CursorName, config: Config) -> int:
    """Return the count that the fills of a read carry: the rank of the cursor, or 1 if it is flagged.

    Without such a count the fills are not wanted, even if 0 expected reads are a count.
    """
    if config.evict_by_expected_reads:
        ranked = cursors.cursor_rank(state, ops.CursorRank(name, cursor), config).outcome
        assert isinstance(ranked, Ranked)
        return ranked.rank or NOT_WANTED
    return 1 if state.managed[name].cursors[cursor].is_flagged else NOT_WANTED


@rule(Rule.LEDGER_5, Rule.LEDGER_6, Rule.LEDGER_18)
def read_chunk(state: State, name: CacheName, cursor: CursorName, chunk: Chunk, config: Config) -> Step:
    """Read a chunk through the cache: look all of it up, then fill what storage gives, with one count."""
    served = look_up(state, name, chunk.wanted, config)
    assert isinstance(served.outcome, Served)
    if not served.outcome.fills:
        return served
    count = count_of_read(served.state, name, cursor, config)
    event = ops.Read(name, chunk.wanted[0], chunk.wanted[-1], count)
    return ledger.then(served, fill(served.state, event, served.outcome.fills, config))


def served_by(first: Step, second: Step) -> Served:
    """Return what two steps of a read have served."""
    assert isinstance(first.outcome, Served)
    assert isinstance(second.outcome, Served)
    hits = first.outcome.hits + second.outcome.hits
    fills = first.outcome.fills + second.outcome.fills
    return Served(hits, fills, tuple(pos.entry for pos in (*hits, *fills)))


@rule(Rule.LEDGER_3, Rule.LEDGER_4, Rule.LEDGER_7)
def read_on(state: State, event: ops.CursorRead, most: int, config: Config) -> Step:
    """Read one chunk, then move the read position behind it; an invalidation that is then due is a task."""
    managed = state.managed[event.cache]
    chunk = next_chunk(managed, managed.cursors[event.cursor], most, config)
    done = read_chunk(state, event.cache, event.cursor, chunk, config)
    moved = ledger.move_read(done.state, event.cache, event.cursor, chunk.after, config)
    return ledger.run_due(ledger.then(done, moved), event.cache, config)


NOTHING_SERVED: Final = Served((), (), ())


def can_read(state: State, event: ops.CursorRead | ops.ReplayRead, config: Config) -> bool:
    """Return whether storage answers at once, and the cursor is known."""
    return config.storage is Storage.AT_ONCE and ledger.cursor_of(state, event) is not None


@rule(Rule.LEDGER_3, Rule.LEDGER_4, Rule.LEDGER_9)
def cursor_read(state: State, event: ops.CursorRead, config: Config) -> Step:
    """Read from the read position on, chunk by chunk."""
    # GUARD: storage that answers at once, a known cursor, something to read, and a name that is free.
    if not can_read(state, event, config) or storage_reads.is_in_use(state, event.hold) or event.max_entries < 1:
        return Step(state, REFUSED, ())

    # DECISION and EFFECT: until enough was read, or the read position is behind the last entry.
    done = Step(state, NOTHING_SERVED, ())
    most = event.max_entries
    while most > 0:
        more = read_on(done.state, event, most, config)
        done = ledger.then(done, more)._replace(outcome=served_by(done, more))
        assert isinstance(done.outcome, Served)
        most = event.max_entries - len(done.outcome.hits) - len(done.outcome.fills)
        managed = done.state.managed[event.cache]
        if managed.cursors[event.cursor].read >= ledger.next_append(managed):
            break

    # OUTCOME
    return finish(done, event, config)


def finish(done: Step, event: ops.CursorRead | ops.ReplayRead, config: Config) -> Step:
    """Finish a read: hold what it got under its name, or release it."""
    assert isinstance(done.outcome, Served)
    positions = tuple(sorted((*done.outcome.hits, *done.outcome.fills)))
    nothing_more = Step(done.state, done.outcome, ())
    if not positions:
        return done
    return storage_reads.finish_read(
        done, nothing_more, storage_reads.held_positions(done.state, event.cache, positions), event.hold, config
    )


# Replays.

GAP_ENTRIES: Final = 8
GAP_BYTES: Final = 196_608
GROUP_ENTRIES: Final = 256
GROUP_BYTES: Final = 1_048_576
"""The bounds of a group of variant `replay` "grouped": of the gap between two positions, and of the whole group."""


@rule(Rule.LEDGER_8)
def move_off(state: State, event: ops.ReplayRead | ops.ReplayBegin, pos: Position, config: Config) -> Step:
    """Move the read position behind a replayed position, if it is just there."""
    if state.managed[event.cache].cursors[event.cursor].read != pos:
        return ledger.unchanged(state)
    return ledger.move_read(state, event.cache, event.cursor, Position(pos.ledger, pos.entry + 1), config)


@rule(Rule.LEDGER_8, Rule.LEDGER_18)
def replay_one(state: State, event: ops.ReplayRead, pos: Position, config: Config) -> Step:
    """Read one position through the cache; what storage gives is not cached."""
    served = look_up(state, event.cache, (pos,), config)
    assert isinstance(served.outcome, Served)
    rows = storage_reads.skipped_rows(Rule.LEDGER_8, state, event.cache, served.outcome.fills, config)
    return served._replace(rows=served.rows + rows)


@rule(Rule.LEDGER_8)
def replay_each(state: State, event: ops.ReplayRead, wanted: tuple[Position, ...], config: Config) -> Step:
    """Read the positions of a replay one by one, ascending."""
    done = Step(state, NOTHING_SERVED, ())
    for pos in wanted:
        moved = move_off(done.state, event, pos, config)
        read = replay_one(moved.state, event, pos, config)
        done = ledger.then(ledger.then(done, moved), read)._replace(outcome=served_by(done, read))
    return ledger.run_due(done, event.cache, config)


def may_span(managed: ManagedLedger, first: Position, last: Position, pos: Position) -> bool:
    """Return whether a group from `first` to `last` also reads `pos`, and with it what lies between."""
    sizes = [size for sizes in managed.sizes.values() for size in sizes]
    average = max(1, sum(sizes) // len(sizes))
    is_near = pos.entry - last.entry <= min(GAP_ENTRIES, 1 + GAP_BYTES // average)
    is_short = pos.entry - first.entry < min(GROUP_ENTRIES, GROUP_BYTES // average)
    has_bytes = pos.entry == last.entry + 1 or sum(managed.sizes[pos.ledger]) > 0
    return pos.ledger == first.ledger and is_near and is_short and has_bytes


class Group(NamedTuple):
    """One range that a grouped replay reads: the positions that it wants, and those with what lies between."""

    wanted: tuple[Position, ...]
    positions: tuple[Position, ...]


def groups_of(
    managed: ManagedLedger, wanted: tuple[Position, ...], budget_bytes: int | None = None
) -> tuple[Group, ...]:
    """Return the ranges that a grouped replay reads; what lies between stays within an estimated number of bytes."""
    groups: list[list[Position]] = []
    between = 0
    for pos in wanted:
        more = pos.entry - groups[-1][-1].entry - 1 if groups else 0
        is_affordable = budget_bytes is None or more == 0 or is_within(managed, pos, between + more, budget_bytes)
        if groups and is_affordable and may_span(managed, groups[-1][0], groups[-1][-1], pos):
            groups[-1].append(pos)
            between += more
        else:
            groups.append([pos])
    return tuple(
        Group(tuple(group), ledger.positions_of(managed, group[0].ledger)[group[0].entry : group[-1].entry + 1])
        for group in groups
    )


def ranges_of(cached: Iterable[Position], groups: Iterable[Group]) -> tuple[tuple[Position, Position], ...]:
    """Return the first and last position of each range of a grouped replay: the cached ones first, each by itself."""
    return (*((pos, pos) for pos in cached), *((group.positions[0], group.positions[-1]) for group in groups))


@rule(Rule.LIMIT_1)
def is_within(managed: ManagedLedger, pos: Position, between: int, budget_bytes: int) -> bool:
    """Return whether the entries that lie between those of groups stay within an estimated number of bytes."""
    return between * storage_reads.estimated_entry_bytes(managed, pos.ledger) <= budget_bytes


def expect_delivery(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """Expect one read more of each entry whose count is used up."""
    done = ledger.unchanged(state)
    for pos in wanted:
        entry = entry_at(done.state, name, pos)
        if entry is not None and entry.expected_reads is not None and entry.expected_reads < 1:
            more = ops.ExpectRead(name, pos)
            done = ledger.then(done, ledger.as_part(done.state, more, entries.expect_read(done.state, more, config)))
    return done


@rule(Rule.LEDGER_8)
def replay_grouped(state: State, event: ops.ReplayRead, wanted: tuple[Position, ...], config: Config) -> Step:
    """Read the cached positions of a replay first, then the others in groups, whose fills are cached with count 0.

    What lies between two positions of a group is given back, which takes nothing from its count.
    """
    done = Step(state, NOTHING_SERVED, ())
    for pos in wanted:
        done = ledger.then(done, move_off(done.state, event, pos, config))
    hits = tuple(pos for pos in wanted if entry_at(state, event.cache, pos) is not None)
    fills = tuple(pos for pos in wanted if pos not in hits)
    groups = groups_of(state.managed[event.cache], fills)
    done = ledger.then(done, look_up(done.state, event.cache, hits, config))
    done = ledger.then(done, expect_delivery(done.state, event.cache, hits, config))
    gaps: tuple[tuple[Position, ...], ...] = ()
    for group in groups:
        served = look_up(done.state, event.cache, group.positions, config)
        assert isinstance(served.outcome, Served)
        gaps += (served.outcome.fills,)
        done = ledger.then(done, served)
    done = ledger.run_due(done, event.cache, config)
    for group, gap in zip(groups, gaps, strict=True):
        range_read = ops.Read(event.cache, group.positions[0], group.positions[-1], 0)
        done = ledger.then(done, fill(done.state, range_read, gap, config))
        done = ledger.then(done, expect_delivery(done.state, event.cache, group.wanted, config))
    return done._replace(outcome=Served(hits, fills, tuple(pos.entry for pos in (*hits, *fills))))


Replayed = ops.ReplayRead | ops.ReplayBegin


def are_there(state: State, event: Replayed) -> bool:
    """Return whether a replay names entries, and nothing else."""
    managed = state.managed[event.cache]
    return bool(event.positions) and all(ledger.is_there(managed, pos) for pos in event.positions)


@rule(Rule.LEDGER_8)
def positions_to_replay(state: State, event: Replayed) -> tuple[Position, ...]:
    """Return the positions of a replay that are not acknowledged, ascending."""
    cursor = state.managed[event.cache].cursors[event.cursor]
    return tuple(sorted(pos for pos in set(event.positions) if not ledger.is_acked(cursor, pos)))


@rule(Rule.LEDGER_8, Rule.LEDGER_9)
def replay_read(state: State, event: ops.ReplayRead, config: Config) -> Step:
    """Read positions again."""
    # GUARD: storage that answers at once, a known cursor, positions that are there, and a name that is free.
    is_free = not storage_reads.is_in_use(state, event.hold)
    if not can_read(state, event, config) or not are_there(state, event) or not is_free:
        return Step(state, REFUSED, ())

    # DECISION: what is acknowledged is left out.
    wanted = positions_to_replay(state, event)

    # EFFECT and OUTCOME
    replay = replay_each if config.variants.replay is Replay.SINGLE else replay_grouped
    return finish(replay(state, event, wanted, config), event, config)


@rule(Rule.LEDGER_9)
def replay_add(state: State, event: ops.ReplayAdd, config: Config) -> Step:
    """Release one held entry; a dispatcher of Key_Shared expects it to be read once more."""
    # GUARD: a position that is held.
    held = [one for one in state.holds.get(event.hold, ()) if one.slot.pos == event.pos]
    if not held or not storage_reads.is_held(state, event.hold):
        return Step(state, REFUSED, ())

    # DECISION: the count goes up before the release takes it down.
    done = ledger.unchanged(state)
    if event.dispatcher is ops.Dispatcher.KEY_SHARED and held[0].is_cached:
        more = ops.ExpectRead(held[0].slot.cache, event.pos)
        done = ledger.as_part(state, more, entries.expect_read(state, more, config))

    # EFFECT: it leaves the hold.
    left = tuple(one for one in state.holds[event.hold] if one.slot.pos != event.pos)
    holds = {name: kept for name, kept in state.holds.items() if name != event.hold}
    freed = done.state._replace(holds={**holds, event.hold: left} if left else holds)

    # OUTCOME
    return ledger.then(done, storage_reads.deliver(freed, (held[0],), config))
