"""The families of released jars that there is an adapter for."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.java.families.kafka_streams import KAFKA_STREAMS
from entrycache_conformance.java.families.pulsar import PULSAR
from entrycache_conformance.java.family import Family

FAMILIES: Final[dict[str, Family]] = {family.name: family for family in (PULSAR, KAFKA_STREAMS)}
"""By the name of a subject before its colon."""
