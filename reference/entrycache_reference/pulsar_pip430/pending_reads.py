"""The table of pending reads: what was asked of storage, and who waits for which answer.

An *ask* is one read of storage that was not answered yet. A read that needs a range looks for asks that cover parts of
it, waits for those, and asks only for the rest. So storage is asked once for an entry while an ask for it is joinable.
When an ask is answered, each read that waits for it is given its part, in the order in which the reads joined. A read
ends when no part of its range waits any more.

`fetch` is a read of a range without a cache. The second half is about ranges that a cursor reads through the cache. The
cache gives the hits of a *cached range*, and storage is to give each gap. A gap waits for a part that an open ask
covers. What is left of a gap that was cut is a cached range once more; a gap that was not cut becomes an ask of its
own. If a gap of a range with hits fails, the range gives back all that it has got and is read from storage as a whole.
What is given back takes nothing from any count. What a read has got stands in `State.holds` under its name from the
start, so that it is known which of it is still cached. `Work` is a step in the making; it keeps the tasks that the step
has queued.

Beside: PendingReadsManager.readEntries, .findPendingRead (managed-ledger 4.2.4)
Beside: RangeEntryCacheImpl.doAsyncReadEntriesByPosition (managed-ledger 4.2.4)
Beside: PendingReadsManager.PendingRead.attach (managed-ledger 4.2.4)
Beside: RangeEntryCacheImpl.readFromStorage (managed-ledger 4.2.4)
"""

from collections.abc import Iterable
from typing import NamedTuple

from entrycache_reference.pulsar_pip430 import ledger, storage_reads
from entrycache_reference.pulsar_pip430.change import entry_at
from entrycache_reference.pulsar_pip430.config import Config, FailedRead, InnerAsk, Storage
from entrycache_reference.pulsar_pip430.ops import Fetch, Insert, StorageAnswer, StorageAnswerKind
from entrycache_reference.pulsar_pip430.outcomes import EndedRead, InFlight, Inserted, ReadError, SentAsk
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    CachedRange,
    HeldPosition,
    OpenRange,
    OpenRead,
    PendingReads,
    RangeRequest,
    ReadInFlight,
    Slot,
    State,
    Step,
    Wait,
    Waiter,
)
from entrycache_reference.pulsar_pip430.storage_reads import REFUSED, deliver, look_up
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position, ReadName

# Asks.


class Piece(NamedTuple):
    """A part of a range: covered by an ask that can be joined, or by none."""

    ask: int | None
    first: int
    last: int


@rule(Rule.INFLIGHT_1, Rule.INFLIGHT_6)
def covering_asks(pending: PendingReads, first: Position, last: Position) -> list[int]:
    """Return the joinable asks that cover an entry of the range, ascending by entry; no two of them overlap."""
    covering = [
        number
        for number, ask in pending.asks.items()
        if ask.is_joinable and ask.ledger == first.ledger and ask.first <= last.entry and ask.last >= first.entry
    ]
    return sorted(covering, key=lambda number: pending.asks[number].first)


@rule(Rule.INFLIGHT_2)
def pieces_of(pending: PendingReads, first: Position, last: Position) -> tuple[Piece, ...]:
    """Cut a range at the joinable asks: each covered part, and each part between them, ascending."""
    pieces: tuple[Piece, ...] = ()
    start = first.entry
    for number in covering_asks(pending, first, last):
        ask = pending.asks[number]
        if start < ask.first:
            pieces += (Piece(None, start, ask.first - 1),)
        pieces += (Piece(number, max(start, ask.first), min(last.entry, ask.last)),)
        start = ask.last + 1
    return (*pieces, Piece(None, start, last.entry)) if start <= last.entry else pieces


@rule(Rule.INFLIGHT_2)
def join(
    pending: PendingReads,
    name: ReadName,
    ledger: int,
    piece: Piece,
    cache: CacheName | None = None,
    cursor: CursorName | None = None,
) -> tuple[PendingReads, Wait]:
    """Let a read wait for a part of its range: for the ask that covers it, or for a new one."""
    number = pending.sent if piece.ask is None else piece.ask
    waiter = Waiter(name, piece.first)
    if piece.ask is None:
        pending = pending._replace(sent=number + 1)
        ask = Ask(ledger, piece.first, piece.last, (waiter,), cache=cache, cursor=cursor)
    else:
        ask = pending.asks[number]._replace(waiting=(*pending.asks[number].waiting, waiter))
    return pending._replace(asks={**pending.asks, number: ask}), Wait(number, piece.first, piece.last)


