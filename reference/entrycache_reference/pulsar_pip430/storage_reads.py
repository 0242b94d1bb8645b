"""Operations of readers: `read`, `read_one` and `release` of the cache, and permits for the bytes that reads hold.

A read looks up all its positions first and marks the hits. Storage gives the other positions, the *fills*; they are
offered to the cache one by one if another reader is expected. What the read handed over is held under a name until
`release`, or released at the end of the step. A release takes one expected read from each entry that is still cached.
Lookups, offers and deliveries become parts of the step.

A reader takes permits before it reads, and gives them back when it ends. What is free and what is out is the limit. A
request that does not fit waits in a queue, in which nobody is passed over. A request above the limit is granted the
whole limit once all of it is free. Requests that have waited too long fail. Where storage is held, the readers are
cursors: each of their ranges takes permits for an estimate of its bytes. Elsewhere requests have names.

Beside: RangeEntryCacheImpl.asyncReadEntry, .doAsyncReadEntriesByPosition, .readFromStorage (managed-ledger 4.2.4)
Beside: InflightReadsLimiter.internalAcquire, .internalRelease, .timeoutCheck (managed-ledger 4.2.4)
Beside: RangeEntryCacheImpl.getEstimatedEntrySize (managed-ledger 4.2.4)
"""

from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.change import absent_row, entry_at
from entrycache_reference.pulsar_pip430.config import (
    Config,
    DisabledLimit,
    LimiterOrder,
    LimiterTimeout,
    Storage,
    ZeroReads,
)
from entrycache_reference.pulsar_pip430.entries import get, mark_read
from entrycache_reference.pulsar_pip430.manager import offer
from entrycache_reference.pulsar_pip430.ops import (
    Acquire,
    Get,
    GiveBack,
    Insert,
    LimiterState,
    MarkRead,
    Read,
    ReadOne,
    Release,
)
from entrycache_reference.pulsar_pip430.outcomes import (
    Decided,
    ErrorKind,
    Permits,
    Permitted,
    Refused,
    Released,
    Served,
)
from entrycache_reference.pulsar_pip430.state import (
    Entry,
    HeldPosition,
    Limiter,
    ManagedLedger,
    Part,
    RangeRequest,
    Row,
    Slot,
    State,
    Step,
    WaitingRequest,
)
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, HoldName, Position, ReadName, RequestName

REFUSED = Refused(ErrorKind.ILLEGAL_ARGUMENT)


def is_in_use(state: State, name: HoldName | Absent) -> bool:
    """Return whether that name is an open hold, or a read by a cursor that has not ended."""
    return name is not ABSENT and (name in state.holds or ReadName(name) in state.pending.of_cursors)


def is_held(state: State, hold: HoldName) -> bool:
    """Return whether that hold is open: what a read has got is held for others only when the read has ended."""
    return hold in state.holds and ReadName(hold) not in state.pending.of_cursors


@rule(Rule.LEDGER_18)
def stored_size(state: State, name: CacheName, pos: Position, config: Config) -> int:
    """Return the size of an entry in storage: of a managed ledger what was appended, else that of the configuration."""
    managed = state.managed.get(name)
    return config.storage_entry_size if managed is None else managed.sizes[pos.ledger][pos.entry]


