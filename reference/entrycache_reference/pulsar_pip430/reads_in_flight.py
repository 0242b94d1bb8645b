"""Reads by cursors that overlap in time: storage answers them later, late, short or not at all.

A read takes chunk after chunk, as in `ledger_cursors`, and a replay takes its positions one by one; each is a range of
`pending_reads`. An answer fills the cache first. Then everybody who waits for it gets his part, in the order in which
they joined, and a chunk that is there lets its read go on. What a step has queued by then are tasks: an invalidation
that is due, or a read that goes on. All of them have run when the step ends.

Where reads need permits, each chunk and each range of a replay takes its own before it looks at the cache. A range that
waits begins, or fails, as a task. Its permits go back when it has failed, or when all that it got has been released.

Beside: RangeEntryCacheImpl.readFromStorage, PendingReadsManager.PendingRead.attach (managed-ledger 4.2.4)
Beside: OpReadEntry, ManagedCursorImpl.asyncReplayEntries (managed-ledger 4.2.4)
"""

from dataclasses import replace
from typing import NamedTuple

from entrycache_reference.pulsar_pip430 import ledger, ledger_cursors, ops, pending_reads, storage_reads
from entrycache_reference.pulsar_pip430.change import entry_at
from entrycache_reference.pulsar_pip430.config import (
    Config,
    DuplicateCount,
    ReadEnd,
    Replay,
    ShortAnswer,
    Storage,
)
from entrycache_reference.pulsar_pip430.outcomes import Decided, EndedRead, InFlight, Inserted, ReadError, Released
from entrycache_reference.pulsar_pip430.pending_reads import (
    Decide,
    DropDue,
    GoOn,
    Work,
    answer_range,
    count_fills,
    decide,
    give_back,
    has_failed,
    held_by,
    is_whole,
    positions_got,
    positions_in,
    queue_if_due,
    read_named,
    read_through,
    release_some,
    resolve,
    return_permits,
    split_held,
    then,
    waits_of,
    with_held,
    with_read,
    with_state,
)
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    CachedRange,
    HeldPosition,
    ManagedCursor,
    OpenRange,
    RangeRequest,
    ReadInFlight,
    Slot,
    State,
    Step,
    Waiter,
    WaitingRequest,
)
from entrycache_reference.pulsar_pip430.storage_reads import (
    REFUSED,
    count_misses,
    fill,
    is_in_use,
    missed_rows,
    skipped_rows,
)
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import HoldName, Position, ReadName

# Reads by cursors.


@rule(Rule.LEDGER_3, Rule.LEDGER_4)
def begin_chunk(work: Work, name: ReadName, start: Position, config: Config) -> Work:
    """Look for the next chunk from a position on, and read it."""
    read = read_named(work, name)
    managed = work.state.managed[read.cache]
    assert read.most is not None
    chunk = ledger_cursors.next_chunk(managed, managed.cursors[read.cursor]._replace(read=start), read.most, config)
    if not chunk.wanted:
        return move_on(work, name, chunk.after, config)
    last = ledger.position_before(managed, ledger.next_append(managed))
    work = with_read(work, name, read._replace(start=start, wanted=chunk.wanted, last=last))
    work = request_range(work, name, chunk.wanted[0], chunk.wanted[-1], config)
    return complete_chunk(work, name, config)


@rule(Rule.INFLIGHT_5, Rule.INFLIGHT_10)
def complete_chunk(work: Work, name: ReadName, config: Config) -> Work:
    """Go on if the chunk of a read is there, and end the read if it has failed."""
    read = read_named(work, name)
    if read.waiting:
        return work
    work, cached = resolve(work, name, read.ranges[0], config)
    if not is_whole(cached):
        return with_read(work, name, read._replace(ranges=(cached,)))
    work = with_read(work, name, read._replace(ranges=()))
    if has_failed(cached):
        return end_failed(return_permits(work, name, config), name)
    if config.variants.short_answer is ShortAnswer.AS_IT_COMES and has_hole(cached):
        kept, _ = split_held(held_by(work.state, name), positions_got(cached), cached.request)
        return end_failed(return_permits(with_held(work, name, kept), name, config), name)
    return deliver_chunk(work, name, cached, config)


