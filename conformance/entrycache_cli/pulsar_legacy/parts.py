"""The commands of `pulsar-legacy`: it has none of its own, and planted faults on the page of faults."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import CliParts, FaultsPart
from entrycache_dev.changed_jars import PULSAR_LEGACY_CHANGES
from entrycache_faults.reference.pulsar_legacy.subjects import SUBJECTS

PULSAR_LEGACY: Final = CliParts(
    faults=FaultsPart(
        groups={"Pulsar 4.0 and before": (SUBJECTS, "all")},
        level_of=lambda case: "all",
        of="the reference",
        changed="the released Pulsar 4.0.8 with one changed instruction each",
        changes=PULSAR_LEGACY_CHANGES,
    ),
)
