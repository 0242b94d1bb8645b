"""Level `range`: one cache, looked up and removed from by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, BoundPosition, Bytes, CacheName, EntryPosition, Reads, Token


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
    """Look one entry up and mark it accessed."""

    name: ClassVar[str] = "get"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.READ_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hit,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class GetRange:
    """Look up the entries from `first` to `last`, both included, and mark those found."""

    name: ClassVar[str] = "get_range"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.READ_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hits,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition


@dataclass(frozen=True, slots=True)
class Exists:
    """Ask whether a position is cached; marks nothing."""

    name: ClassVar[str] = "exists"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.READ_6
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Existing,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class RemoveRange:
    """Remove the entries from `first` up to `last`, that one included only if `last_inclusive`."""

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
    """Ask for entries and bytes of one cache, or of all."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.METRICS_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Used,)
    cache: CacheName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Observe:
    """Show the whole state; marks and counts nothing; belongs to every level."""

    name: ClassVar[str] = "observe"
    level: ClassVar[str] = "range"
    rule: ClassVar[Rule] = Rule.STATE_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Observed,)