def has_hole(cached: CachedRange) -> bool:
    """Return whether storage left out an entry of a range with hits, or of such a range within."""
    is_short = len(positions_got(cached)) < len(positions_in(cached.first, cached.last))
    return bool(cached.hits and is_short) or any(has_hole(rest) for gap in cached.gaps for rest in gap.rests)


@rule(Rule.INFLIGHT_11)
def positions_to_deliver(read: ReadInFlight, got: frozenset[Position], config: Config) -> tuple[Position, ...]:
    """Return the positions of a chunk up to the first one that storage left out.

    With variant `short_answer` "as-it-comes" only the missing ones are left out.
    """
    if config.variants.short_answer is ShortAnswer.AS_IT_COMES:
        return tuple(sorted(got))
    missing = [number for number, pos in enumerate(read.wanted) if pos not in got]
    return read.wanted[: min(missing, default=len(read.wanted))]


@rule(Rule.LEDGER_3, Rule.INFLIGHT_5, Rule.INFLIGHT_11)
def deliver_chunk(work: Work, name: ReadName, cached: CachedRange, config: Config) -> Work:
    """Keep the entries of a chunk that are not acknowledged by now, and move the read position behind it."""
    read = read_named(work, name)
    got = frozenset(positions_got(cached))
    delivered = positions_to_deliver(read, got, config)
    work = give_back(work, name, sorted(got - frozenset(delivered)), config, cached.request)
    is_last = config.variants.read_end is ReadEnd.LAST_CONFIRMED and cached.last == read.last
    if not delivered:
        work = return_permits(work, name, config)
        is_over = is_last and held_by(work.state, name)
        return end_read(work, name) if is_over else go_on(work, name, read.start, None)
    cursor = work.state.managed[read.cache].cursors[read.cursor]
    left_out = acknowledged_by_now(cursor, delivered)
    work = return_permits(release_some(work, name, left_out, config, cached.request), name, config)
    assert read.most is not None
    work = with_read(work, name, read._replace(most=read.most - len(delivered) + len(left_out)))
    end = end_of_chunk(cursor, delivered[-1], left_out)
    return move_on(work, name, Position(end.ledger, end.entry + 1), config, is_last)


@rule(Rule.INFLIGHT_5)
def acknowledged_by_now(cursor: ManagedCursor, delivered: tuple[Position, ...]) -> tuple[Position, ...]:
    """Return the entries of a chunk that were acknowledged one by one while it was out."""
    return tuple(pos for pos in delivered if pos in cursor.acks)


@rule(Rule.LEDGER_3)
def end_of_chunk(cursor: ManagedCursor, last: Position, left_out: tuple[Position, ...]) -> Position:
    """Return the position behind which a read goes on: that of the last entry, or the end of acknowledged ones."""
    return ledger.end_of_run(cursor, last) if last in left_out else last


@rule(Rule.LEDGER_3, Rule.LEDGER_14, Rule.INFLIGHT_12)
def move_on(work: Work, name: ReadName, after: Position, config: Config, is_last: bool = False) -> Work:
    """Move the read position, and let the read go on from there, or end."""
    read = read_named(work, name)
    moved = ledger.move_read(work.state, read.cache, read.cursor, after, config)
    work = queue_if_due(work, read.cache, moved)
    if is_last and held_by(work.state, name):
        return end_read(work, name)
    return go_on(work, name, after, read.most)


