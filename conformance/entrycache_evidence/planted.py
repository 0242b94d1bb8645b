"""The planted faults of the references of all systems."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.planted import Fault

OWN: Final[tuple[Fault, ...]] = tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.own)
"""One a rule."""

OTHERS: Final[tuple[Fault, ...]] = tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.others)
"""Other ways to break some."""

FAULT_OF: Final = {fault.rule: fault for fault in OWN}
"""That of each rule that has one."""


def flips() -> tuple[Fault, ...]:
    """Those that are derived from decision tables."""
    return tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.flips())