def sent_since(before: PendingReads, after: PendingReads) -> tuple[SentAsk, ...]:
    """Return the asks that were sent between two states, in order."""
    new = ((number, after.asks[number]) for number in range(before.sent, after.sent))
    return tuple(SentAsk(number, ask.ledger, ask.first, ask.last, ask.cache) for number, ask in new)


def report(state: State, pending: PendingReads, ended: tuple[EndedRead, ...] = ()) -> Step:
    """Return the step to these pending reads, with what it asks and which reads it ends."""
    return Step(state._replace(pending=pending), sent_and_ended(state.pending, pending, ended), ())


def sent_and_ended(before: PendingReads, after: PendingReads, ended: tuple[EndedRead, ...]) -> InFlight:
    """Return the answer of a step that asks storage or ends reads."""
    done = tuple(sorted(ended, key=lambda one: one.read))
    return InFlight(sent_since(before, after) or None, done or None)


@rule(Rule.INFLIGHT_2)
def fetch(state: State, event: Fetch, config: Config) -> Step:
    """Read a range from storage, sharing what is asked for already."""
    # GUARD: one ledger, in order, and a free name. Storage that is held answers cursors only.
    pending = state.pending
    is_range = event.first.ledger == event.last.ledger and event.first <= event.last
    if config.storage is Storage.HELD or not is_range or event.read in pending.reads:
        return Step(state, REFUSED, ())

    # DECISION: for which parts to wait, and which to ask for.
    waits: tuple[Wait, ...] = ()
    for piece in pieces_of(pending, event.first, event.last):
        pending, wait = join(pending, event.read, event.first.ledger, piece)
        waits += (wait,)

    # EFFECT and OUTCOME
    opened = OpenRead(OpenRange(event.first, event.last, waits))
    return report(state, pending._replace(reads={**pending.reads, event.read: opened}))


# Answers.


@rule(Rule.INFLIGHT_3)
def given_entries(ask: Ask, answer: StorageAnswerKind | int) -> tuple[Position, ...]:
    """Return the entries that storage gives: all, the first few, or none."""
    length = ask.last - ask.first + 1
    count = answer if isinstance(answer, int) else length if answer is StorageAnswerKind.ALL else 0
    return tuple(Position(ask.ledger, ask.first + number) for number in range(count))


@rule(Rule.INFLIGHT_6)
def is_failure(answer: StorageAnswerKind | int) -> bool:
    """Return whether the answer fails those who wait for it."""
    return answer in {StorageAnswerKind.FAIL, StorageAnswerKind.BUSY}


@rule(Rule.INFLIGHT_6)
def seal(asks: dict[int, Ask], ledger: int, answer: StorageAnswerKind | int) -> dict[int, Ask]:
    """Return the asks after an answer: after a read error no other ask of its ledger can be joined."""
    if answer is not StorageAnswerKind.FAIL:
        return asks
    return {number: ask._replace(is_joinable=False) if ask.ledger == ledger else ask for number, ask in asks.items()}


@rule(Rule.INFLIGHT_2)
def seal_one(pending: PendingReads, number: int) -> PendingReads:
    """Return the table in which no further read joins an ask."""
    return pending._replace(asks={**pending.asks, number: pending.asks[number]._replace(is_joinable=False)})


@rule(Rule.INFLIGHT_1)
def close_ask(pending: PendingReads, number: int, answer: StorageAnswerKind | int) -> PendingReads:
    """Return the table after an ask was answered: it is open no longer."""
    asks = {other: ask for other, ask in pending.asks.items() if other != number}
    return pending._replace(asks=seal(asks, pending.asks[number].ledger, answer))


@rule(Rule.INFLIGHT_3, Rule.INFLIGHT_8)
def give(opened: OpenRead, number: int, given: tuple[Position, ...], has_failed: bool) -> OpenRead:
    """Return a read after an answer to an ask that it waits for: it gets its part, or that part has failed."""
    waited = [wait for wait in opened.range.waits if wait.ask == number]
    left = tuple(wait for wait in opened.range.waits if wait.ask != number)
    own = (pos for pos in given if any(wait.first <= pos.entry <= wait.last for wait in waited))
    is_failed = opened.range.has_failed or has_failed
    return OpenRead(opened.range._replace(waits=left, has_failed=is_failed, given=(*opened.range.given, *own)))