@rule(Rule.LEDGER_3, Rule.INFLIGHT_11)
def go_on(work: Work, name: ReadName, start: Position, most: int | None) -> Work:
    """Let a read go on as a task, if it still wants entries and the read position is not behind the last one."""
    read = read_named(work, name)
    managed = work.state.managed[read.cache]
    if most == 0 or managed.cursors[read.cursor].read >= ledger.next_append(managed):
        return end_read(work, name)
    return work._replace(tasks=(*work.tasks, GoOn(name, start)))


# Replays.


@rule(Rule.LEDGER_8)
def begin_replay(work: Work, name: ReadName, event: ops.ReplayBegin, config: Config) -> Work:
    """Read the positions of a replay one by one, each through the cache."""
    for pos in read_named(work, name).wanted:
        work = queue_if_due(work, event.cache, ledger_cursors.move_off(work.state, event, pos, config))
        work = request_range(work, name, pos, pos, config)
    return complete_replay(work, name, config)


@rule(Rule.LEDGER_8)
def begin_grouped_replay(work: Work, name: ReadName, event: ops.ReplayBegin, config: Config) -> Work:
    """Read the cached positions of a replay one by one, then the others in groups."""
    wanted = read_named(work, name).wanted
    cached = [pos for pos in wanted if entry_at(work.state, event.cache, pos) is not None]
    missing = tuple(pos for pos in wanted if pos not in cached)
    budget_bytes = budget_of_replay(work.state, event, config)
    groups = ledger_cursors.groups_of(work.state.managed[event.cache], missing, budget_bytes)
    for pos in wanted:
        work = queue_if_due(work, event.cache, ledger_cursors.move_off(work.state, event, pos, config))
    for first, last in ledger_cursors.ranges_of(cached, groups):
        work = request_range(work, name, first, last, config)
    return complete_replay(work, name, config)


@rule(Rule.LIMIT_1)
def budget_of_replay(state: State, event: ops.ReplayBegin, config: Config) -> int | None:
    """Return the bytes that a grouped replay may read beside its positions; None: any number.

    It reads nothing beside them if one of them is in a ledger without bytes.
    """
    if not storage_reads.need_permits(config):
        return None
    managed = state.managed[event.cache]
    wanted = ledger_cursors.positions_to_replay(state, event)
    if any(sum(managed.sizes[pos.ledger]) == 0 for pos in wanted):
        return 0
    estimates = sum(storage_reads.estimated_entry_bytes(managed, pos.ledger) for pos in wanted)
    return config.max_reads_in_flight_bytes - estimates


@rule(Rule.INFLIGHT_10)
def complete_replay(work: Work, name: ReadName, config: Config) -> Work:
    """Finish the ranges of a replay that are there, and end the replay with the last one."""
    work = finish_ranges(work, name, config)
    read = read_named(work, name)
    return work if read.ranges or read.waiting else finish_replay(work, name)


def complete(work: Work, name: ReadName, config: Config) -> Work:
    """Go on with a read of which a range has begun, got a part, or failed."""
    return (complete_replay if read_named(work, name).most is None else complete_chunk)(work, name, config)


@rule(Rule.INFLIGHT_10)
def finish_ranges(work: Work, name: ReadName, config: Config) -> Work:
    """Take what is there of the ranges of a replay, and give it back if the replay has failed."""
    read = read_named(work, name)
    whole: tuple[CachedRange, ...] = ()
    left: tuple[CachedRange, ...] = ()
    for cached in read.ranges:
        work, resolved = resolve(work, name, cached, config)
        if is_whole(resolved):
            whole += (resolved,)
            work = expect_delivery(work, name, resolved, config)
        else:
            left += (resolved,)
    work = with_read(work, name, read._replace(ranges=left, finished=(*read.finished, *whole)))
    return return_permits(give_up(work, name, config), name, config)


