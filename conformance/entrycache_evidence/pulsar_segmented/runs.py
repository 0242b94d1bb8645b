"""Runs of `pulsar-segmented` on which its rules' own checks are tried: random ones, by the norm and by each variant."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from entrycache_conformance.generate import make_case
from entrycache_conformance.subjects.reference import has_payload
from entrycache_conformance.systems.pulsar_segmented.system import SYSTEM
from entrycache_conformance.systems.pulsar_segmented.themes import Theme
from entrycache_evidence.pulsar_segmented.worlds import BRANCH, VARIANTS
from entrycache_protocol.declaration import Declaration
from entrycache_reference.pulsar_segmented import Config, Variants

SEED: Final = 174
CASES: Final = 120
VARIANT_CASES: Final = 12
STEPS: Final = 30
THEMES: Final = (Theme.DEFAULT, Theme.SMALL_KEYS, Theme.TURNS, Theme.RANGES)


def runs() -> Iterator[tuple[Config, tuple[Any, ...]]]:
    """The same runs every time."""
    source = random.Random(SEED)
    for variants, cases in (
        (Variants(), CASES),
        *((one.config.variants, VARIANT_CASES) for one in (*VARIANTS, BRANCH)),
    ):
        declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops), variants=variants, payload=has_payload(SYSTEM))
        for number in range(cases):
            theme = THEMES[number % len(THEMES)]
            menu = SYSTEM.cases.menu(SYSTEM.ops)
            case = make_case(source.randint, declaration, menu, None, STEPS, theme=theme).case
            yield case.config, case.steps
