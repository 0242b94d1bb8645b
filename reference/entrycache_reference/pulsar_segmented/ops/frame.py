"""What the operations may change: the aspects of the state, and whose they may be."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class What(Enum):
    """An aspect of the state, in words."""

    __hash__ = object.__hash__  # as quick as can be: frames are asked after every step

    SEGMENTS = "which segments there are"
    ENTRIES = "which entries are cached"
    OFFSET = "the offset"
    CURRENT = "which segment is current"
    SEGMENT_BYTES = "the bytes of a segment"


class Of(Enum):
    """Whose aspect it may be, in words."""

    __hash__ = object.__hash__

    TAKING = "the segment that is current afterwards"
    TRIED = "the segments that are current before and afterwards"
    ALL = "all"


MayChange = Mapping[What, Of]

NOTHING: Final[MayChange] = {}

TAKES: Final[MayChange] = {What.ENTRIES: Of.TAKING, What.OFFSET: Of.TRIED, What.CURRENT: Of.ALL}
"""What an insert may change."""