@rule(Rule.LEDGER_8)
def expect_delivery(work: Work, name: ReadName, cached: CachedRange, config: Config) -> Work:
    """Expect one read more of each entry of a range that a grouped replay delivers and whose count is used up."""
    if config.variants.replay is Replay.SINGLE or has_failed(cached):
        return work
    read, got = read_named(work, name), positions_got(cached)
    held = {one.slot.pos: one.is_cached for one in held_by(work.state, name)}
    ranges = (*read.ranges, *read.finished, *read.waiting)
    alone = {one.first for one in ranges if one.first == one.last != cached.last}  # the cache gave them first
    wanted = tuple(pos for pos in read.wanted if pos in got and pos not in alone and held[pos])
    return then(work, ledger_cursors.expect_delivery(work.state, read.cache, wanted, config))


@rule(Rule.INFLIGHT_9, Rule.INFLIGHT_10)
def give_up(work: Work, name: ReadName, config: Config) -> Work:
    """Give back what a replay has got once one of its positions has failed or is missing."""
    read = read_named(work, name)
    wanted = frozenset(read.wanted)
    failed = [cached for cached in read.finished if is_incomplete(cached, wanted)]
    if not failed:
        return work
    left = wanted
    for cached in read.finished:
        own = sorted(left.intersection(positions_got(cached)))
        work = give_back(work, name, own, config, cached.request)
        others = (pos for pos in positions_got(cached) if pos not in own)  # lie between, or came twice
        work = with_held(work, name, split_held(held_by(work.state, name), others, cached.request)[0])
        left = left.difference(own)
    lost = CachedRange(
        failed[0].first, failed[0].last, (), (OpenRange(failed[0].first, failed[0].last, has_failed=True),)
    )
    return with_read(work, name, read._replace(finished=(lost,)))


def is_incomplete(cached: CachedRange, wanted: frozenset[Position]) -> bool:
    """Return whether a range that is there has failed, or lacks a position that its replay wants."""
    missing = {*positions_in(cached.first, cached.last)}.difference(positions_got(cached))
    return has_failed(cached) or not missing.isdisjoint(wanted)


@rule(Rule.INFLIGHT_10)
def finish_replay(work: Work, name: ReadName) -> Work:
    """End a replay: with all its positions, or with none if one of them is missing."""
    read = read_named(work, name)
    if any(has_failed(cached) for cached in read.finished):
        return end_failed(work, name)
    _, own = split_held(held_by(work.state, name), read.wanted)
    return end_read(with_held(work, name, own), name)


# Permits.


@rule(Rule.LIMIT_1, Rule.LIMIT_8)
def request_range(work: Work, name: ReadName, first: Position, last: Position, config: Config) -> Work:
    """Begin to read a range, once it has its permits; if no request may wait any more, it has failed."""
    if not storage_reads.need_permits(config):
        return begin_range(work, name, CachedRange(first, last), config)
    read = read_named(work, name)
    wanted = CachedRange(first, last, request=read.requests)
    work = with_read(work, name, read._replace(requests=read.requests + 1))
    size_bytes = storage_reads.estimated_bytes(work.state.managed[read.cache], first, last)
    request = WaitingRequest(RangeRequest(name, read.requests), size_bytes, work.state.now_nanos)
    limiter, permits = storage_reads.request_permits(work.state.limiter, request, config)
    work = with_state(work, work.state._replace(limiter=limiter))
    if permits is None:
        read = read_named(work, name)
        return with_read(work, name, read._replace(waiting=(*read.waiting, wanted)))
    return begin_range(work, name, wanted, config) if permits else fail_range(work, name, wanted, config)


def begin_range(work: Work, name: ReadName, wanted: CachedRange, config: Config) -> Work:
    """Begin to read a range that needs no permits or has them."""
    work, cached = read_through(work, name, wanted.first, wanted.last, config, wanted.request)
    read = read_named(work, name)
    work = with_read(work, name, read._replace(ranges=(*read.ranges, cached)))
    return finish_ranges(work, name, config) if read.most is None and read.finished else work


