"""Ranges that a cursor reads through the cache while storage is held: hits, gaps, what is left of gaps, and failures.

The cache gives the hits of a *cached range*, and storage is to give each gap. A gap is cut at the asks that can be
joined (`pending_reads`): it waits for the parts that they cover. What is left of a gap that was cut is a cached range
once more; a gap that was not cut becomes an ask of its own. If a gap of a range with hits fails, the range gives back
all that it has got and is read from storage as a whole. What is given back takes nothing from any count.

What a read has got stands in `State.holds` under its name from the start, so that it is known which of it is still
cached. `Work` is a step in the making; it keeps the tasks that the step has queued.

Beside: RangeEntryCacheImpl.doAsyncReadEntriesByPosition (managed-ledger 4.2.4)
Beside: PendingReadsManager.readEntries, .PendingRead.attach (managed-ledger 4.2.4)
"""

from collections.abc import Iterable
from typing import NamedTuple

from entrycache_reference.pulsar_pip430 import ledger, pending_reads
from entrycache_reference.pulsar_pip430.change import entry_at
from entrycache_reference.pulsar_pip430.config import Config, FailedRead
from entrycache_reference.pulsar_pip430.outcomes import EndedRead
from entrycache_reference.pulsar_pip430.state import (
    CachedRange,
    HeldPosition,
    OpenRange,
    ReadInFlight,
    Slot,
    State,
    Step,
    Wait,
)
from entrycache_reference.pulsar_pip430.storage_reads import deliver, look_up
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, HoldName, Position, ReadName

# A step in the making.


class DropDue(NamedTuple):
    """The task that runs the invalidation which is due in a cache."""

    cache: CacheName


class GoOn(NamedTuple):
    """The task that lets a read go on from a position."""

    read: ReadName
    start: Position


class Work(NamedTuple):
    """A step in the making: what was done so far, the tasks that are queued, and the reads that have ended."""

    done: Step
    tasks: tuple[DropDue | GoOn, ...] = ()
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
    held: tuple[HeldPosition, ...], positions: Iterable[Position]
) -> tuple[tuple[HeldPosition, ...], tuple[HeldPosition, ...]]:
    """Split what is held into what stays and what leaves: these positions, each as often as it is named."""
    kept, taken = list(held), []
    for pos in positions:
        at = next(number for number, one in enumerate(kept) if one.slot.pos == pos)
        taken.append(kept.pop(at))
    return tuple(kept), tuple(taken)


@rule(Rule.INFLIGHT_9)
def give_back(work: Work, name: ReadName, positions: Iterable[Position], config: Config) -> Work:
    """Give back what a read does not deliver; with variant `failed_read` "counted" that uses up expected reads."""
    kept, taken = split_held(held_by(work.state, name), positions)
    work = with_held(work, name, kept)
    if config.variants.failed_read is FailedRead.UNCOUNTED:
        return work
    return then(work, deliver(work.state, taken, config))


@rule(Rule.INFLIGHT_4, Rule.LEDGER_9)
def release_some(work: Work, name: ReadName, positions: Iterable[Position], config: Config) -> Work:
    """Release what a read leaves out of what it delivers: each takes one from its count."""
    kept, taken = split_held(held_by(work.state, name), positions)
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
    work: Work, name: ReadName, first: Position, last: Position, config: Config
) -> tuple[Work, CachedRange]:
    """Read a range through the cache: mark the hits, and then ask storage for each run of the others."""
    cache = read_named(work, name).cache
    cached = [pos for pos in positions_in(first, last) if entry_at(work.state, cache, pos) is not None]
    work = take_hits(work, name, tuple(cached), config)
    gaps: tuple[OpenRange, ...] = ()
    for start, end in runs_of(pos for pos in positions_in(first, last) if pos not in cached):
        work, gap = read_gap(work, name, start, end, config)
        gaps += (gap,)
    return work, CachedRange(first, last, tuple(cached), gaps)


@rule(Rule.LEDGER_5)
def take_hits(work: Work, name: ReadName, hits: tuple[Position, ...], config: Config) -> Work:
    """Look cached positions up, and hold them for the read."""
    cache = read_named(work, name).cache
    work = then(work, look_up(work.state, cache, hits, config))
    held = tuple(HeldPosition(Slot(cache, pos), True) for pos in hits)
    return with_held(work, name, (*held_by(work.state, name), *held))


@rule(Rule.INFLIGHT_2)
def read_gap(work: Work, name: ReadName, first: Position, last: Position, config: Config) -> tuple[Work, OpenRange]:
    """Read a range from storage: wait where it is asked for, and read the rest through the cache, or ask for all."""
    read = read_named(work, name)
    asker = read.cursor if read.most is not None else None
    pieces = pending_reads.pieces_of(work.state.pending, first, last)
    waits: tuple[Wait, ...] = ()
    rests: tuple[CachedRange, ...] = ()
    for piece in pieces:
        if piece.ask is None and len(pieces) > 1:
            ends = Position(first.ledger, piece.first), Position(first.ledger, piece.last)
            work, rest = read_through(work, name, *ends, config)
            rests += (rest,)
        else:
            pending, wait = pending_reads.join(work.state.pending, name, first.ledger, piece, read.cache, asker)
            work = with_state(work, work.state._replace(pending=pending))
            waits += (wait,)
    return work, OpenRange(first, last, waits, rests=rests)


# Failures of ranges.


@rule(Rule.INFLIGHT_7, Rule.INFLIGHT_8)
def resolve(work: Work, name: ReadName, cached: CachedRange, config: Config) -> tuple[Work, CachedRange]:
    """Look at a range after an answer: if a gap has failed and none waits, its hits give it a second try."""
    gaps: tuple[OpenRange, ...] = ()
    for gap in cached.gaps:
        work, resolved = resolve_gap(work, name, gap, config)
        gaps += (resolved,)
    cached = cached._replace(gaps=gaps)
    if not is_whole(cached) or not has_failed(cached) or not can_try_again(cached):
        return work, cached
    work = give_back(work, name, positions_got(cached), config)
    work, whole = read_gap(work, name, cached.first, cached.last, config)
    return work, CachedRange(cached.first, cached.last, (), (whole,), True)


@rule(Rule.INFLIGHT_7)
def can_try_again(cached: CachedRange) -> bool:
    """Return whether a range of which a gap has failed is read once more: the cache gave a part of it."""
    return bool(cached.hits)


@rule(Rule.INFLIGHT_8)
def resolve_gap(work: Work, name: ReadName, gap: OpenRange, config: Config) -> tuple[Work, OpenRange]:
    """Look at a gap after an answer: if one of its parts has failed and none waits, the others are given back."""
    rests: tuple[CachedRange, ...] = ()
    for rest in gap.rests:
        work, resolved = resolve(work, name, rest, config)
        rests += (resolved,)
    gap = gap._replace(rests=rests)
    if not is_answered(gap) or not (gap.has_failed or any(has_failed(rest) for rest in rests)):
        return work, gap
    work = give_back(work, name, positions_got_in(gap), config)
    return work, OpenRange(gap.first, gap.last, has_failed=True)


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
