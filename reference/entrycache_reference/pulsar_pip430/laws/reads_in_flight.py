"""The laws about reads by cursors that overlap in time: what is asked, filled, delivered, given back and read again.

These laws look at a read as a set of positions: each position that a chunk wants is one that the read has got, one that
it waits for, or one that is missing. What a read has got stands in the holds under its name.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import (
    Config,
    DuplicateCount,
    FailedRead,
    Replay,
    ShortAnswer,
    Storage,
    ZeroReads,
)
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.laws.cursor_reads import RELEASING_OPS, is_done, is_taken, parts_of, unread
from entrycache_reference.pulsar_pip430.laws.law import Law
from entrycache_reference.pulsar_pip430.state import Ask, CachedRange, ReadInFlight, State, Step, Wait
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import HoldName, Position, ReadName

READING_OPS: Final = (ops.ReadBegin, ops.ReplayBegin, ops.StorageAnswer)
"""The operations of reads by cursors that overlap in time."""

FAILURES: Final = (ops.StorageAnswerKind.FAIL, ops.StorageAnswerKind.BUSY)


# Questions about open reads.


def ask_of(pre: State, event: ops.StorageAnswer) -> Ask | None:
    """Return the open ask of a read by a cursor that the event answers, or None."""
    ask = pre.pending.asks.get(event.ask)
    return None if ask is None or ask.cache is None else ask


def answers_cursors(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether the event answers an ask of reads by cursors."""
    return ask_of(pre, event) is not None and not law.refusable(config, pre, event)


