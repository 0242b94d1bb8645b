"""The constants of a run of `pulsar-segmented`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Final

from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import INTEGER_MAX, Span

SEGMENT_BYTES_MOST: Final = 2**30
"""Where nobody says how many segments there are, they are so large that one has about this many bytes."""

SEGMENTS_LEAST: Final = 2
"""With a single segment a turn would drop everything."""

Size = Annotated[int, Span(0, INTEGER_MAX)]
Segments = Annotated[int, Span(SEGMENTS_LEAST, INTEGER_MAX)]


class Mode(Enum):
    """Whether a segment holds a copy of an entry's bytes, or a reference to the buffer that it was given."""

    COPY = "copy"
    REFERENCE = "reference"


class Duplicate(Enum):
    """Variant `duplicate` (S-INSERT-6, S-INSERT-7): what an insert of a cached position does."""

    IGNORED = "ignored"
    OVERWRITTEN = "overwritten"
    ROTATING = "rotating"


class FailedOffer(Enum):
    """Variant `failed_offer` (S-SEGMENT-5): whether a segment that takes an entry not counts its bytes all the same."""

    UNCOUNTED = "uncounted"
    COUNTED = "counted"


class ClearedOffset(Enum):
    """Variant `cleared_offset` (S-RING-5): where a segment that was cleared is written from."""

    RESET = "reset"
    KEPT = "kept"


class ClearedIndex(Enum):
    """Variant `cleared_index` (S-RING-6): whether a segment that was cleared still finds its former entries."""

    EMPTIED = "emptied"
    KEPT = "kept"


class RangeWalk(Enum):
    """Variant `range_walk` (S-RANGE-4): where the entries of a range are looked for."""

    WHOLE = "whole"
    ONE_PASS = "one-pass"


class Used(Enum):
    """Variant `used` (S-USAGE-2): what the bytes in use are."""

    SIZES = "sizes"
    OFFSETS = "offsets"


@dataclass(frozen=True, slots=True)
class Variants:
    """What the unmerged branch does otherwise; the defaults are the norm."""

    duplicate: Duplicate = Duplicate.IGNORED
    failed_offer: FailedOffer = FailedOffer.UNCOUNTED
    cleared_offset: ClearedOffset = ClearedOffset.RESET
    cleared_index: ClearedIndex = ClearedIndex.EMPTIED
    range_walk: RangeWalk = RangeWalk.WHOLE
    used: Used = Used.SIZES


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration that a run starts with.

    `max_size_bytes`: the limit of all segments together; 0 disables caching for the whole run. `segments` None: as many
    as `segments_of` says.
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
    """Return the bytes that one segment has room for: an equal share of the limit, rounded down."""
    return config.max_size_bytes // segments
