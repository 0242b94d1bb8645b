"""Level `queue`: time, the two passes over the removal queue, counts of expected reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, Bytes, CacheName, EntryPosition, Nanos


@dataclass(frozen=True, slots=True)
class Advance:
    """Let virtual time pass."""

    name: ClassVar[str] = "advance"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.STATE_4
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
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
    """A delivery of the entry is done: one expected read fewer."""

    name: ClassVar[str] = "mark_read"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.COUNT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Counted,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class ExpectRead:
    """The entry will be delivered once more: one expected read more."""

    name: ClassVar[str] = "expect_read"
    level: ClassVar[str] = "queue"
    rule: ClassVar[Rule] = Rule.COUNT_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Counted,)
    cache: CacheName
    pos: EntryPosition
