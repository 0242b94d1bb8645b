"""The operations, one frozen dataclass each; schema, generators and tables come from their fields.

An operation belongs to a level: `range` for one cache by position, `queue` for time and passes, `manager` for triggers,
settings and removal, `reads` for reads through the cache, `cursors` for the container of active cursors, `ledger` for
managed ledgers, `pending` for the table of pending reads, `inflight` for reads by cursors that overlap in time, and
`limits` for permits. The operations of the last four stand in `ledger_ops`. `rule` is the rule that is named if no
other one is; `answers` lists the outcomes of the operation.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, get_args

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.pulsar_pip430.ledger_ops import (
    Ack,
    Acquire,
    Activate,
    Append,
    CheckBacklogs,
    CursorClose,
    CursorOpen,
    CursorRead,
    CursorReset,
    CursorSeek,
    CursorState,
    Deactivate,
    DeleteLedger,
    Dispatcher,
    Fetch,
    GiveBack,
    LimiterState,
    MarkDelete,
    ReadBegin,
    ReplayAdd,
    ReplayBegin,
    ReplayRead,
    RunInvalidations,
    StorageAnswer,
    StorageAnswerKind,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import (
    ABSENT,
    Absent,
    BoundPosition,
    Bytes,
    CacheName,
    CursorName,
    EntryPosition,
    HoldName,
    LedgerBound,
    Nanos,
    Number,
    Reads,
    Token,
)

__all__ = [
    "Ack",
    "Acquire",
    "Activate",
    "Append",
    "CheckBacklogs",
    "CursorClose",
    "CursorOpen",
    "CursorRead",
    "CursorReset",
    "CursorSeek",
    "CursorState",
    "Deactivate",
    "DeleteLedger",
    "Dispatcher",
    "Fetch",
    "GiveBack",
    "LimiterState",
    "MarkDelete",
    "ReadBegin",
    "ReplayAdd",
    "ReplayBegin",
    "ReplayRead",
    "RunInvalidations",
    "StorageAnswer",
    "StorageAnswerKind",
]


@dataclass(frozen=True, slots=True)
class Insert:
    """Offer one entry of `size` bytes to a cache; `expected_reads` deliveries are still to come."""

    name: ClassVar[str] = "insert"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.INSERT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Inserted,)
    cache: CacheName
    pos: EntryPosition
    size: Bytes
    expected_reads: Reads | Absent | None = ABSENT
    token: Token | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Get:
    """Look up one entry and mark it accessed."""

    name: ClassVar[str] = "get"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.READ_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hit,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class GetRange:
    """Look up the entries from `first` to `last`, both included, and mark those that are found."""

    name: ClassVar[str] = "get_range"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.READ_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hits,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition


@dataclass(frozen=True, slots=True)
class Exists:
    """Ask whether a position is cached; mark nothing."""

    name: ClassVar[str] = "exists"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.READ_6
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Existing,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class RemoveRange:
    """Remove the entries from `first` up to `last`; `last` itself only if `last_inclusive`."""

    name: ClassVar[str] = "remove_range"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.INVALIDATE_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition
    last_inclusive: bool


@dataclass(frozen=True, slots=True)
class Clear:
    """Remove every entry of a cache."""

    name: ClassVar[str] = "clear"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.INVALIDATE_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class Usage:
    """Ask for the entries and bytes of one cache, or of all."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.METRICS_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Used,)
    cache: CacheName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Observe:
    """Show the whole state; mark and count nothing. The operation belongs to every level."""

    name: ClassVar[str] = "observe"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.STATE_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Observed,)


# Level `queue`: time, the two passes over the removal queue, counts of expected reads.


@dataclass(frozen=True, slots=True)
class Advance:
    """Let virtual time pass; requests for permits that have waited too long fail."""

    name: ClassVar[str] = "advance"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.STATE_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Decided,)
    nanos: Nanos


@dataclass(frozen=True, slots=True)
class Expire:
    """Run a time pass over entries older than `older_than_nanos` (absent: the time to live)."""

    name: ClassVar[str] = "expire"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.EXPIRE_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    older_than_nanos: Nanos | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Evict:
    """Run a size pass that frees `bytes`."""

    name: ClassVar[str] = "evict"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.EVICT_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class MarkRead:
    """Record that one delivery of the entry is done: one expected read fewer."""

    name: ClassVar[str] = "mark_read"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.COUNT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Counted,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class ExpectRead:
    """Record that the entry will be delivered once more: one expected read more."""

    name: ClassVar[str] = "expect_read"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.COUNT_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Counted,)
    cache: CacheName
    pos: EntryPosition


# Level `manager`: trigger and watermark, the periodic task, settings, removal, counters.


@dataclass(frozen=True, slots=True)
class Cycle:
    """Run the periodic task: a time pass, then a size pass if the caches are over the trigger."""

    name: ClassVar[str] = "cycle"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.TRIGGER_6
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)


@dataclass(frozen=True, slots=True)
class RunScheduled:
    """Run the size pass that an insert has scheduled, using the present sizes."""

    name: ClassVar[str] = "run_scheduled"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.TRIGGER_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)


