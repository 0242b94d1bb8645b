"""What the laws of several threads say of a history, whatever its system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from entrycache_reference.rules import Rule


class Event(NamedTuple):
    """One step of a history. `outcome` is its answer as the protocol writes it, with the calls made during it."""

    client: int
    step: int
    op: Any
    start: int
    end: int
    outcome: Mapping[str, Any]


class Break(NamedTuple):
    """A promise that was not kept: in words, and the step at which it shows, if it is one step's."""

    said: str
    event: Event | None = None


class Judged(NamedTuple):
    """What the laws say of a history.

    `broken`: every rule that is broken, with what shows it; `fired`: the rules that were asked; `undecided`: why a
    rule that should have been asked was not, in words.
    """

    broken: tuple[tuple[Rule, Break], ...]
    fired: frozenset[Rule]
    undecided: str = ""
