"""Accounted sizes: what an entry counts, byte for byte.

Beside: LRUCacheEntry, NamedCache.LRUNode.size, ProcessorRecordContext.residentMemorySizeEstimate (kafka-streams 4.3.1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from entrycache_reference.kafka_streams.ops import Header
from entrycache_reference.rules import Rule, rule

FLAG_BYTES: Final = 1
TIMESTAMP_BYTES: Final = 8
OFFSET_BYTES: Final = 8
PARTITION_BYTES: Final = 4
REFERENCES_BYTES: Final = 24
"""Three references of the list of use."""


def utf8_bytes(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def utf16_units(text: str) -> int:
    """The code units of a text in UTF-16: what the released code counts for names of headers and topics."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@rule(Rule.K_SIZE_1)
def size_bytes(key: str, value: str | None, topic: str, headers: Sequence[Header]) -> int:
    """What one entry counts: its key, its value (a tombstone: 0), its context, and its place in the cache."""
    of_headers = sum(utf16_units(name) + utf8_bytes(content) for name, content in headers)
    of_value = 0 if value is None else utf8_bytes(value)
    context = TIMESTAMP_BYTES + OFFSET_BYTES + utf16_units(topic) + PARTITION_BYTES + of_headers
    return utf8_bytes(key) + REFERENCES_BYTES + FLAG_BYTES + of_value + context


def in_order(keys: Sequence[str]) -> tuple[str, ...]:
    """Keys in the order of their bytes."""
    return tuple(sorted(keys, key=lambda key: key.encode("utf-8", "surrogatepass")))
