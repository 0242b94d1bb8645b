"""What the commands ask of `kafka-streams`."""

from __future__ import annotations

from typing import Final

from entrycache_cli.kafka_streams.commands import share
from entrycache_cli.kafka_streams.java_test import JAVA
from entrycache_cli.parts import CliParts, Program, Traced
from entrycache_conformance.systems.kafka_streams.kept_promises import promises, to_keep

KAFKA_STREAMS: Final = CliParts(
    commands=(share.command,),
    java=JAVA,
    # The short trace of the workload does not come to these rules.
    traced=Traced("windowed-aggregation", frozenset({"K-CLOSE-1", "K-CLOSE-2", "K-RESIZE-2"}), ("local", "replay")),
    # A program plays on the caches, each step held to what is promised.
    campaigns={"promises": Program(promises, to_keep)},
)
