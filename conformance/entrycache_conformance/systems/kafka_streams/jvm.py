"""The released jars of Kafka Streams."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.kafka_streams.java_text import JAVA
from entrycache_protocol.family import Family

KAFKA_STREAMS: Final = Family(
    name="kafka-streams",
    title="Kafka Streams",
    system="kafka-streams",
    coordinates="org.apache.kafka:kafka-streams",
    main="org.apache.kafka.streams.state.internals.KafkaStreamsDriver",
    modules=("protocol",),
    text=JAVA,
)
