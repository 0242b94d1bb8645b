"""The commands of `kafka-streams`."""

from __future__ import annotations

from typing import Final

from entrycache_cli.kafka_streams.commands import share
from entrycache_cli.kafka_streams.faults import FAULTS
from entrycache_cli.kafka_streams.recording import RECORDED
from entrycache_cli.parts import CliParts

KAFKA_STREAMS: Final = CliParts(
    faults=FAULTS,
    commands=(share.command,),
    broker=RECORDED,
)