@rule(Rule.LIMIT_4, Rule.LIMIT_6)
def fail_range(work: Work, name: ReadName, wanted: CachedRange, config: Config) -> Work:
    """Fail a range that has not got its permits."""
    read = read_named(work, name)
    lost = wanted._replace(gaps=(OpenRange(wanted.first, wanted.last, has_failed=True),))
    work = with_read(work, name, read._replace(ranges=(*read.ranges, lost)))
    return finish_ranges(work, name, config) if read.most is None else work


@rule(Rule.LIMIT_5, Rule.LIMIT_6)
def go_on_decided(work: Work, task: Decide, config: Config) -> Work:
    """Begin a range that waited for permits, or fail it, and go on with its read."""
    name = task.request.read
    read = read_named(work, name)
    wanted = next(cached for cached in read.waiting if cached.request == task.request.number)
    work = with_read(work, name, read._replace(waiting=tuple(one for one in read.waiting if one is not wanted)))
    work = (begin_range if task.is_granted else fail_range)(work, name, wanted, config)
    return complete(work, name, config)


# The end of a read.


def close_read(work: Work, end: EndedRead) -> Work:
    """Return the work without this read, which has ended."""
    pending = work.state.pending
    left = {name: read for name, read in pending.of_cursors.items() if name != end.read}
    work = with_state(work, work.state._replace(pending=pending._replace(of_cursors=left)))
    return work._replace(ended=(*work.ended, end))


def end_read(work: Work, name: ReadName) -> Work:
    """End a read: what it has got is held under its name."""
    held = tuple(sorted(held_by(work.state, name), key=lambda one: one.slot.pos))
    work = with_held(work, name, held)
    return close_read(work, EndedRead(name, tuple(one.slot.pos for one in held)))


@rule(Rule.INFLIGHT_10)
def end_failed(work: Work, name: ReadName) -> Work:
    """End a read of which something failed: with what it has got before, or with an error."""
    if held_by(work.state, name):
        return end_read(work, name)
    return close_read(work, EndedRead(name, error=ReadError.READ_FAILED))


# Answers.


@rule(Rule.LEDGER_6, Rule.INFLIGHT_3)
def count_of_ask(state: State, ask: Ask, config: Config) -> int:
    """Return the count of the entries that an ask brings: that of the cursor which asked, as it is now."""
    if ask.cursor is not None:
        assert ask.cache is not None
        return ledger_cursors.count_of_read(state, ask.cache, ask.cursor, config)
    return ledger_cursors.NOT_WANTED if config.variants.replay is Replay.SINGLE else 0


class GivenEntry(NamedTuple):
    """An entry that storage gave; `is_cached`: the cache holds it with the count that it was given with."""

    pos: Position
    is_cached: bool


@rule(Rule.INFLIGHT_3, Rule.INFLIGHT_4, Rule.LEDGER_18)
def fill_answer(
    work: Work, ask: Ask, given: tuple[Position, ...], config: Config
) -> tuple[Work, tuple[GivenEntry, ...]]:
    """Count what storage gives as missed, and offer it to the cache."""
    assert ask.cache is not None
    state = work.state
    work = then(
        work,
        Step(count_misses(state, ask.cache, given, config), work.done.outcome, missed_rows(state, ask.cache, given)),
    )
    if not given:
        return work, ()
    if ask.cursor is None and config.variants.replay is Replay.SINGLE:
        rows = skipped_rows(Rule.LEDGER_8, work.state, ask.cache, given, config)
        return then(work, Step(work.state, work.done.outcome, rows)), tuple(GivenEntry(pos, False) for pos in given)
    event = ops.Read(ask.cache, given[0], given[-1], count_of_ask(work.state, ask, config))
    filled = fill(work.state, event, given, config)
    taken = positions_taken(filled, config)
    work = count_fills(then(work, filled), filled, ask.cache, config)
    return work, tuple(
        GivenEntry(pos, pos in taken and entry_at(work.state, ask.cache, pos) is not None) for pos in given
    )


