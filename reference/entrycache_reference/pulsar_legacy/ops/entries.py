"""Operations on one cache: entries come in, are looked up, and leave by a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_legacy import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import (
    ABSENT,
    Absent,
    BoundPosition,
    Bytes,
    CacheName,
    EntryPosition,
    LedgerBound,
    Token,
)


@dataclass(frozen=True, slots=True)
class Insert:
    """Offer one entry of `size` bytes to a cache."""

    name: ClassVar[str] = "insert"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INSERT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Inserted,)
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
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hit,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class GetRange:
    """Look up the entries from `first` to `last`, both included."""

    name: ClassVar[str] = "get_range"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hits,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition


@dataclass(frozen=True, slots=True)
class Exists:
    """Ask whether a position is cached."""

    name: ClassVar[str] = "exists"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Existing,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class RemoveRange:
    """Remove the entries from `first` up to `last`, that one included only if `last_inclusive`."""

    name: ClassVar[str] = "remove_range"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
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
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class InvalidateBefore:
    """Remove every entry of a cache below a position."""

    name: ClassVar[str] = "invalidate_before"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    pos: BoundPosition


@dataclass(frozen=True, slots=True)
class InvalidateLedger:
    """Remove the entries of one ledger from a cache."""

    name: ClassVar[str] = "invalidate_ledger"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    ledger: LedgerBound


@dataclass(frozen=True, slots=True)
class RemoveCache:
    """Take a cache out of the manager."""

    name: ClassVar[str] = "remove_cache"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_INVALIDATE_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
