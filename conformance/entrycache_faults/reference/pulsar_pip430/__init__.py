"""Planted faults of the reference of `pulsar-pip430`: one realistic error a rule, and every cell of its table flipped.

They show that a rule's own checks see that rule, and that they alone do; and a subject that answers as one of them
does has broken its rule. They are no subjects.
"""

from __future__ import annotations

from entrycache_faults.reference.pulsar_pip430 import cursors, entries, manager, passes, released, storage_reads
from entrycache_faults.reference.pulsar_pip430.registry import REACHABLE, SEEDED_FAULTS, decision_flips

__all__ = [
    "SEEDED_FAULTS",
    "REACHABLE",
    "cursors",
    "entries",
    "decision_flips",
    "manager",
    "passes",
    "released",
    "state",
    "storage_reads",
    "variants",
]
