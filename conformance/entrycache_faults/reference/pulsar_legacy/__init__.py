"""Seeded faults of the reference of `pulsar-legacy`: one realistic error for each rule, and others.

`SEEDED_FAULTS` is complete once this package is imported. `passes.SUBJECTS` has the public names of faults that are
subjects.
"""

from entrycache_faults.reference.pulsar_legacy import entries, passes
from entrycache_faults.reference.pulsar_legacy.entries import SEEDED_FAULTS

__all__ = ["SEEDED_FAULTS", "entries", "passes"]
