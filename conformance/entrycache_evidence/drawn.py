"""Seeded cases for the laws: every level, theme and reading, as they are drawn, and stretched."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from entrycache_conformance.generate import Made, make_case
from entrycache_conformance.judge import Coverage
from entrycache_evidence.stretched import stretched
from entrycache_evidence.variants import some
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import even
from entrycache_protocol.in_process import own_subject
from entrycache_protocol.system import AnySystem

SEED: Final = 16

DRAWN: Final = 160
STRETCHED: Final = 240
STRETCHED_FIRST: Final = 64
"""How many cases are judged as they are drawn, how many others stretched, and how many of those in a pull request."""


def drawn(
    system: AnySystem, number: int, coverage: Coverage | None, fast: bool = False
) -> Iterator[tuple[Declaration, Made]]:
    """Cases one after another: a level, a theme; every third one under other readings, where nothing is compared."""
    themes = _themes(system)
    offered = own_subject("fast", system, system.fast).declaration if fast and system.fast else None
    for at in range(number):
        source = random.Random(f"{SEED} {at}")
        level = system.levels[-1 - at % len(system.levels)]
        variants = some(system.model.variants(), source) if at % 3 == 2 and not fast else system.model.variants()
        declaration = offered or _declared(system, variants)
        menu = system.cases.menu(system.ops_up_to(level), level)
        theme = themes[at // len(system.levels) % len(themes)]
        yield declaration, make_case(even(source), declaration, menu, coverage, theme=theme)


def far(system: AnySystem, number: int = STRETCHED) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Drawn cases of the whole menu, every second one under other readings, each stretched.

    Ids, names, sizes, times and lengths are of another magnitude, and steps are taken with many entries where there was
    one.
    """
    themes = _themes(system)
    level = system.levels[-1]
    menu = system.cases.menu(system.ops_up_to(level), level)
    for at in range(number):
        source = random.Random(f"{SEED} far {at}")
        variants = some(system.model.variants(), source) if at % 2 else system.model.variants()
        made = make_case(even(source), _declared(system, variants), menu, None, theme=themes[at // 2 % len(themes)])
        yield stretched(made.case.config, made.case.steps, source)


def _themes(system: AnySystem) -> list[Any]:
    """None, and all but those of long runs."""
    return [None, *(theme for name, theme in system.cases.themes.items() if not name.startswith("long"))]


def _declared(system: AnySystem, variants: Any) -> Declaration:
    """A subject that has every operation and setting."""
    return Declaration(system, frozenset(system.ops), None, {}, variants, system.wire.introspection, payload=True)
