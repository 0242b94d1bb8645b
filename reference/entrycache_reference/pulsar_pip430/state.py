"""The state of one broker's caches, and the result of a step.

`State` holds the clock, the settings, the caches by name, the removal queue, the bytes, the holds of reads and the
counters. It is immutable: a step builds a new state and shares what did not change. The state holds no ordinals, so
bounded models stay finite. A step returns a `Step`: the new state, the outcome and the trace rows. A step that does
several things in a row names them in `parts`, each a step of its own.

Beside: RangeCacheRemovalQueue, EntryReadCountHandlerImpl (managed-ledger 4.2.4)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.outcomes import Outcome
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position, ReadName, RequestName


class Entry(NamedTuple):
    """One cached entry. If `expected_reads` is None, the entry never carries a count."""

    size_bytes: int
    stamp_nanos: int
    requeues: int
    accessed: bool
    expected_reads: int | None
    token: int | None


class Cache(NamedTuple):
    """The cache of one managed ledger. No mapping is ever changed in place.

    `members` holds its cursors with their positions; None: the cursor is not tracked. `grace_start_nanos` is the last
    start of the grace period. If `is_open` is False, the manager has removed the cache; its next use opens it again.
    """

    entries: Mapping[Position, Entry]
    size_bytes: int
    members: Mapping[CursorName, Position | None] = {}
    grace_start_nanos: int = 0
    is_open: bool = True


class Slot(NamedTuple):
    """A live slot of the removal queue; it names its entry."""

    cache: CacheName
    pos: Position


DEAD: Final = None
"""A slot whose entry was removed by a call; the next pass that reaches it drops it."""


class HeldPosition(NamedTuple):
    """One position that a read handed over and that is not released yet.

    `is_cached` is True while the entry that was read is still cached. It is False if that entry has left, or if the
    position was never cached. `request` is the number of the request for permits under which it was read, if any.
    """

    slot: Slot
    is_cached: bool
    request: int | None = None


class ManagedCursor(NamedTuple):
    """One cursor of a managed ledger.

    `acks` holds the positions above `mark_delete` that were acknowledged one by one. `is_flagged`: the last check of
    backlogs wants its reads cached. The cursor is active while it is a member of the cache.
    """

    is_durable: bool
    read: Position
    mark_delete: Position
    acks: frozenset[Position] = frozenset()
    is_flagged: bool = False


class ManagedLedger(NamedTuple):
    """The ledgers and cursors behind a managed cache.

    `sizes` holds the sizes of the entries of each ledger that is there, in ascending order of ids; the last one is the
    current ledger. `ids` also holds the ids of deleted ledgers. `due` is the position up to which an invalidation is
    due, between two steps only one that waits for `run_invalidations`; None: none is due. `taken_entries` and
    `taken_bytes` are the entries that the cache has taken in so far; they are counted only where reads take permits.
    """

    sizes: Mapping[int, tuple[int, ...]]
    ids: frozenset[int]
    cursors: Mapping[CursorName, ManagedCursor] = {}
    due: Position | None = None
    taken_entries: int = 0
    taken_bytes: int = 0


class RangeRequest(NamedTuple):
    """The request for permits by which a read of a cursor gets a range; a read counts its requests from 0."""

    read: ReadName
    number: int


class WaitingRequest(NamedTuple):
    """A request for permits that waits, and since when."""

    name: RequestName | RangeRequest
    permits: int
    since_nanos: int


class Limiter(NamedTuple):
    """The permits for bytes of reads in flight: those that are free, those that are out, and who waits, in order."""

    free: int = 0
    out: Mapping[RequestName | RangeRequest, int] = {}
    waiting: tuple[WaitingRequest, ...] = ()


class Wait(NamedTuple):
    """A part of a range that waits for the answer to an ask: its first and its last entry."""

    ask: int
    first: int
    last: int


class OpenRange(NamedTuple):
    """A range of one ledger that storage is to give.

    `waits` are the parts that wait for an answer, and `given` the positions that storage gave. `has_failed`: one of its
    parts was not given. `rests` are parts that no ask covered and that are read through the cache. If `is_cut`, what is
    left of the range is the next gap of the same range.
    """

    first: Position
    last: Position
    waits: tuple[Wait, ...] = ()
    has_failed: bool = False
    given: tuple[Position, ...] = ()
    rests: tuple[CachedRange, ...] = ()
    is_cut: bool = False


class CachedRange(NamedTuple):
    """A range of one ledger that is read through the cache: what the cache gave, and the gaps between, ascending.

    A gap that was cut at many asks is a row of gaps: each but the last one `is_cut`, and contains those behind it.
    `is_last_try`: a gap has failed before, and now all of the range is read from storage. `request` is the number of
    the request for permits under which it is read; None: it needs none.
    """

    first: Position
    last: Position
    hits: tuple[Position, ...] = ()
    gaps: tuple[OpenRange, ...] = ()
    is_last_try: bool = False
    request: int | None = None


class OpenRead(NamedTuple):
    """A read without a cache that has not ended."""

    range: OpenRange


class ReadInFlight(NamedTuple):
    """A read or a replay by a cursor that has not ended. What it has got stands in `State.holds` under its name.

    `most` is the number of entries that a read still wants; None: it is a replay. `start` is the position from which
    its chunk was looked for, `wanted` are the positions of the chunk or of the replay, and `last` is the entry that was
    appended last when the chunk was asked for. Of `ranges` something is missing, and `finished` are whole or failed.
    The ranges of `waiting` wait for permits. `requests` is the number of requests for permits so far.
    """

    cache: CacheName
    cursor: CursorName
    most: int | None
    start: Position
    wanted: tuple[Position, ...] = ()
    last: Position | None = None
    ranges: tuple[CachedRange, ...] = ()
    finished: tuple[CachedRange, ...] = ()
    waiting: tuple[CachedRange, ...] = ()
    requests: int = 0


class Waiter(NamedTuple):
    """A read that waits for an ask, and the first entry of the part that it waits for."""

    read: ReadName
    first: int


class Ask(NamedTuple):
    """A read of storage that was not answered yet, with those who wait for it in the order in which they joined.

    Who asked comes first. If `is_joinable` is False, no further read may join. `cache` and `cursor` are those of the
    read that asked; a replay has no cursor, and a read without a cache has neither.
    """

    ledger: int
    first: int
    last: int
    waiting: tuple[Waiter, ...]
    is_joinable: bool = True
    cache: CacheName | None = None
    cursor: CursorName | None = None


class PendingReads(NamedTuple):
    """The reads that are open, what they have asked of storage by number, and the number of asks so far.

    `reads` are those without a cache, `of_cursors` those by cursors.
    """

    asks: Mapping[int, Ask] = {}
    sent: int = 0
    reads: Mapping[ReadName, OpenRead] = {}
    of_cursors: Mapping[ReadName, ReadInFlight] = {}


class Counts(NamedTuple):
    """The counters since the start of the run."""

    inserted_entries: int = 0
    evicted_entries: int = 0
    eviction_cycles: int = 0
    hit_entries: int = 0
    hit_bytes: int = 0
    miss_entries: int = 0
    miss_bytes: int = 0


class State(NamedTuple):
    """The whole state. `queue` runs from head (oldest) to tail; `size_bytes` is the manager's counter.

    `is_scheduled`: an insert has asked for a size pass, which `run_scheduled` is to run. `holds` maps each name to the
    positions that a read handed over and still holds. `managed` holds the managed ledgers by the name of their cache,
    `limiter` the permits, `pending` the reads that have not ended.
    """

    now_nanos: int
    settings: Settings
    caches: Mapping[CacheName, Cache]
    queue: tuple[Slot | None, ...]
    size_bytes: int
    is_scheduled: bool = False
    holds: Mapping[HoldName, tuple[HeldPosition, ...]] = {}
    counts: Counts = Counts()
    managed: Mapping[CacheName, ManagedLedger] = {}
    limiter: Limiter = Limiter()
    pending: PendingReads = PendingReads()


class Row(NamedTuple):
    """One event as a recorded trace shows it, with the rule that made it.

    All fields but `rule` are columns of the trace. A recorder adds broker, seq, life, pass, call and the ordinals of
    queue slots. `accessed` and `stamp_ns` hold the values before the event, `expected_reads` and `requeues` those after
    it.
    """

    rule: Rule
    op: str
    cause: str | None
    ts_ns: int
    bytes_after: int
    origin: str | None = None
    cache: CacheName | None = None
    ledger_id: int | None = None
    entry_id: int | None = None
    size_bytes: int | None = None
    expected_reads: int | None = None
    requeues: int | None = None
    accessed: bool | None = None
    stamp_ns: int | None = None
    new_stamp_ns: int | None = None
    bound: int | None = None
    max_requeues: int | None = None
    extend_accessed: bool | None = None
    trigger_bytes: int | None = None
    target_bytes: int | None = None
    manager_bytes: int | None = None
    cursor: str | None = None
    key_hash: int | None = None
    dirty: bool | None = None
    value: str | None = None


class Step(NamedTuple):
    """The result of one step: the new state, the answer, and the events in order.

    A step that does several things in a row, such as an insert that triggers a pass, names them in `parts`. Each part
    is a step of its own and starts from the state that the part before it left.
    """

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]
    parts: tuple[Part, ...] = ()


class Part(NamedTuple):
    """One part of a step: the state before it, the operation that it amounts to, and the result."""

    pre: State
    event: Op
    step: Step


def initial(config: Config) -> State:
    """Return the empty state at time 0."""
    return State(0, config.settings, {}, (), 0, limiter=Limiter(config.max_reads_in_flight_bytes))
