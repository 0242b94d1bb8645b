"""The table of pending reads: what was asked of storage, and who waits for which answer.

An *ask* is one read of storage that was not answered yet. A read that needs a range looks for asks that cover parts of
it, waits for those, and asks only for the rest. So storage is asked once for an entry while an ask for it is joinable.
When an ask is answered, each read that waits for it is given its part, in the order in which the reads joined. A read
ends when no part of its range waits any more.

`fetch` is a read of a range without a cache.

Beside: PendingReadsManager.readEntries, .findPendingRead (managed-ledger 4.2.4)
Beside: PendingReadsManager.PendingRead.attach (managed-ledger 4.2.4)
Beside: RangeEntryCacheImpl.readFromStorage (managed-ledger 4.2.4)
"""

from typing import NamedTuple

from entrycache_reference.pulsar_pip430.config import Config, Storage
from entrycache_reference.pulsar_pip430.ops import Fetch, StorageAnswer, StorageAnswerKind
from entrycache_reference.pulsar_pip430.outcomes import EndedRead, InFlight, ReadError, SentAsk
from entrycache_reference.pulsar_pip430.state import Ask, OpenRange, OpenRead, PendingReads, State, Step, Wait, Waiter
from entrycache_reference.pulsar_pip430.storage_reads import REFUSED
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position, ReadName

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
