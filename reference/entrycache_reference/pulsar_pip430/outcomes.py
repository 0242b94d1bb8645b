"""What a step answers, one frozen dataclass a shape."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from entrycache_reference.vocabulary import CacheName, Position


class ErrorKind(Enum):
    """Why a step was refused."""

    ILLEGAL_ARGUMENT = "illegal-argument"


@dataclass(frozen=True, slots=True)
class Refused:
    """The step was refused; nothing has changed."""

    error: ErrorKind


@dataclass(frozen=True, slots=True)
class Done:
    """The step has nothing to tell."""


@dataclass(frozen=True, slots=True)
class Inserted:
    """Whether the entry was added."""

    inserted: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """Whether the position was cached; `tokens` holds the payload of a hit where payloads are carried."""

    hit: bool
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """The cached positions of a range, ascending; `tokens` runs parallel where payloads are carried."""

    hits: tuple[Position, ...]
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """Whether the position is cached."""

    exists: bool


@dataclass(frozen=True, slots=True)
class Removed:
    """Number and bytes of the entries that this step removed."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Used:
    """Number and bytes of the entries that are cached."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The expected reads after the step; None where the entry is absent or carries no count."""

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
    """What a read handed over: positions served from the cache, and from storage, both ascending.

    `tokens` holds the payloads of `hits`, then of `fills`, where payloads are carried.
    """

    hits: tuple[Position, ...]
    fills: tuple[Position, ...]
    tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Released:
    """The number of positions that were held."""

    released: int


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
    """Whether the cursor was a member."""

    removed: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """The tracked cursors at or before this one, itself included; 0 if it is unknown or not tracked."""

    rank: int


@dataclass(frozen=True, slots=True)
class SlowestAt:
    """The lowest tracked position, None if no cursor is tracked."""

    pos: Position | None


@dataclass(frozen=True, slots=True)
class Members:
    """The number of members, tracked or not."""

    members: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whether an entry that is added now should be cached."""

    should_cache: bool


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
)
