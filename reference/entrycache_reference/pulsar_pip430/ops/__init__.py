"""The operations, one frozen dataclass each: schema, generators and tables come from their fields."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_pip430.ops.cursors import (
    CursorAdd,
    CursorMove,
    CursorRank,
    CursorRemove,
    Cursors,
    ShouldCache,
    Slowest,
)
from entrycache_reference.pulsar_pip430.ops.manager import (
    Configure,
    Cycle,
    InvalidateBefore,
    InvalidateLedger,
    Metrics,
    RemoveCache,
    RunScheduled,
)
from entrycache_reference.pulsar_pip430.ops.queue import Advance, Evict, ExpectRead, Expire, MarkRead
from entrycache_reference.pulsar_pip430.ops.range import (
    Clear,
    Exists,
    Get,
    GetRange,
    Insert,
    Observe,
    RemoveRange,
    Usage,
)
from entrycache_reference.pulsar_pip430.ops.reads import Read, ReadOne, Release

Op = (
    Insert
    | Get
    | GetRange
    | Exists
    | RemoveRange
    | Clear
    | Usage
    | Observe
    | Advance
    | Expire
    | Evict
    | MarkRead
    | ExpectRead
    | Cycle
    | RunScheduled
    | Configure
    | InvalidateBefore
    | InvalidateLedger
    | RemoveCache
    | Metrics
    | Read
    | ReadOne
    | Release
    | CursorAdd
    | CursorMove
    | CursorRemove
    | CursorRank
    | Slowest
    | Cursors
    | ShouldCache
)

LEVELS: Final = ("range", "queue", "manager", "reads", "cursors")
"""The levels of the system that are built, each holding those before it."""

OPS: Final[tuple[type[Op], ...]] = (
    Insert,
    Get,
    GetRange,
    Exists,
    RemoveRange,
    Clear,
    Usage,
    Observe,
    Advance,
    Expire,
    Evict,
    MarkRead,
    ExpectRead,
    Cycle,
    RunScheduled,
    Configure,
    InvalidateBefore,
    InvalidateLedger,
    RemoveCache,
    Metrics,
    Read,
    ReadOne,
    Release,
    CursorAdd,
    CursorMove,
    CursorRemove,
    CursorRank,
    Slowest,
    Cursors,
    ShouldCache,
)
"""Every operation, level by level."""

__all__ = [
    "LEVELS",
    "OPS",
    "Advance",
    "Clear",
    "Configure",
    "CursorAdd",
    "CursorMove",
    "CursorRank",
    "CursorRemove",
    "Cursors",
    "Cycle",
    "Evict",
    "Exists",
    "ExpectRead",
    "Expire",
    "Get",
    "GetRange",
    "Insert",
    "InvalidateBefore",
    "InvalidateLedger",
    "MarkRead",
    "Metrics",
    "Observe",
    "Op",
    "Read",
    "ReadOne",
    "Release",
    "RemoveCache",
    "RemoveRange",
    "RunScheduled",
    "ShouldCache",
    "Slowest",
    "Usage",
]
