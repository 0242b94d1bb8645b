"""Level `manager`: trigger and watermark, the periodic task, dynamic settings, invalidation, counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import (
    ABSENT,
    Absent,
    BoundPosition,
    Bytes,
    CacheName,
    LedgerBound,
    Nanos,
    Number,
    Reads,
)


@dataclass(frozen=True, slots=True)
class Cycle:
    """Run the periodic task: a time pass, then a size pass if the caches are over the trigger."""

    name: ClassVar[str] = "cycle"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.TRIGGER_6
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)


@dataclass(frozen=True, slots=True)
class RunScheduled:
    """Run the size pass that an insert has scheduled, by the sizes of this moment."""

    name: ClassVar[str] = "run_scheduled"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.TRIGGER_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)


@dataclass(frozen=True, slots=True)
class Configure:
    """Change settings while the run goes on; what is absent stays."""

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
    """Drop every entry of a cache below `pos`."""

    name: ClassVar[str] = "invalidate_before"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.INVALIDATE_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    pos: BoundPosition


@dataclass(frozen=True, slots=True)
class InvalidateLedger:
    """Drop the entries of one ledger of a cache."""

    name: ClassVar[str] = "invalidate_ledger"
    level: ClassVar[str] = "manager"
    rule: ClassVar[Rule] = Rule.INVALIDATE_8
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Removed,)
    cache: CacheName
    ledger: LedgerBound


@dataclass(frozen=True, slots=True)
class RemoveCache:
    """Take a cache out of the manager; its name may come back."""

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
