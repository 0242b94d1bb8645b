"""entrycache_fast: a quick entry cache for message brokers in plain Python.

It keeps the entries of many managed ledgers under one limit of bytes, oldest out first, and extends the stay
of entries that were read a moment ago or that readers are still expected to ask for. It needs only the
standard library and imports nothing of the other packages of this project.

    >>> from entrycache_fast import BrokerCache
    >>> cache = BrokerCache(max_size_bytes=100)
    >>> cache.insert("orders", 1, 0, 60, value=b"hello")
    True
    >>> cache.get("orders", 1, 0)
    b'hello'
    >>> cache.evict(1)
    Removed(entries=1, size_bytes=60)
"""

from __future__ import annotations

from entrycache_fast.pulsar.cache import BrokerCache
from entrycache_fast.pulsar.row import Row
from entrycache_fast.pulsar.views import (
    CacheView,
    Counters,
    Position,
    Removed,
    Served,
    SlotView,
    Snapshot,
    Stored,
    Usage,
)

__all__ = [
    "BrokerCache",
    "CacheView",
    "Counters",
    "Position",
    "Removed",
    "Row",
    "Served",
    "SlotView",
    "Snapshot",
    "Stored",
    "Usage",
]
