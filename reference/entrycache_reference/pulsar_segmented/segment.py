"""One segment: what fits behind its offset, and how the offset grows."""

from __future__ import annotations

from typing import Final

from entrycache_reference.pulsar_segmented.config import Config, FailedOffer, Mode
from entrycache_reference.pulsar_segmented.state import Entry, Segment
from entrycache_reference.rules import Rule, rule

ALIGNMENT: Final = 64
"""Copies start at multiples of this."""

TRIES: Final = 2
"""The branch tries the current segment without its lock, and once more under it."""


def rounded_up(size: int) -> int:
    """The size, rounded up to the next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


@rule(Rule.S_SEGMENT_2, Rule.S_SEGMENT_3)
def advance(size: int, config: Config) -> int:
    """The bytes by which an entry of that size moves the offset."""
    return rounded_up(size) if config.mode is Mode.COPY else size


@rule(Rule.S_SEGMENT_2, Rule.S_SEGMENT_3)
def offset_behind(start: int, size: int, config: Config) -> int:
    """Where the next entry starts."""
    return start + advance(size, config)


@rule(Rule.S_SEGMENT_1)
def fits(segment: Segment, size: int, segment_bytes: int) -> bool:
    """Whether an entry of that size, not rounded up, ends within the segment."""
    return segment.offset + size <= segment_bytes


@rule(Rule.S_INSERT_1, Rule.S_INSERT_6)
def with_entry(segment: Segment, entry: Entry, config: Config) -> Segment:
    """The segment with one entry more, at its end; another one of the same place is found no more."""
    others = tuple(other for other in segment.entries if other.place != entry.place)
    placed = entry._replace(start=segment.offset)
    return Segment((*others, placed), offset_behind(placed.start, entry.size_bytes, config))


@rule(Rule.S_SEGMENT_4, Rule.S_SEGMENT_5)
def passed_over(segment: Segment, size: int, tries: int, config: Config) -> Segment:
    """A segment that was offered an entry so many times and did not take it."""
    if config.variants.failed_offer is FailedOffer.UNCOUNTED:
        return segment
    return segment._replace(offset=segment.offset + counted(size, tries, config))


@rule(Rule.S_SEGMENT_5)
def counted(size: int, tries: int, config: Config) -> int:
    """The bytes that offers which were not taken have cost."""
    return tries * advance(size, config)
