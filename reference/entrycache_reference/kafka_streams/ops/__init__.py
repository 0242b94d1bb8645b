"""The operations of `kafka-streams`, one frozen dataclass each."""

from __future__ import annotations

from typing import Final

from entrycache_reference.kafka_streams.ops.cache import (
    All,
    Clear,
    Close,
    Delete,
    Evict,
    Flush,
    Get,
    Header,
    Metrics,
    Put,
    PutAll,
    PutIfAbsent,
    Range,
    Resize,
    ReverseAll,
    ReverseRange,
    Usage,
    Write,
)
from entrycache_reference.kafka_streams.ops.listening import Listen, OnForward
from entrycache_reference.kafka_streams.ops.store import (
    Share,
    StoreAll,
    StoreDelete,
    StoreFlush,
    StoreGet,
    StoreInner,
    StorePut,
    StoreRange,
)

Op = (
    Put
    | PutAll
    | PutIfAbsent
    | Get
    | Delete
    | Range
    | ReverseRange
    | All
    | ReverseAll
    | Listen
    | Flush
    | Evict
    | Clear
    | Close
    | Resize
    | Usage
    | Metrics
    | StorePut
    | StoreGet
    | StoreDelete
    | StoreRange
    | StoreAll
    | StoreFlush
    | StoreInner
    | OnForward
    | Share
)

LEVELS: Final = ("cache", "store")
"""The levels of the system, each holding those before it."""

OPS: Final[tuple[type[Op], ...]] = (
    Put,
    PutAll,
    PutIfAbsent,
    Get,
    Delete,
    Range,
    ReverseRange,
    All,
    ReverseAll,
    Listen,
    Flush,
    Evict,
    Clear,
    Close,
    Resize,
    Usage,
    Metrics,
    StorePut,
    StoreGet,
    StoreDelete,
    StoreRange,
    StoreAll,
    StoreFlush,
    StoreInner,
    OnForward,
    Share,
)
"""Every operation, level by level."""

__all__ = [
    "LEVELS",
    "OPS",
    "All",
    "Clear",
    "Close",
    "Delete",
    "Evict",
    "Flush",
    "Get",
    "Header",
    "Listen",
    "Metrics",
    "OnForward",
    "Op",
    "Put",
    "PutAll",
    "PutIfAbsent",
    "Range",
    "Resize",
    "ReverseAll",
    "ReverseRange",
    "Share",
    "StoreAll",
    "StoreDelete",
    "StoreFlush",
    "StoreGet",
    "StoreInner",
    "StorePut",
    "StoreRange",
    "Usage",
    "Write",
]
