"""Planted faults of the reference of `pulsar-legacy`: one realistic error a rule, and others; they are subjects too."""

from __future__ import annotations

from entrycache_faults.reference.pulsar_legacy import entries, manager, passes
from entrycache_faults.reference.pulsar_legacy.planted import PLANTED

__all__ = ["PLANTED", "entries", "manager", "passes"]
