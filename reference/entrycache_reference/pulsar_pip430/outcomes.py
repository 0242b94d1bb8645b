"""The answers of a step, one frozen dataclass for each shape.

Each operation in `ops` names the outcomes that it may answer. The codec derives the JSON form and the schema of an
outcome from its fields. `Refused` is the only error: the step was refused and nothing has changed. The views at the end
of the list describe a whole state, for `observe`.
"""

from dataclasses import dataclass
from enum import Enum

from entrycache_reference.vocabulary import CacheName, Position, ReadName, RequestName


class ErrorKind(Enum):
    """The reason why a step was refused."""

    ILLEGAL_ARGUMENT = "illegal-argument"


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal; nothing has changed."""

    error: ErrorKind


@dataclass(frozen=True, slots=True)
class Done:
    """An answer without content."""


@dataclass(frozen=True, slots=True)
class Inserted:
    """The answer to an insert: true if the entry was added."""

    inserted: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """The answer to a lookup; `tokens` holds the payload of a hit if payloads are carried."""

    hit: bool
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """The cached positions of a range, ascending; `tokens` runs parallel if payloads are carried."""

    hits: tuple[Position, ...]
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """The answer to `exists`: true if the position is cached."""

    exists: bool


@dataclass(frozen=True, slots=True)
class Removed:
    """The number and bytes of the entries that this step removed."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Used:
    """The number and bytes of the cached entries."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The expected reads after the step; None if the entry is absent or carries no count."""

    expected_reads: int | None


@dataclass(frozen=True, slots=True)
class CacheView:
    """One cache as `observe` shows it; positions ascend."""

    bytes: int
    entries: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class SlotView:
    """One live slot of the removal queue as `observe` shows it."""

    cache: CacheName
    pos: Position
    size: int
    age_nanos: int
    requeues: int
    accessed: bool
    expected_reads: int | None


@dataclass(frozen=True, slots=True)
class Observed:
    """The whole state: `queue` lists live entries from head to tail, `caches` those that hold entries."""

    now: int
    bytes: int
    caches: dict[CacheName, CacheView]
    queue: tuple[SlotView, ...]
    tombstones: int


@dataclass(frozen=True, slots=True)
class Served:
    """The positions that a read handed over: hits from the cache and fills from storage, both ascending.

    `tokens` holds the payloads of `hits`, then of `fills`, if payloads are carried.
    """

    hits: tuple[Position, ...]
    fills: tuple[Position, ...]
    tokens: tuple[int, ...] | None = None


class ReadError(Enum):
    """The reason why a read ended without entries."""

    READ_FAILED = "read-failed"


@dataclass(frozen=True, slots=True)
class SentAsk:
    """One read of storage that a step has sent; asks are numbered from 0 through the run.

    `cache` is that of the cursor which reads; None: the read has no cache.
    """

    ask: int
    ledger: int
    first: int
    last: int
    cache: CacheName | None = None


@dataclass(frozen=True, slots=True)
class EndedRead:
    """A read that has ended: its entries, ascending, or the reason why it has none."""

    read: ReadName
    entries: tuple[Position, ...] | None = None
    error: ReadError | None = None


@dataclass(frozen=True, slots=True)
class InFlight:
    """The asks that a step sent, in that order (`asked` in JSON), and the reads that ended, by name; None: nothing."""

    sent_asks: tuple[SentAsk, ...] | None = None
    done: tuple[EndedRead, ...] | None = None


@dataclass(frozen=True, slots=True)
class Released:
    """The number of positions that were held, and what reads do that get the permits of these."""

    released: int
    sent_asks: tuple[SentAsk, ...] | None = None
    done: tuple[EndedRead, ...] | None = None


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters since the start of the run; hits and misses count entries, `bytes` is the present sum."""

    inserted_entries: int
    evicted_entries: int
    eviction_cycles: int
    hit_entries: int
    hit_bytes: int
    miss_entries: int
    miss_bytes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CursorRemoved:
    """The answer to `cursor_remove`: true if the cursor was a member."""

    removed: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """The number of tracked cursors at or before this one, itself included; 0 if it is unknown or not tracked."""

    rank: int


@dataclass(frozen=True, slots=True)
class SlowestAt:
    """The lowest tracked position; None if no cursor is tracked."""

    pos: Position | None


@dataclass(frozen=True, slots=True)
class Members:
    """The number of members, tracked or not."""

    members: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """The answer to `should_cache`: true if an entry that is added now should be cached."""

    should_cache: bool


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer to an append: true if the entry was cached, and the reads it expects; None if it carries no count."""

    cached: bool
    expected_reads: int | None


@dataclass(frozen=True, slots=True)
class CursorAt:
    """The read position and the mark-delete position of a cursor, and whether it is active."""

    read: Position
    mark_delete: Position
    active: bool


@dataclass(frozen=True, slots=True)
class Permitted:
    """The permits that a request is granted at once; None: it waits; 0: it is refused, because the queue is full."""

    permits: int | None


@dataclass(frozen=True, slots=True)
class Decided:
    """The waiting requests that this step decided, with their permits; 0: a request has timed out. None: no request.

    A request of a read by a cursor has no name: its asks and its end show what the read does then.
    """

    granted: tuple[tuple[RequestName, int], ...] | None = None
    sent_asks: tuple[SentAsk, ...] | None = None
    done: tuple[EndedRead, ...] | None = None


@dataclass(frozen=True, slots=True)
class Permits:
    """The permits that are free, and the number of requests that wait."""

    free: int
    waiting: int


Outcome = (
    Refused
    | Done
    | Inserted
    | Hit
    | Hits
    | Existing
    | Removed
    | Used
    | Counted
    | Observed
    | Served
    | Released
    | Counters
    | CursorRemoved
    | Ranked
    | SlowestAt
    | Members
    | Wanted
    | Appended
    | CursorAt
    | Permitted
    | Decided
    | Permits
    | InFlight
)
