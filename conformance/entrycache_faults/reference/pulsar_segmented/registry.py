"""The list of the planted faults, and the decorator that enters a function in it."""

from __future__ import annotations

from typing import Final

from entrycache_faults.seeded import FaultRegistry

SEEDED_FAULTS: Final = FaultRegistry("entrycache_reference.pulsar_segmented")

seeded_fault = SEEDED_FAULTS.register
