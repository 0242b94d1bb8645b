"""What the runner keeps out, because a subject cannot take it: the limits of a declaration."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeVar

from entrycache_protocol.errors import BrokenSubject

MAX_SIZE_BYTES: Final = 2**31 - 1


def at_least(bound: int, default: int | None) -> Any:
    """A field of a limit that is a number of that much or more."""
    return field(default=default, metadata={"least": bound})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that every system has; a system adds its own.

    `max_steps` of a run, `max_size` of an entry. `threads`: the most clients of a history; 1, the default, means
    that the subject takes no histories.
    """

    max_steps: int | None = at_least(1, None)
    max_size: int = at_least(0, MAX_SIZE_BYTES)
    threads: int = at_least(1, 1)

    @property
    def keeps_rules_out(self) -> bool:
        """Whether some rule can hardly be met within these limits."""
        return False

    def lifted(self) -> Self:
        """These limits but for those without which a subject still answers."""
        return dataclasses.replace(self, max_steps=None)

    def narrowest(self, other: Self) -> Self:
        """What both take."""
        values: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            both = getattr(self, each.name), getattr(other, each.name)
            values[each.name] = min((value for value in both if value is not None), default=None)
        return type(self)(**values)


Own = TypeVar("Own", bound=Limits)


def read_limits(kind: type[Own], given: dict[str, Any]) -> Own:
    """The limits that the system knows; others are passed over, as a later suite may know them.

    Raises:
        BrokenSubject: one of them has the wrong type, or is too small.
    """
    values: dict[str, Any] = {}
    for limit in dataclasses.fields(kind):
        value = given.get(limit.name, limit.default)
        bound = limit.metadata.get("least")
        if value is not limit.default and bound is None and type(value) is not bool:
            raise BrokenSubject(f"the subject's start answer: limits.{limit.name} is not bool: {value!r}")
        if value is not limit.default and bound is not None and (type(value) is not int or value < bound):
            expected = f"expected an integer of {bound} or more"
            raise BrokenSubject(f"the subject's start answer: limits.{limit.name} is {value!r}, {expected}")
        values[limit.name] = value
    return kind(**values)
