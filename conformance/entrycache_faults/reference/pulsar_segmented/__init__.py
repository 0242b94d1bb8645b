"""Planted faults of the reference of `pulsar-segmented`: one realistic error a rule, and other ways to break some."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_segmented import lookups, ring
from entrycache_faults.reference.pulsar_segmented.registry import SEEDED_FAULTS

__all__ = ["SEEDED_FAULTS", "lookups", "ring"]