@rule(Rule.INFLIGHT_8)
def ended(name: ReadName, opened: OpenRead) -> EndedRead | None:
    """Return the end of a read once none of its parts waits; None: it goes on."""
    if opened.range.waits:
        return None
    if opened.range.has_failed:
        return EndedRead(name, error=ReadError.READ_FAILED)
    return EndedRead(name, tuple(sorted(opened.range.given)))


@rule(Rule.INFLIGHT_3, Rule.INFLIGHT_13)
def give_to_all(
    pending: PendingReads, number: int, answer: StorageAnswerKind | int
) -> tuple[PendingReads, tuple[EndedRead, ...]]:
    """Give everybody who waits for an ask his part, and return the reads that have ended."""
    ask = pending.asks[number]
    pending = close_ask(pending, number, answer)
    given = given_entries(ask, answer)
    done: tuple[EndedRead, ...] = ()
    for name, _ in ask.waiting:
        opened = give(pending.reads[name], number, given, is_failure(answer))
        end = ended(name, opened)
        reads = {other: read for other, read in pending.reads.items() if other != name}
        pending = pending._replace(reads={**reads, name: opened} if end is None else reads)
        done += () if end is None else (end,)
    return pending, done


def is_too_long(ask: Ask, answer: StorageAnswerKind | int) -> bool:
    """Return whether an answer of a number of entries is none of the first few."""
    return isinstance(answer, int) and not 0 < answer <= ask.last - ask.first


@rule(Rule.INFLIGHT_1)
def is_refused(pending: PendingReads, event: StorageAnswer) -> bool:
    """Return whether an answer is refused: its ask is not open, or it is too long."""
    return event.ask not in pending.asks or is_too_long(pending.asks[event.ask], event.answer)


@rule(Rule.INFLIGHT_3, Rule.INFLIGHT_6)
def answer_fetches(state: State, event: StorageAnswer) -> Step:
    """Answer an ask that reads without a cache wait for."""
    after, done = give_to_all(state.pending, event.ask, event.answer)
    return report(state, after, done)


# A step in the making.


class DropDue(NamedTuple):
    """The task that runs the invalidation which is due in a cache."""

    cache: CacheName


class GoOn(NamedTuple):
    """The task that lets a read go on from a position."""

    read: ReadName
    start: Position


class Decide(NamedTuple):
    """The task that begins a range which waited for permits, or fails it."""

    request: RangeRequest
    is_granted: bool


class Work(NamedTuple):
    """A step in the making: what was done so far, the tasks that are queued, and the reads that have ended."""

    done: Step
    tasks: tuple[DropDue | GoOn | Decide, ...] = ()
    ended: tuple[EndedRead, ...] = ()

    @property
    def state(self) -> State:
        """Return the state so far."""
        return self.done.state


def with_state(work: Work, state: State) -> Work:
    """Return the work with another state."""
    return work._replace(done=work.done._replace(state=state))


def then(work: Work, step: Step) -> Work:
    """Return the work after a further step."""
    return work._replace(done=ledger.then(work.done, step))


def read_named(work: Work, name: ReadName) -> ReadInFlight:
    """Return an open read."""
    return work.state.pending.of_cursors[name]


def with_read(work: Work, name: ReadName, read: ReadInFlight) -> Work:
    """Return the work with an open read added or replaced."""
    pending = work.state.pending
    of_cursors = {**pending.of_cursors, name: read}
    return with_state(work, work.state._replace(pending=pending._replace(of_cursors=of_cursors)))


@rule(Rule.LEDGER_14)
def queue_if_due(work: Work, name: CacheName, step: Step) -> Work:
    """Do a step that may make an invalidation due; if none was due before, it becomes a task."""
    was_due = work.state.managed[name].due is not None
    work = then(work, step)
    is_due = work.state.managed[name].due is not None
    return work._replace(tasks=(*work.tasks, DropDue(name))) if is_due and not was_due else work


# What a read has got.


def held_by(state: State, name: ReadName) -> tuple[HeldPosition, ...]:
    """Return what an open read has got so far."""
    return state.holds.get(HoldName(name), ())


