"""Planted faults of the reference of `pulsar-legacy`: one realistic error a rule, and others.

The system has no fast cache: those about what comes in, what leaves and when are subjects, in the place of one.
"""

from __future__ import annotations

from typing import Any, Final

from entrycache_faults.reference.pulsar_legacy import entries, passes, registry
from entrycache_faults.reference.pulsar_legacy.registry import SEEDED_FAULTS
from entrycache_faults.seeded import Fault

FAMILIES: Final = ("INSERT", "TRIGGER", "EVICT", "EXPIRE", "READ")
"""The families whose faults are subjects."""


def name_of(fault: Fault) -> str:
    """What a fault is called as a subject: its function's name."""
    function: Any = next(iter(fault.replaced.values()))
    return f"legacy-{function.__name__.replace('_', '-')}"


FAULTS: Final[dict[str, Fault]] = {
    name_of(fault): fault
    for fault in SEEDED_FAULTS
    if fault.rule.value.split("-")[1] in FAMILIES and fault.theme in {"entries", "manager", "passes"}
}
"""Those that are subjects, by name; `cases` holds a case of the same name for each."""

__all__ = ["FAULTS", "SEEDED_FAULTS", "entries", "manager", "passes", "released"]
