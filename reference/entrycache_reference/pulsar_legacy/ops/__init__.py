"""The operations, one frozen dataclass each: schema, generators and tables come from their fields."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_legacy.ops.entries import (
    Clear,
    Exists,
    Get,
    GetRange,
    Insert,
    InvalidateBefore,
    InvalidateLedger,
    RemoveCache,
    RemoveRange,
)
from entrycache_reference.pulsar_legacy.ops.manager import (
    Advance,
    Evict,
    EvictCache,
    Expire,
    Observe,
    Read,
    ReadOne,
    RunScheduled,
    Usage,
)

Op = (
    Insert
    | Get
    | GetRange
    | Exists
    | RemoveRange
    | Clear
    | InvalidateBefore
    | InvalidateLedger
    | RemoveCache
    | Usage
    | Observe
    | Advance
    | Expire
    | Evict
    | EvictCache
    | RunScheduled
    | Read
    | ReadOne
)

LEVELS: Final = ("all",)
"""The only level."""

OPS: Final[tuple[type[Op], ...]] = (
    Insert,
    Get,
    GetRange,
    Exists,
    RemoveRange,
    Clear,
    InvalidateBefore,
    InvalidateLedger,
    RemoveCache,
    Usage,
    Observe,
    Advance,
    Expire,
    Evict,
    EvictCache,
    RunScheduled,
    Read,
    ReadOne,
)
"""Every operation."""

__all__ = [
    "LEVELS",
    "OPS",
    "Advance",
    "Clear",
    "Evict",
    "EvictCache",
    "Exists",
    "Expire",
    "Get",
    "GetRange",
    "Insert",
    "InvalidateBefore",
    "InvalidateLedger",
    "Observe",
    "Op",
    "Read",
    "ReadOne",
    "RemoveCache",
    "RemoveRange",
    "RunScheduled",
    "Usage",
]