def with_held(work: Work, name: ReadName, held: tuple[HeldPosition, ...]) -> Work:
    """Return the work in which the read has got exactly these positions."""
    own = HoldName(name)
    holds = {other: kept for other, kept in work.state.holds.items() if other != own}
    return with_state(work, work.state._replace(holds={**holds, own: held} if held else holds))


def split_held(
    held: tuple[HeldPosition, ...], positions: Iterable[Position], request: int | None = None
) -> tuple[tuple[HeldPosition, ...], tuple[HeldPosition, ...]]:
    """Split what is held into what stays and what leaves: these positions, each as often as it is named.

    With a request, what was read under that one leaves.
    """
    kept, taken = list(held), []
    for pos in positions:
        same = (number for number, one in enumerate(kept) if one.slot.pos == pos and request in (None, one.request))
        at = next(same)
        taken.append(kept.pop(at))
    return tuple(kept), tuple(taken)


@rule(Rule.INFLIGHT_9)
def give_back(
    work: Work, name: ReadName, positions: Iterable[Position], config: Config, request: int | None = None
) -> Work:
    """Give back what a read does not deliver; with variant `failed_read` "counted" that uses up expected reads."""
    kept, taken = split_held(held_by(work.state, name), positions, request)
    work = with_held(work, name, kept)
    if config.variants.failed_read is FailedRead.UNCOUNTED:
        return work
    return then(work, deliver(work.state, taken, config))


@rule(Rule.INFLIGHT_4, Rule.LEDGER_9)
def release_some(
    work: Work, name: ReadName, positions: Iterable[Position], config: Config, request: int | None = None
) -> Work:
    """Release what a read leaves out of what it delivers: each takes one from its count."""
    kept, taken = split_held(held_by(work.state, name), positions, request)
    work = with_held(work, name, kept)
    return then(work, deliver(work.state, taken, config))


# Ranges.


def is_whole(cached: CachedRange) -> bool:
    """Return whether nothing of a range waits any more."""
    return all(is_answered(gap) for gap in cached.gaps)


def is_answered(gap: OpenRange) -> bool:
    """Return whether nothing of a gap waits any more."""
    return not gap.waits and all(is_whole(rest) for rest in gap.rests)


def positions_got(cached: CachedRange) -> tuple[Position, ...]:
    """Return the positions of a range that the read has got."""
    return (*cached.hits, *(pos for gap in cached.gaps for pos in positions_got_in(gap)))


def positions_got_in(gap: OpenRange) -> tuple[Position, ...]:
    """Return the positions of a gap that the read has got."""
    return (*gap.given, *(pos for rest in gap.rests for pos in positions_got(rest)))


def positions_in(first: Position, last: Position) -> tuple[Position, ...]:
    """Return the positions of a range of one ledger."""
    return tuple(Position(first.ledger, entry) for entry in range(first.entry, last.entry + 1))


def runs_of(positions: Iterable[Position]) -> list[tuple[Position, Position]]:
    """Return the first and the last position of each maximal run of ascending positions of one ledger."""
    runs: list[tuple[Position, Position]] = []
    for pos in positions:
        if runs and runs[-1][1].entry + 1 == pos.entry:
            runs[-1] = (runs[-1][0], pos)
        else:
            runs.append((pos, pos))
    return runs


@rule(Rule.LEDGER_5, Rule.LEDGER_6, Rule.INFLIGHT_2)
def read_through(
    work: Work, name: ReadName, first: Position, last: Position, config: Config, request: int | None = None
) -> tuple[Work, CachedRange]:
    """Read a range through the cache: mark the hits, and then ask storage for each run of the others."""
    cache = read_named(work, name).cache
    cached = [pos for pos in positions_in(first, last) if entry_at(work.state, cache, pos) is not None]
    work = take_hits(work, name, tuple(cached), config, request)
    gaps: tuple[OpenRange, ...] = ()
    for start, end in runs_of(pos for pos in positions_in(first, last) if pos not in cached):
        work, row = read_gap(work, name, start, end, config, request)
        gaps += row
    return work, CachedRange(first, last, tuple(cached), gaps, request=request)


@rule(Rule.LEDGER_5)
def take_hits(
    work: Work, name: ReadName, hits: tuple[Position, ...], config: Config, request: int | None = None
) -> Work:
    """Look cached positions up, and hold them for the read."""
    cache = read_named(work, name).cache
    work = then(work, look_up(work.state, cache, hits, config))
    held = tuple(HeldPosition(Slot(cache, pos), True, request) for pos in hits)
    return with_held(work, name, (*held_by(work.state, name), *held))


