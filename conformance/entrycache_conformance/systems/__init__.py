"""The systems that are built, a folder each; this is the only list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_conformance.systems.kafka_streams.system import SYSTEM as KAFKA_STREAMS
from entrycache_conformance.systems.pulsar_legacy.system import SYSTEM as PULSAR_LEGACY
from entrycache_conformance.systems.pulsar_pip430.system import SYSTEM as PULSAR_PIP430
from entrycache_conformance.systems.pulsar_segmented.system import SYSTEM as PULSAR_SEGMENTED
from entrycache_protocol import system
from entrycache_protocol.system import AnySystem

SYSTEMS: Final[Mapping[str, AnySystem]] = {
    each.name: each
    for each in (
        PULSAR_PIP430,
        KAFKA_STREAMS,
        PULSAR_LEGACY,
        PULSAR_SEGMENTED,
    )
}
"""By name. What names no system means the first that has it."""


def system_named(name: str) -> AnySystem:
    """The system of that name.

    Raises:
        UsageError: no such system; the line names those that there are.
    """
    return system.system_named(name, SYSTEMS)
