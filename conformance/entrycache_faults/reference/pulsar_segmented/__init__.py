"""Seeded faults of the reference of `pulsar-segmented`: one realistic error for each rule, and others.

Importing the modules of this folder enters their faults in the registry, in the order of the imports.
"""

from entrycache_faults.reference.pulsar_segmented import lookups, ring
from entrycache_faults.reference.pulsar_segmented.lookups import SEEDED_FAULTS

__all__ = ["SEEDED_FAULTS", "lookups", "ring"]
