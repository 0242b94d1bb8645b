"""At which level a rule is met first, and in which operations it fires: found by running the reference alone."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.generate import make_case
from entrycache_conformance.subjects.reference import reference
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

SCOUT_CASES: Final = 200
"""Seeded cases of each level, made with every operation up to it."""


class Met(NamedTuple):
    """The first level that meets a rule, and the operations whose steps it fires in, in the order of the system."""

    level: str
    ops: tuple[str, ...]


_FOUND: dict[str, Mapping[str, Met]] = {}


def rule_levels(system: AnySystem) -> Mapping[str, Met]:
    """Every rule that seeded cases meet, and those of threads; others fire under a variant only, or by rare chance."""
    if system.name not in _FOUND:
        found = {}
        for level in system.levels:
            for rule, ops in _fired(system, level).items():
                if rule.value not in found:
                    found[rule.value] = Met(level, tuple(name for name in system.ops if name in ops))
        for rule in () if system.histories is None else system.histories.rules:
            found.setdefault(rule.value, Met(LEVEL, ()))
        _FOUND[system.name] = MappingProxyType(found)
    return _FOUND[system.name]


def _fired(system: AnySystem, level: str) -> dict[Rule, set[str]]:
    """The rules that fire in cases of a level, with the operations in whose steps they do."""
    declaration = reference(system).declaration
    menu = system.cases.menu(list(system.ops_up_to(level)), level)
    source = random.Random(0)
    fired: dict[Rule, set[str]] = {}
    for _ in range(SCOUT_CASES):
        made = make_case(source.randint, declaration, menu, None)
        state = system.model.initial(made.case.config)
        for op, done in zip(made.case.steps, made.steps, strict=True):
            counts: dict[Rule, int] = {}
            system.laws.broken(made.case.config, state, op, done, counts)
            state = done.state
            for rule, count in counts.items():
                if count:
                    fired.setdefault(rule, set()).add(type(op).name)
    return fired


def up_to(system: AnySystem, level: str, rules: Iterable[Rule]) -> list[Rule]:
    """Those of the rules that are not met first at a level above this one."""
    levels, found = list(system.levels), rule_levels(system)
    above = set(levels[levels.index(level) + 1 :])
    return [rule for rule in rules if rule.value not in found or found[rule.value].level not in above]


def levels_with(system: AnySystem, rules: Iterable[str]) -> tuple[str, ...]:
    """The levels of a system at which one of these rules can be met.

    Raises:
        UsageError: one of them is no rule of the system, or no run meets it.
    """
    known, found = {rule.value for rule in system.laws.rules}, rule_levels(system)
    first = []
    for rule in rules:
        if rule not in known:
            raise UsageError(f"{system.name} has no rule {rule!r}; conform --list names them")
        if rule not in found:
            raise UsageError(f"no run of the norm meets {rule}: it is a rule of a variant; give other rules")
        first.append(found[rule].level)
    at = [system.levels.index(level) for level in first if level != LEVEL]
    threads = (LEVEL,) if LEVEL in first else ()
    return (*(system.levels[min(at) :] if at else ()), *threads)
