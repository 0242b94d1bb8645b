"""The laws about reads by cursors: what is delivered, what is looked up and cached, and what becomes of counts.

These laws compare what was delivered with the sorted list of entries that are there, and take the order of lookups and
fills from the parts of the step. Those of counts look at the releases among the parts.

The laws of pending reads compare the table before and after a step, entry by entry.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config, Replay
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.laws.law import Law, cursor_named, end_of, entries_there
from entrycache_reference.pulsar_pip430.outcomes import Served
from entrycache_reference.pulsar_pip430.state import Ask, ManagedCursor, ManagedLedger, Part, RangeRequest, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Position, ReadName

ReadOfCursor = ops.CursorRead | ops.ReplayRead

CURSOR_OPS: Final = (
    ops.CursorSeek,
    ops.CursorReset,
    ops.MarkDelete,
    ops.Ack,
    ops.Deactivate,
    ops.CursorClose,
)
"""The operations on a cursor that may make entries leave, but for reads and openings."""


# Questions about what is left to read.


def is_done(cursor: ManagedCursor, pos: Position) -> bool:
    """Return whether the cursor has acknowledged that position."""
    return pos in cursor.acks or not pos > cursor.mark_delete


def unread(managed: ManagedLedger, cursor: ManagedCursor) -> list[Position]:
    """Return the entries at or behind the read position that are not acknowledged, ascending."""
    return [pos for pos in entries_there(managed) if not (pos < cursor.read or is_done(cursor, pos))]


def chunks_of(positions: Sequence[Position]) -> list[list[Position]]:
    """Split ascending positions into the longest runs of neighbours in one ledger."""
    runs: list[list[Position]] = []
    for pos in positions:
        if runs and runs[-1][-1] == (pos.ledger, pos.entry - 1):
            runs[-1].append(pos)
        else:
            runs.append([pos])
    return runs


def chunks_read(cursor: ManagedCursor, wanted: Sequence[Position], most: int) -> list[list[Position]]:
    """Split what a read of at most `most` entries delivers into its chunks.

    A chunk lies within a window of as many entries as are still wanted. The window begins where the last one ended, or
    at the begin of the ledger.
    """
    chunks: list[list[Position]] = []
    at = cursor.read
    for run in chunks_of(wanted):
        rest = list(run)
        while rest:
            at = at if at.ledger == rest[0].ledger else Position(rest[0].ledger, 0)
            end = at.entry + most
            taken = [pos for pos in rest if pos.entry < end]
            at = Position(at.ledger, taken[-1].entry + 1 if taken else end)
            most -= len(taken)
            rest = rest[len(taken) :]
            chunks += [taken] if taken else []
    return chunks


def is_taken(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the event is not refused."""
    return not law.refusable(config, pre, event)


def cursor_then(step: Step, event: Any) -> ManagedCursor:
    """Return the cursor that the event names, after the step."""
    return step.state.managed[event.cache].cursors[event.cursor]


def parts_of(step: Step, *kinds: type[ops.Op]) -> list[Part]:
    """Return the parts of these kinds, in order."""
    return [part for part in step.parts if type(part.event) in kinds]


def delivered(step: Step) -> list[Position]:
    """Return the positions that a read delivered, ascending."""
    return sorted((*step.outcome.hits, *step.outcome.fills)) if isinstance(step.outcome, Served) else []


# Reads.


def left_to_read(pre: State, event: Any) -> list[Position]:
    """Return the entries that the cursor of a read has still to read."""
    cursor = cursor_named(pre, event)
    return [] if cursor is None else unread(pre.managed[event.cache], cursor)


