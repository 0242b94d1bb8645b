"""What the operations may change: the aspects of the state, and whose they may be.

What is performed inside a call is a step of its own, with a frame of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class What(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # as quick as can be: frames are asked after every step

    LIMIT = "the limit"
    SPACES = "which namespaces there are"
    ENTRIES = "which keys are cached"
    CONTENT = "what was written"
    IS_DIRTY = "whether an entry is dirty"
    RECENT = "the order of use"
    DIRTY = "the dirty keys"
    LISTENER = "the listener"
    HITS = "the hits"
    MISSES = "the misses"
    OVERWRITES = "the overwrites"
    HANDED = "its flushes"
    STORES = "which stores there are"
    BELOW = "what lies below"
    DOWNSTREAM = "what is done downstream"
    PASSED_ON = "what was passed on last"
    PUTS = "the thread's puts"
    GETS = "the thread's gets"
    EVICTS = "the thread's evictions"
    FLUSHES = "the thread's flushes"
    WRITES = "the number of writes"
    RUNNING = "the running total"


class Of(Enum):
    """Whose aspect it may be, in words."""

    __hash__ = object.__hash__

    KEY = "its key"
    KEYS = "its keys"
    SPACE = "its namespace"
    ALL = "all"


MayChange = Mapping[What, Of]

NOTHING: Final[MayChange] = {}


def handing(whose: Of) -> MayChange:
    """What an eviction or a flush may change in a namespace, and in the store that listens to it."""
    aspects = (
        *(What.ENTRIES, What.IS_DIRTY, What.RECENT, What.DIRTY, What.LISTENER, What.HITS, What.MISSES, What.HANDED),
        *(What.BELOW, What.PASSED_ON),
    )
    return {**dict.fromkeys(aspects, whose), What.RUNNING: Of.ALL}


def removing(whose: Of) -> MayChange:
    """What the removal of these keys by a call may change."""
    return {What.ENTRIES: whose, What.RECENT: Of.SPACE, What.DIRTY: Of.SPACE, What.RUNNING: Of.ALL}


ADDING: Final[MayChange] = {
    **handing(Of.SPACE),
    What.SPACES: Of.SPACE,
    What.PUTS: Of.ALL,
    What.EVICTS: Of.ALL,
    What.WRITES: Of.ALL,
}
"""What the write of a key that is not cached may change, with the overflow that follows."""


def writing(whose: Of) -> MayChange:
    """What a write of these keys may change, cached or not."""
    return {**ADDING, What.CONTENT: whose, What.OVERWRITES: Of.SPACE}


LOOKING: Final[MayChange] = {What.RECENT: Of.SPACE, What.HITS: Of.SPACE}
"""What lookups of cached keys may change."""

OPENED: Final[MayChange] = {What.STORES: Of.SPACE, What.SPACES: Of.SPACE, What.LISTENER: Of.SPACE}
"""What the first use of a store may change, beside what its operation declares."""
