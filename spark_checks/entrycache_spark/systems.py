"""The systems whose traces are audited, each with its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_reference import kafka_streams, pulsar_legacy, pulsar_pip430, pulsar_segmented
from entrycache_spark.kafka_streams.parts import KAFKA_STREAMS
from entrycache_spark.parts import AuditParts
from entrycache_spark.pulsar_legacy.parts import PULSAR_LEGACY
from entrycache_spark.pulsar_pip430.parts import PULSAR_PIP430
from entrycache_spark.pulsar_segmented.parts import PULSAR_SEGMENTED

AUDITED: Final[Mapping[str, AuditParts]] = {
    pulsar_pip430.NAME: PULSAR_PIP430,
    kafka_streams.NAME: KAFKA_STREAMS,
    pulsar_legacy.NAME: PULSAR_LEGACY,
    pulsar_segmented.NAME: PULSAR_SEGMENTED,
}


def parts_of(system: str) -> AuditParts:
    """The parts of a system; those of the first one where the system is not audited."""
    return AUDITED.get(system, next(iter(AUDITED.values())))
