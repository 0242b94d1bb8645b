"""Seeded faults of the reference of `pulsar-pip430`: a realistic error for each rule, and every flipped table cell.

They show that the checks of a rule see its fault and that no other rule's checks do. A subject that answers like one of
these faulty references has broken the rule of that fault. Importing this package enters all faults in `SEEDED_FAULTS`.
The docstring of a fault is the sentence that pages and reports print.
"""

from entrycache_faults.reference.pulsar_pip430 import cursors, entries, manager, passes, storage_reads
from entrycache_faults.reference.pulsar_pip430.registry import REACHABLE, SEEDED_FAULTS, decision_flips

__all__ = [
    "REACHABLE",
    "SEEDED_FAULTS",
    "cursors",
    "decision_flips",
    "entries",
    "manager",
    "passes",
    "state",
    "storage_reads",
    "variants",
]
