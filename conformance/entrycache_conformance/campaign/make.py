"""Making the runs of a campaign: cases of the generator, most of them without looking at the laws."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from entrycache_conformance.campaign.played import Run
from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import even
from entrycache_protocol.system import AnySystem
from entrycache_protocol.wire import run_line

REMEMBERED: Final = 200_000
"""So many outcomes are kept with their JSON; most outcomes are small and come again."""

_REMEMBERED: dict[Any, dict[str, Any]] = {}


def make_run(
    declaration: Declaration,
    menu: Sequence[str],
    theme: Any,
    seed: str,
    steps: int,
    coverage: Coverage | None,
) -> Run:
    """A run of that many steps; with `coverage` every law is looked at after every step.

    `theme` is one of the system's.
    """
    made = make_case(even(random.Random(seed)), declaration, menu, coverage, steps, theme)
    outcomes = tuple(done.outcome for done in made.steps)
    shown = [_json(declaration.system, outcome) for outcome in outcomes]
    return Run(made.case, run_line(made.case, 0, declaration), outcomes, shown)


def _json(system: AnySystem, outcome: Any) -> dict[str, Any]:
    try:
        known: dict[str, Any] | None = _REMEMBERED.get((type(outcome), outcome))
    except TypeError:  # what `observe` shows holds mappings
        return system.wire.write_outcome(outcome)
    if known is None:
        known = system.wire.write_outcome(outcome)
        if len(_REMEMBERED) < REMEMBERED:
            _REMEMBERED[type(outcome), outcome] = known
    return known
