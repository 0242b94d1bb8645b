"""The operations, one frozen dataclass each: schema, generators and tables come from their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from entrycache_reference.vocabulary import (
    ABSENT,
    Absent,
    BoundPosition,
    Bytes,
    CacheName,
    EntryPosition,
    Nanos,
    Reads,
    Token,
)


@dataclass(frozen=True, slots=True)
class Insert:
    """Offer one entry of `size` bytes to a cache; `expected_reads` deliveries are still to come."""

    name: ClassVar[str] = "insert"
    level: ClassVar[str] = "range"
    cache: CacheName
    pos: EntryPosition
    size: Bytes
    expected_reads: Reads | Absent | None = ABSENT
    token: Token | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Get:
    """Look one entry up and mark it accessed."""

    name: ClassVar[str] = "get"
    level: ClassVar[str] = "range"
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class GetRange:
    """Look up the entries from `first` to `last`, both included, and mark those found."""

    name: ClassVar[str] = "get_range"
    level: ClassVar[str] = "range"
    cache: CacheName
    first: BoundPosition
    last: BoundPosition


@dataclass(frozen=True, slots=True)
class Exists:
    """Ask whether a position is cached; marks nothing."""

    name: ClassVar[str] = "exists"
    level: ClassVar[str] = "range"
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class RemoveRange:
    """Remove the entries from `first` up to `last`, that one included only if `last_inclusive`."""

    name: ClassVar[str] = "remove_range"
    level: ClassVar[str] = "range"
    cache: CacheName
    first: BoundPosition
    last: BoundPosition
    last_inclusive: bool


@dataclass(frozen=True, slots=True)
class Clear:
    """Remove every entry of a cache."""

    name: ClassVar[str] = "clear"
    level: ClassVar[str] = "range"
    cache: CacheName


@dataclass(frozen=True, slots=True)
class Usage:
    """Ask for entries and bytes of one cache, or of all."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "range"
    cache: CacheName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Observe:
    """Show the whole state; marks and counts nothing; belongs to every level."""

    name: ClassVar[str] = "observe"
    level: ClassVar[str] = "range"


@dataclass(frozen=True, slots=True)
class Advance:
    """Let virtual time pass."""

    name: ClassVar[str] = "advance"
    level: ClassVar[str] = "queue"
    nanos: Nanos


@dataclass(frozen=True, slots=True)
class Expire:
    """Run a time pass over entries older than `older_than_nanos` (absent: the time to live)."""

    name: ClassVar[str] = "expire"
    level: ClassVar[str] = "queue"
    older_than_nanos: Nanos | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Evict:
    """Run a size pass that frees `bytes`."""

    name: ClassVar[str] = "evict"
    level: ClassVar[str] = "queue"
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class MarkRead:
    """A delivery of the entry is done: one expected read fewer."""

    name: ClassVar[str] = "mark_read"
    level: ClassVar[str] = "queue"
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class ExpectRead:
    """The entry will be delivered once more: one expected read more."""

    name: ClassVar[str] = "expect_read"
    level: ClassVar[str] = "queue"
    cache: CacheName
    pos: EntryPosition


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
)

LEVELS: Final = ("range", "queue")
"""The levels of the system that are built, each holding those before it."""

OPS: Final[tuple[type[Op], ...]] = (
    Insert,
    Get,
    GetRange,
    Exists,
    RemoveRange,
    Clear,
    Usage,
    Observe,
    Advance,
    Expire,
    Evict,
    MarkRead,
    ExpectRead,
)
