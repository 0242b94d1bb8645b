"""The operations of `pulsar-legacy`, and the outcomes of its steps: one frozen dataclass for each.

Schemas, generators and tables come from the fields of the operations. Each class names its operation, its level, its
rule, and the shapes of its answers. The first part works on one cache: inserts, lookups, and removal by a call. The
second part belongs to the manager: time, passes, sums, and reads through the cache. The outcomes are those of
`pulsar-pip430` where an operation of the same name has them.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from entrycache_reference.pulsar_pip430.outcomes import (
    CacheView,
    Done,
    ErrorKind,
    Existing,
    Hit,
    Hits,
    Inserted,
    Refused,
    Removed,
    Served,
    Used,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import (
    ABSENT,
    Absent,
    BoundPosition,
    Bytes,
    CacheName,
    EntryPosition,
    LedgerBound,
    Nanos,
    Token,
)


@dataclass(frozen=True, slots=True)
class Observed:
    """The whole state without stamps: `caches` are those that hold entries."""

    now: int
    bytes: int
    caches: dict[CacheName, CacheView]


Outcome = Refused | Done | Inserted | Hit | Hits | Existing | Removed | Used | Observed | Served


# The operations on one cache.


@dataclass(frozen=True, slots=True)
class Insert:
    """Offer one entry of `size` bytes to a cache."""

    name: ClassVar[str] = "insert"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INSERT_1
    answers: ClassVar[tuple[type[Outcome], ...]] = (Inserted,)
    cache: CacheName
    pos: EntryPosition
    size: Bytes
    token: Token | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Get:
    """Look one entry up."""

    name: ClassVar[str] = "get"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_1
    answers: ClassVar[tuple[type[Outcome], ...]] = (Hit,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class GetRange:
    """Look up the entries from `first` to `last`, both included."""

    name: ClassVar[str] = "get_range"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_2
    answers: ClassVar[tuple[type[Outcome], ...]] = (Hits,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition


@dataclass(frozen=True, slots=True)
class Exists:
    """Ask whether a position is cached."""

    name: ClassVar[str] = "exists"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_3
    answers: ClassVar[tuple[type[Outcome], ...]] = (Existing,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class RemoveRange:
    """Remove the entries from `first` up to `last`, that one included only if `last_inclusive`."""

    name: ClassVar[str] = "remove_range"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_1
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition
    last_inclusive: bool


@dataclass(frozen=True, slots=True)
class Clear:
    """Remove every entry of a cache."""

    name: ClassVar[str] = "clear"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_2
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class InvalidateBefore:
    """Remove every entry of a cache below a position."""

    name: ClassVar[str] = "invalidate_before"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_3
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    cache: CacheName
    pos: BoundPosition


@dataclass(frozen=True, slots=True)
class InvalidateLedger:
    """Remove the entries of one ledger from a cache."""

    name: ClassVar[str] = "invalidate_ledger"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_4
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    cache: CacheName
    ledger: LedgerBound


@dataclass(frozen=True, slots=True)
class RemoveCache:
    """Take a cache out of the manager."""

    name: ClassVar[str] = "remove_cache"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_5
    answers: ClassVar[tuple[type[Outcome], ...]] = (Done,)
    cache: CacheName


# Operations of the manager.


@dataclass(frozen=True, slots=True)
class Usage:
    """Ask for entries and bytes of one cache, or of all."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_METRICS_1
    answers: ClassVar[tuple[type[Outcome], ...]] = (Used,)
    cache: CacheName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Observe:
    """Show the whole state."""

    name: ClassVar[str] = "observe"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_METRICS_2
    answers: ClassVar[tuple[type[Outcome], ...]] = (Observed,)


@dataclass(frozen=True, slots=True)
class Advance:
    """Let virtual time pass."""

    name: ClassVar[str] = "advance"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_STATE_2
    answers: ClassVar[tuple[type[Outcome], ...]] = (Done,)
    nanos: Nanos


@dataclass(frozen=True, slots=True)
class Expire:
    """Run a time pass over one cache for entries as old as `older_than_nanos` (absent: the time to live)."""

    name: ClassVar[str] = "expire"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_EXPIRE_1
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    cache: CacheName
    older_than_nanos: Nanos | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Evict:
    """Run a size pass over all caches: the largest together have to give `bytes`."""

    name: ClassVar[str] = "evict"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_EVICT_3
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class EvictCache:
    """Free `bytes` in one cache, from its lowest position up."""

    name: ClassVar[str] = "evict_cache"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_EVICT_1
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)
    cache: CacheName
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class RunScheduled:
    """Run the size pass that is scheduled."""

    name: ClassVar[str] = "run_scheduled"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_TRIGGER_5
    answers: ClassVar[tuple[type[Outcome], ...]] = (Removed,)


@dataclass(frozen=True, slots=True)
class Read:
    """Read a range through the cache: whole from the cache, or whole from storage and then inserted."""

    name: ClassVar[str] = "read"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_4
    answers: ClassVar[tuple[type[Outcome], ...]] = (Served,)
    cache: CacheName
    first: EntryPosition
    last: EntryPosition


@dataclass(frozen=True, slots=True)
class ReadOne:
    """Read one position through the cache; an entry from storage is never cached."""

    name: ClassVar[str] = "read_one"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_6
    answers: ClassVar[tuple[type[Outcome], ...]] = (Served,)
    cache: CacheName
    pos: EntryPosition


# All operations.

Op = (
    Insert
    | Get
    | GetRange
    | Exists
    | RemoveRange
    | Clear
    | InvalidateBefore
    | InvalidateLedger
    | RemoveCache
    | Usage
    | Observe
    | Advance
    | Expire
    | Evict
    | EvictCache
    | RunScheduled
    | Read
    | ReadOne
)

LEVELS: Final = ("all",)
"""The only level."""

OPS: Final[tuple[type[Op], ...]] = (
    Insert,
    Get,
    GetRange,
    Exists,
    RemoveRange,
    Clear,
    InvalidateBefore,
    InvalidateLedger,
    RemoveCache,
    Usage,
    Observe,
    Advance,
    Expire,
    Evict,
    EvictCache,
    RunScheduled,
    Read,
    ReadOne,
)
"""Every operation."""


__all__ = [
    "CacheView",
    "Done",
    "ErrorKind",
    "Existing",
    "Hit",
    "Hits",
    "Inserted",
    "Observed",
    "Outcome",
    "Refused",
    "Removed",
    "Served",
    "Used",
]