@dataclass(frozen=True, slots=True)
class Configure:
    """Change settings while the run goes on; an absent setting stays."""

    name: ClassVar[str] = "configure"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.CONFIG_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    max_size_bytes: Bytes | Absent = ABSENT
    watermark: Number | Absent = ABSENT
    ttl_nanos: Nanos | Absent = ABSENT
    max_requeues: Reads | Absent = ABSENT
    extend_recently_accessed: bool | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class InvalidateBefore:
    """Remove every entry of a cache below `pos`."""

    name: ClassVar[str] = "invalidate_before"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.INVALIDATE_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    pos: BoundPosition


@dataclass(frozen=True, slots=True)
class InvalidateLedger:
    """Remove the entries of one ledger of a cache."""

    name: ClassVar[str] = "invalidate_ledger"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.INVALIDATE_8
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    ledger: LedgerBound


@dataclass(frozen=True, slots=True)
class RemoveCache:
    """Remove a cache from the manager; its name may come back."""

    name: ClassVar[str] = "remove_cache"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.INVALIDATE_9
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class Metrics:
    """Ask for the counters since the start of the run."""

    name: ClassVar[str] = "metrics"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.METRICS_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Counters,)


# Level `reads`: reads through the cache, with fills from storage and deliveries in flight.


@dataclass(frozen=True, slots=True)
class Read:
    """Read a range through the cache: cached entries are served, each gap is read from storage and may be cached.

    `expected_reads` is the count that the fills carry; if it is not above 0, they are not cached. `hold` names what was
    read until `release`; without it everything is released when the step ends.
    """

    name: ClassVar[str] = "read"
    level: ClassVar[str] = "reads"
    rule: ClassVar[Rule] = Rule.READ_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    first: EntryPosition
    last: EntryPosition
    expected_reads: Reads
    hold: HoldName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class ReadOne:
    """Read one position through the cache; the answer of storage is never cached."""

    name: ClassVar[str] = "read_one"
    level: ClassVar[str] = "reads"
    rule: ClassVar[Rule] = Rule.READ_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    pos: EntryPosition
    hold: HoldName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Release:
    """Release what a read holds: each entry was delivered once."""

    name: ClassVar[str] = "release"
    level: ClassVar[str] = "reads"
    rule: ClassVar[Rule] = Rule.COUNT_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Released,)
    hold: HoldName


# Level `cursors`: the container of active cursors of one cache.


@dataclass(frozen=True, slots=True)
class CursorAdd:
    """Make a cursor a member, tracked at `pos`; None: not tracked. A member only changes its position."""

    name: ClassVar[str] = "cursor_add"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: BoundPosition | None


@dataclass(frozen=True, slots=True)
class CursorMove:
    """Move a member to `pos`; None stops its tracking; an unknown cursor is ignored."""

    name: ClassVar[str] = "cursor_move"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: BoundPosition | None


@dataclass(frozen=True, slots=True)
class CursorRemove:
    """Remove a member; that restarts the grace period."""

    name: ClassVar[str] = "cursor_remove"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.CursorRemoved,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class CursorRank:
    """Ask how many tracked cursors stand at or before this one, itself included."""

    name: ClassVar[str] = "cursor_rank"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Ranked,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class Slowest:
    """Ask for the lowest tracked position."""

    name: ClassVar[str] = "slowest"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_9
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.SlowestAt,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class Cursors:
    """Ask for the number of members, tracked or not."""

    name: ClassVar[str] = "cursors"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Members,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class ShouldCache:
    """Ask whether an entry that is added now should be cached."""

    name: ClassVar[str] = "should_cache"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_11
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Wanted,)
    cache: CacheName


# All operations.

Op = (
    Insert
    | Get
    | GetRange
    | Exists
    | RemoveRange
    | Clear
    | Usage
    | Observe
    | Advance
    | Expire
    | Evict
    | MarkRead
    | ExpectRead
    | Cycle
    | RunScheduled
    | Configure
    | InvalidateBefore
    | InvalidateLedger
    | RemoveCache
    | Metrics
    | Read
    | ReadOne
    | Release
    | CursorAdd
    | CursorMove
    | CursorRemove
    | CursorRank
    | Slowest
    | Cursors
    | ShouldCache
    | Append
    | CursorOpen
    | CursorRead
    | CursorSeek
    | CursorReset
    | MarkDelete
    | Ack
    | Activate
    | Deactivate
    | CursorClose
    | ReplayAdd
    | ReplayRead
    | DeleteLedger
    | CheckBacklogs
    | RunInvalidations
    | CursorState
    | Acquire
    | GiveBack
    | LimiterState
    | Fetch
    | ReadBegin
    | ReplayBegin
    | StorageAnswer
)

LEVELS: Final = ("range", "queue", "manager", "reads", "cursors", "pending", "ledger", "inflight", "limits")
"""The levels of the system, each containing those before it, but for `pending`, which is a level of its own.

Of a subject that reads by no cursors, `limits` needs nothing of the others but `advance`.
"""

OPS: Final[tuple[type[Op], ...]] = get_args(Op)
"""Every operation, level by level."""

LEDGER_OPS: Final = OPS[OPS.index(Append) : OPS.index(Acquire)]
"""The operations of level `ledger`."""
