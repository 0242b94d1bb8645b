"""The levels that a run judges: those that were asked for, or all that a subject offers something of."""

from __future__ import annotations

from collections.abc import Sequence

from entrycache_conformance.concurrent.level import LEVEL, offers
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import AnySystem


def asked_levels(declaration: Declaration, levels: Sequence[str]) -> tuple[str, ...]:
    """These levels in the order of the system; none: the levels that the subject offers.

    Raises:
        UsageError: the system has no such level.
    """
    known = known_levels(declaration.system)
    unknown = [level for level in levels if level not in known]
    if unknown:
        raise UsageError(f"unknown level {unknown[0]!r}; expected one of: {', '.join(known)}")
    return tuple(level for level in known if level in levels) if levels else _default_levels(declaration)


def _default_levels(declaration: Declaration) -> tuple[str, ...]:
    """All levels with a declared operation of their own; where there is none, all levels, to say so."""
    system = declaration.system
    levels = tuple(level for level in system.levels if system.own_ops(level) & declaration.ops) or system.levels
    return (*levels, LEVEL) if offers(declaration) else levels


def known_levels(system: AnySystem) -> tuple[str, ...]:
    """Every level of a system."""
    return (*system.levels, LEVEL) if system.histories is not None else system.levels
