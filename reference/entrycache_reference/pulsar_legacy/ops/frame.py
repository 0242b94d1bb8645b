"""What the operations may change: the aspects of the state, and whose they may be."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class What(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # as quick as can be: frames are asked after every step

    CLOCK = "the clock"
    CACHES = "which caches hold entries"
    ENTRIES = "which entries are cached"
    SIZE = "the size"
    STAMP = "the stamp"
    PAYLOAD = "the payload"
    CACHE_BYTES = "the bytes"
    BYTES = "the manager's bytes"
    SCHEDULED = "the pass that is scheduled"


class Of(Enum):
    """Whose aspect it may be, in words."""

    __hash__ = object.__hash__

    RANGE = "its range"
    BELOW = "what is below its position"
    LEDGER = "its ledger"
    CACHE = "its cache"
    ALL = "all"


MayChange = Mapping[What, Of]

NOTHING: Final[MayChange] = {}

PASS: Final[MayChange] = {
    What.CACHES: Of.ALL,
    What.ENTRIES: Of.ALL,
    What.CACHE_BYTES: Of.ALL,
    What.BYTES: Of.ALL,
}
"""What a size pass over all caches may change."""

ADDING: Final[MayChange] = {
    **PASS,
    What.SIZE: Of.CACHE,
    What.STAMP: Of.CACHE,
    What.PAYLOAD: Of.CACHE,
    What.SCHEDULED: Of.ALL,
}
"""What an insert may change: what its pass removes, and an entry that this pass removed comes in anew."""


def removal(whose: Of) -> MayChange:
    """What a removal from one cache may change: these entries, and what follows from it."""
    return {What.CACHES: Of.CACHE, What.ENTRIES: whose, What.CACHE_BYTES: Of.CACHE, What.BYTES: Of.ALL}
