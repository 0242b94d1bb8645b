"""What the commands know of each system beside its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_cli.kafka_streams.parts import KAFKA_STREAMS
from entrycache_cli.parts import CliParts
from entrycache_cli.pulsar_legacy.parts import PULSAR_LEGACY
from entrycache_cli.pulsar_pip430.parts import PULSAR_PIP430
from entrycache_cli.pulsar_segmented.parts import PULSAR_SEGMENTED
from entrycache_reference import kafka_streams, pulsar_legacy, pulsar_pip430, pulsar_segmented

CLI_PARTS: Final[Mapping[str, CliParts]] = {
    pulsar_pip430.NAME: PULSAR_PIP430,
    kafka_streams.NAME: KAFKA_STREAMS,
    pulsar_segmented.NAME: PULSAR_SEGMENTED,
    pulsar_legacy.NAME: PULSAR_LEGACY,
}