def has_something_to_read(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Return whether an entry is left for the read."""
    return is_taken(config, pre, event, step) and bool(left_to_read(pre, event))


def reads_the_next_ones(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Check R-LEDGER-3."""
    wanted = left_to_read(pre, event)[: event.max_entries]
    last = wanted[-1]
    ends = last.ledger, last.entry + 1
    after = ends if len(wanted) == event.max_entries else end_of(pre.managed[event.cache])
    return delivered(step) == wanted and cursor_then(step, event).read == after


def has_nothing_to_read(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Return whether no entry is left for the read."""
    return is_taken(config, pre, event, step) and not left_to_read(pre, event)


def delivers_nothing_and_moves(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Check R-LEDGER-4."""
    served = isinstance(step.outcome, Served) and not delivered(step)
    return served and cursor_then(step, event).read == end_of(pre.managed[event.cache])


def serves_something(config: Config, pre: State, event: ReadOfCursor, step: Step) -> bool:
    """Return whether the read delivered something."""
    return is_taken(config, pre, event, step) and bool(delivered(step))


def looks_up_first(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Check R-LEDGER-5."""
    assert isinstance(step.outcome, Served)
    fills = set(step.outcome.fills)
    positions = [part.event.pos for part in step.parts if isinstance(part.event, ops.Get)]
    if positions != list(step.outcome.hits):
        return False
    cursor = cursor_named(pre, event)
    assert cursor is not None
    for chunk in chunks_read(cursor, delivered(step), event.max_entries):
        parts = [
            part for part in step.parts if isinstance(part.event, ops.Get | ops.Insert) and part.event.pos in chunk
        ]
        kinds = [type(part.event) for part in parts]
        state = parts[0].pre if parts else step.state
        if kinds != sorted(kinds, key=lambda kind: kind is ops.Insert):
            return False
        if any(law.cached_entry(state, event.cache, pos) is not None for pos in chunk if pos in fills):
            return False
    return True


def is_idle(config: Config, pre: State, event: ops.CursorRead) -> bool:
    """Return whether the reading cursor is neither active nor flagged."""
    cursor = cursor_named(pre, event)
    return event.cursor not in pre.caches[event.cache].members and not (cursor is not None and cursor.is_flagged)


def has_fills_of_a_reader(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Return whether storage gave something to a cursor that is active or flagged."""
    return serves_something(config, pre, event, step) and not is_idle(config, pre, event)


def has_fills_of_an_idle_one(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Return whether storage gave something to a cursor that is neither active nor flagged."""
    return serves_something(config, pre, event, step) and is_idle(config, pre, event)


def counted_by(config: Config, pre: State, event: ops.CursorRead) -> bool:
    """Return whether fills of this cursor carry a count that has them inserted."""
    cursor = cursor_named(pre, event)
    if config.max_size_bytes == 0:
        return True
    if config.evict_by_expected_reads:
        return event.cursor in pre.caches[event.cache].members
    return cursor is not None and cursor.is_flagged


def inserts_all_or_none(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Check R-LEDGER-6, R-LEDGER-19."""
    assert isinstance(step.outcome, Served)
    sizes = pre.managed[event.cache].sizes
    wanted = step.outcome.fills if counted_by(config, pre, event) else ()
    offered = [part.event for part in step.parts if isinstance(part.event, ops.Insert)]
    return [(offer.pos, offer.size, offer.token) for offer in offered] == [
        (pos, sizes[pos.ledger][pos.entry], pos.entry) for pos in wanted
    ]


def has_counted_fills(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Return whether the read of a cursor that is active or flagged offered something to the cache."""
    offered = bool(parts_of(step, ops.Insert))
    return is_taken(config, pre, event, step) and offered and not is_idle(config, pre, event)


def counts_where_the_cursor_stood(config: Config, pre: State, event: ops.CursorRead, step: Step) -> bool:
    """Check R-LEDGER-7."""
    cursor = cursor_named(pre, event)
    assert cursor is not None
    for part in step.parts:
        if not isinstance(part.event, ops.Insert):
            continue
        members = part.pre.caches[event.cache].members
        own = members.get(event.cursor)
        places = sorted(pos for pos in members.values() if pos is not None)
        rank = 0 if own is None else bisect_right(places, own)
        count = rank if config.evict_by_expected_reads else int(cursor.is_flagged)
        if part.event.expected_reads != (count or -1):
            return False
        if part.pre.managed[event.cache].cursors[event.cursor].read > part.event.pos:
            return False
    return True


def replays_what_is_not_acked(config: Config, pre: State, event: ops.ReplayRead, step: Step) -> bool:
    """Check R-LEDGER-8."""
    cursor = cursor_named(pre, event)
    assert cursor is not None
    wanted = sorted({pos for pos in event.positions if not is_done(cursor, pos)})
    read = cursor.read
    for pos in wanted:
        read = Position(pos.ledger, pos.entry + 1) if pos == read else read
    alone = config.variants.replay is Replay.SINGLE
    inserts = parts_of(step, ops.Insert)
    return delivered(step) == wanted and cursor_then(step, event).read == read and not (alone and inserts)


# Counts and counters.


def keeps_no_count(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-LEDGER-9, for the operations that deliver nothing."""
    return not parts_of(step, ops.MarkRead, ops.ExpectRead) and step.state.holds.keys() == pre.holds.keys()


def serves_one_by_one(config: Config, pre: State, event: ReadOfCursor, step: Step) -> bool:
    """Return whether the read delivered something, and gave nothing back that it did not deliver."""
    is_grouped = type(event) is ops.ReplayRead and config.variants.replay is Replay.GROUPED
    return serves_something(config, pre, event, step) and not is_grouped


def takes_one_each(config: Config, pre: State, event: ReadOfCursor, step: Step) -> bool:
    """Check R-LEDGER-9, for reads: what is not held is released, and what is held is not."""
    slots = [(event.cache, pos) for pos in delivered(step)]
    released = [(part.event.cache, part.event.pos) for part in step.parts if isinstance(part.event, ops.MarkRead)]
    held = [tuple(one.slot) for one in step.state.holds.get(event.hold, ())] if event.hold is not ABSENT else []
    if event.hold is not ABSENT:
        return not released and held == slots
    last = parts_of(step, ops.MarkRead)
    state = last[0].pre if last else step.state
    return released == [(name, pos) for name, pos in slots if law.cached_entry(state, name, pos) is not None]


def gives_back_one(config: Config, pre: State, event: ops.ReplayAdd, step: Step) -> bool:
    """Check R-LEDGER-9, for a replay that is asked for; requests that wait for its permits may go on afterwards."""
    held = {one.slot: one.is_cached for one in pre.holds[event.hold] if one.slot.pos == event.pos}
    [(slot, is_cached)] = held.items()
    more = [ops.ExpectRead(*slot)] if event.dispatcher is ops.Dispatcher.KEY_SHARED else []
    wanted = [*more, ops.MarkRead(*slot)] if is_cached else []
    left = [one.slot for one in pre.holds[event.hold] if one.slot != slot]
    after = [one.slot for one in step.state.holds.get(event.hold, ())]
    counted = [part.event for part in step.parts]
    return (
        (counted[: len(wanted)] if pre.limiter.waiting else counted) == wanted
        and after == left
        and bool(left) == (event.hold in step.state.holds)
    )


def counts_what_it_serves(config: Config, pre: State, event: ReadOfCursor, step: Step) -> bool:
    """Check R-LEDGER-18."""
    assert isinstance(step.outcome, Served)
    sizes = pre.managed[event.cache].sizes
    before, after = pre.counts, step.state.counts
    hits = [sizes[pos.ledger][pos.entry] for pos in step.outcome.hits]
    misses = [sizes[pos.ledger][pos.entry] for pos in step.outcome.fills]
    return (
        after.hit_entries - before.hit_entries == len(hits)
        and after.hit_bytes - before.hit_bytes == sum(hits)
        and after.miss_entries - before.miss_entries == len(misses)
        and after.miss_bytes - before.miss_bytes == sum(misses)
    )


CURSOR_READS_LAWS: Final = (
    Law(Rule.LEDGER_3, (ops.CursorRead,), has_something_to_read, reads_the_next_ones, True),
    Law(Rule.LEDGER_4, (ops.CursorRead,), has_nothing_to_read, delivers_nothing_and_moves, True),
    Law(Rule.LEDGER_5, (ops.CursorRead,), serves_something, looks_up_first, True),
    Law(Rule.LEDGER_6, (ops.CursorRead,), has_fills_of_a_reader, inserts_all_or_none, True),
    Law(Rule.LEDGER_7, (ops.CursorRead,), has_counted_fills, counts_where_the_cursor_stood, True),
    Law(Rule.LEDGER_8, (ops.ReplayRead,), is_taken, replays_what_is_not_acked, True),
    Law(Rule.LEDGER_9, (*CURSOR_OPS, ops.Activate), is_taken, keeps_no_count, True),
    Law(Rule.LEDGER_9, (ops.CursorRead, ops.ReplayRead), serves_one_by_one, takes_one_each, True),
    Law(Rule.LEDGER_9, (ops.ReplayAdd,), is_taken, gives_back_one, True),
    Law(Rule.LEDGER_18, (ops.CursorRead, ops.ReplayRead), serves_one_by_one, counts_what_it_serves, True),
    Law(Rule.LEDGER_19, (ops.CursorRead,), has_fills_of_an_idle_one, inserts_all_or_none, True),
)


# Pending reads.


def names_waiting(ask: Ask) -> list[ReadName]:
    """Return the names of those who wait for an ask, in the order in which they joined."""
    return [waiter.read for waiter in ask.waiting]


def is_fetched(config: Config, pre: State, event: ops.Fetch, step: Step) -> bool:
    """Return whether the fetch is not refused."""
    return not law.refusable(config, pre, event)


def covers_by_entry(pre: State, event: ops.Fetch) -> dict[int, int | None]:
    """Return for each entry of a fetch the ask that it can join; None: there is none."""
    entries = range(event.first.entry, event.last.entry + 1)
    joinable = [(number, ask) for number, ask in pre.pending.asks.items() if ask.is_joinable]
    return {
        entry: next(
            (
                number
                for number, ask in joinable
                if ask.ledger == event.first.ledger and entry in range(ask.first, ask.last + 1)
            ),
            None,
        )
        for entry in entries
    }


def asks_for_the_rest(config: Config, pre: State, event: ops.Fetch, step: Step) -> bool:
    """Check R-INFLIGHT-2: the new asks are the longest runs of entries that no ask covers; the fetch waits for all."""
    covers = covers_by_entry(pre, event)
    uncovered = [entry for entry, number in covers.items() if number is None]
    starts = [entry for entry in uncovered if entry - 1 not in uncovered]
    ends = [entry for entry in uncovered if entry + 1 not in uncovered]
    asks = tuple(
        outcomes.SentAsk(pre.pending.sent + at, event.first.ledger, first, last)
        for at, (first, last) in enumerate(zip(starts, ends, strict=True))
    )
    after = step.state.pending
    joined = {number for number in covers.values() if number is not None} | {ask.ask for ask in asks}
    return (
        step.outcome == outcomes.InFlight(asks or None)
        and {number for number, ask in after.asks.items() if event.read in names_waiting(ask)} == joined
        and all(
            names_waiting(after.asks[number]) == [*names_waiting(ask), event.read]
            for number, ask in pre.pending.asks.items()
            if number in joined
        )
    )


RELEASING_OPS: Final = (ops.Release, ops.ReplayAdd, ops.Advance)
"""The operations by which a read that waits for permits may get them, or fail."""

AskingOp = ops.Fetch | ops.ReadBegin | ops.ReplayBegin | ops.StorageAnswer

ASKING_OPS: Final = (ops.Fetch, ops.ReadBegin, ops.ReplayBegin, ops.StorageAnswer)
"""The operations that ask storage or answer it."""


def is_about_asks(config: Config, pre: State, event: AskingOp, step: Step) -> bool:
    """Return whether something is asked, or answered."""
    return bool(pre.pending.asks or step.state.pending.asks) or type(event) is ops.StorageAnswer


def open_until_answered(config: Config, pre: State, event: AskingOp, step: Step) -> bool:
    """Check R-INFLIGHT-1."""
    sent = {ask.ask for ask in step.outcome.sent_asks or ()} if type(step.outcome) is outcomes.InFlight else set()
    answered = {event.ask} if type(event) is ops.StorageAnswer and not law.refusable(config, pre, event) else set()
    is_refused = type(event) is ops.StorageAnswer and event.ask not in pre.pending.asks
    after = step.state.pending
    return (
        (not is_refused or step.outcome == law.REFUSED)
        and sent == set(range(pre.pending.sent, after.sent))
        and after.asks.keys() == (pre.pending.asks.keys() | sent) - answered
    )


def is_fetched_ask(pre: State, event: ops.StorageAnswer) -> bool:
    """Return whether the answer is one to an open ask of reads without a cache."""
    ask = pre.pending.asks.get(event.ask)
    return ask is not None and ask.cache is None


def is_answered(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether storage gives entries to somebody who waits."""
    failures = (ops.StorageAnswerKind.FAIL, ops.StorageAnswerKind.BUSY)
    is_given = not law.refusable(config, pre, event) and event.answer not in failures
    return is_given and is_fetched_ask(pre, event)


def ends_of(step: Step) -> dict[ReadName, outcomes.EndedRead]:
    """Return the reads that a step ended, by name."""
    done = step.outcome.done if type(step.outcome) is outcomes.InFlight else None
    return {one.read: one for one in done or ()}


def waits_elsewhere(pre: State, event: ops.StorageAnswer, name: ReadName) -> bool:
    """Return whether a read waits for another ask, too."""
    return any(name in names_waiting(ask) for number, ask in pre.pending.asks.items() if number != event.ask)


def everybody_gets_his_part(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-3, for the reads of which no part failed."""
    ask = pre.pending.asks[event.ask]
    count = event.answer if isinstance(event.answer, int) else ask.last - ask.first + 1
    given = {Position(ask.ledger, entry) for entry in range(ask.first, ask.first + count)}
    for name in names_waiting(ask):
        opened = pre.pending.reads[name]
        own = {pos for pos in given if opened.range.first <= pos <= opened.range.last}
        end, after = ends_of(step).get(name), step.state.pending.reads.get(name)
        if opened.range.has_failed:
            continue
        if end is not None and list(end.entries or ()) != sorted({*opened.range.given, *own}):
            return False
        if (
            after is not None
            and waits_elsewhere(pre, event, name)
            and set(after.range.given) != {*opened.range.given, *own}
        ):
            return False
    return True


def is_failing(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether storage answers with an error, and the step is not refused."""
    kinds = ops.StorageAnswerKind
    return is_fetched_ask(pre, event) and event.answer in {kinds.FAIL, kinds.BUSY}


def all_asks_sealed(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-6: who waits fails, and a read error ends the joining of its ledger's asks."""
    ledger = pre.pending.asks[event.ask].ledger
    is_error = event.answer is ops.StorageAnswerKind.FAIL
    failed = [
        end.error is not None if (end := ends_of(step).get(name)) is not None
        else step.state.pending.reads[name].range.has_failed
        for name in names_waiting(pre.pending.asks[event.ask])
    ]  # fmt: skip
    joinable = {
        number: ask.is_joinable and not (is_error and ask.ledger == ledger)
        for number, ask in pre.pending.asks.items()
        if number != event.ask
    }
    return all(failed) and joinable == {
        number: ask.is_joinable for number, ask in step.state.pending.asks.items() if number != event.ask
    }


def has_a_failed_part(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a read that has lost a part is given another one."""
    ask = pre.pending.asks.get(event.ask)
    return (
        ask is not None
        and ask.cache is None
        and any(pre.pending.reads[name].range.has_failed for name in names_waiting(ask))
    )


def fails_when_all_is_answered(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-8."""
    if law.refusable(config, pre, event):
        return True
    for name in names_waiting(pre.pending.asks[event.ask]):
        opened = pre.pending.reads[name]
        end = ends_of(step).get(name)
        if opened.range.has_failed and end is not None and (end.error is None or waits_elsewhere(pre, event, name)):
            return False
    return True


def has_open_reads(config: Config, pre: State, event: AskingOp, step: Step) -> bool:
    """Return whether a read was open before the step or is open after it."""
    tables = (pre.pending, step.state.pending)
    return any(table.reads or table.of_cursors for table in tables)


def nobody_waits_for_nothing(config: Config, pre: State, event: AskingOp, step: Step) -> bool:
    """Check R-INFLIGHT-13: whoever has not ended waits for an ask that is open, or for permits."""
    after, requests = step.state.pending, [request.name for request in step.state.limiter.waiting]
    waiting = {name for ask in after.asks.values() for name in names_waiting(ask)}
    waiting |= {name.read for name in requests if isinstance(name, RangeRequest)}
    return after.reads.keys() | after.of_cursors.keys() <= waiting


PENDING_LAWS: Final = (
    Law(Rule.INFLIGHT_1, ASKING_OPS, is_about_asks, open_until_answered, True),
    Law(Rule.INFLIGHT_2, (ops.Fetch,), is_fetched, asks_for_the_rest, True),
    Law(Rule.INFLIGHT_3, (ops.StorageAnswer,), is_answered, everybody_gets_his_part, True),
    Law(Rule.INFLIGHT_6, (ops.StorageAnswer,), is_failing, all_asks_sealed, True),
    Law(Rule.INFLIGHT_8, (ops.StorageAnswer,), has_a_failed_part, fails_when_all_is_answered, True),
    Law(Rule.INFLIGHT_13, (*ASKING_OPS, *RELEASING_OPS), has_open_reads, nobody_waits_for_nothing, True),
)
