"""Operations of the manager: time, passes, sums, and reads through the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_legacy import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, Bytes, CacheName, EntryPosition, Nanos


@dataclass(frozen=True, slots=True)
class Usage:
    """Ask for entries and bytes of one cache, or of all."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_METRICS_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Used,)
    cache: CacheName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Observe:
    """Show the whole state."""

    name: ClassVar[str] = "observe"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_METRICS_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Observed,)


@dataclass(frozen=True, slots=True)
class Advance:
    """Let virtual time pass."""

    name: ClassVar[str] = "advance"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_STATE_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    nanos: Nanos


@dataclass(frozen=True, slots=True)
class Expire:
    """Run a time pass over one cache, for what is as old as `older_than_nanos` (absent: the time to live)."""

    name: ClassVar[str] = "expire"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_EXPIRE_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    older_than_nanos: Nanos | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Evict:
    """Run a size pass over all caches: the largest are to give `bytes` together."""

    name: ClassVar[str] = "evict"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_EVICT_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class EvictCache:
    """Free `bytes` in one cache, from its lowest position up."""

    name: ClassVar[str] = "evict_cache"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_EVICT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    bytes: Bytes


@dataclass(frozen=True, slots=True)
class RunScheduled:
    """Run the size pass that is scheduled."""

    name: ClassVar[str] = "run_scheduled"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_TRIGGER_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)


@dataclass(frozen=True, slots=True)
class Read:
    """Read a range through the cache: it is served whole from there, or whole from storage, and then inserted."""

    name: ClassVar[str] = "read"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    first: EntryPosition
    last: EntryPosition


@dataclass(frozen=True, slots=True)
class ReadOne:
    """Read one position through the cache; what storage answers is never cached."""

    name: ClassVar[str] = "read_one"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.L_READ_6
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    pos: EntryPosition
