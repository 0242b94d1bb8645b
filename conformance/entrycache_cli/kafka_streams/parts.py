"""What commands know of `kafka-streams`: its planted faults, and a broker that can be recorded."""

from __future__ import annotations

from typing import Final

from entrycache_cli.commands.kafka_recording import BROKER
from entrycache_cli.kafka_streams.faults import FAULTS
from entrycache_cli.parts import CliParts

KAFKA_STREAMS: Final = CliParts(
    faults=FAULTS,
    broker=BROKER,
)
