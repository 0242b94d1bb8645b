"""The definition of reads in flight: what their steps leave alone, what a begin holds, what they report, and the rows.

A step moves only the cursors that read, and touches only the reads that begin or wait. What it asks of storage, and
which reads it ends with what, follows from the states before and after it. The first rows of an answer are about the
entries that storage gives. Which asks a read joins is left to the laws, but for the first one of each gap.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from entrycache_evidence.pulsar_pip430.closed_forms import (
    counts_lookups,
    counts_permits,
    counts_taken,
    expected_due,
    without_taken,
)
from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, InnerAsk, ReadEnd, ShortAnswer
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.laws.reads_in_flight import (
    given_within,
    has_failure,
    has_hole,
    hits_within,
    is_failing,
    of_earlier_chunks,
    waits_of_read,
)
from entrycache_reference.pulsar_pip430.state import (
    CachedRange,
    ManagedCursor,
    ManagedLedger,
    OpenRange,
    RangeRequest,
    Slot,
    State,
    Step,
)
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position, ReadName

IN_FLIGHT_OPS: Final = (ops.ReadBegin, ops.ReplayBegin, ops.StorageAnswer)
FAILURES: Final = (ops.StorageAnswerKind.FAIL, ops.StorageAnswerKind.BUSY)
"""The answers that fail everybody who waits for them."""


def is_in_flight(pre: State, event: Any) -> bool:
    """Return whether a step is one of reads by cursors that overlap, and not one of reads without a cache."""
    ask = pre.pending.asks.get(event.ask) if type(event) is ops.StorageAnswer else None
    return isinstance(event, IN_FLIGHT_OPS) and (type(event) is not ops.StorageAnswer or bool(ask and ask.cache))


def reads_touched(pre: State, event: Any, step: Step) -> set[ReadName]:
    """Return the reads that a step may touch: the one that begins, those that wait for the ask, or got permits."""
    touched: set[ReadName] = set()
    if isinstance(event, ops.ReadBegin | ops.ReplayBegin):
        touched = {event.read}
    elif type(event) is ops.StorageAnswer:
        touched = {waiter.read for waiter in pre.pending.asks[event.ask].waiting}
    gone = [request.name for request in pre.limiter.waiting if request not in step.state.limiter.waiting]
    return touched | {name.read for name in gone if isinstance(name, RangeRequest)}


def moving_cursors(pre: State, event: Any, touched: set[ReadName]) -> set[tuple[CacheName, CursorName]]:
    """Return the cursors that a step may move: those of the reads that it touches."""
    opened = [read for name, read in pre.pending.of_cursors.items() if name in touched]
    started = {(event.cache, event.cursor)} if isinstance(event, ops.ReadBegin | ops.ReplayBegin) else set()
    return started | {(read.cache, read.cursor) for read in opened}


def is_defined_in_flight(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a step moves only those who read, tracks them, and leaves all other reads and asks alone."""
    if law.refusable(config, pre, event):
        return step == Step(pre, law.REFUSED, ())
    after = step.state
    touched, is_answer = reads_touched(pre, event, step), type(event) is ops.StorageAnswer
    is_begin, released = isinstance(event, ops.ReadBegin | ops.ReplayBegin), {*touched, getattr(event, "hold", None)}
    moved = moving_cursors(pre, event, touched)
    managed = {
        cache: one._replace(
            due=expected_due(config, pre, cache, step),
            cursors={
                cursor: at._replace(read=after.managed[cache].cursors[cursor].read) if (cache, cursor) in moved else at
                for cursor, at in one.cursors.items()
            },
        )
        for cache, one in pre.managed.items()
    }
    members = {
        cache: {cursor: one.cursors[cursor].read for cursor in pre.caches[cache].members}
        for cache, one in managed.items()
    }
    left = {one: read for one, read in pre.pending.of_cursors.items() if one not in touched}
    old = {number: ask for number, ask in pre.pending.asks.items() if not is_answer or number != event.ask}
    asks = {number: ask._replace(waiting=ask.waiting[: len(old[number].waiting)]) for number, ask in
            after.pending.asks.items() if number in old}  # fmt: skip
    sealed = {number: ask._replace(is_joinable=asks[number].is_joinable) for number, ask in old.items()}
    return (
        {cache: without_taken(one) for cache, one in after.managed.items()}
        == {cache: without_taken(one) for cache, one in managed.items()}
        and {cache: after.caches[cache].members for cache in managed} == members
        and counts_taken(config, pre, step)
        and (counts_permits(config) or after.limiter == pre.limiter)
        and {one: read for one, read in after.pending.of_cursors.items() if one not in touched} == left
        and asks == sealed
        and after.pending.sent == pre.pending.sent + len(after.pending.asks.keys() - old.keys())
        and after.pending.reads == pre.pending.reads
        and slots_held(after, released) == slots_held(pre, released)
        and (not is_begin or law.decides_ranges(pre, step) or begins_with_hits(pre, event, step))
        and (may_read_again(config, event) or law.decides_ranges(pre, step) or keeps_order(pre, touched, step))
        and reports_in_flight(pre, event, touched, step)
        and ends_where_it_may(config, pre, event, step)
        and (not is_begin or joins_the_right_asks(config, pre, event, step))
        and (config.max_size_bytes > 0 or not any(ask.is_joinable for ask in after.pending.asks.values()))
        and expects_what_is_held(touched, step)
        and holds_by_requests(touched, step)
        and cuts_around_the_cache(pre, touched, step)
        and takes_the_first_run(pre, touched, step)
        and goes_on_from_its_end(config, pre, event, touched, step)
        and has_rows_in_flight(pre, event, step)
        and counts_lookups(pre, step)
    )


