"""What a run must at least meet before it may say that a subject conforms."""

from __future__ import annotations

import dataclasses
import random
from typing import Final

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.profiles import Profile
from entrycache_protocol.declaration import Declaration
from entrycache_reference.rules import Rule

SCOUT_CASES: Final = 1_500
"""Cases that tell what is reachable with a part of the operations or of the configuration."""


def reachable(
    declaration: Declaration, level: str, profile: Profile, all_levels: bool = True
) -> tuple[list[Rule], list[str]]:
    """The rules and cells that a run at this level can meet with what the subject declares.

    With every operation and setting declared, nothing fixed and no variant that is all of them, where all levels
    are played. Else a scout tells: seeded cases of the same generator on the reference alone. What it meets less
    than six times (a cell: twelve times) as often as the profile's least is left to chance and not asked for: the
    cases of Hypothesis are less even than seeded ones.
    """
    system = declaration.system
    if all_levels and level == system.levels[-1] and _offers_everything(declaration):
        asked = [rule for rule in system.laws.rules if rule not in system.laws.of_variants]
        return asked, list(system.laws.cells)
    scouted = _scout(declaration, level)
    share = SCOUT_CASES / profile.examples
    rule_often, cell_often = 6 * profile.rule_minimum * share, 12 * profile.cell_minimum * share
    rules = [rule for rule in system.laws.rules if scouted.fired.get(rule, 0) >= rule_often]
    return rules, [cell for cell in system.laws.cells if scouted.cells.get(cell, 0) >= cell_often]


def _offers_everything(declaration: Declaration) -> bool:
    system = declaration.system
    settings = [
        field.name for field in dataclasses.fields(system.model.config) if field.name not in system.cases.unvaried
    ]
    norm = declaration.variants in {None, system.model.variants()} and not declaration.limits.keeps_rules_out
    return norm and system.ops.keys() <= declaration.ops and all(declaration.varies(key) for key in settings)


def _scout(declaration: Declaration, level: str) -> Coverage:
    """What seeded cases of this level meet on the reference alone."""
    system = declaration.system
    source = random.Random(0)
    scouted = Coverage()
    menu = system.cases.menu([name for name in system.ops_up_to(level) if name in declaration.ops], level)
    for _ in range(SCOUT_CASES):
        make_case(source.randint, declaration, menu, scouted)
    return scouted


def met_too_seldom(
    declaration: Declaration, level: str, profile: Profile, all_levels: bool, coverage: Coverage
) -> list[str]:
    """The rules and cells that a run has met less often than it must; that is anything where it asks for none."""
    rules, cells = reachable(declaration, level, profile, all_levels)
    few = [rule.value for rule in rules if coverage.fired.get(rule, 0) < profile.rule_minimum]
    few += [cell for cell in cells if coverage.cells.get(cell, 0) < profile.cell_minimum]
    return few if rules else ["any rule: so short a run checks nothing"]
