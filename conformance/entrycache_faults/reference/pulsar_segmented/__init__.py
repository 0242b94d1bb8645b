"""Seeded faults of the reference of `pulsar-segmented`: one realistic error for each rule, and others.

`ring` holds them all, and their registry.
"""

from entrycache_faults.reference.pulsar_segmented import ring
from entrycache_faults.reference.pulsar_segmented.ring import SEEDED_FAULTS

__all__ = ["SEEDED_FAULTS", "ring"]