def may_read_again(config: Config, event: Any) -> bool:
    """Return whether something may be read once more: after an error, or by default after a short answer."""
    if type(event) is not ops.StorageAnswer or event.answer is ops.StorageAnswerKind.ALL:
        return False
    return not isinstance(event.answer, int) or config.variants.short_answer is ShortAnswer.UNBROKEN


def keeps_order(pre: State, touched: set[Any], step: Step) -> bool:
    """Return whether open reads hold what they held, in order, and then what they have got since, ascending."""
    for name in touched & step.state.pending.of_cursors.keys() & pre.pending.of_cursors.keys():
        now = [one.slot for one in step.state.holds.get(HoldName(name), ())]
        before = [one.slot for one in pre.holds.get(HoldName(name), ()) if one.slot in now]
        new = now[len(before) :]
        has_failed = any(one.is_last_try for one in step.state.pending.of_cursors[name].ranges)
        if has_failed or has_hole(pre.pending.of_cursors[name]):
            continue
        if now[: len(before)] != before or new != sorted(set(new)):
            return False
    return True


def ends_where_it_may(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a read without permits and failures ends with all it wants, or behind the last entry.

    With variant `read_end` "last-confirmed" it may also end with the entry that was the last one when it asked.
    """
    is_partial = type(event) is ops.StorageAnswer and event.answer is not ops.StorageAnswerKind.ALL
    if is_partial and isinstance(event.answer, int) and isinstance(step.outcome, outcomes.InFlight):
        return not any(ends_for_nothing(config, pre, step, end) for end in step.outcome.done or ())
    if is_partial or config.max_reads_in_flight_bytes or not isinstance(step.outcome, outcomes.InFlight):
        return True
    for end in step.outcome.done or ():
        read, most = pre.pending.of_cursors.get(end.read), getattr(event, "max_entries", None)
        if read is not None:
            most = None if read.most is None else of_earlier_chunks(pre, end.read, read)
        if most is None or (read is not None and (has_hole(read) or is_failing(read))):
            continue
        managed = step.state.managed[event.cache if read is None else read.cache]
        cursor = managed.cursors[event.cursor if read is None else read.cursor]
        is_last = read is not None and read.ranges[0].last == read.last
        may_end_there = config.variants.read_end is ReadEnd.LAST_CONFIRMED and is_last
        if len(end.entries or ()) < most and not has_read_all(managed, cursor) and not may_end_there:
            return False
    return True


def ends_for_nothing(config: Config, pre: State, step: Step, end: outcomes.EndedRead) -> bool:
    """Return whether a read ends though its chunk got nothing, has not failed, and may still be read.

    With variant `read_end` "last-confirmed" it may end if its chunk reaches the entry that was the last one.
    """
    read = pre.pending.of_cursors.get(end.read)
    if read is None or read.most is None or is_failing(read) or end.entries is None:
        return False
    if {*end.entries} & {*read.wanted}:
        return False
    if end.entries and config.variants.read_end is ReadEnd.LAST_CONFIRMED and read.ranges[0].last == read.last:
        return False
    managed = step.state.managed[read.cache]
    cursor = managed.cursors[read.cursor]
    is_left = all(pos.ledger in managed.sizes and not is_acked(cursor, pos) for pos in read.wanted)
    return is_left and not has_read_all(managed, cursor)


def has_read_all(managed: ManagedLedger, cursor: ManagedCursor) -> bool:
    """Return whether the read position of a cursor is behind the last entry."""
    current = max(managed.sizes)
    return cursor.read >= Position(current, len(managed.sizes[current]))


def joins_the_right_asks(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether each gap of a read that begins waits first for the ask that the variant `inner_ask` names."""
    read = step.state.pending.of_cursors.get(event.read)
    asks = {number: ask for number, ask in pre.pending.asks.items() if ask.is_joinable}
    if read is None or any(not step.state.pending.asks[number].is_joinable for number in asks):
        return True
    for cached in read.ranges:
        is_next = False
        for gap in cached.gaps:
            is_next, was_next = gap.is_cut, is_next
            if was_next or not gap.waits:
                continue
            within = {
                number: (max(ask.first, gap.first.entry), min(ask.last, gap.last.entry))
                for number, ask in asks.items()
                if ask.ledger == gap.first.ledger and ask.first <= gap.last.entry and ask.last >= gap.first.entry
            }
            if first_ask(config, gap, within) != (gap.waits[0].ask if within else None):
                return False
    return True


def first_ask(config: Config, gap: OpenRange, within: dict[int, tuple[int, int]]) -> int | None:
    """Return the ask at the begin of a gap, or else at its end, or else the lowest or the longest one between."""
    ends = [number for number, (first, _) in within.items() if first == gap.first.entry]
    ends += [number for number, (_, last) in within.items() if last == gap.last.entry]
    if ends or not within:
        return ends[0] if ends else None
    if config.variants.inner_ask is InnerAsk.FIRST:
        return min(within, key=lambda number: within[number])
    return max(within, key=lambda number: (within[number][1] - within[number][0], number))


def expects_what_is_held(touched: set[ReadName], step: Step) -> bool:
    """Return whether a further read is expected only of entries that the cache still held for a replay."""
    events = [part.event for part in step.parts]
    for at, event in enumerate(events):
        if type(event) is not ops.ExpectRead or event.pos not in step.state.caches[event.cache].entries:
            continue
        if any(type(later) is ops.Insert and later.pos == event.pos for later in events[at:]):
            continue
        slot = Slot(event.cache, event.pos)
        own = [one for name in touched for one in step.state.holds.get(HoldName(name), ()) if one.slot == slot]
        if own and not any(one.is_cached for one in own):
            return False
    return True


def holds_by_requests(touched: set[ReadName], step: Step) -> bool:
    """Return whether an open replay holds, under each of its requests, exactly what the ranges of that one have got."""
    for name in touched & step.state.pending.of_cursors.keys():
        read = step.state.pending.of_cursors[name]
        if read.most is not None or any(has_failure(cached) for cached in read.finished):
            continue
        own, got = step.state.holds.get(HoldName(name), ()), defaultdict[int | None, list[Position]](list)
        for cached in (*read.ranges, *read.finished):
            got[cached.request] += [*hits_within(cached), *given_within(cached)]
        if any(sorted(one.slot.pos for one in own if one.request == key) != sorted(got[key]) for key in got):
            return False
    return True


def gaps_within(ranges: Iterable[CachedRange]) -> Iterator[tuple[OpenRange, ...]]:
    """Yield the gaps of each range, however deep."""
    for cached in ranges:
        yield cached.gaps
        for gap in cached.gaps:
            yield from gaps_within(gap.rests)


def cuts_around_the_cache(pre: State, touched: set[ReadName], step: Step) -> bool:
    """Return whether what is left of a gap that was cut in this step is a gap only if nothing of it is cached."""
    pending = step.state.pending.of_cursors
    for name in touched & pending.keys():
        before = pre.pending.of_cursors.get(name)
        known = {gap[:2] for gaps in gaps_within(before.ranges if before else ()) for gap in gaps}
        for gaps in gaps_within(pending[name].ranges):
            left = [gap for cut, gap in pairwise(gaps) if cut.is_cut and gap[:2] not in known]
            entries = step.state.caches[pending[name].cache].entries
            if any(gap.first <= pos <= gap.last for gap in left for pos in entries):
                return False
    return True


def takes_the_first_run(pre: State, touched: set[ReadName], step: Step) -> bool:
    """Return whether a new chunk is the first run of unacknowledged entries from where its read goes on."""
    for name in touched & step.state.pending.of_cursors.keys():
        read, before = step.state.pending.of_cursors[name], pre.pending.of_cursors.get(name)
        is_new = before is None or (before.start, before.wanted) != (read.start, read.wanted)
        if read.most is None or not read.wanted or not is_new or read.wanted[0].ledger != read.start.ledger:
            continue
        managed = step.state.managed[read.cache]
        cursor, entries = managed.cursors[read.cursor], len(managed.sizes[read.start.ledger])
        window = range(read.start.entry, min(read.start.entry + read.most, entries))
        places = [Position(read.start.ledger, entry) for entry in window]
        left = [pos for pos in places if not is_acked(cursor, pos)]
        first = left[0].entry if left else 0
        if read.wanted != tuple(pos for number, pos in enumerate(left) if pos.entry == first + number):
            return False
    return True


def goes_on_from_its_end(config: Config, pre: State, event: Any, touched: set[ReadName], step: Step) -> bool:
    """Return whether a read whose chunk is there goes on right behind it, and only if its cursor has not read all.

    Behind a last entry that is acknowledged by now it goes on behind the run of that entry. This says nothing about a
    chunk that lacks an entry, or behind which the read may have passed others in the same step.
    """
    if type(event) is not ops.StorageAnswer or event.answer in FAILURES or config.max_reads_in_flight_bytes:
        return True
    for name in touched & step.state.pending.of_cursors.keys() & pre.pending.of_cursors.keys():
        before, read = pre.pending.of_cursors[name], step.state.pending.of_cursors[name]
        waits = waits_of_read(before)
        is_there = {wait.ask for wait in waits} == {event.ask}
        if read.most is None or not is_there or is_failing(before) or has_hole(before):
            continue
        cursor = step.state.managed[read.cache].cursors[read.cursor]
        if has_read_all(step.state.managed[read.cache], cursor):
            return False
        got = {pos.entry for cached in before.ranges for pos in (*cached.hits, *given_within(cached))}
        got |= {entry for wait in waits for entry in range(wait.first, wait.last + 1)}
        is_whole = event.answer is ops.StorageAnswerKind.ALL and got >= {pos.entry for pos in before.wanted}
        start, own = behind(cursor, before.wanted[-1]), read.wanted[0]
        left = [entry for entry in range(start.entry, own.entry) if not is_acked(cursor, Position(own.ledger, entry))]
        is_next = start <= own < Position(start.ledger, start.entry + read.most) and not left
        if is_whole and is_next and read.start != start:
            return False
    return True


def behind(cursor: ManagedCursor, last: Position) -> Position:
    """Return the position behind an entry, or behind the run of acknowledged entries that it belongs to."""
    entry = last.entry + 1
    while last in cursor.acks and Position(last.ledger, entry) in cursor.acks:
        entry += 1
    return Position(last.ledger, entry)


def is_acked(cursor: ManagedCursor, pos: Position) -> bool:
    """Return whether a cursor has acknowledged an entry."""
    return pos <= cursor.mark_delete or pos in cursor.acks


def slots_held(state: State, but: set[Any]) -> dict[Any, list[Slot]]:
    """Return what is held under each name but these."""
    return {name: [one.slot for one in held] for name, held in state.holds.items() if name not in but}


def begins_with_hits(pre: State, event: Any, step: Step) -> bool:
    """Return whether a read is open as it was begun, with each position that it looked up; at its end, ascending."""
    got = [part.event.pos for part in step.parts if type(part.event) is ops.Get]
    read, is_replay = step.state.pending.of_cursors.get(event.read), type(event) is ops.ReplayBegin
    ends = step.outcome.done if isinstance(step.outcome, outcomes.InFlight) else None
    has_lost = read is not None and any(gap.has_failed for cached in read.finished for gap in cached.gaps)
    if has_lost or any(end.read == event.read and end.error for end in ends or ()):
        return event.read not in step.state.holds
    if read is None:
        got = sorted(pos for pos in got if not is_replay or pos in event.positions)
    elif (read[:2], read.most is None) != ((event.cache, event.cursor), is_replay):
        return False
    return [one.slot for one in step.state.holds.get(event.read, ())] == [Slot(event.cache, pos) for pos in got]


def reports_in_flight(pre: State, event: Any, touched: set[Any], step: Step) -> bool:
    """Return whether a step reports each new ask, and each read that ends with what is held for it, ascending."""
    answer, pending = step.outcome, step.state.pending
    new = [(number, ask) for number, ask in sorted(pending.asks.items()) if number >= pre.pending.sent]
    sent = tuple(outcomes.SentAsk(number, ask.ledger, ask.first, ask.last, ask.cache) for number, ask in new)
    if not isinstance(answer, outcomes.InFlight | outcomes.Released | outcomes.Decided):
        return False
    if type(answer) not in event.answers or answer.sent_asks != (sent or None):
        return False
    if isinstance(answer, outcomes.Released) and answer.released != len(pre.holds[event.hold]):
        return False
    if isinstance(answer, outcomes.Decided) and answer.granted is not None:
        return False
    done = answer.done or ()
    if [end.read for end in done] != sorted(touched - pending.of_cursors.keys()) or answer.done == ():
        return False
    held = [[one.slot.pos for one in step.state.holds.get(HoldName(end.read), ())] for end in done]
    failed = outcomes.ReadError.READ_FAILED
    return all(
        (end == outcomes.EndedRead(end.read, tuple(sorted(got))) and got == sorted(got))
        or (not got and end == outcomes.EndedRead(end.read, None, failed))
        for end, got in zip(done, held, strict=True)
    )


def has_rows_in_flight(pre: State, event: Any, step: Step) -> bool:
    """Return whether the first rows are those of what storage gives: missed, and then not wanted if none is offered."""
    given: list[Position] = []
    if type(event) is ops.StorageAnswer:
        ask, kinds = pre.pending.asks[event.ask], ops.StorageAnswerKind
        number = event.answer if isinstance(event.answer, int) else ask.last - ask.first + 1
        last = ask.first + (0 if event.answer in {kinds.FAIL, kinds.BUSY} else number)
        given = [Position(ask.ledger, entry) for entry in range(ask.first, last)]
    is_offered = any(type(part.event) is ops.Insert for part in step.parts)
    expected = [("MISS", pos) for pos in given] + ([] if is_offered else [("SKIP", pos) for pos in given])
    rows = [(row.op, (row.ledger_id, row.entry_id)) for row in step.rows]
    own = [row.op for row in step.rows if row.op == "MISS" or row.cause == "NOT_WANTED"]
    return rows[: len(expected)] == expected and len(own) == len(expected)
