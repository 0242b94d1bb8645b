"""What a check says of who was held to it, and what several of them say together."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Verdict(Enum):
    """It conforms, it violates, or nothing was checked; `exit_code` is what a command ends with."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    NOTHING_CHECKED = "nothing-checked"

    @property
    def exit_code(self) -> int:
        """0 fine, 1 violations, 2 nothing was checked."""
        return {Verdict.CONFORMS: 0, Verdict.VIOLATES: 1, Verdict.NOTHING_CHECKED: 2}[self]


def of(parts: Iterable[Verdict]) -> Verdict:
    """The verdict of several: one violation is enough; it conforms where there are some and all of them do."""
    found = set(parts)
    if Verdict.VIOLATES in found:
        return Verdict.VIOLATES
    return Verdict.CONFORMS if found == {Verdict.CONFORMS} else Verdict.NOTHING_CHECKED


def worst(parts: Iterable[Verdict]) -> Verdict:
    """The verdict of one thing judged in several places: it conforms where it does in one, and violates in none."""
    found = set(parts)
    return next((one for one in (Verdict.VIOLATES, Verdict.CONFORMS) if one in found), Verdict.NOTHING_CHECKED)
