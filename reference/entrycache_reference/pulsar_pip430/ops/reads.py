"""Level `reads`: reads through the cache, with fills from storage and deliveries in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, EntryPosition, HoldName, Reads


@dataclass(frozen=True, slots=True)
class Read:
    """Read a range through the cache: what is cached is served, each gap is read from storage and may be cached.

    `expected_reads` is the count that the fills carry, not above 0: they are not cached. `hold` names what was
    read until `release`; without it all is released when the step ends.
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
    """Read one position through the cache; what storage answers is never cached."""

    name: ClassVar[str] = "read_one"
    level: ClassVar[str] = "reads"
    rule: ClassVar[Rule] = Rule.READ_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Served,)
    cache: CacheName
    pos: EntryPosition
    hold: HoldName | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Release:
    """Release what a read has held: each entry was delivered once."""

    name: ClassVar[str] = "release"
    level: ClassVar[str] = "reads"
    rule: ClassVar[Rule] = Rule.COUNT_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Released,)
    hold: HoldName
