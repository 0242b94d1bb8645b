"""What a step of `toy` answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether the key is in the set now."""

    kept: bool


@dataclass(frozen=True, slots=True)
class Found:
    """Whether the key is in the set."""

    found: bool


Outcome = Kept | Found
