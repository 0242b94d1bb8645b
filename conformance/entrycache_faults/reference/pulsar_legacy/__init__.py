"""Seeded faults of the reference of `pulsar-legacy`: one realistic error for each rule, and others.

The system has no fast cache. The faults of inserts, triggers, passes and reads are subjects instead.
"""

from __future__ import annotations

from typing import Any, Final

from entrycache_faults.reference.pulsar_legacy import entries, passes, registry
from entrycache_faults.reference.pulsar_legacy.registry import SEEDED_FAULTS
from entrycache_faults.seeded import Fault

FAMILIES: Final = ("INSERT", "TRIGGER", "EVICT", "EXPIRE", "READ")
"""The families whose faults are subjects."""


def name_of(fault: Fault) -> str:
    """Return the name of a fault as a subject, derived from its function."""
    function: Any = next(iter(fault.replaced.values()))
    return f"legacy-{function.__name__.replace('_', '-')}"


FAULTS: Final[dict[str, Fault]] = {
    name_of(fault): fault
    for fault in SEEDED_FAULTS
    if fault.rule.value.split("-")[1] in FAMILIES and fault.theme in {"entries", "passes"}
}
"""The faults that are subjects, by name; `cases` holds a case of the same name for each."""

__all__ = ["FAULTS", "SEEDED_FAULTS", "entries", "passes", "registry"]
