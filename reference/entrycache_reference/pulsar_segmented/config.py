"""The constants of a run of `pulsar-segmented`: the limit, the segments, the mode, and the variants.

`segments_of` and `segment_bytes` derive the number and the size of segments from the limit.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Final

from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import INTEGER_MAX, Span

SEGMENT_BYTES_MOST: Final = 2**30
"""The approximate size of a segment where the configuration names no number of segments."""

SEGMENTS_LEAST: Final = 2
"""The least number of segments: with a single one a turn would drop everything."""

Size = Annotated[int, Span(0, INTEGER_MAX)]
Segments = Annotated[int, Span(SEGMENTS_LEAST, INTEGER_MAX)]


class Mode(Enum):
    """The content of a segment: a copy of an entry's bytes, or a reference to the given buffer."""

    COPY = "copy"
    REFERENCE = "reference"


class Duplicate(Enum):
    """Variant `duplicate` (S-INSERT-6, S-INSERT-7): the effect of inserting a cached position."""

    IGNORED = "ignored"
    OVERWRITTEN = "overwritten"
    ROTATING = "rotating"


class FailedOffer(Enum):
    """Variant `failed_offer` (S-SEGMENT-5): the bytes that a segment counts for an entry that it did not take."""

    UNCOUNTED = "uncounted"
    COUNTED = "counted"


class ClearedOffset(Enum):
    """Variant `cleared_offset` (S-RING-5): the byte from which a cleared segment is written."""

    RESET = "reset"
    KEPT = "kept"


class ClearedIndex(Enum):
    """Variant `cleared_index` (S-RING-6): the entries that are found in a cleared segment."""

    EMPTIED = "emptied"
    KEPT = "kept"


class RangeWalk(Enum):
    """Variant `range_walk` (S-RANGE-4): the segments that are searched for the entries of a range."""

    WHOLE = "whole"
    ONE_PASS = "one-pass"


class Used(Enum):
    """Variant `used` (S-USAGE-2): the meaning of the bytes in use."""

    SIZES = "sizes"
    OFFSETS = "offsets"


@dataclass(frozen=True, slots=True)
class Variants:
    """The deviations of the unmerged branch; the defaults are the specification."""

    duplicate: Duplicate = Duplicate.IGNORED
    failed_offer: FailedOffer = FailedOffer.UNCOUNTED
    cleared_offset: ClearedOffset = ClearedOffset.RESET
    cleared_index: ClearedIndex = ClearedIndex.EMPTIED
    range_walk: RangeWalk = RangeWalk.WHOLE
    used: Used = Used.SIZES


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that a run starts with.

    `max_size_bytes` is the limit of all segments together; 0 disables caching for the whole run. `segments` None:
    `segments_of` computes their number.
    """

    max_size_bytes: Size = 134_217_728
    segments: Segments | None = None
    mode: Mode = Mode.COPY
    variants: Variants = Variants()


@rule(Rule.S_CONFIG_1)
def segments_of(config: Config) -> int:
    """Return the number of segments."""
    if config.segments is not None:
        return config.segments
    return max(SEGMENTS_LEAST, config.max_size_bytes // SEGMENT_BYTES_MOST)


@rule(Rule.S_CONFIG_2)
def segment_bytes(config: Config, segments: int) -> int:
    """Return the capacity of one segment in bytes: an equal share of the limit, rounded down."""
    return config.max_size_bytes // segments
