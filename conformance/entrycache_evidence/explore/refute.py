"""Looking for a shortest counterexample to a planted fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from entrycache_evidence.explore.parts import AnyWorld, within
from entrycache_evidence.explore.search import Counterexample, breaks, deeper, unhindered
from entrycache_faults.planted import Fault

DEEPEST: Final = 6
"""How deep a fault is looked for: worlds are too large to exhaust each with each fault."""


class Refutation(NamedTuple):
    """A mutant, the world in which it was caught, and the shortest sequence there that breaks its rule's law."""

    mutant: Fault
    world: AnyWorld
    counterexample: Counterexample


def shallowest(mutant: Fault, worlds: Sequence[AnyWorld]) -> Refutation | None:
    """The shortest counterexample in any of these worlds, looked for one step deeper at a time in all of them.

    It counts only if it breaks the law from the empty state too, as a case.
    """
    with unhindered():
        going = [(world, deeper(within(world, DEEPEST), only=mutant.rule, model=mutant.model)) for world in worlds]
        for _ in range(DEEPEST):
            for world, exploration in going:
                seen = next(exploration, None)
                found = None if seen is None else seen.counterexample
                if found is not None and mutant.rule in breaks(found.case, mutant.model):
                    return Refutation(mutant, world, found)
    return None
