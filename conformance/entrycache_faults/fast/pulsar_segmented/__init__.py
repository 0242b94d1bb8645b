"""Planted faults of the fast cache of `pulsar-segmented`, each in one small method; `cases` shows the proof of each.

Most of them are what the unmerged branch of PIP-174 does, or what its review warned of.
"""

from __future__ import annotations

from typing import Final

from entrycache_fast.segmented import SegmentedCache
from entrycache_faults.fast.pulsar_segmented.lookups import LOOKUPS
from entrycache_faults.fast.pulsar_segmented.ring import RING

__all__ = ["FAULTS"]

FAULTS: Final[dict[str, type[SegmentedCache]]] = dict(sorted({**RING, **LOOKUPS}.items()))
"""The faults by name; `cases` holds a case of the same name for each."""
