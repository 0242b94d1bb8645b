"""The systems whose references are changed: those of which something is shown besides what their laws see."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.systems import SHOWN
from entrycache_protocol.system import AnySystem

TRIED: Final = tuple(system for system in SYSTEMS.values() if system.name in SHOWN)


def package_of(system: AnySystem) -> str:
    """Where the reference of a system stands."""
    return str(system.model.step.__module__).rpartition(".")[0]


UNTRIED: Final = tuple(f"{package_of(system)}." for system in SYSTEMS.values() if system not in TRIED)
"""How the modules of all others begin."""
