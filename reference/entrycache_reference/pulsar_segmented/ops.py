"""The operations of `pulsar-segmented`: one frozen dataclass for each.

Schemas, generators and tables come from their fields. Each class names its operation, its level, its rule, and the
shapes of its answers.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from entrycache_reference.pulsar_segmented import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, BoundPosition, Bytes, CacheName, EntryPosition, Token


@dataclass(frozen=True, slots=True)
class Insert:
    """Offer one entry of `size` bytes of a managed ledger's cache to the ring."""

    name: ClassVar[str] = "insert"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.S_INSERT_1
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
    rule: ClassVar[Rule] = Rule.S_GET_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hit,)
    cache: CacheName
    pos: EntryPosition


@dataclass(frozen=True, slots=True)
class GetRange:
    """Look up the entries from `first` to `last`, both included: all of them, or none."""

    name: ClassVar[str] = "get_range"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.S_RANGE_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Hits,)
    cache: CacheName
    first: BoundPosition
    last: BoundPosition


@dataclass(frozen=True, slots=True)
class Usage:
    """Ask for the entries and bytes of all segments."""

    name: ClassVar[str] = "usage"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.S_USAGE_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Usage,)


@dataclass(frozen=True, slots=True)
class Observe:
    """Show the whole ring."""

    name: ClassVar[str] = "observe"
    level: ClassVar[str] = "all"
    rule: ClassVar[Rule] = Rule.S_STATE_2
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Observed,)


Op = Insert | Get | GetRange | Usage | Observe

LEVELS: Final = ("all",)
"""The only level."""

OPS: Final[tuple[type[Op], ...]] = (Insert, Get, GetRange, Usage, Observe)
"""Every operation."""
