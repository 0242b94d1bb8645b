"""Level `cursors`: the active-cursor container of one cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrycache_reference.pulsar_pip430 import outcomes
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import BoundPosition, CacheName, CursorName


@dataclass(frozen=True, slots=True)
class CursorAdd:
    """Make a cursor a member, tracked at `pos`; None: a member that is not tracked. A member only changes position."""

    name: ClassVar[str] = "cursor_add"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: BoundPosition | None


@dataclass(frozen=True, slots=True)
class CursorMove:
    """Move a member to `pos`; None untracks it; an unknown cursor is ignored."""

    name: ClassVar[str] = "cursor_move"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_3
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Done,)
    cache: CacheName
    cursor: CursorName
    pos: BoundPosition | None


@dataclass(frozen=True, slots=True)
class CursorRemove:
    """Take a member out; that restarts the grace period."""

    name: ClassVar[str] = "cursor_remove"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_5
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.CursorRemoved,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class CursorRank:
    """Ask how many tracked cursors stand at or before this one, itself included."""

    name: ClassVar[str] = "cursor_rank"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_7
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Ranked,)
    cache: CacheName
    cursor: CursorName


@dataclass(frozen=True, slots=True)
class Slowest:
    """Ask for the lowest tracked position."""

    name: ClassVar[str] = "slowest"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_9
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.SlowestAt,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class Cursors:
    """Ask for the number of members, tracked or not."""

    name: ClassVar[str] = "cursors"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_10
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Members,)
    cache: CacheName


@dataclass(frozen=True, slots=True)
class ShouldCache:
    """Ask whether an entry that is added now should be cached."""

    name: ClassVar[str] = "should_cache"
    level: ClassVar[str] = "cursors"
    rule: ClassVar[Rule] = Rule.CURSOR_11
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Wanted,)
    cache: CacheName