@rule(Rule.INFLIGHT_2)
def piece_to_join(pieces: tuple[Piece, ...], config: Config) -> Piece:
    """Return the part of a gap for which it waits or asks: one that an ask covers, at its begin, its end or between.

    With variant `inner_ask` "longest" that is the longest one between, and of several the one that was asked for last.
    """
    ends = pieces[0], pieces[-1]
    covered = [piece for piece in (*ends, *pieces) if piece.ask is not None]
    if config.variants.inner_ask is InnerAsk.LONGEST and all(end.ask is None for end in ends):
        return max(covered, key=lambda piece: (piece.last - piece.first, piece.ask), default=pieces[0])
    return covered[0] if covered else pieces[0]


@rule(Rule.INFLIGHT_2)
def wait_or_ask(
    work: Work, name: ReadName, first: Position, last: Position, config: Config
) -> tuple[Work, Wait, list[tuple[Position, Position]]]:
    """Let a read wait for one part of a gap, or ask for it, and return what is left of the gap before and behind it."""
    read = read_named(work, name)
    asker = read.cursor if read.most is not None else None
    piece = piece_to_join(pieces_of(work.state.pending, first, last), config)
    pending, wait = join(work.state.pending, name, first.ledger, piece, read.cache, asker)
    if config.max_size_bytes == 0:  # a disabled cache shares no read
        pending = seal_one(pending, wait.ask)
    ends = (first.entry, piece.first - 1), (piece.last + 1, last.entry)
    left = [(first._replace(entry=start), first._replace(entry=end)) for start, end in ends if start <= end]
    return with_state(work, work.state._replace(pending=pending)), wait, left


@rule(Rule.INFLIGHT_2)
def read_gap(
    work: Work, name: ReadName, first: Position, last: Position, config: Config, request: int | None = None
) -> tuple[Work, tuple[OpenRange, ...]]:
    """Read a range from storage: wait for one part that is asked for, and read the rest through the cache, or ask.

    The last part that is left is the next gap of the row, if nothing of it is cached.
    """
    row: tuple[OpenRange, ...] = ()
    while True:
        work, wait, left = wait_or_ask(work, name, first, last, config)
        gap = OpenRange(first, last, (wait,))
        for begin, end in left:
            is_next = (begin, end) == left[-1] and is_uncached(work, name, begin, end)
            if is_next:
                gap, first, last = gap._replace(is_cut=True), begin, end
                break
            work, rest = read_through(work, name, begin, end, config, request)
            gap = gap._replace(rests=(*gap.rests, rest))
        row += (gap,)
        if not gap.is_cut:
            return work, row


def is_uncached(work: Work, name: ReadName, first: Position, last: Position) -> bool:
    """Return whether no entry of a range is cached."""
    cache = read_named(work, name).cache
    return all(entry_at(work.state, cache, pos) is None for pos in positions_in(first, last))


# Failures of ranges.


@rule(Rule.INFLIGHT_7, Rule.INFLIGHT_8)
def resolve(work: Work, name: ReadName, cached: CachedRange, config: Config) -> tuple[Work, CachedRange]:
    """Look at a range after an answer: if a gap has failed and none waits, its hits give it a second try."""
    gaps: tuple[OpenRange, ...] = ()
    for row in rows_of(cached.gaps):
        work, resolved = resolve_gap(work, name, row, config, cached.request)
        gaps += resolved
    cached = cached._replace(gaps=gaps)
    if not is_whole(cached) or not has_failed(cached) or not can_try_again(cached):
        return work, cached
    work = give_back(work, name, positions_got(cached), config, cached.request)
    work, whole = read_gap(work, name, cached.first, cached.last, config, cached.request)
    return work, CachedRange(cached.first, cached.last, (), whole, True, cached.request)


@rule(Rule.INFLIGHT_7)
def can_try_again(cached: CachedRange) -> bool:
    """Return whether a range of which a gap has failed is read once more: the cache gave a part of it."""
    return bool(cached.hits)


