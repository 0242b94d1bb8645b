"""The planted faults of `kafka-streams` on the page of faults."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import FaultsPart
from entrycache_dev.changed_jars import KAFKA_STREAMS_CHANGES
from entrycache_faults.fast import kafka_streams as fast
from entrycache_faults.reference.kafka_streams import subjects

FAULTS: Final = FaultsPart(
    groups={
        "Kafka Streams, level cache": ((*subjects.CACHE, *fast.CACHE), "cache"),
        "Kafka Streams, level store": (subjects.STORE, "store"),
    },
    level_of=lambda case: "cache",
    changed="the released Kafka Streams 4.3.1 with one changed place each",
    changes=KAFKA_STREAMS_CHANGES,
)
