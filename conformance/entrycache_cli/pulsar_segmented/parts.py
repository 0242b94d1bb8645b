"""The planted faults of `pulsar-segmented` on the page of faults; it has no other command, and no jar."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import CliParts, FaultsPart
from entrycache_faults.fast import pulsar_segmented as fast
from entrycache_faults.reference.pulsar_segmented import subjects

PULSAR_SEGMENTED: Final = CliParts(
    faults=FaultsPart(
        groups={
            "Pulsar's proposed segments, the ring": (subjects.RING, "all"),
            "Pulsar's proposed segments, lookups": ((*subjects.LOOKUPS, *fast.LOOKUPS), "all"),
        },
        level_of=lambda case: "all",
        changed="",
        changes={},
    )
)
