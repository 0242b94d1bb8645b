"""System `kafka-streams`: the record cache of a stream thread in Apache Kafka Streams."""

from __future__ import annotations

from entrycache_reference.kafka_streams.config import Config, Variants
from entrycache_reference.kafka_streams.state import Row, State, Step, initial
from entrycache_reference.kafka_streams.step import step

NAME = "kafka-streams"

__all__ = ["NAME", "Config", "Row", "State", "Step", "Variants", "initial", "step"]
