"""Seeded faults of the reference of `pulsar-legacy`: one realistic error for each rule, and others.

`SEEDED_FAULTS` is complete once this package is imported. Faults that are subjects have public names in `subjects`.
"""

from entrycache_faults.reference.pulsar_legacy import entries, passes
from entrycache_faults.reference.pulsar_legacy.entries import SEEDED_FAULTS

__all__ = ["SEEDED_FAULTS", "entries", "passes"]
