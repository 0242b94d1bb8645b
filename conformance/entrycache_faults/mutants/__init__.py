"""Mutants of the reference: one realistic error a rule, and every cell of the decision table flipped.

They show that a rule's own checks see that rule, and that they alone do. They are no subjects.
"""

from __future__ import annotations

from typing import Final

from entrycache_faults.mutants.cursors import CURSORS, OTHER_CURSORS
from entrycache_faults.mutants.entries import ENTRIES
from entrycache_faults.mutants.flips import REACHABLE, flips
from entrycache_faults.mutants.manager import MANAGER, OTHER_MANAGER
from entrycache_faults.mutants.mutant import Mutant, applied
from entrycache_faults.mutants.passes import OTHER_PASSES, PASSES
from entrycache_faults.mutants.reads import OTHER_READS, READS
from entrycache_faults.mutants.variants import VARIANTS

__all__ = ["MUTANTS", "OTHERS", "REACHABLE", "Mutant", "applied", "flips"]

MUTANTS: Final[tuple[Mutant, ...]] = (*ENTRIES, *PASSES, *MANAGER, *READS, *CURSORS, *VARIANTS)
"""One mutant a MUST."""

OTHERS: Final[tuple[Mutant, ...]] = (*OTHER_PASSES, *OTHER_MANAGER, *OTHER_READS, *OTHER_CURSORS)
"""Other ways to break a rule; a failure that answers like one of them is explained by its rule."""
