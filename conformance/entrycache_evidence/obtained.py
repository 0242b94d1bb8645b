"""What a run obtains for a rule and of a fast cache, how good it is, and who hears how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from entrycache_reference.rules import Rule

GRADES: Final = ("modelled", "confirmed", "exhausted", "proved")
"""From the weakest to the strongest; a part of the command obtains each."""


class Evidence(NamedTuple):
    """One thing that was shown about a rule, within which bounds, and a planted error that the same check refutes."""

    rule: Rule
    grade: str
    bounds: str
    refuted_mutant: str


Result = tuple[list[Evidence], list[str]]
"""What was shown, and what failed."""

Told = Callable[[str, int, int], None]
"""Hears what is under way, how much of it is done, and how much there is."""


def nobody(what: str, done: int, of: int) -> None:
    """Nobody wants to hear it."""


class Refinement(NamedTuple):
    """One world along which the fast cache of a system refines the reference, and the fault that it tells apart."""

    system: str
    bounds: str
    refuted_mutant: str


class Proof(NamedTuple):
    """All that one run obtained; `failures` are lines for a person, `skipped` pairs of a part and a reason.

    `left_out` are the parts that its profile does not ask for; `refinements` is about the fast caches.
    """

    evidence: list[Evidence]
    failures: list[str]
    skipped: list[tuple[str, str]]
    left_out: tuple[str, ...] = ()
    refinements: Sequence[Refinement] = ()