def rows_of(gaps: Iterable[OpenRange]) -> list[tuple[OpenRange, ...]]:
    """Return the gaps of a range in rows: a gap that was cut, and those that contain what is left of it."""
    rows: list[tuple[OpenRange, ...]] = []
    row: tuple[OpenRange, ...] = ()
    for gap in gaps:
        row += (gap,)
        if not gap.is_cut:
            rows.append(row)
            row = ()
    return rows


@rule(Rule.INFLIGHT_8)
def resolve_gap(
    work: Work, name: ReadName, row: tuple[OpenRange, ...], config: Config, request: int | None = None
) -> tuple[Work, tuple[OpenRange, ...]]:
    """Look at a gap after an answer: if one of its parts has failed and none waits, the others are given back.

    Each gap of a row contains those behind it, so the last one comes first.
    """
    left: list[OpenRange] = []
    for gap in row:
        rests: tuple[CachedRange, ...] = ()
        for rest in gap.rests:
            work, resolved = resolve(work, name, rest, config)
            rests += (resolved,)
        left.append(gap._replace(rests=rests))
    inner: tuple[OpenRange, ...] = ()
    has_lost = False
    while left and is_answered(left[-1]):
        gap = left.pop()
        inner = (gap, *inner)
        has_lost = has_lost or gap.has_failed or any(has_failed(rest) for rest in gap.rests)
        if has_lost:
            work = give_back(work, name, [pos for one in inner for pos in positions_got_in(one)], config, request)
            inner = (OpenRange(gap.first, gap.last, has_failed=True),)
    return work, (*left, *inner)


def has_failed(cached: CachedRange) -> bool:
    """Return whether a gap of a range has failed for good."""
    return any(is_answered(gap) and gap.has_failed for gap in cached.gaps)


# Answers to ranges.


def waits_of(cached: CachedRange) -> list[Wait]:
    """Return the parts of a range that wait for an answer."""
    own = [wait for gap in cached.gaps for wait in gap.waits]
    return [*own, *(wait for gap in cached.gaps for rest in gap.rests for wait in waits_of(rest))]


def answer_range(cached: CachedRange, wait: Wait, given: tuple[Position, ...], has_failed: bool) -> CachedRange:
    """Return a range after the answer that one of its parts waits for; any other range stays as it is."""
    return cached._replace(gaps=tuple(answer_gap(gap, wait, given, has_failed) for gap in cached.gaps))


def answer_gap(gap: OpenRange, wait: Wait, given: tuple[Position, ...], has_failed: bool) -> OpenRange:
    """Return a gap after the answer that one of its parts waits for; any other gap stays as it is."""
    if wait in gap.waits:
        left = tuple(other for other in gap.waits if other != wait)
        return gap._replace(waits=left, given=(*gap.given, *given), has_failed=gap.has_failed or has_failed)
    return gap._replace(rests=tuple(answer_range(rest, wait, given, has_failed) for rest in gap.rests))


# Permits of ranges.


@rule(Rule.LIMIT_5)
def return_permits(work: Work, name: ReadName, config: Config) -> Work:
    """Return the permits of each range of a read that has failed, or of which all has been released."""
    read = work.state.pending.of_cursors.get(name)
    kept = {one.request for one in work.state.holds.get(HoldName(name), ())}
    kept |= set() if read is None else {cached.request for cached in (*read.ranges, *read.waiting)}
    for request in work.state.limiter.out:
        if isinstance(request, RangeRequest) and request.read == name and request.number not in kept:
            service = storage_reads.serve(storage_reads.take_back(work.state.limiter, request), config)
            work = decide(with_state(work, work.state._replace(limiter=service.limiter)), service.grants)
    return work


@rule(Rule.LIMIT_5, Rule.LIMIT_6)
def decide(work: Work, grants: storage_reads.Grants) -> Work:
    """Let each range whose request was decided begin, or fail, as a task."""
    decided = tuple(Decide(name, permits > 0) for name, permits in grants if isinstance(name, RangeRequest))
    return work._replace(tasks=(*work.tasks, *decided))


@rule(Rule.LIMIT_1)
def count_fills(work: Work, filled: Step, name: CacheName, config: Config) -> Work:
    """Count the fills that a cache has taken in, where estimates may need them."""
    added = [part.event for part in filled.parts if part.step.outcome == Inserted(True)]
    sizes = tuple(event.size for event in added if isinstance(event, Insert))
    managed = storage_reads.count_taken(work.state.managed[name], sizes, config)
    return with_state(work, ledger.with_managed(work.state, name, managed))