def gives_to_cursors(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether storage gives entries to reads by cursors."""
    return answers_cursors(config, pre, event, step) and event.answer not in FAILURES


def fails_cursors(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether storage answers reads by cursors with an error."""
    return answers_cursors(config, pre, event, step) and event.answer in FAILURES


def given_by(ask: Ask, event: ops.StorageAnswer) -> list[Position]:
    """Return the entries that an answer gives."""
    if event.answer in FAILURES:
        return []
    end = ask.first + event.answer if isinstance(event.answer, int) else ask.last + 1
    return [Position(ask.ledger, entry) for entry in range(ask.first, end)]


def waits_within(cached: CachedRange) -> Iterator[Wait]:
    """Yield every part of a range that waits, however deep."""
    for gap in cached.gaps:
        yield from gap.waits
        for rest in gap.rests:
            yield from waits_within(rest)


def hits_within(cached: CachedRange) -> Iterator[Position]:
    """Yield every position of a range that the cache gave, however deep."""
    yield from cached.hits
    for gap in cached.gaps:
        for rest in gap.rests:
            yield from hits_within(rest)


def given_within(cached: CachedRange) -> Iterator[Position]:
    """Yield every position of a range that storage gave, however deep."""
    for gap in cached.gaps:
        yield from gap.given
        for rest in gap.rests:
            yield from given_within(rest)


def has_failure(cached: CachedRange) -> bool:
    """Return whether a part of a range has failed, however deep."""
    return any(gap.has_failed or any(has_failure(rest) for rest in gap.rests) for gap in cached.gaps)


def waits_of_read(read: ReadInFlight) -> list[Wait]:
    """Return every part of a read that waits."""
    return [wait for cached in read.ranges for wait in waits_within(cached)]


def is_failing(read: ReadInFlight) -> bool:
    """Return whether a part of a read has failed."""
    return any(has_failure(cached) for cached in (*read.ranges, *read.finished))


def got_by(state: State, name: ReadName) -> list[Position]:
    """Return what is held under the name of a read, ascending."""
    return sorted(held.slot.pos for held in state.holds.get(HoldName(name), ()))


class Part(NamedTuple):
    """A read that waits for an ask, and its parts that do."""

    name: ReadName
    read: ReadInFlight
    waits: list[Wait]
    others: list[Wait]

    def own(self, ask: Ask, event: ops.StorageAnswer) -> list[Position]:
        """Return the entries of an answer that this read is given."""
        return [pos for pos in given_by(ask, event) if any(w.first <= pos.entry <= w.last for w in self.waits)]

    def is_lost(self, ask: Ask, event: ops.StorageAnswer) -> bool:
        """Return whether this read fails: a part has failed, or an answer leaves out what a replay wants."""
        if is_failing(self.read) or self.read.most is not None:
            return is_failing(self.read)
        waited = {Position(ask.ledger, entry) for wait in self.waits for entry in range(wait.first, wait.last + 1)}
        left_out = waited.difference(given_by(ask, event))
        return not {*self.read.wanted}.isdisjoint(left_out) or has_hole(self.read)


def has_hole(read: ReadInFlight) -> bool:
    """Return whether an entry that a read wants is neither there nor waited for, because an answer was short."""
    there: set[Position] = set()
    for cached in (*read.ranges, *read.finished):
        there |= {*hits_within(cached), *given_within(cached)}
        for wait in waits_within(cached):
            there |= {Position(cached.first.ledger, entry) for entry in range(wait.first, wait.last + 1)}
    for cached in read.waiting:
        there |= {Position(cached.first.ledger, each) for each in range(cached.first.entry, cached.last.entry + 1)}
    return not there.issuperset(read.wanted)


def parts_waiting(pre: State, event: ops.StorageAnswer) -> list[Part]:
    """Return the reads that wait for an ask, each once."""
    waiting = []
    for name, read in pre.pending.of_cursors.items():
        waits = waits_of_read(read)
        own = [wait for wait in waits if wait.ask == event.ask]
        if own:
            waiting.append(Part(name, read, own, [wait for wait in waits if wait.ask != event.ask]))
    return waiting


def end_of_read(step: Step, name: ReadName) -> outcomes.EndedRead | None:
    """Return how a read has ended in this step; None: it has not."""
    done = step.outcome.done if type(step.outcome) is outcomes.InFlight else None
    return next((one for one in done or () if one.read == name), None)


def chunks_that_are_there(pre: State, event: ops.StorageAnswer) -> list[Part]:
    """Return the reads whose chunk waits for nothing but this answer, and of which nothing has failed."""
    return [
        part
        for part in parts_waiting(pre, event)
        if part.read.most is not None and not part.others and not is_failing(part.read)
    ]


# What is asked.


def sends_asks(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a read by a cursor asks storage."""
    return type(step.outcome) is outcomes.InFlight and any(ask.cache for ask in step.outcome.sent_asks or ())


def asks_once(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-INFLIGHT-2: no entry is in two asks that can be joined, and no two asks of a chunk touch."""
    after = step.state.pending
    joinable = [(number, ask) for number, ask in after.asks.items() if ask.is_joinable]
    entries = [(ask.ledger, entry) for _, ask in joinable for entry in range(ask.first, ask.last + 1)]
    if len(entries) != len(set(entries)):
        return False
    sent = [ask for ask in step.outcome.sent_asks or () if ask.cache] if type(step.outcome) is outcomes.InFlight else []
    if type(event) is ops.ReadBegin:
        ends = {(ask.ledger, ask.last + 1) for ask in sent}
        if any((ask.ledger, ask.first) in ends for ask in sent):
            return False
    return all((ask.first, ask.last) == (after.asks[ask.ask].first, after.asks[ask.ask].last) for ask in sent)


def keeps_a_read_open(config: Config, pre: State, event: ops.ReadBegin, step: Step) -> bool:
    """Return whether a read begins and does not end at once."""
    return is_taken(config, pre, event, step) and event.read in step.state.pending.of_cursors


def wants_the_next_ones(config: Config, pre: State, event: ops.ReadBegin, step: Step) -> bool:
    """Check R-LEDGER-3, for the first chunks: what the cache gave and what the read waits for comes next."""
    read = step.state.pending.of_cursors[event.read]
    left = unread(pre.managed[event.cache], pre.managed[event.cache].cursors[event.cursor])
    got = got_by(step.state, event.read)
    both = sorted({*got, *read.wanted})
    return bool(read.wanted) and both == left[: len(both)] and len(both) <= event.max_entries


def has_reads_of_cursors(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a read that is no replay is open after the step."""
    return any(read.most is not None for read in step.state.pending.of_cursors.values())


def wants_what_is_left(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-3: what a read still wants, and what it has got of earlier chunks, are the entries asked for."""
    for name, read in step.state.pending.of_cursors.items():
        if read.most is None:
            continue
        before = pre.pending.of_cursors.get(name)
        total = event.max_entries if before is None else of_earlier_chunks(pre, name, before)
        if of_earlier_chunks(step.state, name, read) != total:
            return False
    return True


def of_earlier_chunks(state: State, name: ReadName, read: ReadInFlight) -> int:
    """Return the number of entries that a read wants, and of those that it has got of chunks before the present one."""
    assert read.most is not None
    present = {*read.wanted}
    return read.most + sum(1 for pos in got_by(state, name) if pos not in present)


# Answers.


def rank_now(config: Config, pre: State, ask: Ask) -> int:
    """Return the count of the cursor that asked, at the moment of the answer; -1: its entries are not wanted."""
    assert ask.cache is not None
    if ask.cursor is None:
        return 0 if config.variants.replay is Replay.GROUPED else -1
    if not config.evict_by_expected_reads:
        return 1 if pre.managed[ask.cache].cursors[ask.cursor].is_flagged else -1
    members = pre.caches[ask.cache].members
    own = members.get(ask.cursor)
    places = sorted(pos for pos in members.values() if pos is not None)
    return bisect_right(places, own) if own is not None else -1


def is_offered(config: Config, ask: Ask, count: int) -> bool:
    """Return whether the entries of an answer are offered to the cache."""
    if ask.cursor is None and config.variants.replay is Replay.SINGLE:
        return False
    least = 0 if config.variants.zero_reads is ZeroReads.COUNTED else 1
    return count >= least or config.max_size_bytes == 0


def fills_with_the_count_of_now(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-3: what is offered, with which count, and that everybody who waits gets his part."""
    ask = ask_of(pre, event)
    assert ask is not None
    assert ask.cache is not None
    sizes, given, count = pre.managed[ask.cache].sizes[ask.ledger], given_by(ask, event), rank_now(config, pre, ask)
    offers = [part.event for part in step.parts if isinstance(part.event, ops.Insert)]
    wanted = [(pos, sizes[pos.entry], count) for pos in given] if is_offered(config, ask, count) else []
    if [(offer.pos, offer.size, offer.expected_reads) for offer in offers] != wanted:
        return False
    for part in parts_waiting(pre, event):
        if part.others and not part.is_lost(ask, event):
            mine = set(part.own(ask, event))
            if not mine <= set(got_by(step.state, part.name)) or part.name not in step.state.pending.of_cursors:
                return False
    return True


def gives_and_serves_nobody(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether storage gives entries to reads by cursors, and no read that waited for permits looks any up."""
    return gives_to_cursors(config, pre, event, step) and not law.decides_ranges(pre, step)


def shares_one_count(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-4: an entry is claimed exactly if the cache holds it with the count of this answer.

    A read may also look an entry up in the same step; then the entry is the cache's.
    """
    ask = ask_of(pre, event)
    assert ask is not None
    assert ask.cache is not None
    replaces = config.variants.duplicate_count is DuplicateCount.REPLACED
    offers = [(part.event.pos, part.step) for part in step.parts if isinstance(part.event, ops.Insert)]
    taken = {pos for pos, added in offers if law.is_inserted(added) or (replaces and config.max_size_bytes)}
    looked_up = {part.event.pos for part in step.parts if isinstance(part.event, ops.Get)}
    for part in parts_waiting(pre, event):
        own, before = part.own(ask, event), got_by(pre, part.name)
        for held in step.state.holds.get(HoldName(part.name), ()):
            pos = held.slot.pos
            is_new = pos in own and pos not in before
            there = law.cached_entry(step.state, ask.cache, pos) is not None
            if is_new and pos not in looked_up and held.is_cached != (pos in taken and there):
                return False
    return True


# Chunks.


def waits_in_part(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a read gets one of several parts of its chunk, and nothing of it has failed."""
    given = gives_to_cursors(config, pre, event, step)
    return given and any(part.others and not is_failing(part.read) for part in parts_waiting(pre, event))


def waits_for_the_rest(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-5: a chunk of which a part is out delivers nothing and moves nothing.

    Ranges that waited for permits may begin in the same step.
    """
    for part in parts_waiting(pre, event):
        after = step.state.pending.of_cursors.get(part.name)
        if not part.others or is_failing(part.read):
            continue
        if after is None or (after.wanted, after.most) != (part.read.wanted, part.read.most):
            return False
        granted = {cached.request for cached in part.read.waiting}
        waits = [wait for cached in after.ranges if cached.request not in granted for wait in waits_within(cached)]
        if sorted(waits) != sorted(part.others):
            return False
    return True


def chunks_by_length(pre: State, event: ops.StorageAnswer, is_short: bool) -> list[Part]:
    """Return the chunks that are there with this answer: those that lack an entry, or those that lack none."""
    ask = ask_of(pre, event)
    assert ask is not None
    chunks = chunks_that_are_there(pre, event)
    return [
        part for part in chunks if is_short is not (set(part.read.wanted) <= got_with_answer(pre, ask, event, part))
    ]


def completes_a_chunk(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether all of a chunk is there now."""
    return gives_to_cursors(config, pre, event, step) and bool(chunks_by_length(pre, event, is_short=False))


def is_cut_short(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a chunk waits for nothing more, and lacks an entry."""
    norm = config.variants.short_answer is ShortAnswer.UNBROKEN
    return norm and gives_to_cursors(config, pre, event, step) and bool(chunks_by_length(pre, event, is_short=True))


def got_with_answer(pre: State, ask: Ask, event: ops.StorageAnswer, part: Part) -> set[Position]:
    """Return what a read has got once it has got its part of an answer."""
    return {*got_by(pre, part.name), *part.own(ask, event)}


def delivers_all_of_it(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-5, for a chunk that is whole: it is delivered without what is acknowledged by now."""
    return are_delivered(pre, event, step, chunks_by_length(pre, event, is_short=False))


def delivers_unbroken(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-11: a chunk is delivered up to its first missing position."""
    return are_delivered(pre, event, step, chunks_by_length(pre, event, is_short=True))


def are_delivered(pre: State, event: ops.StorageAnswer, step: Step, chunks: list[Part]) -> bool:
    """Return whether the reads of these chunks have got each up to its first missing position, but for acknowledged."""
    ask = ask_of(pre, event)
    assert ask is not None
    for part in chunks:
        got = got_with_answer(pre, ask, event, part)
        wanted = part.read.wanted
        missing = [pos for pos in wanted if pos not in got]
        delivered = [pos for pos in wanted if not missing or pos < missing[0]]
        cursor = pre.managed[part.read.cache].cursors[part.read.cursor]
        acks, left = cursor.acks, [pos for pos in missing if not is_done(cursor, pos)]
        expected = {pos for pos in got if pos not in wanted} | {pos for pos in delivered if pos not in acks}
        held = set(got_by(step.state, part.name))
        more = held & set(wanted) - expected
        has_hole = bool(more) and not {*left[:1]} <= held | {*wanted_after(step, part.name)}
        if not expected <= held or has_hole or more & acks or (more and not missing):
            return False
        end = end_of_read(step, part.name)
        if end is not None and list(end.entries or ()) != sorted(held):
            return False
    return True


def wanted_after(step: Step, name: ReadName) -> tuple[Position, ...]:
    """Return what the present chunk of a read wants after a step, or all that it has got if it has ended."""
    read = step.state.pending.of_cursors.get(name)
    return tuple(got_by(step.state, name)) if read is None else read.wanted


# Failures.


def seals_that_ledger(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-6, for reads by cursors: nothing is filled, and a read error ends the joining."""
    ask = ask_of(pre, event)
    assert ask is not None
    is_error = event.answer is ops.StorageAnswerKind.FAIL
    before = {number: other for number, other in pre.pending.asks.items() if number != event.ask}
    joinable = {
        number: other.is_joinable and not (is_error and other.ledger == ask.ledger) for number, other in before.items()
    }
    after = step.state.pending.asks
    old = {number: after[number].is_joinable for number in before}
    new = all(other.is_joinable for number, other in after.items() if number not in pre.pending.asks)
    return old == joinable and (new or not config.max_size_bytes) and not parts_of(step, ops.Insert)


def tries_again(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> list[tuple[Part, CachedRange]]:
    """Return the ranges with hits that wait for nothing but this answer, and of which a gap has then failed."""
    ranges = []
    for part in parts_waiting(pre, event):
        for cached in part.read.ranges:
            waits = list(waits_within(cached))
            own = bool(waits) and all(wait.ask == event.ask for wait in waits)
            has_lost = any(
                gap.has_failed or (event.answer in FAILURES and any(wait.ask == event.ask for wait in gap.waits))
                for gap in cached.gaps
            )
            if cached.hits and own and has_lost:
                ranges.append((part, cached))
    return ranges


def has_a_second_try(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a range with hits of which a gap has failed waits for nothing more."""
    return answers_cursors(config, pre, event, step) and bool(tries_again(config, pre, event, step))


def reads_the_whole_range(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-7: the read has given back what it had of the range, and waits for it or finds parts cached."""
    for part, cached in tries_again(config, pre, event, step):
        after = step.state.pending.of_cursors.get(part.name)
        ranges = () if after is None else after.ranges
        second = [other for other in ranges if (other.first, other.last) == (cached.first, cached.last)]
        if len(second) != 1 or not second[0].is_last_try or second[0].hits:
            return False
        covered = {entry for wait in waits_within(second[0]) for entry in range(wait.first, wait.last + 1)}
        covered |= {pos.entry for pos in hits_within(second[0])}
        if covered != set(range(cached.first.entry, cached.last.entry + 1)):
            return False
        others = [other for other in (*ranges, *(after.finished if after else ())) if other is not second[0]]
        of_others = {pos for other in others for pos in (*hits_within(other), *given_within(other))}
        in_range = (pos for pos in got_by(step.state, part.name) if cached.first <= pos <= cached.last)
        if [pos for pos in in_range if pos not in of_others] != sorted({*hits_within(second[0])} - of_others):
            return False
    return True


def has_lost_a_part_of_several(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a read loses a part, or has lost one, and waits elsewhere too."""
    waiting = parts_waiting(pre, event) if answers_cursors(config, pre, event, step) else []
    return any(part.others and (event.answer in FAILURES or is_failing(part.read)) for part in waiting)


def waits_for_its_other_parts(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-8: a read that has lost a part still waits for every other one."""
    for part in parts_waiting(pre, event):
        after = step.state.pending.of_cursors.get(part.name)
        is_losing = event.answer in FAILURES or is_failing(part.read)
        if is_losing and part.others and (after is None or not set(part.others) <= set(waits_of_read(after))):
            return False
    return True


def gives_something_back(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a read no longer holds what it had got, though its entry is still cached."""
    if config.variants.failed_read is not FailedRead.UNCOUNTED or not answers_cursors(config, pre, event, step):
        return False
    return any(True for _ in given_back(pre, event, step))


def given_back(pre: State, event: ops.StorageAnswer, step: Step) -> Iterator[tuple[Part, Position]]:
    """Yield what the reads that wait for an ask held before the step and do not hold after it."""
    ask = ask_of(pre, event)
    assert ask is not None
    for part in parts_waiting(pre, event):
        held = {*got_by(step.state, part.name)}
        for pos in {*got_by(pre, part.name), *part.own(ask, event)}:
            if pos not in held:
                yield part, pos


def takes_nothing_for_it(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-9: only what is acknowledged by now is released in the step."""
    released = [part.event.pos for part in step.parts if isinstance(part.event, ops.MarkRead)]
    cursors = [pre.managed[part.read.cache].cursors[part.read.cursor] for part in parts_waiting(pre, event)]
    return all(any(pos in cursor.acks for cursor in cursors) for pos in released)


def reads_that_fail(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> list[Part]:
    """Return the reads that wait for nothing but this answer, and that no second try saves from a failure."""
    failing = []
    for part in parts_waiting(pre, event):
        has_hits = any([*hits_within(cached)] for cached in part.read.ranges)
        is_losing = event.answer in FAILURES or is_failing(part.read)
        if not part.others and not part.read.waiting and not has_hits and is_losing:
            failing.append(part)
    return failing


def fails_a_read(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Return whether a read fails with this answer."""
    return answers_cursors(config, pre, event, step) and bool(reads_that_fail(config, pre, event, step))


def ends_with_what_it_had(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-10: a read ends with the entries of earlier chunks, or with an error; the cursor stays."""
    for part in reads_that_fail(config, pre, event, step):
        chunk = set(part.read.wanted)
        earlier = [] if part.read.most is None else [pos for pos in got_by(pre, part.name) if pos not in chunk]
        end = end_of_read(step, part.name)
        error = None if earlier else outcomes.ReadError.READ_FAILED
        if end != outcomes.EndedRead(part.name, tuple(earlier) or None, error):
            return False
        if got_by(step.state, part.name) != earlier:
            return False
    return True


# Cursors whose reads are out.

OPEN_TO_READERS: Final = (ops.CursorSeek, ops.MarkDelete, ops.Ack, ops.Activate, ops.Deactivate, ops.CursorState)


def is_reading(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether the cursor of the event has an open read."""
    return bool(law.reads_of(pre, event.cache, event.cursor))


def is_open_to_it(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-INFLIGHT-12: the operation is refused only for what would be refused without a read."""
    alone = pre._replace(pending=pre.pending._replace(of_cursors={}))
    return (step.outcome == law.REFUSED) == law.refusable(config, alone, event)


def is_closed_to_it(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-INFLIGHT-12, for a reset and a close: they wait until the read has ended."""
    return step.outcome == law.REFUSED


def moves_no_cursor_back(config: Config, pre: State, event: ops.StorageAnswer, step: Step) -> bool:
    """Check R-INFLIGHT-12: no read position comes to stand at or below the mark-delete position."""
    for name, managed in step.state.managed.items():
        for cursor, after in managed.cursors.items():
            before = pre.managed[name].cursors[cursor]
            if after.read != before.read and after.read <= after.mark_delete:
                return False
    return True


# Counters.


def counts_what_storage_gave(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check R-LEDGER-18, for reads that overlap: each entry that storage gave is one miss, however many wait."""
    ask = ask_of(pre, event) if type(event) is ops.StorageAnswer else None
    given = [] if ask is None else given_by(ask, event)
    sizes = (
        [] if ask is None or ask.cache is None else [pre.managed[ask.cache].sizes[ask.ledger][p.entry] for p in given]
    )
    hits = [(part.pre, part.event) for part in step.parts if isinstance(part.event, ops.Get)]
    entries = [law.cached_entry(state, get.cache, get.pos) for state, get in hits]
    hit_bytes = [entry.size_bytes for entry in entries if entry is not None]
    before = pre.counts
    wanted = (before.hit_entries + len(hits), before.hit_bytes + sum(hit_bytes))
    return step.state.counts[3:] == (*wanted, before.miss_entries + len(given), before.miss_bytes + sum(sizes))


def is_held_reading(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether the step is one of reads by cursors while storage is held, and not refused."""
    return config.storage is Storage.HELD and not law.refusable(config, pre, event)


READS_IN_FLIGHT_LAWS: Final = (
    Law(Rule.LEDGER_3, (ops.ReadBegin,), keeps_a_read_open, wants_the_next_ones, True),
    Law(Rule.LEDGER_3, READING_OPS, has_reads_of_cursors, wants_what_is_left, True),
    Law(Rule.LEDGER_18, (*READING_OPS, *RELEASING_OPS), is_held_reading, counts_what_storage_gave, True),
    Law(Rule.INFLIGHT_2, READING_OPS, sends_asks, asks_once, True),
    Law(Rule.INFLIGHT_3, (ops.StorageAnswer,), gives_to_cursors, fills_with_the_count_of_now, True),
    Law(Rule.INFLIGHT_4, (ops.StorageAnswer,), gives_and_serves_nobody, shares_one_count, True),
    Law(Rule.INFLIGHT_5, (ops.StorageAnswer,), waits_in_part, waits_for_the_rest, True),
    Law(Rule.INFLIGHT_5, (ops.StorageAnswer,), completes_a_chunk, delivers_all_of_it, True),
    Law(Rule.INFLIGHT_6, (ops.StorageAnswer,), fails_cursors, seals_that_ledger, True),
    Law(Rule.INFLIGHT_7, (ops.StorageAnswer,), has_a_second_try, reads_the_whole_range, True),
    Law(Rule.INFLIGHT_8, (ops.StorageAnswer,), has_lost_a_part_of_several, waits_for_its_other_parts, True),
    Law(Rule.INFLIGHT_9, (ops.StorageAnswer,), gives_something_back, takes_nothing_for_it, True),
    Law(Rule.INFLIGHT_10, (ops.StorageAnswer,), fails_a_read, ends_with_what_it_had, True),
    Law(Rule.INFLIGHT_11, (ops.StorageAnswer,), is_cut_short, delivers_unbroken, True),
    Law(Rule.INFLIGHT_12, OPEN_TO_READERS, is_reading, is_open_to_it, True),
    Law(Rule.INFLIGHT_12, (ops.CursorReset, ops.CursorClose), is_reading, is_closed_to_it, True),
    Law(Rule.INFLIGHT_12, (ops.StorageAnswer,), answers_cursors, moves_no_cursor_back, True),
)
