"""entrycache_fast: fast caches of message brokers in plain Python.

`BrokerCache` keeps the entries of many managed ledgers under one limit of bytes and removes the oldest first. It keeps
entries longer that were read a moment ago, or that readers are expected to ask for. These are the rules of Pulsar since
PIP-430. It needs only the standard library.

    >>> from entrycache_fast import BrokerCache
    >>> cache = BrokerCache(max_size_bytes=100)
    >>> cache.insert("orders", 1, 0, 60, value=b"hello")
    True
    >>> cache.get("orders", 1, 0)
    b'hello'
    >>> cache.evict(1)
    Removal(entries=1, size_bytes=60)

The record cache of Kafka Streams is `entrycache_fast.kafka`, and Pulsar's proposed segmented cache is
`entrycache_fast.segmented`. None of them imports another package of this project. `docs/reference/fast-caches.md`
has every argument and call.
"""

from entrycache_fast.pulsar.cache import BrokerCache
from entrycache_fast.pulsar.results import (
    CacheView,
    Counters,
    Position,
    ReadResult,
    Removal,
    SlotView,
    Snapshot,
    StoredEntry,
    Usage,
)
from entrycache_fast.pulsar.rows import Row

__all__ = [
    "BrokerCache",
    "CacheView",
    "Counters",
    "Position",
    "ReadResult",
    "Removal",
    "Row",
    "SlotView",
    "Snapshot",
    "StoredEntry",
    "Usage",
]
