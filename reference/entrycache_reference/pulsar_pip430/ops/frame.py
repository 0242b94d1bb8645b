"""What the operations may change: the aspects of the state, and whose they may be."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class What(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # as quick as can be: frames are asked after every step

    CLOCK = "the clock"
    SETTINGS = "the settings"
    CACHES = "which caches there are"
    ENTRIES = "which entries are cached"
    SIZE = "the size"
    STAMP = "the stamp"
    REQUEUES = "the number of requeues"
    MARK = "the mark"
    COUNT = "the count"
    PAYLOAD = "the payload"
    CACHE_BYTES = "the bytes"
    CURSORS = "the cursors"
    GRACE = "when the grace period began"
    IS_OPEN = "whether a cache is open"
    QUEUE = "the removal queue"
    BYTES = "the manager's bytes"
    IS_SCHEDULED = "whether a pass is scheduled"
    HOLDS = "what is held"
    INSERTED = "the inserted entries counted"
    EVICTED = "the evicted entries counted"
    CYCLES = "the eviction cycles counted"
    HITS = "the hits counted, and their bytes"
    MISSES = "the misses counted, and their bytes"


class Of(Enum):
    """Whose aspect it may be, in words; each narrower than those after it that hold it."""

    __hash__ = object.__hash__

    ENTRY = "its position"
    RANGE = "its range"
    BELOW = "what is below its position"
    LEDGER = "its ledger"
    CURSOR = "its cursor"
    HOLD = "its hold"
    NAMED = "what it names"
    HOLDING = "holds of its position"
    GONE = "holds of what has left"
    CACHE = "its cache"
    TAKEN = "what the pass took"
    ALL = "all"


MayChange = Mapping[What, Of]

NOTHING: Final[MayChange] = {}

OPENED: Final[MayChange] = {What.CACHES: Of.CACHE, What.GRACE: Of.CACHE, What.IS_OPEN: Of.CACHE}
"""What any operation may change that names a cache which is not open, beside what it declares."""

_LEAVING: Final[MayChange] = {
    What.QUEUE: Of.ALL,
    What.BYTES: Of.ALL,
    What.EVICTED: Of.ALL,
    What.HOLDS: Of.GONE,
}

PASS: Final[MayChange] = {
    What.ENTRIES: Of.TAKEN,
    What.STAMP: Of.TAKEN,
    What.REQUEUES: Of.TAKEN,
    What.MARK: Of.TAKEN,
    What.CACHE_BYTES: Of.TAKEN,
    **_LEAVING,
}
"""What a pass may change."""

TRIGGERING: Final[MayChange] = {What.CYCLES: Of.ALL, What.IS_SCHEDULED: Of.ALL}
"""What the trigger of an insert may change beside the pass that it runs or schedules."""

READING: Final[MayChange] = {What.HITS: Of.ALL, What.MISSES: Of.ALL, What.HOLDS: Of.HOLD}
"""What a read may change beside what its parts do."""


def removal(whose: Of) -> MayChange:
    """What a removal by a call may change: these entries, and what follows from it."""
    return {What.ENTRIES: whose, What.CACHE_BYTES: Of.CACHE, **_LEAVING}