@rule(Rule.READ_7, Rule.READ_8, Rule.METRICS_6)
def look_up(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    """Look up these positions: mark the cached ones, with one row and one count for each position.

    The outcome's `fills` are the positions that storage has to give.
    """
    # GUARD: none.
    # DECISION: a hit exactly where the position is cached.
    entry_of = {pos: entry_at(state, name, pos) for pos in wanted}
    hits = {pos: entry for pos, entry in entry_of.items() if entry is not None}
    fills = tuple(pos for pos, entry in entry_of.items() if entry is None)

    # EFFECT: every hit is a lookup of its own.
    parts = look_up_each(state, name, tuple(hits), config)
    after = count_hits(parts[-1].step.state if parts else state, tuple(hits.values()))
    after = count_misses(after, name, fills, config)

    # OUTCOME
    tokens = tuple(entry.token for entry in hits.values())
    served = Served(tuple(hits), fills, payloads_of(tokens, fills))
    row_at = {pos: row for pos, part in zip(hits, parts, strict=True) for row in part.step.rows}
    row_at |= dict(zip(fills, missed_rows(state, name, fills), strict=True))
    return Step(after, served, tuple(row_at[pos] for pos in wanted), parts)


@rule(Rule.METRICS_6)
def count_hits(state: State, hits: tuple[Entry, ...]) -> State:
    """Return the state with these hits counted."""
    counts = state.counts
    hit_bytes = counts.hit_bytes + sum(entry.size_bytes for entry in hits)
    return state._replace(counts=counts._replace(hit_entries=counts.hit_entries + len(hits), hit_bytes=hit_bytes))


@rule(Rule.METRICS_6, Rule.LEDGER_18)
def count_misses(state: State, name: CacheName, fills: tuple[Position, ...], config: Config) -> State:
    """Return the state with these misses counted."""
    counts = state.counts
    miss_bytes = counts.miss_bytes + sum(stored_size(state, name, pos, config) for pos in fills)
    return state._replace(counts=counts._replace(miss_entries=counts.miss_entries + len(fills), miss_bytes=miss_bytes))


def missed_rows(state: State, name: CacheName, fills: tuple[Position, ...]) -> tuple[Row, ...]:
    """Build the rows of positions that storage has to give."""
    return tuple(absent_row(Rule.READ_8, "MISS", "READ", state, name, pos) for pos in fills)


@rule(Rule.READ_7)
def look_up_each(state: State, name: CacheName, cached: tuple[Position, ...], config: Config) -> tuple[Part, ...]:
    """Look up these cached positions, one after another."""
    after = state
    parts: tuple[Part, ...] = ()
    for pos in cached:
        event = Get(name, pos)
        entry_of = get(after, event, config)
        parts += (Part(after, event, entry_of._replace(rows=rows_of_read(entry_of.rows))),)
        after = entry_of.state
    return parts


def rows_of_read(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the rows of a lookup as rows of a read."""
    return tuple(row._replace(rule=Rule.READ_7, cause="READ") for row in rows)


@rule(Rule.READ_12)
def payloads_of(tokens: tuple[int | None, ...], fills: tuple[Position, ...]) -> tuple[int, ...] | None:
    """Return the payloads of hits, then of fills, whose payload is their entry id; None if a hit carries none."""
    carried = tuple(token for token in tokens if token is not None)
    return carried + tuple(pos.entry for pos in fills) if len(carried) == len(tokens) else None


@rule(Rule.READ_9, Rule.READ_13)
def is_fill_cached(expected_reads: int, config: Config) -> bool:
    """Return whether a fill is cached: a reader is expected; with `zero_reads` "counted" also for 0."""
    least = 0 if config.variants.zero_reads is ZeroReads.COUNTED else 1
    return expected_reads >= least


@rule(Rule.READ_9)
def fill(state: State, event: Read, fills: tuple[Position, ...], config: Config) -> Step:
    """Insert what storage has given, one by one, each with its own trigger."""
    # GUARD: what nobody else is to read is not cached.
    if not is_fill_cached(event.expected_reads, config) and config.max_size_bytes > 0:
        return Step(state, Served((), fills), skipped_rows(Rule.READ_9, state, event.cache, fills, config))

    # DECISION: none.
    # EFFECT
    after = state
    rows: tuple[Row, ...] = ()
    parts: tuple[Part, ...] = ()
    for pos in fills:
        size_bytes = stored_size(state, event.cache, pos, config)
        entry = Insert(event.cache, pos, size_bytes, event.expected_reads, pos.entry)
        done = offer(after, entry, config, "FILL")
        parts += done.parts or (Part(after, entry, done),)
        rows += done.rows
        after = done.state

    # OUTCOME
    return Step(after, Served((), fills), rows, parts)


def skipped_rows(
    rule: Rule, state: State, name: CacheName, fills: tuple[Position, ...], config: Config
) -> tuple[Row, ...]:
    """Build the rows of fills that the cache did not take."""
    sizes = {pos: stored_size(state, name, pos, config) for pos in fills}
    return tuple(absent_row(rule, "SKIP", "NOT_WANTED", state, name, pos, sizes[pos]) for pos in fills)


@rule(Rule.COUNT_5, Rule.COUNT_6)
def deliver(state: State, positions: tuple[HeldPosition, ...], config: Config) -> Step:
    """Release what a read handed over: one expected read fewer for each entry that is still cached."""
    after = state
    parts: tuple[Part, ...] = ()
    for held in positions:
        if held.is_cached:
            event = MarkRead(held.slot.cache, held.slot.pos)
            done = mark_read(after, event, config)
            parts += (Part(after, event, done),)
            after = done.state
    rows = tuple(row._replace(rule=Rule.COUNT_5) for part in parts for row in part.step.rows)
    return Step(after, Released(len(positions)), rows, parts)


def held_positions(state: State, name: CacheName, wanted: tuple[Position, ...]) -> tuple[HeldPosition, ...]:
    """Return what a read that ends now hands over. Nothing else can have been cached where it read."""
    return tuple(HeldPosition(Slot(name, pos), entry_at(state, name, pos) is not None) for pos in wanted)


def finish_read(
    served: Step, filled: Step, positions: tuple[HeldPosition, ...], hold: HoldName | Absent, config: Config
) -> Step:
    """Finish a read: hold what it handed over under its name, or release it at once."""
    rows = served.rows + filled.rows
    parts = served.parts + filled.parts
    if hold is not ABSENT:
        held = filled.state._replace(holds={**filled.state.holds, hold: positions})
        return Step(held, served.outcome, rows, parts)
    done = deliver(filled.state, positions, config)
    return Step(done.state, served.outcome, rows + done.rows, parts + done.parts)


@rule(Rule.READ_7, Rule.READ_8, Rule.READ_9, Rule.READ_11)
def read(state: State, event: Read, config: Config) -> Step:
    """Read a range through the cache."""
    # GUARD: one ledger, in order, and a name that is free.
    if event.first.ledger != event.last.ledger or event.first > event.last or is_in_use(state, event.hold):
        return Step(state, REFUSED, ())

    # DECISION: hits are decided, and marked, for the whole range.
    numbers = range(event.first.entry, event.last.entry + 1)
    wanted = tuple(Position(event.first.ledger, number) for number in numbers)
    served = look_up(state, event.cache, wanted, config)

    # EFFECT: then the fills are cached, one by one.
    assert isinstance(served.outcome, Served)
    filled = fill(served.state, event, served.outcome.fills, config)

    # OUTCOME
    return finish_read(served, filled, held_positions(filled.state, event.cache, wanted), event.hold, config)


@rule(Rule.READ_10, Rule.READ_11)
def read_one(state: State, event: ReadOne, config: Config) -> Step:
    """Read one position through the cache."""
    # GUARD: a name that is free.
    if is_in_use(state, event.hold):
        return Step(state, REFUSED, ())

    # DECISION: a hit exactly when the position is cached.
    served = look_up(state, event.cache, (event.pos,), config)

    # EFFECT: what storage gives is not cached.
    assert isinstance(served.outcome, Served)
    rows = skipped_rows(Rule.READ_10, state, event.cache, served.outcome.fills, config)
    unfilled = Step(served.state, served.outcome, rows)

    # OUTCOME
    return finish_read(served, unfilled, held_positions(served.state, event.cache, (event.pos,)), event.hold, config)


@rule(Rule.COUNT_5, Rule.COUNT_6, Rule.COUNT_7)
def release(state: State, event: Release, config: Config) -> Step:
    """Release what a read holds."""
    # GUARD: a name that is open.
    if not is_held(state, event.hold):
        return Step(state, REFUSED, ())

    # DECISION: every position that was held.
    positions = state.holds[event.hold]

    # EFFECT: the name is free again.
    freed = state._replace(holds={name: held for name, held in state.holds.items() if name != event.hold})

    # OUTCOME
    return deliver(freed, positions, config)


# Permits.

NANOS_A_MILLISECOND: Final = 1_000_000

Grants = tuple[tuple[RequestName | RangeRequest, int], ...]
"""Requests with the permits that they are granted; 0: the request has timed out."""


class Service(NamedTuple):
    """The limiter after it has decided waiting requests, and what they are granted, in order."""

    limiter: Limiter
    grants: Grants = ()


@rule(Rule.LIMIT_3)
def permits_now(limiter: Limiter, permits: int, config: Config) -> int:
    """Return the permits that a request is granted now; 0: it does not fit."""
    limit = config.max_reads_in_flight_bytes
    if permits <= limiter.free:
        return permits
    return limit if permits > limit and limiter.free == limit else 0


@rule(Rule.LIMIT_2)
def must_wait(limiter: Limiter, config: Config) -> bool:
    """Return whether a request waits even if it fits, because others do."""
    return bool(limiter.waiting) and config.variants.limiter_order is LimiterOrder.FIFO


@rule(Rule.LIMIT_7)
def hand_out(limiter: Limiter, name: RequestName | RangeRequest, permits: int) -> Limiter:
    """Return the limiter after it has granted a request these permits."""
    return limiter._replace(free=limiter.free - permits, out={**limiter.out, name: permits})


@rule(Rule.LIMIT_7)
def take_back(limiter: Limiter, name: RequestName | RangeRequest) -> Limiter:
    """Return the limiter after a request has given its permits back."""
    left = {other: permits for other, permits in limiter.out.items() if other != name}
    return limiter._replace(free=limiter.free + limiter.out[name], out=left)


@rule(Rule.LIMIT_5)
def serve(limiter: Limiter, config: Config) -> Service:
    """Grant the waiting requests from the head, while the head fits."""
    grants: Grants = ()
    while limiter.waiting:
        head = limiter.waiting[0]
        permits = permits_now(limiter, head.permits, config)
        if permits == 0:
            break
        limiter = hand_out(limiter._replace(waiting=limiter.waiting[1:]), head.name, permits)
        grants = (*grants, (head.name, permits))
    return Service(limiter, grants)


def named_grants(grants: Grants) -> tuple[tuple[RequestName, int], ...] | None:
    """Return the grants of the requests that have a name; None: there is none."""
    return tuple((name, permits) for name, permits in grants if not isinstance(name, RangeRequest)) or None


@rule(Rule.LIMIT_4)
def enqueue(limiter: Limiter, request: WaitingRequest, config: Config) -> Limiter:
    """Return the limiter with the request at the tail of its queue, or as it was if the queue is full."""
    if len(limiter.waiting) >= config.acquire_queue:
        return limiter
    return limiter._replace(waiting=(*limiter.waiting, request))


@rule(Rule.LIMIT_2, Rule.LIMIT_3, Rule.LIMIT_4)
def request_permits(limiter: Limiter, request: WaitingRequest, config: Config) -> tuple[Limiter, int | None]:
    """Grant a request its permits, let it wait (None), or refuse it a place in the queue (0)."""
    permits = 0 if must_wait(limiter, config) else permits_now(limiter, request.permits, config)
    if permits > 0:
        return hand_out(limiter, request.name, permits), permits
    after = enqueue(limiter, request, config)
    return after, 0 if after is limiter else None


@rule(Rule.LIMIT_4)
def acquire(state: State, event: Acquire, config: Config) -> Step:
    """Ask for permits under a name."""
    # GUARD: a limit, storage that is not held for cursors, permits to ask for, and a name that is free.
    limiter = state.limiter
    is_known = event.id in limiter.out or any(request.name == event.id for request in limiter.waiting)
    is_off = config.max_reads_in_flight_bytes == 0 or config.storage is Storage.HELD
    if is_off or event.permits < 1 or is_known:
        return Step(state, REFUSED, ())

    # DECISION, EFFECT and OUTCOME
    request = WaitingRequest(event.id, event.permits, state.now_nanos)
    after, permits = request_permits(limiter, request, config)
    return Step(state._replace(limiter=after), Permitted(permits), ())


@rule(Rule.LIMIT_5)
def give_back(state: State, event: GiveBack, config: Config) -> Step:
    """Take permits back, then serve the requests that wait."""
    # GUARD: permits that are out.
    if event.id not in state.limiter.out:
        return Step(state, REFUSED, ())

    # DECISION, EFFECT and OUTCOME
    service = serve(take_back(state.limiter, event.id), config)
    return Step(state._replace(limiter=service.limiter), Decided(named_grants(service.grants)), ())


@rule(Rule.LIMIT_6)
def is_too_late(request: WaitingRequest, now_nanos: int, config: Config) -> bool:
    """Return whether a request has waited for as long as it may, in whole milliseconds of both moments."""
    age_millis = now_nanos // NANOS_A_MILLISECOND - request.since_nanos // NANOS_A_MILLISECOND
    return 0 < config.acquire_timeout_millis <= age_millis


@rule(Rule.LIMIT_6)
def time_out(limiter: Limiter, now_nanos: int, config: Config) -> Service:
    """Fail the requests that have waited too long, from the head, then serve the rest."""
    waiting = limiter.waiting
    grants: Grants = ()
    while waiting and is_too_late(waiting[0], now_nanos, config):
        grants = (*grants, (waiting[0].name, 0))
        waiting = waiting[1:]
    after = limiter._replace(waiting=waiting) if grants else limiter
    if config.variants.limiter_timeout is LimiterTimeout.LEAVES:
        return Service(after, grants)
    service = serve(after, config)
    return service._replace(grants=(*grants, *service.grants))


# Permits of reads by cursors.

ENTRY_OVERHEAD_BYTES: Final = 64
"""The bytes that an entry in flight is taken to need beside its own."""

UNKNOWN_ENTRY_BYTES: Final = 10_240
"""The least size that an entry of a ledger without bytes is taken to have."""


@rule(Rule.LIMIT_1)
def need_permits(config: Config) -> bool:
    """Return whether reads by cursors take permits; variant `disabled_limit` "ignored" lets a disabled cache off."""
    is_off = config.max_size_bytes == 0 and config.variants.disabled_limit is DisabledLimit.IGNORED
    return config.max_reads_in_flight_bytes > 0 and config.storage is Storage.HELD and not is_off


@rule(Rule.LIMIT_1)
def estimated_entry_bytes(managed: ManagedLedger, ledger: int) -> int:
    """Return the bytes that one entry of a ledger is taken to need: the average of the ledger, and an overhead."""
    sizes = managed.sizes[ledger]
    if sum(sizes) > 0:
        return max(1, sum(sizes) // len(sizes)) + ENTRY_OVERHEAD_BYTES
    average = managed.taken_bytes // max(1, managed.taken_entries)
    return max(UNKNOWN_ENTRY_BYTES, average) + ENTRY_OVERHEAD_BYTES


@rule(Rule.LIMIT_1)
def estimated_bytes(managed: ManagedLedger, first: Position, last: Position) -> int:
    """Return the permits that a range takes, all of it, whatever the cache holds."""
    return (last.entry - first.entry + 1) * estimated_entry_bytes(managed, first.ledger)


@rule(Rule.LIMIT_1)
def count_taken(managed: ManagedLedger, sizes: tuple[int, ...], config: Config) -> ManagedLedger:
    """Count entries that the cache has taken in, where estimates may need them."""
    if not need_permits(config):
        return managed
    entries, size_bytes = managed.taken_entries + len(sizes), managed.taken_bytes + sum(sizes)
    return managed._replace(taken_entries=entries, taken_bytes=size_bytes)


@rule(Rule.LIMIT_7)
def limiter_state(state: State, event: LimiterState, config: Config) -> Step:
    """Return the permits that are free, and the number of requests that wait."""
    # GUARD: none.  DECISION: none.  EFFECT: none.
    # OUTCOME
    return Step(state, Permits(state.limiter.free, len(state.limiter.waiting)), ())