@rule(Rule.INFLIGHT_3)
def positions_taken(filled: Step, config: Config) -> frozenset[Position]:
    """Return the positions whose cached entries carry the count of these fills.

    An entry that was cached by then keeps its own, but for variant `duplicate_count` "replaced".
    """
    is_replaced = config.variants.duplicate_count is DuplicateCount.REPLACED
    offers = [part for part in filled.parts if isinstance(part.event, ops.Insert)]
    return frozenset(
        part.event.pos
        for part in offers
        if isinstance(part.event, ops.Insert) and (part.step.outcome == Inserted(True) or is_replaced)
    )


@rule(Rule.INFLIGHT_3)
def give_part(
    work: Work, waiter: Waiter, number: int, given: tuple[GivenEntry, ...], has_failed: bool, config: Config
) -> Work:
    """Give a read the part of an answer that it waits for, and let it go on."""
    read = read_named(work, waiter.read)
    wait = next(
        wait for cached in read.ranges for wait in waits_of(cached) if (wait.ask, wait.first) == (number, waiter.first)
    )
    own = tuple(one for one in given if wait.first <= one.pos.entry <= wait.last)
    request = next(cached.request for cached in read.ranges if wait in waits_of(cached))
    held = tuple(HeldPosition(Slot(read.cache, one.pos), one.is_cached, request) for one in own)
    work = with_held(work, waiter.read, (*held_by(work.state, waiter.read), *held))
    positions = tuple(one.pos for one in own)
    ranges = tuple(answer_range(cached, wait, positions, has_failed) for cached in read.ranges)
    work = with_read(work, waiter.read, read._replace(ranges=ranges))
    return complete(work, waiter.read, config)


# The operations.


@rule(Rule.LEDGER_14, Rule.INFLIGHT_13)
def run_tasks(work: Work, config: Config) -> Work:
    """Run the tasks of a step, and those that they queue, in order."""
    while work.tasks:
        task, work = work.tasks[0], work._replace(tasks=work.tasks[1:])
        if isinstance(task, DropDue):
            work = work._replace(done=ledger.run_due(work.done, task.cache, config))
        elif isinstance(task, Decide):
            work = go_on_decided(work, task, config)
        else:
            work = begin_chunk(work, task.read, task.start, config)
    return work


def finish(state: State, work: Work, config: Config) -> Step:
    """Return the step: all its tasks have run, and it says what it asks and which reads it ends."""
    work = run_tasks(work, config)
    answer = pending_reads.sent_and_ended(state.pending, work.state.pending, work.ended)
    return work.done._replace(outcome=answer)


def is_begin_refused(state: State, event: ops.ReadBegin | ops.ReplayBegin, config: Config) -> bool:
    """Return whether a read cannot begin: storage is not held, its name is in use, or the cursor has one open."""
    if config.storage is Storage.AT_ONCE or ledger.cursor_of(state, event) is None:
        return True
    is_replay = isinstance(event, ops.ReplayBegin)
    own = [
        read for read in state.pending.of_cursors.values() if (read.cache, read.cursor) == (event.cache, event.cursor)
    ]
    is_named = is_in_use(state, HoldName(event.read)) or event.read in state.pending.reads
    return is_named or any((read.most is None) == is_replay for read in own)


@rule(Rule.INFLIGHT_5, Rule.INFLIGHT_12)
def read_begin(state: State, event: ops.ReadBegin, config: Config) -> Step:
    """Begin a read by a cursor."""
    # GUARD: held storage, a known cursor without an open read, a free name, and something to read.
    if is_begin_refused(state, event, config) or event.max_entries < 1:
        return Step(state, REFUSED, ())

    # DECISION: the first chunk is looked for where the cursor reads.
    start = state.managed[event.cache].cursors[event.cursor].read
    work = Work(ledger.unchanged(state))

    # EFFECT and OUTCOME
    work = with_read(work, event.read, ReadInFlight(event.cache, event.cursor, event.max_entries, start))
    return finish(state, begin_chunk(work, event.read, start, config), config)


