"""Seeded faults of levels `reads` (reads through the cache, holds, hits and misses), `limits` and `pending`.

Each fault calls the function of the reference and changes its result, or replaces it.
"""

from dataclasses import replace

from entrycache_faults.reference.pulsar_pip430.registry import SEEDED_FAULTS, seeded_fault
from entrycache_reference.pulsar_pip430 import (
    change,
    entries,
    ledger_cursors,
    manager,
    ops,
    outcomes,
    pending_reads,
    reads_in_flight,
    storage_reads,
)
from entrycache_reference.pulsar_pip430.config import Config, DisabledLimit, LimiterTimeout
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    CachedRange,
    HeldPosition,
    Limiter,
    ManagedLedger,
    OpenRead,
    Part,
    PendingReads,
    State,
    Step,
    WaitingRequest,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, HoldName, Position, ReadName, Reads, RequestName


@seeded_fault(Rule.READ_7, "storage_reads.look_up")
def look_up_all_or_nothing(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """A read is served from the cache only where all of it is cached."""
    if name in state.managed or all(change.entry_at(state, name, pos) is not None for pos in wanted):
        return storage_reads.look_up(state, name, wanted, config)
    nowhere = CacheName("")
    done = storage_reads.look_up(state, nowhere, wanted, config)
    return done._replace(rows=tuple(row._replace(cache=name) for row in done.rows))


@seeded_fault(Rule.READ_7, "storage_reads.look_up", other=True)
def look_up_marking_whole_reads(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """The hits of a read that also has fills are not marked as accessed."""
    done = storage_reads.look_up(state, name, wanted, config)
    if name not in state.caches or all(change.entry_at(state, name, pos) is not None for pos in wanted):
        return done
    cache = done.state.caches[name]._replace(entries=state.caches[name].entries)
    return done._replace(state=done.state._replace(caches={**done.state.caches, name: cache}))


@seeded_fault(Rule.READ_8, ops.Read)
def read_handing_over_backwards(state: State, event: ops.Read, config: Config) -> Step:
    """A read hands over what storage gives in descending order."""
    done = storage_reads.read(state, event, config)
    if not isinstance(done.outcome, outcomes.Served):
        return done
    hits, fills, tokens = done.outcome.hits, done.outcome.fills, done.outcome.tokens
    turned = None if tokens is None else tokens[: len(hits)] + tokens[len(hits) :][::-1]
    return done._replace(outcome=outcomes.Served(hits, fills[::-1], turned))


@seeded_fault(Rule.READ_9, "storage_reads.is_fill_cached")
def is_wanted_always(expected_reads: int, config: Config) -> bool:
    """Fills that nobody else expects are cached."""
    return expected_reads != ledger_cursors.NOT_WANTED


@seeded_fault(Rule.READ_9, "storage_reads.fill", other=True)
def fill_with_one_trigger(state: State, event: ops.Read, fills: tuple[Position, ...], config: Config) -> Step:
    """One trigger for all fills, after the last of them."""
    wide = state._replace(settings=state.settings._replace(max_size_bytes=2**53))
    filled = storage_reads.fill(wide, event, fills, config)
    after = filled.state._replace(settings=state.settings)
    relieved = manager.trigger_when_needed(after, config) if filled.parts else Step(after, filled.outcome, ())
    return Step(relieved.state, filled.outcome, filled.rows + relieved.rows, filled.parts + relieved.parts)


@seeded_fault(Rule.READ_9, "storage_reads.offer", other=True)
def offer_expecting_one_fewer(state: State, event: ops.Insert, config: Config, cause: str = "ADD") -> Step:
    """Fills carry one expected read fewer than the read says."""
    assert isinstance(event.expected_reads, int)
    return manager.offer(state, replace(event, expected_reads=Reads(event.expected_reads - 1)), config, cause)


@seeded_fault(Rule.READ_10, ops.ReadOne)
def read_one_caching(state: State, event: ops.ReadOne, config: Config) -> Step:
    """read_one caches what storage gives."""
    if storage_reads.is_in_use(state, event.hold):
        return storage_reads.read_one(state, event, config)
    served = storage_reads.look_up(state, event.cache, (event.pos,), config)
    filled = Step(served.state, served.outcome, ())
    if change.entry_at(state, event.cache, event.pos) is None:
        entry = ops.Insert(event.cache, event.pos, config.storage_entry_size)
        added = entries.insert(served.state, entry, config, "FILL")
        filled = added._replace(parts=(Part(served.state, entry, added),))
    positions = storage_reads.held_positions(filled.state, event.cache, (event.pos,))
    return storage_reads.finish_read(served, filled, positions, event.hold, config)


@seeded_fault(Rule.READ_11, ops.Read)
def read_backwards_nothing(state: State, event: ops.Read, config: Config) -> Step:
    """A reversed range is read as an empty one."""
    if event.first.ledger == event.last.ledger and event.first > event.last:
        return Step(state, outcomes.Served((), ()), ())
    return storage_reads.read(state, event, config)


@seeded_fault(Rule.READ_12, "storage_reads.payloads_of")
def handed_over_fills_first(tokens: tuple[int | None, ...], fills: tuple[Position, ...]) -> tuple[int, ...] | None:
    """The payloads from storage stand before those of the hits."""
    right = storage_reads.payloads_of(tokens, fills)
    return None if right is None else right[len(tokens) :] + right[: len(tokens)]


@seeded_fault(Rule.COUNT_5, "storage_reads.deliver")
def deliver_twice(state: State, positions: tuple[HeldPosition, ...], config: Config) -> Step:
    """A release takes 2 from each count."""
    if any(held.slot.cache in state.managed for held in positions):
        return storage_reads.deliver(state, positions, config)
    once = storage_reads.deliver(state, positions, config)
    again = storage_reads.deliver(once.state, positions, config)
    return again._replace(rows=once.rows + again.rows, parts=once.parts + again.parts)


@seeded_fault(Rule.COUNT_5, "storage_reads.finish_read", other=True)
def finished_without_release(
    served: Step, filled: Step, positions: tuple[HeldPosition, ...], hold: HoldName | Absent, config: Config
) -> Step:
    """A read without a hold releases nothing."""
    holds = filled.state.holds if hold is ABSENT else {**filled.state.holds, hold: positions}
    held = filled.state._replace(holds=holds)
    return Step(held, served.outcome, served.rows + filled.rows, served.parts + filled.parts)


@seeded_fault(Rule.COUNT_6, "storage_reads.deliver")
def deliver_to_whatever_is_there(state: State, positions: tuple[HeldPosition, ...], config: Config) -> Step:
    """A release takes from whatever entry is cached there now."""
    there = tuple(
        held._replace(is_cached=change.entry_at(state, held.slot.cache, held.slot.pos) is not None)
        for held in positions
    )
    return storage_reads.deliver(state, there, config)


@seeded_fault(Rule.COUNT_7, ops.Release)
def release_keeping_the_name(state: State, event: ops.Release, config: Config) -> Step:
    """A name stays open when it is released."""
    done = storage_reads.release(state, event, config)
    return done if done.state is state else done._replace(state=done.state._replace(holds=state.holds))


@seeded_fault(Rule.COUNT_7, ops.Release, other=True)
def release_once_too_often(state: State, event: ops.Release, config: Config) -> Step:
    """The release of what is not open answers 0."""
    if storage_reads.is_held(state, event.hold):
        return storage_reads.release(state, event, config)
    return Step(state, outcomes.Released(0), ())


@seeded_fault(Rule.METRICS_3, "storage_reads.offer")
def offer_uncounted(state: State, event: ops.Insert, config: Config, cause: str = "ADD") -> Step:
    """Fills are not counted."""
    done = manager.offer(state, event, config, cause)
    counts = done.state.counts._replace(inserted_entries=state.counts.inserted_entries)
    return done._replace(state=done.state._replace(counts=counts))


@seeded_fault(Rule.METRICS_6, "storage_reads.look_up")
def look_up_one_miss(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """A read counts at most one miss."""
    done = storage_reads.look_up(state, name, wanted, config)
    if name in state.managed:
        return done
    missed = min(1, done.state.counts.miss_entries - state.counts.miss_entries)
    counts = done.state.counts._replace(
        miss_entries=state.counts.miss_entries + missed,
        miss_bytes=state.counts.miss_bytes + missed * config.storage_entry_size,
    )
    return done._replace(state=done.state._replace(counts=counts))


@seeded_fault(Rule.METRICS_6, "storage_reads.look_up", other=True)
def look_up_one_hit(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """A read counts at most one hit."""
    done = storage_reads.look_up(state, name, wanted, config)
    hits_counted = min(1, done.state.counts.hit_entries - state.counts.hit_entries)
    counts = done.state.counts._replace(hit_entries=state.counts.hit_entries + hits_counted)
    return done._replace(state=done.state._replace(counts=counts))


@seeded_fault(Rule.METRICS_6, "storage_reads.look_up", other=True)
def look_up_stored_bytes(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """A hit counts the bytes that storage would have given."""
    done = storage_reads.look_up(state, name, wanted, config)
    hits_counted = done.state.counts.hit_entries - state.counts.hit_entries
    counts = done.state.counts._replace(hit_bytes=state.counts.hit_bytes + hits_counted * config.storage_entry_size)
    return done._replace(state=done.state._replace(counts=counts))


@seeded_fault(Rule.METRICS_6, "storage_reads.look_up", other=True)
def look_up_one_miss_of_all_bytes(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """A read counts at most one miss, but the bytes of all."""
    done = storage_reads.look_up(state, name, wanted, config)
    missed = min(1, done.state.counts.miss_entries - state.counts.miss_entries)
    counts = done.state.counts._replace(miss_entries=state.counts.miss_entries + missed)
    return done._replace(state=done.state._replace(counts=counts))


def _with_hits(done: Step, more: int) -> Step:
    counts = done.state.counts._replace(hit_entries=done.state.counts.hit_entries + more)
    return done._replace(state=done.state._replace(counts=counts))


@seeded_fault(Rule.METRICS_6, ops.Get, other=True)
def get_counted_as_a_hit(state: State, event: ops.Get, config: Config) -> Step:
    """A get counts as a hit."""
    done = entries.get(state, event, config)
    return _with_hits(done, int(done.outcome.hit)) if isinstance(done.outcome, outcomes.Hit) else done


@seeded_fault(Rule.METRICS_6, "storage_reads.fill", other=True)
def fill_counted_as_hits(state: State, event: ops.Read, fills: tuple[Position, ...], config: Config) -> Step:
    """A fill that is cached counts as a hit too."""
    done = storage_reads.fill(state, event, fills, config)
    return _with_hits(done, sum(part.step.outcome == outcomes.Inserted(True) for part in done.parts))


@seeded_fault(Rule.READ_13, "storage_reads.is_fill_cached")
def is_wanted_above_zero(expected_reads: int, config: Config) -> bool:
    """In a release that counts 0 expected reads, fills with 0 are not cached."""
    return expected_reads > 0


# Level `limits`: permits.


@seeded_fault(Rule.LIMIT_2, "storage_reads.must_wait")
def waits_for_nobody(free: Limiter, config: Config) -> bool:
    """A request that fits is granted although others wait."""
    return False


@seeded_fault(Rule.LIMIT_3, "storage_reads.permits_now")
def permits_within_the_limit(free: Limiter, permits: int, config: Config) -> int:
    """A request above the limit is not granted at once."""
    if permits > config.max_reads_in_flight_bytes and not free.waiting:
        return 0
    return storage_reads.permits_now(free, permits, config)


@seeded_fault(Rule.LIMIT_4, "storage_reads.enqueue")
def enqueue_at_the_head(free: Limiter, request: WaitingRequest, config: Config) -> Limiter:
    """A request that has to wait goes to the head of the queue."""
    after = storage_reads.enqueue(free, request, config)
    return after if after is free else after._replace(waiting=(after.waiting[-1], *after.waiting[:-1]))


@seeded_fault(Rule.LIMIT_4, "storage_reads.enqueue", other=True)
def enqueue_one_too_many(free: Limiter, request: WaitingRequest, config: Config) -> Limiter:
    """One request more may wait than the queue has places."""
    return storage_reads.enqueue(free, request, replace(config, acquire_queue=config.acquire_queue + 1))


@seeded_fault(Rule.LIMIT_5, ops.GiveBack)
def give_back_to_one(state: State, event: ops.GiveBack, config: Config) -> Step:
    """Permits that are given back serve one request at most."""
    done = storage_reads.give_back(state, event, config)
    waiting = state.limiter.waiting
    if not isinstance(done.outcome, outcomes.Decided) or len(done.outcome.granted or ()) < 2:
        return done
    alone = state._replace(limiter=state.limiter._replace(waiting=waiting[:1]))
    served = storage_reads.give_back(alone, event, config)
    return served._replace(state=served.state._replace(limiter=served.state.limiter._replace(waiting=waiting[1:])))


@seeded_fault(Rule.LIMIT_5, "storage_reads.serve", other=True)
def serve_whoever_fits(free: Limiter, config: Config) -> storage_reads.Service:
    """Permits that come back go to every waiting request that fits, also behind one that does not."""
    grants: storage_reads.Grants = ()
    left: tuple[WaitingRequest, ...] = ()
    for request in free.waiting:
        permits = storage_reads.permits_now(free, request.permits, config)
        if permits == 0:
            left = (*left, request)
            continue
        free = storage_reads.hand_out(free, request.name, permits)
        grants = (*grants, (request.name, permits))
    return storage_reads.Service(free._replace(waiting=left), grants)


@seeded_fault(Rule.LIMIT_6, "storage_reads.is_too_late")
def late_one_millisecond_later(request: WaitingRequest, now_nanos: int, config: Config) -> bool:
    """A request times out a millisecond too late."""
    return storage_reads.is_too_late(request, now_nanos - storage_reads.NANOS_A_MILLISECOND, config)


@seeded_fault(Rule.LIMIT_7, "storage_reads.hand_out")
def hand_out_one_too_few(free: Limiter, name: RequestName, permits: int) -> Limiter:
    """A request that is granted several permits while nobody waits takes one too few from the free ones."""
    after = storage_reads.hand_out(free, name, permits)
    return after._replace(free=after.free + 1) if permits > 1 and not free.waiting else after


@seeded_fault(Rule.LIMIT_1, "storage_reads.estimated_entry_bytes")
def estimate_without_overhead(managed: ManagedLedger, ledger: int) -> int:
    """An entry of a ledger with bytes is taken to need nothing beside its own size."""
    estimate = storage_reads.estimated_entry_bytes(managed, ledger)
    return estimate - storage_reads.ENTRY_OVERHEAD_BYTES if sum(managed.sizes[ledger]) else estimate


@seeded_fault(Rule.LIMIT_1, "reads_in_flight.request_range", other=True)
def request_what_is_not_cached(
    work: pending_reads.Work, name: ReadName, first: Position, last: Position, config: Config
) -> pending_reads.Work:
    """A range that is cached as a whole takes no permits."""
    cache = pending_reads.read_named(work, name).cache
    wanted = pending_reads.positions_in(first, last)
    if all(change.entry_at(work.state, cache, pos) is not None for pos in wanted):
        return reads_in_flight.begin_range(work, name, CachedRange(first, last), config)
    return reads_in_flight.request_range(work, name, first, last, config)


@seeded_fault(Rule.LIMIT_5, "pending_reads.return_permits", other=True)
def return_when_it_is_there(work: pending_reads.Work, name: ReadName, config: Config) -> pending_reads.Work:
    """The permits of a range go back when it is there, while its entries are still held."""
    if name not in work.state.pending.of_cursors:
        return pending_reads.return_permits(work, name, config)
    alone = work.state.holds.get(HoldName(name), ())
    done = pending_reads.return_permits(pending_reads.with_held(work, name, ()), name, config)
    return pending_reads.with_held(done, name, alone)


@seeded_fault(Rule.LIMIT_8, "reads_in_flight.request_range")
def request_once_a_read(
    work: pending_reads.Work, name: ReadName, first: Position, last: Position, config: Config
) -> pending_reads.Work:
    """A later chunk goes with the permits of an earlier one whose entries the read still has."""
    held = pending_reads.held_by(work.state, name)
    if pending_reads.read_named(work, name).most is not None and held and held[0].request is not None:
        return reads_in_flight.begin_range(work, name, CachedRange(first, last, request=held[0].request), config)
    return reads_in_flight.request_range(work, name, first, last, config)


SEEDED_FAULTS.register_variant(
    "Reads of a disabled cache take no permits.", Rule.LIMIT_1, disabled_limit=DisabledLimit.IGNORED
)
SEEDED_FAULTS.register_variant(
    "Who waits behind a request that timed out is not served.", Rule.LIMIT_6, limiter_timeout=LimiterTimeout.LEAVES
)


# Level `pending`: the table of pending reads.


@seeded_fault(Rule.INFLIGHT_1, "pending_reads.close_ask")
def close_and_keep(pending: PendingReads, number: int, answer: ops.StorageAnswerKind | int) -> PendingReads:
    """An ask stays open after its answer, and nobody waits for it."""
    after = pending_reads.close_ask(pending, number, answer)
    return after._replace(asks={**after.asks, number: pending.asks[number]._replace(waiting=())})


@seeded_fault(Rule.INFLIGHT_2, "pending_reads.pieces_of")
def pieces_one_by_one(pending: PendingReads, first: Position, last: Position) -> tuple[pending_reads.Piece, ...]:
    """The rest of a range that is cut is asked for entry by entry."""
    pieces: tuple[pending_reads.Piece, ...] = ()
    whole = pending_reads.pieces_of(pending, first, last)
    for piece in whole:
        entries = range(piece.first, piece.last + 1) if piece.ask is None and len(whole) > 1 else ()
        pieces += tuple(pending_reads.Piece(None, entry, entry) for entry in entries) or (piece,)
    return pieces


@seeded_fault(Rule.INFLIGHT_2, "pending_reads.pieces_of", other=True)
def pieces_not_cut(pending: PendingReads, first: Position, last: Position) -> tuple[pending_reads.Piece, ...]:
    """A range is shared only with an ask for all of it; else all of it is asked for once more."""
    pieces = pending_reads.pieces_of(pending, first, last)
    return pieces if len(pieces) == 1 else (pending_reads.Piece(None, first.entry, last.entry),)


@seeded_fault(Rule.INFLIGHT_2, "pending_reads.pieces_of", other=True)
def pieces_of_whole_asks(pending: PendingReads, first: Position, last: Position) -> tuple[pending_reads.Piece, ...]:
    """A range that a longer ask covers is asked for once more: only the same range is shared."""
    pieces = pending_reads.pieces_of(pending, first, last)
    ask = None if pieces[0].ask is None else pending.asks[pieces[0].ask]
    if ask is None or len(pieces) > 1 or (ask.first, ask.last) == (first.entry, last.entry):
        return pieces
    return (pending_reads.Piece(None, first.entry, last.entry),)


@seeded_fault(Rule.INFLIGHT_3, "pending_reads.give")
def give_all_but_the_last(opened: OpenRead, number: int, given: tuple[Position, ...], has_failed: bool) -> OpenRead:
    """The last entry of a part is not given to the read that waits for it."""
    done = pending_reads.give(opened, number, given, has_failed)
    given_now = done.range.given
    if len(given_now) <= len(opened.range.given) + 1:
        return done
    return OpenRead(done.range._replace(given=given_now[:-1]))


@seeded_fault(Rule.INFLIGHT_3, "pending_reads.give", other=True)
def give_to_the_asker(opened: OpenRead, number: int, given: tuple[Position, ...], has_failed: bool) -> OpenRead:
    """A read that waits for several answers is given nothing but the first of them."""
    done = pending_reads.give(opened, number, given, has_failed)
    return OpenRead(done.range._replace(given=opened.range.given)) if opened.range.given else done


@seeded_fault(Rule.INFLIGHT_6, "pending_reads.seal")
def seal_nothing(asks: dict[int, Ask], ledger: int, answer: ops.StorageAnswerKind | int) -> dict[int, Ask]:
    """After a read error the other asks of the ledger can still be joined."""
    return asks


@seeded_fault(Rule.INFLIGHT_6, "pending_reads.seal", other=True)
def seal_when_busy(asks: dict[int, Ask], ledger: int, answer: ops.StorageAnswerKind | int) -> dict[int, Ask]:
    """After too many requests, too, no other ask of the ledger can be joined."""
    is_failing = pending_reads.is_failure(answer)
    return pending_reads.seal(asks, ledger, ops.StorageAnswerKind.FAIL if is_failing else answer)


@seeded_fault(Rule.INFLIGHT_8, "pending_reads.give")
def give_forgetting_failures(opened: OpenRead, number: int, given: tuple[Position, ...], has_failed: bool) -> OpenRead:
    """A range fails only if the part that is answered last has failed."""
    return pending_reads.give(opened._replace(range=opened.range._replace(has_failed=False)), number, given, has_failed)


@seeded_fault(Rule.INFLIGHT_13, "pending_reads.give_to_all")
def give_to_all_but_the_last(
    pending: PendingReads, number: int, answer: ops.StorageAnswerKind | int
) -> tuple[PendingReads, tuple[outcomes.EndedRead, ...]]:
    """The read that joined last is forgotten if it waits for nothing else, and so it waits for ever."""
    ask = pending.asks[number]
    waits = pending.reads[ask.waiting[-1].read].range.waits
    if len(ask.waiting) < 2 or len(waits) > 1 or pending_reads.is_failure(answer):
        return pending_reads.give_to_all(pending, number, answer)
    forgotten = ask._replace(waiting=ask.waiting[:-1])
    return pending_reads.give_to_all(pending._replace(asks={**pending.asks, number: forgotten}), number, answer)


@seeded_fault(Rule.INFLIGHT_13, "pending_reads.sent_and_ended", other=True)
def report_no_end(
    before: PendingReads, after: PendingReads, ended: tuple[outcomes.EndedRead, ...]
) -> outcomes.InFlight:
    """A read that has got everything that it waits for is never said to have ended."""
    return replace(pending_reads.sent_and_ended(before, after, ended), done=None)


@seeded_fault(Rule.INFLIGHT_8, "pending_reads.give_to_all", other=True)
def fail_with_the_first_part(
    pending: PendingReads, number: int, answer: ops.StorageAnswerKind | int
) -> tuple[PendingReads, tuple[outcomes.EndedRead, ...]]:
    """A read fails with the first part that it loses, while its other parts are still to come."""
    after, done = pending_reads.give_to_all(pending, number, answer)
    lost = [name for name, opened in after.reads.items() if opened.range.has_failed]
    left = {
        other: ask._replace(waiting=tuple(waiter for waiter in ask.waiting if waiter.read not in lost))
        for other, ask in after.asks.items()
    }
    reads = {name: opened for name, opened in after.reads.items() if name not in lost}
    failed = tuple(outcomes.EndedRead(name, error=outcomes.ReadError.READ_FAILED) for name in lost)
    return after._replace(asks=left, reads=reads), (*done, *failed)


@seeded_fault(Rule.INFLIGHT_6, "pending_reads.give_to_all", other=True)
def fail_the_asker_alone(
    pending: PendingReads, number: int, answer: ops.StorageAnswerKind | int
) -> tuple[PendingReads, tuple[outcomes.EndedRead, ...]]:
    """A failed answer fails the read that asked, and the others never hear of it."""
    ask = pending.asks[number]
    if not pending_reads.is_failure(answer):
        return pending_reads.give_to_all(pending, number, answer)
    alone = ask._replace(waiting=tuple(waiter for waiter in ask.waiting if waiter.read == ask.waiting[0].read))
    return pending_reads.give_to_all(pending._replace(asks={**pending.asks, number: alone}), number, answer)
