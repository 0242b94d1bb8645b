"""Planted faults of the reference of `pulsar-segmented`: one realistic error a rule, and other ways to break some."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_segmented import lookups, ring, segments, variants
from entrycache_faults.reference.pulsar_segmented.planted import PLANTED

__all__ = ["PLANTED", "lookups", "ring", "segments", "variants"]
