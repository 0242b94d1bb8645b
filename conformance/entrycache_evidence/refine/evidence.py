"""What is shown of the fast caches: the worlds along which they refine the reference, each with a fault told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.explore.search import unhindered
from entrycache_evidence.obtained import Refinement
from entrycache_evidence.refine.walk import Fast, Refined, walk
from entrycache_evidence.together import Batch, Work

DEEPEST: Final = 4
"""Within so many steps a planted fault has to be told apart."""


class Refines(NamedTuple):
    """What is to be shown: a world, the fast cache, and one with a planted fault that the walk has to tell apart.

    `is_quick`: it is part of a pull request.
    """

    world: AnyWorld
    fast: Fast
    planted: Fast
    note: str
    is_quick: bool = False


Shown = tuple[list[Refinement], list[str]]
"""What was shown, and what failed."""


def refined(asked: Sequence[Refines]) -> Work[Shown]:
    """Walk all of these worlds."""
    found = (yield Batch("refinement", _one, asked[::-1]))[::-1]
    return [shown for shown, failure in found if not failure], [failure for _, failure in found if failure]


def _one(asked: Refines) -> tuple[Refinement, str]:
    """One world; the failure is empty where both walks end as they should."""
    world, name = asked.world, asked.world.parts().system.name
    with unhindered():
        right, wrong = walk(world, asked.fast), walk(world, asked.planted, DEEPEST)
    shown = Refinement(name, f"{world.told()}; {_reach(right, world)}", asked.note)
    if right.difference is not None:
        steps = len(right.difference.case.steps)
        return shown, f"{name}: the fast cache leaves the reference in {steps} steps of {world.name!r}: {_told(right)}"
    if wrong.difference is None:
        return shown, f"{name}: the planted fault is not told apart in {world.name!r}: {asked.note}"
    steps = len(wrong.difference.case.steps)
    return shown._replace(refuted_mutant=f"{asked.note} Told apart in {steps} {'step' if steps == 1 else 'steps'}."), ""


def _reach(found: Refined, world: AnyWorld) -> str:
    reach = "closed" if found.closed else f"up to {world.depth} steps"
    return f"{reach}, {found.states} states, {found.steps} transitions"


def _told(found: Refined) -> str:
    assert found.difference is not None
    steps = ", ".join(map(str, found.difference.case.steps))
    return f"{found.difference.what}; the steps: {steps}"