@rule(Rule.LEDGER_8, Rule.INFLIGHT_10)
def replay_begin(state: State, event: ops.ReplayBegin, config: Config) -> Step:
    """Begin a replay by a cursor."""
    # GUARD: held storage, a known cursor without an open replay, a free name, and positions that are there.
    if is_begin_refused(state, event, config) or not ledger_cursors.are_there(state, event):
        return Step(state, REFUSED, ())

    # DECISION: what is acknowledged is left out.
    wanted = ledger_cursors.positions_to_replay(state, event)
    start = state.managed[event.cache].cursors[event.cursor].read
    work = Work(ledger.unchanged(state))

    # EFFECT and OUTCOME
    work = with_read(work, event.read, ReadInFlight(event.cache, event.cursor, None, start, wanted))
    begin = begin_replay if config.variants.replay is Replay.SINGLE else begin_grouped_replay
    return finish(state, begin(work, event.read, event, config), config)


@rule(Rule.INFLIGHT_1, Rule.INFLIGHT_3, Rule.INFLIGHT_6)
def storage_answer(state: State, event: ops.StorageAnswer, config: Config) -> Step:
    """Answer an ask: fill the cache, then give everybody who waits his part, in the order in which they joined."""
    # GUARD: an open ask, and fewer entries than it asks for.
    if pending_reads.is_refused(state.pending, event):
        return Step(state, REFUSED, ())

    # DECISION: what storage gives, and whether others may still join.
    ask = state.pending.asks[event.ask]
    if ask.cache is None:
        return pending_reads.answer_fetches(state, event)
    given = pending_reads.given_entries(ask, event.answer)
    has_failed = pending_reads.is_failure(event.answer)
    closed = state._replace(pending=pending_reads.close_ask(state.pending, event.ask, event.answer))

    # EFFECT and OUTCOME
    work, filled = fill_answer(Work(ledger.unchanged(closed)), ask, given, config)
    for waiter in ask.waiting:
        work = give_part(work, waiter, event.ask, filled, has_failed, config)
    return finish(state, work, config)


# Operations that decide requests for permits.


def finish_with(state: State, work: Work, config: Config) -> Step:
    """Return the step with its own answer, and what reads do that have got permits by it."""
    if not work.tasks:
        return work.done
    outcome = work.done.outcome
    done = finish(state, work, config)
    assert isinstance(done.outcome, InFlight)
    if isinstance(outcome, Released | Decided):
        return done._replace(outcome=replace(outcome, sent_asks=done.outcome.sent_asks, done=done.outcome.done))
    return done


@rule(Rule.LIMIT_5)
def release(state: State, event: ops.Release, config: Config) -> Step:
    """Release what a read holds; its permits go back."""
    released = storage_reads.release(state, event, config)
    return finish_with(state, return_permits(Work(released), ReadName(event.hold), config), config)


@rule(Rule.LIMIT_5)
def replay_add(state: State, event: ops.ReplayAdd, config: Config) -> Step:
    """Release one held entry that is to be replayed; permits go back with the last one."""
    released = ledger_cursors.replay_add(state, event, config)
    if released.outcome != REFUSED:
        released = released._replace(outcome=InFlight())
    return finish_with(state, return_permits(Work(released), ReadName(event.hold), config), config)


@rule(Rule.LIMIT_6)
def time_out(state: State, config: Config) -> Step:
    """Fail the requests that have waited too long for permits, and serve those behind them."""
    service = storage_reads.time_out(state.limiter, state.now_nanos, config)
    after = state if service.limiter is state.limiter else state._replace(limiter=service.limiter)
    decided = Step(after, Decided(storage_reads.named_grants(service.grants)), ())
    return finish_with(state, decide(Work(decided), service.grants), config)
