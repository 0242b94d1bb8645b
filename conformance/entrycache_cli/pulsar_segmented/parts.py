"""The planted faults of `pulsar-segmented` on the page of faults; it has no other command, and no jar."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import CliParts, FaultsPart
from entrycache_faults.fast.pulsar_segmented.lookups import LOOKUPS
from entrycache_faults.fast.pulsar_segmented.ring import RING

PULSAR_SEGMENTED: Final = CliParts(
    faults=FaultsPart(
        groups={
            "Pulsar's proposed segments, the ring": (RING, "all"),
            "Pulsar's proposed segments, lookups": (LOOKUPS, "all"),
        },
        level_of=lambda case: "all",
        changed="",
        changes={},
    )
)
