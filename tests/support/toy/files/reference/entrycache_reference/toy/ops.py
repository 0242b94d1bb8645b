"""The operations of `toy`, one frozen dataclass each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from entrycache_reference.rules import Rule
from entrycache_reference.toy import outcomes


@dataclass(frozen=True, slots=True)
class Put:
    """Bring in a key."""

    name: ClassVar[str] = "put"
    level: ClassVar[str] = "set"
    rule: ClassVar[Rule] = Rule.T_PUT_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Kept,)
    key: str


@dataclass(frozen=True, slots=True)
class Has:
    """Ask for a key."""

    name: ClassVar[str] = "has"
    level: ClassVar[str] = "set"
    rule: ClassVar[Rule] = Rule.T_HAS_1
    answers: ClassVar[tuple[type[outcomes.Outcome], ...]] = (outcomes.Found,)
    key: str


Op = Put | Has

LEVELS: Final = ("set",)
"""The only level."""

OPS: Final[tuple[type[Op], ...]] = (Put, Has)
"""Every operation."""
